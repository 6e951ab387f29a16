"""What pages ask the database: counts and lists, each one indexed query, so that ten thousand items feel like ten."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import false, func, or_, select

from mores.studio.records import Item, Person, Status
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign
from mores.studio.store.tables import items, votes

PAGE = 50


class Line(NamedTuple):
    """One item in a list."""

    id: str
    headline: str
    stage: str
    status: str
    region: str
    language: str
    missing: int
    returns: int
    disputed: bool
    stuck: bool
    """A model could not answer what the stage needs to know."""
    updated: Any


_LINE = tuple(items.c[name] for name in Line._fields)


def items_of(database: Database, campaign: Campaign, person: Person, limit: int = PAGE) -> list[Line]:
    """The items that a person wrote, those that were touched last first."""
    query = select(*_LINE).where(items.c.campaign == campaign.id, items.c.author == person.id)
    with database.read() as connection:
        return [Line(*row) for row in connection.execute(query.order_by(items.c.updated.desc()).limit(limit))]


def find_inspiration(
    database: Database, campaign: Campaign, person: Person, start: int = 0, limit: int = 20
) -> list[Item]:
    """Accepted items of others in languages that a person does not write in, the newest first.

    English is what everybody reads: items that were written in it are left out only for those who know nothing else.
    """
    known = person.languages - {"en"} or person.languages
    conditions = [
        items.c.campaign == campaign.id,
        items.c.status == Status.ACCEPTED.value,
        items.c.is_check == false(),
        items.c.language.not_in(known),
        or_(items.c.author.is_(None), items.c.author != person.id),
    ]
    query = select(items.c.state).where(*conditions).order_by(items.c.updated.desc(), items.c.id)
    with database.read() as connection:
        rows = connection.execute(query.offset(start).limit(limit))
        return [Item.model_validate(state) for (state,) in rows]


def count_votes(database: Database, campaign: Campaign, person: Person) -> int:
    """How many answers a person has given."""
    query = select(func.count()).where(votes.c.campaign == campaign.id, votes.c.person == person.id)
    with database.read() as connection:
        return int(connection.execute(query).scalar_one())


def list_items(
    database: Database,
    campaign: Campaign,
    *,
    stage: str = "",
    status: str = "",
    disputed: bool = False,
    stuck: bool = False,
    author: str = "",
    start: int = 0,
) -> list[Line]:
    """The items of a campaign, those that were touched last first, one page of them."""
    conditions = [items.c.campaign == campaign.id, items.c.is_check == false()]
    if stage:
        conditions.append(items.c.stage == stage)
    if status:
        conditions.append(items.c.status == status)
    if disputed:
        conditions.append(items.c.disputed)
    if stuck:
        conditions.append(items.c.stuck)
    if author:
        conditions.append(items.c.author == author)
    query = select(*_LINE).where(*conditions).order_by(items.c.updated.desc(), items.c.id)
    with database.read() as connection:
        return [Line(*row) for row in connection.execute(query.offset(start).limit(PAGE))]


def count_stuck(database: Database, campaign: Campaign) -> int:
    """How many items wait because a model could not answer."""
    query = select(func.count()).where(items.c.campaign == campaign.id, items.c.status == "open", items.c.stuck)
    with database.read() as connection:
        return int(connection.execute(query).scalar_one())


def count_stages(database: Database, campaign: Campaign) -> dict[tuple[str, str], int]:
    """How many items there are by stage and status."""
    query = (
        select(items.c.stage, items.c.status, func.count())
        .where(items.c.campaign == campaign.id, items.c.is_check == false())
        .group_by(items.c.stage, items.c.status)
    )
    with database.read() as connection:
        return {(stage, status): count for stage, status, count in connection.execute(query)}
