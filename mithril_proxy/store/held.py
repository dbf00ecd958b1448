"""The quarantine: what waits for a person, how it is listed, and the reviews that end the wait."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, FromClause, Select, delete, func, or_, select, true, update

from mithril_proxy.errors import NotFound
from mithril_proxy.quarantine import AUDIT_KINDS, check_move, check_reconsider
from mithril_proxy.store.changes import AuditEntry, Changes
from mithril_proxy.store.interface import HeldGroup, Page, QuarantineFilter, ReputationStep
from mithril_proxy.store.part import Part
from mithril_proxy.store.reads import rows_of
from mithril_proxy.store.reputation import Move, inverse
from mithril_proxy.store.rows import Row, entry_of, readable, step_of, step_text, time_of, time_text
from mithril_proxy.store.schema import quarantine, release_proposals
from mithril_proxy.types import Provenance, QuarantineEntry, ReviewState

CheckStep = Callable[[ReviewState, ReviewState], None]


class Held(Part):
    """The part of the store that keeps held claims and reviews."""

    async def held(self, quarantine_id: str) -> QuarantineEntry:
        """One held claim. Raises NotFound."""
        rows = await self._read(select(quarantine).where(quarantine.c.id == quarantine_id))
        if not rows:
            raise _no_entry(quarantine_id)
        return entry_of(rows[0])

    async def quarantine(self, page: Page, where: QuarantineFilter) -> Sequence[QuarantineEntry]:
        """Held claims, newest first."""
        query = narrowed(select(quarantine), where).order_by(quarantine.c.id.desc()).limit(page.limit)
        if page.before is not None:
            query = query.where(quarantine.c.id < page.before)
        return [entry_of(row) for row in await self._read(query)]

    async def held_among(self, digests: Sequence[str]) -> frozenset[str]:
        """Those of the claim digests whose text was held and never released."""
        query = select(quarantine.c.claim_digest).where(
            quarantine.c.claim_digest.in_(set(digests)), quarantine.c.state != ReviewState.RELEASED.value
        )
        return frozenset(str(row["claim_digest"]) for row in await self._read(query))

    async def held_groups(self, page: Page, where: QuarantineFilter) -> Sequence[HeldGroup]:
        """Held claims grouped by text, the one with the newest entry first; `page.before` is a `newest_id`.

        Walks the listing from its end and keeps what has no newer copy, so that a page costs what it shows.
        """
        newer = quarantine.alias("newer")
        copies = narrowed(select(newer.c.id), where, newer)
        copies = copies.where(newer.c.claim_digest == quarantine.c.claim_digest, newer.c.id > quarantine.c.id)
        query = narrowed(select(quarantine.c.id, quarantine.c.claim_digest), where)
        query = query.where(~copies.exists()).order_by(quarantine.c.id.desc()).limit(page.limit)
        if page.before is not None:
            query = query.where(quarantine.c.id < page.before)
        newest = await self._read(query)
        digests = [row["claim_digest"] for row in newest]
        groups = {row["claim_digest"]: _group_of(row) for row in await self._read(_grouped(digests, where))}
        return [groups[digest] for digest in digests if digest in groups]

    async def review(
        self,
        quarantine_id: str,
        state: ReviewState,
        *,
        reviewer: str,
        reason: str,
        step: ReputationStep | None = None,
    ) -> QuarantineEntry:
        """Move a held claim along its life cycle, with its audit row and the step it means for its source.

        Exactly one caller wins a transition. Raises NotFound, InvalidTransition.
        """
        return await self._conclude(quarantine_id, state, check_move, reviewer, reason, step)

    async def reconsider(
        self,
        quarantine_id: str,
        state: ReviewState,
        *,
        reviewer: str,
        reason: str,
        step: ReputationStep | None = None,
    ) -> QuarantineEntry:
        """Change the outcome of a review; the step that the first one took is taken back before `step`.

        Raises NotFound, InvalidTransition.
        """
        return await self._conclude(quarantine_id, state, check_reconsider, reviewer, reason, step)

    async def expire_held(self, before: datetime, *, limit: int = 500) -> int:
        """Expire claims that have waited since before `before`, oldest first; how many there were, at most `limit`."""
        return await self._expire(quarantine.c.created_at < time_text(before), limit, "its time in quarantine ran out")

    async def expire_surplus(self, count: int) -> int:
        """Expire the `count` oldest pending claims; how many there were."""
        return await self._expire(true(), count, "too many claims are waiting; the oldest make room")

    async def _expire(self, condition: ColumnElement[bool], limit: int, reason: str) -> int:
        expired: list[str] = []

        def expire(connection: Connection) -> Changes:
            at = self._now()
            waiting = (
                select(quarantine.c.id)
                .where(quarantine.c.state == ReviewState.PENDING.value, condition)
                .order_by(quarantine.c.id)
                .limit(limit)
            )
            expired[:] = (connection.execute(waiting)).scalars().all()
            columns = {"state": ReviewState.EXPIRED.value, "reviewed_at": at, "reviewer": "mithril"}
            columns["review_reason"] = reason
            connection.execute(update(quarantine).where(quarantine.c.id.in_(expired)).values(columns))
            payload = {"from": ReviewState.PENDING.value, "to": ReviewState.EXPIRED.value, "reviewer": "mithril"}
            return Changes(audit=[AuditEntry(at, "expire", quarantine_id, payload) for quarantine_id in expired])

        await self._writer.run(expire)
        return len(expired)

    async def _conclude(
        self,
        quarantine_id: str,
        state: ReviewState,
        check: CheckStep,
        reviewer: str,
        reason: str,
        step: ReputationStep | None,
    ) -> QuarantineEntry:
        def conclude(connection: Connection) -> Changes:
            row = locked_row(connection, quarantine_id)
            check(ReviewState(row["state"]), state)
            columns = {**reviewed(reviewer, reason, self._now()), "state": state.value, "is_grant": False}
            columns |= {"review_step": step_text(step), "release_key": None, "grant_used_by": None}
            set_columns(connection, quarantine_id, columns)
            connection.execute(delete(release_proposals).where(release_proposals.c.quarantine_id == quarantine_id))
            return reviewed_changes(row, state, columns, steps=_steps(row, step))

        await self._writer.run(conclude)
        return await self.held(quarantine_id)


def _grouped(digests: Sequence[str], where: QuarantineFilter) -> Select[Any]:
    """What there is to say of each group of entries with one of these texts."""
    columns = quarantine.c
    counted = select(
        columns.claim_digest,
        func.count().label("entries"),
        func.count(columns.principal.distinct()).label("principals"),
        func.max(columns.id).label("newest_id"),
        func.min(columns.created_at).label("first_at"),
        func.max(columns.created_at).label("last_at"),
    )
    return narrowed(counted, where).where(columns.claim_digest.in_(digests)).group_by(columns.claim_digest)


def narrowed(query: Select[Any], where: QuarantineFilter, rows: FromClause = quarantine) -> Select[Any]:
    """`query` with the conditions of a filter on `rows`, the quarantine or an alias of it."""
    if where.state is not None:
        query = query.where(rows.c.state == where.state.value)
    if where.source is not None:
        query = query.where(rows.c.source == where.source)
    if where.status is not None:
        query = query.where(rows.c.status == where.status.value)
    if where.claim_digest is not None:
        query = query.where(rows.c.claim_digest == where.claim_digest)
    if where.contains is not None:
        query = query.where(rows.c.text.icontains(readable(where.contains), autoescape=True))
    if where.reasons:
        named = (rows.c.reasons.contains(f'"{reason}"', autoescape=True) for reason in where.reasons)
        query = query.where(or_(*named))
    return query


def locked_row(connection: Connection, quarantine_id: str) -> Row:
    """The row of a held claim; nobody else can change it before this transaction ends. Raises NotFound."""
    rows = rows_of(connection, select(quarantine).where(quarantine.c.id == quarantine_id))
    if not rows:
        raise _no_entry(quarantine_id)
    return rows[0]


def set_columns(connection: Connection, quarantine_id: str, columns: dict[str, Any]) -> None:
    """Change columns of one held claim."""
    connection.execute(update(quarantine).where(quarantine.c.id == quarantine_id).values(columns))


def reviewed(reviewer: str, reason: str, at: str) -> dict[str, Any]:
    """The columns that say who decided on a held claim, when and why."""
    return {"reviewed_at": at, "reviewer": readable(reviewer), "review_reason": readable(reason)}


def reviewed_changes(
    row: Row,
    state: ReviewState,
    columns: dict[str, Any],
    *,
    steps: tuple[ReputationStep, ...] = (),
    detail: dict[str, Any] | None = None,
) -> Changes:
    """The audit row of a review, and the move of the reputation that goes with it."""
    at = columns["reviewed_at"]
    payload = {
        "from": row["state"],
        "to": state.value,
        "reviewer": columns["reviewer"],
        "reason": columns["review_reason"],
        "decision_id": row["decision_id"],
        "principal": row["principal"],
        **(detail or {}),
    }
    if not steps:
        return Changes(audit=[AuditEntry(at, AUDIT_KINDS[state], row["id"], payload)])
    who = Provenance(row["principal"], row["source"], prior=0.0)
    move = Move(who, at, steps, decision_id=row["decision_id"])
    return Changes(moves=[move], audit=[AuditEntry(at, AUDIT_KINDS[state], row["id"], payload, move)])


def _steps(row: Row, step: ReputationStep | None) -> tuple[ReputationStep, ...]:
    """What an earlier review taught is taken back before `step`."""
    earlier = step_of(row["review_step"])
    undo = () if earlier is None else (inverse(earlier),)
    return (*undo, *(() if step is None else (step,)))


def _group_of(row: Row) -> HeldGroup:
    return HeldGroup(**{**row, "first_at": time_of(row["first_at"]), "last_at": time_of(row["last_at"])})


def _no_entry(quarantine_id: str) -> NotFound:
    return NotFound(f"no held claim {quarantine_id!r}")
