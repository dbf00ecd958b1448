from __future__ import annotations

import pytest

from mithril_proxy.judge.quantities import Quantity, dates_agree, is_date, normalise_numbers, quantity


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("twenty-one dogs", "21 dogs"),
        ("in third place", "in 3rd place"),
        ("12 March 2024", "2024-03-12"),
        ("March 12, 2024", "2024-03-12"),
        ("the 3rd of May 1999", "the 1999-05-03"),
        ("June 2020", "2020-06"),
        ("1,250,000 people", "1250000 people"),
    ],
)
def test_numbers_and_dates_have_one_written_form(written: str, normal: str) -> None:
    assert normalise_numbers(written) == normal


@pytest.mark.parametrize(
    ("word", "following", "expected"),
    [
        ("30", "days", Quantity(30 * 86400, "time")),
        ("720h", "", Quantity(720 * 3600, "time")),
        ("2", "kg", Quantity(2000, "mass")),
        ("1st", "", Quantity(1, is_ordinal=True)),
        ("2.5", "million", Quantity(2.5e6)),
        ("15%", "", Quantity(15, "percent")),
        ("8443", "is", Quantity(8443)),
        ("1.2.3", "", None),
        ("cat", "", None),
    ],
)
def test_a_quantity_is_a_number_with_its_unit(word: str, following: str, expected: Quantity | None) -> None:
    assert quantity(word, following) == expected


def test_rounded_conversions_agree_and_other_amounts_do_not() -> None:
    assert Quantity(8046.72).agrees_with(Quantity(8050))
    assert not Quantity(8000).agrees_with(Quantity(8100))


def test_a_date_agrees_with_its_month_and_with_no_other() -> None:
    assert [is_date(word) for word in ("2024-03", "2024-03-12", "2024")] == [True, True, False]
    assert dates_agree("2024-03", "2024-03-12")
    assert not dates_agree("2024-04", "2024-03-12")
