"""Letters that look like others: Unicode confusables, combining marks, and leet digits.

The confusables come from the Unicode consortium's table as packaged by `confusable-homoglyphs`. Folding is for judging
only, and whole words of another script fold to nonsense that no rule matches, so such prose passes.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import cache

import re2
from confusable_homoglyphs import confusables

_LEET = {"0": "o", "1": "il", "3": "e", "4": "a", "5": "s", "6": "g", "7": "t", "8": "b", "9": "g", "@": "a", "$": "s"}
_LEET |= {"!": "i", "|": "li", "+": "t", "€": "e", "£": "l"}
_LEET_DIGITS = {sign: letters for sign, letters in _LEET.items() if sign.isdigit()}
_LEET_ALONE = {"1": "I", "4": "a", "5": "s"}  # words, and the ending of a genitive, where all else is leet
_MANY_MARKS = 3
_LEET_TOKEN = re.compile(r"(?:[^\W_]|[@$!|+€£])+")
_SIGN = re.compile(r"([@$!|+€£])")
# A word with a digit or sign in its middle or front. Units, ordinals and versions (`5pm`, `2nd`, `v2`) are none.
_MIXED = re2.compile(
    r"(?i)(?:^|[^\w@.])(?:[a-z]+[0-9@$|€£]+[a-z][a-z0-9@$|€£]*|[0-9@$|€£]+[a-z]{3,}[a-z0-9@$|€£]*"
    r"|[0-9]+[a-z]+[0-9]+[a-z0-9]*|[0-9]*[a-z]+[0-9]{2,}[a-z0-9]+)(?:[^\w.@]|[.]?$|[.]\s)"
)
_LETTERS = re.compile(r"[^\W\d_]+")
_CYRILLIC_OR_GREEK = re.compile("[\u0370-\u03ff\u0400-\u04ff]")
# Latin letters inside a Cyrillic word, back to the letters that they stand for.
_CYRILLIC_TWINS = str.maketrans("aceopxyiAEKMOTCBHPX", "асеорхуіАЕКМОТСВНРХ")
_SHORT_CHARS = 100  # a short text is read as leet for one such word, a longer one for two
_MAX_READINGS = 64


def fold_lookalikes(text: str) -> str:
    """The text with marks stripped and look-alike letters folded to ASCII."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    bare = "".join(character for character in decomposed if not unicodedata.combining(character))
    return bare.translate(_ascii_lookalikes())


def unmix_scripts(text: str) -> str:
    """The text with the words that mix alphabets written in one of them; words of one script stay as they are.

    A word of foreign letters alone is folded only between Latin words, where it is the odd one: prose of another
    script is left alone.
    """
    if text.isascii():
        return text
    latin = sum(map(text.count, "etaoinsrETAOINSR"))
    other = len(_CYRILLIC_OR_GREEK.findall(text))
    return _LETTERS.sub(lambda word: _unmixed(word.group(), is_among_latin=latin * 2 > other), text)


def _unmixed(word: str, *, is_among_latin: bool) -> str:
    if word.isascii():
        return word
    table = _ascii_lookalikes()
    twins = sum(ord(letter) in table and unicodedata.normalize("NFD", letter) == letter for letter in word)
    if any(_CYRILLIC_OR_GREEK.match(letter) and ord(letter) not in table for letter in word):
        return word.translate(_CYRILLIC_TWINS)
    is_mixed = twins < len(word)
    return word.translate(_foreign_lookalikes()) if is_mixed or is_among_latin else word


@cache
def _foreign_lookalikes() -> dict[int, str]:
    """The look-alikes that are no Latin letters with marks: `ộ` stays, Cyrillic `о` becomes `o`."""
    table = _ascii_lookalikes()
    return {code: twin for code, twin in table.items() if "LATIN SMALL LETTER" not in unicodedata.name(chr(code), "")}


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
    """The text with digits and signs inside words read as letters; unchanged when no word mixes them.

    Digits beside letters are always read. Signs, and numbers by themselves, are read only where that makes a word.
    """
    marks = sum(1 for _ in itertools.islice(_MIXED.finditer(fold_lookalikes(text)), _MANY_MARKS))
    if marks < (1 if len(text) <= _SHORT_CHARS else 2):
        return text
    alone = _LEET_ALONE if marks == _MANY_MARKS else {}
    return _LEET_TOKEN.sub(lambda token: alone.get(token.group()) or _read(token.group(), is_word), text)


def _read(token: str, is_word: Callable[[str], bool]) -> str:
    body = token.rstrip("!|+")
    ending = token[len(body) :]
    whole = next((reading for reading in _readings(body, _LEET) if is_word(reading.lower())), None)
    if whole is not None:
        return whole + ending
    return "".join(_read_piece(piece, is_word) for piece in _SIGN.split(body)) + ending


def _read_piece(piece: str, is_word: Callable[[str], bool]) -> str:
    if piece.isdigit() or not any(character.isdigit() for character in piece):
        return piece
    readings = tuple(_readings(piece, _LEET_DIGITS))
    return next((reading for reading in readings if is_word(reading.lower())), readings[0])


def _readings(token: str, letters: Mapping[str, str]) -> Iterator[str]:
    """The ways to read a token, most likely first, at most _MAX_READINGS."""
    choices = [letters.get(character, character) for character in token]
    if token.isupper():
        choices = [choice.upper() for choice in choices]
    return ("".join(reading) for reading in itertools.islice(itertools.product(*choices), _MAX_READINGS))
