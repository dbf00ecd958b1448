"""The admin plane over a real store and data plane, asked without a socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest_asyncio
from starlette.types import ASGIApp

from mithril_proxy.admin import new_token, token_digest
from mithril_proxy.app import build_admin_plane
from mithril_proxy.store.desk import Scope
from mithril_proxy.store.interface import Page, QuarantineFilter
from mithril_proxy.types import QuarantineEntry
from tests.harness import Bench, FakeUpstream, bench, chunk

TOKEN = "token-of-the-tests"
ORIGIN = "http://desk.test"
TRUE_MEMORY = "The refund window is 30 days."


@dataclass
class AdminBench:
    """The admin plane, and what it looks at."""

    app: ASGIApp
    bench: Bench
    client: httpx2.AsyncClient

    def as_token(self, token: str | None) -> httpx2.AsyncClient:
        """A client that sends this bearer token; None for none."""
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        return client_of(self.app, headers)

    async def token_of(self, name: str, scope: Scope) -> str:
        """A new token of this scope."""
        token = new_token()
        await self.bench.store.add_token(name, scope=scope, digest=token_digest(token))
        return token

    async def as_operator(self, name: str, scope: Scope) -> httpx2.AsyncClient:
        """A client with a new token of this scope."""
        return self.as_token(await self.token_of(name, scope))

    async def signed_in(self, token: str = TOKEN) -> httpx2.AsyncClient:
        """A browser with a session; it says where its requests come from, as browsers do."""
        browser = client_of(self.app, {"origin": ORIGIN, "sec-fetch-site": "same-origin"})
        answer = await browser.post("/sign-in", data={"token": token})
        assert answer.status_code == 303, answer.text
        return browser

    async def hold(self, text: str, source: str = "slack", prior: float = 0.6) -> QuarantineEntry:
        """A claim that was held, from a source that is registered if need be."""
        if source not in self.bench.keys:
            await self.bench.register(source, prior)
        await self.bench.remember(text, source=source)
        return (await self.bench.store.quarantine(Page(1), QuarantineFilter()))[0]


def client_of(app: ASGIApp, headers: dict[str, str]) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=ORIGIN, headers=headers)


@asynccontextmanager
async def admin_bench(folder: Path, **options: Any) -> AsyncIterator[AdminBench]:
    """An admin plane whose MITHRIL_ADMIN_TOKEN is TOKEN."""
    upstream = options.pop("upstream", None) or FakeUpstream(memories=[chunk(TRUE_MEMORY, "verified", "handbook")])
    async with bench(folder, upstream=upstream, admin_token=TOKEN, **options) as inside:
        app, _ = await build_admin_plane(inside.application)
        yield AdminBench(app, inside, client_of(app, {"authorization": f"Bearer {TOKEN}"}))


@pytest_asyncio.fixture
async def admin(tmp_path: Path) -> AsyncIterator[AdminBench]:
    async with admin_bench(tmp_path) as inside:
        yield inside
