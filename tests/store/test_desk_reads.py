"""What the desk reads stays cheap: every listing walks an index, and a page costs what it shows."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from mithril_proxy.store import open_store
from mithril_proxy.store.desk import DeskStore, Heads
from mithril_proxy.store.interface import Page, QuarantineFilter
from mithril_proxy.store.tallying import bucket_of
from mithril_proxy.types import ReviewState, Signals, Status, Trust
from tests.store.values import START, FixedClock, decision, held_write

Read = Callable[[DeskStore], Awaitable[object]]
STATUSES = tuple(Status)


async def fill(store: DeskStore, clock: FixedClock, decisions: int, *, held_every: int = 5) -> None:
    """Decisions of five statuses by ten sources; one in `held_every` is held, each text of it twice."""
    for start in range(0, decisions, 250):
        clock.advance(minutes=1)
        records = []
        for number in range(start, min(start + 250, decisions)):
            text, status = f"claim {number // (2 * held_every)}", STATUSES[number % 5]
            made = decision(clock, text, status=status, trust=Trust(number % 100 / 100, 0.1))
            held = held_write(made, text) if number % held_every == 2 else None
            records.append(store.record(made, held=held))
        await asyncio.gather(*records)


@pytest_asyncio.fixture
async def filled(store: DeskStore, clock: FixedClock) -> DeskStore:
    await fill(store, clock, 50)
    return store


async def test_tallies_count_every_decision_by_hour_status_and_score(filled: DeskStore, clock: FixedClock) -> None:
    clock.advance(hours=1)
    await fill(filled, clock, 5)
    tallies = await filled.tallies(START)
    assert sum(tally.decisions for tally in tallies) == 55
    by_hour = Counter[str]()
    for tally in tallies:
        by_hour[tally.hour] += tally.decisions
    assert by_hour == {"2026-12-01T12": 50, "2026-12-01T13": 5}
    assert {tally.bucket for tally in tallies} <= set(range(20))
    assert sum(tally.decisions for tally in await filled.tallies(START + timedelta(hours=1))) == 5


async def test_claims_judged_again_are_no_traffic(store: DeskStore, clock: FixedClock) -> None:
    await store.record(decision(clock, route="reevaluate"))
    assert await store.tallies(START) == []
    assert await store.recent_evidence(10) == []


@pytest.mark.parametrize(
    ("score", "bucket"), [(0.0, 0), (0.049, 0), (0.05, 1), (0.2, 4), (0.599, 11), (0.95, 19), (1.0, 19)]
)
def test_a_score_falls_into_its_twentieth(score: float, bucket: int) -> None:
    assert bucket_of(score) == bucket


async def test_the_queue_says_how_many_stand_where_and_since_when(filled: DeskStore) -> None:
    depth = await filled.queue_depth()
    assert depth.by_state == {"pending": 10}
    assert depth.oldest_pending == START + timedelta(minutes=1)
    entry = (await filled.quarantine(Page(1), QuarantineFilter()))[0]
    await filled.review(entry.id, ReviewState.REJECTED, reviewer="a", reason="b")
    assert (await filled.queue_depth()).by_state == {"pending": 9, "rejected": 1}


async def test_groups_are_the_texts_with_their_copies_the_newest_first(filled: DeskStore) -> None:
    groups = await filled.held_groups(Page(3), QuarantineFilter())
    assert [group.entries for group in groups] == [2, 2, 2]
    rest = await filled.held_groups(Page(10, groups[-1].newest_id), QuarantineFilter())
    assert len(rest) == 2
    ids = [group.newest_id for group in (*groups, *rest)]
    assert ids == sorted(ids, reverse=True)
    one = await filled.held(ids[0])
    alone = await filled.held_groups(Page(10), QuarantineFilter(contains=one.text))
    assert [group.newest_id for group in alone] == [ids[0]]
    assert await filled.held_groups(Page(10), QuarantineFilter(state=ReviewState.EXPIRED)) == []
    by_digest = QuarantineFilter(state=None, claim_digest=groups[0].claim_digest)
    assert await filled.held_groups(Page(10), by_digest) == [groups[0]]


async def test_a_reviewed_copy_no_longer_hides_the_pending_one(filled: DeskStore) -> None:
    newest = (await filled.held_groups(Page(1), QuarantineFilter()))[0]
    await filled.review(newest.newest_id, ReviewState.REJECTED, reviewer="a", reason="b")
    left = (await filled.held_groups(Page(1), QuarantineFilter()))[0]
    assert (left.claim_digest, left.entries) == (newest.claim_digest, 1)


async def test_heads_name_the_newest_rows(store: DeskStore, clock: FixedClock) -> None:
    assert await store.heads() == Heads("", "", 0, 0)
    made = decision(clock, signals=Signals(0.9, 0.0, 1.0, 0.9, 0.0), status=Status.REJECT)
    recorded = await store.record(made, held=held_write(made))
    heads = await store.heads()
    assert (heads.decision, heads.held, heads.incident) == (made.id, recorded.quarantine_id, 1)
    assert heads.audit > 0


async def test_sources_are_paged_by_principal_and_searched(store: DeskStore) -> None:
    for name in ("beta", "alpha", "gamma"):
        await store.add_source(name, prior=0.5, key_digest=name)
    first = await store.source_page(Page(2))
    assert [source.principal for source in first] == ["alpha", "beta"]
    assert [source.principal for source in await store.source_page(Page(2, "beta"))] == ["gamma"]
    assert [source.principal for source in await store.source_page(Page(), contains="mm")] == ["gamma"]
    assert await store.source_page(Page(), contains="%") == []
    assert sorted(await store.reputations()) == [0.5, 0.5, 0.5]


async def test_the_audit_of_one_subject_is_found(filled: DeskStore) -> None:
    entry = (await filled.quarantine(Page(1), QuarantineFilter()))[0]
    await filled.review(entry.id, ReviewState.REJECTED, reviewer="a", reason="b")
    assert [row.kind for row in await filled.audit_of(entry.id)] == ["reject"]
    assert [row.kind for row in await filled.audit_of(entry.decision_id)] == ["decision"]


# --- cost -----------------------------------------------------------------------------------------------------------

READS: dict[str, Read] = {
    "decisions": lambda store: store.decisions(Page()),
    "decisions of a status": lambda store: store.decisions(Page(), status=Status.REJECT),
    "decisions of a source": lambda store: store.decisions(Page(), source="slack"),
    "queue": lambda store: store.quarantine(Page(), QuarantineFilter()),
    "queue of a source": lambda store: store.quarantine(Page(), QuarantineFilter(source="slack")),
    "groups": lambda store: store.held_groups(Page(), QuarantineFilter()),
    "tallies": lambda store: store.tallies(START),
    "heads": lambda store: store.heads(),
    "evidence": lambda store: store.recent_evidence(20),
    "incidents": lambda store: store.incidents(limit=20),
    "sources": lambda store: store.source_page(Page()),
    "events": lambda store: store.reputation_events("slack", Page()),
    "lapsed": lambda store: store.lapsed_releases(),
}
STEP = 50  # virtual machine instructions between two looks at the counter


class Counting:
    """Counts the instructions that SQLite's virtual machine takes, on every connection opened while it is active."""

    def __init__(self) -> None:
        self.steps = 0

    def step(self) -> int:
        self.steps += 1
        return 0


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Counting:
    counter, connect = Counting(), sqlite3.connect

    def counted(*args: object, **kwargs: object) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **kwargs)  # type: ignore[call-overload]
        connection.set_progress_handler(counter.step, STEP)
        return connection

    monkeypatch.setattr(sqlite3, "connect", counted)
    monkeypatch.setattr("sqlite3.dbapi2.connect", counted)
    return counter


async def cost_of(url: str, counting: Counting) -> dict[str, int]:
    """Instructions, in STEPs, that each read takes on this database."""
    store = await open_store(url, FixedClock(9), create=False)
    try:
        costs = {}
        for name, read in READS.items():
            await read(store)  # statements are compiled once
            before = counting.steps
            await read(store)
            costs[name] = counting.steps - before
        return costs
    finally:
        await store.close()


async def test_a_hundred_times_the_rows_cost_no_read_ten_times_as_much(tmp_path: Path, counting: Counting) -> None:
    costs = []
    for decisions in (100, 10_000):
        url = f"sqlite+aiosqlite:///{tmp_path}/{decisions}.db"
        store, clock = await open_store(url, FixedClock()), FixedClock()
        await fill(store, clock, decisions)
        await store.close()
        with closing(sqlite3.connect(tmp_path / f"{decisions}.db")) as connection:
            assert connection.execute("SELECT COUNT(*) FROM decisions").fetchone() == (decisions,)
        costs.append(await cost_of(url, counting))
    few, many = costs
    slower = {name: (few[name], many[name]) for name in READS if many[name] > 10 * max(few[name], 20)}
    assert slower == {}
    assert sum(few.values()) > 0
