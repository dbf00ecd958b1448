"""Every test that takes `store` or `database_url` runs once an engine.

PostgreSQL takes part when MITHRIL_TEST_POSTGRES_URL names a server where databases may be made: `scripts/with-postgres`
starts one.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest
import pytest_asyncio
from sqlalchemy import make_url, text
from sqlalchemy.ext.asyncio import create_async_engine

from mithril_proxy.store import Store, open_store
from tests.store.values import FixedClock

SERVER = os.environ.get("MITHRIL_TEST_POSTGRES_URL")
ENGINES = [
    pytest.param("sqlite"),
    *([pytest.param("postgresql", marks=pytest.mark.postgres)] if SERVER else []),
]


async def server_runs(statement: str) -> None:
    url = make_url(SERVER or "").set(drivername="postgresql")
    connection = await asyncpg.connect(url.render_as_string(hide_password=False))
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


async def _make(url: str) -> None:
    store = await open_store(url, FixedClock())
    await store.close()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated, empty database to copy: a migration takes longer than most tests."""
    path = tmp_path_factory.mktemp("template") / "template.db"
    asyncio.run(_make(f"sqlite+aiosqlite:///{path}"))
    return path


@pytest.fixture(scope="session")
def postgresql_template() -> Iterator[str]:
    """The name of a migrated, empty database to copy."""
    name = f"mithril_template_{uuid.uuid4().hex[:8]}"
    asyncio.run(server_runs(f"CREATE DATABASE {name}"))
    asyncio.run(_make(make_url(SERVER or "").set(database=name).render_as_string(hide_password=False)))
    yield name
    asyncio.run(server_runs(f"DROP DATABASE {name} WITH (FORCE)"))


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def empty_url(engine: str, tmp_path: Path) -> Iterator[str]:
    """A database with nothing in it, not even a schema."""
    if engine == "sqlite":
        yield f"sqlite+aiosqlite:///{tmp_path}/mithril.db"
        return
    name = f"mithril_{uuid.uuid4().hex[:12]}"
    asyncio.run(server_runs(f"CREATE DATABASE {name}"))
    yield make_url(SERVER or "").set(database=name).render_as_string(hide_password=False)
    asyncio.run(server_runs(f"DROP DATABASE {name} WITH (FORCE)"))


@pytest.fixture
def database_url(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """A database with its schema and no rows."""
    if engine == "sqlite":
        shutil.copyfile(request.getfixturevalue("sqlite_template"), tmp_path / "mithril.db")
        yield f"sqlite+aiosqlite:///{tmp_path}/mithril.db"
        return
    name = f"mithril_{uuid.uuid4().hex[:12]}"
    template = request.getfixturevalue("postgresql_template")
    asyncio.run(server_runs(f"CREATE DATABASE {name} TEMPLATE {template}"))
    yield make_url(SERVER or "").set(database=name).render_as_string(hide_password=False)
    asyncio.run(server_runs(f"DROP DATABASE {name} WITH (FORCE)"))


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest_asyncio.fixture
async def store(database_url: str, clock: FixedClock) -> AsyncIterator[Store]:
    opened = await open_store(database_url, clock)
    yield opened
    await opened.close()


class Tampering:
    """Reaches past the store: what somebody with the database's password can do."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def run(self, statement: str) -> list[Any]:
        engine = create_async_engine(self._url)
        try:
            async with engine.begin() as connection:
                result = await connection.execute(text(statement))
                return [tuple(row) for row in result] if result.returns_rows else []
        finally:
            await engine.dispose()


@pytest.fixture
def tampering(database_url: str) -> Tampering:
    return Tampering(database_url)
