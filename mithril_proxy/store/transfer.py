"""Moves a whole database: a backup of an SQLite file, and a copy of its rows into another database.

1. A backup is taken through SQLite's online backup API, so it is one moment of a database that goes on serving.
2. A copy is one transaction in the target: all rows or none. The source is locked for writing meanwhile, so that
   nothing is committed there that the copy lacks; a Mithril that still serves from it answers 503.
3. A copy ends with the check of every audit chain in the target against the ends of the chains in the source.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL, Connection, Table, create_engine, event, func, insert, select, text

from mithril_proxy.clock import Clock
from mithril_proxy.errors import ConfigurationError, StoreUnavailable, TamperedAudit
from mithril_proxy.store import BUSY_TIMEOUT_S, open_store
from mithril_proxy.store.engines import (
    arguments,
    begin_immediate,
    database_file,
    open_transactions,
    own_driver,
    parse_url,
)
from mithril_proxy.store.interface import ChainReport
from mithril_proxy.store.migrate import current_revision
from mithril_proxy.store.schema import metadata
from mithril_proxy.store.writer import DATABASE_ERRORS, describe

COPY_ROWS = 500  # in one statement: 35 columns of that many rows stay under PostgreSQL's 32,767 parameters


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy moved: rows by table, and the audit rows that were verified in the target."""

    rows: Mapping[str, int]
    verified: int


def backup(url: str, target: Path) -> int:
    """Write one moment of an SQLite database into a new file; its length in bytes.

    Raises ConfigurationError when there is nothing to copy or the file exists, StoreUnavailable when it fails.
    """
    source = sqlite_file(url, "use pg_dump for a PostgreSQL database")
    try:
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as error:
        raise ConfigurationError(f"{target}: cannot be created ({error.strerror})") from None
    try:
        _back_up(source, target)
    except BaseException as error:
        target.unlink(missing_ok=True)
        if isinstance(error, DATABASE_ERRORS):
            raise StoreUnavailable(f"{target}: the backup failed: {describe(error)}") from error
        raise
    return target.stat().st_size


def _back_up(source: Path, target: Path) -> None:
    with contextlib.closing(sqlite3.connect(source)) as reads, contextlib.closing(sqlite3.connect(target)) as writes:
        reads.backup(writes)
        writes.execute("PRAGMA journal_mode=DELETE")  # one file, no -wal beside it; Mithril sets WAL when it opens it
        found = writes.execute("PRAGMA integrity_check").fetchone()[0]
    if found != "ok":
        raise StoreUnavailable(f"{source}: the database is damaged: {found}")
    with target.open("rb") as written:
        os.fsync(written.fileno())


async def revision_of(url: str) -> str | None:
    """The schema of a database as it is now; None when it has none, or the file is not there yet."""
    parsed = parse_url(url)
    path = database_file(parsed)
    if path is not None and not path.is_file():
        return None
    transactions = open_transactions(parsed, BUSY_TIMEOUT_S)
    try:
        return await transactions.run(current_revision)
    except DATABASE_ERRORS as error:
        raise ConfigurationError(f"DATABASE_URL: the database cannot be opened ({describe(error)})") from error
    finally:
        await transactions.close()


async def copy(source_url: str, target_url: str, clock: Clock) -> Copied:
    """Copy every row of an SQLite database into an empty one, in order, then verify the audit chains there.

    Raises ConfigurationError when the source is no SQLite file of this schema or the target holds rows, TamperedAudit
    when a chain does not verify in source or target, StoreUnavailable when the target does not take a row.
    """
    source = sqlite_file(source_url, "the source of a copy is an SQLite file; use PostgreSQL's own tools for a server")
    if source_url == target_url or database_file(parse_url(target_url)) == source:
        raise ConfigurationError("--to: is the database itself")
    before = await _verified(source_url, clock, {})
    await (await open_store(target_url, clock)).close()
    rows = await _copy(parse_url(source_url), parse_url(target_url))
    after = await _verified(target_url, clock, before.anchor)
    return Copied(rows, after.rows)


def sqlite_file(url: str, otherwise: str) -> Path:
    """The file behind a URL. Raises ConfigurationError when it is no SQLite database, or is not there."""
    path = database_file(parse_url(url))
    if path is None:
        raise ConfigurationError(f"DATABASE_URL: {otherwise}")
    if not path.is_file():
        raise ConfigurationError(f"{path}: no such database")
    return path


async def _verified(url: str, clock: Clock, anchors: Mapping[str, str]) -> ChainReport:
    store = await open_store(url, clock, create=False)
    try:
        report = await store.verify_audit(anchors=anchors)
    finally:
        await store.close()
    if report.broken is not None:
        raise TamperedAudit(report.broken)
    return report


async def _copy(source: URL, target: URL) -> dict[str, int]:
    transactions = open_transactions(target, BUSY_TIMEOUT_S)
    try:
        return await transactions.run(lambda connection: _copy_from(source, connection))
    except DATABASE_ERRORS as error:
        raise StoreUnavailable(f"nothing was copied: {describe(error)}") from error
    finally:
        await transactions.close()


def _copy_from(source: URL, target: Connection) -> dict[str, int]:
    for table in metadata.sorted_tables:
        if count := target.execute(select(func.count()).select_from(table)).scalar():
            raise ConfigurationError(f"--to: the database is in use: {table.name} holds {count} rows")
    with _locked(source) as connection:
        return {table.name: _copy_table(table, connection, target) for table in metadata.sorted_tables}


@contextlib.contextmanager
def _locked(url: URL) -> Iterator[Connection]:
    """A connection that keeps every other writer out of an SQLite database."""
    engine = create_engine(own_driver(url), hide_parameters=True, **arguments(url, BUSY_TIMEOUT_S))
    event.listen(engine, "begin", begin_immediate)
    try:
        with engine.connect() as connection, connection.begin():
            yield connection
    finally:
        engine.dispose()


def _copy_table(table: Table, source: Connection, target: Connection) -> int:
    copied = 0
    ordered = select(table).order_by(*table.primary_key.columns)
    for page in source.execute(ordered).mappings().partitions(COPY_ROWS):
        target.execute(insert(table), [dict(row) for row in page])
        copied += len(page)
    if target.dialect.name == "postgresql" and table.autoincrement_column is not None and copied:
        _go_on_after_the_last_id(table, target)
    return copied


def _go_on_after_the_last_id(table: Table, target: Connection) -> None:
    """Rows that bring their ids leave PostgreSQL's sequence where it was; the next id would be taken."""
    sequence = f"pg_get_serial_sequence('{table.name}', 'id')"
    target.execute(text(f"SELECT setval({sequence}, (SELECT max(id) FROM {table.name}))"))  # noqa: S608
