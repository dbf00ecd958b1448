"""The admin plane: operators only, on a listener of its own. It has the JSON API, the review desk and the metrics."""

from mithril_proxy.admin.operations import Operations
from mithril_proxy.admin.operators import Gatekeeper, new_token, token_digest
from mithril_proxy.admin.plane import build_admin

__all__ = ["Gatekeeper", "Operations", "build_admin", "new_token", "token_digest"]
