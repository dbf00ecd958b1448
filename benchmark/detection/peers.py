"""Other memory guards beside Mithril, each in its own environment and process."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

RUNNER = Path(__file__).with_name("peer_runner.py")
PEER_NAMES = ("memgar", "agent-memory-guard")


@dataclass(frozen=True, slots=True)
class Flag:
    """What a guard said of one text, and how long it took."""

    flagged: bool
    ms: float


Guard = Callable[[Sequence[str]], tuple[Flag, ...]]


def peer_guard(python: Path, name: str) -> Guard | None:
    """The guard `name` as installed for `python`; None when it is not installed there."""
    if _run(python, name, ()) is None:
        return None
    return lambda texts: _run(python, name, texts) or ()


def _run(python: Path, name: str, texts: Sequence[str]) -> tuple[Flag, ...] | None:
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    done = subprocess.run([str(python), str(RUNNER), name], input=lines, capture_output=True, text=True)
    if done.returncode:
        return None
    answers = (json.loads(line) for line in done.stdout.splitlines())
    return tuple(Flag(answer["flagged"], answer["ms"]) for answer in answers)
