"""From signals to one number: the formula in the README, "How it decides". Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from mithril_proxy.policy import Policy
from mithril_proxy.types import Contribution, Signals, Trust


def trust_score(signals: Signals, policy: Policy) -> Trust:
    """Weighted trust of one claim, in 0..1, with what each signal contributed.

    Raises nothing. Source: raw = reputation x 0.40 + corroboration x 0.25 + freshness x 0.05 - contradiction x 0.40
    - content_danger x 0.35, score = clamp(raw / 0.525, 0, 1) with the default policy.
    """
    weights = policy.weights
    contributions = (
        Contribution("source_reputation", signals.source_reputation, weights.source_reputation),
        Contribution("corroboration", signals.corroboration, weights.corroboration),
        Contribution("freshness", signals.freshness, weights.freshness),
        Contribution("contradiction", signals.contradiction, -weights.contradiction),
        Contribution("content_danger", counted_danger(signals.content_danger, policy), -weights.content_danger),
    )
    raw = sum(contribution.amount for contribution in contributions)
    return Trust(score=clamp(raw / policy.scale), raw=raw, contributions=contributions)


def counted_danger(content_danger: float, policy: Policy) -> float:
    """The danger that costs trust: nothing up to `content_danger.counted_above`, all of it beyond."""
    return content_danger if content_danger > policy.content_danger.counted_above else 0.0


def clamp(value: float, low: float = 0.0, high: float = 1.0) -> float:
    """`value` moved into low..high; what is no number is the worst, `low`."""
    return min(high, max(low, value)) if value == value else low


def freshness(claimed_at: datetime | None, arrived_at: datetime, policy: Policy) -> float:
    """1 for a fact of now, 0 at `freshness.horizon_days` and older.

    A claim with no time, or with one in the future, is as old as its arrival.
    """
    if claimed_at is None or claimed_at > arrived_at:
        return 1.0
    return clamp(1.0 - (arrived_at - claimed_at) / timedelta(days=policy.freshness.horizon_days))


def corroboration(independent_aligned: int, policy: Policy) -> float:
    """0..`corroboration.maximum` for a number of aligned memories from independent sources."""
    rule = policy.corroboration
    return rule.step * min(rule.max_chunks, max(0, independent_aligned - rule.free_chunks))
