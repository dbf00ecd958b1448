"""What every part of the database needs: its writer, its readers and the clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Executable
from sqlalchemy.ext.asyncio import AsyncEngine

from mithril_proxy.clock import Clock
from mithril_proxy.errors import StoreUnavailable
from mithril_proxy.store.rows import Row, time_text
from mithril_proxy.store.writer import DATABASE_ERRORS, Writer, describe


class Part:
    """Base of the parts that together are one Store."""

    def __init__(self, writer: Writer, reader: AsyncEngine, clock: Clock) -> None:
        self._writer = writer
        self._reader = reader
        self._clock = clock

    async def _read(self, statement: Executable, values: Mapping[str, Any] | None = None) -> Sequence[Row]:
        """The rows of a query, on a connection that is given back at once. Raises StoreUnavailable."""
        try:
            async with self._reader.connect() as connection:
                return await connection.run_sync(rows_of, statement, values)
        except DATABASE_ERRORS as error:
            raise StoreUnavailable(f"the database cannot be read: {describe(error)}") from error

    def _now(self) -> str:
        return time_text(self._clock.now())


def rows_of(connection: Connection, statement: Executable, values: Mapping[str, Any] | None = None) -> Sequence[Row]:
    """The rows of a query as mappings."""
    return [dict(row) for row in connection.execute(statement, values).mappings()]
