"""Votes keep who judged and from when to when; links keep who used them; people come back by a code.

What happened before is told from what is known now: each event of a person gets the profile that the person has at the
upgrade, marked as such (`source: upgrade`), and the tables that are made from events are made again.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0003"
down_revision = "0002"

JSON = sa.JSON().with_variant(JSONB(), "postgresql")
ADDED = {
    "members": (
        sa.Column("invitation", sa.String(40), nullable=False, server_default=""),
        sa.Column("signals", JSON, nullable=False, server_default="{}"),
        sa.Column("alike", JSON, nullable=False, server_default="{}"),
    ),
    "people": (
        sa.Column("code", sa.String(64), nullable=False, server_default=""),
        sa.Column("typed", JSON, nullable=False, server_default="{}"),
    ),
    "events": (sa.Column("standing", JSON),),
    "votes": (sa.Column("span", sa.Float()), sa.Column("offline", sa.Float(), nullable=False, server_default="0")),
}


def upgrade() -> None:
    for table, columns in ADDED.items():
        with op.batch_alter_table(table) as batch:
            for column in columns:
                batch.add_column(column)
    op.create_index("ix_people_code", "people", ["code"])
    with op.batch_alter_table("invitations") as batch:
        batch.add_column(sa.Column("personal", sa.Boolean(), nullable=False, server_default=sa.false()))
        batch.add_column(sa.Column("used_by", sa.String(40)))
        batch.create_foreign_key("fk_invitations_used_by", "people", ["used_by"], ["id"], ondelete="CASCADE")
    _tell_who_acted(op.get_bind())
    _fold_again(op.get_bind())


def _tell_who_acted(connection: Any) -> None:
    """Give every event in which somebody wrote, judged or decided the person's profile of now."""
    from mores.studio.store.tables import events, members, people
    from mores.studio.workflow.act import CLAIMS

    chosen = (people.c.id, people.c.nationality, people.c.home, people.c.languages)
    roles: dict[tuple[str, str], list[str]] = {
        (row.campaign, row.person): row.roles
        for row in connection.execute(sa.select(members.c.campaign, members.c.person, members.c.roles))
    }
    known = {row.id: row for row in connection.execute(sa.select(*chosen))}
    acted = sa.select(events.c.campaign, events.c.person).where(events.c.person.is_not(None)).distinct()
    for campaign, person in connection.execute(acted).all():
        row = known.get(person)
        regions = sorted({*row.nationality} & {*row.home}) if row else []
        standing = {"roles": roles.get((campaign, person), []), "regions": regions, "link": "", "source": "upgrade"}
        standing |= {"languages": sorted(row.languages) if row else []}
        mine = (events.c.campaign == campaign, events.c.person == person, events.c.kind.in_(CLAIMS))
        connection.execute(sa.update(events).where(*mine).values(standing=standing))


def _fold_again(connection: Any) -> None:
    """Make the state of every item again from its events, and the server's times of its votes."""
    from mores.studio.records import CampaignItem
    from mores.studio.store.items import to_event
    from mores.studio.store.tables import events, items, votes
    from mores.studio.workflow import apply

    rows = connection.execute(sa.select(events).order_by(events.c.item, events.c.id)).all()
    for name, life in groupby(rows, key=lambda row: row.item):
        item: CampaignItem | None = None
        for row in life:
            item = apply(item, to_event(row))
        assert item is not None
        state = item.model_dump(mode="json")
        connection.execute(sa.update(items).where(items.c.id == name).values(state=state))
        for vote in item.votes:
            places = (getattr(votes.c, key) == getattr(vote, key) for key in ("person", "stage", "version"))
            connection.execute(sa.update(votes).where(votes.c.item == name, *places).values(span=vote.span))
