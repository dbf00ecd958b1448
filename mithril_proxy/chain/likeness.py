"""When two texts are one text: copies that differ in case, punctuation, marks, a typo or a preface. Pure.

This compares wording, not meaning: two people who say the same in their own words are not copies.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

GRAM = 3
COPY_ABOVE = 0.90  # Dice of character trigrams: one typo in 40 characters keeps 0.92, one other word about 0.80
CONTAINED_CHARS = 40  # a text of this length that stands whole in another one was taken from it

_NO_WORD = re.compile(r"[\W_]+")


@lru_cache(maxsize=4096)
def plain_form(text: str) -> str:
    """`text` without case, marks, invisible characters and punctuation, words parted by one space."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    seen = "".join(char for char in folded if unicodedata.category(char) not in ("Mn", "Cf"))
    return _NO_WORD.sub(" ", seen).strip()


def is_copy(first: str, second: str) -> bool:
    """True when one text is the other one, up to small changes, or holds it whole."""
    one, other = plain_form(first), plain_form(second)
    if one == other:
        return True
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) >= CONTAINED_CHARS and shorter in longer:
        return True
    if len(shorter) < len(longer) * COPY_ABOVE / (2 - COPY_ABOVE) - GRAM:
        return False  # Dice cannot reach COPY_ABOVE with lengths this far apart
    return _dice(one, other) >= COPY_ABOVE


def _dice(one: str, other: str) -> float:
    """Shared character trigrams, 0..1."""
    first, second = _grams(one), _grams(other)
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 0.0


def _grams(text: str) -> Counter[str]:
    return Counter(text[start : start + GRAM] for start in range(len(text) - GRAM + 1))
