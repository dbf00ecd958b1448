"""The database: `open_store` gives a `Store`; what it promises stands in `interface`."""

from __future__ import annotations

from mithril_proxy.clock import Clock
from mithril_proxy.store.desk import DeskStore
from mithril_proxy.store.incidents import IncidentRules
from mithril_proxy.store.interface import Store

BUSY_TIMEOUT_S = 5.0  # then the callers of that write are told 503

__all__ = ["DeskStore", "IncidentRules", "Store", "open_store"]


async def open_store(
    url: str,
    clock: Clock,
    *,
    create: bool = True,
    busy_timeout_s: float = BUSY_TIMEOUT_S,
    incident_rules: IncidentRules | None = None,
) -> DeskStore:
    """The store behind `url` (sqlite+aiosqlite:///FILE or postgresql+asyncpg://…), its schema brought up to date.

    With `create=False` nothing is made or upgraded; `busy_timeout_s` is how long a write waits for another process.
    Raises ConfigurationError when the database cannot be used: not there, not reachable, or of a newer version.
    """
    from mithril_proxy.store.database import open_database  # SQLAlchemy: 0.3 s that `mithril scan` does not pay

    return await open_database(url, clock, create=create, busy_timeout_s=busy_timeout_s, incident_rules=incident_rules)
