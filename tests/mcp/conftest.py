"""A whole Mithril in front of a Cognee in memory, as the MCP tools see it."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest_asyncio
import structlog

from mithril_proxy.app import Application, build_services
from mithril_proxy.client import InProcess
from mithril_proxy.clock import SystemClock
from mithril_proxy.proxy import DataPlane
from mithril_proxy.settings import Settings
from mithril_proxy.store import open_store
from mithril_proxy.telemetry import Metrics
from tests.fake_cognee import FakeCognee

ADMIN_TOKEN = "operator-token-for-tests"
SERVICE_KEY = "service-credential"


@dataclass
class Setup:
    """An application, and the Cognee behind it."""

    application: Application
    cognee: FakeCognee
    keys: dict[str, str] = field(default_factory=dict)
    is_closed: bool = False

    async def close(self) -> None:
        """Close the database, once."""
        if not self.is_closed:
            self.is_closed = True
            await self.application.store.close()

    async def register(self, name: str, prior: float) -> str:
        """The key of a newly registered source."""
        key = f"mk_{name}_key_for_tests"
        digest = hashlib.sha256(key.encode()).hexdigest()
        await self.application.store.add_source(name, prior=prior, key_digest=digest)
        self.keys[name] = key
        return key


@pytest_asyncio.fixture
async def setup(tmp_path: Path) -> AsyncIterator[Setup]:
    clock = SystemClock()
    settings = Settings(
        _env_file=None,  # type: ignore[call-arg]
        upstream_api_key=SERVICE_KEY,  # type: ignore[arg-type]
        admin_token=ADMIN_TOKEN,  # type: ignore[arg-type]
        database_url=f"sqlite+aiosqlite:///{tmp_path}/mithril.db",
        policy="default.toml",
        judge="local",
    )
    store = await open_store(settings.database_url, clock)
    cognee = FakeCognee()
    upstream = InProcess(cognee.app)
    metrics, log = Metrics(), structlog.get_logger()
    plane = DataPlane(build_services(settings, store, clock), store, upstream, metrics, clock, log)
    made = Setup(Application(settings, store, upstream, metrics, clock, log, plane), cognee)
    yield made
    await made.close()
