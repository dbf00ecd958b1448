"""Freely worded claims against one known fact: does the claim speak of it, and does it give another value?

1. A memory splits into topic and value: question and answer, or a statement and each value in it.
2. A claim speaks of the fact when it covers most of the topic, names counting double.
3. It then agrees when it gives the value, and contradicts when it gives another of its kind instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from mithril_proxy.judge.alignment import Difference
from mithril_proxy.judge.questions import Answered
from mithril_proxy.judge.tokens import Sentence, Token, Tokeniser

MIN_TOPIC = 0.6  # share of a question's topic that a claim must cover to speak of it
MIN_STATEMENT_TOPIC = 0.75  # of a statement: its topic is a guess, so more of it is asked for
MIN_TOPIC_WORDS = 2
MOST_OF_VALUE = 0.67  # two of three words are not enough: `Best Goalkeeper of the World`, `Best Defender of the World`
DENIAL_REACH = 5  # words between `not` and the value it denies
WINDOW = 6  # sentences of a claim that are read together: one paragraph
_NAME_WEIGHT = 2.0
_ASKING_WORDS = "name year date kind type sort month day many much long old best known popular call word"
_ASKING = frozenset(_ASKING_WORDS.split())
AGREES = Difference(0.0, "")


@dataclass(frozen=True, slots=True)
class _Passage:
    """Some sentences of a claim read as one."""

    sentences: tuple[Sentence, ...]
    stems: frozenset[str]

    @property
    def tokens(self) -> Iterator[Token]:
        return (token for sentence in self.sentences for token in sentence.tokens)


def compare_answer(claim: Sequence[Sentence], known: Answered, tokeniser: Tokeniser) -> Difference | None:
    """What a claim says of a known answer: AGREES, a difference, or None when it speaks of something else."""
    return _worst(_against_answer(passage, known, tokeniser) for passage in _passages(claim))


def compare_statements(claim: Sequence[Sentence], known: Sequence[Sentence]) -> Difference | None:
    """What a claim says of known statements, whatever its wording: the worst of them, as `compare_answer` tells it."""
    return _worst(_against_statement(passage, statement) for passage in _passages(claim) for statement in known)


def _passages(claim: Sequence[Sentence]) -> list[_Passage]:
    """Overlapping paragraphs of a claim."""
    pieces = [tuple(claim[start : start + WINDOW]) for start in range(0, max(1, len(claim)), WINDOW // 2)]
    return [_Passage(piece, frozenset().union(*(sentence.stems for sentence in piece))) for piece in pieces]


def _worst(found: Iterable[Difference | None]) -> Difference | None:
    told = [difference for difference in found if difference is not None]
    return max(told, key=lambda difference: difference.strength, default=None)


def _against_answer(passage: _Passage, answered: Answered, tokeniser: Tokeniser) -> Difference | None:
    question = tokeniser.sentence(answered.question)
    if not any(_speaks_of(passage, tokeniser.sentence(topic)) for topic in answered.topics):
        return None
    if answered.polarity is not None:
        return _polarity(passage, question, answered.polarity)
    answer = tokeniser.sentence(answered.answer)
    if _gives(passage, answer, question.stems):
        return _chosen(passage, answered, tokeniser) or _denied(passage, answer) or AGREES
    return _rival(passage, answer, question) or Difference(0.3, "value-missing")


def _speaks_of(passage: _Passage, topic: Sentence) -> bool:
    return len(topic.stems & passage.stems) >= MIN_TOPIC_WORDS and _coverage(topic.tokens, passage.stems) >= MIN_TOPIC


def _gives(passage: _Passage, answer: Sentence, asked: frozenset[str]) -> bool:
    """True when the value stands in the passage: most of its words, or half of them with the last (`Smith`).

    Words that the question already holds prove nothing: `hedgehog` in `which hedgehog … ? Sonic the Hedgehog`.
    """
    own = answer.stems - asked or answer.stems
    if not own:  # an answer of function words alone, as `The Who`, cannot be told from prose
        return True
    given = len(own & passage.stems) / len(own)
    last = next((token.stem for token in reversed(answer.tokens) if token.stem in own), "")
    return given > MOST_OF_VALUE or (given >= 0.5 and last in passage.stems)


def _coverage(topic: Sequence[Token], stems: frozenset[str]) -> float:
    weights = {token.stem: _weight(token) for token in topic if token.is_content}
    total = sum(weights.values())
    return sum(weight for stem, weight in weights.items() if stem in stems) / total if total else 0.0


def _weight(token: Token) -> float:
    if token.stem in _ASKING:
        return 0.25
    return _NAME_WEIGHT if token.is_name or token.quantity or token.is_date else 1.0


def _polarity(passage: _Passage, question: Sentence, is_yes: bool) -> Difference:
    """A yes-or-no fact: the passage says no when a sentence on the topic is negated."""
    on_topic = [sentence for sentence in passage.sentences if sentence.stems & question.stems]
    says_no = any(sentence.is_negated or _contrasts(sentence) for sentence in on_topic)
    return AGREES if says_no != is_yes else Difference(0.55, "negation")


_CONTRAST_WORDS = "differ different distinct unlike contrary contrast separate dissimilar unrelated"
_CONTRAST = frozenset(_CONTRAST_WORDS.split())


def _contrasts(sentence: Sentence) -> bool:
    return any(token.stem in _CONTRAST or token.surface in _CONTRAST for token in sentence.tokens)


def _denied(passage: _Passage, answer: Sentence) -> Difference | None:
    """The value is named only to be denied: `not British, as many believe`."""
    is_denied = any(_denies(sentence.tokens, answer.stems) for sentence in passage.sentences)
    return Difference(0.55, "negation") if is_denied else None


def _denies(tokens: Sequence[Token], value: frozenset[str]) -> bool:
    places = [place for place, token in enumerate(tokens) if token.stem in value]
    return any(near.is_negation for place in places for near in tokens[max(0, place - DENIAL_REACH) : place])


def _chosen(passage: _Passage, answered: Answered, tokeniser: Tokeniser) -> Difference | None:
    """Of two choices that the question named, the passage speaks of the wrong one as the answer."""
    choices = [tokeniser.sentence(rival).stems for rival in answered.rivals]
    if len(choices) != 2:
        return None
    answer = tokeniser.sentence(answered.answer).stems
    right, wrong = sorted(choices, key=lambda stems: -len(stems & answer))
    predicate = tokeniser.sentence(answered.question).stems - right - wrong
    credits = [_credited(sentence, right - wrong, wrong - right, predicate) for sentence in passage.sentences]
    for_right, for_wrong = (sum(side) for side in zip(*credits, strict=True))
    return Difference(0.55, "other-choice") if for_wrong > for_right else None


def _credited(
    sentence: Sentence, right: frozenset[str], wrong: frozenset[str], predicate: frozenset[str]
) -> tuple[int, int]:
    """How many words of the predicate a sentence gives to each choice: to the one named last before, else after."""
    places = [(place, token.stem) for place, token in enumerate(sentence.tokens)]
    named = [(place, stem in right) for place, stem in places if stem in right | wrong]
    owners = [_owner(place, named) for place, stem in places if stem in predicate]
    return owners.count(True), owners.count(False)


def _owner(place: int, named: list[tuple[int, bool]]) -> bool | None:
    before = [is_right for at, is_right in named if at < place]
    after = [is_right for at, is_right in named if at > place]
    return before[-1] if before else after[0] if after else None


def _rival(passage: _Passage, value: Sentence, topic: Sentence) -> Difference | None:
    """Another value of the answer's kind that the topic does not already hold."""
    others = [token for token in passage.tokens if token.stem not in topic.stems]
    if any(token.is_date for token in value.tokens) and any(token.is_date or _is_year(token) for token in others):
        return Difference(0.7, "date")
    if any(token.quantity for token in value.tokens) and any(token.quantity for token in others):
        return Difference(0.7, "number")
    is_named = any(token.is_name for token in value.tokens) or _is_bare_name(value)
    return Difference(0.6, "name") if is_named and any(token.is_name for token in others) else None


