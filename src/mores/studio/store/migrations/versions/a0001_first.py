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
        sa.Column("id", NUMBER, autoincrement=True, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("campaign", sa.String(length=40), nullable=True),
        sa.Column("person", sa.String(length=40), nullable=True),
        sa.Column("action", sa.String(length=40), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_index(op.f("ix_audit_campaign_id"), "audit", ["campaign", "id"], unique=False)
    op.create_table(
        "campaigns",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("kind", sa.String(length=80), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("settings", JSON, nullable=False),
        sa.Column("open", sa.Boolean(), nullable=False),
        sa.Column("skills", JSON, nullable=False),
        sa.Column("created", TIME, nullable=False),
        sa.Column("demo", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_campaigns")),
    )
    op.create_table(
        "people",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("password", sa.Text(), nullable=False),
        sa.Column("nationality", JSON, nullable=False),
        sa.Column("home", JSON, nullable=False),
        sa.Column("languages", JSON, nullable=False),
        sa.Column("locale", sa.String(length=20), nullable=False),
        sa.Column("organises", sa.Boolean(), nullable=False),
        sa.Column("created", TIME, nullable=False),
        sa.Column("withdrawn", TIME, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_people")),
    )
    op.create_table(
        "secrets",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("value", sa.String(length=200), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_secrets")),
    )
    op.create_table(
        "drafts",
        sa.Column("campaign", sa.String(length=40), nullable=False),
        sa.Column("person", sa.String(length=40), nullable=False),
        sa.Column("place", sa.String(length=100), nullable=False),
        sa.Column("content", JSON, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.ForeignKeyConstraint(["campaign"], ["campaigns.id"], name=op.f("fk_drafts_campaign"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["person"], ["people.id"], name=op.f("fk_drafts_person"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("campaign", "person", "place", name=op.f("pk_drafts")),
    )
    op.create_table(
        "events",
        sa.Column("id", NUMBER, autoincrement=True, nullable=False),
        sa.Column("key", sa.String(length=100), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("campaign", sa.String(length=40), nullable=False),
        sa.Column("item", sa.String(length=40), nullable=False),
        sa.Column("stage", sa.String(length=40), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("person", sa.String(length=40), nullable=True),
        sa.Column("payload", JSON, nullable=False),
        sa.ForeignKeyConstraint(["campaign"], ["campaigns.id"], name=op.f("fk_events_campaign"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
        sa.UniqueConstraint("campaign", "key", name=op.f("uq_events_campaign_key")),
    )
    op.create_index(op.f("ix_events_campaign_id"), "events", ["campaign", "id"], unique=False)
    op.create_index(op.f("ix_events_campaign_kind_id"), "events", ["campaign", "kind", "id"], unique=False)
    op.create_index(op.f("ix_events_item_id"), "events", ["item", "id"], unique=False)
    op.create_index(op.f("ix_events_person"), "events", ["person"], unique=False)
    op.create_table(
        "invitations",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("token", sa.String(length=64), nullable=False),
        sa.Column("campaign", sa.String(length=40), nullable=True),
        sa.Column("person", sa.String(length=40), nullable=True),
        sa.Column("role", sa.String(length=20), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("made_by", sa.String(length=40), nullable=False),
        sa.Column("uses_left", sa.Integer(), nullable=False),
        sa.Column("created", TIME, nullable=False),
        sa.Column("until", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign"], ["campaigns.id"], name=op.f("fk_invitations_campaign"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["person"], ["people.id"], name=op.f("fk_invitations_person"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitations")),
        sa.UniqueConstraint("token", name=op.f("uq_invitations_token")),
    )
    op.create_index(op.f("ix_invitations_campaign"), "invitations", ["campaign"], unique=False)
    op.create_table(
        "items",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("campaign", sa.String(length=40), nullable=False),
        sa.Column("author", sa.String(length=40), nullable=True),
        sa.Column("stage", sa.String(length=40), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("region", sa.String(length=20), nullable=False),
        sa.Column("language", sa.String(length=40), nullable=False),
        sa.Column("is_check", sa.Boolean(), nullable=False),
        sa.Column("missing", sa.Integer(), nullable=False),
        sa.Column("headline", sa.Text(), nullable=False),
        sa.Column("returns", sa.Integer(), nullable=False),
        sa.Column("disputed", sa.Boolean(), nullable=False),
        sa.Column("stuck", sa.Boolean(), nullable=False),
        sa.Column("created", TIME, nullable=False),
        sa.Column("updated", TIME, nullable=False),
        sa.Column("state", JSON, nullable=False),
        sa.ForeignKeyConstraint(["campaign"], ["campaigns.id"], name=op.f("fk_items_campaign"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_items")),
    )
    op.create_index(op.f("ix_items_campaign_author_status"), "items", ["campaign", "author", "status"], unique=False)
    op.create_index(
        op.f("ix_items_campaign_disputed_updated"), "items", ["campaign", "disputed", "updated"], unique=False
    )
    op.create_index(
        op.f("ix_items_campaign_is_check_status_stage_region_language_missing"),
        "items",
        ["campaign", "is_check", "status", "stage", "region", "language", "missing"],
        unique=False,
    )
    op.create_index(
        op.f("ix_items_campaign_status_stage_missing_created"),
        "items",
        ["campaign", "status", "stage", "missing", "created"],
        unique=False,
    )
    op.create_index(op.f("ix_items_campaign_stuck_updated"), "items", ["campaign", "stuck", "updated"], unique=False)
    op.create_index(op.f("ix_items_campaign_updated"), "items", ["campaign", "updated"], unique=False)
    op.create_table(
        "members",
        sa.Column("campaign", sa.String(length=40), nullable=False),
        sa.Column("person", sa.String(length=40), nullable=False),
        sa.Column("roles", JSON, nullable=False),
        sa.Column("qualified", sa.Boolean(), nullable=False),
        sa.Column("released", sa.Boolean(), nullable=False),
        sa.Column("test", JSON, nullable=False),
        sa.Column("consented", TIME, nullable=True),
        sa.Column("pay_note", sa.Text(), nullable=False),
        sa.Column("joined", TIME, nullable=False),
        sa.ForeignKeyConstraint(["campaign"], ["campaigns.id"], name=op.f("fk_members_campaign"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["person"], ["people.id"], name=op.f("fk_members_person"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("campaign", "person", name=op.f("pk_members")),
    )
    op.create_index(op.f("ix_members_person"), "members", ["person"], unique=False)
    op.create_table(
        "sessions",
        sa.Column("token", sa.String(length=64), nullable=False),
        sa.Column("person", sa.String(length=40), nullable=False),
        sa.Column("created", TIME, nullable=False),
        sa.Column("until", TIME, nullable=False),
        sa.ForeignKeyConstraint(["person"], ["people.id"], name=op.f("fk_sessions_person"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("token", name=op.f("pk_sessions")),
    )
    op.create_index(op.f("ix_sessions_person"), "sessions", ["person"], unique=False)
    op.create_table(
        "asks",
        sa.Column("id", sa.String(length=80), nullable=False),
        sa.Column("item", sa.String(length=40), nullable=False),
        sa.Column("campaign", sa.String(length=40), nullable=False),
        sa.Column("task", sa.String(length=40), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("waiting", sa.Boolean(), nullable=False),
        sa.Column("failed", sa.Boolean(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("cost", sa.Float(), nullable=True),
        sa.Column("claimed", TIME, nullable=True),
        sa.Column("asked", TIME, nullable=False),
        sa.ForeignKeyConstraint(["item"], ["items.id"], name=op.f("fk_asks_item"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_asks")),
    )
    op.create_index(
        op.f("ix_asks_campaign_model_task_waiting_failed_tokens_cost"),
        "asks",
        ["campaign", "model", "task", "waiting", "failed", "tokens", "cost"],
        unique=False,
    )
    op.create_index(op.f("ix_asks_item"), "asks", ["item"], unique=False)
    op.create_index(op.f("ix_asks_waiting_asked"), "asks", ["waiting", "asked"], unique=False)
    op.create_table(
        "holds",
        sa.Column("item", sa.String(length=40), nullable=False),
        sa.Column("person", sa.String(length=40), nullable=False),
        sa.Column("stage", sa.String(length=40), nullable=False),
        sa.Column("campaign", sa.String(length=40), nullable=False),
        sa.Column("until", TIME, nullable=False),
        sa.ForeignKeyConstraint(["item"], ["items.id"], name=op.f("fk_holds_item"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("item", "person", name=op.f("pk_holds")),
    )
    op.create_index(op.f("ix_holds_campaign_until"), "holds", ["campaign", "until"], unique=False)
    op.create_index(op.f("ix_holds_person_campaign"), "holds", ["person", "campaign"], unique=False)
    op.create_table(
        "met",
        sa.Column("item", sa.String(length=40), nullable=False),
        sa.Column("person", sa.String(length=40), nullable=False),
        sa.Column("stage", sa.String(length=40), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("campaign", sa.String(length=40), nullable=False),
        sa.ForeignKeyConstraint(["item"], ["items.id"], name=op.f("fk_met_item"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("item", "person", "stage", "version", name=op.f("pk_met")),
    )
    op.create_table(
        "votes",
        sa.Column("item", sa.String(length=40), nullable=False),
        sa.Column("person", sa.String(length=40), nullable=False),
        sa.Column("stage", sa.String(length=40), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("campaign", sa.String(length=40), nullable=False),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("correct", sa.Boolean(), nullable=True),
        sa.Column("answer", JSON, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["item"], ["items.id"], name=op.f("fk_votes_item"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("item", "person", "stage", "version", name=op.f("pk_votes")),
    )
    op.create_index(op.f("ix_votes_campaign_stage"), "votes", ["campaign", "stage"], unique=False)
    op.create_index(op.f("ix_votes_person_campaign"), "votes", ["person", "campaign"], unique=False)
