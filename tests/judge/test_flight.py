"""Callers that ask the same share one judgement; verdicts are kept within bounds."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from mithril_proxy.errors import JudgeUnavailable
from mithril_proxy.judge.flight import SharedVerdicts
from mithril_proxy.judge.usage import JudgeUsage
from mithril_proxy.types import Verdict
from tests.judge.fakes import HandClock

VERDICT = Verdict(0.1, 0.2)


@dataclass
class Bench:
    """Shared verdicts whose computation waits for a gate and is counted."""

    entries: int = 2
    clock: HandClock = field(default_factory=HandClock)
    usage: JudgeUsage = field(default_factory=JudgeUsage)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    computed: int = 0
    cancelled: int = 0
    error: JudgeUnavailable | None = None

    def __post_init__(self) -> None:
        self.shared = SharedVerdicts(self.clock, self.usage, entries=self.entries, keep_s=60.0)

    async def compute(self) -> Verdict:
        self.computed += 1
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.error is not None:
            raise self.error
        return VERDICT

    def ask(self, question: str = "q") -> asyncio.Task[Verdict]:
        return asyncio.ensure_future(self.shared.verdict(question, self.compute))


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_callers_at_once_share_one_judgement() -> None:
    bench = Bench()
    asking = [bench.ask() for _ in range(5)]
    await settle()
    bench.gate.set()
    assert await asyncio.gather(*asking) == [VERDICT] * 5
    assert (bench.computed, bench.usage.joined) == (1, 4)


async def test_a_verdict_is_kept_until_its_time_is_over() -> None:
    bench = Bench()
    bench.gate.set()
    for passed_s in (0.0, 59.9, 0.1):
        bench.clock.pass_s(passed_s)
        await bench.ask()
    assert (bench.computed, bench.usage.cache_hits) == (2, 1)


async def test_the_least_recently_used_verdict_is_forgotten_first() -> None:
    bench = Bench(entries=2)
    bench.gate.set()
    for question in ("a", "b", "a", "c", "a", "b"):
        await bench.ask(question)
    assert (bench.computed, bench.usage.cache_hits) == (4, 2)


async def test_a_failure_reaches_all_who_wait_and_is_not_kept() -> None:
    bench = Bench(error=JudgeUnavailable("timeout"))
    asking = [bench.ask() for _ in range(3)]
    bench.gate.set()
    outcomes = await asyncio.gather(*asking, return_exceptions=True)
    assert all(isinstance(outcome, JudgeUnavailable) for outcome in outcomes)
    with pytest.raises(JudgeUnavailable):
        await bench.ask()
    assert bench.computed == 2


async def test_a_caller_that_hangs_up_takes_nothing_from_the_others() -> None:
    bench = Bench()
    leader, follower = bench.ask(), bench.ask()
    await settle()
    leader.cancel()
    await settle()
    bench.gate.set()
    assert await follower == VERDICT
    assert (bench.computed, bench.cancelled) == (1, 0)


async def test_when_the_last_caller_hangs_up_the_judgement_is_cancelled_and_the_next_one_starts_anew() -> None:
    bench = Bench()
    only = bench.ask()
    await settle()
    only.cancel()
    await asyncio.sleep(0)
    late = bench.ask()
    await settle()
    bench.gate.set()
    assert await late == VERDICT
    assert (bench.computed, bench.cancelled) == (2, 1)
