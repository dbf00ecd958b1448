"""Decisions: recorded with everything that hangs on them, listed newest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import or_, select

from mithril_proxy.errors import NotFound
from mithril_proxy.store.changes import AuditEntry, Changes
from mithril_proxy.store.incidents import of_decision
from mithril_proxy.store.interface import Outcome, Page, Recorded, ReputationStep
from mithril_proxy.store.part import Part
from mithril_proxy.store.reputation import Move
from mithril_proxy.store.rows import decision_columns, decision_of, held_columns, readable, time_text
from mithril_proxy.store.schema import decisions, quarantine
from mithril_proxy.types import Decision, HeldWrite, ReviewState, Status

REVOKED_OUTCOME = "revoked"  # of a decision whose memory was withdrawn


class Decisions(Part):
    """The part of the store that records and shows decisions."""

    async def record(
        self, decision: Decision, *, held: HeldWrite | None = None, step: ReputationStep | None = None
    ) -> Recorded:
        """Make a decision durable with its audit row, its held write and the step of its source's reputation."""
        quarantine_id = None if held is None else self._clock.new_id("qua")
        at = time_text(decision.at)
        move = Move(
            provenance=decision.provenance,
            at=at,
            steps=() if step is None else (step,),
            decision_id=decision.id,
            decisions=1,
            is_diverted=not decision.status.is_admitted,
        )
        changes = Changes(
            decisions=[decision_columns(decision, at, quarantine_id)],
            held=[] if held is None or quarantine_id is None else [held_columns(quarantine_id, decision, held)],
            moves=[move],
            incidents=list(of_decision(decision, at, self._writer.rules)),
            audit=[AuditEntry(at, "decision", decision.id, decision_payload(decision, quarantine_id), move)],
        )
        await self._writer.write(changes)
        return Recorded(quarantine_id, move.after)

    async def record_outcome(self, decision_id: str, outcome: Outcome) -> None:
        """Append the audit row that says what became of the decision, and mark the decision with it."""
        at = self._now()
        mark = {
            "decision_id": decision_id,
            "kind": outcome.kind,
            "http_status": outcome.http_status,
            "outcome_at": at,
        }
        entry = AuditEntry(at, "outcome", decision_id, outcome_payload(outcome))
        await self._writer.write(Changes(outcomes=[mark], audit=[entry]))

    async def decision(self, decision_id: str) -> Mapping[str, Any]:
        """One decision as stored. Raises NotFound."""
        rows = await self._read(select(decisions).where(decisions.c.id == decision_id))
        if not rows:
            raise NotFound(f"no decision {decision_id!r}")
        return decision_of(rows[0])

    async def admitted_among(self, decision_ids: Sequence[str]) -> frozenset[str]:
        """Those of the decisions that admitted their claim, or whose claim was released, and that are not withdrawn."""
        released = select(quarantine.c.decision_id).where(
            quarantine.c.decision_id.in_(set(decision_ids)), quarantine.c.state == ReviewState.RELEASED.value
        )
        admitted = [status.value for status in Status if status.is_admitted]
        query = select(decisions.c.id).where(
            decisions.c.id.in_(set(decision_ids)),
            or_(decisions.c.status.in_(admitted), decisions.c.id.in_(released)),
            or_(decisions.c.outcome.is_(None), decisions.c.outcome != REVOKED_OUTCOME),
        )
        return frozenset(str(row["id"]) for row in await self._read(query))

    async def decisions(
        self, page: Page, *, source: str | None = None, status: Status | None = None
    ) -> Sequence[Mapping[str, Any]]:
        """Decisions, newest first."""
        query = select(decisions).order_by(decisions.c.id.desc()).limit(page.limit)
        if page.before is not None:
            query = query.where(decisions.c.id < page.before)
        if source is not None:
            query = query.where(decisions.c.source == source)
        if status is not None:
            query = query.where(decisions.c.status == status.value)
        return [decision_of(row) for row in await self._read(query)]


def decision_payload(decision: Decision, quarantine_id: str | None) -> dict[str, Any]:
    """What the audit keeps of a decision; the writer adds how the reputation moved."""
    return {
        "status": decision.status.value,
        "score": decision.trust.score,
        "mode": decision.mode.value,
        "source": readable(decision.provenance.source),
        "principal": readable(decision.provenance.principal),
        "route": readable(decision.route),
        "request_id": readable(decision.request_id),
        "claim_digest": decision.claim_digest,
        "policy_digest": decision.policy_digest,
        "reasons": list(decision.reasons),
        "quarantine_id": quarantine_id,
    }


def outcome_payload(outcome: Outcome) -> dict[str, Any]:
    """What the audit keeps of an outcome."""
    return {"outcome": outcome.kind, "http_status": outcome.http_status, "detail": dict(outcome.detail)}
