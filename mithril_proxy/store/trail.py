"""The audit and the incidents: appended to, read in order, verified."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, column, select, table

from mithril_proxy.audit import ChainVerifier, SealedRow
from mithril_proxy.store.changes import AuditEntry, Changes
from mithril_proxy.store.incidents import of_refusal
from mithril_proxy.store.interface import AuditRow, ChainReport, Incident
from mithril_proxy.store.part import Part
from mithril_proxy.store.rows import audit_row_of, incident_of, readable, time_text
from mithril_proxy.store.schema import audit

REFUSED_KIND = "refused"
PAGE_ROWS = 1000  # of the audit in one read: about 1 MB, and a reader never keeps the WAL from being checkpointed

_PAGE = select(audit).where(audit.c.id > bindparam("after")).order_by(audit.c.id).limit(bindparam("at_most"))
_COLUMNS = ("at", "kind", "severity", "source", "decision_id", "summary", "advice", "occurrences", "id")
_VIEW = table("incidents", *(column(name) for name in _COLUMNS))


class Trail(Part):
    """The part of the store that keeps the audit and shows incidents."""

    async def append_audit(self, kind: str, subject: str, payload: Mapping[str, Any]) -> None:
        """Append one audit row that belongs to no decision: refusals, policy changes, sign-ins."""
        at, subject = self._now(), readable(subject)
        incidents = [of_refusal(subject, payload, at)] if kind == REFUSED_KIND else []
        await self._writer.write(Changes(incidents=incidents, audit=[AuditEntry(at, kind, subject, dict(payload))]))

    async def audit(self, *, after: int = 0, limit: int = 500) -> Sequence[AuditRow]:
        """Audit rows in order of their id, after the id `after`."""
        return [audit_row_of(row) for row in await self._sealed(after, limit)]

    async def last_audit(self, limit: int) -> Sequence[AuditRow]:
        """The newest audit rows, at most `limit`, oldest of them first."""
        rows = await self._read(select(audit).order_by(audit.c.id.desc()).limit(limit))
        return [audit_row_of(SealedRow(**row)) for row in reversed(rows)]

    async def audit_rows(self) -> AsyncIterator[AuditRow]:
        """The whole audit in order, read in short pages."""
        async for row in self._all_sealed():
            yield audit_row_of(row)

    async def verify_audit(self, *, anchors: Mapping[str, str] | None = None) -> ChainReport:
        """Check every chain, and that each anchored head (writer → digest) is still in it."""
        verifier = ChainVerifier(anchors or {})
        async for row in self._all_sealed():
            verifier.check(row)
        verifier.finish()
        return ChainReport(verifier.rows, verifier.heads, verifier.broken, verifier.open_heads)

    async def incidents(
        self, *, since: datetime | None = None, after: int | None = None, limit: int = 100
    ) -> Sequence[Incident]:
        """Rows of the view `incidents`, newest first; with `after`, those behind that id, oldest first."""
        query = select(_VIEW).limit(limit)
        if since is not None:
            query = query.where(_VIEW.c.at >= time_text(since))
        if after is None:
            query = query.order_by(_VIEW.c.id.desc())
        else:
            query = query.where(_VIEW.c.id > after).order_by(_VIEW.c.id)
        return [incident_of(row) for row in await self._read(query)]

    async def _sealed(self, after: int, limit: int) -> list[SealedRow]:
        return [SealedRow(**row) for row in await self._read(_PAGE, {"after": after, "at_most": limit})]

    async def _all_sealed(self) -> AsyncIterator[SealedRow]:
        after = 0
        while page := await self._sealed(after, PAGE_ROWS):
            for row in page:
                yield row
            after = page[-1].id
