"""What the review desk needs: tokens and sessions, tallies for its charts, proposals of a second reviewer."""

from __future__ import annotations

from collections import Counter

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
BUCKETS = 20


def upgrade() -> None:
    """Add the tables and columns, and count the decisions that are there."""
    op.add_column("quarantine", sa.Column("reevaluation", _TEXT, nullable=True))
    op.create_index("ix_quarantine_state_digest", "quarantine", ["state", "claim_digest", "id", "principal"])
    _create_tallies()
    _create_proposals()
    _create_tokens()
    _create_sessions()
    _tally_old_decisions()


def _tally_old_decisions() -> None:
    connection = op.get_bind()
    rows = connection.execute(sa.text("SELECT at, status, score FROM decisions WHERE route <> 'reevaluate'"))
    counted = Counter((at[:13], status, min(BUCKETS - 1, int(score * BUCKETS))) for at, status, score in rows)
    tallies = [
        {"hour": hour, "status": status, "bucket": bucket, "decisions": count}
        for (hour, status, bucket), count in counted.items()
    ]
    if tallies:
        values = "VALUES (:hour, :status, :bucket, :decisions)"
        connection.execute(sa.text(f"INSERT INTO decision_tallies {values}"), tallies)


def _create_tallies() -> None:
    op.create_table(
        "decision_tallies",
        sa.Column("hour", _TEXT, primary_key=True),
        sa.Column("status", _TEXT, primary_key=True),
        sa.Column("bucket", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("decisions", sa.BigInteger(), nullable=False),
        sqlite_with_rowid=False,
    )


def _create_proposals() -> None:
    op.create_table(
        "release_proposals",
        sa.Column("quarantine_id", _TEXT, primary_key=True),
        sa.Column("at", _TEXT, nullable=False),
        sa.Column("reviewer", _TEXT, nullable=False),
        sa.Column("reason", _TEXT, nullable=False),
        sa.Column("text", _TEXT, nullable=True),
    )


def _create_tokens() -> None:
    is_live = sa.text("revoked_at IS NULL")
    op.create_table(
        "admin_tokens",
        sa.Column("digest", _TEXT, primary_key=True),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("scope", _TEXT, nullable=False),
        sa.Column("created_at", _TEXT, nullable=False),
        sa.Column("revoked_at", _TEXT, nullable=True),
    )
    op.create_index(
        "uq_admin_tokens_live_name",
        "admin_tokens",
        ["name"],
        unique=True,
        sqlite_where=is_live,
        postgresql_where=is_live,
    )


def _create_sessions() -> None:
    op.create_table(
        "admin_sessions",
        sa.Column("digest", _TEXT, primary_key=True),
        sa.Column("token_digest", _TEXT, nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("scope", _TEXT, nullable=False),
        sa.Column("created_at", _TEXT, nullable=False),
        sa.Column("expires_at", _TEXT, nullable=False),
    )
    op.create_index("ix_admin_sessions_expires", "admin_sessions", ["expires_at"])
    op.create_index("ix_admin_sessions_token", "admin_sessions", ["token_digest"])
