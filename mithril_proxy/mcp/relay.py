"""A stdio server that passes everything on to the `/mcp` of a running Mithril, with one credential."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams

from mithril_proxy import __version__
from mithril_proxy.errors import UpstreamUnavailable

TIMEOUT_S = 600.0  # a blocking remember waits for Cognee's pipeline


@asynccontextmanager
async def relay_server(url: str, key: str) -> AsyncIterator[Server[Any]]:
    """A server with the tools that `key` has at `url`. Raises UpstreamUnavailable when they cannot be asked for."""
    headers = {"authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=TIMEOUT_S, trust_env=False) as http,
        Client(streamable_http_client(url, http_client=http), cache=None) as client,
    ):
        yield _server(client)


def _server(client: Client) -> Server[Any]:
    async def list_tools(
        context: ServerRequestContext[Any, Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return await client.list_tools()

    async def call_tool(context: ServerRequestContext[Any, Any], params: CallToolRequestParams) -> CallToolResult:
        return await client.call_tool(params.name, params.arguments or {})

    return Server(
        "mithril",
        version=__version__,
        instructions=client.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def check_reachable(url: str, key: str) -> None:
    """Nothing when `/mcp` at `url` takes the key. Raises UpstreamUnavailable that says what to do."""
    async with httpx2.AsyncClient(timeout=10.0, trust_env=False) as http:
        try:
            answer = await http.post(url, json={}, headers={"authorization": f"Bearer {key}"})
        except httpx2.HTTPError as error:
            raise UpstreamUnavailable(
                f"{url} cannot be reached ({type(error).__name__}); is `mithril serve` running?"
            ) from None
    if answer.status_code in (401, 403, 404):
        raise UpstreamUnavailable(
            f"{url} answered {answer.status_code}: give the /mcp of the admin listener, and a valid key"
        )
