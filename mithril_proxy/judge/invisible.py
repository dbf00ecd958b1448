"""Characters that a reader does not see: removed, or decoded where they spell a hidden text.

1. Zero-width and bidirectional controls are removed from the judged text; the stored text keeps them.
2. Tag characters (U+E0020..U+E007E) mirror ASCII: what they spell is a view of its own.
3. Variation selectors can carry bytes (U+FE00..U+FE0F are 0..15, U+E0100..U+E01EF are 16..255): decoded the same way.
Emoji families and right-to-left prose need such characters, so their presence alone is never a finding.
"""

from __future__ import annotations

import re

# Default-ignorable code points of the Unicode Character Database that have no visible form of their own.
_ZERO_WIDTH = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
)
_TAGS = "\U000e0000-\U000e007f"
_SELECTORS = "\U000e0100-\U000e01ef"
_INVISIBLE = re.compile(f"[{_ZERO_WIDTH}{_TAGS}{_SELECTORS}]+")
_TAG_RUN = re.compile(f"[{_TAGS}]+")
_SELECTOR_RUN = re.compile(f"[\ufe00-\ufe0f{_SELECTORS}]{{4,}}")
_FLAG_EMOJI = "\U0001f3f4"


def strip_invisible(text: str) -> str:
    """The text without characters that have no visible form."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def hidden_text(text: str) -> str:
    """What tag characters and variation selectors spell, runs joined by nothing; empty when they spell nothing.

    Subdivision flags (a black flag and its region in tag characters) are not hidden text.
    """
    if text.isascii():
        return ""
    spelled = "".join(_spelled(text, run) for run in _TAG_RUN.finditer(text))
    carried = "".join(_carried(run.group()) for run in _SELECTOR_RUN.finditer(text))
    return spelled + carried


def shown_text(text: str) -> str:
    """The text with every tag character in its place as the ASCII character that it mirrors; empty without any.

    A payload in another language keeps the letters that tag characters cannot spell beside those that they can.
    """
    if text.isascii() or not _TAG_RUN.search(text):
        return ""
    return _TAG_RUN.sub(lambda run: _spelled(text, run), text)


def _spelled(text: str, run: re.Match[str]) -> str:
    if run.start() > 0 and text[run.start() - 1] == _FLAG_EMOJI:
        return ""
    codes = (ord(character) - 0xE0000 for character in run.group())
    return "".join(chr(code) for code in codes if 0x20 <= code < 0x7F)


def _carried(run: str) -> str:
    carried = bytes(
        ord(character) - 0xFE00 if ord(character) <= 0xFE0F else ord(character) - 0xE0100 + 16 for character in run
    )
    return carried.decode("utf-8", "ignore")
