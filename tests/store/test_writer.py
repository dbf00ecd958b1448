from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from sqlalchemy import Connection

from mithril_proxy.errors import InvalidTransition, MithrilError, NotFound, StoreUnavailable
from mithril_proxy.store import open_store
from mithril_proxy.store.changes import AuditEntry, Changes
from mithril_proxy.store.engines import Transactions, open_transactions, parse_url
from mithril_proxy.store.incidents import IncidentRules
from mithril_proxy.store.writer import Writer, describe
from mithril_proxy.types import ReviewState, Status
from tests.store.test_held import hold
from tests.store.values import GOOD, KEY, SLACK, FixedClock, decision

T = TypeVar("T")


class Gate:
    """Transactions that wait until they are let through, and fail with what they are told to fail with."""

    def __init__(self, behind: Transactions) -> None:
        self._behind = behind
        self.open = asyncio.Event()
        self.count = 0
        self.faults: list[BaseException] = []

    async def run(self, work: Callable[[Connection], T]) -> T:
        await self.open.wait()
        self.count += 1
        if self.faults:
            raise self.faults.pop()
        return await self._behind.run(work)

    async def close(self) -> None:
        await self._behind.close()


def entry(subject: str) -> Changes:
    return Changes(audit=[AuditEntry("2026-12-01T12:00:00.000000Z", "sign-in", subject, {})])


@pytest.fixture
def gate(database_url: str) -> Gate:
    return Gate(open_transactions(parse_url(database_url), 5.0))


@pytest.fixture
def writer(gate: Gate, clock: FixedClock) -> Writer:
    return Writer(gate, clock, IncidentRules(), max_queue=8)


async def subjects(database_url: str) -> list[str]:
    store = await open_store(database_url, FixedClock(stream=99))
    rows = await store.audit()
    assert (await store.verify_audit()).is_intact
    await store.close()
    return [row.subject for row in rows if row.kind != "writer"]


async def queued(writer: Writer, *units: Changes) -> list[asyncio.Task[None]]:
    """Tasks that wait for their units; the first one is in a transaction of its own, held at the gate."""
    tasks = [asyncio.create_task(writer.write(units[0]))]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    tasks += [asyncio.create_task(writer.write(unit)) for unit in units[1:]]
    await asyncio.sleep(0)
    return tasks


async def test_units_that_wait_together_are_committed_together(writer: Writer, gate: Gate, database_url: str) -> None:
    tasks = await queued(writer, *(entry(str(number)) for number in range(6)))
    assert writer.queued == 5
    gate.open.set()
    await asyncio.gather(*tasks)
    await writer.close()
    assert gate.count == 2
    assert await subjects(database_url) == ["0", "1", "2", "3", "4", "5"]


async def test_nothing_is_acknowledged_before_the_commit(writer: Writer, gate: Gate) -> None:
    tasks = await queued(writer, entry("one"))
    assert not tasks[0].done()
    gate.open.set()
    await asyncio.gather(*tasks)
    await writer.close()


async def test_a_full_queue_turns_callers_away_at_once(writer: Writer, gate: Gate) -> None:
    tasks = await queued(writer, *(entry(str(number)) for number in range(9)))
    with pytest.raises(StoreUnavailable, match="8 writes are waiting"):
        await writer.write(entry("one too many"))
    gate.open.set()
    await asyncio.gather(*tasks)
    await writer.close()


async def test_a_failed_transaction_reaches_every_caller_and_the_writer_goes_on(
    writer: Writer, gate: Gate, database_url: str
) -> None:
    await_first = await queued(writer, entry("before"), entry("one"), entry("two"), entry("three"))
    gate.faults = [sqlite3.OperationalError("database or disk is full"), OSError("gone")]
    gate.open.set()
    results = await asyncio.gather(*await_first, return_exceptions=True)
    assert [str(result) for result in results] == [
        "the database cannot be written: OSError",
        *["the database cannot be written: database or disk is full"] * 3,
    ]
    assert all(isinstance(result, StoreUnavailable) for result in results)
    await writer.write(entry("after"))
    await writer.close()
    assert await subjects(database_url) == ["after"]


