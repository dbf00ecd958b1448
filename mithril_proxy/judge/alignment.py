"""Two sentences that say nearly the same: which words stand in the same place, and do they exclude each other?

1. Only sentences that share most of their content are aligned; their common words are the frame.
2. What differs inside the frame decides, worst first: numbers and dates, antonyms, members of one exclusive group,
   names, negation, unknown words.
3. Words that are only added or left out never contradict; synonyms and the word for the whole kind agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from mithril_proxy.judge.lexicon import Lexicon, WordRelation
from mithril_proxy.judge.quantities import dates_agree, is_unit
from mithril_proxy.judge.tokens import Sentence, Token

MIN_FRAME = 0.5  # share of the longer sentence's content that is common
MIN_LIKENESS = 0.65  # or of all words in order, for short sentences: `they are in Japan`, `they are in North Korea`
MAX_SPAN = 4  # tokens that can stand in one place: longer differences are another sentence, not another value
MIN_CONTENT_FOR_WORDS = 0.6  # words that the lexicon does not know need a fuller frame to stand in one place
OTHER_WORD = "other-word"
_SUBJECT_RULES = frozenset({"name", OTHER_WORD})


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where two sentences differ: how strongly they exclude each other, and the rule that says so."""

    strength: float
    rule: str


_AGREES = Difference(0.0, "")


def share_a_frame(one: Sentence, other: Sentence) -> bool:
    """True when two sentences are the same but for some places."""
    if content_share(one, other) >= MIN_FRAME:
        return True
    matcher = _matcher(one.tokens, other.tokens)
    return matcher.quick_ratio() >= MIN_LIKENESS and matcher.ratio() >= MIN_LIKENESS


def _matcher(claim: Sequence[Token], memory: Sequence[Token]) -> SequenceMatcher[str]:
    return SequenceMatcher(None, [t.stem for t in claim], [t.stem for t in memory], autojunk=False)


def differences(claim: Sentence, memory: Sentence, lexicon: Lexicon) -> tuple[Difference, ...]:
    """Every place where two sentences with a common frame differ, strongest first; strength 0 where they agree.

    Empty when they differ in what they speak of and in what they say of it: then they are two facts.
    """
    places = tuple(dict.fromkeys(_in_place(claim.tokens, memory.tokens, lexicon)))
    if content_share(claim, memory) < MIN_CONTENT_FOR_WORDS or give_one_value(claim, memory):
        places = tuple(place for place in places if place.rule != OTHER_WORD)
    against = [place for place in places if place.strength]
    if len(against) > 1 and any(place.rule in _SUBJECT_RULES for place in against):
        return ()
    if not against and claim.is_negated != memory.is_negated:
        return (Difference(0.85, "negation"),)
    return tuple(sorted(places, key=lambda place: -place.strength))


def give_one_value(one: Sentence, other: Sentence) -> bool:
    """True when two sentences give the same date or quantity: then other words around it are other wording.

    `kept for 30 days` and `have a retention of 30 days` do not contradict each other.
    """
    pairs = ((first, second) for first in one.tokens for second in other.tokens)
    return any(
        dates_agree(first.surface, second.surface)
        if first.is_date and second.is_date
        else bool(first.quantity and second.quantity and first.quantity.agrees_with(second.quantity))
        for first, second in pairs
    )


def content_share(one: Sentence, other: Sentence) -> float:
    """Share of the longer sentence's content that both have."""
    return len(one.stems & other.stems) / max(len(one.stems), len(other.stems))


def _in_place(claim: Sequence[Token], memory: Sequence[Token], lexicon: Lexicon) -> Iterator[Difference]:
    for operation, a, b, c, d in _matcher(claim, memory).get_opcodes():
        if operation == "replace" and b - a <= MAX_SPAN and d - c <= MAX_SPAN:
            difference = span_difference(claim[a:b], memory[c:d], lexicon)
            if difference is not None:
                yield difference


def span_difference(claim: Sequence[Token], memory: Sequence[Token], lexicon: Lexicon) -> Difference | None:
    """The difference of two spans in one place, of strength 0 when they agree; None when they tell nothing."""
    amounts = _amounts(claim, memory)
    if amounts is not None:
        return amounts
    if _are_units(claim) and _are_units(memory):
        return Difference(0.9, "unit")
    relation = _span_relation(claim, memory, lexicon)
    if relation is WordRelation.ANTONYM:
        return Difference(0.9, "antonym")
    if relation is WordRelation.EXCLUSIVE:
        return Difference(0.9, "exclusive-value")
    if relation is WordRelation.SAME:
        return _AGREES
    if any(token.is_name for token in claim) and any(token.is_name for token in memory):
        return Difference(0.75, "name")
    has_words = any(token.is_content for token in claim) and any(token.is_content for token in memory)
    return Difference(0.5, OTHER_WORD) if has_words else None


def _amounts(claim: Sequence[Token], memory: Sequence[Token]) -> Difference | None:
    """The verdict of dates and quantities, of strength 0 when they agree; None when a side has none."""
    dates = [(one, other) for one in claim if one.is_date for other in memory if other.is_date]
    if dates:
        agree = all(dates_agree(one.surface, other.surface) for one, other in dates)
        return Difference(0.0 if agree else 0.9, "date")
    pairs = [(one.quantity, other.quantity) for one in claim for other in memory if one.quantity and other.quantity]
    if not pairs:
        return None
    if any(one.agrees_with(other) and one.dimension == other.dimension for one, other in pairs):
        return Difference(0.0, "number")
    one, other = pairs[0]
    is_unit = one.dimension != other.dimension and one.value == other.value
    return Difference(0.9, "unit" if is_unit else "ordinal" if one.is_ordinal and other.is_ordinal else "number")


def _are_units(span: Sequence[Token]) -> bool:
    return len(span) == 1 and is_unit(span[0].surface)


def _span_relation(claim: Sequence[Token], memory: Sequence[Token], lexicon: Lexicon) -> WordRelation:
    """The relation of the whole spans, else the strongest of any two of their words."""
    whole = lexicon.relation(" ".join(t.surface for t in claim), " ".join(t.surface for t in memory))
    if whole is not WordRelation.UNKNOWN:
        return whole
    relations = {lexicon.relation(one.surface, other.surface) for one in claim for other in memory}
    ordered = (WordRelation.ANTONYM, WordRelation.SAME, WordRelation.EXCLUSIVE)
    return next((relation for relation in ordered if relation in relations), WordRelation.UNKNOWN)
