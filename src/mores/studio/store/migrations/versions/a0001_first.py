"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0001"
down_revision = None

JSON = sa.JSON().with_variant(JSONB(), "postgresql")
TIME = sa.DateTime(timezone=True)
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("id", NUMBER, autoincrement=True, primary_key=True),
        sa.Column("at", TIME, nullable=False),
        sa.Column("campaign", sa.String(40)),
        sa.Column("person", sa.String(40)),
        sa.Column("action", sa.String(40), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Index(None, "campaign", "id"),
    )
    op.create_table(
        "campaigns",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("kind", sa.String(80), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("settings", JSON, nullable=False),
        sa.Column("open", sa.Boolean(), nullable=False),
        sa.Column("skills", JSON, nullable=False),
        sa.Column("created", TIME, nullable=False),
        sa.Column("demo", sa.Boolean(), nullable=False),
    )
    op.create_table(
        "people",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("password", sa.Text(), nullable=False),
        sa.Column("nationality", JSON, nullable=False),
        sa.Column("home", JSON, nullable=False),
        sa.Column("languages", JSON, nullable=False),
        sa.Column("locale", sa.String(20), nullable=False),
        sa.Column("organises", sa.Boolean(), nullable=False),
        sa.Column("created", TIME, nullable=False),
        sa.Column("withdrawn", TIME),
    )
    op.create_table(
        "secrets",
        sa.Column("name", sa.String(40), primary_key=True),
        sa.Column("value", sa.String(200), nullable=False),
    )
    op.create_table(
        "drafts",
        sa.Column("campaign", sa.String(40), sa.ForeignKey("campaigns.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("person", sa.String(40), sa.ForeignKey("people.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("place", sa.String(100), primary_key=True),
        sa.Column("content", JSON, nullable=False),
        sa.Column("at", TIME, nullable=False),
    )
    op.create_table(
        "events",
        sa.Column("id", NUMBER, autoincrement=True, primary_key=True),
        sa.Column("key", sa.String(100), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("campaign", sa.String(40), sa.ForeignKey("campaigns.id", ondelete="CASCADE"), nullable=False),
        sa.Column("item", sa.String(40), nullable=False),
        sa.Column("stage", sa.String(40), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("person", sa.String(40)),
        sa.Column("payload", JSON, nullable=False),
        sa.UniqueConstraint("campaign", "key"),
        sa.Index(None, "campaign", "id"),
        sa.Index(None, "campaign", "kind", "id"),
        sa.Index(None, "item", "id"),
        sa.Index(None, "person"),
    )
    op.create_table(
        "invitations",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("token", sa.String(64), nullable=False),
        sa.Column("campaign", sa.String(40), sa.ForeignKey("campaigns.id", ondelete="CASCADE")),
        sa.Column("person", sa.String(40), sa.ForeignKey("people.id", ondelete="CASCADE")),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("made_by", sa.String(40), nullable=False),
        sa.Column("uses_left", sa.Integer(), nullable=False),
        sa.Column("created", TIME, nullable=False),
        sa.Column("until", TIME, nullable=False),
        sa.UniqueConstraint("token"),
        sa.Index(None, "campaign"),
    )
    op.create_table(
        "items",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("campaign", sa.String(40), sa.ForeignKey("campaigns.id", ondelete="CASCADE"), nullable=False),
        sa.Column("author", sa.String(40)),
        sa.Column("stage", sa.String(40), nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("region", sa.String(20), nullable=False),
        sa.Column("language", sa.String(40), nullable=False),
        sa.Column("is_check", sa.Boolean(), nullable=False),
        sa.Column("missing", sa.Integer(), nullable=False),
        sa.Column("headline", sa.Text(), nullable=False),
        sa.Column("returns", sa.Integer(), nullable=False),
        sa.Column("disputed", sa.Boolean(), nullable=False),
        sa.Column("stuck", sa.Boolean(), nullable=False),
        sa.Column("created", TIME, nullable=False),
        sa.Column("updated", TIME, nullable=False),
        sa.Column("state", JSON, nullable=False),
        sa.Index(None, "campaign", "author", "status"),
        sa.Index(None, "campaign", "disputed", "updated"),
        sa.Index(None, "campaign", "is_check", "status", "stage", "region", "language", "missing"),
        sa.Index(None, "campaign", "status", "stage", "missing", "created"),
        sa.Index(None, "campaign", "stuck", "updated"),
        sa.Index(None, "campaign", "updated"),
    )
    op.create_table(
        "members",
        sa.Column("campaign", sa.String(40), sa.ForeignKey("campaigns.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("person", sa.String(40), sa.ForeignKey("people.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("roles", JSON, nullable=False),
        sa.Column("qualified", sa.Boolean(), nullable=False),
        sa.Column("released", sa.Boolean(), nullable=False),
        sa.Column("test", JSON, nullable=False),
        sa.Column("consented", TIME),
        sa.Column("pay_note", sa.Text(), nullable=False),
        sa.Column("joined", TIME, nullable=False),
        sa.Index(None, "person"),
    )
    op.create_table(
        "sessions",
        sa.Column("token", sa.String(64), primary_key=True),
        sa.Column("person", sa.String(40), sa.ForeignKey("people.id", ondelete="CASCADE"), nullable=False),
        sa.Column("created", TIME, nullable=False),
        sa.Column("until", TIME, nullable=False),
        sa.Index(None, "person"),
    )
    op.create_table(
        "asks",
        sa.Column("id", sa.String(80), primary_key=True),
        sa.Column("item", sa.String(40), sa.ForeignKey("items.id", ondelete="CASCADE"), nullable=False),
        sa.Column("campaign", sa.String(40), nullable=False),
        sa.Column("task", sa.String(40), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("waiting", sa.Boolean(), nullable=False),
        sa.Column("failed", sa.Boolean(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("cost", sa.Float()),
        sa.Column("claimed", TIME),
        sa.Column("asked", TIME, nullable=False),
        sa.Index(None, "campaign", "model", "task", "waiting", "failed", "tokens", "cost"),
        sa.Index(None, "item"),
        sa.Index(None, "waiting", "asked"),
    )
    op.create_table(
        "holds",
        sa.Column("item", sa.String(40), sa.ForeignKey("items.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("person", sa.String(40), primary_key=True),
        sa.Column("stage", sa.String(40), nullable=False),
        sa.Column("campaign", sa.String(40), nullable=False),
        sa.Column("until", TIME, nullable=False),
        sa.Index(None, "campaign", "until"),
        sa.Index(None, "person", "campaign"),
    )
    op.create_table(
        "met",
        sa.Column("item", sa.String(40), sa.ForeignKey("items.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("person", sa.String(40), primary_key=True),
        sa.Column("stage", sa.String(40), primary_key=True),
        sa.Column("version", sa.Integer(), primary_key=True),
        sa.Column("campaign", sa.String(40), nullable=False),
    )
    op.create_table(
        "votes",
        sa.Column("item", sa.String(40), sa.ForeignKey("items.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("person", sa.String(40), primary_key=True),
        sa.Column("stage", sa.String(40), primary_key=True),
        sa.Column("version", sa.Integer(), primary_key=True),
        sa.Column("campaign", sa.String(40), nullable=False),
        sa.Column("label", sa.Text()),
        sa.Column("correct", sa.Boolean()),
        sa.Column("answer", JSON, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Index(None, "campaign", "stage"),
        sa.Index(None, "person", "campaign"),
    )
