"""The view of what is packed: every base64, base64url or hex run of a text that holds text.

All that a text packs is read in one go, however many runs there are; a hit claims the whole run that it lies in.
"""

from __future__ import annotations

import binascii
import bisect
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import re2

from mithril_proxy.secrets.views import characters

MAX_BLOB_CHARS = 4_000_000  # the largest judged text of a claim; a longer decoded blob is not text that is remembered
_SAMPLE_CHARS = 4096
_BETWEEN = "\n\n\0\n\n"  # no rule reads over it but that of a key without an end, which then claims one run too many
_BLOB = re2.compile(
    rb"[A-Za-z0-9+/_-]{20,}(?:(?:\\r)?(?:\\n|\r?\n)[ \t>]*[A-Za-z0-9+/_-]{4,})*"
    rb"(?:(?:\\r)?(?:\\n|\r?\n)?[ \t]*={1,2}|%3[Dd]){0,2}"
)
_FOLD = re.compile(r"(?:\\r)?\\n|[\s>]")
_NOT_HEX = re.compile(r"[^0-9A-Fa-f]")


@dataclass(frozen=True, slots=True)
class Unpacked:
    """What the runs of a text hold, joined. `starts` says where the text of each begins, `runs` where each stood."""

    text: str
    starts: list[int]
    runs: list[tuple[int, int]]

    def runs_of(self, start: int, end: int) -> list[tuple[int, int]]:
        """The runs, in the original, that `[start, end)` of the joined text comes from."""
        first = bisect.bisect_right(self.starts, start) - 1
        return self.runs[first : bisect.bisect_left(self.starts, end)]


def unpacked(text: str) -> Unpacked | None:
    """What the packed runs of `text` hold; None when none holds text."""
    texts: list[str] = []
    starts: list[int] = []
    runs: list[tuple[int, int]] = []
    at = 0
    for start, end in _runs(text):
        held = unblob(text[start:end])
        if held:
            texts.append(held)
            starts.append(at)
            runs.append((start, end))
            at += len(held) + len(_BETWEEN)
    return Unpacked(_BETWEEN.join(texts), starts, runs) if runs else None


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Character offsets of what may be packed. RE2 counts bytes, so that text outside ASCII is counted along."""
    encoded = text.encode("utf-8", "surrogatepass")
    is_ascii = len(encoded) == len(text)
    byte = char = 0
    for match in _BLOB.finditer(encoded):
        start, end = match.span()
        first = start if is_ascii else char + characters(encoded[byte:start])
        byte, char = end, first + end - start
        yield first, char


def unblob(run: str) -> str | None:
    """The text that a base64, base64url or hex run holds; None when it holds no text.

    A path or a name glued to its front (`/files/Z2hw…`) shifts base64, so that all four alignments are tried.
    """
    packed = _FOLD.sub("", run).replace("%3D", "").replace("%3d", "").rstrip("=")
    if len(packed) > MAX_BLOB_CHARS:
        return None
    if len(packed) % 2 == 0 and not _NOT_HEX.search(packed):
        return _as_text(bytes.fromhex(packed))
    standard = packed.replace("-", "+").replace("_", "/").encode()
    texts = (_as_text(_decoded(standard[shift:])) for shift in range(4))
    return next((text for text in texts if text is not None), None)


def _decoded(standard: bytes) -> bytes:
    """The bytes of base64 without padding; a last character that stands alone says nothing and is left out."""
    whole = standard[:-1] if len(standard) % 4 == 1 else standard
    return binascii.a2b_base64(whole + b"=" * (-len(whole) % 4))


def _as_text(decoded: bytes) -> str | None:
    """`decoded` as text when at least four fifths of it are printable: random bytes are not half as much."""
    codec = "utf-16-le" if decoded[1:8:2] == b"\0\0\0\0" else "utf-8"
    text = decoded.decode(codec, "replace")
    sample = text[:_SAMPLE_CHARS]
    bound = len(sample) // 5
    if sample.isprintable() and "\ufffd" not in sample:
        return text
    if sample.count("\ufffd") > bound:
        return None
    odd = sum(number for letter, number in Counter(sample).items() if _is_odd(letter))
    return text if odd <= bound else None


def _is_odd(letter: str) -> bool:
    return letter == "\ufffd" or not (letter.isprintable() or letter in "\n\r\t")
