"""Runs in a peer's own environment: texts as JSON lines in, `{"flagged", "ms"}` as JSON lines out.

Start it as `PYTHON peer_runner.py NAME` where PYTHON has the peer installed. Imports nothing of this project.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable


def memgar() -> Callable[[str], bool]:
    """memgar in its default configuration, without a model."""
    from memgar import Decision, Memgar

    scanner = Memgar()
    return lambda text: scanner.analyze(text).decision is not Decision.ALLOW


def agent_memory_guard() -> Callable[[str], bool]:
    """OWASP Agent Memory Guard under its strict policy; an exception on write counts as flagged."""
    from agent_memory_guard import Action, MemoryGuard, MemoryGuardError, Policy

    def is_flagged(text: str) -> bool:
        guard = MemoryGuard(policy=Policy.strict())
        try:
            return guard.write("note", text) is not Action.ALLOW
        except MemoryGuardError:
            return True

    return is_flagged


PEERS = {"memgar": memgar, "agent-memory-guard": agent_memory_guard}


def main() -> None:
    """Flags every text of stdin."""
    is_flagged = PEERS[sys.argv[1]]()
    for line in sys.stdin:
        started = time.perf_counter()
        flagged = is_flagged(json.loads(line))
        print(json.dumps({"flagged": flagged, "ms": (time.perf_counter() - started) * 1000}), flush=True)


if __name__ == "__main__":
    main()
