"""What a run would do: nothing is sent, nothing is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from mithril_proxy.firewall import Call, Firewall
from mithril_proxy.ingest.records import BadLine, Record, Skipped
from mithril_proxy.ingest.records import Reading as AnyReading
from mithril_proxy.ingest.sources import OperatorIdentifier, SourceChoice
from mithril_proxy.types import Claim, Memory, Mode, Provenance, Status


@dataclass(slots=True)
class Line:
    """One line of the table: a channel or file under one source."""

    origin: str
    source: str
    records: int = 0
    chars: int = 0
    first: datetime | None = None
    last: datetime | None = None
    statuses: Counter[Status] = field(default_factory=Counter)

    def count(self, record: Record, status: Status) -> None:
        """Take one record into account."""
        self.records += 1
        self.chars += len(record.text)
        self.statuses[status] += 1
        if record.claimed_at is not None:
            self.first = min(filter(None, (self.first, record.claimed_at)))
            self.last = max(filter(None, (self.last, record.claimed_at)))


@dataclass(slots=True)
class Preview:
    """The whole table, with what cannot be read."""

    lines: dict[tuple[str, str], Line] = field(default_factory=dict)
    skipped: int = 0
    bad_lines: list[BadLine] = field(default_factory=list)


class NoMemory:
    """Verified memory of a dry run: none."""

    async def related(self, text: str) -> tuple[Memory, ...]:
        """Nothing."""
        return ()


async def preview(
    readings: Iterable[AnyReading], sources: SourceChoice, firewall: Firewall, identifier: OperatorIdentifier
) -> Preview:
    """The table for these readings: each text judged by itself, against no memory, by the prior of its source."""
    result = Preview()
    for reading in readings:
        if isinstance(reading, BadLine):
            result.bad_lines.append(reading)
        elif isinstance(reading, Skipped):
            result.skipped += 1
        else:
            source = sources.of(reading)
            key = ((reading.channel and f"#{reading.channel}") or reading.origin, source)
            line = result.lines.setdefault(key, Line(*key))
            line.count(reading, await _status(reading, source, firewall, identifier))
    return result


async def _status(record: Record, source: str, firewall: Firewall, identifier: OperatorIdentifier) -> Status:
    identity = await identifier.identify([(b"x-mithril-source", source.encode("latin-1", "replace"))], None)
    claim = Claim("clm", record.text, record.origin, claimed_at=record.claimed_at)
    call = Call("dry-run", "ingest", Mode.OBSERVE)
    provenance: Provenance = identity.provenance
    return (await firewall.inspect(claim, provenance, memory=NoMemory(), call=call)).decision.status
