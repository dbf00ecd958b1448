"""The words that make a reading of obfuscated text plausible: those that the rules themselves speak of."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A set of lower-case words."""

    words: frozenset[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Vocabulary:
        """Every word of the texts."""
        return cls(frozenset(word for text in texts for word in _WORD.findall(text.lower())))

    def __contains__(self, word: object) -> bool:
        return word in self.words
