"""`mithril audit tail --follow`: at once, and over the replacement of the database file."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from mithril_proxy.cli.follow import Follower, incidents_after, newest_incidents, newest_rows, rows_after
from mithril_proxy.clock import SystemClock
from mithril_proxy.errors import ConfigurationError
from mithril_proxy.store import Store, open_store

REFUSED = {"code": "route_closed", "method": "POST"}


def url_of(path: Path) -> str:
    return f"sqlite+aiosqlite:///{path}"


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(url_of(tmp_path / "mithril.db"), SystemClock())
    yield opened
    with suppress(RuntimeError):  # a test may have closed it
        await opened.close()


def following(path: Path, *, incidents: bool = False) -> Follower[Any]:
    reads = (newest_incidents, incidents_after) if incidents else (newest_rows, rows_after)
    return Follower(url_of(path), *reads)


async def subjects(rows: AsyncIterator[Any], count: int) -> list[str]:
    async with asyncio.timeout(20):
        found = [await anext(rows) for _ in range(count)]
    return [getattr(row, "subject", "") or row.summary for row in found]


async def test_rows_and_incidents_are_shown_as_they_come(store: Store, tmp_path: Path) -> None:
    await store.append_audit("refused", "first", REFUSED | {"principal": "one"})
    for number in range(3):
        await store.append_audit("policy", f"old-{number}", {})
    rows = following(tmp_path / "mithril.db").rows(2)
    incidents = following(tmp_path / "mithril.db", incidents=True).rows(1)
    assert await subjects(rows, 2) == ["old-1", "old-2"]
    assert len(await subjects(incidents, 1)) == 1
    await store.append_audit("refused", "new", REFUSED | {"principal": "two"})
    assert await subjects(rows, 1) == ["new"]
    assert "refused POST" in (await subjects(incidents, 1))[0]
    await rows.aclose()  # type: ignore[attr-defined]
    await incidents.aclose()  # type: ignore[attr-defined]


async def test_a_database_that_is_rotated_away_is_followed_in_its_successor(store: Store, tmp_path: Path) -> None:
    await store.append_audit("policy", "first", {})
    rows = following(tmp_path / "mithril.db").rows(1)
    assert await subjects(rows, 1) == ["first"]
    await store.close()
    for suffix in ("", "-wal", "-shm"):
        if (tmp_path / f"mithril.db{suffix}").exists():
            os.rename(tmp_path / f"mithril.db{suffix}", tmp_path / f"old.db{suffix}")
    waiting = asyncio.ensure_future(subjects(rows, 2))
    await asyncio.sleep(0)
    fresh = await open_store(url_of(tmp_path / "mithril.db"), SystemClock())
    await fresh.append_audit("policy", "second", {})
    assert (await waiting)[1] == "second"
    await rows.aclose()  # type: ignore[attr-defined]
    await fresh.close()


async def test_a_restored_copy_is_gone_on_with_and_shows_nothing_twice(store: Store, tmp_path: Path) -> None:
    await store.append_audit("policy", "first", {})
    rows = following(tmp_path / "mithril.db").rows(1)
    assert await subjects(rows, 1) == ["first"]
    await store.close()
    shutil.copyfile(tmp_path / "mithril.db", tmp_path / "copy.db")
    os.replace(tmp_path / "copy.db", tmp_path / "mithril.db")
    restored = await open_store(url_of(tmp_path / "mithril.db"), SystemClock())
    await restored.append_audit("policy", "second", {})
    found = await subjects(rows, 2)
    assert "first" not in found
    assert found[1] == "second"
    await rows.aclose()  # type: ignore[attr-defined]
    await restored.close()


async def test_following_what_is_not_there_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no such database"):
        await anext(following(tmp_path / "none.db").rows(1))
    assert not (tmp_path / "none.db").exists()
