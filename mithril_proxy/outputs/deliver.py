"""Brings audit rows to one receiver: each at least once, in order, without a write waiting for it.

1. The cursor moves after the receiver took a batch. A crash between the two repeats the batch, with the same ids.
2. A receiver that is away is tried again, slower each time, for ever; the rows wait in the audit.
3. A receiver that was never told anything begins with what happens from then on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from structlog.typing import FilteringBoundLogger

from mithril_proxy.errors import StoreUnavailable
from mithril_proxy.outputs.ocsf import audit_event
from mithril_proxy.outputs.receiver import Event, Receiver, ReceiverAway
from mithril_proxy.store.interface import AuditRow, Store

BATCH = 100
POLL_S = 0.25
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 60.0


@dataclass(slots=True)
class Delivery:
    """One receiver and how far it has come. `failures` counts those in a row."""

    store: Store
    receiver: Receiver
    log: FilteringBoundLogger
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    failures: int = 0
    cursor: int | None = None

    async def run(self) -> None:
        """Deliver until cancelled."""
        try:
            while True:
                await self.sleep(await self.step())
        finally:
            await self.receiver.close()

    async def step(self) -> float:
        """Deliver one batch, if there is one; how many seconds to wait before the next."""
        try:
            rows = await self._next()
            if rows:
                await self.receiver.send([event_of(row) for row in rows])
                await self._move(rows[-1].id)
        except (ReceiverAway, StoreUnavailable) as error:
            return self._away(error)
        if self.failures and rows:
            self.log.info("output.back", output=self.receiver.name, failures=self.failures)
            self.failures = 0
        return 0.0 if len(rows) == BATCH else POLL_S

    async def _next(self) -> list[AuditRow]:
        """Rows that the receiver was not told yet."""
        if self.cursor is None:
            self.cursor = await self.store.output_cursor(self.receiver.name)
        if self.cursor is None:
            newest = await self.store.last_audit(1)
            await self._move(newest[-1].id if newest else 0)
        assert self.cursor is not None
        return list(await self.store.audit(after=self.cursor, limit=BATCH))

    async def _move(self, cursor: int) -> None:
        await self.store.move_output_cursor(self.receiver.name, cursor)
        self.cursor = cursor

    def _away(self, error: Exception) -> float:
        """The pause before the next attempt; the first failure of a series is logged."""
        if self.failures == 0:
            self.log.warning("output.away", output=self.receiver.name, reason=str(error))
        self.failures += 1
        return float(min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** min(self.failures - 1, 16)))


def event_of(row: AuditRow) -> Event:
    """One audit row as it is delivered."""
    return Event(row.id, row.at, row.kind, audit_event(row))
