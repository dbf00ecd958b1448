"""Records decisions on one source from a process of its own: URL STREAM UPDATES. Prints each id once it is durable."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from mithril_proxy.store import open_store
from tests.store.values import GOOD, FixedClock, decision


async def main(url: str, stream: int, updates: int) -> None:
    clock = FixedClock(stream)
    store = await open_store(url, clock, busy_timeout_s=30.0)
    for _ in range(updates // 2):
        pair = decision(clock), decision(clock)
        await asyncio.gather(*(store.record(made, step=GOOD) for made in pair))
        sys.stdout.write("".join(f"{made.id}\n" for made in pair))
        sys.stdout.flush()
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
