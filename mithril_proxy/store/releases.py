"""Releasing held claims so that each is forwarded once, whatever dies in between (`mithril_proxy.quarantine`).

| the process dies | the claim is found as | and then |
| --- | --- | --- |
| before the intent commits | pending | it waits as before |
| after the intent, before the upstream is called | releasing | the lease runs out; a new attempt sends it first |
| after the upstream took it, before the outcome commits | releasing | a new attempt repeats it under the same key |
| after the outcome | released | nothing is left to do |
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, select

from mithril_proxy.errors import InvalidTransition
from mithril_proxy.quarantine import check_move, check_release
from mithril_proxy.store.changes import AuditEntry, Changes
from mithril_proxy.store.decisions import outcome_payload
from mithril_proxy.store.held import Held, locked_row, reviewed, reviewed_changes, set_columns
from mithril_proxy.store.interface import Correction, Outcome, Release, ReputationStep
from mithril_proxy.store.rows import Row, entry_of, json_text, readable, step_text, time_of, time_text
from mithril_proxy.store.schema import quarantine
from mithril_proxy.types import QuarantineEntry, ReviewState


class Releases(Held):
    """The quarantine with the two ways out of it that lead to memory: a forward by Mithril, or a grant."""

    async def begin_release(
        self,
        quarantine_id: str,
        *,
        reviewer: str,
        reason: str,
        lease_s: float = 120.0,
        correction: Correction | None = None,
    ) -> Release:
        """Commit the intent to forward a held claim: call it before the upstream. Exactly one caller holds it.

        A claim whose holder died can be taken over when its lease has run out. Raises NotFound, InvalidTransition.
        """
        key = self._clock.new_id("rel")
        begun: dict[str, Any] = {}

        def begin(connection: Connection) -> Changes:
            row = locked_row(connection, quarantine_id)
            now = self._clock.now()
            lease_until = row["lease_until"]
            check_release(ReviewState(row["state"]), None if lease_until is None else time_of(lease_until), now)
            columns = {
                **reviewed(reviewer, reason, time_text(now)),
                "state": ReviewState.RELEASING.value,
                "release_key": row["release_key"] or key,
                "lease_until": time_text(now + timedelta(seconds=lease_s)),
                "release_attempts": row["release_attempts"] + 1,
                **_corrected(correction),
            }
            set_columns(connection, quarantine_id, columns)
            begun.update({**row, **columns})
            return reviewed_changes(row, ReviewState.RELEASING, columns, detail=_intent(columns, correction))

        await self._writer.run(begin)
        return Release(entry_of(begun), begun["release_key"], begun["release_attempts"], time_of(begun["lease_until"]))

    async def finish_release(
        self, release: Release, outcome: Outcome, *, step: ReputationStep | None = None
    ) -> QuarantineEntry:
        """Commit that the upstream took the claim. Doing it again with the same key changes nothing.

        Raises NotFound, InvalidTransition.
        """

        def finish(connection: Connection) -> Changes:
            row = locked_row(connection, release.entry.id)
            if row["release_key"] != release.key:
                raise InvalidTransition("this claim is not being released under that key")
            if row["state"] == ReviewState.RELEASED.value:
                return Changes()
            check_move(ReviewState(row["state"]), ReviewState.RELEASED)
            columns = {"state": ReviewState.RELEASED.value, "lease_until": None, "review_step": step_text(step)}
            set_columns(connection, row["id"], columns)
            steps = () if step is None else (step,)
            return self._ended(row, ReviewState.RELEASED, release, outcome, steps)

        await self._writer.run(finish)
        return await self.held(release.entry.id)

    async def abandon_release(self, release: Release, outcome: Outcome) -> QuarantineEntry:
        """Commit that the upstream refused the claim: it waits for review again.

        Raises NotFound, and InvalidTransition when a later attempt holds the release.
        """

        def abandon(connection: Connection) -> Changes:
            row = locked_row(connection, release.entry.id)
            check_move(ReviewState(row["state"]), ReviewState.PENDING)
            if (row["release_key"], row["release_attempts"]) != (release.key, release.attempt):
                raise InvalidTransition("a later attempt holds this release")
            columns = {"state": ReviewState.PENDING.value, "lease_until": None}
            set_columns(connection, row["id"], columns)
            return self._ended(row, ReviewState.PENDING, release, outcome)

        await self._writer.run(abandon)
        return await self.held(release.entry.id)

    async def lapsed_releases(self, limit: int = 100) -> Sequence[QuarantineEntry]:
        """Claims whose release began and whose lease ran out: a process died between intent and outcome."""
        query = (
            select(quarantine)
            .where(quarantine.c.state == ReviewState.RELEASING.value, quarantine.c.lease_until <= self._now())
            .order_by(quarantine.c.id)
            .limit(limit)
        )
        return [entry_of(row) for row in await self._read(query)]

    async def grant(
        self, quarantine_id: str, *, reviewer: str, reason: str, step: ReputationStep | None = None
    ) -> QuarantineEntry:
        """Release without forwarding: the same principal's next write of the same text may pass, once.

        Raises NotFound, InvalidTransition.
        """

        def give(connection: Connection) -> Changes:
            row = locked_row(connection, quarantine_id)
            check_move(ReviewState(row["state"]), ReviewState.RELEASED)
            columns = {**reviewed(reviewer, reason, self._now()), "state": ReviewState.RELEASED.value}
            columns |= {"review_step": step_text(step), "is_grant": True}
            set_columns(connection, quarantine_id, columns)
            steps = () if step is None else (step,)
            return reviewed_changes(row, ReviewState.RELEASED, columns, steps=steps, detail={"way": "grant"})

        await self._writer.run(give)
        return await self.held(quarantine_id)

    async def find_grant(self, principal: str, claim_digest: str) -> QuarantineEntry | None:
        """The oldest unused grant for this principal and text; None when there is none. Reads only."""
        query = (
            select(quarantine)
            .where(
                quarantine.c.claim_digest == claim_digest,
                quarantine.c.principal == readable(principal),
                quarantine.c.is_grant,
                quarantine.c.grant_used_by.is_(None),
            )
            .order_by(quarantine.c.id)
            .limit(1)
        )
        rows = await self._read(query)
        return entry_of(rows[0]) if rows else None

    async def use_grant(self, quarantine_id: str, decision_id: str) -> None:
        """Spend a grant on a decision. Exactly one caller does. Raises NotFound, InvalidTransition when it is spent."""

        def spend(connection: Connection) -> Changes:
            row = locked_row(connection, quarantine_id)
            if not row["is_grant"] or row["grant_used_by"] is not None:
                raise InvalidTransition("this claim holds no unused grant")
            set_columns(connection, quarantine_id, {"grant_used_by": decision_id})
            payload = {"way": "grant", "event": "used", "decision_id": decision_id, "principal": row["principal"]}
            return Changes(audit=[AuditEntry(self._now(), "release", quarantine_id, payload)])

        await self._writer.run(spend)

    def _ended(
        self,
        row: Row,
        state: ReviewState,
        release: Release,
        outcome: Outcome,
        steps: tuple[ReputationStep, ...] = (),
    ) -> Changes:
        """The audit of how an attempt ended."""
        columns = {
            "reviewed_at": self._now(),
            "reviewer": row["reviewer"],
            "review_reason": row["review_reason"],
        }
        detail = {"way": "forward", "key": release.key, "attempt": release.attempt, **outcome_payload(outcome)}
        return reviewed_changes(row, state, columns, steps=steps, detail=detail)


def _corrected(correction: Correction | None) -> dict[str, Any]:
    if correction is None:
        return {}
    return {"text": readable(correction.text), "prepared": json_text(correction.prepared)}


def _intent(columns: dict[str, Any], correction: Correction | None) -> dict[str, Any]:
    return {
        "way": "forward",
        "key": columns["release_key"],
        "attempt": columns["release_attempts"],
        "is_corrected": correction is not None,
    }
