"""The review desk: pages that a server renders and a browser shows, with no script needed to work."""

from mithril_proxy.admin.desk.render import Desk
from mithril_proxy.admin.desk.routes import desk_routes

__all__ = ["Desk", "desk_routes"]
