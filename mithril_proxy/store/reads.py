"""Short reads beside the writer: each on a connection that is given back at once and holds no transaction.

SQLite is read in a few threads of its own, one hop a read: over aiosqlite a query is four hops, and one reputation
took 1.5 ms of CPU instead of 0.5 ms. Look-ups of single keys that come while one runs are joined into the next: at 64
callers 26 us each instead of 2.4 ms.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from sqlalchemy import URL, Connection, Executable, create_engine, event
from sqlalchemy.ext.asyncio import create_async_engine

from mithril_proxy.errors import StoreUnavailable
from mithril_proxy.store.engines import arguments, is_sqlite, own_driver, set_up
from mithril_proxy.store.rows import Row

READERS = 4  # connections: SQLite's readers share the cores; PostgreSQL's limit of 100 is for all replicas
READER_PRAGMAS = ("query_only=ON",)

T = TypeVar("T")
V = TypeVar("V")


class Reads(Protocol):
    """Runs queries. Raises what the engine raises."""

    async def rows(self, statement: Executable, values: Mapping[str, Any] | None = None) -> Sequence[Row]:
        """The rows of a query."""
        ...

    async def close(self) -> None:
        """Close every connection."""
        ...


class FileReads:
    """SQLite."""

    def __init__(self, url: URL, busy_timeout_s: float) -> None:
        self._engine = create_engine(own_driver(url), **_POOL, **arguments(url, busy_timeout_s))
        self._threads = ThreadPoolExecutor(max_workers=READERS, thread_name_prefix="mithril-store-reader")
        event.listen(self._engine, "connect", set_up(READER_PRAGMAS))

    async def rows(self, statement: Executable, values: Mapping[str, Any] | None = None) -> Sequence[Row]:
        """The rows of a query."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._rows, statement, values)

    async def close(self) -> None:
        """Close every connection."""
        await asyncio.get_running_loop().run_in_executor(self._threads, self._engine.dispose)
        self._threads.shutdown(wait=False)

    def _rows(self, statement: Executable, values: Mapping[str, Any] | None) -> Sequence[Row]:
        with self._engine.connect() as connection:
            return rows_of(connection, statement, values)


class ServerReads:
    """PostgreSQL through asyncpg."""

    def __init__(self, url: URL, busy_timeout_s: float) -> None:
        self._engine = create_async_engine(url, **_POOL, **arguments(url, busy_timeout_s))

    async def rows(self, statement: Executable, values: Mapping[str, Any] | None = None) -> Sequence[Row]:
        """The rows of a query."""
        async with self._engine.connect() as connection:
            return await connection.run_sync(rows_of, statement, values)

    async def close(self) -> None:
        """Close every connection."""
        await self._engine.dispose()


_POOL: dict[str, Any] = {
    "pool_size": READERS,
    "max_overflow": 0,
    "pool_reset_on_return": None,
    "hide_parameters": True,
    "isolation_level": "AUTOCOMMIT",
}


def open_reads(url: URL, busy_timeout_s: float) -> Reads:
    """The connections that this process reads through."""
    return (FileReads if is_sqlite(url) else ServerReads)(url, busy_timeout_s)


def rows_of(connection: Connection, statement: Executable, values: Mapping[str, Any] | None = None) -> Sequence[Row]:
    """The rows of a query as mappings."""
    return [dict(row) for row in connection.execute(statement, values).mappings()]


@dataclass(slots=True, eq=False)
class Lookups(Generic[V]):
    """Joins look-ups by key: those that come while a query runs are answered by the next one, all together.

    A look-up sees everything that was committed before it was asked for. Raises StoreUnavailable.
    """

    fetch: Callable[[Sequence[str]], Awaitable[Mapping[str, V]]]
    _wanted: dict[str, asyncio.Future[V | None]] = field(default_factory=dict)
    _task: asyncio.Task[None] | None = None

    async def get(self, key: str) -> V | None:
        """What belongs to `key`; None when nothing does."""
        future = self._wanted.get(key)
        if future is None:
            future = self._wanted[key] = asyncio.get_running_loop().create_future()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._serve(), name="mithril-store-lookups")
        return await asyncio.shield(future)

    async def _serve(self) -> None:
        while self._wanted:
            wanted, self._wanted = self._wanted, {}
            await self._answer(wanted)

    async def _answer(self, wanted: Mapping[str, asyncio.Future[V | None]]) -> None:
        found: Mapping[str, V] | StoreUnavailable = StoreUnavailable("the read was stopped")
        try:
            found = await self.fetch(tuple(wanted))
        except StoreUnavailable as error:
            found = error
        finally:
            for key, future in wanted.items():
                _settle(future, found, key)


def _settle(future: asyncio.Future[V | None], found: Mapping[str, V] | StoreUnavailable, key: str) -> None:
    if isinstance(found, StoreUnavailable):
        future.set_exception(StoreUnavailable(str(found)))
        future.exception()  # its callers may all have gone: then nobody is there to ask for it
    else:
        future.set_result(found.get(key))
