"""How many decisions a second the store makes durable: `python benchmark/store.py [--url URL] [--seconds 3]`.

Closed loop at 1, 16, 64 and 256 callers, then an open loop at 1,000 a second whose latency counts from the scheduled
time. CPU is user + system of this process, both threads. Checks that every decision that was started was completed.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import os
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from mithril_proxy.clock import SystemClock
from mithril_proxy.store import Store, open_store
from mithril_proxy.store.interface import ReputationStep
from mithril_proxy.types import Contribution, Decision, HeldWrite, Mode, Provenance, Signals, Status, Trust

STEP = ReputationStep(rate=0.10, target=1.0, floor=0.05, ceiling=0.99, reason="good")
SOURCES = tuple(Provenance(f"source-{number}", f"source-{number}", 0.6, True) for number in range(8))
TRUST = Trust(0.55, 0.29, tuple(Contribution(name, 0.5, 0.4) for name in ("a", "b", "c", "d", "e")))
TEXT = "A memory of about one kilobyte. " * 32


def decision(clock: SystemClock, number: int, status: Status) -> Decision:
    return Decision(
        id=clock.new_id("dec"),
        at=clock.now(),
        request_id="req_1",
        route="/api/v1/remember",
        claim_id="clm_1",
        claim_digest=hashlib.sha256(str(number).encode()).hexdigest(),
        claim_length=len(TEXT),
        provenance=SOURCES[number % len(SOURCES)],
        signals=Signals(source_reputation=0.6),
        trust=TRUST,
        status=status,
        findings=(),
        mode=Mode.ENFORCE,
        policy_digest="0" * 64,
        judge="local",
        stage_ms={"redact": 0.1, "reputation": 0.2, "contradiction": 1.2},
    )


async def record(store: Store, clock: SystemClock, number: int, *, is_held: bool) -> None:
    made = decision(clock, number, Status.QUARANTINE if is_held else Status.WARN)
    held = HeldWrite(made.id, TEXT, "notes", {"fields": [["data", TEXT]]}) if is_held else None
    await store.record(made, held=held, step=STEP)


def report(name: str, latencies: list[float], elapsed_s: float, cpu_s: float, started: int) -> None:
    done = len(latencies)
    if done != started:
        raise SystemExit(f"{name}: {started} started, {done} completed")
    latencies.sort()
    p50, p99 = latencies[done // 2] * 1000, latencies[int(done * 0.99)] * 1000
    print(
        f"{name:34} {done / elapsed_s:8.0f}/s  p50 {p50:7.2f} ms  p99 {p99:7.2f} ms  cpu {cpu_s / done * 1e6:5.0f} us"
    )


async def closed_loop(name: str, call: Callable[[int], Awaitable[None]], *, callers: int, seconds: float) -> None:
    latencies: list[float] = []
    started = 0
    end, cpu_before, before = time.perf_counter() + seconds, time.process_time(), time.perf_counter()

    async def caller() -> None:
        nonlocal started
        while (now := time.perf_counter()) < end:
            started += 1
            await call(started)
            latencies.append(time.perf_counter() - now)

    await asyncio.gather(*(caller() for _ in range(callers)))
    report(name, latencies, time.perf_counter() - before, time.process_time() - cpu_before, started)


async def open_loop(name: str, call: Callable[[int], Awaitable[None]], *, a_second: int, seconds: float) -> None:
    latencies: list[float] = []
    cpu_before, before = time.process_time(), time.perf_counter()

    async def scheduled(number: int) -> None:
        due = before + number / a_second
        await asyncio.sleep(due - time.perf_counter())
        await call(number)
        latencies.append(time.perf_counter() - due)

    started = int(a_second * seconds)
    await asyncio.gather(*(scheduled(number) for number in range(started)))
    report(name, latencies, time.perf_counter() - before, time.process_time() - cpu_before, started)


def fsync_ms(folder: Path) -> float:
    """The median of 200 flushes of 4 KB: what a commit has to wait for."""
    spent = []
    with (folder / "probe").open("wb", buffering=0) as probe:
        for _ in range(200):
            probe.write(bytes(4096))
            before = time.perf_counter()
            os.fsync(probe.fileno())
            spent.append(time.perf_counter() - before)
    return sorted(spent)[100] * 1000


async def main(url: str, seconds: float) -> None:
    clock = SystemClock()
    store = await open_store(url, clock)
    for callers in (1, 16, 64, 256):
        await closed_loop(
            f"record, {callers} callers",
            lambda number: record(store, clock, number, is_held=False),
            callers=callers,
            seconds=seconds,
        )
    await closed_loop(
        "record held writes, 64 callers",
        lambda number: record(store, clock, number, is_held=True),
        callers=64,
        seconds=seconds,
    )
    await open_loop(
        "record, open loop 1,000/s",
        lambda number: record(store, clock, number, is_held=False),
        a_second=1000,
        seconds=seconds,
    )

    async def look_up(number: int) -> None:
        await store.reputation_of(SOURCES[number % len(SOURCES)])

    for callers in (1, 16, 64):
        await closed_loop(f"reputation_of, {callers} callers", look_up, callers=callers, seconds=seconds)
    before = time.perf_counter()
    verified = await store.verify_audit()
    print(f"verify_audit: {verified.rows} rows in {time.perf_counter() - before:.2f} s, broken: {verified.broken}")
    await store.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", help="a database of its own; without it a temporary SQLite file")
    parser.add_argument("--seconds", type=float, default=3.0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mithril-benchmark-") as name:
        print(f"fsync {fsync_ms(Path(name)):.2f} ms, load {os.getloadavg()[0]:.1f}")
        asyncio.run(main(arguments.url or f"sqlite+aiosqlite:///{name}/mithril.db", arguments.seconds))
