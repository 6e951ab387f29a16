"""Imports, exports and figures are jobs with progress; limits are shared by several processes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0005"
down_revision = "0004"

JSON = sa.JSON().with_variant(JSONB(), "postgresql")
TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("campaign", sa.String(40), sa.ForeignKey("campaigns.id", ondelete="CASCADE"), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("settings", JSON, nullable=False),
        sa.Column("data", sa.LargeBinary()),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("cancel", sa.Boolean(), nullable=False),
        sa.Column("result", JSON, nullable=False),
        sa.Column("made_by", sa.String(40)),
        sa.Column("created", TIME, nullable=False),
        sa.Column("seen", TIME),
        sa.Column("ended", TIME),
        sa.Index(None, "campaign", "created"),
        sa.Index(None, "status", "created"),
    )
    op.create_table(
        "limits",
        sa.Column("name", sa.String(80), primary_key=True),
        sa.Column("left", sa.Float(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Index(None, "at"),
    )
