"""A view: a copy of a text in which runs stand replaced, with the way back to the original.

1. A text is cut into pieces: plain, run, plain, run, … plain. A run of uniform width (`%41%42`) maps back character by
   character, any other as a whole.
2. The work is a few C calls over all pieces, and one Python step for each distinct run: hostile text has hundreds of
   thousands of runs in a megabyte.
"""

from __future__ import annotations

import bisect
import re
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import accumulate

Decoded = tuple[str, int]
"""What a run says, and its width: original characters for one of the view, 0 when it can only be taken as a whole."""

Decode = Callable[[str], Decoded | None]


@dataclass(frozen=True, slots=True)
class View:
    """A decoded copy of a text. The arrays say where each piece ends, here and in the original; `widths` is of runs."""

    text: str
    ends: array[int] = field(repr=False)
    origin_ends: array[int] = field(repr=False)
    widths: bytes = field(repr=False)

    def start_of(self, offset: int) -> int:
        """Where the character at `offset` of the view begins in the original."""
        return self._origin(offset, at_end=False)

    def end_of(self, offset: int) -> int:
        """Where the character before `offset` of the view ends in the original."""
        return self._origin(offset - 1, at_end=True)

    def _origin(self, offset: int, *, at_end: bool) -> int:
        piece = bisect.bisect_right(self.ends, offset)
        into = offset - (self.ends[piece - 1] if piece else 0) + at_end
        origin = self.origin_ends[piece - 1] if piece else 0
        width = self.widths[piece // 2] if piece % 2 else 1
        if width:
            return origin + into * width
        return self.origin_ends[piece] if at_end else origin


def replaced(text: str, pattern: re.Pattern[str], decode: Decode) -> View | None:
    """The view in which every match of `pattern` that `decode` accepts is replaced; None when none is.

    `pattern` is one group. It must leave no choice between two ways to match, so that it is linear in `re`, too: RE2
    counts bytes, and a match of it costs ten times as much in Python.
    """
    pieces = pattern.split(text)
    runs = pieces[1::2]
    known = {run: decode(run) for run in set(runs)}
    if all(decoded is None for decoded in known.values()):
        return None
    full = {run: decoded or (run, 1) for run, decoded in known.items()}
    return _view(pieces, [full[run][0] for run in runs], bytes([full[run][1] for run in runs]))


def substituted(text: str, replacements: Iterable[tuple[int, int, str]]) -> View:
    """The view in which each `(start, end, new)`, given in order, stands replaced as a whole."""
    pieces: list[str] = []
    news: list[str] = []
    done = 0
    for start, end, new in replacements:
        pieces += (text[done:start], text[start:end])
        news.append(new)
        done = end
    return _view([*pieces, text[done:]], news, bytes(len(news)))


def _view(pieces: list[str], news: list[str], widths: bytes) -> View:
    origin_ends = array("q", accumulate(map(len, pieces)))
    pieces[1::2] = news
    return View("".join(pieces), array("q", accumulate(map(len, pieces))), origin_ends, widths)


def characters(encoded: bytes) -> int:
    """The number of characters in UTF-8 bytes that start and end between characters."""
    return len(encoded.decode("utf-8", "surrogatepass"))
