"""The store as one object: its parts share one writer and a few readers."""

from __future__ import annotations

from sqlalchemy import Connection, text

from mithril_proxy.clock import Clock
from mithril_proxy.errors import ConfigurationError
from mithril_proxy.store import BUSY_TIMEOUT_S
from mithril_proxy.store.afterwards import Afterwards
from mithril_proxy.store.changes import Changes
from mithril_proxy.store.decisions import Decisions
from mithril_proxy.store.desk import DeskStore
from mithril_proxy.store.engines import create_file, database_file, open_transactions, parse_url
from mithril_proxy.store.incidents import IncidentRules
from mithril_proxy.store.keeping import Keeping
from mithril_proxy.store.migrate import migrate
from mithril_proxy.store.operators import Operators
from mithril_proxy.store.reads import open_reads
from mithril_proxy.store.registry import Registry
from mithril_proxy.store.releases import Releases
from mithril_proxy.store.sessions import Sessions
from mithril_proxy.store.statistics import Statistics
from mithril_proxy.store.trail import Trail
from mithril_proxy.store.writer import Writer

_TOUCH = text("UPDATE alembic_version SET version_num = version_num")


class Database(Decisions, Registry, Sessions, Releases, Keeping, Afterwards, Trail, Operators, Statistics):
    """One open database, SQLite or PostgreSQL. Made by `mithril_proxy.store.open_store`."""

    @property
    def queued_writes(self) -> int:
        """Writes that wait for the next transaction."""
        return self._writer.queued

    async def ping(self) -> None:
        """Raise StoreUnavailable unless a row could be committed now."""
        await self._writer.run(_touch)

    async def close(self) -> None:
        """Commit what is queued, then close every connection."""
        await self._writer.close()
        await self._reads.close()


async def open_database(
    url: str,
    clock: Clock,
    *,
    create: bool = True,
    busy_timeout_s: float = BUSY_TIMEOUT_S,
    incident_rules: IncidentRules | None = None,
) -> DeskStore:
    """What `mithril_proxy.store.open_store` promises."""
    parsed = parse_url(url)
    path = database_file(parsed)
    if path is not None and create:
        create_file(path)
    if path is not None and not path.is_file():
        raise ConfigurationError(f"{path}: no such database; `mithril serve` makes it")
    transactions = open_transactions(parsed, busy_timeout_s)
    try:
        await migrate(transactions, may_change=create)
    except ConfigurationError:
        await transactions.close()
        raise
    return Database(
        Writer(transactions, clock, incident_rules or IncidentRules()), open_reads(parsed, busy_timeout_s), clock
    )


def _touch(connection: Connection) -> Changes:
    connection.execute(_TOUCH)
    return Changes()
