"""Words of a sentence as contradiction needs them: stem, surface, whether they carry content, and their kind."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import snowballstemmer

_TOKEN = re.compile(
    r"\d{4}-\d{2}-\d{2}|\d[\d,.]*\d%?|\d%?|[A-Za-zÀ-ɏ]+(?:\.[A-Za-z]\b)+\.?|[^\W\d_]+(?:['’][^\W\d_]+)?|\w+"
)
FUNCTION_WORDS = frozenset(
    """a an the this that these those of in on at to for from by with as is are was were be been being am has have had do
    does did and or but if then than so such it its it's he she they them his her hers their theirs him we us our ours you
    your i me my mine who whom whose which what when where how why there here will would shall should can could may might
    must also very just about into over under out up down off again too more most some any each both own same per via
    s t d ll re ve m""".split()
)
_STEMMED_ONCE = 65_536


@dataclass(frozen=True, slots=True)
class Token:
    """One word. `is_name` is true for a capitalised word that does not open its sentence."""

    surface: str
    stem: str
    is_content: bool
    is_name: bool
    is_number: bool


def tokenise(sentence: str) -> tuple[Token, ...]:
    """The tokens of one sentence, in order."""
    words = _TOKEN.findall(sentence)
    return tuple(_token(word, position) for position, word in enumerate(words))


def _token(word: str, position: int) -> Token:
    lower = word.lower().replace("’", "'")
    is_number = any(character.isdigit() for character in word)
    return Token(
        surface=lower,
        stem=lower if is_number else stem(lower),
        is_content=lower not in FUNCTION_WORDS,
        is_name=word[0].isupper() and position > 0,
        is_number=is_number,
    )


@lru_cache(maxsize=_STEMMED_ONCE)
def stem(word: str) -> str:
    """The English Snowball stem of a lower-case word."""
    # A stemmer keeps the word it works on, so each call has its own: threads may stem at once.
    return str(snowballstemmer.stemmer("english").stemWord(word[:-2] if word.endswith("'s") else word))
