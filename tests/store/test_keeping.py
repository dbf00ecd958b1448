"""What becomes of held claims beside a review: proposals, re-evaluation, expiry, and the end of their text."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mithril_proxy.errors import InvalidTransition, NotFound
from mithril_proxy.policy import QuarantineRule
from mithril_proxy.store.desk import DeskStore
from mithril_proxy.store.interface import Page, QuarantineFilter
from mithril_proxy.types import Finding, ReviewState, Status
from mithril_proxy.upkeep import Kept, keep_quarantine
from tests.store.values import START, FixedClock, decision, held_write

UNAVAILABLE = Finding("contradiction", "judge.unavailable", "clm_1", 0.6, "timeout")


async def hold(store: DeskStore, clock: FixedClock, *findings: Finding) -> str:
    made = decision(clock, status=Status.REVIEW, findings=findings)
    recorded = await store.record(made, held=held_write(made))
    assert recorded.quarantine_id is not None
    return recorded.quarantine_id


async def test_a_proposal_is_kept_until_another_or_a_review_takes_its_place(
    store: DeskStore, clock: FixedClock
) -> None:
    held = await hold(store, clock)
    assert await store.proposal(held) is None
    first = await store.propose_release(held, reviewer="ines", reason="fine", text=None)
    clock.advance(minutes=5)
    assert await store.propose_release(held, reviewer="ines", reason="still fine", text=None) == first
    second = await store.propose_release(held, reviewer="omar", reason="better", text="the build is blue")
    assert await store.proposal(held) == second
    await store.review(held, ReviewState.REJECTED, reviewer="ines", reason="no")
    assert await store.proposal(held) is None
    with pytest.raises(InvalidTransition, match="rejected"):
        await store.propose_release(held, reviewer="omar", reason="x", text=None)
    with pytest.raises(NotFound):
        await store.propose_release("none", reviewer="omar", reason="x", text=None)


async def test_claims_that_lacked_evidence_wait_for_it_until_it_was_complete_once(
    store: DeskStore, clock: FixedClock
) -> None:
    await hold(store, clock)
    lacking = [await hold(store, clock, UNAVAILABLE) for _ in range(3)]
    assert [entry.id for entry in await store.awaiting_evidence(2)] == lacking[:2]
    await store.mark_reevaluated(lacking[0], "dec_later")
    await store.review(lacking[1], ReviewState.REJECTED, reviewer="ines", reason="no")
    assert [entry.id for entry in await store.awaiting_evidence(10)] == lacking[2:]
    assert (await store.held(lacking[0])).reevaluation == "dec_later"


@pytest.mark.parametrize(
    ("rule", "kept", "pending"),
    [
        ({}, Kept(0, 0), 4),
        ({"expire_days": 30.0}, Kept(2, 0), 2),
        ({"max_entries": 3}, Kept(1, 0), 3),
        ({"max_entries": 4}, Kept(0, 0), 4),
        ({"expire_days": 30.0, "max_entries": 1}, Kept(3, 0), 1),
        ({"retention_days": 20.0}, Kept(0, 1), 4),
        ({"retention_days": 45.0}, Kept(0, 0), 4),
        ({"expire_days": 30.0, "retention_days": 20.0}, Kept(2, 3), 2),
    ],
)
async def test_the_quarantine_is_kept_as_the_policy_says(
    store: DeskStore, clock: FixedClock, rule: dict[str, float], kept: Kept, pending: int
) -> None:
    closed = await hold(store, clock)
    await store.propose_release(closed, reviewer="ines", reason="fine", text=None)
    await store.review(closed, ReviewState.REJECTED, reviewer="ines", reason="no")
    for days in (0, 10, 25, 5):  # four more, 40, 30, 5 and 0 days old in the end, the closed one 40
        clock.advance(days=days)
        await hold(store, clock)
    clock.advance(seconds=1)
    limits = QuarantineRule(**{"expire_days": 0.0, "retention_days": 0.0, "max_entries": 0, **rule})  # type: ignore[arg-type]
    assert await keep_quarantine(store, limits, clock) == kept
    assert (await store.queue_depth()).by_state.get("pending", 0) == pending
    assert (await store.verify_audit()).is_intact


async def test_what_is_forgotten_leaves_its_decision_and_its_audit(store: DeskStore, clock: FixedClock) -> None:
    held = await hold(store, clock)
    entry = await store.held(held)
    await store.review(held, ReviewState.REJECTED, reviewer="ines", reason="no")
    assert await store.forget_held(START) == 0
    assert await store.forget_held(START + timedelta(seconds=1)) == 1
    with pytest.raises(NotFound):
        await store.held(held)
    assert (await store.decision(entry.decision_id))["quarantine_id"] == held
    assert [row.kind for row in await store.audit_of(held)] == ["reject", "forget"]


async def test_expired_claims_say_why(store: DeskStore, clock: FixedClock) -> None:
    held = await hold(store, clock)
    assert await store.expire_surplus(5) == 1
    entry = await store.held(held)
    assert (entry.state, entry.reviewer) == (ReviewState.EXPIRED, "mithril")
    assert entry.review_reason == "too many claims are waiting; the oldest make room"
    assert await store.quarantine(Page(), QuarantineFilter()) == []
