"""MCP over stdin and stdout, for one caller."""

from __future__ import annotations

from typing import Any

from mcp.server.lowlevel.server import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server


async def serve_stdio(server: MCPServer[Any] | Server[Any]) -> None:
    """Serve until stdin is closed."""
    if isinstance(server, MCPServer):
        await server.run_stdio_async()
        return
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
