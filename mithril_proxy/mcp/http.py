"""`/mcp` on the admin listener: streamable HTTP, each request on its own, by the credential that it carries.

1. A request without a credential is answered 401: a page in a browser cannot know one, whatever name it resolves.
2. An operator's token that may review gets the operator's tools; everything else is an agent's key.
3. An operator's token never goes to the data plane, which would send it on to Cognee.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from mithril_proxy.mcp.callers import CARRIED, REVIEW_SCOPES, ScopesOf, bearer_token

MCP_PATH = "/mcp"
PATHS = frozenset((MCP_PATH, MCP_PATH + "/"))


@dataclass(slots=True)
class McpPlane:
    """The MCP endpoint. Use it within `running`."""

    agents: MCPServer[Any]
    operators: MCPServer[Any]
    scopes_of: ScopesOf
    _agents: ASGIApp = field(init=False)
    _operators: ASGIApp = field(init=False)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve until the block ends."""
        agents, operators = _manager(self.agents), _manager(self.operators)
        self._agents, self._operators = agents.handle_request, operators.handle_request
        async with agents.run(), operators.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers = Headers(scope=scope)
        token = bearer_token([(name.encode(), headers[name].encode("latin-1")) for name in CARRIED if name in headers])
        if not token:
            await _refuse(401, "unauthorised", "send a Mithril key: X-Api-Key: mk_… or Authorization: Bearer mk_…")(
                scope, receive, send
            )
            return
        scopes = await self.scopes_of(token)
        if scopes and not scopes & REVIEW_SCOPES:
            await _refuse(403, "forbidden", "this token may only read; MCP needs the scope review, or a Mithril key")(
                scope, receive, send
            )
            return
        await (self._operators if scopes else self._agents)(scope, receive, send)


def with_mcp(admin: ASGIApp, mcp: McpPlane) -> ASGIApp:
    """The admin plane with `/mcp` beside it: MCP callers bring credentials of their own.

    It needs its server's lifespan, which is how long the MCP endpoint runs.
    """

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            async with mcp.running():
                await admin(scope, receive, send)
            return
        is_mcp = scope["type"] == "http" and scope["path"] in PATHS
        await (mcp if is_mcp else admin)(scope, receive, send)

    return serve


def _manager(server: MCPServer[Any]) -> StreamableHTTPSessionManager:
    """Without sessions: a call is answered to whoever sends it, and a restart loses nobody's connection."""
    server.streamable_http_app(stateless_http=True, json_response=True, host="")
    return server.session_manager


def _refuse(status: int, code: str, detail: str) -> ASGIApp:
    headers = {"www-authenticate": "Bearer"} if status == 401 else None
    return JSONResponse({"error": code, "detail": detail}, status_code=status, headers=headers)
