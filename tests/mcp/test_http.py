"""`/mcp` on the admin listener, over a socket, with the official client."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import httpx2
import pytest
import pytest_asyncio
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette

from mithril_proxy.app import build_admin_plane, build_mcp_plane
from mithril_proxy.mcp.http import with_mcp
from tests.mcp.test_agent_tools import FACT, MIDDLING, TRUSTED, failure, value
from tests.served import served
from tests.whole import ADMIN_TOKEN, SERVICE_KEY, Setup


@pytest_asyncio.fixture
async def url(setup: Setup) -> AsyncIterator[str]:
    admin, _ = await build_admin_plane(setup.application)
    async with served(admin) as address:
        yield address


@contextlib.asynccontextmanager
async def connected(url: str, mode: str = "auto", **headers: str) -> AsyncIterator[Client]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with (
        httpx2.AsyncClient(headers=named, trust_env=False) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


async def names(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_each_caller_is_the_source_of_its_own_key(setup: Setup, url: str, mode: str) -> None:
    await setup.register("docs-bot", TRUSTED)
    await setup.register("chat-bot", MIDDLING)
    async with connected(url, mode, x_api_key=setup.keys["docs-bot"]) as client:
        assert value(await client.call_tool("mithril_remember", {"text": FACT}))["stored"]
        assert value(await client.call_tool("mithril_source", {}))["source"] == "docs-bot"
    async with connected(url, mode, authorization=f"Bearer {setup.keys['chat-bot']}") as client:
        assert value(await client.call_tool("mithril_source", {}))["source"] == "chat-bot"
        recalled = value(await client.call_tool("mithril_recall", {"query": "Lisbon office"}))
    assert [one["source"] for one in recalled["memories"]] == ["docs-bot"]


async def test_a_call_without_a_credential_is_refused(url: str) -> None:
    async with httpx2.AsyncClient(trust_env=False) as http:
        answer = await http.post(f"{url}/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert answer.status_code == 401
    assert answer.json()["error"] == "unauthorised"
    assert answer.headers["www-authenticate"] == "Bearer"


async def test_an_operator_sees_the_quarantine_and_releases_from_it(setup: Setup, url: str) -> None:
    await setup.register("chat-bot", MIDDLING)
    async with connected(url, x_api_key=setup.keys["chat-bot"]) as client:
        assert "mithril_release" not in await names(client)
        held = value(await client.call_tool("mithril_remember", {"text": FACT}))
    async with connected(url, authorization=f"Bearer {ADMIN_TOKEN}") as client:
        assert await names(client) == {"mithril_quarantine_list", "mithril_release"}
        listed = value(await client.call_tool("mithril_quarantine_list", {"source": "chat-bot", "limit": 1}))
        (entry,) = listed["held"]
        assert (entry["text"], entry["decision_id"]) == (FACT, held["decision_id"])
        assert listed["next_before"] == entry["quarantine_id"]
        released = await client.call_tool(
            "mithril_release", {"quarantine_id": entry["quarantine_id"], "reason": "checked with the office"}
        )
        assert value(released)["state"] == "released"
        again = {"quarantine_id": entry["quarantine_id"], "reason": "checked with the office"}
        assert "released" in failure(await client.call_tool("mithril_release", again))
        assert "no held claim" in failure(
            await client.call_tool("mithril_release", {**again, "quarantine_id": "qua_none"})
        )
    assert setup.cognee.texts == [FACT]
    assert setup.cognee.api_keys == [SERVICE_KEY]


async def test_an_operators_token_never_reaches_memory_or_the_upstream(setup: Setup, url: str) -> None:
    async with connected(url, authorization=f"Bearer {ADMIN_TOKEN}") as client:
        assert (await client.call_tool("mithril_remember", {"text": FACT})).is_error
    assert ADMIN_TOKEN not in setup.cognee.api_keys
    assert setup.cognee.documents == []


async def test_a_token_that_may_only_read_is_refused_and_a_revoked_one_is_noticed_at_the_call(setup: Setup) -> None:
    scopes = {"reader": frozenset(("read",)), "reviewer": frozenset(("review",))}

    async def scopes_of(token: str) -> frozenset[str]:
        return scopes.get(token, frozenset())

    plane = build_mcp_plane(setup.application, scopes_of)
    async with served(with_mcp(Starlette(), plane)) as url:
        async with httpx2.AsyncClient(trust_env=False) as http:
            answer = await http.post(f"{url}/mcp", json={}, headers={"authorization": "Bearer reader"})
            assert (answer.status_code, answer.json()["error"]) == (403, "forbidden")
        async with connected(url, authorization="Bearer reviewer") as client:
            assert value(await client.call_tool("mithril_quarantine_list", {}))["held"] == []
            del scopes["reviewer"]
            assert (await client.call_tool("mithril_quarantine_list", {})).is_error


async def test_the_rest_of_the_admin_plane_answers_beside_it(url: str) -> None:
    async with httpx2.AsyncClient(trust_env=False) as http:
        assert (await http.get(f"{url}/api/v1/health")).status_code == 200
        assert (await http.get(f"{url}/api/v1/sources")).status_code == 401
