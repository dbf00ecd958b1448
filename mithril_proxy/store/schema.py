"""The tables, as SQLAlchemy Core knows them. What the columns mean is written in docs/database.md.

1. Times are text, ISO 8601 in UTC with microseconds, so that they sort, read and hash alike on both engines.
2. JSON is text too: an audit digest covers the stored bytes, and PostgreSQL's own JSON cannot hold every string.
3. Text compares by code point (collation C), so that identifiers page in the order in which they were made.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.types import TypeEngine

TEXT: TypeEngine[Any] = Text().with_variant(Text(collation="C"), "postgresql")
ROW_ID: TypeEngine[Any] = BigInteger().with_variant(Integer(), "sqlite")

metadata = MetaData()


def _text(name: str, *, nullable: bool = False) -> Column[str]:
    return Column(name, TEXT, nullable=nullable)


def _number(name: str) -> Column[float]:
    return Column(name, Double(), nullable=False)


decisions = Table(
    "decisions",
    metadata,
    Column("id", TEXT, primary_key=True),
    _text("at"),
    _text("status"),
    _number("score"),
    _text("source"),
    _text("principal"),
    Column("is_authenticated", Boolean(), nullable=False),
    _text("request_id"),
    _text("route"),
    _text("claim_id"),
    _text("claim_digest"),
    Column("claim_length", Integer(), nullable=False),
    _number("prior"),
    _text("session", nullable=True),
    _text("dataset", nullable=True),
    _text("peer", nullable=True),
    _number("raw"),
    _number("source_reputation"),
    _number("corroboration"),
    _number("freshness"),
    _number("contradiction"),
    _number("content_danger"),
    _text("contributions"),
    _text("findings"),
    _text("reasons"),
    _text("mode"),
    _text("policy_digest"),
    _text("judge"),
    _text("prompt_digest"),
    _text("stage_ms"),
    _text("quarantine_id", nullable=True),
    _text("outcome", nullable=True),
    Column("outcome_http_status", Integer(), nullable=True),
    _text("outcome_at", nullable=True),
    Index("ix_decisions_source", "source", "id"),
    Index("ix_decisions_status", "status", "id"),
    sqlite_with_rowid=False,
)

quarantine = Table(
    "quarantine",
    metadata,
    Column("id", TEXT, primary_key=True),
    Column("decision_id", TEXT, ForeignKey("decisions.id"), nullable=False),
    _text("created_at"),
    _text("state"),
    _text("status"),
    _number("score"),
    _text("source"),
    _text("principal"),
    _text("dataset", nullable=True),
    _text("route"),
    _text("claim_digest"),
    _text("text"),
    _text("reasons"),
    _text("prepared"),
    _text("context"),
    _text("reviewed_at", nullable=True),
    _text("reviewer", nullable=True),
    _text("review_reason", nullable=True),
    _text("review_step", nullable=True),
    _text("release_key", nullable=True),
    _text("lease_until", nullable=True),
    Column("release_attempts", Integer(), nullable=False),
    Column("is_grant", Boolean(), nullable=False),
    _text("grant_used_by", nullable=True),
    _text("reevaluation", nullable=True),
    Index("ix_quarantine_state", "state", "id"),
    Index("ix_quarantine_state_digest", "state", "claim_digest", "id", "principal"),
    Index("ix_quarantine_state_source", "state", "source", "id"),
    Index("ix_quarantine_digest", "claim_digest", "principal"),
    Index("ix_quarantine_decision", "decision_id"),
    Index("ix_quarantine_groups", "state", "claim_digest", "principal", "id", "created_at"),
)

sources = Table(
    "sources",
    metadata,
    Column("principal", TEXT, primary_key=True),
    _text("name"),
    _number("prior"),
    _number("reputation"),
    Column("decisions", Integer(), nullable=False),
    _text("created_at"),
    _text("updated_at"),
    Column("is_registered", Boolean(), nullable=False),
    Column("is_frozen", Boolean(), nullable=False),
    _text("may_declare"),
    _text("diverted_minute"),
    Column("diverted_count", Integer(), nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("owner", TEXT, primary_key=True),
    Column("session", TEXT, primary_key=True),
    _text("standing"),
    _text("at"),
)

source_keys = Table(
    "source_keys",
    metadata,
    Column("digest", TEXT, primary_key=True),
    Column("principal", TEXT, ForeignKey("sources.principal"), nullable=False),
    _text("created_at"),
    _text("revoked_at", nullable=True),
    Index("ix_source_keys_principal", "principal"),
)

reputation_events = Table(
    "reputation_events",
    metadata,
    Column("id", ROW_ID, primary_key=True, autoincrement=True),
    _text("at"),
    _text("principal"),
    _number("before"),
    _number("after"),
    _text("reason"),
    _text("decision_id", nullable=True),
    Index("ix_reputation_events_principal", "principal", "id"),
    sqlite_autoincrement=True,
)

_IS_LIVE = text("revoked_at IS NULL")
_IS_OPENING = text("kind = 'writer'")  # the first row of each chain: few among millions

audit = Table(
    "audit",
    metadata,
    Column("id", ROW_ID, primary_key=True, autoincrement=True),
    _text("writer"),
    Column("sequence", BigInteger(), nullable=False),
    _text("at"),
    _text("kind"),
    _text("subject"),
    _text("payload"),
    _text("previous"),
    _text("digest"),
    UniqueConstraint("writer", "sequence", name="uq_audit_writer_sequence"),
    Index("ix_audit_subject", "subject", "id"),
    Index("ix_audit_chains", "id", sqlite_where=_IS_OPENING, postgresql_where=_IS_OPENING),
    sqlite_autoincrement=True,
)

memories = Table(
    "memories",
    metadata,
    Column("decision_id", TEXT, primary_key=True),
    _text("at"),
    _text("principal"),
    _text("dataset", nullable=True),
    _text("dataset_id", nullable=True),
    _text("filename", nullable=True),
    _text("data_id", nullable=True),
    _text("withdrawn_at", nullable=True),
    Index("ix_memories_principal", "principal", "decision_id"),
    Index("ix_memories_filename", "filename"),
    sqlite_with_rowid=False,
)

receipts = Table(
    "receipts",
    metadata,
    Column("id", ROW_ID, primary_key=True, autoincrement=True),
    _text("at"),
    _text("request_id"),
    _text("principal"),
    _text("data_id"),
    _text("chunk_id", nullable=True),
    Index("ix_receipts_data", "data_id", "id"),
    Index("ix_receipts_at", "at"),
    sqlite_autoincrement=True,
)

audit_outputs = Table(
    "audit_outputs",
    metadata,
    Column("name", TEXT, primary_key=True),
    Column("cursor", BigInteger(), nullable=False),
    _text("updated_at"),
)

incident_log = Table(
    "incident_log",
    metadata,
    Column("id", ROW_ID, primary_key=True, autoincrement=True),
    _text("at"),
    _text("kind"),
    _text("severity"),
    _text("source"),
    _text("principal"),
    _text("decision_id", nullable=True),
    _text("summary"),
    _text("advice"),
    _text("period"),
    Column("occurrences", Integer(), nullable=False),
    UniqueConstraint("kind", "principal", "period", name="uq_incident_log_period"),
    Index("ix_incident_log_at", "at"),
    sqlite_autoincrement=True,
)

decision_tallies = Table(
    "decision_tallies",
    metadata,
    Column("hour", TEXT, primary_key=True),
    Column("status", TEXT, primary_key=True),
    Column("bucket", Integer(), primary_key=True, autoincrement=False),
    Column("decisions", BigInteger(), nullable=False),
    sqlite_with_rowid=False,
)

release_proposals = Table(
    "release_proposals",
    metadata,
    Column("quarantine_id", TEXT, primary_key=True),
    _text("at"),
    _text("reviewer"),
    _text("reason"),
    _text("text", nullable=True),
)

admin_tokens = Table(
    "admin_tokens",
    metadata,
    Column("digest", TEXT, primary_key=True),
    _text("name"),
    _text("scope"),
    _text("created_at"),
    _text("revoked_at", nullable=True),
    Index(
        "uq_admin_tokens_live_name",
        "name",
        unique=True,
        sqlite_where=_IS_LIVE,
        postgresql_where=_IS_LIVE,
    ),
)

admin_sessions = Table(
    "admin_sessions",
    metadata,
    Column("digest", TEXT, primary_key=True),
    _text("token_digest"),
    _text("name"),
    _text("scope"),
    _text("created_at"),
    _text("expires_at"),
    Index("ix_admin_sessions_expires", "expires_at"),
    Index("ix_admin_sessions_token", "token_digest"),
)
