from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from mithril_proxy.errors import NotFound, StoreUnavailable
from mithril_proxy.store import Store
from mithril_proxy.store.interface import Outcome, Page, QuarantineFilter
from mithril_proxy.types import Status
from tests.store.conftest import Tampering
from tests.store.values import BAD, GOOD, PLANTED, SLACK, FixedClock, decision, held_write


async def test_a_recorded_decision_is_found_with_every_signal_and_finding(store: Store, clock: FixedClock) -> None:
    made = decision(clock, findings=(PLANTED,))
    recorded = await store.record(made, step=GOOD)
    found = await store.decision(made.id)
    assert recorded.quarantine_id is None
    assert (found["id"], found["at"], found["status"]) == (made.id, "2026-12-01T12:00:00.000000Z", "warn")
    assert found["findings"][0]["rule"] == "redact.jwt"
    assert found["reasons"] == ["redact.jwt"]
    assert found["contributions"] == [["source_reputation", 0.6, 0.4], ["freshness", 1.0, 0.05]]
    assert found["stage_ms"] == {"redact": 0.123, "contradiction": 1.5}
    assert (found["principal"], found["session"], found["dataset"], found["peer"]) == (
        "slack",
        "s1",
        "notes",
        "192.0.2.7",
    )
    assert (found["score"], found["raw"], found["is_authenticated"]) == (0.552, 0.29, True)


async def test_decision_held_write_reputation_and_audit_stand_together(store: Store, clock: FixedClock) -> None:
    made = decision(clock, status=Status.QUARANTINE)
    recorded = await store.record(made, held=held_write(made), step=BAD)
    assert recorded.reputation == pytest.approx(0.468)
    assert recorded.quarantine_id is not None
    entry = await store.held(recorded.quarantine_id)
    rows = await store.audit()
    assert (await store.decision(made.id))["quarantine_id"] == entry.id
    assert [row.kind for row in rows] == ["writer", "decision"]
    assert rows[1].payload["quarantine_id"] == entry.id
    assert rows[1].payload["reputation"] == {"before": 0.6, "after": pytest.approx(0.468)}
    assert [event.decision_id for event in await store.reputation_events("slack", Page())] == [made.id]


async def test_a_decision_that_is_refused_leaves_nothing_behind(store: Store, clock: FixedClock) -> None:
    made = decision(clock, status=Status.QUARANTINE)
    await store.record(made, held=held_write(made), step=BAD)
    with pytest.raises(StoreUnavailable, match="refuses the row"):
        await store.record(made, held=held_write(made), step=BAD)
    assert len(await store.quarantine(Page(), QuarantineFilter())) == 1
    assert len(await store.reputation_events("slack", Page())) == 1
    assert (await store.verify_audit()).is_intact


async def test_an_outcome_marks_the_decision_and_is_audited(store: Store, clock: FixedClock) -> None:
    made = decision(clock)
    await store.record(made)
    clock.advance(seconds=2)
    await store.record_outcome(made.id, Outcome("forwarded", 200, {"data_id": "d1"}))
    found = await store.decision(made.id)
    assert (found["outcome"], found["outcome_http_status"]) == ("forwarded", 200)
    assert found["outcome_at"] == "2026-12-01T12:00:02.000000Z"
    last = (await store.audit())[-1]
    assert (last.kind, last.subject, last.payload["detail"]) == ("outcome", made.id, {"data_id": "d1"})


async def test_decisions_are_paged_newest_first_and_narrowed(store: Store, clock: FixedClock) -> None:
    made = [decision(clock, status=status) for status in (Status.WARN, Status.REJECT, Status.WARN)]
    for one in made:
        await store.record(one)
    first = await store.decisions(Page(limit=2))
    rest = await store.decisions(Page(limit=2, before=first[-1]["id"]))
    assert [row["id"] for row in (*first, *rest)] == [one.id for one in reversed(made)]
    assert [row["id"] for row in await store.decisions(Page(), status=Status.REJECT)] == [made[1].id]
    assert len(await store.decisions(Page(), source="slack")) == 3
    assert await store.decisions(Page(), source="email") == []


async def test_an_unknown_decision_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound, match="dec_none"):
        await store.decision("dec_none")


@pytest.mark.parametrize("text", ["nul \x00 here", "lone \ud800 surrogate", "beyond \U0001f600 the plane", ""])
async def test_text_that_a_database_cannot_hold_is_kept_in_what_will_be_forwarded(
    store: Store, clock: FixedClock, text: str
) -> None:
    made = decision(clock, text, status=Status.REVIEW)
    recorded = await store.record(made, held=held_write(made, text))
    entry = await store.held(recorded.quarantine_id or "")
    assert entry.prepared["fields"] == [["data", text]]
    assert entry.text == text.replace("\x00", "\ufffd").replace("\ud800", "\ufffd")
    assert entry.context[0].text == "the build is red"


async def test_names_from_clients_cannot_break_a_row(store: Store, clock: FixedClock) -> None:
    hostile = replace(SLACK, session="\x00\udcff", dataset="'; DROP TABLE audit; --", principal="unknown-agent:\x00")
    made = decision(clock, provenance=hostile)
    await store.record(made, step=GOOD)
    assert await store.reputation_of(hostile) == pytest.approx(0.64)
    assert (await store.decision(made.id))["dataset"] == "'; DROP TABLE audit; --"
    await store.append_audit("refused", "req_\ud800", {"path": "/\udcff", "reason": "\x00"})
    assert (await store.verify_audit()).is_intact


async def test_many_rows_at_once_keep_their_order(store: Store, clock: FixedClock, tampering: Tampering) -> None:
    made = [decision(clock, f"claim {number}") for number in range(300)]
    await asyncio.gather(*(store.record(one, step=GOOD) for one in made))
    rows = await tampering.run("SELECT subject FROM audit WHERE kind = 'decision' ORDER BY id")
    assert [row[0] for row in rows] == [one.id for one in made]
    assert (await store.source("slack")).decisions == 300
