"""A view: a copy of a text in which runs stand replaced, with the way back to the original.

1. Each run remembers where it stood. One of uniform width (`%41%42`) maps back character by character, any other as a
   whole.
2. The work is one step a run, however many there are: equal runs are decoded once, and offsets are added up on the way.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

Decoded = tuple[str, int]
"""What a run says, and its width: original characters for one of the view, 0 when it can only be taken as a whole."""

Decode = Callable[[str], Decoded | None]

Run = tuple[int, int, int, int, int]
"""at, at_end, origin, origin_end, width: `[at, at_end)` in the view was `[origin, origin_end)` in the original.

A bare tuple, because hostile text has hundreds of thousands in a megabyte.
"""


@dataclass(frozen=True, slots=True)
class View:
    """A decoded copy of a text, with the way back. `starts` holds where each run begins in the view."""

    text: str
    runs: list[Run] = field(repr=False)
    starts: list[int] = field(repr=False)

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
        at, stop, origin, origin_end, width = self.runs[index]
        if offset >= stop:
            return origin_end + (offset - stop) + at_end
        if width:
            return origin + (offset - at + at_end) * width
        return origin_end if at_end else origin


def substituted(text: str, replacements: Iterable[tuple[int, int, str, int]]) -> View:
    """The view in which each `(start, end, new, width)`, given in order, stands replaced."""
    pieces: list[str] = []
    runs: list[Run] = []
    starts: list[int] = []
    done = at = 0
    for start, end, new, width in replacements:
        pieces += (text[done:start], new)
        at += start - done
        stop = at + len(new)
        runs.append((at, stop, start, end, width))
        starts.append(at)
        at, done = stop, end
    pieces.append(text[done:])
    return View("".join(pieces), runs, starts)


def replaced(text: str, pattern: re.Pattern[str], decode: Decode) -> View | None:
    """The view in which every match of `pattern` that `decode` accepts is replaced; None when none is.

    `pattern` must leave no choice between two ways to match, so that it is linear in `re`, too: its matches are
    characters at once, at a tenth of what RE2's cost in Python.
    """
    known: dict[str, Decoded | None] = {}
    found: list[tuple[int, int, str, int]] = []
    for match in pattern.finditer(text):
        run = match[0]
        if run not in known:
            known[run] = decode(run)
        decoded = known[run]
        if decoded is not None:
            found.append((*match.span(), *decoded))
    return substituted(text, found) if found else None


def characters(encoded: bytes) -> int:
    """The number of characters in UTF-8 bytes that start and end between characters."""
    return len(encoded.decode("utf-8", "surrogatepass"))
