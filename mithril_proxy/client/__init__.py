"""Mithril as its own client: whole calls to a data plane, in this process or at a URL, and nothing past it.

The MCP tools and the connectors write and recall through here, so that there is one way into memory.
"""

from mithril_proxy.client.inprocess import InProcess
from mithril_proxy.client.memory import CallFailed, Decided, Document, MemoryClient

__all__ = ["CallFailed", "Decided", "Document", "InProcess", "MemoryClient"]
