"""Releases one held claim and kills its own process at a step: URL QUARANTINE_ID UPSTREAM_FILE STEP.

The upstream is a folder with a file a key: a forward under a key that it knows changes nothing.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from mithril_proxy.store import open_store
from mithril_proxy.store.interface import Outcome
from tests.store.values import GOOD, FixedClock

STEPS = ("before the intent", "after the intent", "after the forward", "after the outcome")


def die_at(step: str, wanted: str) -> None:
    if step == wanted:
        os.kill(os.getpid(), signal.SIGKILL)


async def main(url: str, quarantine_id: str, upstream: Path, wanted: str) -> None:
    store = await open_store(url, FixedClock(stream=5))
    die_at("before the intent", wanted)
    release = await store.begin_release(quarantine_id, reviewer="ada", reason="go", lease_s=60)
    die_at("after the intent", wanted)
    (upstream / release.key).write_text(release.entry.text)
    die_at("after the forward", wanted)
    await store.finish_release(release, Outcome("forwarded", 200), step=GOOD)
    die_at("after the outcome", wanted)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4]))
