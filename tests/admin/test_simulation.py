"""How past decisions would have fallen under other numbers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mithril_proxy.admin.simulation import simulate, varied
from mithril_proxy.errors import RequestError
from mithril_proxy.policy import Thresholds, Weights, load_policy
from mithril_proxy.types import Status

POLICY = load_policy()


def row(status: str, **signals: Any) -> dict[str, Any]:
    known = {
        "source_reputation": 0.6,
        "corroboration": 0.0,
        "freshness": 1.0,
        "contradiction": 0.0,
        "content_danger": 0.0,
    }
    return {"id": "dec_1", "at": "t", "source": "s", "status": status, "score": 0.5, "findings": [], **known, **signals}


def test_with_the_same_numbers_nothing_changes() -> None:
    rows = [row("review"), row("warn", source_reputation=0.98), row("reject", contradiction=0.9)]
    result = simulate(rows, varied(POLICY, None, None))
    assert result.changed == ()
    assert result.decisions == 3
    assert result.total(Status.WARN, after=True) == result.total(Status.WARN, after=False) == 1


def test_a_lower_threshold_admits_more_but_caps_still_hold() -> None:
    unread = {"stage": "contradiction", "rule": "claim.opaque", "claim_id": "c", "severity": 0.5, "detail": ""}
    policy = varied(POLICY, None, Thresholds(accept=0.5, warn=0.4, review=0.3, quarantine=0.2))
    result = simulate([row("review"), row("review", findings=[unread])], policy)
    assert [(one.before, one.after) for one in result.changed] == [(Status.REVIEW, Status.ACCEPT)]
    assert result.moves == {(Status.REVIEW, Status.ACCEPT): 1, (Status.REVIEW, Status.REVIEW): 1}


def test_weights_that_no_claim_can_score_by_are_refused() -> None:
    nothing = Weights(source_reputation=0, corroboration=0, freshness=0, contradiction=1, content_danger=1)
    with pytest.raises(RequestError, match="at least one"):
        varied(POLICY, nothing, None)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_heavier_contradiction_never_helps_a_claim(weight: float, reputation: float, contradiction: float) -> None:
    evidence = [row("review", source_reputation=reputation, contradiction=contradiction)]
    heavier = POLICY.weights.model_copy(update={"contradiction": max(weight, POLICY.weights.contradiction)})
    before = simulate(evidence, POLICY).moves
    after = simulate(evidence, varied(POLICY, heavier, None)).moves
    assert max(status.rank for _, status in after) >= max(status.rank for _, status in before)
