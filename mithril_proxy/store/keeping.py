"""What happens to held claims beside a review: proposals of a first reviewer, re-evaluation, and their end."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, delete, insert, select

from mithril_proxy.errors import InvalidTransition
from mithril_proxy.store.changes import AuditEntry, Changes
from mithril_proxy.store.desk import ReleaseProposal
from mithril_proxy.store.held import locked_row, set_columns
from mithril_proxy.store.incidents import UNAVAILABLE_SUFFIX
from mithril_proxy.store.part import Part
from mithril_proxy.store.reads import rows_of
from mithril_proxy.store.rows import Row, entry_of, readable, readable_or_none, time_of, time_text
from mithril_proxy.store.schema import quarantine, release_proposals
from mithril_proxy.types import QuarantineEntry, ReviewState

CLOSED = (ReviewState.RELEASED, ReviewState.REJECTED, ReviewState.EXPIRED)


class Keeping(Part):
    """The part of the store that keeps proposals and lets go of old entries."""

    async def proposal(self, quarantine_id: str) -> ReleaseProposal | None:
        """What a first reviewer proposed for a held claim; None when nobody has."""
        rows = await self._read(_proposed(quarantine_id))
        return _proposal_of(rows[0]) if rows else None

    async def propose_release(
        self, quarantine_id: str, *, reviewer: str, reason: str, text: str | None
    ) -> ReleaseProposal:
        """Keep what a first reviewer wants released, in place of an earlier proposal.

        The same proposal of the same reviewer changes nothing. Raises NotFound, InvalidTransition unless it is pending.
        """
        wanted = {"reviewer": readable(reviewer), "reason": readable(reason), "text": readable_or_none(text)}
        kept: list[Row] = []

        def propose(connection: Connection) -> Changes:
            row = locked_row(connection, quarantine_id)
            if row["state"] != ReviewState.PENDING.value:
                raise InvalidTransition(f"this claim is {row['state']}; only a pending one can be proposed for release")
            kept[:] = rows_of(connection, _proposed(quarantine_id))
            if kept and all(kept[0][name] == value for name, value in wanted.items() if name != "reason"):
                return Changes()
            at = self._now()
            kept[:] = [{"quarantine_id": quarantine_id, "at": at, **wanted}]
            connection.execute(delete(release_proposals).where(release_proposals.c.quarantine_id == quarantine_id))
            connection.execute(insert(release_proposals).values(kept[0]))
            said = {"reviewer": wanted["reviewer"], "reason": wanted["reason"]}
            payload = {"event": "proposed", **said, "is_corrected": text is not None}
            return Changes(audit=[AuditEntry(at, "release", quarantine_id, payload)])

        await self._writer.run(propose)
        return _proposal_of(kept[0])

    async def awaiting_evidence(self, limit: int) -> Sequence[QuarantineEntry]:
        """Pending claims held with evidence missing and not judged with all of it since, oldest first."""
        query = (
            select(quarantine)
            .where(
                quarantine.c.state == ReviewState.PENDING.value,
                quarantine.c.reevaluation.is_(None),
                quarantine.c.reasons.contains(f'{UNAVAILABLE_SUFFIX}"', autoescape=True),
            )
            .order_by(quarantine.c.id)
            .limit(limit)
        )
        return [entry_of(row) for row in await self._read(query)]

    async def mark_reevaluated(self, quarantine_id: str, decision_id: str) -> None:
        """Say which decision a held claim would get now."""

        def mark(connection: Connection) -> Changes:
            set_columns(connection, quarantine_id, {"reevaluation": decision_id})
            return Changes()

        await self._writer.run(mark)

    async def forget_held(self, before: datetime, *, limit: int = 500) -> int:
        """Delete closed entries older than `before`, with their text; decisions and audit stay. How many there were."""
        forgotten: list[str] = []

        def forget(connection: Connection) -> Changes:
            forgotten[:] = []
            for state in CLOSED:
                closed = (
                    select(quarantine.c.id)
                    .where(quarantine.c.state == state.value, quarantine.c.created_at < time_text(before))
                    .order_by(quarantine.c.id)
                    .limit(limit - len(forgotten))
                )
                forgotten.extend(connection.execute(closed).scalars().all())
            connection.execute(delete(release_proposals).where(release_proposals.c.quarantine_id.in_(forgotten)))
            connection.execute(delete(quarantine).where(quarantine.c.id.in_(forgotten)))
            at = self._now()
            return Changes(audit=[AuditEntry(at, "forget", quarantine_id, {}) for quarantine_id in forgotten])

        await self._writer.run(forget)
        return len(forgotten)


def _proposed(quarantine_id: str) -> Select[Any]:
    return select(release_proposals).where(release_proposals.c.quarantine_id == quarantine_id)


def _proposal_of(row: Row) -> ReleaseProposal:
    return ReleaseProposal(row["quarantine_id"], time_of(row["at"]), row["reviewer"], row["reason"], row["text"])
