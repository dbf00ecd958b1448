"""The formula, row by row."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mithril_proxy.chain.gate import gate, status_by_score
from mithril_proxy.chain.score import clamp, corroboration, counted_danger, freshness, trust_score
from mithril_proxy.policy import load_policy
from mithril_proxy.types import Finding, Signals, Status

POLICY = load_policy()
NOW = datetime(2026, 1, 1, tzinfo=UTC)

units = st.floats(0.0, 1.0)
signals = st.builds(
    Signals,
    source_reputation=units,
    corroboration=st.floats(0.0, 0.3),
    freshness=units,
    contradiction=units,
    content_danger=units,
)


@pytest.mark.parametrize(
    ("reputation", "aligned", "contradiction", "score", "status"),
    [
        (0.98, 0, 0.0, 0.842, Status.WARN),
        (0.98, 2, 0.0, 0.890, Status.ACCEPT),
        (0.60, 0, 0.0, 0.552, Status.REVIEW),
        (0.30, 0, 0.0, 0.324, Status.QUARANTINE),
        (0.98, 0, 0.9, 0.156, Status.REJECT),
    ],
)
def test_the_worked_rows_of_the_readme_hold(
    reputation: float, aligned: int, contradiction: float, score: float, status: Status
) -> None:
    measured = Signals(reputation, corroboration(aligned, POLICY), 1.0, contradiction, 0.0)
    trust = trust_score(measured, POLICY)
    assert trust.score == pytest.approx(score, abs=0.0005)
    assert gate(trust, measured, (), POLICY) is status


def test_the_contributions_add_up_to_the_raw_score() -> None:
    trust = trust_score(Signals(0.9, 0.2, 0.5, 0.4, 0.7), POLICY)
    assert sum(part.amount for part in trust.contributions) == pytest.approx(trust.raw, abs=1e-12)


@pytest.mark.parametrize(
    ("score", "status"),
    [
        (1.0, Status.ACCEPT),
        (0.85, Status.ACCEPT),
        (0.85 - 1e-12, Status.ACCEPT),
        (0.8499, Status.WARN),
        (0.1 + 0.2 + 0.3, Status.WARN),
        (0.60, Status.WARN),
        (0.5999, Status.REVIEW),
        (0.40, Status.REVIEW),
        (0.3999, Status.QUARANTINE),
        (0.20, Status.QUARANTINE),
        (0.1999, Status.REJECT),
        (0.0, Status.REJECT),
    ],
)
def test_a_threshold_belongs_to_the_better_status(score: float, status: Status) -> None:
    assert status_by_score(score, POLICY.thresholds) is status


@pytest.mark.parametrize(
    ("rule", "measured", "best"),
    [
        ("claim.opaque", Signals(0.99, 0.3), Status.REVIEW),
        ("judge.unavailable", Signals(0.99, 0.3), Status.REVIEW),
        ("reputation.unavailable", Signals(0.99, 0.3), Status.REVIEW),
        ("danger.any", Signals(0.99, 0.3, 1.0, 0.31), Status.REVIEW),
        ("danger.any", Signals(0.99, 0.3, 1.0, 0.0, 0.8), Status.QUARANTINE),
        ("danger.any", Signals(0.99, 0.3, 1.0, 0.3, 0.5), Status.ACCEPT),
    ],
)
def test_a_cap_lowers_what_the_best_reputation_would_admit(rule: str, measured: Signals, best: Status) -> None:
    finding = Finding("test", rule, "1", 0.1)
    by_score = trust_score(Signals(0.99, 0.3), POLICY)
    assert gate(by_score, measured, (finding,), POLICY) is best


def test_danger_counts_only_above_its_threshold() -> None:
    assert counted_danger(0.5, POLICY) == 0.0
    assert counted_danger(0.51, POLICY) == 0.51


@pytest.mark.parametrize(("age_days", "expected"), [(0, 1.0), (45, 0.5), (90, 0.0), (900, 0.0), (-1, 1.0)])
def test_freshness_falls_to_nothing_over_its_horizon(age_days: int, expected: float) -> None:
    assert freshness(NOW - timedelta(days=age_days), NOW, POLICY) == pytest.approx(expected)


def test_a_claim_without_a_time_is_as_old_as_its_arrival() -> None:
    assert freshness(None, NOW, POLICY) == 1.0


@pytest.mark.parametrize(("aligned", "expected"), [(0, 0.0), (1, 0.0), (2, 0.1), (3, 0.2), (4, 0.3), (50, 0.3)])
def test_corroboration_counts_beyond_the_first_and_is_bounded(aligned: int, expected: float) -> None:
    assert corroboration(aligned, POLICY) == pytest.approx(expected)


@given(signals, units, units)
def test_more_evidence_against_a_claim_never_raises_its_trust(
    measured: Signals, contradiction: float, danger: float
) -> None:
    worse = Signals(
        measured.source_reputation,
        measured.corroboration,
        measured.freshness,
        max(measured.contradiction, contradiction),
        max(measured.content_danger, danger),
    )
    better_trust, worse_trust = trust_score(measured, POLICY), trust_score(worse, POLICY)
    assert worse_trust.score <= better_trust.score
    assert gate(worse_trust, worse, (), POLICY).rank >= gate(better_trust, measured, (), POLICY).rank


@given(signals)
def test_a_score_is_always_between_0_and_1(measured: Signals) -> None:
    assert 0.0 <= trust_score(measured, POLICY).score <= 1.0


def test_what_is_no_number_is_the_worst() -> None:
    assert clamp(float("nan")) == 0.0
