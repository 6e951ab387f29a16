"""The tables. `events` is the truth about items; `items`, `votes`, `holds` and `asks` are made from it.

Campaigns, people and their sessions are records of their own, because they can be changed and deleted.
A change here needs a migration in `migrations/versions` (a test compares the two).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
Json = sa.JSON().with_variant(JSONB(), "postgresql")
Number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


class Time(sa.TypeDecorator[datetime]):
    """A time with its zone, in UTC, also where the database has none."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> Any:  # noqa: ARG002
        return value if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:  # noqa: ARG002
        return value if value is None or value.tzinfo else value.replace(tzinfo=UTC)


campaigns = sa.Table(
    "campaigns",
    metadata,
    sa.Column("id", sa.String(40), primary_key=True),
    sa.Column("kind", sa.String(80), nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("settings", Json, nullable=False),
    sa.Column("open", sa.Boolean, nullable=False, default=True),
    sa.Column("skills", Json, nullable=False, default=dict),
    sa.Column("created", Time, nullable=False),
    sa.Column("demo", sa.Boolean, nullable=False, default=False),
    sa.Column("paused", sa.Boolean, nullable=False, default=False, server_default=sa.false()),
    sa.Column("notice", sa.Text, nullable=False, default="", server_default=""),
)

people = sa.Table(
    "people",
    metadata,
    sa.Column("id", sa.String(40), primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("email", sa.Text, nullable=False, default=""),
    sa.Column("password", sa.Text, nullable=False, default=""),
    sa.Column("nationality", Json, nullable=False, default=list),
    sa.Column("home", Json, nullable=False, default=list),
    sa.Column("languages", Json, nullable=False, default=list),
    sa.Column("locale", sa.String(20), nullable=False, default="en"),
    sa.Column("organises", sa.Boolean, nullable=False, default=False),
    sa.Column("created", Time, nullable=False),
    sa.Column("withdrawn", Time),
    sa.Column("code", sa.String(64), nullable=False, default="", server_default=""),
    sa.Column("typed", Json, nullable=False, default=dict, server_default="{}"),
    sa.Index(None, "code"),
)

members = sa.Table(
    "members",
    metadata,
    sa.Column("campaign", sa.ForeignKey("campaigns.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("person", sa.ForeignKey("people.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("roles", Json, nullable=False),
    sa.Column("qualified", sa.Boolean, nullable=False, default=False),
    sa.Column("released", sa.Boolean, nullable=False, default=False),
    sa.Column("test", Json, nullable=False, default=dict),
    sa.Column("consented", Time),
    sa.Column("pay_note", sa.Text, nullable=False, default=""),
    sa.Column("joined", Time, nullable=False),
    sa.Column("invitation", sa.String(40), nullable=False, default="", server_default=""),
    sa.Column("signals", Json, nullable=False, default=dict, server_default="{}"),
    sa.Column("alike", Json, nullable=False, default=dict, server_default="{}"),
    sa.Column("participant", sa.String(100), nullable=False, default="", server_default=""),
    sa.Column("place", Json, nullable=False, default=dict, server_default="{}"),
    sa.Index(None, "person"),
)

invitations = sa.Table(
    "invitations",
    metadata,
    sa.Column("id", sa.String(40), primary_key=True),
    sa.Column("token", sa.String(64), nullable=False, unique=True),
    sa.Column("campaign", sa.ForeignKey("campaigns.id", ondelete="CASCADE")),
    sa.Column("person", sa.ForeignKey("people.id", ondelete="CASCADE")),
    sa.Column("role", sa.String(20), nullable=False),
    sa.Column("note", sa.Text, nullable=False, default=""),
    sa.Column("made_by", sa.String(40), nullable=False),
    sa.Column("uses_left", sa.Integer, nullable=False, default=1),
    sa.Column("created", Time, nullable=False),
    sa.Column("until", Time, nullable=False),
    sa.Column("personal", sa.Boolean, nullable=False, default=False, server_default=sa.false()),
    sa.Column("used_by", sa.ForeignKey("people.id", ondelete="CASCADE")),
    sa.Column("also", Json, nullable=False, default=list, server_default="[]"),
    sa.Column("panel", Json, nullable=False, default=dict, server_default="{}"),
    sa.Index(None, "campaign"),
)
"""Links into a campaign for someone new, or, with a person, links by which someone known signs in.

A link for one person is that person's own once it was used (`used_by`): by it they come back.
"""

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("token", sa.String(64), primary_key=True),
    sa.Column("person", sa.ForeignKey("people.id", ondelete="CASCADE"), nullable=False),
    sa.Column("created", Time, nullable=False),
    sa.Column("until", Time, nullable=False),
    sa.Index(None, "person"),
)

events = sa.Table(
    "events",
    metadata,
    sa.Column("id", Number, primary_key=True, autoincrement=True),
    sa.Column("key", sa.String(100), nullable=False),
    sa.Column("at", Time, nullable=False),
    sa.Column("campaign", sa.ForeignKey("campaigns.id", ondelete="CASCADE"), nullable=False),
    sa.Column("item", sa.String(40), nullable=False),
    sa.Column("stage", sa.String(40), nullable=False),
    sa.Column("kind", sa.String(20), nullable=False),
    sa.Column("person", sa.String(40)),
    sa.Column("payload", Json, nullable=False),
    sa.Column("standing", Json),
    sa.UniqueConstraint("campaign", "key"),
    sa.Index(None, "item", "id"),
    sa.Index(None, "campaign", "id"),
    sa.Index(None, "campaign", "kind", "id"),
    sa.Index(None, "person"),
)

items = sa.Table(
    "items",
    metadata,
    sa.Column("id", sa.String(40), primary_key=True),
    sa.Column("campaign", sa.ForeignKey("campaigns.id", ondelete="CASCADE"), nullable=False),
    sa.Column("author", sa.String(40)),
    sa.Column("stage", sa.String(40), nullable=False),
    sa.Column("status", sa.String(20), nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("region", sa.String(20), nullable=False),
    sa.Column("language", sa.String(40), nullable=False),
    sa.Column("is_check", sa.Boolean, nullable=False),
    sa.Column("missing", sa.Integer, nullable=False),
    sa.Column("headline", sa.Text, nullable=False),
    sa.Column("returns", sa.Integer, nullable=False),
    sa.Column("disputed", sa.Boolean, nullable=False),
    sa.Column("stuck", sa.Boolean, nullable=False),
    sa.Column("created", Time, nullable=False),
    sa.Column("updated", Time, nullable=False),
    sa.Column("state", Json, nullable=False),
    sa.Index(None, "campaign", "status", "stage", "missing", "created"),
    sa.Index(None, "campaign", "author", "status"),
    sa.Index(None, "campaign", "updated"),
    sa.Index(None, "campaign", "is_check", "status", "stage", "region", "language", "missing"),
    sa.Index(None, "campaign", "disputed", "updated"),
    sa.Index(None, "campaign", "stuck", "updated"),
)

votes = sa.Table(
    "votes",
    metadata,
    sa.Column("item", sa.ForeignKey("items.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("person", sa.String(40), primary_key=True),
    sa.Column("stage", sa.String(40), primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("campaign", sa.String(40), nullable=False),
    sa.Column("label", sa.Text),
    sa.Column("correct", sa.Boolean),
    sa.Column("answer", Json, nullable=False),
    sa.Column("at", Time, nullable=False),
    sa.Column("seconds", sa.Float, nullable=False),
    sa.Column("comment", sa.Text, nullable=False),
    sa.Column("span", sa.Float),
    sa.Column("offline", sa.Float, nullable=False, default=0.0, server_default="0"),
    sa.Index(None, "campaign", "stage"),
    sa.Index(None, "person", "campaign"),
)

holds = sa.Table(
    "holds",
    metadata,
    sa.Column("item", sa.ForeignKey("items.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("person", sa.String(40), primary_key=True),
    sa.Column("stage", sa.String(40), nullable=False),
    sa.Column("campaign", sa.String(40), nullable=False),
    sa.Column("until", Time, nullable=False),
    sa.Index(None, "person", "campaign"),
    sa.Index(None, "campaign", "until"),
)

met = sa.Table(
    "met",
    metadata,
    sa.Column("item", sa.ForeignKey("items.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("person", sa.String(40), primary_key=True),
    sa.Column("stage", sa.String(40), primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("campaign", sa.String(40), nullable=False),
)
"""Who has judged or declined which version: they do not get it again."""

asks = sa.Table(
    "asks",
    metadata,
    sa.Column("id", sa.String(80), primary_key=True),
    sa.Column("item", sa.ForeignKey("items.id", ondelete="CASCADE"), nullable=False),
    sa.Column("campaign", sa.String(40), nullable=False),
    sa.Column("task", sa.String(40), nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("waiting", sa.Boolean, nullable=False),
    sa.Column("failed", sa.Boolean, nullable=False),
    sa.Column("tokens", sa.Integer, nullable=False),
    sa.Column("cost", sa.Float),
    sa.Column("claimed", Time),
    sa.Column("asked", Time, nullable=False),
    sa.Index(None, "waiting", "asked"),
    sa.Index(None, "item"),
    sa.Index(None, "campaign", "model", "task", "waiting", "failed", "tokens", "cost"),
)

drafts = sa.Table(
    "drafts",
    metadata,
    sa.Column("campaign", sa.ForeignKey("campaigns.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("person", sa.ForeignKey("people.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("place", sa.String(100), primary_key=True),
    sa.Column("content", Json, nullable=False),
    sa.Column("at", Time, nullable=False),
)
"""What a person was typing; not the truth about anything."""

audit = sa.Table(
    "audit",
    metadata,
    sa.Column("id", Number, primary_key=True, autoincrement=True),
    sa.Column("at", Time, nullable=False),
    sa.Column("campaign", sa.String(40)),
    sa.Column("person", sa.String(40)),
    sa.Column("action", sa.String(40), nullable=False),
    sa.Column("detail", sa.Text, nullable=False, default=""),
    sa.Index(None, "campaign", "id"),
)
"""Who signed in, invited, exported, deleted; never a secret."""

replies = sa.Table(
    "replies",
    metadata,
    sa.Column("id", Number, primary_key=True, autoincrement=True),
    sa.Column("campaign", sa.ForeignKey("campaigns.id", ondelete="CASCADE"), nullable=False),
    sa.Column("person", sa.String(40), nullable=False),
    sa.Column("item", sa.String(40), nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("by", sa.String(40), nullable=False),
    sa.Column("at", Time, nullable=False),
    sa.Index(None, "campaign", "person"),
)
"""What organisers answered to what people wrote to them beside an answer."""

exports = sa.Table(
    "exports",
    metadata,
    sa.Column("id", sa.String(40), primary_key=True),
    sa.Column("campaign", sa.ForeignKey("campaigns.id", ondelete="CASCADE"), nullable=False),
    sa.Column("format", sa.String(40), nullable=False),
    sa.Column("last_event", Number, nullable=False),
    sa.Column("sha256", sa.String(64), nullable=False),
    sa.Column("made_by", sa.String(40)),
    sa.Column("at", Time, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
    sa.Index(None, "campaign", "at"),
)
"""What was exported, kept whole, so that it can be downloaded again, byte for byte."""

jobs = sa.Table(
    "jobs",
    metadata,
    sa.Column("id", sa.String(40), primary_key=True),
    sa.Column("campaign", sa.ForeignKey("campaigns.id", ondelete="CASCADE"), nullable=False),
    sa.Column("kind", sa.String(20), nullable=False),
    sa.Column("status", sa.String(20), nullable=False),
    sa.Column("settings", Json, nullable=False),
    sa.Column("data", sa.LargeBinary),
    sa.Column("done", sa.Integer, nullable=False),
    sa.Column("total", sa.Integer, nullable=False),
    sa.Column("cancel", sa.Boolean, nullable=False),
    sa.Column("result", Json, nullable=False),
    sa.Column("made_by", sa.String(40)),
    sa.Column("created", Time, nullable=False),
    sa.Column("seen", Time),
    sa.Column("ended", Time),
    sa.Index(None, "campaign", "created"),
    sa.Index(None, "status", "created"),
)
"""Imports and exports that wait, run or are over; `data` is the file of an import until it is over."""

limits = sa.Table(
    "limits",
    metadata,
    sa.Column("name", sa.String(80), primary_key=True),
    sa.Column("left", sa.Float, nullable=False),
    sa.Column("at", sa.Float, nullable=False),
    sa.Index(None, "at"),
)
"""How often somebody may still do something, where several processes serve; names are keyed hashes."""

secrets = sa.Table(
    "secrets",
    metadata,
    sa.Column("name", sa.String(40), primary_key=True),
    sa.Column("value", sa.String(200), nullable=False),
)
"""The key that signs cookies."""

VIEWS = (met, asks, holds, votes, items)
"""The tables that are made from events, in the order in which they can be emptied."""
