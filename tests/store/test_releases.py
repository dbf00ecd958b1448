from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from mithril_proxy.errors import InvalidTransition, NotFound
from mithril_proxy.store import Store
from mithril_proxy.store.interface import Correction, Outcome, Page, QuarantineFilter
from mithril_proxy.types import ReviewState
from tests.store.test_held import hold
from tests.store.values import BAD, GOOD, SLACK, FixedClock, decision

FORWARDED = Outcome("forwarded", 200)
REFUSED = Outcome("upstream_error", 500)


async def test_a_release_is_an_intent_then_an_outcome(store: Store, clock: FixedClock) -> None:
    held = await hold(store, clock)
    release = await store.begin_release(held, reviewer="ada", reason="it is true")
    assert (release.entry.state, release.attempt) == (ReviewState.RELEASING, 1)
    assert release.entry.prepared["fields"] == [["data", "the build is green"]]
    entry = await store.finish_release(release, FORWARDED, step=GOOD)
    assert (entry.state, entry.reviewer, entry.review_reason) == (ReviewState.RELEASED, "ada", "it is true")
    assert await store.reputation_of(SLACK) == pytest.approx(0.64)
    rows = [row for row in await store.audit() if row.kind == "release"]
    assert [row.payload["to"] for row in rows] == ["releasing", "released"]
    assert {row.payload["key"] for row in rows} == {release.key}
    assert rows[1].payload["outcome"] == "forwarded"


async def test_exactly_one_caller_may_forward(store: Store, clock: FixedClock) -> None:
    held = await hold(store, clock)
    attempts = (store.begin_release(held, reviewer=f"r{i}", reason="go") for i in range(8))
    results = await asyncio.gather(*attempts, return_exceptions=True)
    assert sum(not isinstance(result, InvalidTransition) for result in results) == 1


async def test_nobody_can_reject_what_is_being_forwarded(store: Store, clock: FixedClock) -> None:
    held = await hold(store, clock)
    await store.begin_release(held, reviewer="ada", reason="go")
    with pytest.raises(InvalidTransition):
        await store.review(held, ReviewState.REJECTED, reviewer="eve", reason="no")


async def test_a_release_whose_holder_died_is_taken_over_under_the_same_key(store: Store, clock: FixedClock) -> None:
    held = await hold(store, clock)
    first = await store.begin_release(held, reviewer="ada", reason="go", lease_s=60)
    assert await store.lapsed_releases() == []
    clock.advance(seconds=60)
    assert [entry.id for entry in await store.lapsed_releases()] == [held]
    second = await store.begin_release(held, reviewer="mithril", reason="taken over", lease_s=60)
    assert (second.key, second.attempt) == (first.key, 2)
    assert await store.lapsed_releases() == []
    assert (await store.finish_release(second, FORWARDED)).state is ReviewState.RELEASED


async def test_the_outcome_counts_once_however_many_report_it(store: Store, clock: FixedClock) -> None:
    held = await hold(store, clock)
    first = await store.begin_release(held, reviewer="ada", reason="go", lease_s=60)
    clock.advance(seconds=61)
    second = await store.begin_release(held, reviewer="mithril", reason="taken over")
    await store.finish_release(first, FORWARDED, step=GOOD)
    await store.finish_release(second, FORWARDED, step=GOOD)
    assert await store.reputation_of(SLACK) == pytest.approx(0.64)
    assert [row.payload["to"] for row in await store.audit() if row.kind == "release"].count("released") == 1


async def test_a_forward_that_the_upstream_refused_waits_again_and_keeps_its_key(
    store: Store, clock: FixedClock
) -> None:
    held = await hold(store, clock)
    first = await store.begin_release(held, reviewer="ada", reason="go")
    entry = await store.abandon_release(first, REFUSED)
    assert entry.state is ReviewState.PENDING
    second = await store.begin_release(held, reviewer="ada", reason="again")
    assert (second.key, second.attempt) == (first.key, 2)


