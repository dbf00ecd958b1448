from __future__ import annotations

import pytest

from benchmark.detection.measure import Share, area_under_curve, percentile, share


def test_the_wilson_interval_holds_for_small_counts() -> None:
    low, high = Share(0, 10).interval
    assert low == 0.0
    assert high == pytest.approx(0.2775, abs=1e-3)
    assert str(Share(9, 12)) == "75.0% [46.8%, 91.1%] (9/12)"
    assert (Share(0, 0).value, Share(0, 0).interval) == (0.0, (0.0, 1.0))
    assert share([True, False]) == Share(1, 2)


@pytest.mark.parametrize(
    ("positive", "negative", "area"),
    [([1.0], [0.0], 1.0), ([0.0], [1.0], 0.0), ([0.5], [0.5], 0.5), ([0.9, 0.1], [0.5, 0.1], 0.625)],
)
def test_the_area_under_the_curve_counts_ties_half(positive: list[float], negative: list[float], area: float) -> None:
    assert area_under_curve(positive, negative) == area


def test_a_percentile_is_one_of_the_values() -> None:
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([1.0], 0.95) == 1.0
