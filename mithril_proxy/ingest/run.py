"""Sends records to a data plane: in batches, a few at a time, each once.

1. Records of one source that are near each other go out as one call; each is still decided on alone.
2. A batch stands in the journal when it was answered. What stands there is not sent again.
3. A data plane that is away is tried again, slower each time; then the run stops, and can be called again.
4. A batch that memory refuses as a whole is sent again one by one, so that only the record at fault fails.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field

from mithril_proxy.client import CallFailed, Decided, MemoryClient
from mithril_proxy.errors import UpstreamUnavailable
from mithril_proxy.ingest.journal import Journal
from mithril_proxy.ingest.records import BadLine, Reading, Record, Skipped
from mithril_proxy.ingest.sources import SourceChoice
from mithril_proxy.ingest.tally import Tally

BATCH_CHARS = 1_000_000  # of one call: far below limits.max_body_bytes, and a few seconds of work
PAUSES_S = (1.0, 4.0, 16.0)
AWAY = frozenset((429, 502, 503, 504))


class RunStopped(UpstreamUnavailable):
    """The data plane is away. What was answered stands in the journal."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Records of one source."""

    source: str
    records: tuple[Record, ...]


@dataclass(slots=True)
class Run:
    """One run. `tally` is up to date at any time; `advance` is told of every reading that is dealt with."""

    client: MemoryClient
    sources: SourceChoice
    dataset: str
    tags: tuple[str, ...]
    journal: Journal
    batch_records: int = 50
    at_once: int = 4
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    advance: Callable[[int], None] = lambda count: None
    tally: Tally = field(default_factory=Tally)
    is_stopping: bool = False

    async def send(self, readings: Iterable[Reading]) -> Tally:
        """Send all of it, or until `is_stopping`. Raises RunStopped, StoreUnavailable."""
        batches = self._batches(readings)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self.at_once):
                    group.create_task(self._work(batches))
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        return self.tally

    async def _work(self, batches: Iterator[Batch]) -> None:
        for batch in batches:
            await self._send(batch)
            if self.is_stopping:
                return

    def _batches(self, readings: Iterable[Reading]) -> Iterator[Batch]:
        """Full batches as they fill, then the rest."""
        open_ones: dict[str, list[Record]] = {}
        for record, source in self._new(readings):
            waiting = open_ones.setdefault(source, [])
            waiting.append(record)
            if len(waiting) >= self.batch_records or sum(len(one.text) for one in waiting) >= BATCH_CHARS:
                yield Batch(source, tuple(open_ones.pop(source)))
        for source, waiting in open_ones.items():
            yield Batch(source, tuple(waiting))

    def _new(self, readings: Iterable[Reading]) -> Iterator[tuple[Record, str]]:
        """The records that no run has sent yet, each with its source."""
        met: set[str] = set()
        for reading in readings:
            match reading:
                case BadLine():
                    self.tally.count_bad(reading)
                case Skipped():
                    self.tally.skipped += 1
                case Record():
                    source = self.sources.of(reading)
                    digest = reading.digest(self.dataset, source)
                    if digest not in self.journal.done and digest not in met:
                        met.add(digest)
                        yield reading, source
                        continue
                    self.tally.repeated += 1
            self.advance(1)

    async def _send(self, batch: Batch) -> None:
        try:
            decided = await self._answered(batch)
        except CallFailed as error:
            await self._apart(batch, error)
            return
        for record, decision in zip(batch.records, decided, strict=True):
            self.tally.count(record, batch.source, decision)
        self._keep(batch, [decision.status for decision in decided])

    async def _apart(self, batch: Batch, error: CallFailed) -> None:
        """A refused batch, record by record; a record that is refused alone has failed."""
        if len(batch.records) > 1:
            for record in batch.records:
                await self._send(Batch(batch.source, (record,)))
            return
        if error.status == 401 or error.code == "no_source":
            raise error
        self.tally.count_failure(batch.records[0], str(error))
        self.advance(1)

    def _keep(self, batch: Batch, statuses: list[str]) -> None:
        digests = [record.digest(self.dataset, batch.source) for record in batch.records]
        self.journal.add(dict(zip(digests, statuses, strict=True)))
        self.advance(len(digests))

    async def _answered(self, batch: Batch) -> tuple[Decided, ...]:
        """The decisions on a batch. Raises CallFailed, RunStopped."""
        documents = [record.document for record in batch.records]
        for pause_s in (*PAUSES_S, None):
            try:
                return await self.client.remember(
                    documents, dataset=self.dataset, tags=self.tags, source=batch.source or None
                )
            except CallFailed as error:
                if error.status not in AWAY:
                    raise
                reason = str(error)
            except UpstreamUnavailable as error:
                reason = str(error)
            if pause_s is None or self.is_stopping:
                break
            await self.sleep(pause_s)
        raise RunStopped(f"{reason}; what was answered is kept, call the same command again to go on")
