"""Words of a sentence as contradiction needs them: stem, surface, whether they carry content, and their kind."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from mithril_proxy.judge.canonical import sentences
from mithril_proxy.judge.lexicon import Lexicon
from mithril_proxy.judge.quantities import Quantity, is_date, normalise_numbers, quantity
from mithril_proxy.judge.stems import stem

# Dates, numbers with their unit or separators, dotted names, words with an apostrophe.
_TOKEN = re.compile(r"\d{4}-\d{2}(?:-\d{2})?|\d[\d.:]*\d(?:[a-z%]+)?|\d(?:[a-z%]+)?|[^\W\d_]+(?:['’][^\W\d_]+)*|\w+")


@dataclass(frozen=True, slots=True)
class Token:
    """One word. `is_name` is true for a capitalised content word; the first word of a sentence counts only if told."""

    surface: str
    stem: str
    is_content: bool
    is_name: bool
    is_negation: bool
    is_date: bool
    quantity: Quantity | None

    @property
    def is_value(self) -> bool:
        """True for what a fact is usually about: a number, a date or a name."""
        return self.is_name or self.is_date or self.quantity is not None


@dataclass(frozen=True, slots=True)
class Sentence:
    """One tokenised sentence."""

    tokens: tuple[Token, ...]
    stems: frozenset[str]
    is_negated: bool


@dataclass(frozen=True, slots=True)
class Tokeniser:
    """Makes tokens with the knowledge of a lexicon."""

    lexicon: Lexicon

    def sentences(self, text: str, most: int) -> tuple[Sentence, ...]:
        """The first `most` sentences of `text` that have content."""
        made = (self.sentence(part) for part in sentences(text))
        return tuple(islice((sentence for sentence in made if sentence.stems), most))

    def sentence(self, text: str) -> Sentence:
        """One sentence, its numbers and dates in one written form."""
        words = _TOKEN.findall(normalise_numbers(text))
        tokens = tuple(self._token(words, position) for position in range(len(words)))
        negations = sum(token.is_negation for token in tokens)
        return Sentence(tokens, frozenset(token.stem for token in tokens if token.is_content), negations % 2 == 1)

    def _token(self, words: list[str], position: int) -> Token:
        word = words[position]
        lower = word.lower().replace("’", "'")
        has_date = is_date(lower)
        amount = None if has_date else quantity(lower, words[position + 1] if position + 1 < len(words) else "")
        is_negation = lower in self.lexicon.negations or lower.endswith("n't")
        is_content = lower not in self.lexicon.function_words and not is_negation
        return Token(
            surface=lower,
            stem=lower if has_date or amount else stem(lower),
            is_content=is_content,
            is_name=is_content and word[:1].isupper() and (position > 0 or _opens_with_name(words)),
            is_negation=is_negation,
            is_date=has_date,
            quantity=amount,
        )


def _opens_with_name(words: list[str]) -> bool:
    """True when the second word is capitalised too: `Peter Smith lives …`, but not `Bananas are …`."""
    return len(words) > 1 and words[1][:1].isupper()
