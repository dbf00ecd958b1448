"""Sentences, marks and charts: what a reviewer reads, with nothing of a claim ever becoming markup."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mithril_proxy.admin.desk.charts import Column, reputation_line, stacked, waterfall
from mithril_proxy.admin.desk.render import brief
from mithril_proxy.admin.desk.text import MAX_COMPARED_WORDS, differences, is_invisible, shown
from mithril_proxy.admin.shapes import StoredDecision, stored_decision
from mithril_proxy.admin.words import phrase, why_held
from mithril_proxy.store.rows import decision_columns, decision_of
from mithril_proxy.types import Contribution, Finding, Signals, Status, Trust
from tests.store.values import FixedClock, decision

TAG = re.compile(r"</?(mark|span)\b[^<>]*>")


def stored(**over: Any) -> StoredDecision:
    made = decision(FixedClock(), **over)
    return stored_decision(decision_of(decision_columns(made, made.at.isoformat(), None)))


CALM = Signals(source_reputation=0.9, corroboration=0.1)


@pytest.mark.parametrize(
    ("over", "sentence"),
    [
        (
            {"status": Status.ACCEPT, "trust": Trust(0.9, 0.47), "signals": CALM, "findings": ()},
            "Accepted with a score of 0.90.",
        ),
        (
            {"status": Status.REVIEW, "trust": Trust(0.45, 0.2), "signals": CALM, "findings": ()},
            "Held for review because nothing vouches for it; its score is 0.45.",
        ),
        (
            {
                "status": Status.REJECT,
                "trust": Trust(0.1, 0.05),
                "signals": Signals(0.6, 0.0, 1.0, 0.9, 0.0),
                "findings": (Finding("contradiction", "contradiction.number", "c", 0.9),),
            },
            "Rejected because it contradicts verified memory (0.90); its score is 0.10.",
        ),
        (
            {
                "status": Status.QUARANTINE,
                "trust": Trust(0.3, 0.15),
                "signals": Signals(0.3, 0.0, 1.0, 0.0, 0.9),
                "findings": (Finding("contradiction", "danger.exfiltration", "c", 0.9),),
            },
            "Quarantined because its content is dangerous (0.90), it looks like exfiltration and its source is hardly"
            " trusted (0.30); its score is 0.30.",
        ),
    ],
)
def test_why_a_claim_was_held_is_one_sentence(over: dict[str, Any], sentence: str) -> None:
    assert why_held(stored(**over)) == sentence


@pytest.mark.parametrize(
    ("stage", "rule", "words"),
    [
        ("contradiction", "judge.unavailable", "the judge gave no answer"),
        ("reputation", "reputation.unavailable", "the stage reputation could not finish"),
        ("redact", "redact.jwt", "it held a credential (jwt)"),
        ("provenance", "provenance.forged-tag", "the client tried to tag it as verified"),
        ("score", "score.below-threshold", ""),
        ("joins", "joins.assembled", "the rule joins.assembled found something"),
    ],
)
def test_findings_have_words(stage: str, rule: str, words: str) -> None:
    assert phrase(Finding(stage, rule, "c", 0.5)) == words


@pytest.mark.parametrize(
    "character",
    ["\u200b", "\u202e", "\u2060", "\ufeff", "\u00ad", "\u3164", "\ufe0f", "\x00", "\r", "\U000e0041", "\u00a0"],
)
def test_what_cannot_be_seen_is_shown(character: str) -> None:
    assert is_invisible(character)
    assert f"U+{ord(character):04X}" in shown(f"a{character}b")


@pytest.mark.parametrize("character", ["a", " ", "\n", "\t", "é", "漢", "ق", "😀"])
def test_what_can_be_seen_stays(character: str) -> None:
    assert not is_invisible(character)
    assert shown(character) == character


@given(st.text())
def test_no_text_becomes_markup(text: str) -> None:
    outside = TAG.sub("", str(shown(text)))
    assert "<" not in outside
    assert ">" not in outside


@given(st.text(), st.text())
def test_compared_texts_keep_every_word_and_become_no_markup(claim: str, memory: str) -> None:
    for side, text in zip(differences(claim, memory), (claim, memory), strict=True):
        assert TAG.sub("", str(side)) == TAG.sub("", str(shown(text)))


def test_the_words_that_differ_are_marked_on_both_sides() -> None:
    left, right = differences("Refunds take 5 days", "refunds take 30 days")
    assert left == "Refunds take <mark>5</mark> days"
    assert right == "refunds take <mark>30</mark> days"


def test_very_long_texts_are_not_compared() -> None:
    left, right = differences("a " * MAX_COMPARED_WORDS, "b")
    assert "<mark>" not in left + right


def test_a_long_claim_is_one_short_line_in_a_list() -> None:
    assert brief("a\nb  c") == "a b c"
    assert len(brief("word " * 100)) == 160


def test_charts_have_a_name_no_style_and_escape_what_is_put_in() -> None:
    columns = [Column("<b>", {Status.ACCEPT: 3, Status.REJECT: 1}), Column("01:00", {})]
    parts = (Contribution("source_reputation", 0.6, 0.4), Contribution("contradiction", 0.9, -0.4))
    for drawing in (
        stacked(columns, "<label>", lines={"warn": 0.6}),
        stacked([], "empty"),
        reputation_line([0.5], 0.6, "one"),
        reputation_line([0.5, 0.6, 0.4], 0.6, "three"),
        waterfall(parts, -0.12, 0.525, {"warn": 0.6}, "down"),
    ):
        assert 'role="img" aria-label="' in drawing
        assert "style" not in drawing
        assert "<b>" not in drawing
        assert "<label>" not in drawing
    assert stacked(columns, "x").count("<rect") == 2
