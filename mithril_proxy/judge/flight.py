"""One judgement for one question: callers that ask the same at once share it, and it is kept for a while.

1. A question is computed in a task of its own; a caller that hangs up takes nothing from the others.
2. When the last caller has hung up, the task is cancelled: nobody pays for an answer that nobody waits for.
3. Only verdicts are kept; a failure is shared with those who wait and then forgotten.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from mithril_proxy.clock import Clock
from mithril_proxy.judge.usage import JudgeUsage
from mithril_proxy.types import Verdict


@dataclass(slots=True)
class _Flight:
    task: asyncio.Task[Verdict]
    waiting: int = 0


class SharedVerdicts:
    """Verdicts by question: those under way, and the last `entries` ones for `keep_s`."""

    def __init__(self, clock: Clock, usage: JudgeUsage, *, entries: int, keep_s: float) -> None:
        self._clock = clock
        self._usage = usage
        self._entries = entries
        self._keep_s = keep_s
        self._kept: OrderedDict[str, tuple[float, Verdict]] = OrderedDict()
        self._flights: dict[str, _Flight] = {}

    async def verdict(self, question: str, compute: Callable[[], Awaitable[Verdict]]) -> Verdict:
        """The verdict on `question`: kept, under way, or computed now. Raises what `compute` raises."""
        kept = self._fresh(question)
        if kept is not None:
            self._usage.cache_hits += 1
            return kept
        flight = self._flights.get(question)
        if flight is None:
            flight = self._start(question, compute)
        else:
            self._usage.joined += 1
        return await self._wait(question, flight)

    def _start(self, question: str, compute: Callable[[], Awaitable[Verdict]]) -> _Flight:
        flight = _Flight(asyncio.ensure_future(self._fly(question, compute)))
        self._flights[question] = flight
        return flight

    async def _fly(self, question: str, compute: Callable[[], Awaitable[Verdict]]) -> Verdict:
        verdict = await compute()
        self._keep(question, verdict)
        return verdict

    async def _wait(self, question: str, flight: _Flight) -> Verdict:
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if flight.waiting == 0:
                flight.task.cancel()
            if (flight.waiting == 0 or flight.task.done()) and self._flights.get(question) is flight:
                del self._flights[question]

    def _fresh(self, question: str) -> Verdict | None:
        kept = self._kept.get(question)
        if kept is None:
            return None
        until_s, verdict = kept
        if self._clock.monotonic_s() >= until_s:
            del self._kept[question]
            return None
        self._kept.move_to_end(question)
        return verdict

    def _keep(self, question: str, verdict: Verdict) -> None:
        self._kept[question] = (self._clock.monotonic_s() + self._keep_s, verdict)
        self._kept.move_to_end(question)
        while len(self._kept) > self._entries:
            self._kept.popitem(last=False)
