"""What is stored where, which memory was shown to whom, and how far each audit output has come."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables."""
    _create_memories()
    _create_receipts()
    op.create_table(
        "audit_outputs",
        sa.Column("name", _TEXT, primary_key=True),
        sa.Column("cursor", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", _TEXT, nullable=False),
    )


def _create_memories() -> None:
    op.create_table(
        "memories",
        sa.Column("decision_id", _TEXT, primary_key=True),
        sa.Column("at", _TEXT, nullable=False),
        sa.Column("principal", _TEXT, nullable=False),
        sa.Column("dataset", _TEXT, nullable=True),
        sa.Column("dataset_id", _TEXT, nullable=True),
        sa.Column("filename", _TEXT, nullable=True),
        sa.Column("data_id", _TEXT, nullable=True),
        sa.Column("withdrawn_at", _TEXT, nullable=True),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_memories_principal", "memories", ["principal", "decision_id"])
    op.create_index("ix_memories_filename", "memories", ["filename"])


def _create_receipts() -> None:
    op.create_table(
        "receipts",
        sa.Column("id", _ROW_ID, primary_key=True, autoincrement=True),
        sa.Column("at", _TEXT, nullable=False),
        sa.Column("request_id", _TEXT, nullable=False),
        sa.Column("principal", _TEXT, nullable=False),
        sa.Column("data_id", _TEXT, nullable=False),
        sa.Column("chunk_id", _TEXT, nullable=True),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_receipts_data", "receipts", ["data_id", "id"])
    op.create_index("ix_receipts_at", "receipts", ["at"])
