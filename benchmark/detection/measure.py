"""Shares with their uncertainty, and the area under a curve. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

_Z_95 = 1.959964  # two-sided 95 % quantile of the normal distribution


@dataclass(frozen=True, slots=True)
class Share:
    """`count` of `total`, with its 95 % Wilson interval."""

    count: int
    total: int

    @property
    def value(self) -> float:
        """The share itself; 0 of nothing is 0."""
        return self.count / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The Wilson score interval, which holds for small counts too."""
        if not self.total:
            return 0.0, 1.0
        spread = _Z_95**2 / self.total
        centre = (self.value + spread / 2) / (1 + spread)
        half = _Z_95 / (1 + spread) * sqrt(self.value * (1 - self.value) / self.total + spread / (4 * self.total))
        return max(0.0, centre - half), min(1.0, centre + half)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.value:.1%} [{low:.1%}, {high:.1%}] ({self.count}/{self.total})"


def share(flags: Sequence[bool]) -> Share:
    """How many of the flags are true."""
    return Share(sum(flags), len(flags))


def area_under_curve(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Probability that a positive scores above a negative; ties count half (Mann and Whitney)."""
    wins = Counter(positive)
    losses = Counter(negative)
    total, below = 0.0, 0
    for score in sorted(wins.keys() | losses.keys()):
        total += wins[score] * (below + losses[score] / 2)
        below += losses[score]
    return total / (len(positive) * len(negative))


def percentile(values: Sequence[float], share_below: float) -> float:
    """The value below which `share_below` of the sorted values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share_below * len(ordered)))]
