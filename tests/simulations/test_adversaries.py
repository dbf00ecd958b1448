"""Adversaries that play the reputation: each test states the bound that it shows."""

from __future__ import annotations

import itertools

import pytest

from mithril_proxy.types import Provenance, Status
from tests.chain.decisions import DEFAULT, decide, says, with_reputation
from tests.simulations.world import World, named, unknown

REPUTATIONS = [step / 100 for step in range(5, 100)]
CORROBORATIONS = [0.0, 0.1, 0.2, 0.3]
LIE = "The signing key was moved to vault seven."
WORDINGS = (
    LIE,
    "Since Monday vault seven is where the signing key lies.",
    "Ops notes: key for signing -> vault 7, moved this week.",
    "We relocated our signing key; look for it in the seventh vault.",
)


def test_on_off_two_hundred_good_writes_then_one_attack_is_never_admitted() -> None:
    """Bound: at any reputation, no claim whose danger counts is admitted with fewer than three independent voices for
    it; from danger 0.59 on, and with any contradiction found, none at all."""
    world, traitor = World(), named("docs", 0.85)
    for number in range(200):
        assert world.write(traitor, f"fact {number * 7919}").status.is_admitted
    assert world.reputation(traitor) == 0.99
    attacks = [world.write(traitor, "attack", danger=danger) for danger in (0.51, 0.6, 0.8, 0.95)]
    attacks.append(world.write(traitor, "lie", contradiction=0.31))
    assert not any(attack.status.is_admitted for attack in attacks)


@pytest.mark.parametrize("reputation", REPUTATIONS)
def test_on_off_no_reputation_outvotes_danger_or_contradiction(reputation: float) -> None:
    for corroboration, percent in itertools.product(CORROBORATIONS, range(51, 101)):
        claim = says(reputation, corroboration=corroboration, content_danger=percent / 100)
        if corroboration <= 0.1 or percent >= 59:
            assert not decide(claim).status.is_admitted
    for corroboration, percent in itertools.product(CORROBORATIONS, range(31, 101)):
        claim = says(reputation, corroboration=corroboration, contradiction=percent / 100)
        assert not decide(claim).status.is_admitted


def test_on_off_one_attack_costs_more_than_ten_good_writes_earn() -> None:
    """Bound: from the ceiling one blocked attack takes 0.218, and regaining 95 % of it takes 25 good writes."""
    world, traitor = World(), named("docs", 0.99)
    world.write(traitor, "attack", danger=0.9)
    lost = 0.99 - world.reputation(traitor)
    assert lost == pytest.approx(0.2178)
    writes = 0
    while writes < 100 and world.reputation(traitor) < 0.99 - 0.05 * lost:
        world.write(traitor, f"fact {writes * 7919}")
        writes += 1
    assert writes == 25


def test_whitewashing_a_hundred_fresh_identities_get_nothing_admitted() -> None:
    """Bound: a fresh identity scores at most 0.467, fully corroborated, its judge blind (warn: 0.60)."""
    world = World()
    for number, text in enumerate((*WORDINGS[1:], "Vault seven has it now, that key we sign with.")):
        world.verify("lie", text, f"duped-{number}")
    scores = [world.write(unknown(bucket), LIE, fact="lie").trust.score for bucket in range(100)]
    assert world.admitted == 0
    assert max(scores) == pytest.approx(0.46667, abs=1e-4)


def test_whitewashing_a_new_identity_is_worth_no_more_than_the_one_it_replaces_ever_was() -> None:
    world = World()
    burnt = unknown(0)
    for _ in range(5):
        world.write(burnt, "attack", danger=0.9)
    fresh = world.write(unknown(1), "attack again")
    assert fresh.status is Status.QUARANTINE
    assert world.reputation(burnt) < world.reputation(unknown(2)) == DEFAULT.reputation.unknown_prior


@pytest.mark.parametrize("k", [3, 10, 50])
def test_sybils_of_no_name_never_make_each_other_true(k: int) -> None:
    """Bound: nothing of k unknown writers is admitted, so nothing of them ever corroborates: 0 of k, for every k."""
    world = World()
    for _ in range(2):
        for bucket in range(k):
            world.write(unknown(bucket), WORDINGS[bucket % 4], fact="lie")
    assert world.admitted == 0
    assert world.verified == []


