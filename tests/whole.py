"""A whole Mithril in front of a Cognee in memory: everything but sockets."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from mithril_proxy.app import Application, Rules, build_services, load_rules
from mithril_proxy.chain.recent import RecentWrites
from mithril_proxy.client import InProcess
from mithril_proxy.clock import SystemClock
from mithril_proxy.proxy import DataPlane
from mithril_proxy.proxy.posture import Observation
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


@functools.cache
def _loaded() -> Rules:
    """The shipped rules, read once for all tests."""
    return load_rules(settings_for(Path()), SystemClock())


def settings_for(folder: Path) -> Settings:
    """Settings with a database in `folder`."""
    return Settings(
        _env_file=None,  # type: ignore[call-arg]
        upstream_api_key=SERVICE_KEY,  # type: ignore[arg-type]
        admin_token=ADMIN_TOKEN,  # type: ignore[arg-type]
        database_url=f"sqlite+aiosqlite:///{folder}/mithril.db",
        policy="default.toml",
        judge="local",
    )


@asynccontextmanager
async def whole(folder: Path) -> AsyncIterator[Setup]:
    """A Mithril with its database in `folder`."""
    clock, settings, rules = SystemClock(), settings_for(folder), _loaded()
    store = await open_store(settings.database_url, clock)
    cognee = FakeCognee()
    upstream = InProcess(cognee.app)
    metrics, log = Metrics(), structlog.get_logger()
    recent = RecentWrites(rules.policy.joins, clock)
    plane = DataPlane(build_services(settings, rules, store, recent, clock), store, upstream, metrics, clock, log)
    version = Observation("ok", "Cognee 1.6.5")
    application = Application(settings, store, upstream, metrics, clock, log, plane, recent, rules, version)
    made = Setup(application, cognee)
    try:
        yield made
    finally:
        await made.close()
