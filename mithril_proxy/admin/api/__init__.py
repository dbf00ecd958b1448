"""The admin API: each module answers for one subject and lists its endpoints."""

from __future__ import annotations

from mithril_proxy.admin.api.decisions import decision_endpoints
from mithril_proxy.admin.api.overview import overview_endpoints
from mithril_proxy.admin.api.policy import policy_endpoints
from mithril_proxy.admin.api.quarantine import quarantine_endpoints
from mithril_proxy.admin.api.sources import source_endpoints
from mithril_proxy.admin.endpoint import Endpoint
from mithril_proxy.admin.operations import Operations


def api_endpoints(operations: Operations) -> tuple[Endpoint, ...]:
    """Every call of the API."""
    return (
        *overview_endpoints(operations),
        *decision_endpoints(operations),
        *quarantine_endpoints(operations),
        *source_endpoints(operations),
        *policy_endpoints(operations),
    )
