"""Letters that look like others: Unicode confusables, combining marks, and leet digits.

The confusables come from the Unicode consortium's table as packaged by `confusable-homoglyphs`. Folding is for judging
only, and whole words of another script fold to nonsense that no rule matches, so such prose passes.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable
from functools import cache

import re2
from confusable_homoglyphs import confusables

_LEET = {"0": "o", "1": "il", "3": "e", "4": "a", "5": "s", "6": "g", "7": "t", "8": "b", "9": "g", "@": "a", "$": "s"}
_LEET |= {"!": "i", "|": "li", "+": "t", "€": "e", "£": "l"}
_LEET_TOKEN = re.compile(r"[A-Za-z0-9@$!|+€£]*[0-9@$!|+€£][A-Za-z0-9@$!|+€£]*")
# A word with a digit or sign in its middle or front. Units, ordinals and versions (`5pm`, `2nd`, `v2`) are none.
_MIXED = re2.compile(
    r"(?i)(?:^|[^\w@.])(?:[a-z]+[0-9@$|€£]+[a-z][a-z0-9@$|€£]*|[0-9@$|€£]+[a-z]{3,}[a-z0-9@$|€£]*)(?:[^\w.@]|[.]?$|[.]\s)"
)
_SHORT_CHARS = 100  # a short text is read as leet for one such word, a longer one for two
_MAX_READINGS = 64


def fold_lookalikes(text: str) -> str:
    """The text with marks stripped and look-alike letters folded to ASCII."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    bare = "".join(character for character in decomposed if not unicodedata.combining(character))
    return bare.translate(_ascii_lookalikes())


@cache
def _ascii_lookalikes() -> dict[int, str]:
    """Code point to the ASCII letter that it can be mistaken for. Cached: the table is read once a process."""
    table: dict[int, str] = {}
    for character, twins in confusables.confusables_data.items():
        target = next((twin["c"] for twin in twins if len(twin["c"]) == 1 and _is_letter(twin["c"])), None)
        if target is not None and len(character) == 1 and not character.isascii():
            table[ord(character)] = target
    return table | _SMALL_CAPITALS


def _is_letter(character: str) -> bool:
    return character.isascii() and character.isalnum()


# Small capitals are letters of their own to Unicode's table; readers see capitals.
_SMALL_CAPITALS = dict(zip(map(ord, "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ"), "abcdefghijklmnoprstuvwyz", strict=True))


def undo_leet(text: str, is_word: Callable[[str], bool]) -> str:
    """The text with digits and signs inside words read as letters; unchanged when no word mixes them."""
    marks = sum(1 for _ in itertools.islice(_MIXED.finditer(text), 2))
    if marks < (1 if len(text) <= _SHORT_CHARS else 2):
        return text
    return _LEET_TOKEN.sub(lambda token: _read(token.group(), is_word), text)


def _read(token: str, is_word: Callable[[str], bool]) -> str:
    ending = re.search(r"[!|+]+$", token)
    body = token[: ending.start()] if ending else token
    choices = [_LEET.get(character, character) for character in body]
    readings = ("".join(reading) for reading in itertools.islice(itertools.product(*choices), _MAX_READINGS))
    first = next(readings, "")
    if is_word(first.lower()):
        return first + token[len(body) :]
    return next((reading for reading in readings if is_word(reading.lower())), first) + token[len(body) :]