@pytest.mark.parametrize("k", [3, 10, 50])
def test_sybils_with_names_of_middling_trust_never_make_each_other_true(k: int) -> None:
    """Bound: sources that alone are reviewed stay reviewed, however many say the same in however different words."""
    world = World()
    for _ in range(2):
        for number in range(k):
            world.write(named(f"bot-{number}", 0.60), WORDINGS[number % 4], fact="lie")
    assert world.statuses == {Status.REVIEW: 2 * k}


@pytest.mark.parametrize("k", [3, 10, 50])
def test_sybils_behind_one_trusted_traitor_are_one_voice(k: int) -> None:
    """Bound: with one trusted source captured, its lie in any number of wordings corroborates nothing for k Sybils."""
    world, traitor = World(), named("docs", 0.98)
    for text in WORDINGS:
        assert world.write(traitor, text, fact="lie").status is Status.WARN
    for number in range(k):
        decision = world.write(named(f"bot-{number}", 0.60), WORDINGS[number % 4], fact="lie")
        assert decision.status is Status.REVIEW
        assert decision.signals.corroboration == 0.0


@pytest.mark.parametrize("k", [3, 10, 50])
def test_sybils_that_copy_one_text_under_trusted_names_are_one_voice(k: int) -> None:
    """Bound: k copies under k trusted names give no corroboration; nor do k names of one lineage in other words."""
    copies = World()
    for number in range(k):
        decision = copies.write(named(f"docs-{number}", 0.98), f"({number}) {LIE}", fact="lie")
        assert decision.signals.corroboration == 0.0
    lineage = World(lineages={f"docs-{number}": "docs" for number in range(k)})
    for number in range(k):
        decision = lineage.write(named(f"docs-{number}", 0.98), WORDINGS[number % 4], fact="lie")
        assert decision.signals.corroboration == 0.0


KNOWN = (
    ("The office is in Berlin.", "handbook"),
    ("Berlin is the city where our headquarters stand.", "wiki"),
    ("Company seat: Berlin, since 2011.", "register"),
)


def knowing_world(reward: str = "admitted") -> World:
    world = World(policy=with_reputation(reward=reward))
    for text, source in KNOWN:
        world.verify("seat", text, source)
    return world


def test_farming_by_repeating_known_facts_earns_nothing() -> None:
    """Bound: copies of verified memory leave a reputation where it was; without that rule two writes of a 0.60 source
    are enough to be admitted alone (from 0.6625 on)."""
    world, farmer = knowing_world(), named("slack", 0.60)
    for number in range(100):
        world.write(farmer, KNOWN[number % 3][0], fact="seat")
    assert world.admitted > 0
    assert world.reputation(farmer) == 0.60
    assert world.write(farmer, "something of its own").status is Status.REVIEW


@pytest.mark.parametrize(("reward", "reached"), [("admitted", 0.676), ("own-merit", 0.60)])
def test_farming_by_rewording_known_facts_earns_by_the_seeds_rule_and_nothing_by_own_merit(
    reward: str, reached: float
) -> None:
    """Bound: with reward = "own-merit" what others' agreement carried earns nothing, so rewording is worthless too."""
    world, farmer = knowing_world(reward), named("slack", 0.60)
    for text in ("Our people work from a Berlin address.", "You find the firm at the Spree, in Berlin."):
        assert world.write(farmer, text, fact="seat").status.is_admitted
    assert world.reputation(farmer) == pytest.approx(reached)


def test_reputation_denial_an_unproven_writer_never_moves_a_name() -> None:
    """Bound: a thousand bad writes by whoever cannot prove the name leave the name's reputation at its value."""
    world, victim = World(), named("docs", 0.85)
    forged = Provenance("docs", "docs", 0.85, is_authenticated=False)
    for number in range(1000):
        world.write(forged if number % 2 else unknown(number), "attack", "redact.jwt", danger=0.95, contradiction=0.9)
    assert world.reputation(victim) == 0.85
    assert world.write(victim, "an honest fact").status is Status.WARN
