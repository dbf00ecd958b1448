"""Other readings of a text: invisible and look-alike letters folded, escapes and encodings decoded.

1. A view is a copy of the text in which runs are replaced; each run remembers where it stood in the original.
2. A run of uniform width (`%41%42`) maps back character by character; any other run is claimed as a whole.
3. Each view is gated by a test that is cheap on clean text, so that only text that needs a view pays for it.
"""

from __future__ import annotations

import base64
import bisect
import html
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import re2

MAX_VIEW_CHARS = 4_000_000  # the largest judged text of a claim; a longer decoded blob is not text that is remembered
MIN_BLOB_CHARS = 20  # the shortest base64 of `password=x1`-like text

Replace = Callable[[str], "tuple[str, int] | None"]


@dataclass(frozen=True, slots=True)
class Run:
    """One replaced stretch: `[at, at_end)` in the view was `[origin, origin_end)` in the original.

    `width` is the number of original characters for one of the view, 0 when the run can only be taken as a whole.
    """

    at: int
    at_end: int
    origin: int
    origin_end: int
    width: int


@dataclass(frozen=True, slots=True)
class View:
    """A decoded copy of a text, with the way back."""

    text: str
    runs: tuple[Run, ...]
    starts: tuple[int, ...]

    def start_of(self, offset: int) -> int:
        """Where the character at `offset` of the view begins in the original."""
        return self._origin(offset, at_end=False)

    def end_of(self, offset: int) -> int:
        """Where the character before `offset` of the view ends in the original."""
        return self._origin(offset - 1, at_end=True)

    def _origin(self, offset: int, *, at_end: bool) -> int:
        index = bisect.bisect_right(self.starts, offset) - 1
        if index < 0:
            return offset + at_end
        run = self.runs[index]
        if offset >= run.at_end:
            return run.origin_end + (offset - run.at_end) + at_end
        if run.width:
            return run.origin + (offset - run.at + at_end) * run.width
        return run.origin_end if at_end else run.origin


def replaced(text: str, pattern: re2._Regexp, decode: Replace) -> View | None:
    """The view in which every match of `pattern` that `decode` accepts is replaced; None when none is."""
    pieces: list[str] = []
    runs: list[Run] = []
    done = at = 0
    for start, end in _spans(text, pattern):
        decoded = decode(text[start:end])
        if decoded is None:
            continue
        new, width = decoded
        pieces += (text[done:start], new)
        at += start - done
        runs.append(Run(at, at + len(new), start, end, width))
        at += len(new)
        done = end
    if not runs:
        return None
    pieces.append(text[done:])
    return View("".join(pieces), tuple(runs), tuple(run.at for run in runs))


def substituted(text: str, replacements: list[tuple[int, int, str]]) -> View:
    """The view in which each `(start, end, new)`, given in order, stands replaced as a whole."""
    pieces: list[str] = []
    runs: list[Run] = []
    done = at = 0
    for start, end, new in replacements:
        pieces += (text[done:start], new)
        at += start - done
        runs.append(Run(at, at + len(new), start, end, 0))
        at += len(new)
        done = end
    pieces.append(text[done:])
    return View("".join(pieces), tuple(runs), tuple(run.at for run in runs))


def _spans(text: str, pattern: re2._Regexp) -> Iterator[tuple[int, int]]:
    """Character offsets of every match. RE2 counts bytes, so that text outside ASCII is counted along."""
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) == len(text):
        yield from (match.span() for match in pattern.finditer(encoded))
        return
    byte = char = 0
    for match in pattern.finditer(encoded):
        start, end = match.span()
        first = char + characters(encoded[byte:start])
        char = first + characters(encoded[start:end])
        byte = end
        yield first, char


def characters(encoded: bytes) -> int:
    """The number of characters in UTF-8 bytes that start and end between characters."""
    return len(encoded.decode("utf-8", "surrogatepass"))


# ------------------------------------------------------------------ letters
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
_DROPPED = re2.compile(f"[{INVISIBLE}]+".encode())


@dataclass(frozen=True, slots=True)
class LettersView:
    """A text with letters folded one to one and invisible ones left out; `origins` says where each one stood."""

    text: str
    origins: list[int]

    def start_of(self, offset: int) -> int:
        """Where the character at `offset` of the view stands in the original."""
        return self.origins[offset]

    def end_of(self, offset: int) -> int:
        """Where the character before `offset` of the view ends in the original."""
        return self.origins[offset - 1] + 1


def letters(text: str) -> LettersView | None:
    """Invisible characters dropped, full-width and look-alike letters as the ASCII ones they pass for."""
    if text.isascii() or not _LETTERS.search(text.encode("utf-8", "surrogatepass")):
        return None
    table = {letter: _plain(letter) for letter in set(text) if not letter.isascii()}
    kept = [(offset, table.get(letter, letter)) for offset, letter in enumerate(text)]
    shown = [(offset, letter) for offset, letter in kept if letter]
    return LettersView("".join(letter for _, letter in shown), [offset for offset, _ in shown])


