"""The view without disguises: invisible characters left out, look-alike letters as those they pass for."""

from __future__ import annotations

import re
import unicodedata
from array import array

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


def letters(text: str) -> View | None:
    """Invisible characters dropped, full-width and look-alike letters as the ASCII ones they pass for."""
    if text.isascii() or not _LETTERS.search(text.encode("utf-8", "surrogatepass")):
        return None
    folded = text.translate({ord(letter): _plain(letter) for letter in set(text) if not letter.isascii()})
    return replaced(folded, _DROPPED, _dropped) or View(folded, array("q", [len(text)]), array("q", [len(text)]), b"")


def _dropped(run: str) -> Decoded:
    return "", 0


def _plain(letter: str) -> str:
    """The one letter that `letter` passes for."""
    plain = _LOOKALIKES.get(letter) or unicodedata.normalize("NFKC", letter)
    return plain if len(plain) == 1 else letter
