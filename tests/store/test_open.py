from __future__ import annotations

import asyncio
import re
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from mithril_proxy.errors import ConfigurationError, StoreUnavailable
from mithril_proxy.store import open_store
from mithril_proxy.store.engines import is_sqlite, open_transactions, parse_url
from mithril_proxy.store.migrate import HEAD, MIGRATIONS, REVISIONS, current_revision
from mithril_proxy.store.schema import metadata
from tests.store.conftest import Tampering
from tests.store.values import FixedClock, decision


def modes_in(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


RECORDS = Path(__file__).with_name("update_reputation.py")
DOCS = Path(__file__).resolve().parents[2] / "docs" / "database.md"


@pytest.mark.parametrize(
    ("text", "driver"),
    [
        ("sqlite+aiosqlite:///./mithril.db", "sqlite+aiosqlite"),
        ("sqlite:///mithril.db", "sqlite+aiosqlite"),
        ("postgres://u@h/n", "postgresql+asyncpg"),
        ("postgresql://u@h/n", "postgresql+asyncpg"),
        ("postgresql+asyncpg://u@h/n", "postgresql+asyncpg"),
    ],
)
def test_a_url_gets_the_driver_that_mithril_uses(text: str, driver: str) -> None:
    assert parse_url(text).drivername == driver
    assert is_sqlite(parse_url(text)) == driver.startswith("sqlite")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not a URL"),
        ("mithril.db", "not a URL"),
        ("mysql://u@h/n", "mysql is not supported"),
        ("sqlite://", "not durable"),
        ("sqlite:///:memory:", "not durable"),
        ("sqlite:///file::memory:?cache=shared&uri=true", "not durable"),
    ],
)
def test_a_url_that_cannot_be_used_says_why(text: str, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        parse_url(text)


async def test_a_new_database_is_made_with_its_schema_and_can_be_opened_again(
    empty_url: str, clock: FixedClock
) -> None:
    store = await open_store(empty_url, clock)
    made = decision(clock)
    await store.record(made)
    await store.close()
    again = await open_store(empty_url, clock, create=False)
    assert (await again.decision(made.id))["id"] == made.id
    await again.close()


async def test_a_new_file_and_its_journals_are_for_their_owner_only(tmp_path: Path, clock: FixedClock) -> None:
    store = await open_store(f"sqlite:///{tmp_path}/mithril.db", clock)
    await store.record(decision(clock))
    assert modes_in(tmp_path) == {"mithril.db": 0o600, "mithril.db-wal": 0o600, "mithril.db-shm": 0o600}
    await store.close()


async def test_the_file_is_in_wal_mode_and_commits_are_flushed(tmp_path: Path, clock: FixedClock) -> None:
    url = parse_url(f"sqlite:///{tmp_path}/mithril.db")
    transactions = open_transactions(url, 5.0)

    def settings(connection: Connection) -> list[Any]:
        names = ("journal_mode", "synchronous", "foreign_keys")
        return [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names]

    assert await transactions.run(settings) == ["wal", 2, 1]
    await transactions.close()


async def test_a_folder_that_is_not_there_is_named(tmp_path: Path, clock: FixedClock) -> None:
    with pytest.raises(ConfigurationError, match=r"missing/mithril\.db: cannot be created"):
        await open_store(f"sqlite:///{tmp_path}/missing/mithril.db", clock)


async def test_without_create_a_file_that_is_not_there_is_refused(tmp_path: Path, clock: FixedClock) -> None:
    with pytest.raises(ConfigurationError, match="no such database"):
        await open_store(f"sqlite:///{tmp_path}/mithril.db", clock, create=False)
    assert modes_in(tmp_path) == {}


async def test_without_create_a_database_without_schema_is_left_alone(tmp_path: Path, clock: FixedClock) -> None:
    (tmp_path / "mithril.db").touch()
    with pytest.raises(ConfigurationError, match=r"schema none, not \d+"):
        await open_store(f"sqlite:///{tmp_path}/mithril.db", clock, create=False)


async def test_a_database_of_a_newer_version_is_refused(
    database_url: str, clock: FixedClock, tampering: Tampering
) -> None:
    await tampering.run("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(ConfigurationError, match="schema 9999, which is newer than this version"):
        await open_store(database_url, clock)


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path, clock: FixedClock) -> None:
    (tmp_path / "mithril.db").write_text("a letter to a friend, longer than the header of a database")
    with pytest.raises(ConfigurationError, match="file is not a database"):
        await open_store(f"sqlite:///{tmp_path}/mithril.db", clock)


async def test_a_server_that_is_not_there_is_a_configuration_error(clock: FixedClock) -> None:
    with pytest.raises(ConfigurationError, match="cannot be opened"):
        await open_store("postgresql://mithril@127.0.0.1:1/none", clock)


async def test_a_database_that_vanishes_is_503_for_readers_too(tmp_path: Path, clock: FixedClock) -> None:
    store = await open_store(f"sqlite:///{tmp_path}/mithril.db", clock)
    with sqlite3.connect(tmp_path / "mithril.db") as other:
        other.execute("DROP VIEW incidents")
    other.close()
    with pytest.raises(StoreUnavailable, match="cannot be read: no such table: incidents"):
        await store.incidents()
    await store.close()


async def test_processes_that_start_at_once_on_an_empty_database_all_work(empty_url: str, clock: FixedClock) -> None:
    running = [
        await asyncio.create_subprocess_exec(
            sys.executable, str(RECORDS), empty_url, str(stream), "2", stderr=subprocess.PIPE
        )
        for stream in (1, 2, 3)
    ]
    for one in running:
        _, complaints = await one.communicate()
        assert (one.returncode, complaints.decode()) == (0, "")
    store = await open_store(empty_url, clock)
    assert (await store.source("slack")).decisions == 6
    assert (await store.verify_audit()).is_intact
    await store.close()


def test_a_start_with_nothing_to_migrate_does_not_import_alembic(database_url: str) -> None:
    program = (
        "import asyncio, sys\n"
        "from mithril_proxy.clock import SystemClock\n"
        "from mithril_proxy.store import open_store\n"
        "assert 'sqlalchemy' not in sys.modules\n"
        f"asyncio.run(open_store({database_url!r}, SystemClock()))\n"
        "assert 'alembic' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=DOCS.parents[1])


def test_this_version_knows_every_migration_it_ships() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    shipped = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
    assert tuple(reversed(shipped)) == REVISIONS


async def test_the_migrations_make_the_schema_that_the_code_expects(database_url: str) -> None:
    transactions = open_transactions(parse_url(database_url), 5.0)
    differences = await transactions.run(
        lambda connection: compare_metadata(MigrationContext.configure(connection), metadata)
    )
    assert await transactions.run(current_revision) == HEAD
    assert differences == []
    await transactions.close()


def test_every_table_and_column_is_documented() -> None:
    text = DOCS.read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## `(\w+)`(.*?)(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL))
    for table in metadata.sorted_tables:
        documented = set(re.findall(r"^\| `(\w+)` \|", sections[table.name], flags=re.MULTILINE))
        assert documented == set(table.columns.keys()), table.name
    assert set(re.findall(r"^\| `(\w+)` \|", sections["incidents"], flags=re.MULTILINE)) == {
        "at",
        "kind",
        "severity",
        "source",
        "decision_id",
        "summary",
        "advice",
        "occurrences",
        "id",
    }
