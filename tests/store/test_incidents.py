from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from mithril_proxy.store import IncidentRules, Store, open_store
from mithril_proxy.store.incidents import ADVICE, SEVERITY, is_collapse
from mithril_proxy.types import Finding, Provenance, Signals, Status
from tests.store.conftest import Tampering
from tests.store.values import BAD, GOOD, PLANTED, SLACK, START, FixedClock, decision

RULES = IncidentRules()
FORGED = Finding("provenance", "provenance.forged-tag", "clm_1", 0.5, "node_set: verified")
NO_JUDGE = Finding("contradiction", "judge.unavailable", "clm_1", 0.6, "timeout")
NO_REDACTION = Finding("redact", "redact.unavailable", "clm_1", 0.6, "RuntimeError")


async def kinds(store: Store) -> list[str]:
    return [incident.kind for incident in await store.incidents()]


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        ({}, []),
        ({"findings": (PLANTED, PLANTED)}, ["planted-credential"]),
        ({"findings": (FORGED,)}, ["forged-tag"]),
        ({"findings": (NO_JUDGE,)}, ["unavailable-evidence"]),
        ({"findings": (NO_REDACTION,)}, ["unavailable-evidence"]),
        ({"signals": Signals(source_reputation=0.8, contradiction=0.31)}, ["trusted-contradiction"]),
        ({"signals": Signals(source_reputation=0.8, contradiction=0.30)}, []),
        ({"signals": Signals(source_reputation=0.79, contradiction=0.9)}, []),
        ({"findings": (PLANTED, FORGED, NO_JUDGE)}, ["unavailable-evidence", "forged-tag", "planted-credential"]),
    ],
)
async def test_a_decision_is_an_incident_when_its_evidence_says_so(
    store: Store, clock: FixedClock, over: dict[str, Any], expected: list[str]
) -> None:
    await store.record(decision(clock, **over))
    assert await kinds(store) == expected


async def test_an_incident_says_what_happened_and_what_to_do(store: Store, clock: FixedClock) -> None:
    made = decision(clock, findings=(PLANTED, PLANTED))
    await store.record(made)
    (incident,) = await store.incidents()
    assert (incident.at, incident.severity, incident.source, incident.decision_id) == (START, "high", "slack", made.id)
    assert incident.summary == "2 credential(s) planted through /api/v1/remember"
    assert incident.advice == ADVICE["planted-credential"]
    assert incident.occurrences == 1


def test_every_kind_has_a_severity_and_advice() -> None:
    assert set(ADVICE) == set(SEVERITY)
    assert set(SEVERITY.values()) <= {"low", "medium", "high"}


async def test_a_flood_of_one_kind_is_counted_in_one_row_a_minute(store: Store, clock: FixedClock) -> None:
    for _ in range(3):
        await store.append_audit(
            "refused", "req_1", {"method": "DELETE", "path": "/api/v1/datasets", "reason": "denied"}
        )
    (incident,) = await store.incidents()
    assert (incident.kind, incident.source, incident.occurrences) == ("bypass-attempt", "unknown-agent", 3)
    assert incident.summary == "refused DELETE /api/v1/datasets: denied"
    clock.advance(minutes=1)
    await store.append_audit("refused", "req_2", {"source": "slack", "principal": "slack"})
    await store.append_audit("refused", "req_3", {"source": "slack", "principal": "slack"})
    assert [(one.source, one.occurrences) for one in await store.incidents()] == [("slack", 2), ("unknown-agent", 3)]


async def test_planted_credentials_are_never_counted_together(store: Store, clock: FixedClock) -> None:
    for _ in range(3):
        await store.record(decision(clock, findings=(PLANTED,)))
    assert await kinds(store) == ["planted-credential"] * 3


async def test_other_audit_rows_are_no_incident(store: Store) -> None:
    await store.append_audit("sign-in", "ada", {})
    assert await store.incidents() == []


async def test_a_burst_of_diverted_claims_is_one_incident(database_url: str, clock: FixedClock) -> None:
    store = await open_store(database_url, clock, incident_rules=IncidentRules(burst_diverted_a_minute=5))
    for _ in range(4):
        await store.record(decision(clock, status=Status.REVIEW))
    await store.record(decision(clock, status=Status.WARN))
    clock.advance(minutes=1)
    for _ in range(4):
        await store.record(decision(clock, status=Status.REVIEW))
    assert await kinds(store) == []
    for _ in range(3):
        await store.record(decision(clock, status=Status.REJECT))
    (incident,) = await store.incidents()
    assert (incident.kind, incident.occurrences) == ("burst", 1)
    await store.close()


@pytest.mark.parametrize(
    ("prior", "before", "after", "collapsed"),
    [
        (0.60, 0.468, 0.365, True),
        (0.60, 0.60, 0.468, False),
        (0.60, 0.365, 0.285, False),
        (0.60, 0.40, 0.312, True),
        (0.60, 0.50, 0.40, False),
        (0.30, 0.45, 0.35, False),
        (0.30, 0.60, 0.35, True),
    ],
)
def test_a_collapse_is_the_step_below_the_line_of_a_source_that_was_good(
    prior: float, before: float, after: float, collapsed: bool
) -> None:
    assert is_collapse(prior, after, before, RULES) == collapsed


async def test_a_reputation_that_collapses_is_one_incident(store: Store, clock: FixedClock) -> None:
    for _ in range(5):
        await store.record(decision(clock, status=Status.QUARANTINE), step=BAD)
    (incident,) = await store.incidents()
    assert incident.kind == "reputation-collapse"
    assert incident.summary == "reputation fell below the line: 0.468 to 0.365"


async def test_incidents_are_followed_and_narrowed_by_time(store: Store, clock: FixedClock) -> None:
    for _ in range(3):
        await store.record(decision(clock, findings=(PLANTED,)), step=GOOD)
        clock.advance(hours=1)
    newest, middle, oldest = await store.incidents()
    assert newest.at > middle.at > oldest.at
    assert await store.incidents(limit=1) == [newest]
    assert await store.incidents(since=START + timedelta(hours=1)) == [newest, middle]
    assert await store.incidents(after=oldest.id) == [middle, newest]


async def test_the_view_is_a_supported_interface(store: Store, clock: FixedClock, tampering: Tampering) -> None:
    unknown = Provenance("unknown-agent:7", "unknown-agent", 0.3)
    await store.record(decision(clock, findings=(PLANTED,), provenance=unknown))
    (row,) = await tampering.run("SELECT * FROM incidents")
    assert row[:4] == ("2026-12-01T12:00:00.000000Z", "planted-credential", "high", "unknown-agent")


async def test_words_of_clients_in_an_incident_are_made_storable(store: Store, clock: FixedClock) -> None:
    odd = replace(SLACK, source="s\ud800", principal="p\x00")
    await store.record(decision(clock, findings=(FORGED,), provenance=odd))
    (incident,) = await store.incidents()
    assert incident.source == "s\ufffd"
