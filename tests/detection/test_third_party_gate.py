"""What keeps the measured numbers on third-party sets from sliding: a little under what RESULTS.md reports."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmark.detection.decide import Decider
from benchmark.detection.measure import area_under_curve
from benchmark.detection.origins import load_false_facts, load_pairs, load_rows
from benchmark.detection.rows import Split, Tier

DATA = Path(os.environ["MITHRIL_TEST_DATA"]) / "attacks"
LEAST_DIVERTED = {Tier.T1: 0.58, Tier.T2: 0.24}
MOST_FALSE_ALARMS = 0.01
LEAST_FALSE_FACTS = 0.66
LEAST_AUC = 0.97


@pytest.mark.parametrize("tier", LEAST_DIVERTED)
def test_attacks_are_still_diverted(decider: Decider, tier: Tier) -> None:
    rows = [row for row in load_rows(DATA) if row.tier is tier and row.split is Split.REPORT]
    assert sum(decider.diverts(row) for row in rows) >= LEAST_DIVERTED[tier] * len(rows)


def test_benign_text_is_still_admitted(decider: Decider) -> None:
    rows = [row for row in load_rows(DATA) if row.tier in (Tier.BENIGN, Tier.HARD_BENIGN)]
    assert sum(decider.diverts(row) for row in rows) <= MOST_FALSE_ALARMS * len(rows)


def test_false_facts_still_contradict_the_verified_one(decider: Decider) -> None:
    rows = load_false_facts(DATA, name="nq")
    assert sum(decider.diverts(row) for row in rows) >= LEAST_FALSE_FACTS * len(rows)


def test_contradicting_pairs_still_score_above_the_rest(decider: Decider) -> None:
    pairs = [pair for pair in load_pairs(DATA) if pair.split is Split.REPORT]
    scored = [(pair.contradicts, decider.judge.comparer.compare(pair.claim, pair.memory).strength) for pair in pairs]
    positive = [score for contradicts, score in scored if contradicts]
    negative = [score for contradicts, score in scored if not contradicts]
    assert area_under_curve(positive, negative) >= LEAST_AUC
