"""The tables. `events` is the truth about items; `items`, `votes`, `holds` and `asks` are made from it.

Campaigns, people and their sessions are records of their own, because they can be changed and deleted.
A change here needs a migration in `migrations/versions` (a test compares the two).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)
from sqlalchemy.dialects.postgresql import JSONB

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
Json = JSON().with_variant(JSONB(), "postgresql")
Number = BigInteger().with_variant(Integer(), "sqlite")


class Time(TypeDecorator[datetime]):
    """A time with its zone, in UTC, also where the database has none."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:  # noqa: ARG002
        return value if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        return value if value is None or value.tzinfo else value.replace(tzinfo=UTC)


campaigns = Table(
    "campaigns",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("kind", String(80), nullable=False),
    Column("title", Text, nullable=False),
    Column("settings", Json, nullable=False),
    Column("open", Boolean, nullable=False, default=True),
    Column("skills", Json, nullable=False, default=dict),
    Column("created", Time, nullable=False),
    Column("demo", Boolean, nullable=False, default=False),
)

people = Table(
    "people",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("name", Text, nullable=False),
    Column("email", Text, nullable=False, default=""),
    Column("password", Text, nullable=False, default=""),
    Column("nationality", Json, nullable=False, default=list),
    Column("home", Json, nullable=False, default=list),
    Column("languages", Json, nullable=False, default=list),
    Column("locale", String(20), nullable=False, default="en"),
    Column("organises", Boolean, nullable=False, default=False),
    Column("created", Time, nullable=False),
    Column("withdrawn", Time),
)

members = Table(
    "members",
    metadata,
    Column("campaign", ForeignKey("campaigns.id", ondelete="CASCADE"), primary_key=True),
    Column("person", ForeignKey("people.id", ondelete="CASCADE"), primary_key=True),
    Column("roles", Json, nullable=False),
    Column("qualified", Boolean, nullable=False, default=False),
    Column("released", Boolean, nullable=False, default=False),
    Column("test", Json, nullable=False, default=dict),
    Column("consented", Time),
    Column("pay_note", Text, nullable=False, default=""),
    Column("joined", Time, nullable=False),
    Index(None, "person"),
)

invitations = Table(
    "invitations",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("token", String(64), nullable=False, unique=True),
    Column("campaign", ForeignKey("campaigns.id", ondelete="CASCADE")),
    Column("person", ForeignKey("people.id", ondelete="CASCADE")),
    Column("role", String(20), nullable=False),
    Column("note", Text, nullable=False, default=""),
    Column("made_by", String(40), nullable=False),
    Column("uses_left", Integer, nullable=False, default=1),
    Column("created", Time, nullable=False),
    Column("until", Time, nullable=False),
    Index(None, "campaign"),
)
"""Links into a campaign for someone new, or, with a person, links by which someone known signs in."""

sessions = Table(
    "sessions",
    metadata,
    Column("token", String(64), primary_key=True),
    Column("person", ForeignKey("people.id", ondelete="CASCADE"), nullable=False),
    Column("created", Time, nullable=False),
    Column("until", Time, nullable=False),
    Index(None, "person"),
)

events = Table(
    "events",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=True),
    Column("key", String(100), nullable=False),
    Column("at", Time, nullable=False),
    Column("campaign", ForeignKey("campaigns.id", ondelete="CASCADE"), nullable=False),
    Column("item", String(40), nullable=False),
    Column("stage", String(40), nullable=False),
    Column("kind", String(20), nullable=False),
    Column("person", String(40)),
    Column("payload", Json, nullable=False),
    UniqueConstraint("campaign", "key"),
    Index(None, "item", "id"),
    Index(None, "campaign", "id"),
    Index(None, "campaign", "kind", "id"),
    Index(None, "person"),
)

