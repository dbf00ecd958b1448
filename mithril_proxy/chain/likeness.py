"""When two texts are one text: copies that differ in case, punctuation, marks, a typo or a preface. Pure.

This compares wording, not meaning: two people who say the same in their own words are not copies.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

GRAM = 3
COPY_AT = 0.90  # Dice of character trigrams: one typo in 45 characters keeps 0.96, one other word 0.84
CONTAINED_CHARS = 40  # a text of this length that stands whole in another one was taken from it
COMPARED_CHARS = 4000  # of a text: what is the same for so long is a copy, whatever follows

_NO_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Wording:
    """How a text is worded: its plain form and that form's character trigrams."""

    plain: str
    grams: Counter[str]

    @classmethod
    def of(cls, text: str) -> Wording:
        """The wording of the first COMPARED_CHARS of `text`."""
        plain = plain_form(text[:COMPARED_CHARS])
        return cls(plain, Counter(plain[start : start + GRAM] for start in range(len(plain) - GRAM + 1)))

    def is_copy_of(self, other: Wording) -> bool:
        """True when one text is the other one, up to small changes, or holds it whole."""
        if self.plain == other.plain:
            return True
        shorter, longer = sorted((self.plain, other.plain), key=len)
        if len(shorter) >= CONTAINED_CHARS and shorter in longer:
            return True
        return 2 * len(shorter) >= COPY_AT * len(longer) and self._shared(other) >= COPY_AT

    def _shared(self, other: Wording) -> float:
        """Dice coefficient of the trigrams, 0..1."""
        total = self.grams.total() + other.grams.total()
        return 2 * (self.grams & other.grams).total() / total if total else 0.0


def plain_form(text: str) -> str:
    """`text` without case, marks, invisible characters and punctuation, words parted by one space."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    seen = "".join(char for char in folded if unicodedata.category(char) not in ("Mn", "Cf"))
    return _NO_WORD.sub(" ", seen).strip()
