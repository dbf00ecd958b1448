from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from mithril_proxy.errors import InvalidTransition
from mithril_proxy.quarantine import check_move, check_reconsider, check_release, may_move, may_reconsider, may_release
from mithril_proxy.types import ReviewState

NOW = datetime(2026, 12, 1, tzinfo=UTC)
PENDING, RELEASING, RELEASED, REJECTED, EXPIRED = ReviewState

MOVES = {
    (PENDING, RELEASING),
    (PENDING, RELEASED),
    (PENDING, REJECTED),
    (PENDING, EXPIRED),
    (RELEASING, RELEASED),
    (RELEASING, PENDING),
}
CHANGES_OF_MIND = {
    (RELEASED, REJECTED),
    (REJECTED, PENDING),
    (REJECTED, RELEASED),
    (EXPIRED, PENDING),
    (EXPIRED, RELEASED),
    (EXPIRED, REJECTED),
}


@pytest.mark.parametrize(("before", "after"), list(product(ReviewState, ReviewState)))
def test_the_life_cycle_allows_these_steps_and_no_others(before: ReviewState, after: ReviewState) -> None:
    assert may_move(before, after) == ((before, after) in MOVES)
    assert may_reconsider(before, after) == ((before, after) in CHANGES_OF_MIND)


@pytest.mark.parametrize(
    ("state", "lease_until", "allowed"),
    [
        (PENDING, None, True),
        (RELEASING, NOW + timedelta(seconds=1), False),
        (RELEASING, NOW, True),
        (RELEASING, NOW - timedelta(days=1), True),
        (RELEASING, None, True),
        (RELEASED, None, False),
        (REJECTED, None, False),
        (EXPIRED, None, False),
    ],
)
def test_a_release_begins_when_the_claim_waits_or_its_lease_ran_out(
    state: ReviewState, lease_until: datetime | None, allowed: bool
) -> None:
    assert may_release(state, lease_until, NOW) == allowed
    if allowed:
        check_release(state, lease_until, NOW)
        return
    with pytest.raises(InvalidTransition):
        check_release(state, lease_until, NOW)


def test_a_refused_step_says_what_is_possible_instead() -> None:
    with pytest.raises(InvalidTransition, match="releasing cannot become rejected; it can become: pending, released"):
        check_move(RELEASING, REJECTED)
    with pytest.raises(InvalidTransition, match="released cannot become expired; it can become: rejected"):
        check_reconsider(RELEASED, EXPIRED)
    with pytest.raises(InvalidTransition, match="it can become: nothing"):
        check_move(RELEASED, REJECTED)


def test_a_live_lease_is_named_with_its_end() -> None:
    with pytest.raises(InvalidTransition, match="until 00:00:30 UTC"):
        check_release(RELEASING, NOW + timedelta(seconds=30), NOW)