async def test_a_fault_in_the_writer_itself_fails_its_batch_and_no_other(
    writer: Writer, gate: Gate, database_url: str
) -> None:
    complaints: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: complaints.append(context))
    tasks = await queued(writer, entry("one"), entry("two"))
    gate.faults = [ZeroDivisionError()]
    gate.open.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(results[0], StoreUnavailable)
    assert results[1] is None
    await writer.close()
    assert await subjects(database_url) == ["two"]


async def test_a_cancelled_caller_loses_its_answer_not_its_unit(writer: Writer, gate: Gate, database_url: str) -> None:
    tasks = await queued(writer, entry("zero"), entry("one"), entry("two"))
    tasks[0].cancel()
    tasks[1].cancel()
    await asyncio.sleep(0)
    gate.open.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [isinstance(result, asyncio.CancelledError) for result in results] == [True, True, False]
    await writer.close()
    assert await subjects(database_url) == ["zero", "one", "two"]


async def test_closing_commits_what_is_queued_and_refuses_what_comes_later(
    writer: Writer, gate: Gate, database_url: str
) -> None:
    tasks = await queued(writer, entry("one"), entry("two"))
    closing = asyncio.create_task(writer.close())
    await asyncio.sleep(0)
    with pytest.raises(StoreUnavailable, match="closed"):
        await writer.write(entry("late"))
    gate.open.set()
    await asyncio.gather(closing, *tasks)
    assert await subjects(database_url) == ["one", "two"]


async def test_a_writer_that_was_never_used_closes(writer: Writer) -> None:
    await writer.close()


async def test_a_writer_that_is_torn_down_fails_the_callers_it_had(writer: Writer, gate: Gate) -> None:
    tasks = await queued(writer, entry("one"))
    (serving,) = [task for task in asyncio.all_tasks() if task.get_name() == "mithril-store-writer"]
    serving.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [str(result) for result in results] == ["the writer was stopped before it could commit"]
    await writer.close()


async def test_a_unit_that_is_refused_leaves_strangers_of_its_batch_alone(database_url: str, clock: FixedClock) -> None:
    store = await open_store(database_url, clock)
    held = await hold(store, clock)
    await store.review(held, ReviewState.RELEASED, reviewer="ada", reason="fine")
    twice = decision(clock)
    results = await asyncio.gather(
        store.review(held, ReviewState.REJECTED, reviewer="eve", reason="no"),
        store.record(decision(clock), step=GOOD),
        store.reset_source("nobody", reputation=0.1, reason="none"),
        store.add_source("ci", prior=0.8, key_digest=KEY),
        store.record(twice),
        store.record(twice),
        store.record(decision(clock, status=Status.REVIEW)),
        return_exceptions=True,
    )
    refused = [type(result) for result in results if isinstance(result, MithrilError)]
    assert refused == [InvalidTransition, NotFound, StoreUnavailable]
    assert (await store.source("slack")).decisions == 4
    assert await store.reputation_of(SLACK) == pytest.approx(0.64)
    assert (await store.verify_audit()).is_intact
    await store.close()


async def test_a_ping_commits(database_url: str, clock: FixedClock) -> None:
    store = await open_store(database_url, clock)
    pinging = asyncio.create_task(store.ping())
    await asyncio.sleep(0)
    assert store.queued_writes == 1
    await pinging
    assert store.queued_writes == 0
    await store.close()
    with pytest.raises(StoreUnavailable):
        await store.ping()


async def test_a_database_that_another_process_holds_is_503_and_then_well_again(
    tmp_path: Path, clock: FixedClock
) -> None:
    store = await open_store(f"sqlite+aiosqlite:///{tmp_path}/mithril.db", clock, busy_timeout_s=0.05)
    await store.record(decision(clock))
    holder = sqlite3.connect(tmp_path / "mithril.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    results = await asyncio.gather(
        *(store.record(decision(clock)) for _ in range(3)), store.ping(), return_exceptions=True
    )
    assert {str(result) for result in results} == {"the database cannot be written: database is locked"}
    assert await store.reputation_of(SLACK) == 0.6
    holder.execute("ROLLBACK")
    holder.close()
    await store.record(decision(clock))
    assert (await store.source("slack")).decisions == 2
    assert (await store.verify_audit()).is_intact
    await store.close()


def test_a_failure_is_described_without_its_values() -> None:
    assert describe(sqlite3.OperationalError("database is locked")) == "database is locked"
    assert describe(ValueError("claim text")) == "ValueError"
