from __future__ import annotations

import asyncio

import pytest

from mithril_proxy.errors import StoreUnavailable
from mithril_proxy.store import Store, open_store
from tests.store.conftest import Tampering
from tests.store.values import GOOD, FixedClock, decision


async def fill(store: Store, clock: FixedClock, decisions: int = 5) -> None:
    for _ in range(decisions):
        await store.record(decision(clock), step=GOOD)


async def test_reading_alone_writes_no_row(store: Store) -> None:
    assert await store.audit() == []
    assert (await store.verify_audit()).rows == 0


async def test_a_row_of_no_decision_is_appended_with_its_payload(store: Store, clock: FixedClock) -> None:
    await store.append_audit("policy", "default", {"digest": "ab" * 32, "by": "ada", "größe": 1.5})
    row = (await store.audit())[-1]
    assert (row.kind, row.subject, row.at) == ("policy", "default", clock.now())
    assert row.payload == {"digest": "ab" * 32, "by": "ada", "größe": 1.5}


async def test_the_audit_is_followed_by_id(store: Store, clock: FixedClock) -> None:
    await fill(store, clock)
    first = await store.audit(limit=2)
    rest = await store.audit(after=first[-1].id)
    assert [row.sequence for row in (*first, *rest)] == [1, 2, 3, 4, 5, 6]
    assert [row.id async for row in store.audit_rows()] == [row.id for row in (*first, *rest)]


async def test_each_opened_store_has_a_chain_of_its_own(store: Store, database_url: str, clock: FixedClock) -> None:
    await fill(store, clock, 1)
    other_clock = FixedClock(stream=7)
    other = await open_store(database_url, other_clock)
    await fill(other, other_clock, 2)
    await fill(store, clock, 1)
    await other.close()
    report = await store.verify_audit()
    assert report.broken is None
    assert len(report.heads) == 2
    assert len(report.anchor) == 2


async def test_an_anchor_shrinks_to_the_chains_that_no_later_one_names(
    store: Store, database_url: str, clock: FixedClock
) -> None:
    await fill(store, clock, 2)
    for stream in (7, 8):
        other = await open_store(database_url, FixedClock(stream))
        await other.append_audit("sign-in", "ada", {})
        await other.close()
    report = await store.verify_audit()
    assert (len(report.heads), len(report.anchor)) == (3, 1)
    assert (await store.verify_audit(anchors=report.anchor)).is_intact


TAMPERINGS = {
    "edit": "UPDATE audit SET payload = replace(payload, 'warn', 'accept') WHERE sequence = 3",
    "edit of a time": "UPDATE audit SET at = '2026-12-01T12:00:00.000001Z' WHERE sequence = 3",
    "deletion": "DELETE FROM audit WHERE sequence = 3",
    "deletion of the first row": "DELETE FROM audit WHERE sequence = 1",
    "insertion": "INSERT INTO audit (writer, sequence, at, kind, subject, payload, previous, digest)"
    " SELECT writer, 99, at, kind, subject, payload, previous, digest FROM audit WHERE sequence = 3",
    "another writer": "UPDATE audit SET writer = 'wri_forged' WHERE sequence = 4",
    "reordering": "UPDATE audit SET sequence = CASE sequence WHEN 3 THEN -4 ELSE -3 END WHERE sequence IN (3, 4)",
}


@pytest.mark.parametrize("tampering_of", list(TAMPERINGS))
async def test_tampering_with_a_row_is_found(
    store: Store, clock: FixedClock, tampering: Tampering, tampering_of: str
) -> None:
    await fill(store, clock)
    assert (await store.verify_audit()).is_intact
    await tampering.run(TAMPERINGS[tampering_of])
    assert "row " in str((await store.verify_audit()).broken)


async def test_a_cut_tail_is_found_with_an_anchor(store: Store, clock: FixedClock, tampering: Tampering) -> None:
    await fill(store, clock)
    anchors = (await store.verify_audit()).anchor
    await tampering.run("DELETE FROM audit WHERE sequence > 4")
    assert (await store.verify_audit()).is_intact
    assert "anchored row" in str((await store.verify_audit(anchors=anchors)).broken)


async def test_a_writer_whose_tail_was_cut_goes_on_and_is_found_out(
    store: Store, clock: FixedClock, tampering: Tampering
) -> None:
    await fill(store, clock)
    await tampering.run("DELETE FROM audit WHERE sequence > 4")
    await fill(store, clock, 1)
    assert "sequence 5 was due" in str((await store.verify_audit()).broken)


async def test_a_payload_that_is_no_json_reaches_only_its_caller(store: Store, clock: FixedClock) -> None:
    results = await asyncio.gather(
        store.append_audit("policy", "default", {"bad": object()}),
        store.record(decision(clock)),
        return_exceptions=True,
    )
    assert isinstance(results[0], StoreUnavailable)
    assert not isinstance(results[1], BaseException)
    assert (await store.verify_audit()).is_intact


@pytest.mark.parametrize("rows", [1001])
async def test_an_audit_longer_than_a_page_is_read_to_its_end(store: Store, rows: int) -> None:
    await asyncio.gather(*(store.append_audit("sign-in", f"user {number}", {}) for number in range(rows)))
    report = await store.verify_audit()
    assert (report.rows, report.broken) == (rows + 1, None)


async def test_an_opening_row_that_was_tampered_with_does_not_stop_the_next_process(
    store: Store, database_url: str, clock: FixedClock, tampering: Tampering
) -> None:
    await fill(store, clock, 1)
    await tampering.run("UPDATE audit SET payload = 'nonsense' WHERE kind = 'writer'")
    other = await open_store(database_url, FixedClock(stream=7))
    await other.append_audit("sign-in", "ada", {})
    await other.close()
    assert str((await store.verify_audit()).broken).startswith("row 1 ")
