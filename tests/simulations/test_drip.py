"""Slow drip: fifty steps of one per cent away from a verified value."""

from __future__ import annotations

from mithril_proxy.judge.local import LocalJudge
from mithril_proxy.types import Memory
from tests.chain.decisions import DEFAULT
from tests.simulations.world import World, named

ANCHOR = 900.0
STEPS = 50
FOUND_ABOVE = DEFAULT.contradiction.found_above


def sentence(value: float) -> str:
    return f"Audit logs are kept for {value:.1f} days."


def test_by_the_local_rules_fifty_steps_of_one_per_cent_end_where_they_began() -> None:
    """Bound: another number is a contradiction with the verified one, however near, so no step is admitted, no step
    becomes an anchor, and the value at the end is the verified one. The rules are a floor under any model."""
    judge = LocalJudge.load(DEFAULT.resolve(DEFAULT.judge.rules))
    world, source = World(), named("docs", 0.98)
    world.verify("retention", sentence(ANCHOR), "policy")
    value = ANCHOR
    for _ in range(STEPS):
        value *= 0.99
        context = tuple(memory for _, memory in world.verified)
        verdict = judge.verdict(sentence(value), context)
        decision = world.write(source, sentence(value), contradiction=verdict.contradiction)
        assert not decision.status.is_admitted
    assert [memory.text for _, memory in world.verified] == [sentence(ANCHOR)]


def tolerant(value: float, verified: list[float]) -> float:
    """A judge that calls small differences nuances: 0.1 a per cent, against the farthest verified value."""
    return min(1.0, max(abs(value / known - 1) * 10 for known in verified))


def test_with_a_judge_that_forgives_nuances_the_drift_stays_within_one_nuance_of_the_anchor() -> None:
    """Bound: the distance is measured from every verified value, the first one too: it never passes 3 per cent in all
    (0.1 a per cent, found above 0.3), where comparing with the last value alone would let 39 per cent pass."""
    world, source = World(), named("docs", 0.98)
    verified, value = [ANCHOR], ANCHOR
    for _ in range(STEPS):
        value *= 0.99
        decision = world.write(source, sentence(value), contradiction=tolerant(value, verified))
        if decision.status.is_admitted:
            verified.append(value)
    assert min(verified) >= ANCHOR * (1 - FOUND_ABOVE / 10)
    assert ANCHOR * 0.99**STEPS < ANCHOR * 0.61


def test_the_attempt_itself_costs_the_source_its_trust() -> None:
    """Bound: twelve contradicting steps take a source from 0.98 to the floor."""
    world, source = World(), named("docs", 0.98)
    steps = 0
    while steps < STEPS and world.reputation(source) > DEFAULT.reputation.floor:
        world.write(source, sentence(ANCHOR), contradiction=0.9)
        steps += 1
    assert steps == 12


def test_a_memory_is_an_anchor_only_once_it_is_verified() -> None:
    world = World()
    world.write(named("mail", 0.50), sentence(1.0))
    assert world.verified == []
    world.verify("retention", sentence(ANCHOR), "policy")
    assert world.verified[0][1] == Memory(sentence(ANCHOR), "policy")
