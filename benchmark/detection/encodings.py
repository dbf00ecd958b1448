"""Ten ways to write a text so that a reader or a model understands it and a pattern does not."""

from __future__ import annotations

import base64
import codecs
from collections.abc import Callable, Mapping

_HOMOGLYPHS = str.maketrans("aceopxyiAEKMOTCBHP", "асеорхуіАЕКМОТСВНР")
_LEET = str.maketrans("aeiostAEIOST", "431057431057")


def _zero_width(text: str) -> str:
    return "\u200b".join(text)


def _fullwidth(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def _tags(text: str) -> str:
    """Letters that have no tag character stay as they are: left out, the payload would be lost to its model too."""
    return "Note. " + "".join(chr(0xE0000 + ord(c)) if " " <= c <= "~" else c for c in text)


def _percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


ENCODINGS: Mapping[str, Callable[[str], str]] = {
    "zero-width": _zero_width,
    "homoglyph": lambda text: text.translate(_HOMOGLYPHS),
    "fullwidth": _fullwidth,
    "tag characters": _tags,
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "hex": lambda text: text.encode().hex(),
    "leet": lambda text: text.translate(_LEET),
    "newline": lambda text: text.replace(" ", "\n"),
    "percent": _percent,
}
