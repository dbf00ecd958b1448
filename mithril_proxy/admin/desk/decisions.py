"""Decisions: the list, and the way of one claim through the five stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from mithril_proxy.admin.desk.queue import score_chart
from mithril_proxy.admin.desk.render import Desk, address
from mithril_proxy.admin.shapes import DecisionsQuery, StoredDecision, stored_decision
from mithril_proxy.admin.words import why_held
from mithril_proxy.store.interface import Page
from mithril_proxy.types import Finding, Status


@dataclass(frozen=True, slots=True)
class Step:
    """One stage on a claim's way: how long it took, what it measured, and what it found."""

    name: str
    ms: float | None
    measured: tuple[str, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Decisions:
    """The pages about decisions."""

    desk: Desk

    async def show(self, request: Request) -> Response:
        """Decisions by filter, the newest first."""
        query = _query(request)
        page = Page(query.limit, query.before)
        rows = await self.desk.operations.store.decisions(page, source=query.source, status=query.status)
        decisions = [stored_decision(row) for row in rows]
        more = _older(request, decisions[-1].id) if len(decisions) == query.limit else None
        return self.desk.page(
            request, "decisions.html", decisions=decisions, query=query, statuses=tuple(Status), more=more
        )

    async def decision(self, request: Request) -> Response:
        """One decision, stage by stage. Raises NotFound."""
        store = self.desk.operations.store
        decision = stored_decision(await store.decision(request.path_params["id"]))
        return self.desk.page(
            request,
            "decision.html",
            decision=decision,
            why=why_held(decision),
            way=way(decision),
            chart=score_chart(decision, self.desk.operations.policy),
            history=await store.audit_of(decision.id),
        )


def way(decision: StoredDecision) -> tuple[Step, ...]:
    """The five stages in their order, each with its evidence. What none of them left came with the call."""
    measured = {
        "redact": (f"{decision.claim_length} characters",),
        "reputation": (f"source reputation {decision.source_reputation:.3f}",),
        "contradiction": (
            f"contradiction {decision.contradiction:.3f}",
            f"content danger {decision.content_danger:.3f}",
            f"corroboration {decision.corroboration:.3f}",
        ),
        "score": (f"raw {decision.raw:.3f}", f"score {decision.score:.3f}", f"freshness {decision.freshness:.3f}"),
        "gate": (f"{decision.status}",),
    }
    return tuple(
        Step(name, decision.stage_ms.get(name), said, tuple(f for f in decision.findings if _stage_of(f) == name))
        for name, said in measured.items()
    )


def _stage_of(finding: Finding) -> str:
    """The stage whose evidence a finding is; what the call itself showed is weighed by the gate."""
    return finding.stage if finding.stage in ("redact", "reputation", "contradiction", "score") else "gate"


def _query(request: Request) -> DecisionsQuery:
    """The filter of the form; its empty fields mean nothing. A wrong one lists everything."""
    given: dict[str, Any] = {name: value for name, value in request.query_params.items() if value}
    try:
        return DecisionsQuery.model_validate(given)
    except ValidationError:
        return DecisionsQuery()


def _older(request: Request, before: str) -> str:
    return address("/decisions", **{**dict(request.query_params), "before": before})
