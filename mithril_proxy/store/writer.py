"""The one writer of a process: units of work in, group commits out.

1. Units that wait while a transaction commits form the next transaction: the disk is flushed once for all of them.
2. A unit is acknowledged after the commit it was in. When the transaction fails, every caller in it gets
   StoreUnavailable, and the writer goes on with the next one on a fresh connection.
3. A unit that is refused (InvalidTransition, NotFound) is undone to its savepoint; the others of its batch stand.
   When a row cannot be stored, the units are tried one by one, so that only the one at fault fails.
4. A caller that is cancelled has lost its answer, not its unit.
5. After a failed transaction the audit goes on in a new chain: its commit may stand after all, and no chain may fork.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, SQLAlchemyError

from mithril_proxy.audit import Link
from mithril_proxy.clock import Clock
from mithril_proxy.errors import MithrilError, StoreUnavailable
from mithril_proxy.store.changes import Changes, apply
from mithril_proxy.store.engines import Transactions
from mithril_proxy.store.incidents import IncidentRules
from mithril_proxy.store.rows import time_text

Work = Callable[[Connection], Changes]

MAX_BATCH = 256  # units in one transaction: beyond it the gain of group commit is gone and callers only wait longer
MAX_QUEUE = 4096  # about a second of work at full speed; more waiting callers are told to come back
ROW_ERRORS = (IntegrityError, DataError, UnicodeError, OverflowError, TypeError, ValueError)  # of one unit alone
DATABASE_ERRORS = (SQLAlchemyError, sqlite3.Error, OSError)


@dataclass(slots=True, eq=False)
class _Unit:
    """One caller's share of a transaction: rows that are known beforehand, or work that looks before it writes."""

    done: asyncio.Future[None]
    changes: Changes | None = None
    work: Work | None = None
    refusal: MithrilError | None = None


@dataclass(slots=True, eq=False)
class Writer:
    """Makes changes durable. Everything it is given is committed in the order in which it came."""

    transactions: Transactions
    clock: Clock
    rules: IncidentRules
    max_queue: int = MAX_QUEUE
    _link: Link = field(init=False)
    _waiting: deque[_Unit] = field(default_factory=deque)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _task: asyncio.Task[None] | None = None
    _is_closing: bool = False

    def __post_init__(self) -> None:
        self._link = self._new_chain()

    @property
    def queued(self) -> int:
        """Units that wait for the next transaction."""
        return len(self._waiting)

    @property
    def is_closed(self) -> bool:
        """True from the moment that closing begins."""
        return self._is_closing

    async def write(self, changes: Changes) -> None:
        """Commit rows that need no look at the database first. Raises StoreUnavailable."""
        await self._join(changes=changes)

    async def run(self, work: Work) -> None:
        """Commit what `work` does and returns. It may run more than once; only the last run stands.

        Raises what `work` raises of MithrilError, and StoreUnavailable.
        """
        await self._join(work=work)

    async def close(self) -> None:
        """Commit what is queued and stop; later units are refused."""
        self._is_closing = True
        self._wake.set()
        while self._task is not None and (self._waiting or not self._task.done()):
            await asyncio.wait([self._start()])
        await self.transactions.close()

    async def _join(self, *, changes: Changes | None = None, work: Work | None = None) -> None:
        if self._is_closing:
            raise StoreUnavailable("the store is closed")
        if len(self._waiting) >= self.max_queue:
            raise StoreUnavailable(f"{len(self._waiting)} writes are waiting for the database; try again in a second")
        unit = _Unit(asyncio.get_running_loop().create_future(), changes, work)
        self._waiting.append(unit)
        self._wake.set()
        self._start()
        await unit.done

    def _start(self) -> asyncio.Task[None]:
        """The task that commits; a new one when there is none, or when a fault in it ended the last one."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._serve(), name="mithril-store-writer")
            self._task.add_done_callback(self._restart)
        return self._task

    def _restart(self, ended: asyncio.Task[None]) -> None:
        if self._waiting and not ended.cancelled():
            self._start()

    async def _serve(self) -> None:
        """Commit batch after batch until closed and empty."""
        while True:
            while self._waiting:
                await self._settle(self._next_batch())
            if self._is_closing:
                return
            self._wake.clear()
            await self._wake.wait()

    def _next_batch(self) -> list[_Unit]:
        count = min(MAX_BATCH, len(self._waiting))
        return [self._waiting.popleft() for _ in range(count)]

    async def _settle(self, batch: Sequence[_Unit]) -> None:
        """Commit a batch and tell every caller in it what became of it, whatever happens here."""
        reason = "the writer was stopped before it could commit"
        try:
            await self._commit_or_split(batch)
        except StoreUnavailable as error:
            reason = str(error)
        else:
            for unit in batch:
                _answer(unit, unit.refusal)
        finally:
            for unit in batch:
                _answer(unit, StoreUnavailable(reason))

    async def _commit_or_split(self, batch: Sequence[_Unit]) -> None:
        try:
            await self._commit(batch)
        except ROW_ERRORS as error:
            if len(batch) == 1:
                raise StoreUnavailable(f"the database refuses the row: {describe(error)}") from error
            for unit in batch:
                await self._settle([unit])
        except DATABASE_ERRORS as error:
            raise StoreUnavailable(f"the database cannot be written: {describe(error)}") from error

    async def _commit(self, batch: Sequence[_Unit]) -> None:
        """One transaction for the whole batch."""
        link, self._link = self._link, self._new_chain()  # rule 5: holds until the commit is known to stand
        at = time_text(self.clock.now())
        self._link = await self.transactions.run(lambda connection: self._apply(connection, batch, link, at))

    def _apply(self, connection: Connection, batch: Sequence[_Unit], link: Link, at: str) -> Link:
        changes = Changes()
        for unit in batch:
            unit.refusal = None
            own = unit.changes if unit.work is None else _attempt(connection, unit, unit.work)
            if own is not None:
                changes.extend(own)
        return apply(connection, changes, link=link, at=at, rules=self.rules)

    def _new_chain(self) -> Link:
        return Link(self.clock.new_id("wri"))


def _attempt(connection: Connection, unit: _Unit, work: Work) -> Changes | None:
    """What a unit wants written; nothing when it was refused."""
    try:
        with connection.begin_nested():
            return work(connection)
    except MithrilError as error:
        unit.refusal = error
        return None


def _answer(unit: _Unit, refusal: MithrilError | None) -> None:
    """Tell the caller, unless it was told before or has gone."""
    if unit.done.done():
        return
    if refusal is None:
        unit.done.set_result(None)
    else:
        unit.done.set_exception(refusal)


def describe(error: BaseException) -> str:
    """The kind of a failure in the engine's own words; never the statement or its values."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(cause, sqlite3.Error):
        return str(cause)
    name = type(getattr(cause, "__cause__", None) or cause).__name__  # asyncpg's own class stands behind SQLAlchemy's
    return f"{name} {getattr(cause, 'sqlstate', None) or ''}".strip()
