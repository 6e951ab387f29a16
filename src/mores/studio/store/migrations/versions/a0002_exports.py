"""Exports are kept, so that they can be downloaded again, byte for byte."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

TIME = sa.DateTime(timezone=True)
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "exports",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("campaign", sa.String(40), sa.ForeignKey("campaigns.id", ondelete="CASCADE"), nullable=False),
        sa.Column("format", sa.String(40), nullable=False),
        sa.Column("last_event", NUMBER, nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("made_by", sa.String(40)),
        sa.Column("at", TIME, nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Index(None, "campaign", "at"),
    )
