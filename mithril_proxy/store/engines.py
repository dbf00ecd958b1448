"""Connections to either database, set up so that one transaction at a time writes to it.

SQLite: WAL, synchronous=FULL (a commit is on the disk before it is acknowledged), BEGIN IMMEDIATE. PostgreSQL: an
advisory lock for the length of the transaction. So a writing transaction sees no other between its first read and its
commit, the ids of audit rows are in order of commit, and two replicas cannot deadlock.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol, TypeVar

from sqlalchemy import URL, Connection, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import create_async_engine

from mithril_proxy.errors import ConfigurationError

ADVISORY_LOCK = 0x6D697468  # "mith": one number for every replica of one database

DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "sqlite+aiosqlite": "sqlite+aiosqlite",
    "postgresql": "postgresql+asyncpg",
    "postgres": "postgresql+asyncpg",
    "postgresql+asyncpg": "postgresql+asyncpg",
}
WRITER_PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "wal_autocheckpoint=1000")
_POOL_OF_ONE: dict[str, Any] = {"pool_size": 1, "max_overflow": 0, "hide_parameters": True}

T = TypeVar("T")


def parse_url(text: str) -> URL:
    """The database that a setting means, with the driver that Mithril uses. Raises ConfigurationError."""
    try:
        url = make_url(text)
    except ArgumentError:
        raise ConfigurationError("DATABASE_URL: not a URL such as sqlite+aiosqlite:///./mithril.db") from None
    driver = DRIVERS.get(url.drivername)
    if driver is None:
        known = "sqlite+aiosqlite:///FILE or postgresql+asyncpg://USER@HOST/NAME"
        raise ConfigurationError(f"DATABASE_URL: {url.drivername} is not supported; use {known}")
    if driver.startswith("sqlite") and (not url.database or ":memory:" in url.database):
        raise ConfigurationError("DATABASE_URL: name a file; a database in memory is not durable")
    return url.set(drivername=driver)


def is_sqlite(url: URL) -> bool:
    """True for a database in a file."""
    return url.drivername.startswith("sqlite")


def database_file(url: URL) -> Path | None:
    """The file of an SQLite database; None for a server."""
    return Path(url.database or "") if is_sqlite(url) else None


def create_file(path: Path) -> None:
    """Make a new SQLite file that only its owner can read; SQLite gives its journals the same mode."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be created ({error.strerror})") from None


class Transactions(Protocol):
    """Runs functions over a connection, each in one transaction under the database's write lock."""

    async def run(self, work: Callable[[Connection], T]) -> T:
        """What `work` returns, once its transaction is committed. Raises what it raises, and then nothing stands."""
        ...

    async def close(self) -> None:
        """Close the connection."""
        ...


class FileTransactions:
    """SQLite: the whole transaction runs in a thread of its own, one hop for the event loop.

    Over aiosqlite each statement is three or four hops, 21 for one decision: measured 3.7 ms of the loop's time for it
    instead of 0.4 ms.
    """

    def __init__(self, url: URL, busy_timeout_s: float) -> None:
        self._engine = create_engine(own_driver(url), **_POOL_OF_ONE, **arguments(url, busy_timeout_s))
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mithril-store-writer")
        event.listen(self._engine, "connect", set_up(WRITER_PRAGMAS))
        event.listen(self._engine, "begin", begin_immediate)

    async def run(self, work: Callable[[Connection], T]) -> T:
        """What `work` returns, once its transaction is committed."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._transact, work)

    async def close(self) -> None:
        """Close the connection, then the thread."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._engine.dispose)
        self._thread.shutdown(wait=False)

    def _transact(self, work: Callable[[Connection], T]) -> T:
        with self._engine.connect() as connection:
            try:
                with connection.begin():
                    return work(connection)
            except BaseException:
                connection.invalidate()
                raise


class ServerTransactions:
    """PostgreSQL through asyncpg. The lock of the transaction is an advisory one, the same for every replica."""

    def __init__(self, url: URL, busy_timeout_s: float) -> None:
        self._engine = create_async_engine(url, **_POOL_OF_ONE, **arguments(url, busy_timeout_s))
        event.listen(self._engine.sync_engine, "begin", _lock)

    async def run(self, work: Callable[[Connection], T]) -> T:
        """What `work` returns, once its transaction is committed."""
        async with self._engine.connect() as connection:
            try:
                async with connection.begin():
                    return await connection.run_sync(work)
            except BaseException:
                await connection.invalidate()
                raise

    async def close(self) -> None:
        """Close the connection."""
        await self._engine.dispose()


def open_transactions(url: URL, busy_timeout_s: float) -> Transactions:
    """The one connection that every write of this process goes through."""
    return (FileTransactions if is_sqlite(url) else ServerTransactions)(url, busy_timeout_s)


def own_driver(url: URL) -> URL:
    """The SQLite URL with the driver that is used in Mithril's own threads."""
    return url.set(drivername="sqlite+pysqlite")


def arguments(url: URL, busy_timeout_s: float) -> dict[str, Any]:
    """What every engine of a database is made with."""
    if is_sqlite(url):
        return {"connect_args": {"timeout": busy_timeout_s, "isolation_level": None, "cached_statements": 512}}
    milliseconds = str(int(busy_timeout_s * 1000))
    settings = {
        "application_name": "mithril",
        "lock_timeout": milliseconds,
        "idle_in_transaction_session_timeout": milliseconds,  # a frozen replica must not hold the lock for ever
    }
    return {
        "pool_pre_ping": True,
        "connect_args": {
            "timeout": busy_timeout_s,
            "command_timeout": 30.0,
            "prepared_statement_cache_size": 512,
            "server_settings": settings,
        },
    }


def set_up(pragmas: tuple[str, ...]) -> Callable[[Any, Any], None]:
    """A listener that sets up each new SQLite connection."""

    def run(connection: Any, record: Any) -> None:
        cursor = connection.cursor()
        for pragma in pragmas:
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    return run


def begin_immediate(connection: Connection) -> None:
    """A listener that takes SQLite's write lock at the start of each transaction."""
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _lock(connection: Connection) -> None:
    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})")
