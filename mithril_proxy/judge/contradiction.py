"""Contradiction from structure: the same subject and relation with another value.

1. Two sentences are compared only when they share enough content words to speak of the same thing.
2. What differs decides: numbers, negation, antonyms, names in the same place.
3. A memory that says the same is aligned; one that speaks of something else is unrelated and no evidence at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from mithril_proxy.judge.canonical import sentences
from mithril_proxy.judge.tokens import Token, tokenise
from mithril_proxy.types import Relation

SAME_TOPIC = 0.5
SAME_FACT = 0.8
_NEGATIONS = frozenset("not no never none nobody nothing neither nor cannot without n't".split())


@dataclass(frozen=True, slots=True)
class Comparison:
    """How one memory stands to a claim: `strength` 0..1 of the contradiction, and the rule that saw it."""

    relation: Relation
    strength: float = 0.0
    rule: str = ""


UNRELATED = Comparison(Relation.UNRELATED)


def compare(claim: str, memory: str) -> Comparison:
    """The strongest relation between any sentence of the claim and any sentence of the memory."""
    claimed = [tokenise(sentence) for sentence in sentences(claim)]
    known = [tokenise(sentence) for sentence in sentences(memory)]
    found = [_compare_sentences(one, other) for one in claimed for other in known]
    return max(found, key=lambda each: (each.strength, each.relation is Relation.ALIGNED), default=UNRELATED)


def _compare_sentences(claim: tuple[Token, ...], memory: tuple[Token, ...]) -> Comparison:
    shared = _overlap(claim, memory)
    if shared < SAME_TOPIC:
        return UNRELATED
    differences = sorted(_differences(claim, memory), reverse=True)
    if differences:
        strength, rule = differences[0]
        return Comparison(Relation.CONTRADICTS, strength, f"contradiction.{rule}")
    return Comparison(Relation.ALIGNED) if shared >= SAME_FACT else UNRELATED


def _overlap(claim: tuple[Token, ...], memory: tuple[Token, ...]) -> float:
    left = {token.stem for token in claim if token.is_content and not token.is_number}
    right = {token.stem for token in memory if token.is_content and not token.is_number}
    return len(left & right) / max(1, min(len(left), len(right)))


def _differences(claim: tuple[Token, ...], memory: tuple[Token, ...]) -> Iterator[tuple[float, str]]:
    if _is_negated(claim) != _is_negated(memory):
        yield 0.85, "negation"
    matcher = SequenceMatcher(None, [t.stem for t in claim], [t.stem for t in memory], autojunk=False)
    for operation, a, b, c, d in matcher.get_opcodes():
        if operation == "replace":
            yield from _replaced(claim[a:b], memory[c:d])


def _replaced(claim: tuple[Token, ...], memory: tuple[Token, ...]) -> Iterator[tuple[float, str]]:
    if any(token.is_number for token in claim) and any(token.is_number for token in memory):
        yield 0.9, "number"
    elif any(token.is_name for token in claim) and any(token.is_name for token in memory):
        yield 0.75, "name"


def _is_negated(tokens: tuple[Token, ...]) -> bool:
    return sum(token.surface in _NEGATIONS or token.surface.endswith("n't") for token in tokens) % 2 == 1