def _is_year(token: Token) -> bool:
    return token.quantity is not None and not token.quantity.dimension and 1000 <= token.quantity.value <= 2999


def _is_bare_name(value: Sentence) -> bool:
    """A one-word answer opens its sentence, so its capital tells nothing."""
    return len(value.stems) == 1 and not any(token.quantity for token in value.tokens)


def _against_statement(passage: _Passage, known: Sentence) -> Difference | None:
    if len(known.stems & passage.stems) < MIN_TOPIC_WORDS + 1:  # most pairs: nothing else is worth its time
        return None
    missing = [token for token in known.tokens if token.is_value and token.stem not in passage.stems]
    topic = [token for token in known.tokens if token.is_content and token not in missing]
    content = {token.stem for token in topic}
    if len(content & passage.stems) < MIN_TOPIC_WORDS + 1 or _coverage(topic, passage.stems) < MIN_STATEMENT_TOPIC:
        return None
    if not missing:
        return _statement_polarity(passage, known)
    if len(_runs(known, missing)) > 1:
        return None
    value = Sentence(tuple(missing), frozenset(token.stem for token in missing), is_negated=False)
    return _rival(passage, value, known)


def _runs(known: Sentence, missing: Sequence[Token]) -> list[int]:
    """Where runs of neighbouring missing tokens start: a name of two words is one value."""
    places = [position for position, token in enumerate(known.tokens) if token in missing]
    return [place for index, place in enumerate(places) if index == 0 or place - places[index - 1] > 2]


def _statement_polarity(passage: _Passage, known: Sentence) -> Difference:
    nearest = max(passage.sentences, key=lambda sentence: len(sentence.stems & known.stems))
    shares = len(nearest.stems & known.stems) / max(1, len(known.stems))
    return Difference(0.6, "negation") if shares >= 0.6 and nearest.is_negated != known.is_negated else AGREES
