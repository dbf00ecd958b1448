"""What the desk's charts and listings read: tallies, and the ends of indexes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from mithril_proxy.audit import SealedRow
from mithril_proxy.store.desk import REEVALUATE_ROUTE, Heads, QueueDepth, Tally
from mithril_proxy.store.interface import AuditRow, Page, Source
from mithril_proxy.store.part import Part
from mithril_proxy.store.rows import audit_row_of, readable, source_of, time_of, time_text
from mithril_proxy.store.schema import audit, decision_tallies, decisions, incident_log, quarantine, sources
from mithril_proxy.store.tallying import HOUR_CHARS
from mithril_proxy.types import ReviewState

_EVIDENCE = select(
    decisions.c.id,
    decisions.c.at,
    decisions.c.source,
    decisions.c.status,
    decisions.c.score,
    decisions.c.findings,
    decisions.c.source_reputation,
    decisions.c.corroboration,
    decisions.c.freshness,
    decisions.c.contradiction,
    decisions.c.content_danger,
)


class Statistics(Part):
    """The part of the store that counts, and lists what the desk shows."""

    async def tallies(self, since: datetime) -> Sequence[Tally]:
        """Counts of decisions since the hour of `since`, oldest first."""
        table = decision_tallies
        query = (
            select(table)
            .where(table.c.hour >= time_text(since)[:HOUR_CHARS])
            .order_by(table.c.hour, table.c.status, table.c.bucket)
        )
        return [Tally(**row) for row in await self._read(query)]

    async def queue_depth(self) -> QueueDepth:
        """How full the quarantine is."""
        counts = await self._read(select(quarantine.c.state, func.count().label("held")).group_by(quarantine.c.state))
        oldest = (
            select(quarantine.c.created_at)
            .where(quarantine.c.state == ReviewState.PENDING.value)
            .order_by(quarantine.c.id)
            .limit(1)
        )
        rows = await self._read(oldest)
        return QueueDepth(
            {row["state"]: row["held"] for row in counts}, time_of(rows[0]["created_at"]) if rows else None
        )

    async def reputations(self) -> Sequence[float]:
        """The reputation of every source, in no order."""
        return [row["reputation"] for row in await self._read(select(sources.c.reputation))]

    async def heads(self) -> Heads:
        """What is newest."""
        newest = select(
            select(func.max(decisions.c.id)).scalar_subquery().label("decision"),
            select(func.max(quarantine.c.id)).scalar_subquery().label("held"),
            select(func.max(incident_log.c.id)).scalar_subquery().label("incident"),
            select(func.max(audit.c.id)).scalar_subquery().label("audit"),
        )
        row = (await self._read(newest))[0]
        return Heads(row["decision"] or "", row["held"] or "", row["incident"] or 0, row["audit"] or 0)

    async def source_page(self, page: Page, *, contains: str | None = None) -> Sequence[Source]:
        """Sources in the order of their principals, after `page.before`; their keys are left out."""
        query = select(sources).order_by(sources.c.principal).limit(page.limit)
        if page.before is not None:
            query = query.where(sources.c.principal > page.before)
        if contains is not None:
            query = query.where(sources.c.principal.contains(readable(contains), autoescape=True))
        return [source_of(row, ()) for row in await self._read(query)]

    async def recent_evidence(self, limit: int) -> Sequence[Mapping[str, Any]]:
        """Signals, findings, status and score of the newest decisions on traffic."""
        query = _EVIDENCE.where(decisions.c.route != REEVALUATE_ROUTE).order_by(decisions.c.id.desc()).limit(limit)
        return [{**row, "findings": json.loads(row["findings"])} for row in await self._read(query)]

    async def audit_of(self, subject: str, *, limit: int = 100) -> Sequence[AuditRow]:
        """The newest audit rows about one decision, held claim or source, oldest of them first."""
        query = select(audit).where(audit.c.subject == readable(subject)).order_by(audit.c.id.desc()).limit(limit)
        return [audit_row_of(SealedRow(**row)) for row in reversed(await self._read(query))]