async def test_an_attempt_that_lost_its_lease_cannot_put_the_claim_back(store: Store, clock: FixedClock) -> None:
    held = await hold(store, clock)
    first = await store.begin_release(held, reviewer="ada", reason="go", lease_s=1)
    clock.advance(seconds=2)
    second = await store.begin_release(held, reviewer="mithril", reason="taken over")
    with pytest.raises(InvalidTransition, match="later attempt"):
        await store.abandon_release(first, REFUSED)
    await store.finish_release(second, FORWARDED)
    with pytest.raises(InvalidTransition):
        await store.abandon_release(second, REFUSED)


async def test_an_outcome_under_a_foreign_key_is_refused(store: Store, clock: FixedClock) -> None:
    one = await store.begin_release(await hold(store, clock, "one"), reviewer="ada", reason="go")
    two = await store.begin_release(await hold(store, clock, "two"), reviewer="ada", reason="go")
    with pytest.raises(InvalidTransition, match="key"):
        await store.finish_release(replace(one, key=two.key), FORWARDED)
    with pytest.raises(NotFound):
        await store.finish_release(replace(one, entry=replace(one.entry, id="qua_none")), FORWARDED)


async def test_a_late_success_stands_even_when_the_claim_was_put_back(store: Store, clock: FixedClock) -> None:
    held = await hold(store, clock)
    release = await store.begin_release(held, reviewer="ada", reason="go")
    await store.abandon_release(release, Outcome("timeout"))
    assert (await store.finish_release(release, FORWARDED)).state is ReviewState.RELEASED


async def test_a_corrected_text_is_what_will_be_forwarded(store: Store, clock: FixedClock) -> None:
    held = await hold(store, clock)
    correction = Correction("the build is blue", {"fields": [["data", "the build is blue"]]})
    release = await store.begin_release(held, reviewer="ada", reason="typo", correction=correction)
    assert (release.entry.text, release.entry.prepared) == (correction.text, correction.prepared)
    assert (await store.held(held)).text == "the build is blue"
    assert (await store.audit())[-1].payload["is_corrected"] is True


async def test_a_grant_lets_the_same_text_of_the_same_principal_pass_once(store: Store, clock: FixedClock) -> None:
    held = await hold(store, clock)
    entry = await store.grant(held, reviewer="ada", reason="send it again", step=GOOD)
    digest = decision(clock).claim_digest
    assert entry.state is ReviewState.RELEASED
    found = await store.find_grant("slack", digest)
    assert found is not None
    assert found.id == held
    assert await store.find_grant("email", digest) is None
    assert await store.find_grant("slack", "00" * 32) is None
    spent = await asyncio.gather(
        *(store.use_grant(held, f"dec_{number}") for number in range(5)), return_exceptions=True
    )
    assert sum(result is None for result in spent) == 1
    assert await store.find_grant("slack", digest) is None


async def test_a_grant_that_is_taken_back_opens_nothing(store: Store, clock: FixedClock) -> None:
    held = await hold(store, clock)
    await store.grant(held, reviewer="ada", reason="send it again")
    await store.reconsider(held, ReviewState.REJECTED, reviewer="ada", reason="better not", step=BAD)
    assert await store.find_grant("slack", decision(clock).claim_digest) is None
    with pytest.raises(InvalidTransition, match="no unused grant"):
        await store.use_grant(held, "dec_1")


async def test_a_released_claim_is_no_grant(store: Store, clock: FixedClock) -> None:
    held = await hold(store, clock)
    await store.review(held, ReviewState.RELEASED, reviewer="ada", reason="fine")
    assert await store.find_grant("slack", decision(clock).claim_digest) is None
    assert await store.quarantine(Page(), QuarantineFilter()) == []


async def test_a_claim_opened_again_is_released_under_a_new_key(store: Store, clock: FixedClock) -> None:
    held = await hold(store, clock)
    first = await store.begin_release(held, reviewer="ada", reason="go")
    await store.finish_release(first, FORWARDED)
    await store.reconsider(held, ReviewState.REJECTED, reviewer="ada", reason="withdrawn upstream")
    await store.reconsider(held, ReviewState.PENDING, reviewer="ada", reason="look again")
    second = await store.begin_release(held, reviewer="ada", reason="it was right")
    assert second.key != first.key
    assert (await store.finish_release(second, FORWARDED)).state is ReviewState.RELEASED
    assert (await store.verify_audit()).is_intact
