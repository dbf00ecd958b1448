from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from mithril_proxy.errors import InvalidTransition, NotFound
from mithril_proxy.store import Store
from mithril_proxy.store.interface import Page, QuarantineFilter
from mithril_proxy.types import Finding, ReviewState, Status
from tests.store.values import BAD, GOOD, PLANTED, SLACK, START, FixedClock, decision, held_write


async def hold(store: Store, clock: FixedClock, text: str = "the build is green", **over: Any) -> str:
    made = decision(clock, text, **{"status": Status.QUARANTINE, **over})
    recorded = await store.record(made, held=held_write(made, text))
    assert recorded.quarantine_id is not None
    return recorded.quarantine_id


def ids(entries: Any) -> list[str]:
    return [entry.id for entry in entries]


async def test_a_held_claim_keeps_all_that_a_reviewer_needs(store: Store, clock: FixedClock) -> None:
    entry = await store.held(await hold(store, clock, findings=(PLANTED,)))
    assert (entry.state, entry.status, entry.score) == (ReviewState.PENDING, Status.QUARANTINE, 0.552)
    assert (entry.source, entry.principal, entry.dataset, entry.route) == (
        "slack",
        "slack",
        "notes",
        "/api/v1/remember",
    )
    assert (entry.text, entry.reasons, entry.created_at) == ("the build is green", ("redact.jwt",), START)
    assert entry.prepared == {"route": "/api/v1/remember", "fields": [["data", "the build is green"]]}
    assert entry.context[0].source == "ci-pipeline"
    assert (entry.reviewed_at, entry.reviewer, entry.review_reason) == (None, None, None)


async def test_an_unknown_entry_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        await store.held("qua_none")
    with pytest.raises(NotFound):
        await store.review("qua_none", ReviewState.REJECTED, reviewer="ada", reason="none")


async def test_a_review_is_kept_with_reviewer_reason_audit_and_step(store: Store, clock: FixedClock) -> None:
    held = await hold(store, clock)
    clock.advance(minutes=5)
    entry = await store.review(held, ReviewState.REJECTED, reviewer="ada", reason="made up", step=BAD)
    assert (entry.state, entry.reviewer, entry.review_reason) == (ReviewState.REJECTED, "ada", "made up")
    assert entry.reviewed_at == START + timedelta(minutes=5)
    assert (await store.source("slack")).decisions == 1
    assert await store.reputation_of(SLACK) == pytest.approx(0.468)
    row = (await store.audit())[-1]
    assert (row.kind, row.subject, row.payload["from"], row.payload["to"]) == ("reject", held, "pending", "rejected")
    assert row.payload["reputation"] == {"before": 0.6, "after": pytest.approx(0.468)}


async def test_exactly_one_of_many_reviewers_wins(store: Store, clock: FixedClock) -> None:
    held = await hold(store, clock)
    states = [ReviewState.REJECTED, ReviewState.RELEASED] * 5
    results = await asyncio.gather(
        *(store.review(held, state, reviewer=f"r{i}", reason="mine", step=BAD) for i, state in enumerate(states)),
        return_exceptions=True,
    )
    winners = [result for result in results if not isinstance(result, InvalidTransition)]
    assert len(winners) == 1
    assert [row.kind for row in await store.audit()][2:] == ["reject"]
    assert len(await store.reputation_events("slack", Page())) == 1


async def test_a_reviewer_who_changes_their_mind_takes_the_first_lesson_back(store: Store, clock: FixedClock) -> None:
    held = await hold(store, clock)
    await store.review(held, ReviewState.REJECTED, reviewer="ada", reason="looked made up", step=BAD)
    entry = await store.reconsider(held, ReviewState.RELEASED, reviewer="ada", reason="it is true", step=GOOD)
    assert (entry.state, entry.review_reason) == (ReviewState.RELEASED, "it is true")
    assert await store.reputation_of(SLACK) == pytest.approx(0.64, abs=1e-9)
    again = await store.reconsider(held, ReviewState.REJECTED, reviewer="eve", reason="no, it is not")
    assert again.state is ReviewState.REJECTED
    assert await store.reputation_of(SLACK) == pytest.approx(0.6, abs=1e-9)


