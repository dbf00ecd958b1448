"""The data plane: an ASGI application that speaks Cognee's API, with the firewall in it."""

from mithril_proxy.proxy.plane import DataPlane
from mithril_proxy.proxy.services import Services

__all__ = ["DataPlane", "Services"]
