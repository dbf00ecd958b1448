"""Claim text as HTML: escaped, with what cannot be seen made visible and what differs marked. Pure."""

from __future__ import annotations

import difflib
import re
import unicodedata

from markupsafe import Markup, escape

BLANK_LETTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters and symbols without any ink
SEEN = frozenset("\n\t ")
MAX_COMPARED_WORDS = 3000  # of each text: the comparison takes time with their product
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


def is_invisible(character: str) -> bool:
    """True for a character that a reader would not see, or would take for a plain space."""
    if character.isascii():
        return not character.isprintable() and character not in SEEN
    return not character.isprintable() or character in BLANK_LETTERS or _is_variation(character)


def _is_variation(character: str) -> bool:
    return "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef" or character == "\u034f"


def shown(text: str) -> Markup:
    """The text escaped, each invisible character as a mark that names it."""
    pieces: list[Markup] = []
    plain: list[str] = []
    for character in text:
        if not is_invisible(character):
            plain.append(character)
            continue
        pieces += [escape("".join(plain)), _mark(character)]
        plain = []
    return Markup().join((*pieces, escape("".join(plain))))


def _mark(character: str) -> Markup:
    name = unicodedata.name(character, "control character")
    return Markup('<span class="invisible" title="{}">U+{:04X}</span>').format(name.lower(), ord(character))


def differences(claim: str, memory: str) -> tuple[Markup, Markup]:
    """Both texts, the words that only one of them has marked. Very long texts are shown unmarked."""
    left, right = _WORDS.findall(claim), _WORDS.findall(memory)
    if max(len(left), len(right)) > MAX_COMPARED_WORDS:
        return shown(claim), shown(memory)
    matcher = difflib.SequenceMatcher(None, [word.casefold() for word in left], [word.casefold() for word in right])
    sides: tuple[list[Markup], list[Markup]] = ([], [])
    for kind, start, end, other_start, other_end in matcher.get_opcodes():
        for side, words in zip(sides, (left[start:end], right[other_start:other_end]), strict=True):
            text = "".join(words)
            is_marked = kind != "equal" and text.strip()
            side.append(Markup("<mark>{}</mark>").format(shown(text)) if is_marked else shown(text))
    return Markup().join(sides[0]), Markup().join(sides[1])
