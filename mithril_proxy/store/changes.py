"""What units of work want written, and the few statements that write all of it.

A unit collects rows; it does not write them. The writer joins the changes of a whole batch and applies them with one
statement a table, in an order that satisfies every reference, the audit last: only then is known what there is to say.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, bindparam, select, update
from sqlalchemy.dialects import postgresql, sqlite

from mithril_proxy.audit import GENESIS, WRITER_KIND, Link, canonical, opening, seal
from mithril_proxy.store.bulk import insert_rows
from mithril_proxy.store.incidents import IncidentRules
from mithril_proxy.store.reputation import Move, apply_moves
from mithril_proxy.store.schema import audit, decisions, incident_log, memories, quarantine, receipts, reputation_events
from mithril_proxy.store.tallying import add_tallies

_MARK_OUTCOME = (
    update(decisions)
    .where(decisions.c.id == bindparam("decision_id"))
    .values(
        outcome=bindparam("kind"),
        outcome_http_status=bindparam("http_status"),
        outcome_at=bindparam("outcome_at"),
    )
)
_COUNT_INCIDENTS = {
    name: dialect.insert(incident_log).on_conflict_do_update(
        index_elements=["kind", "principal", "period"], set_={"occurrences": incident_log.c.occurrences + 1}
    )
    for name, dialect in (("sqlite", sqlite), ("postgresql", postgresql))
}
_LAST_ROW = select(audit.c.digest).order_by(audit.c.id.desc()).limit(1)
_LAST_CHAIN = (
    select(audit.c.digest, audit.c.payload).where(audit.c.kind == WRITER_KIND).order_by(audit.c.id.desc()).limit(1)
)


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An audit row that is not sealed yet. With a `move`, its payload says how the reputation moved."""

    at: str
    kind: str
    subject: str
    payload: Mapping[str, Any]
    move: Move | None = None

    def text(self) -> str:
        """The payload as it is stored."""
        if self.move is None:
            return canonical(self.payload)
        return canonical({**self.payload, "reputation": {"before": self.move.before, "after": self.move.after}})


@dataclass(slots=True)
class Changes:
    """Rows to write, by table. Each list is in the order in which the rows were wanted."""

    decisions: list[dict[str, Any]] = field(default_factory=list)
    outcomes: list[dict[str, Any]] = field(default_factory=list)
    held: list[dict[str, Any]] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    incidents: list[dict[str, Any]] = field(default_factory=list)
    memories: list[dict[str, Any]] = field(default_factory=list)
    receipts: list[dict[str, Any]] = field(default_factory=list)
    audit: list[AuditEntry] = field(default_factory=list)

    def extend(self, other: Changes) -> None:
        """Take the rows of `other` behind one's own."""
        self.decisions += other.decisions
        self.outcomes += other.outcomes
        self.held += other.held
        self.moves += other.moves
        self.events += other.events
        self.incidents += other.incidents
        self.memories += other.memories
        self.receipts += other.receipts
        self.audit += other.audit


def apply(connection: Connection, changes: Changes, *, link: Link, at: str, rules: IncidentRules) -> Link:
    """Write all of `changes` in the transaction of `connection`; the new end of this writer's audit chain."""
    moved = apply_moves(connection, changes.moves, rules)
    incidents = changes.incidents + moved.incidents
    insert_rows(connection, decisions, changes.decisions)
    add_tallies(connection, changes.decisions)
    insert_rows(connection, quarantine, changes.held)
    insert_rows(connection, reputation_events, changes.events + moved.events)
    insert_rows(connection, memories, changes.memories)
    insert_rows(connection, receipts, changes.receipts)
    if changes.outcomes:
        connection.execute(_MARK_OUTCOME, changes.outcomes)
    if incidents:
        connection.execute(_COUNT_INCIDENTS[connection.dialect.name], incidents)
    return _append(connection, changes.audit, link, at)


def _append(connection: Connection, entries: list[AuditEntry], link: Link, at: str) -> Link:
    """Seal and insert audit rows; the first of a chain brings the chain's opening row with it."""
    if not entries:
        return link
    rows = []
    if link.sequence == 0:
        columns, link = seal(link, at, WRITER_KIND, link.writer, _opening(connection))
        rows.append(columns)
    for entry in entries:
        columns, link = seal(link, entry.at, entry.kind, entry.subject, entry.text())
        rows.append(columns)
    insert_rows(connection, audit, rows)
    return link


def _opening(connection: Connection) -> str:
    last = (connection.execute(_LAST_ROW)).scalar() or GENESIS
    chain = (connection.execute(_LAST_CHAIN)).first()
    if chain is None:
        return opening(1, GENESIS, last)
    return opening(_ordinal(chain.payload) + 1, chain.digest, last)


def _ordinal(payload: str) -> int:
    """The number of a chain among all of the database; 0 when it was tampered with, which verify reports."""
    try:
        return int(json.loads(payload)["ordinal"])
    except (ValueError, TypeError, KeyError):
        return 0
