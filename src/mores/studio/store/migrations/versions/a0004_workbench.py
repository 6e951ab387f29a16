"""Links for several roles and for panels, participants of panels, replies to messages, pauses with a notice."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0004"
down_revision = "0003"

JSON = sa.JSON().with_variant(JSONB(), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
ADDED: dict[str, tuple[sa.Column[Any], ...]] = {
    "campaigns": (
        sa.Column("paused", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("notice", sa.Text(), nullable=False, server_default=""),
    ),
    "invitations": (
        sa.Column("also", JSON, nullable=False, server_default="[]"),
        sa.Column("panel", JSON, nullable=False, server_default="{}"),
    ),
    "members": (
        sa.Column("participant", sa.String(100), nullable=False, server_default=""),
        sa.Column("place", JSON, nullable=False, server_default="{}"),
    ),
}


def upgrade() -> None:
    for table, columns in ADDED.items():
        for column in columns:
            op.add_column(table, column)  # in a batch SQLite would make `campaigns` again, and lose what refers to it
    op.create_table(
        "replies",
        sa.Column("id", NUMBER, primary_key=True, autoincrement=True),
        sa.Column("campaign", sa.String(40), sa.ForeignKey("campaigns.id", ondelete="CASCADE"), nullable=False),
        sa.Column("person", sa.String(40), nullable=False),
        sa.Column("item", sa.String(40), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("by", sa.String(40), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_replies_campaign_person", "replies", ["campaign", "person"])
