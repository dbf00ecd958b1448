"""The view without disguises: invisible characters left out, look-alike letters as those they pass for."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from functools import cached_property

import re2

from mithril_proxy.secrets.views import Decoded, View, replaced

# Letters of other scripts that look like the ASCII letters of token alphabets (Unicode TR39, confusables.txt).
_LOOKALIKES = dict(
    zip(
        "АВСЕНІЈКМОРЅТХҮаеорсухіјѕԁԛԝһΑΒΕΖΗΙΚΜΝΟΡΤΥΧοѵɡɩ",
        "ABCEHIJKMOPSTXYaeopcyxijsdqwhABEZHIKMNOPTYXovgi",
        strict=True,
    )
)
INVISIBLE = (  # format characters and fillers that have no width
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f"
)
_ALIKE = "".join(_LOOKALIKES)
_LETTERS = re2.compile(
    f"[{INVISIBLE}\uff01-\uff5e\u2460-\u24ff\u2100-\u214f\U0001d400-\U0001d7ff]"
    f"|[A-Za-z0-9_-][{_ALIKE}]|[{_ALIKE}][A-Za-z0-9_-]".encode()
)
_DROPPED = re.compile(f"([{INVISIBLE}]+)")


@dataclass(frozen=True)
class LettersView:
    """A text without disguises. The way back is worked out when something was found: letters keep their number."""

    text: str
    original: str = field(repr=False)

    @cached_property
    def _view(self) -> View | None:
        return replaced(self.original, _DROPPED, _dropped)

    def start_of(self, offset: int) -> int:
        """Where the character at `offset` of the view begins in the original."""
        return self._view.start_of(offset) if self._view else offset

    def end_of(self, offset: int) -> int:
        """Where the character before `offset` of the view ends in the original."""
        return self._view.end_of(offset) if self._view else offset


def letters(text: str) -> LettersView | None:
    """Invisible characters dropped, full-width and look-alike letters as the ASCII ones they pass for."""
    if text.isascii() or not _LETTERS.search(text.encode("utf-8", "surrogatepass")):
        return None
    table = {ord(letter): _plain(letter) for letter in set(text) if not letter.isascii()}
    return LettersView(text.translate(table), text)


def _dropped(run: str) -> Decoded:
    return "", 0


def _plain(letter: str) -> str:
    """The one letter that `letter` passes for; nothing when it cannot be seen."""
    if _DROPPED.match(letter):
        return ""
    plain = _LOOKALIKES.get(letter) or unicodedata.normalize("NFKC", letter)
    return plain if len(plain) == 1 else letter
