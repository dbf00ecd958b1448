"""Who is a newcomer: writers that nobody vouched for and that have not been known for long."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import pytest

from mithril_proxy.chain.inspection import Inspection, NoMemory
from mithril_proxy.chain.probation import Probation
from mithril_proxy.errors import NotFound
from mithril_proxy.store.interface import Source
from mithril_proxy.types import Claim, Provenance
from tests.chain.decisions import DEFAULT, NAMED, UNKNOWN
from tests.judge.fakes import START, HandClock


@dataclass(frozen=True)
class Book:
    """Knows one principal, or none."""

    decisions: int | None = None
    hours: float = 0.0

    async def source(self, name: str) -> Source:
        if self.decisions is None:
            raise NotFound(name)
        created_at = START - timedelta(hours=self.hours)
        return Source(name, "unknown-agent", 0.3, 0.3, self.decisions, created_at, START, is_registered=False)


async def is_marked(book: Book, who: Provenance) -> bool:
    stage = Probation(book, DEFAULT, HandClock())
    inspection = await stage.inspect(Inspection(Claim("c", "text", "data"), who, NoMemory()))
    assert all(finding.severity == 0.0 for finding in inspection.findings)
    return [finding.rule for finding in inspection.findings] == ["reputation.probation"]


@pytest.mark.parametrize(
    ("book", "expected"),
    [
        (Book(), True),
        (Book(0, 1000.0), True),
        (Book(9, 1000.0), True),
        (Book(10, 23.9), True),
        (Book(10, 24.0), False),
        (Book(1000, 0.0), True),
    ],
)
async def test_an_unregistered_writer_is_new_until_it_has_written_enough_and_for_long_enough(
    book: Book, expected: bool
) -> None:
    assert await is_marked(book, UNKNOWN) is expected


async def test_a_proven_name_is_never_on_probation() -> None:
    assert not await is_marked(Book(), NAMED)
