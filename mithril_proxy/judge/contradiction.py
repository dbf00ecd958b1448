"""Contradiction from structure: the same subject and relation with another value.

1. Sentences with a common frame are compared place by place (`alignment.py`).
2. Freer wording is compared by what the memory is about and which value it gives (`facts.py`).
3. A memory that says the same is aligned; one that speaks of something else is unrelated and no evidence at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mithril_proxy.judge.alignment import Difference, differences, share_a_frame
from mithril_proxy.judge.facts import compare_answer, compare_statements
from mithril_proxy.judge.lexicon import Lexicon
from mithril_proxy.judge.questions import read_answered
from mithril_proxy.judge.tokens import Sentence, Tokeniser
from mithril_proxy.types import Relation

SAME_FACT = 0.7  # share of the shorter sentence that both have when they tell the same fact
MAX_SENTENCES = 200  # of a claim; the rest of a longer one is still judged for danger
MAX_KNOWN_SENTENCES = 60  # of a memory: a chunk of Cognee holds fewer


@dataclass(frozen=True, slots=True)
class Comparison:
    """How one memory stands to a claim: `strength` 0..1 of the contradiction, and the rule that saw it."""

    relation: Relation
    strength: float = 0.0
    rule: str = ""


UNRELATED = Comparison(Relation.UNRELATED)
ALIGNED = Comparison(Relation.ALIGNED)


@dataclass(frozen=True, slots=True)
class Comparer:
    """Compares claims with memories by the knowledge of a lexicon."""

    lexicon: Lexicon
    tokeniser: Tokeniser

    @classmethod
    def of(cls, lexicon: Lexicon) -> Comparer:
        """The comparer for a lexicon."""
        return cls(lexicon, Tokeniser(lexicon))

    def compare(self, claim: str, memory: str) -> Comparison:
        """The strongest relation between any part of the claim and any part of the memory."""
        return self.compare_sentences(self.sentences(claim), memory)

    def sentences(self, claim: str) -> tuple[Sentence, ...]:
        """The claim ready for comparison, so that several memories share the work."""
        return self.tokeniser.sentences(claim, MAX_SENTENCES)

    def compare_sentences(self, claim: tuple[Sentence, ...], memory: str) -> Comparison:
        """The strongest relation between a claim's sentences and a memory."""
        answered = read_answered(memory)
        if answered is not None:
            return _comparison(compare_answer(claim, answered, self.tokeniser))
        known = self.tokeniser.sentences(memory, MAX_KNOWN_SENTENCES)
        framed = (self._nearest_in_frame(sentence, known) for sentence in claim)
        return strongest([*framed, _comparison(compare_statements(claim, known))])

    def _nearest_in_frame(self, claim: Sentence, known: tuple[Sentence, ...]) -> Comparison:
        """Against the memory's nearest sentence only: `port 2 is B` does not contradict `port 1 is A` beside it."""
        near = [other for other in known if claim.stems & other.stems]
        if not near:
            return UNRELATED
        return self._in_frame(claim, max(near, key=lambda other: _likeness(claim, other)))

    def _in_frame(self, claim: Sentence, memory: Sentence) -> Comparison:
        if not share_a_frame(claim, memory):
            return UNRELATED
        places = differences(claim, memory, self.lexicon)
        if places and places[0].strength:
            return Comparison(Relation.CONTRADICTS, places[0].strength, f"contradiction.{places[0].rule}")
        shared = len(claim.stems & memory.stems) / min(len(claim.stems), len(memory.stems))
        return ALIGNED if shared >= SAME_FACT or places else UNRELATED


def _comparison(difference: Difference | None) -> Comparison:
    if difference is None:
        return UNRELATED
    if not difference.strength:
        return ALIGNED
    return Comparison(Relation.CONTRADICTS, difference.strength, f"contradiction.{difference.rule}")


def _likeness(one: Sentence, other: Sentence) -> float:
    return len(one.stems & other.stems) / len(one.stems | other.stems)


def strongest(found: Iterable[Comparison]) -> Comparison:
    """The comparison that says most: a contradiction by strength, else aligned, else unrelated."""
    return max(found, key=lambda one: (one.strength, one.relation is not Relation.UNRELATED), default=UNRELATED)
