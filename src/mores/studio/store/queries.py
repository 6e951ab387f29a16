"""What pages ask the database: counts and lists, each one indexed query, so that ten thousand items feel like ten."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import false, func, or_, select, true

from mores.studio.records import CampaignItem, EventKind, ItemStatus, Person
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign, count_work, list_held
from mores.studio.store.tables import audit, events, items, people, votes

PAGE = 50


class ItemLine(NamedTuple):
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


_LINE = tuple(items.c[name] for name in ItemLine._fields)


def list_items_by(database: Database, campaign: Campaign, person: Person, limit: int = PAGE) -> list[ItemLine]:
    """Return the items that a person wrote, those that were touched last first."""
    query = select(*_LINE).where(items.c.campaign == campaign.id, items.c.author == person.id)
    with database.read() as connection:
        return [ItemLine(*row) for row in connection.execute(query.order_by(items.c.updated.desc()).limit(limit))]


def find_inspiration(
    database: Database, campaign: Campaign, person: Person, start: int = 0, limit: int = 20
) -> list[CampaignItem]:
    """Find accepted items of others in languages that a person does not write in, the newest first.

    English is what everybody reads: items that were written in it are left out only for those who know nothing else.
    """
    known = person.languages - {"en"} or person.languages
    conditions = [
        items.c.campaign == campaign.id,
        items.c.status == ItemStatus.ACCEPTED.value,
        items.c.is_check == false(),
        items.c.language.not_in(known),
        or_(items.c.author.is_(None), items.c.author != person.id),
    ]
    query = select(items.c.state).where(*conditions).order_by(items.c.updated.desc(), items.c.id)
    return [CampaignItem.model_validate(row.state) for row in database.fetch(query.offset(start).limit(limit))]


class Waits(NamedTuple):
    """What waits for a person in a campaign."""

    judging: int = 0
    """Items that they have or could take; not more than `CANDIDATES` of the latter are counted."""
    returned: int = 0
    """Items of their own that came back."""
    unfinished: int = 0
    """Items of their own that they have not sent on yet."""


def count_waiting_for(database: Database, campaign: Campaign, person: Person) -> Waits:
    """Return what waits for a person in a campaign."""
    stages = {stage.name for stage in campaign.flow.stages if stage.own}
    mine = [
        line for line in list_items_by(database, campaign, person) if line.status == "open" and line.stage in stages
    ]
    returned = sum(line.returns > 0 for line in mine)
    judging = len(list_held(database, campaign, person)) + count_work(database, campaign, person)
    return Waits(judging, returned, len(mine) - returned)


def sum_seconds(database: Database, campaign: Campaign, person: Person) -> float:
    """Return how long a person has worked in a campaign, as their browser counted it."""
    answering = select(func.sum(votes.c.seconds)).where(votes.c.campaign == campaign.id, votes.c.person == person.id)
    writing = select(events.c.payload).where(
        events.c.campaign == campaign.id, events.c.person == person.id, events.c.kind == EventKind.SUBMITTED.value
    )
    with database.read() as connection:
        answered = connection.execute(answering).scalar() or 0.0
        return float(answered) + sum(payload.get("seconds") or 0.0 for (payload,) in connection.execute(writing))


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
) -> list[ItemLine]:
    """Return the items of a campaign, those that were touched last first, one page of them."""
    query = select(*_LINE).where(items.c.campaign == campaign.id, items.c.is_check == false())
    for column, value in ((items.c.stage, stage), (items.c.status, status), (items.c.author, author)):
        query = query.where(column == value) if value else query
    for column, wanted in ((items.c.disputed, disputed), (items.c.stuck, stuck)):
        query = query.where(column) if wanted else query
    query = query.order_by(items.c.updated.desc(), items.c.id)
    return [ItemLine(*row) for row in database.fetch(query.offset(start).limit(PAGE))]


def list_disputed(database: Database, campaign: Campaign, limit: int = 200) -> list[ItemLine]:
    """Return the items about which people disagree and nobody has decided, the oldest disagreement first."""
    query = select(*_LINE).where(*_disputed(campaign)).order_by(items.c.updated, items.c.id)
    return [ItemLine(*row) for row in database.fetch(query.limit(limit))]


def count_disputed(database: Database, campaign: Campaign) -> int:
    """Return how many items people disagree about."""
    return int(database.fetch(select(func.count()).where(*_disputed(campaign)))[0][0])


def _disputed(campaign: Campaign) -> tuple[Any, ...]:
    waiting = items.c.status.in_([ItemStatus.OPEN.value, ItemStatus.REJECTED.value])
    return items.c.campaign == campaign.id, items.c.disputed == true(), waiting, items.c.is_check == false()


class AuditLine(NamedTuple):
    """Something that was done in a campaign, besides work on items."""

    id: int
    at: Any
    name: str | None
    """Who did it; None where they left or nobody did."""
    action: str
    detail: str


def list_audit(database: Database, campaign: Campaign, before: int = 0) -> list[AuditLine]:
    """Return a page of the campaign's audit log, the newest first; `before` is the last line of the page before."""
    columns = (audit.c.id, audit.c.at, people.c.name, audit.c.action, audit.c.detail)
    query = select(*columns).outerjoin(people, people.c.id == audit.c.person).where(audit.c.campaign == campaign.id)
    if before:
        query = query.where(audit.c.id < before)
    with database.read() as connection:
        return [AuditLine(*row) for row in connection.execute(query.order_by(audit.c.id.desc()).limit(PAGE))]
