"""What every part of the database needs: its writer, its readers and the clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Executable

from mithril_proxy.clock import Clock
from mithril_proxy.errors import StoreUnavailable
from mithril_proxy.store.reads import Reads
from mithril_proxy.store.rows import Row, time_text
from mithril_proxy.store.writer import DATABASE_ERRORS, Writer, describe


class Part:
    """Base of the parts that together are one Store."""

    def __init__(self, writer: Writer, reads: Reads, clock: Clock) -> None:
        self._writer = writer
        self._reads = reads
        self._clock = clock

    async def _read(self, statement: Executable, values: Mapping[str, Any] | None = None) -> Sequence[Row]:
        """The rows of a query. Raises StoreUnavailable."""
        if self._writer.is_closed:
            raise StoreUnavailable("the store is closed")
        try:
            return await self._reads.rows(statement, values)
        except DATABASE_ERRORS as error:
            raise StoreUnavailable(f"the database cannot be read: {describe(error)}") from error

    def _now(self) -> str:
        return time_text(self._clock.now())
