"""How a decision moves a reputation: the seed's rule, and what is added to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mithril_proxy.chain.reputation_rule import has_evidence, reputation_step, review_step
from mithril_proxy.types import Decision, Provenance, ReviewState, Signals, Status
from tests.chain.decisions import DEFAULT, NAMED, UNKNOWN, decide, moved, says, with_reputation

EVIDENCE_ONLY = with_reputation(penalise="evidence")
OWN_MERIT = with_reputation(reward="own-merit")


def after(decision: Decision) -> float:
    return moved(decision.signals.source_reputation, reputation_step(decision, DEFAULT))


@pytest.mark.parametrize(
    ("signals", "rules", "status", "expected"),
    [
        (says(0.98), (), Status.WARN, 0.982),
        (says(0.98, corroboration=0.10), (), Status.ACCEPT, 0.982),
        (says(0.60), (), Status.REVIEW, 0.60),
        (says(0.30), (), Status.QUARANTINE, 0.234),
        (says(0.98, contradiction=0.30), (), Status.WARN, 0.982),
        (says(0.98, contradiction=0.31), (), Status.REVIEW, 0.7644),
        (says(0.98, contradiction=0.9), (), Status.REJECT, 0.7644),
        (says(0.98, content_danger=0.6), (), Status.REVIEW, 0.98),
        (says(0.98, content_danger=0.8), (), Status.QUARANTINE, 0.7644),
        (says(0.98), ("redact.github-token",), Status.WARN, 0.7644),
        (says(0.60), ("redact.github-token",), Status.REVIEW, 0.468),
        (says(0.98), ("redact.unavailable",), Status.REVIEW, 0.98),
        (says(0.98), ("judge.unavailable",), Status.REVIEW, 0.98),
        (says(0.98), ("judge.disagreement",), Status.REVIEW, 0.98),
        (says(0.98), ("judge.addressed",), Status.REVIEW, 0.98),
        (says(0.99), (), Status.WARN, 0.99),
        (says(0.05, content_danger=0.9), (), Status.REJECT, 0.05),
    ],
)
def test_good_and_bad_outcomes_move_a_reputation_and_reviews_do_not(
    signals: Signals, rules: tuple[str, ...], status: Status, expected: float
) -> None:
    decision = decide(signals, *rules)
    assert decision.status is status
    assert after(decision) == pytest.approx(expected)


def test_a_source_of_060_falls_to_0468_after_one_blocked_claim_and_to_0365_after_two() -> None:
    reputation, seen = 0.60, []
    for _ in range(2):
        reputation = after(decide(says(reputation, content_danger=0.9)))
        seen.append(round(reputation, 3))
    assert seen == [0.468, 0.365]


@pytest.mark.parametrize(
    ("signals", "rules", "expected"),
    [
        (says(0.30), (), False),
        (says(0.30, content_danger=0.5), (), False),
        (says(0.30, content_danger=0.51), (), True),
        (says(0.30, contradiction=0.3), (), False),
        (says(0.30, contradiction=0.31), (), True),
        (says(0.30), ("redact.jwt",), True),
        (says(0.30), ("redact.unavailable",), False),
    ],
)
def test_evidence_is_what_was_written_and_not_who_wrote_it(
    signals: Signals, rules: tuple[str, ...], expected: bool
) -> None:
    assert has_evidence(decide(signals, *rules), DEFAULT) is expected


@pytest.mark.parametrize(
    ("reputation", "always", "evidence"),
    [(0.30, 0.234, 0.30), (0.20, 0.156, 0.20), (0.1924, 0.15007, 0.1924), (0.19, 0.19, 0.19), (0.10, 0.10, 0.10)],
)
def test_a_quarantine_without_evidence_costs_down_to_the_blameless_floor_or_nothing(
    reputation: float, always: float, evidence: float
) -> None:
    decision = decide(says(reputation), who=UNKNOWN)
    assert decision.status in (Status.QUARANTINE, Status.REJECT)
    assert moved(reputation, reputation_step(decision, DEFAULT)) == pytest.approx(always, abs=1e-5)
    assert moved(reputation, reputation_step(decision, EVIDENCE_ONLY)) == pytest.approx(evidence)


@pytest.mark.parametrize("signals", [says(0.2, content_danger=0.9), says(0.2, contradiction=0.5)])
def test_evidence_costs_below_the_blameless_floor_whatever_the_policy(signals: Signals) -> None:
    for policy in (DEFAULT, EVIDENCE_ONLY):
        assert moved(0.2, reputation_step(decide(signals, who=UNKNOWN), policy)) == pytest.approx(0.156)


def test_a_copy_of_what_is_known_earns_nothing() -> None:
    assert reputation_step(decide(says(0.9), "joins.duplicate"), DEFAULT) is None


def test_a_copy_is_penalised_like_anything_else() -> None:
    assert after(decide(says(0.9, contradiction=0.9), "joins.duplicate")) == pytest.approx(0.702)


@pytest.mark.parametrize(("reputation", "expected"), [(0.44, 0.496), (0.4445, 0.4445), (0.70, 0.70)])
def test_a_newcomer_earns_nothing_beyond_neutral(reputation: float, expected: float) -> None:
    policy = with_reputation().model_copy(
        update={"thresholds": DEFAULT.thresholds.model_copy(update={"warn": 0.4, "accept": 0.9})}
    )
    decision = decide(says(reputation), "reputation.probation", who=UNKNOWN, policy=policy)
    assert decision.status is Status.WARN
    assert moved(reputation, reputation_step(decision, policy)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("signals", "is_rewarded"),
    [(says(0.60, corroboration=0.10), False), (says(0.6625), True), (says(0.98, corroboration=0.3), True)],
)
def test_by_own_merit_only_claims_that_stand_alone_are_rewarded(signals: Signals, is_rewarded: bool) -> None:
    decision = decide(signals)
    assert decision.status.is_admitted
    assert reputation_step(decision, DEFAULT) is not None
    assert (reputation_step(decision, OWN_MERIT) is not None) is is_rewarded


@pytest.mark.parametrize(
    ("who", "moves"),
    [
        (NAMED, True),
        (UNKNOWN, True),
        (Provenance("slack", "slack", 0.6, is_authenticated=False), False),
    ],
)
def test_only_proof_moves_the_reputation_of_a_name(who: Provenance, moves: bool) -> None:
    for signals in (says(0.9), says(0.9, content_danger=0.95)):
        assert (reputation_step(decide(signals, who=who), DEFAULT) is not None) is moves


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (ReviewState.RELEASED, 0.64),
        (ReviewState.REJECTED, 0.468),
        (ReviewState.EXPIRED, 0.60),
        (ReviewState.PENDING, 0.60),
    ],
)
def test_a_reviewers_word_counts_like_a_decision(state: ReviewState, expected: float) -> None:
    assert moved(0.60, review_step(state, DEFAULT)) == pytest.approx(expected)


@pytest.mark.parametrize("before", [0.10, 0.30, 0.60, 0.80])
def test_a_release_takes_the_blame_of_the_quarantine_back_and_counts_as_good(before: float) -> None:
    blamed = before * (1 - DEFAULT.reputation.bad_rate)
    step = review_step(ReviewState.RELEASED, DEFAULT, was_blamed=True)
    assert moved(blamed, step) == pytest.approx(before + 0.10 * (1 - before))


def test_a_blame_that_took_everything_cannot_be_taken_back() -> None:
    policy = with_reputation(bad_rate=1.0)
    step = review_step(ReviewState.RELEASED, policy, was_blamed=True)
    assert step == review_step(ReviewState.RELEASED, policy)


unit = st.floats(0, 1)
signal = st.builds(
    Signals, unit, st.sampled_from([0.0, 0.1, 0.2, 0.3]), freshness=unit, contradiction=unit, content_danger=unit
)
rules = st.lists(st.sampled_from(["redact.jwt", "judge.unavailable", "joins.duplicate", "reputation.probation"]))


@given(signal, rules, st.sampled_from([DEFAULT, EVIDENCE_ONLY, OWN_MERIT]))
def test_nothing_that_is_held_back_is_ever_rewarded(signals: Signals, found: list[str], policy: object) -> None:
    chosen = policy if isinstance(policy, type(DEFAULT)) else DEFAULT
    decision = decide(signals, *found, policy=chosen)
    step = reputation_step(decision, chosen)
    if not decision.status.is_admitted or signals.contradiction > 0.3 or "redact.jwt" in found:
        assert step is None or step.target == 0.0


@given(signal, rules)
def test_the_additions_never_make_a_step_larger_than_the_seeds(signals: Signals, found: list[str]) -> None:
    step = reputation_step(decide(signals, *found), DEFAULT)
    assert step is None or (step.rate, step.target) in {(0.10, 1.0), (0.22, 0.0)}
    assert step is None or (step.floor, step.ceiling) == (0.05, 0.99)
