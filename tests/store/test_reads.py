from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from mithril_proxy.errors import StoreUnavailable
from mithril_proxy.store import Store, open_store
from mithril_proxy.store.reads import Lookups
from tests.store.values import GOOD, KEY, SLACK, FixedClock, decision


class Shelf:
    """Answers look-ups when it is told to, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Sequence[str]] = []
        self.may_answer = asyncio.Event()
        self.fault: BaseException | None = None

    async def fetch(self, keys: Sequence[str]) -> Mapping[str, int]:
        self.asked.append(keys)
        await self.may_answer.wait()
        if self.fault is not None:
            raise self.fault
        return {key: int(key) for key in keys if key.isdigit()}


async def pending(lookups: Lookups[int], *keys: str) -> list[asyncio.Task[int | None]]:
    tasks = [asyncio.create_task(lookups.get(key)) for key in keys]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return tasks


async def test_look_ups_that_come_while_one_runs_are_one_query() -> None:
    shelf = Shelf()
    lookups = Lookups(shelf.fetch)
    first = await pending(lookups, "1")
    rest = await pending(lookups, "2", "3", "2", "none")
    shelf.may_answer.set()
    assert await asyncio.gather(*first, *rest) == [1, 2, 3, 2, None]
    assert shelf.asked == [("1",), ("2", "3", "none")]


async def test_a_look_up_never_joins_a_query_that_runs_already() -> None:
    shelf = Shelf()
    lookups = Lookups(shelf.fetch)
    tasks = await pending(lookups, "1")
    tasks += await pending(lookups, "1")
    shelf.may_answer.set()
    assert await asyncio.gather(*tasks) == [1, 1]
    assert shelf.asked == [("1",), ("1",)]


async def test_a_caller_that_goes_away_takes_no_other_with_it() -> None:
    shelf = Shelf()
    lookups = Lookups(shelf.fetch)
    gone, stays = await pending(lookups, "1", "1")
    gone.cancel()
    await asyncio.sleep(0)
    shelf.may_answer.set()
    assert await stays == 1


async def test_a_failed_query_reaches_every_caller_of_it_and_no_later_one() -> None:
    shelf = Shelf()
    lookups = Lookups(shelf.fetch)
    shelf.fault = StoreUnavailable("gone")
    shelf.may_answer.set()
    results = await asyncio.gather(lookups.get("1"), lookups.get("2"), return_exceptions=True)
    assert [str(result) for result in results] == ["gone", "gone"]
    shelf.fault = None
    assert await lookups.get("1") == 1


async def test_callers_of_a_query_that_is_torn_down_are_told() -> None:
    shelf = Shelf()
    lookups = Lookups(shelf.fetch)
    (task,) = await pending(lookups, "1")
    (serving,) = [one for one in asyncio.all_tasks() if one.get_name() == "mithril-store-lookups"]
    serving.cancel()
    with pytest.raises(StoreUnavailable, match="stopped"):
        await task


async def test_what_was_just_written_is_read(store: Store, clock: FixedClock) -> None:
    recorded = await store.record(decision(clock), step=GOOD)
    assert await store.reputation_of(SLACK) == recorded.reputation
    await store.add_source("slack", prior=0.6, key_digest=KEY)
    found = await asyncio.gather(*(store.source_by_key(KEY) for _ in range(600)))
    assert {one.name for one in found if one is not None} == {"slack"}


async def test_more_look_ups_than_a_query_can_take_are_answered(store: Store, clock: FixedClock) -> None:
    await store.record(decision(clock))
    digests = [f"{number:064x}" for number in range(1200)]
    assert set(await asyncio.gather(*(store.source_by_key(digest) for digest in digests))) == {None}


async def test_a_closed_store_reads_nothing(database_url: str, clock: FixedClock) -> None:
    store = await open_store(database_url, clock)
    await store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.reputation_of(SLACK)
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.sources()
