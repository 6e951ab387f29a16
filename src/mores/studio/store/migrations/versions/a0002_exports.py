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
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("campaign", sa.String(length=40), nullable=False),
        sa.Column("format", sa.String(length=40), nullable=False),
        sa.Column("last_event", NUMBER, nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("made_by", sa.String(length=40), nullable=True),
        sa.Column("at", TIME, nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["campaign"], ["campaigns.id"], name=op.f("fk_exports_campaign"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_exports")),
    )
    op.create_index(op.f("ix_exports_campaign_at"), "exports", ["campaign", "at"], unique=False)
