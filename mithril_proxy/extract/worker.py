"""The worker's side: bounds itself, reads a document from standard input, writes `{"text"}` or `{"reason"}`.

Anything that a library raises ends the process with a code other than 0; its message goes nowhere, since it may quote
the document.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from mithril_proxy.extract.kinds import Kind
from mithril_proxy.extract.readers import OverBound, pieces


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one document may cost."""

    timeout_s: float = 30.0
    memory_bytes: int = 1_073_741_824
    max_unpacked_bytes: int = 536_870_912
    max_pages: int = 2_000
    max_chars: int = 4_000_000

    def to_json(self) -> str:
        """For the worker's command line."""
        return json.dumps(asdict(self))


def bound_process(bounds: Bounds) -> None:
    """Limit this process for good: memory, processor time, no file written, few open, no core dump."""
    seconds = max(1, int(bounds.timeout_s))
    for limit, value in (
        (resource.RLIMIT_AS, bounds.memory_bytes),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limit, (value, value))


def answer(kind: Kind, content: bytes, bounds: Bounds) -> dict[str, str]:
    """`{"text"}`, or `{"reason"}` for a document that is over a bound or holds no text."""
    try:
        text = _joined(
            pieces(kind, content, max_pages=bounds.max_pages, max_unpacked_bytes=bounds.max_unpacked_bytes),
            bounds.max_chars,
        )
    except OverBound as error:
        return {"reason": str(error)}
    return {"text": text} if text.strip() else {"reason": "no_text"}


def _joined(found: Iterable[str], max_chars: int) -> str:
    kept: list[str] = []
    length = 0
    for piece in found:
        length += len(piece) + 1
        if length > max_chars:
            raise OverBound("too_long")
        kept.append(piece)
    return _whole("\n".join(kept))


def _whole(text: str) -> str:
    """The text without NUL and lone surrogates, which broken fonts give and no store takes."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def main() -> None:
    """Read a document from standard input: `worker KIND BOUNDS_JSON`."""
    kind, bounds = Kind(sys.argv[1]), Bounds(**json.loads(sys.argv[2]))
    bound_process(bounds)
    sys.stdout.write(json.dumps(answer(kind, sys.stdin.buffer.read(), bounds)))
