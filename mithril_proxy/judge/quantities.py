"""Numbers, dates and units in one written form, so that equal values read equal and others do not.

`twenty-one` becomes `21`, `12 March 2024` becomes `2024-03-12`, `third` becomes `3rd`, `30 days` equals `720 hours`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from text_to_num import alpha2digit

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
_MONTH = "(" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\.?"
_DAY_FIRST = re.compile(rf"(?i)\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH},? (\d{{4}})\b")
_MONTH_FIRST = re.compile(rf"(?i)\b{_MONTH} (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})\b")
_MONTH_YEAR = re.compile(rf"(?i)\b{_MONTH},? (\d{{4}})\b")
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}\b)")
_CLOCK = re.compile(r"(\d{1,2}):([0-5]\d)(am|pm)?$")
_ISO = re.compile(r"\d{4}-\d{2}(?:-\d{2})?$")
_NUMBER = re.compile(r"(\d+(?:\.\d+)*)(st|nd|rd|th|[a-z%]*)$")

# Factor to the base unit of its dimension: seconds, bytes, metres, grams. A month is 30 days, a year 365.
_UNITS = {
    "time": {"ms": 1e-3, "millisecond": 1e-3, "s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600}
    | {"hr": 3600, "hour": 3600, "day": 86400, "week": 604800, "month": 2592000, "quarter": 7776000, "year": 31536000},
    "size": {"byte": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 2**10, "mib": 2**20, "gib": 2**30},
    "length": {"mm": 1e-3, "cm": 1e-2, "m": 1, "meter": 1, "metre": 1, "km": 1e3, "kilometer": 1e3, "kilometre": 1e3}
    | {"mile": 1609.344, "foot": 0.3048, "feet": 0.3048, "ft": 0.3048, "inch": 0.0254, "yard": 0.9144},
    "mass": {"g": 1, "gram": 1, "kg": 1e3, "kilogram": 1e3, "tonne": 1e6, "pound": 453.592, "lb": 453.592},
}  # fmt: skip
_SCALES = {"thousand": 1e3, "k": 1e3, "million": 1e6, "m": 1e6, "billion": 1e9, "bn": 1e9, "trillion": 1e12}
_TOLERANCE = 0.005  # rounding of conversions, as in 5 miles = 8.05 km


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with what it counts. `dimension` is empty for a plain number; `is_ordinal` for a rank."""

    value: float
    dimension: str = ""
    is_ordinal: bool = False

    def agrees_with(self, other: Quantity) -> bool:
        """True when both can be the same amount."""
        return abs(self.value - other.value) <= _TOLERANCE * max(abs(self.value), abs(other.value))


def normalise_numbers(sentence: str) -> str:
    """The sentence with number words as digits and dates as ISO dates."""
    text = alpha2digit(sentence, "en", 0.0)
    text = _GROUPED.sub("", text)
    text = _DAY_FIRST.sub(lambda match: _iso(match[3], match[2], match[1]), text)
    text = _MONTH_FIRST.sub(lambda match: _iso(match[3], match[1], match[2]), text)
    return _MONTH_YEAR.sub(lambda match: _iso(match[2], match[1], ""), text)


def _iso(year: str, month: str, day: str) -> str:
    date = f"{year}-{_MONTHS[month.lower()]:02d}"
    return f"{date}-{int(day):02d}" if day else date


def quantity(word: str, following: str) -> Quantity | None:
    """The quantity that a token and the word after it tell; None when the token is no number."""
    clock = _CLOCK.match(word.lower())
    if clock is not None:  # in hours, so that `at 9` and `at 9:00` agree
        return Quantity(int(clock[1]) % (12 if clock[3] else 24) + int(clock[2]) / 60 + 12 * (clock[3] == "pm"))
    match = _NUMBER.match(word.lower())
    if match is None or match[1].count(".") > 1:
        return None
    value, suffix = float(match[1]), match[2]
    if suffix in ("st", "nd", "rd", "th"):
        return Quantity(value, is_ordinal=True)
    unit = suffix or following.lower()
    for dimension, factors in _UNITS.items():
        factor = factors.get(unit, factors.get(unit.removesuffix("s")))
        if factor is not None:
            return Quantity(value * factor, dimension)
    return Quantity(value * _SCALES.get(unit, 1), "percent" if unit in ("%", "percent") else "")


def is_unit(word: str) -> bool:
    """True for a lower-case unit of measure."""
    return any(word in factors or word.removesuffix("s") in factors for factors in _UNITS.values())


def is_date(word: str) -> bool:
    """True for an ISO date or month."""
    return _ISO.match(word) is not None


def dates_agree(one: str, other: str) -> bool:
    """True when one date says no more than the other, as 2024-03 of 2024-03-12."""
    return one.startswith(other) or other.startswith(one)