def _plain(letter: str) -> str:
    """The one letter that `letter` passes for; empty when it cannot be seen."""
    if _DROPPED.match(letter.encode("utf-8", "surrogatepass")):
        return ""
    plain = _LOOKALIKES.get(letter) or unicodedata.normalize("NFKC", letter)
    return plain if len(plain) == 1 else letter


# ------------------------------------------------------------------ escapes
_PERCENT = re2.compile(rb"(?:%[0-9A-Fa-f]{2})+")
_ESCAPES = re2.compile(
    rb"(?:\\u[0-9A-Fa-f]{4})+|(?:\\x[0-9A-Fa-f]{2})+|(?:\\[nrt\"'/\\])+|(?:\\\r?\n[ \t]*)+|(?:=\r?\n)+"
    rb"|(?:=[0-9A-F]{2})+|&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|quot|apos|amp|lt|gt|colon|equals|commat|sol|period);"
)
_SIMPLE = {"n": "\n", "r": "\r", "t": "\t"}


def _uniform(decoded: str, run: str, width: int) -> tuple[str, int]:
    return decoded, width if len(decoded) * width == len(run) else 0


def _from_hex(run: str, mark: str, width: int) -> tuple[str, int] | None:
    """The text of `%41%42` and the like; None when the bytes are no UTF-8, as in the variable `%DB_PASSWORD%`."""
    try:
        return _uniform(bytes.fromhex(run.replace(mark, "")).decode(), run, width)
    except UnicodeDecodeError:
        return None


def _unpercent(run: str) -> tuple[str, int] | None:
    return _from_hex(run, "%", 3)


def _unescape(run: str) -> tuple[str, int] | None:
    if run[:2] == "\\u":
        units = bytes.fromhex(run.replace("\\u", "")).decode("utf-16-be", "replace")
        return _uniform(units, run, 6)
    if run[:2] == "\\x":
        return _from_hex(run, "\\x", 4)
    if run[0] == "&":
        return html.unescape(run), 0
    if run[-1] in " \t\n":
        return "", 0
    if run[0] == "=":
        return _from_hex(run, "=", 3)
    return "".join(_SIMPLE.get(letter, letter) for letter in run[1::2]), 2


def percent(text: str) -> View | None:
    """Percent escapes decoded, one level."""
    return replaced(text, _PERCENT, _unpercent) if "%" in text else None


def escapes(text: str) -> View | None:
    r"""JSON, Python and HTML escapes decoded and folded lines joined, one level."""
    if "\\" in text or "&" in text or "=" in text:
        return replaced(text, _ESCAPES, _unescape)
    return None


# ------------------------------------------------------------------ blobs
_BLOB = re2.compile(
    rb"[A-Za-z0-9+/_-]{20,}(?:(?:\\r)?(?:\\n|\r?\n)[ \t>]*[A-Za-z0-9+/_-]{4,})*"
    rb"(?:(?:\\r)?(?:\\n|\r?\n)?[ \t]*={1,2}|%3[Dd]){0,2}"
)
_FOLD = re2.compile(r"(?:\\r)?\\n|[\s>]")


def unblob(run: str) -> str | None:
    """The text that a base64, base64url or hex run holds; None when it holds no text.

    A path or a name glued to its front (`/files/Z2hw…`) shifts base64, so that all four alignments are tried.
    """
    packed = _FOLD.sub("", run).replace("%3D", "").replace("%3d", "").rstrip("=")
    if len(packed) > MAX_VIEW_CHARS:
        return None
    if _is_hex(packed):
        return _as_text(bytes.fromhex(packed))
    standard = packed.replace("-", "+").replace("_", "/")
    texts = (_as_text(_decoded(standard[shift:])) for shift in range(4))
    return next((text for text in texts if text is not None), None)


def _decoded(standard: str) -> bytes:
    """The bytes of base64 without padding; a last character that stands alone says nothing and is left out."""
    whole = standard[:-1] if len(standard) % 4 == 1 else standard
    return base64.b64decode(whole + "=" * (-len(whole) % 4))


def _is_hex(packed: str) -> bool:
    return len(packed) % 2 == 0 and not packed.strip("0123456789abcdefABCDEF")


def _as_text(decoded: bytes) -> str | None:
    """`decoded` as text when at least four fifths of it are printable: random bytes are not half as much."""
    for codec in ("utf-16-le",) if decoded[1:8:2] == b"\0\0\0\0" else ("utf-8",):
        text = decoded.decode(codec, "replace")
        odd = sum(not (letter.isprintable() or letter in "\n\r\t") or letter == "\ufffd" for letter in text[:4096])
        if odd * 5 <= len(text[:4096]):
            return text
    return None


def blobs(text: str) -> Iterator[tuple[int, int]]:
    """Offsets of the runs that may be base64 or hex of a text."""
    return _spans(text, _BLOB)
