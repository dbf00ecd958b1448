"""When a second pass is asked for, and when two passes disagree."""

from __future__ import annotations

import pytest

from mithril_proxy.judge.answer import Answer
from mithril_proxy.judge.borderline import Borders, borders_of
from mithril_proxy.policy import load_policy
from mithril_proxy.types import Relation

A, C, U = Relation.ALIGNED, Relation.CONTRADICTS, Relation.UNRELATED
BORDERS = Borders(contradiction=(0.3,), content_danger=(0.5, 0.8), margin=0.1)


def test_the_borders_are_those_of_the_policy() -> None:
    assert borders_of(load_policy()) == BORDERS


@pytest.mark.parametrize(
    ("contradiction", "danger", "relations", "expected"),
    [
        (0.0, 0.0, (), False),
        (0.19, 0.0, (U,), False),
        (0.21, 0.0, (U,), True),
        (0.39, 0.0, (C,), True),
        (0.41, 0.0, (C,), False),
        (0.0, 0.39, (), False),
        (0.0, 0.41, (), True),
        (0.0, 0.61, (), False),
        (0.0, 0.71, (), True),
        (0.0, 0.91, (), False),
        (0.9, 0.0, (C,), False),
        (0.9, 0.0, (U,), True),
        (0.0, 0.0, (C, A), True),
        (1.0, 1.0, (C,), False),
        (0.9, 0.0, (), False),
    ],
)
def test_scores_near_a_border_and_answers_at_odds_with_themselves_are_borderline(
    contradiction: float, danger: float, relations: tuple[Relation, ...], expected: bool
) -> None:
    assert BORDERS.is_borderline(Answer(contradiction, danger, relations)) is expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (Answer(0.25, 0.0, (U,)), Answer(0.30, 0.0, (U,)), False),
        (Answer(0.25, 0.0, (U,)), Answer(0.31, 0.0, (C,)), True),
        (Answer(0.0, 0.45, ()), Answer(0.0, 0.55, ()), True),
        (Answer(0.0, 0.55, ()), Answer(0.0, 0.75, ()), False),
        (Answer(0.0, 0.75, ()), Answer(0.0, 0.85, ()), True),
        (Answer(0.0, 0.0, (A, C)), Answer(0.0, 0.0, (C, C)), True),
        (Answer(0.35, 0.0, (C,)), Answer(0.40, 0.0, (C,)), False),
        (Answer(0.9, 0.0, (U,)), Answer(0.9, 0.0, (U,)), True),
        (Answer(0.9, 0.0, (U,)), Answer(0.9, 0.0, (C,)), False),
        (Answer(0.25, 0.0, (A,)), Answer(0.25, 0.0, (U,)), False),
    ],
)
def test_passes_on_two_sides_of_a_border_disagree(first: Answer, second: Answer, expected: bool) -> None:
    assert BORDERS.disagree(first, second) is expected
    assert BORDERS.disagree(second, first) is expected
