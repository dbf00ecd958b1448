"""Copies and what is no copy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mithril_proxy.chain.likeness import Wording

TEXT = "The deploy freeze starts on Friday at noon UTC"

COPIES = [
    "the deploy freeze starts on friday at noon utc!",
    "The  deploy\nfreeze starts — on Friday — at noon UTC.",
    "The deploy freze starts on Friday at noon UTC",
    "Note: The deploy freeze starts on Friday at noon UTC.",
    "Ｔｈｅ deploy freeze starts on Friday at noon UTC",
    "The de\u200bploy fre\u00adeze starts on Fri\u0301day at noon UTC",
    "As everybody in the office knows by now: the deploy freeze starts on Friday at noon UTC, so plan for it.",
]
OTHERS = [
    "",
    "The deploy freeze begins on Friday at noon UTC",
    "Friday at noon UTC is when the deploy freeze starts",
    "The deploy freeze starts on Monday at noon UTC",
    "Deploys are closed from Friday noon",
]


@pytest.mark.parametrize("text", COPIES)
def test_small_changes_leave_a_copy(text: str) -> None:
    assert Wording.of(text).is_copy_of(Wording.of(TEXT))


@pytest.mark.parametrize("text", OTHERS)
def test_other_words_are_no_copy(text: str) -> None:
    assert not Wording.of(text).is_copy_of(Wording.of(TEXT))


@pytest.mark.parametrize(
    ("first", "second", "expected"), [("", "", True), ("!", "?", True), ("a", "b", False), ("ab", "ab.", True)]
)
def test_very_short_texts_are_copies_only_when_equal(first: str, second: str, expected: bool) -> None:
    assert Wording.of(first).is_copy_of(Wording.of(second)) is expected


@given(st.text(), st.text())
def test_being_a_copy_is_mutual_and_every_text_is_its_own(first: str, second: str) -> None:
    one, other = Wording.of(first), Wording.of(second)
    assert one.is_copy_of(other) == other.is_copy_of(one)
    assert one.is_copy_of(one)
