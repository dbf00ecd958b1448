"""The way of an honest newcomer: thirty harmless writes that nobody corroborates, under each penalty rule."""

from __future__ import annotations

import pytest

from mithril_proxy.policy import Policy
from mithril_proxy.types import Status
from tests.chain.decisions import DEFAULT, with_reputation
from tests.simulations.world import World, unknown

SEED = with_reputation(blameless_floor=0.0)
EVIDENCE = with_reputation(penalise="evidence")
NEWCOMER = unknown(1)


def after_harmless_writes(policy: Policy, writes: int = 30) -> World:
    world = World(policy=policy)
    for number in range(writes):
        world.write(NEWCOMER, f"harmless fact {number * 7919}", "reputation.probation")
    return world


@pytest.mark.parametrize(
    ("policy", "reputation", "rejected"),
    [(SEED, 0.05, 26), (DEFAULT, 0.18252, 0), (EVIDENCE, 0.30, 0)],
    ids=["every quarantine is penalised", "down to the blameless floor (default)", "evidence only"],
)
def test_an_honest_newcomer_is_not_ground_to_the_floor(policy: Policy, reputation: float, rejected: int) -> None:
    """Bound: by default two writes cost trust and then none; every write still reaches a reviewer (never reject).
    Under the seed's rule alone the fifth and every later harmless write is refused."""
    world = after_harmless_writes(policy)
    assert world.reputation(NEWCOMER) == pytest.approx(reputation)
    assert world.statuses[Status.REJECT] == rejected
    assert world.admitted == 0


def releases_until_admitted(policy: Policy, *, takes_blame_back: bool) -> int | None:
    """How many releases in a row an honest newcomer needs to be admitted by itself; None when 100 are not enough."""
    world = World(policy=policy)
    for released in range(100):
        before = world.reputation(NEWCOMER)
        if world.write(NEWCOMER, f"harmless fact {released * 104729}").status.is_admitted:
            return released
        was_blamed = takes_blame_back and world.reputation(NEWCOMER) < before
        world.release(NEWCOMER, was_blamed=was_blamed)
    return None


@pytest.mark.parametrize(
    ("policy", "takes_blame_back", "releases"),
    [(SEED, False, None), (DEFAULT, False, None), (SEED, True, 7), (DEFAULT, True, 7), (EVIDENCE, False, 7)],
)
def test_releases_carry_a_newcomer_to_admission_only_when_quarantines_without_evidence_cost_nothing_in_the_end(
    policy: Policy, takes_blame_back: bool, releases: int | None
) -> None:
    """Bound: seven releases, when the release takes the quarantine's blame back or when only evidence is penalised;
    when every quarantine costs and no release repairs it, never: r = 0.78 r + 0.1 (1 - 0.78 r) settles at 0.336."""
    assert releases_until_admitted(policy, takes_blame_back=takes_blame_back) == releases


@pytest.mark.parametrize("policy", [SEED, DEFAULT, EVIDENCE])
def test_a_dishonest_newcomer_falls_to_the_floor_under_every_rule(policy: Policy) -> None:
    world = World(policy=policy)
    for _ in range(30):
        world.write(NEWCOMER, "attack", danger=0.9)
    assert world.reputation(NEWCOMER) == policy.reputation.floor
