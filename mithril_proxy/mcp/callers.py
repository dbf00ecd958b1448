"""Who calls a tool: the credential that came with the MCP request, or the one that the process was started with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from mithril_proxy.errors import MithrilError, StoreUnavailable, UpstreamUnavailable
from mithril_proxy.proxy.headers import RawHeaders

CARRIED = ("authorization", "x-api-key", "x-mithril-source")
REVIEW_SCOPES = frozenset(("review", "admin"))

ScopesOf = Callable[[str], Awaitable[frozenset[str]]]
"""The scopes of an operator's bearer token: read, review, admin; none for what is no operator's token."""

CallContext = Context[Any, Any]


@dataclass(frozen=True, slots=True)
class Credentials:
    """Where a tool finds its caller's headers. `fixed` are those of a stdio server, which has one caller only."""

    fixed: RawHeaders | None = None

    def of(self, context: CallContext) -> RawHeaders:
        """The headers that say who calls; empty when nothing does."""
        if self.fixed is not None:
            return self.fixed
        given = context.headers or {}
        return [(name.encode(), given[name].encode("latin-1")) for name in CARRIED if name in given]


def bearer_token(headers: RawHeaders) -> str:
    """The token of `Authorization: Bearer …` or X-Api-Key; empty when there is none."""
    values = {name.lower(): value.decode("latin-1").strip() for name, value in headers}
    scheme, _, token = values.get(b"authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else values.get(b"x-api-key", "")


def tool_error(error: MithrilError) -> ToolError:
    """What an agent reads when a call failed, with what it can do about it."""
    if isinstance(error, UpstreamUnavailable):
        return ToolError(f"memory cannot be reached: {error}. Nothing was stored. Try again in a minute.")
    if isinstance(error, StoreUnavailable):
        return ToolError(f"Mithril cannot record decisions now: {error}. Nothing was stored. Try again in a minute.")
    return ToolError(str(error))
