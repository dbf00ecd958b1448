"""What commands open: the database, and for some the upstream."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mithril_proxy.clock import SystemClock
from mithril_proxy.settings import load_settings
from mithril_proxy.store import open_store
from mithril_proxy.store.desk import DeskStore


@asynccontextmanager
async def opened_store(database_url: str | None) -> AsyncIterator[DeskStore]:
    """The database of the settings, or the one given. Raises ConfigurationError, StoreUnavailable."""
    settings = load_settings(database_url=database_url)
    store = await open_store(settings.database_url, SystemClock())
    try:
        yield store
    finally:
        await store.close()
