"""What runs beside the requests: expiry, and a look at the upstream's health. Each loop ends when it is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from structlog.typing import FilteringBoundLogger

from mithril_proxy.clock import Clock
from mithril_proxy.errors import MithrilError, UpstreamUnavailable
from mithril_proxy.policy import QuarantineRule
from mithril_proxy.proxy.upstream import Upstream, UpstreamRequest
from mithril_proxy.store.desk import DeskStore
from mithril_proxy.telemetry import Metrics
from mithril_proxy.types import ReviewState

BATCH = 500  # entries in one transaction: about 10 ms, so that no write waits long behind it
HEALTH_DEADLINE_S = 5.0
HEALTH_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Kept:
    """What one round of housekeeping did."""

    expired: int = 0
    forgotten: int = 0


async def keep_quarantine(store: DeskStore, rule: QuarantineRule, clock: Clock) -> Kept:
    """Expire what waited too long or is too much, and delete closed entries that are old. Raises StoreUnavailable."""
    expired = forgotten = 0
    if rule.expire_days:
        before = clock.now() - timedelta(days=rule.expire_days)
        expired += await _in_batches(lambda: store.expire_held(before, limit=BATCH))
    if rule.max_entries:
        expired += await _expire_surplus(store, rule.max_entries)
    if rule.retention_days:
        closed_before = clock.now() - timedelta(days=rule.retention_days)
        forgotten += await _in_batches(lambda: store.forget_held(closed_before, limit=BATCH))
    return Kept(expired, forgotten)


async def _in_batches(step: Callable[[], Awaitable[int]]) -> int:
    total = 0
    while count := await step():
        total += count
    return total


async def _expire_surplus(store: DeskStore, max_entries: int) -> int:
    """Expire the oldest pending entries beyond the limit."""
    surplus = (await store.queue_depth()).by_state.get(ReviewState.PENDING, 0) - max_entries
    expired = 0
    while expired < surplus:
        expired += await store.expire_surplus(min(BATCH, surplus - expired)) or surplus
    return expired


async def look_at_upstream(upstream: Upstream, metrics: Metrics) -> None:
    """Set the gauge that says whether the upstream answers; `/` costs Cognee nothing, its `/health` opens databases."""
    try:
        async with asyncio.timeout(HEALTH_DEADLINE_S):
            async with await upstream.send(UpstreamRequest("GET", "/", [])) as answer:
                await answer.read(HEALTH_BYTES)
                metrics.upstream_up.set(1 if answer.status < 500 else 0)
    except (UpstreamUnavailable, TimeoutError):
        metrics.upstream_up.set(0)


async def every(seconds: float, name: str, act: Callable[[], Awaitable[object]], log: FilteringBoundLogger) -> None:
    """Do something now and every so often; a failure is logged, and the next round tries again."""
    while True:
        try:
            await act()
        except MithrilError as error:
            log.warning(f"{name}.failed", reason=str(error))
        await asyncio.sleep(seconds)
