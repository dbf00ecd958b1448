"""The first schema: decisions, quarantine, sources, reputation, audit and incidents."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_INCIDENTS = """
CREATE VIEW incidents AS
SELECT at, kind, severity, source, decision_id, summary, advice, occurrences, id FROM incident_log
"""


def upgrade() -> None:
    """Create every table and view."""
    _create_audit()
    _create_decisions()
    _create_incident_log()
    _create_reputation_events()
    _create_sources()
    _create_quarantine()
    _create_source_keys()
    _create_sessions()
    op.execute(_INCIDENTS)


def _create_sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("owner", _TEXT, primary_key=True),
        sa.Column("session", _TEXT, primary_key=True),
        sa.Column("standing", _TEXT, nullable=False),
        sa.Column("at", _TEXT, nullable=False),
    )


def _create_audit() -> None:
    op.create_table(
        "audit",
        sa.Column("id", _ROW_ID, primary_key=True, autoincrement=True),
        sa.Column("writer", _TEXT, nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("at", _TEXT, nullable=False),
        sa.Column("kind", _TEXT, nullable=False),
        sa.Column("subject", _TEXT, nullable=False),
        sa.Column("payload", _TEXT, nullable=False),
        sa.Column("previous", _TEXT, nullable=False),
        sa.Column("digest", _TEXT, nullable=False),
        sa.UniqueConstraint("writer", "sequence", name="uq_audit_writer_sequence"),
        sqlite_autoincrement=True,
    )
    is_opening = sa.text("kind = 'writer'")
    op.create_index("ix_audit_chains", "audit", ["id"], sqlite_where=is_opening, postgresql_where=is_opening)
    op.create_index("ix_audit_subject", "audit", ["subject", "id"])


def _create_decisions() -> None:
    op.create_table(
        "decisions",
        sa.Column("id", _TEXT, primary_key=True),
        sa.Column("at", _TEXT, nullable=False),
        sa.Column("status", _TEXT, nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("source", _TEXT, nullable=False),
        sa.Column("principal", _TEXT, nullable=False),
        sa.Column("is_authenticated", sa.Boolean(), nullable=False),
        sa.Column("request_id", _TEXT, nullable=False),
        sa.Column("route", _TEXT, nullable=False),
        sa.Column("claim_id", _TEXT, nullable=False),
        sa.Column("claim_digest", _TEXT, nullable=False),
        sa.Column("claim_length", sa.Integer(), nullable=False),
        sa.Column("prior", sa.Double(), nullable=False),
        sa.Column("session", _TEXT, nullable=True),
        sa.Column("dataset", _TEXT, nullable=True),
        sa.Column("peer", _TEXT, nullable=True),
        sa.Column("raw", sa.Double(), nullable=False),
        sa.Column("source_reputation", sa.Double(), nullable=False),
        sa.Column("corroboration", sa.Double(), nullable=False),
        sa.Column("freshness", sa.Double(), nullable=False),
        sa.Column("contradiction", sa.Double(), nullable=False),
        sa.Column("content_danger", sa.Double(), nullable=False),
        sa.Column("contributions", _TEXT, nullable=False),
        sa.Column("findings", _TEXT, nullable=False),
        sa.Column("reasons", _TEXT, nullable=False),
        sa.Column("mode", _TEXT, nullable=False),
        sa.Column("policy_digest", _TEXT, nullable=False),
        sa.Column("judge", _TEXT, nullable=False),
        sa.Column("prompt_digest", _TEXT, nullable=False),
        sa.Column("stage_ms", _TEXT, nullable=False),
        sa.Column("quarantine_id", _TEXT, nullable=True),
        sa.Column("outcome", _TEXT, nullable=True),
        sa.Column("outcome_http_status", sa.Integer(), nullable=True),
        sa.Column("outcome_at", _TEXT, nullable=True),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_decisions_source", "decisions", ["source", "id"])
    op.create_index("ix_decisions_status", "decisions", ["status", "id"])


def _create_incident_log() -> None:
    op.create_table(
        "incident_log",
        sa.Column("id", _ROW_ID, primary_key=True, autoincrement=True),
        sa.Column("at", _TEXT, nullable=False),
        sa.Column("kind", _TEXT, nullable=False),
        sa.Column("severity", _TEXT, nullable=False),
        sa.Column("source", _TEXT, nullable=False),
        sa.Column("principal", _TEXT, nullable=False),
        sa.Column("decision_id", _TEXT, nullable=True),
        sa.Column("summary", _TEXT, nullable=False),
        sa.Column("advice", _TEXT, nullable=False),
        sa.Column("period", _TEXT, nullable=False),
        sa.Column("occurrences", sa.Integer(), nullable=False),
        sa.UniqueConstraint("kind", "principal", "period", name="uq_incident_log_period"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_incident_log_at", "incident_log", ["at"])


def _create_reputation_events() -> None:
    op.create_table(
        "reputation_events",
        sa.Column("id", _ROW_ID, primary_key=True, autoincrement=True),
        sa.Column("at", _TEXT, nullable=False),
        sa.Column("principal", _TEXT, nullable=False),
        sa.Column("before", sa.Double(), nullable=False),
        sa.Column("after", sa.Double(), nullable=False),
        sa.Column("reason", _TEXT, nullable=False),
        sa.Column("decision_id", _TEXT, nullable=True),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_reputation_events_principal", "reputation_events", ["principal", "id"])


def _create_sources() -> None:
    op.create_table(
        "sources",
        sa.Column("principal", _TEXT, primary_key=True),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("prior", sa.Double(), nullable=False),
        sa.Column("reputation", sa.Double(), nullable=False),
        sa.Column("decisions", sa.Integer(), nullable=False),
        sa.Column("created_at", _TEXT, nullable=False),
        sa.Column("updated_at", _TEXT, nullable=False),
        sa.Column("is_registered", sa.Boolean(), nullable=False),
        sa.Column("is_frozen", sa.Boolean(), nullable=False),
        sa.Column("may_declare", _TEXT, nullable=False),
        sa.Column("diverted_minute", _TEXT, nullable=False),
        sa.Column("diverted_count", sa.Integer(), nullable=False),
    )


def _create_quarantine() -> None:
    op.create_table(
        "quarantine",
        sa.Column("id", _TEXT, primary_key=True),
        sa.Column("decision_id", _TEXT, sa.ForeignKey("decisions.id"), nullable=False),
        sa.Column("created_at", _TEXT, nullable=False),
        sa.Column("state", _TEXT, nullable=False),
        sa.Column("status", _TEXT, nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("source", _TEXT, nullable=False),
        sa.Column("principal", _TEXT, nullable=False),
        sa.Column("dataset", _TEXT, nullable=True),
        sa.Column("route", _TEXT, nullable=False),
        sa.Column("claim_digest", _TEXT, nullable=False),
        sa.Column("text", _TEXT, nullable=False),
        sa.Column("reasons", _TEXT, nullable=False),
        sa.Column("prepared", _TEXT, nullable=False),
        sa.Column("context", _TEXT, nullable=False),
        sa.Column("reviewed_at", _TEXT, nullable=True),
        sa.Column("reviewer", _TEXT, nullable=True),
        sa.Column("review_reason", _TEXT, nullable=True),
        sa.Column("review_step", _TEXT, nullable=True),
        sa.Column("release_key", _TEXT, nullable=True),
        sa.Column("lease_until", _TEXT, nullable=True),
        sa.Column("release_attempts", sa.Integer(), nullable=False),
        sa.Column("is_grant", sa.Boolean(), nullable=False),
        sa.Column("grant_used_by", _TEXT, nullable=True),
    )
    op.create_index("ix_quarantine_decision", "quarantine", ["decision_id"])
    op.create_index("ix_quarantine_groups", "quarantine", ["state", "claim_digest", "principal", "id", "created_at"])
    op.create_index("ix_quarantine_digest", "quarantine", ["claim_digest", "principal"])
    op.create_index("ix_quarantine_state", "quarantine", ["state", "id"])
    op.create_index("ix_quarantine_state_source", "quarantine", ["state", "source", "id"])


def _create_source_keys() -> None:
    op.create_table(
        "source_keys",
        sa.Column("digest", _TEXT, primary_key=True),
        sa.Column("principal", _TEXT, sa.ForeignKey("sources.principal"), nullable=False),
        sa.Column("created_at", _TEXT, nullable=False),
        sa.Column("revoked_at", _TEXT, nullable=True),
    )
    op.create_index("ix_source_keys_principal", "source_keys", ["principal"])
