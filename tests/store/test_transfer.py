from __future__ import annotations

import asyncio
import shutil
import sqlite3
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.ext.asyncio import create_async_engine

from mithril_proxy.errors import ConfigurationError, StoreUnavailable, TamperedAudit
from mithril_proxy.store import open_store
from mithril_proxy.store.interface import Page
from mithril_proxy.store.migrate import HEAD
from mithril_proxy.store.schema import metadata
from mithril_proxy.store.transfer import backup, copy, revision_of
from tests.store.conftest import Tampering
from tests.store.values import BAD, KEY, FixedClock, decision, held_write


@pytest.fixture
def source_url(sqlite_template: Path, tmp_path: Path) -> str:
    """An SQLite database with rows in it, and a second chain in its audit."""
    path = tmp_path / "source" / "mithril.db"
    path.parent.mkdir()
    shutil.copyfile(sqlite_template, path)
    url = f"sqlite+aiosqlite:///{path}"
    asyncio.run(fill(url))
    return url


async def fill(url: str) -> None:
    clock = FixedClock()
    for name in ("slack", "wiki"):
        store = await open_store(url, clock)
        digest = KEY if name == "slack" else KEY[::-1]
        await store.add_source(name, prior=0.6, key_digest=digest, may_declare=("email",))
        made = decision(clock, f"{name} says: café \u2028 ☂")
        await store.record(made, held=held_write(made), step=BAD)
        await store.append_audit("policy", "p", {"event": "started"})
        await store.close()


def file_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite+aiosqlite:///"))


def put_in_place(copied: Path, path: Path) -> None:
    for left in path.parent.glob(f"{path.name}*"):
        left.unlink()
    copied.rename(path)


def rows_in(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with sqlite3.connect(path) as connection:
        tables = [table.name for table in metadata.sorted_tables]
        rows = {name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall(), key=repr) for name in tables}
    connection.close()
    return rows


def counts_in(path: Path) -> Mapping[str, int]:
    return {name: len(rows) for name, rows in rows_in(path).items()}


# --- backup


def test_a_backup_holds_every_row_and_is_one_file_for_its_owner_only(source_url: str, tmp_path: Path) -> None:
    target = tmp_path / "backup" / "copy.db"
    target.parent.mkdir()
    assert backup(source_url, target) == target.stat().st_size
    assert rows_in(target) == rows_in(file_of(source_url))
    assert [path.name for path in target.parent.iterdir()] == ["copy.db"]
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


async def test_a_backup_can_be_taken_while_the_database_is_open_and_is_restored_by_putting_it_in_place(
    tmp_path: Path, clock: FixedClock
) -> None:
    url, copied = f"sqlite+aiosqlite:///{tmp_path}/mithril.db", tmp_path / "copy.db"
    store = await open_store(url, clock)
    kept = decision(clock)
    await store.record(kept)
    backup(url, copied)
    await store.record(decision(clock))
    await store.close()
    put_in_place(copied, tmp_path / "mithril.db")
    restored = await open_store(url, clock)
    assert [row["id"] for row in await restored.decisions(Page())] == [kept.id]
    await restored.append_audit("policy", "p", {"event": "started"})
    report = await restored.verify_audit()
    assert report.is_intact
    await restored.close()


