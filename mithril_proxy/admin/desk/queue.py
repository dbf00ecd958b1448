"""The queue of held claims, duplicates as one row, and one claim with everything a reviewer decides by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from mithril_proxy.admin.access import operator_of
from mithril_proxy.admin.desk.charts import waterfall
from mithril_proxy.admin.desk.render import Desk, address, see_other, segment
from mithril_proxy.admin.desk.text import differences
from mithril_proxy.admin.held import held_claim, quarantine_filter
from mithril_proxy.admin.requests import read_form, validated
from mithril_proxy.admin.shapes import (
    HeldQuery,
    ReasonBody,
    ReconsiderBody,
    ReleaseBody,
    StoredDecision,
    stored_decision,
)
from mithril_proxy.errors import NotFound
from mithril_proxy.policy import Policy
from mithril_proxy.store.interface import Page, QuarantineFilter
from mithril_proxy.types import Memory, QuarantineEntry, Relation, ReviewState, Status

NEXT_WAITING = 2


@dataclass(frozen=True, slots=True)
class Compared:
    """A verified memory beside the claim, with the words that differ marked in both."""

    memory: Memory
    claim: Markup
    text: Markup


@dataclass(frozen=True, slots=True)
class Queue:
    """What waits for a person."""

    desk: Desk

    async def show(self, request: Request) -> Response:
        """Held claims by filter, the newest first, claims with one text in one row."""
        query = _query(request)
        where, store = quarantine_filter(query), self.desk.operations.store
        groups = await store.held_groups(Page(query.limit, query.before), where)
        rows = [(group, await store.held(group.newest_id)) for group in groups]
        more = _older(request, groups[-1].newest_id) if len(groups) == query.limit else None
        return self.desk.page(
            request, "queue.html", rows=rows, query=query, states=tuple(ReviewState), statuses=tuple(Status), more=more
        )

    async def entry(self, request: Request) -> Response:
        """One held claim: why, by what, against which memories, and what can be done. Raises NotFound."""
        store = self.desk.operations.store
        claim = await held_claim(store, request.path_params["id"])
        copies = QuarantineFilter(state=None, claim_digest=claim.decision.claim_digest)
        same = await store.held_groups(Page(1), copies)
        waiting = await store.quarantine(Page(NEXT_WAITING, claim.entry.id), QuarantineFilter())
        return self.desk.page(
            request,
            "entry.html",
            claim=claim,
            entry=claim.entry,
            decision=claim.decision,
            contradicted=_compared(claim.entry, {Relation.CONTRADICTS}),
            others=[memory for memory in claim.entry.context if memory.relation is not Relation.CONTRADICTS],
            chart=score_chart(claim.decision, self.desk.operations.policy),
            group=same[0] if same else None,
            again=await self._again(claim.entry),
            next_waiting=waiting[0] if waiting else None,
        )

    async def release(self, request: Request) -> Response:
        """Forward it, corrected where the form says so."""
        form = await read_form(request)
        body = validated(ReleaseBody, {"reason": form.get("reason", ""), "text": form.get("text") or None})
        entry = await self.desk.operations.releases.release(
            request.path_params["id"], reviewer=operator_of(request).name, reason=body.reason, text=body.text
        )
        if entry.state is not ReviewState.RELEASED:
            return _back(entry, "proposed")
        return _back(entry, "granted" if entry.is_grant else "released")

    async def reject(self, request: Request) -> Response:
        """Close it."""
        body = validated(ReasonBody, {"reason": (await read_form(request)).get("reason", "")})
        return _back(
            await self.desk.operations.releases.reject(
                request.path_params["id"], reviewer=operator_of(request).name, reason=body.reason
            ),
            "rejected",
        )

    async def reconsider(self, request: Request) -> Response:
        """Change the outcome of its review."""
        form = await read_form(request)
        body = validated(ReconsiderBody, {"reason": form.get("reason", ""), "state": form.get("state", "")})
        entry = await self.desk.operations.releases.reconsider(
            request.path_params["id"], body.state, reviewer=operator_of(request).name, reason=body.reason
        )
        return _back(entry, "reconsidered" if entry.state is body.state else "proposed")

    async def reevaluate(self, request: Request) -> Response:
        """Judge it again, with the policy, judge and memory of now; it stays where it is."""
        entry = await self.desk.operations.store.held(request.path_params["id"])
        reevaluator = await self.desk.operations.reevaluator()
        return _back((await reevaluator.reevaluate(entry, release=False)).entry, "reevaluated")

    async def _again(self, entry: QuarantineEntry) -> StoredDecision | None:
        """The decision it got when it was judged again."""
        if entry.reevaluation is None:
            return None
        try:
            return stored_decision(await self.desk.operations.store.decision(entry.reevaluation))
        except NotFound:
            return None


def score_chart(decision: StoredDecision, policy: Policy) -> Markup:
    """The waterfall of one decision, on the scale that it was scored by."""
    scale = decision.raw / decision.score if 0 < decision.score < 1 else policy.scale
    label = f"From the signals to the raw score {decision.raw:.3f}, which is a score of {decision.score:.3f}"
    return waterfall(decision.contributions, decision.raw, scale, policy.thresholds.model_dump(), label)


def _compared(entry: QuarantineEntry, relations: set[Relation]) -> list[Compared]:
    chosen = [memory for memory in entry.context if memory.relation in relations]
    return [Compared(memory, *differences(entry.text, memory.text)) for memory in chosen]


def _query(request: Request) -> HeldQuery:
    """The filter of the form; its empty fields mean nothing. A wrong one lists what is pending."""
    given: dict[str, Any] = {name: value for name, value in request.query_params.items() if value and name != "said"}
    try:
        return HeldQuery.model_validate(given)
    except ValidationError:
        return HeldQuery()


def _older(request: Request, before: str) -> str:
    return address("/queue", **{**dict(request.query_params), "before": before})


def _back(entry: QuarantineEntry, said: str) -> Response:
    return see_other(address(f"/queue/{segment(entry.id)}", said=said))
