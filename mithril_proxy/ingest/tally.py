"""What a run or a preview has counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from mithril_proxy.client import Decided
from mithril_proxy.ingest.records import BadLine, Record

SHOWN = 1000  # held and bad lines that are listed one by one; all of them are counted
ORDER = ("accept", "warn", "passed", "review", "quarantined", "rejected", "failed")


@dataclass(frozen=True, slots=True)
class HeldRecord:
    """A record that did not go into memory."""

    record: Record
    source: str
    decided: Decided


@dataclass(slots=True)
class Tally:
    """Counts by status, and the first of what was held, failed and bad."""

    by_status: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    skipped: int = 0
    bad: int = 0
    held: list[HeldRecord] = field(default_factory=list)
    failures: list[BadLine] = field(default_factory=list)
    bad_lines: list[BadLine] = field(default_factory=list)

    @property
    def sent(self) -> int:
        """Records that were decided on in this run."""
        return sum(self.by_status.values())

    def count(self, record: Record, source: str, decided: Decided) -> None:
        """Take one decision into account."""
        self.by_status[decided.status] += 1
        if not decided.is_stored and len(self.held) < SHOWN:
            self.held.append(HeldRecord(record, source, decided))

    def count_failure(self, record: Record, reason: str) -> None:
        """Take a record into account that memory would not have."""
        self.by_status["failed"] += 1
        if len(self.failures) < SHOWN:
            self.failures.append(BadLine(record.origin, record.line, reason))

    def count_bad(self, line: BadLine) -> None:
        """Take a bad line into account."""
        self.bad += 1
        if len(self.bad_lines) < SHOWN:
            self.bad_lines.append(line)
