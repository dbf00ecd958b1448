"""The admin plane: operators only, on a listener of its own."""

from mithril_proxy.admin.api import build_admin

__all__ = ["build_admin"]
