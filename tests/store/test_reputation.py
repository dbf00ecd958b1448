from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace
from functools import reduce
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mithril_proxy.store import Store
from mithril_proxy.store.interface import Page, ReputationStep
from mithril_proxy.store.reputation import inverse, moved
from mithril_proxy.types import Status
from tests.store.values import BAD, GOOD, KEY, SLACK, FixedClock, decision

UPDATES = Path(__file__).with_name("update_reputation.py")


@pytest.mark.parametrize(
    ("before", "step", "after"),
    [
        (0.60, GOOD, 0.64),
        (0.60, BAD, 0.468),
        (0.468, BAD, 0.36504),
        (0.99, GOOD, 0.99),
        (0.05, BAD, 0.05),
        (0.06, BAD, 0.05),
        (0.989, GOOD, 0.99),
    ],
)
def test_a_step_moves_towards_its_target_and_stops_at_floor_and_ceiling(
    before: float, step: ReputationStep, after: float
) -> None:
    assert moved(before, step) == pytest.approx(after, abs=1e-12)


@given(st.floats(0.05, 0.99), st.floats(0.0, 0.9), st.sampled_from([0.0, 1.0]))
def test_a_step_that_was_not_cut_off_is_undone_by_its_inverse(before: float, rate: float, target: float) -> None:
    step = ReputationStep(rate, target, 0.0, 1.0, "any")
    assert moved(moved(before, step), inverse(step)) == pytest.approx(before, abs=1e-9)


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_no_step_leaves_the_range(before: float, rate: float, target: float) -> None:
    assert 0.05 <= moved(before, ReputationStep(rate, target, 0.05, 0.99, "any")) <= 0.99


def test_a_step_that_forgets_everything_has_no_inverse() -> None:
    with pytest.raises(ValueError, match="rate 1"):
        inverse(replace(GOOD, rate=1.0))


async def test_a_principal_never_seen_stands_at_its_prior_and_leaves_no_row(store: Store) -> None:
    assert await store.reputation_of(SLACK) == 0.6
    assert await store.sources() == []


async def test_a_decision_without_a_step_counts_but_moves_nothing(store: Store, clock: FixedClock) -> None:
    recorded = await store.record(decision(clock, status=Status.REVIEW))
    assert recorded.reputation == 0.6
    source = await store.source("slack")
    assert (source.decisions, source.reputation, source.is_registered) == (1, 0.6, False)
    assert await store.reputation_events("slack", Page()) == []


async def test_every_move_is_an_event_with_what_was_before_and_after(store: Store, clock: FixedClock) -> None:
    for step in (GOOD, BAD):
        await store.record(decision(clock), step=step)
    newest, oldest = await store.reputation_events("slack", Page())
    assert [oldest.before, oldest.after, newest.after] == pytest.approx([0.6, 0.64, 0.4992])
    assert (newest.before, oldest.reason, newest.reason) == (oldest.after, "good", "bad")
    assert [event.id for event in await store.reputation_events("slack", Page(before=str(newest.id)))] == [oldest.id]


async def test_callers_in_one_batch_each_get_the_value_after_their_own_step(store: Store, clock: FixedClock) -> None:
    made = [decision(clock) for _ in range(20)]
    recorded = await asyncio.gather(*(store.record(one, step=GOOD) for one in made))
    folded = [reduce(moved, [GOOD] * count, 0.6) for count in range(1, 21)]
    assert [one.reputation for one in recorded] == pytest.approx(folded, abs=1e-12)


async def test_a_frozen_source_is_counted_but_does_not_move(store: Store, clock: FixedClock) -> None:
    await store.add_source("slack", prior=0.6, key_digest=KEY)
    await store.freeze_source("slack", reason="under investigation")
    recorded = await store.record(decision(clock), step=BAD)
    source = await store.source("slack")
    assert (recorded.reputation, source.reputation, source.decisions, source.is_frozen) == (0.6, 0.6, 1, True)
    assert await store.reputation_events("slack", Page()) == []
    await store.thaw_source("slack", reason="it was a test")
    assert (await store.record(decision(clock), step=BAD)).reputation == pytest.approx(0.468)


async def test_many_principals_in_one_batch_are_kept_apart(store: Store, clock: FixedClock) -> None:
    names = [f"source-{number}" for number in range(250)]
    made = [decision(clock, provenance=replace(SLACK, principal=name, source=name)) for name in names]
    await asyncio.gather(*(store.record(one, step=GOOD) for one in made))
    assert {source.name: source.decisions for source in await store.sources()} == dict.fromkeys(names, 1)


@pytest.mark.parametrize("processes", [3])
async def test_processes_that_update_one_source_at_once_lose_nothing(
    store: Store, database_url: str, processes: int
) -> None:
    updates = 60
    running = [
        await asyncio.create_subprocess_exec(
            sys.executable, str(UPDATES), database_url, str(stream), str(updates), stderr=subprocess.PIPE
        )
        for stream in range(1, processes + 1)
    ]
    for one in running:
        _, complaints = await one.communicate()
        assert (one.returncode, complaints.decode()) == (0, "")
    source = await store.source("slack")
    expected = reduce(moved, [GOOD] * (processes * updates), 0.6)
    assert source.decisions == processes * updates
    assert source.reputation == pytest.approx(expected, abs=1e-9)
    report = await store.verify_audit()
    assert (report.broken, len(report.heads)) == (None, processes)