items = Table(
    "items",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("campaign", ForeignKey("campaigns.id", ondelete="CASCADE"), nullable=False),
    Column("author", String(40)),
    Column("stage", String(40), nullable=False),
    Column("status", String(20), nullable=False),
    Column("version", Integer, nullable=False),
    Column("region", String(20), nullable=False),
    Column("language", String(40), nullable=False),
    Column("is_check", Boolean, nullable=False),
    Column("missing", Integer, nullable=False),
    Column("headline", Text, nullable=False),
    Column("returns", Integer, nullable=False),
    Column("disputed", Boolean, nullable=False),
    Column("stuck", Boolean, nullable=False),
    Column("created", Time, nullable=False),
    Column("updated", Time, nullable=False),
    Column("state", Json, nullable=False),
    Index(None, "campaign", "status", "stage", "missing", "created"),
    Index(None, "campaign", "author", "status"),
    Index(None, "campaign", "updated"),
    Index(None, "campaign", "is_check", "status", "stage", "region", "language", "missing"),
    Index(None, "campaign", "disputed", "updated"),
    Index(None, "campaign", "stuck", "updated"),
)

votes = Table(
    "votes",
    metadata,
    Column("item", ForeignKey("items.id", ondelete="CASCADE"), primary_key=True),
    Column("person", String(40), primary_key=True),
    Column("stage", String(40), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("campaign", String(40), nullable=False),
    Column("label", Text),
    Column("correct", Boolean),
    Column("answer", Json, nullable=False),
    Column("at", Time, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("comment", Text, nullable=False),
    Index(None, "campaign", "stage"),
    Index(None, "person", "campaign"),
)

holds = Table(
    "holds",
    metadata,
    Column("item", ForeignKey("items.id", ondelete="CASCADE"), primary_key=True),
    Column("person", String(40), primary_key=True),
    Column("stage", String(40), nullable=False),
    Column("campaign", String(40), nullable=False),
    Column("until", Time, nullable=False),
    Index(None, "person", "campaign"),
    Index(None, "campaign", "until"),
)

met = Table(
    "met",
    metadata,
    Column("item", ForeignKey("items.id", ondelete="CASCADE"), primary_key=True),
    Column("person", String(40), primary_key=True),
    Column("stage", String(40), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("campaign", String(40), nullable=False),
)
"""Who has judged or declined which version: they do not get it again."""

asks = Table(
    "asks",
    metadata,
    Column("id", String(80), primary_key=True),
    Column("item", ForeignKey("items.id", ondelete="CASCADE"), nullable=False),
    Column("campaign", String(40), nullable=False),
    Column("task", String(40), nullable=False),
    Column("model", Text, nullable=False),
    Column("waiting", Boolean, nullable=False),
    Column("failed", Boolean, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("cost", Float),
    Column("claimed", Time),
    Column("asked", Time, nullable=False),
    Index(None, "waiting", "asked"),
    Index(None, "item"),
    Index(None, "campaign", "model", "task", "waiting", "failed", "tokens", "cost"),
)

drafts = Table(
    "drafts",
    metadata,
    Column("campaign", ForeignKey("campaigns.id", ondelete="CASCADE"), primary_key=True),
    Column("person", ForeignKey("people.id", ondelete="CASCADE"), primary_key=True),
    Column("place", String(100), primary_key=True),
    Column("content", Json, nullable=False),
    Column("at", Time, nullable=False),
)
"""What a person was typing; not the truth about anything."""

audit = Table(
    "audit",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=True),
    Column("at", Time, nullable=False),
    Column("campaign", String(40)),
    Column("person", String(40)),
    Column("action", String(40), nullable=False),
    Column("detail", Text, nullable=False, default=""),
    Index(None, "campaign", "id"),
)
"""Who signed in, invited, exported, deleted; never a secret."""

exports = Table(
    "exports",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("campaign", ForeignKey("campaigns.id", ondelete="CASCADE"), nullable=False),
    Column("format", String(40), nullable=False),
    Column("last_event", Number, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("made_by", String(40)),
    Column("at", Time, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Index(None, "campaign", "at"),
)
"""What was exported, kept whole, so that it can be downloaded again, byte for byte."""

secrets = Table(
    "secrets", metadata, Column("name", String(40), primary_key=True), Column("value", String(200), nullable=False)
)
"""The key that signs cookies."""

VIEWS = (met, asks, holds, votes, items)
"""The tables that are made from events, in the order in which they can be emptied."""