async def test_what_waits_cannot_be_reconsidered(store: Store, clock: FixedClock) -> None:
    held = await hold(store, clock)
    with pytest.raises(InvalidTransition):
        await store.reconsider(held, ReviewState.REJECTED, reviewer="ada", reason="first look")


async def test_held_claims_are_paged_newest_first(store: Store, clock: FixedClock) -> None:
    held = [await hold(store, clock, f"claim {number}") for number in range(5)]
    first = await store.quarantine(Page(limit=2), QuarantineFilter())
    rest = await store.quarantine(Page(limit=9, before=first[-1].id), QuarantineFilter())
    assert ids(first) + ids(rest) == list(reversed(held))


async def test_a_filter_narrows_by_each_of_its_fields(store: Store, clock: FixedClock) -> None:
    email = replace(SLACK, principal="email", source="email")
    plain = await hold(store, clock, "The deploy failed at 100%")
    other = await hold(store, clock, "salary_table", provenance=email, status=Status.REVIEW, findings=(PLANTED,))
    done = await hold(store, clock, "old news")
    await store.review(done, ReviewState.REJECTED, reviewer="ada", reason="old")
    rows = [
        (QuarantineFilter(), [other, plain]),
        (QuarantineFilter(state=None), [done, other, plain]),
        (QuarantineFilter(state=ReviewState.REJECTED), [done]),
        (QuarantineFilter(source="email"), [other]),
        (QuarantineFilter(status=Status.REVIEW), [other]),
        (QuarantineFilter(contains="DEPLOY"), [plain]),
        (QuarantineFilter(contains="100%"), [plain]),
        (QuarantineFilter(contains="salary%table"), []),
        (QuarantineFilter(contains="salary_t"), [other]),
        (QuarantineFilter(contains="deploy_failed"), []),
        (QuarantineFilter(reasons=("redact.jwt", "judge.unavailable")), [other]),
        (QuarantineFilter(reasons=("redact.jw",)), []),
        (QuarantineFilter(source="email", contains="deploy"), []),
    ]
    for where, expected in rows:
        assert ids(await store.quarantine(Page(), where)) == expected, where


async def test_duplicates_are_grouped_by_their_text(store: Store, clock: FixedClock) -> None:
    email = replace(SLACK, principal="email", source="email")
    first = await hold(store, clock, "buy now")
    clock.advance(hours=1)
    second = await hold(store, clock, "buy now", provenance=email)
    single = await hold(store, clock, "something else")
    newest, older = await store.held_groups(Page(), QuarantineFilter())
    assert (newest.newest_id, newest.entries, newest.principals) == (single, 1, 1)
    assert (older.newest_id, older.entries, older.principals) == (second, 2, 2)
    assert (older.first_at, older.last_at) == (START, START + timedelta(hours=1))
    assert older.claim_digest == (await store.decision((await store.held(first)).decision_id))["claim_digest"]
    assert [group.newest_id for group in await store.held_groups(Page(before=single), QuarantineFilter())] == [second]


async def test_what_waited_too_long_expires_oldest_first_and_only_while_pending(
    store: Store, clock: FixedClock
) -> None:
    old = [await hold(store, clock, f"claim {number}") for number in range(3)]
    reviewed = await hold(store, clock, "reviewed")
    await store.review(reviewed, ReviewState.RELEASED, reviewer="ada", reason="fine")
    clock.advance(days=30)
    fresh = await hold(store, clock, "fresh")
    assert await store.expire_held(START + timedelta(days=1), limit=2) == 2
    assert await store.expire_held(START + timedelta(days=1), limit=2) == 1
    assert await store.expire_held(START + timedelta(days=1)) == 0
    assert ids(await store.quarantine(Page(), QuarantineFilter(state=ReviewState.EXPIRED))) == list(reversed(old))
    assert (await store.held(fresh)).state is ReviewState.PENDING
    assert [row.subject for row in await store.audit() if row.kind == "expire"] == old


async def test_the_same_reason_twice_in_findings_is_one_reason(store: Store, clock: FixedClock) -> None:
    twice = (PLANTED, Finding("judge", "judge.instructions", "clm_1", 0.95), PLANTED)
    entry = await store.held(await hold(store, clock, findings=twice))
    assert entry.reasons == ("judge.instructions", "redact.jwt")
