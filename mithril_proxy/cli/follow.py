"""Rows of the audit and incidents as they come, also when the database file is replaced while they are followed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from mithril_proxy.clock import SystemClock
from mithril_proxy.errors import ConfigurationError, StoreUnavailable
from mithril_proxy.store import open_store
from mithril_proxy.store.engines import database_file, parse_url
from mithril_proxy.store.interface import AuditRow, Incident, Store

POLL_S = 0.1  # a reader costs about 0.3 ms; a person sees this as at once
Row = TypeVar("Row", AuditRow, Incident)
ReadRows = Callable[[Store, int], Awaitable[Sequence[Row]]]


async def newest_rows(store: Store, count: int) -> Sequence[AuditRow]:
    """The newest audit rows, oldest of them first."""
    return await store.last_audit(count)


async def rows_after(store: Store, last: int) -> Sequence[AuditRow]:
    """Audit rows behind an id."""
    return await store.audit(after=last)


async def newest_incidents(store: Store, count: int) -> Sequence[Incident]:
    """The newest incidents, oldest of them first."""
    return list(reversed(await store.incidents(limit=count)))


async def incidents_after(store: Store, last: int) -> Sequence[Incident]:
    """Incidents behind an id."""
    return await store.incidents(after=last)


@dataclass(slots=True)
class Follower(Generic[Row]):
    """Follows one database. A file that is replaced is opened anew: what was shown of it is not shown again.

    `sleep` is called when there is nothing to show.
    """

    url: str
    newest: ReadRows[Row]
    after: ReadRows[Row]
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _store: Store | None = None
    _opened: tuple[int, int] | None = None
    _last: Row | None = field(default=None)

    async def rows(self, lines: int) -> AsyncIterator[Row]:
        """The newest `lines` rows, then every further one. Runs until it is closed."""
        try:
            for row in await self._begin(lines):
                yield row
            while True:
                for row in await self._further():
                    self._last = row
                    yield row
                await self.sleep(POLL_S)
        finally:
            await self._close()

    async def _begin(self, lines: int) -> Sequence[Row]:
        """The rows to begin with. Raises ConfigurationError, StoreUnavailable."""
        await self._open()
        assert self._store is not None
        found = await self.newest(self._store, max(lines, 1))
        self._last = found[-1] if found else None
        return found[-lines:] if lines else ()

    async def _further(self) -> Sequence[Row]:
        """Rows that were not shown yet; none while the database is away."""
        try:
            if self._store is None or self._identity() != self._opened:
                await self._close()
                await self._open()
                await self._find_place()
            assert self._store is not None
            return await self.after(self._store, self._last.id if self._last is not None else 0)
        except (StoreUnavailable, ConfigurationError):  # in the middle of being replaced: looked at again
            await self._close()
            return ()

    async def _find_place(self) -> None:
        """Go on behind the last row that was shown, where the new file has it; else show all that it has."""
        if self._store is not None and self._last is not None:
            there = await self.after(self._store, self._last.id - 1)
            if not there or _key(there[0]) != _key(self._last):
                self._last = None

    async def _open(self) -> None:
        self._opened = self._identity()
        self._store = await open_store(self.url, SystemClock(), create=False)

    async def _close(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            await store.close()

    def _identity(self) -> tuple[int, int] | None:
        """Device and inode of the database file; None for a server, or while the file is away."""
        path: Path | None = database_file(parse_url(self.url))
        if path is None:
            return None
        with suppress(OSError):
            status = path.stat()
            return status.st_dev, status.st_ino
        return (-1, -1)


def _key(row: AuditRow | Incident) -> tuple[object, ...]:
    """What tells a row from the row of the same id in another database."""
    return row.id, row.at, row.kind
