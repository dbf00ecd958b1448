"""Decisions, as they were made."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from mithril_proxy.admin.endpoint import Endpoint
from mithril_proxy.admin.operations import Operations
from mithril_proxy.admin.shapes import DecisionList, DecisionsQuery, Nothing, StoredDecision, stored_decision
from mithril_proxy.store.desk import Scope
from mithril_proxy.store.interface import Page


@dataclass(frozen=True, slots=True)
class Decisions:
    """Reads decisions."""

    operations: Operations

    async def decisions(self, request: Request, given: DecisionsQuery) -> DecisionList:
        """Decisions, newest first."""
        page = Page(given.limit, given.before)
        rows = await self.operations.store.decisions(page, source=given.source, status=given.status)
        return DecisionList(tuple(stored_decision(row) for row in rows))

    async def decision(self, request: Request, given: Nothing) -> StoredDecision:
        """One decision. Raises NotFound."""
        return stored_decision(await self.operations.store.decision(request.path_params["id"]))


def decision_endpoints(operations: Operations) -> tuple[Endpoint, ...]:
    """The endpoints of this subject."""
    api = Decisions(operations)
    return (
        Endpoint(
            "GET", "/decisions", Scope.READ, "Decisions, newest first", api.decisions, DecisionList, DecisionsQuery
        ),
        Endpoint("GET", "/decisions/{id}", Scope.READ, "One decision", api.decision, StoredDecision, errors=(404,)),
    )