async def test_a_backup_is_taken_beside_a_transaction_that_is_not_committed(
    source_url: str, tmp_path: Path, sqlite_template: Path
) -> None:
    before = counts_in(file_of(source_url))
    with sqlite3.connect(file_of(source_url), isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("INSERT INTO sessions VALUES ('o', 's', 'clean', 'now')")
        backup(source_url, tmp_path / "copy.db")
        other.execute("ROLLBACK")
    other.close()
    assert counts_in(tmp_path / "copy.db") == before


def test_a_backup_never_overwrites(source_url: str, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("kept")
    with pytest.raises(ConfigurationError, match="File exists"):
        backup(source_url, taken)
    assert taken.read_text() == "kept"


@pytest.mark.parametrize(
    ("url", "reason"),
    [("postgresql://u@h/n", "use pg_dump"), ("sqlite:///no/such.db", "no such database")],
)
def test_what_cannot_be_backed_up_says_why(url: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        backup(url, tmp_path / "copy.db")


def test_a_backup_that_fails_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "mithril.db").write_bytes(b"this is no database" * 200)
    with pytest.raises(StoreUnavailable, match="not a database"):
        backup(f"sqlite:///{tmp_path}/mithril.db", tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()


def test_a_backup_of_a_damaged_database_is_refused(source_url: str, tmp_path: Path) -> None:
    path = file_of(source_url)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'ix_audit_subject'").fetchone()[0]
        page = connection.execute("PRAGMA page_size").fetchone()[0]
    connection.close()
    with path.open("r+b") as raw:
        raw.seek(root * page - 1)
        raw.write(b"\x7f")
    with pytest.raises(StoreUnavailable, match="damaged"):
        backup(source_url, tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()


# --- migrate


async def test_the_schema_of_a_database_is_known_before_and_after_it_is_made(empty_url: str, clock: FixedClock) -> None:
    assert await revision_of(empty_url) is None
    await (await open_store(empty_url, clock)).close()
    assert await revision_of(empty_url) == HEAD


async def test_the_schema_of_what_is_no_database_cannot_be_told(tmp_path: Path) -> None:
    (tmp_path / "mithril.db").write_bytes(b"this is no database" * 200)
    with pytest.raises(ConfigurationError, match="cannot be opened"):
        await revision_of(f"sqlite:///{tmp_path}/mithril.db")


# --- copy


async def test_a_copy_holds_every_row_and_its_chains_verify(source_url: str, empty_url: str, clock: FixedClock) -> None:
    copied = await copy(source_url, empty_url, clock)
    assert await stored(empty_url) == await stored(source_url)
    assert copied.rows == counts_in(file_of(source_url))
    assert copied.verified == copied.rows["audit"] > 0


async def stored(url: str) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table, as its columns' own types."""
    engine = create_async_engine(url)
    try:
        async with engine.connect() as connection:
            return {
                table.name: [
                    tuple(row) for row in await connection.execute(select(table).order_by(*table.primary_key.columns))
                ]
                for table in metadata.sorted_tables
            }
    finally:
        await engine.dispose()


async def test_a_copy_goes_on_where_the_source_stopped(source_url: str, empty_url: str, clock: FixedClock) -> None:
    await copy(source_url, empty_url, clock)
    clock.advance(minutes=5)
    store = await open_store(empty_url, clock, create=False)
    made = decision(clock)
    await store.record(made, held=held_write(made), step=BAD)
    report = await store.verify_audit()
    await store.close()
    assert report.is_intact
    assert report.rows > counts_in(file_of(source_url))["audit"]


async def test_a_database_with_rows_is_no_target(source_url: str, database_url: str, clock: FixedClock) -> None:
    store = await open_store(database_url, clock)
    await store.append_audit("policy", "p", {"event": "started"})
    await store.close()
    with pytest.raises(ConfigurationError, match="audit holds 2 rows"):
        await copy(source_url, database_url, clock)


async def test_a_copy_that_cannot_be_finished_leaves_the_target_empty(
    source_url: str, database_url: str, clock: FixedClock, tampering: Tampering
) -> None:
    with sqlite3.connect(file_of(source_url)) as connection:
        connection.execute("PRAGMA foreign_keys=OFF")
        connection.execute("UPDATE source_keys SET principal = 'nobody'")
    connection.close()
    with pytest.raises(StoreUnavailable, match="nothing was copied"):
        await copy(source_url, database_url, clock)
    for table in metadata.sorted_tables:
        assert await tampering.run(f"SELECT count(*) FROM {table.name}") == [(0,)]


async def test_a_source_whose_audit_was_changed_is_not_copied(
    source_url: str, empty_url: str, clock: FixedClock
) -> None:
    with sqlite3.connect(file_of(source_url)) as connection:
        connection.execute("UPDATE audit SET subject = 'another' WHERE id = 2")
    connection.close()
    with pytest.raises(TamperedAudit, match="row 2"):
        await copy(source_url, empty_url, clock)


@pytest.mark.parametrize("source", ["postgresql://u@h/n", "sqlite:///no/such.db"])
async def test_what_is_no_source_says_so(source: str, tmp_path: Path, clock: FixedClock) -> None:
    with pytest.raises(ConfigurationError):
        await copy(source, f"sqlite:///{tmp_path}/new.db", clock)
    assert not (tmp_path / "new.db").exists()


async def test_a_database_is_not_copied_onto_itself(source_url: str, clock: FixedClock) -> None:
    with pytest.raises(ConfigurationError, match="itself"):
        await copy(source_url, source_url.replace("+aiosqlite", ""), clock)
