"""Health, who one is, incidents, and the numbers behind the charts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from starlette.requests import Request

from mithril_proxy import __version__
from mithril_proxy.admin.access import operator_of
from mithril_proxy.admin.endpoint import Endpoint
from mithril_proxy.admin.operations import Operations
from mithril_proxy.admin.shapes import Health, Identity, IncidentList, IncidentsQuery, Nothing, Stats, StatsQuery
from mithril_proxy.store.desk import Scope


@dataclass(frozen=True, slots=True)
class Overview:
    """The state of the whole."""

    operations: Operations

    async def health(self, request: Request, given: Nothing) -> Health:
        """Raises StoreUnavailable."""
        await self.operations.store.ping()
        return Health("ready", __version__)

    async def whoami(self, request: Request, given: Nothing) -> Identity:
        """The name and scope of the token."""
        operator = operator_of(request)
        return Identity(operator.name, operator.scope)

    async def incidents(self, request: Request, given: IncidentsQuery) -> IncidentList:
        """Rows of the view `incidents`."""
        return IncidentList(tuple(await self.operations.store.incidents(after=given.after, limit=given.limit)))

    async def stats(self, request: Request, given: StatsQuery) -> Stats:
        """Counts of the last hours."""
        since = self.operations.clock.now() - timedelta(hours=given.hours)
        store = self.operations.store
        return Stats(
            since,
            tuple(await store.tallies(since)),
            await store.queue_depth(),
            self.operations.policy.thresholds.model_dump(),
        )


def overview_endpoints(operations: Operations) -> tuple[Endpoint, ...]:
    """The endpoints of this subject."""
    api = Overview(operations)
    return (
        Endpoint("GET", "/health", None, "Whether the database takes writes", api.health, Health),
        Endpoint("GET", "/whoami", Scope.READ, "Name and scope of the token", api.whoami, Identity),
        Endpoint("GET", "/incidents", Scope.READ, "Incidents", api.incidents, IncidentList, IncidentsQuery),
        Endpoint("GET", "/stats", Scope.READ, "Counts for charts", api.stats, Stats, StatsQuery),
    )
