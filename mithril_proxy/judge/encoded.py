"""Bounded decoding of text that was encoded to pass unread: base64, base32, hex, percent, escapes, rot13, reversal.

1. A run is decoded only when it is long enough to hold words and its bytes are printable UTF-8 text.
2. Each decoded text is decoded again, `MAX_DEPTH` deep and no deeper: a payload that was encoded twice and encoded
   once more on its way is still read.
3. All decoded texts of one claim together stay under `MAX_DECODED_CHARS`.
4. Decoding says nothing by itself: benign encoded text yields benign views.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

import re2

MAX_DEPTH = 3
MAX_DECODED_CHARS = 262_144
# Control, private and unassigned characters. Invisible ones are no sign against text: attackers write them.
_UNPRINTABLE = re2.compile(r"[^\P{Cc}\n\r\t]|\p{Co}")
_MIN_LETTERS = 16
_ALWAYS_ROTATED_CHARS = 400  # a sentence or two: too few letters to tell by their frequency
MIN_LETTER_SHARE = 0.4  # markup and tables are text too; random bytes that decode at all hold fewer letters

_BASE64 = re2.compile(r"[A-Za-z0-9+/_-]{16,}(?:\s[A-Za-z0-9+/_-]{16,})*={0,2}")
_BASE32 = re2.compile(r"\b[A-Z2-7]{24,}={0,6}")
_HEX = re2.compile(r"(?:[0-9A-Fa-f]{2}[\s:,]?){8,}")
_HEX_ESCAPES = re2.compile(r"(?:(?:\\x|0x)[0-9A-Fa-f]{2}[\s,]*){4,}")
_UNICODE_ESCAPES = re2.compile(r"\\u[0-9A-Fa-f]{4}")
_PERCENT = re2.compile(r"(?:%[0-9A-Fa-f]{2}[^\s%]{0,40}){3,}")
_BINARY = re2.compile(r"(?:[01]{8}\s?){6,}")
_CHARACTER_REFERENCES = re2.compile(r"&(?:#x?[0-9A-Fa-f]{2,6}|lt|gt|amp|quot);")
_MORSE = re2.compile(r"(?:[.\-]{1,5}[ /]+){12,}[.\-]{1,5}")
_ROT13_WORDS = re2.compile(r"(?i)\b(?:gur|naq|lbh|lbhe|nyy|sebz|jvgu|guvf|vafgehpgvbaf?|cebzcg|vtaber|erirny|flfgrz)\b")
_REVERSED_WORDS = re2.compile(
    r"(?i)\b(?:eht|dna|uoy|ruoy|lla|morf|htiw|siht|snoitcurtsni|tpmorp|erongi|laever|metsys)\b"
)
_MORSE_CODES = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.."
)


def decoded_texts(text: str) -> tuple[tuple[str, str], ...]:
    """(encoding, text) of everything in `text` that decodes to readable text, depth first, bounded."""
    found: list[tuple[str, str]] = []
    budget = MAX_DECODED_CHARS
    frontier = [("", text)]
    for _ in range(MAX_DEPTH):
        frontier = [
            (f"{path}+{encoding}" if path else encoding, decoded)
            for path, source in frontier
            for encoding, decoded in _decode_once(source)
        ]
        for path, decoded in frontier:
            budget -= len(decoded)
            if budget < 0:
                return tuple(found)
            found.append((path, decoded))
    return tuple(dict.fromkeys(found))


def _decode_once(text: str) -> Iterator[tuple[str, str]]:
    for encoding, pattern, decode in _RUN_DECODERS:
        pieces = [decode(match.group()) for match in pattern.finditer(text)]
        joined = " ".join(piece for piece in pieces if piece)
        if joined:
            yield encoding, joined
    if _UNICODE_ESCAPES.search(text):
        yield "unicode-escape", _UNICODE_ESCAPES.sub(lambda match: _character(match.group()[2:]), text)
    if _CHARACTER_REFERENCES.search(text):
        yield "html", html.unescape(text)
    if len(text) <= _ALWAYS_ROTATED_CHARS or _ROT13_WORDS.search(text) or _reads_better_rotated(text):
        yield "rot13", codecs.encode(text, "rot13")
    if _REVERSED_WORDS.search(text):
        yield "reversed", text[::-1]


def _reads_better_rotated(text: str) -> bool:
    """True when rot13 makes common letters of rare ones: e, t, o, i, s against r, g, b, v, f."""
    lower = text.lower()
    common = sum(map(lower.count, "etois"))
    rotated = sum(map(lower.count, "rgbvf"))
    return rotated > common and common + rotated >= _MIN_LETTERS


def _character(digits: str) -> str:
    code = int(digits, 16)
    return " " if 0xD800 <= code <= 0xDFFF else chr(code)


def _readable(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    letters = sum(character.isalpha() or character in " \n" for character in text)
    is_text = len(text) >= 6 and not _UNPRINTABLE.search(text) and letters >= MIN_LETTER_SHARE * len(text)
    return text if is_text else ""


def _from_base64(run: str) -> str:
    """The run as one text, else the pieces of it that are text by themselves: a long word may stand before one."""
    return _base64_text(run) or " ".join(filter(None, map(_base64_text, run.split())))


def _base64_text(run: str) -> str:
    compact = re.sub(r"[\s=]", "", run).translate(str.maketrans("-_", "+/"))
    compact = compact[: len(compact) - 1] if len(compact) % 4 == 1 else compact
    return _readable(base64.b64decode(compact + "=" * (-len(compact) % 4)))


def _from_base32(run: str) -> str:
    compact = run.rstrip("=")
    try:
        return _readable(base64.b32decode(compact + "=" * (-len(compact) % 8)))
    except binascii.Error:
        return ""


def _from_hex(run: str) -> str:
    return _readable(bytes.fromhex(re.sub(r"[\s:,]", "", run)))


def _from_hex_escapes(run: str) -> str:
    return _readable(bytes.fromhex(re.sub(r"\\x|0x|[\s,]", "", run)))


def _from_percent(run: str) -> str:
    return _readable(unquote_to_bytes(run.replace("+", " ")))


def _from_binary(run: str) -> str:
    return _readable(bytes(int(octet, 2) for octet in re.findall("[01]{8}", run)))


def _from_morse(run: str) -> str:
    letters = dict(zip(_MORSE_CODES.split(), "abcdefghijklmnopqrstuvwxyz", strict=True))
    words = re.split(r"\s*/\s*|\s{2,}", run.strip())
    return " ".join("".join(letters.get(code, "") for code in word.split()) for word in words)


_RUN_DECODERS = (
    ("base64", _BASE64, _from_base64),
    ("base32", _BASE32, _from_base32),
    ("hex", _HEX, _from_hex),
    ("hex-escape", _HEX_ESCAPES, _from_hex_escapes),
    ("percent", _PERCENT, _from_percent),
    ("binary", _BINARY, _from_binary),
    ("morse", _MORSE, _from_morse),
)
