"""Queries for pages: lists, counts, what is stuck; they are indexed, so that 10,000 items feel like ten."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel
from sqlalchemy import ColumnElement, case, false, func, insert, or_, select, true, union_all

from mores.studio.records import CampaignItem, EventKind, ItemStatus, Person, Role
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign, list_held, now
from mores.studio.store.people import find_member, list_members
from mores.studio.store.statistics import read_writing
from mores.studio.store.tables import asks, audit, events, holds, items, people, replies, votes
from mores.studio.store.work import count_work
from mores.studio.workflow import EVERYBODY, Flow, Unknown


class Stuck(NamedTuple):
    """Items that cannot go on, and why."""

    reason: Literal["people", "models", "slow", "late"]
    """Too few people who match; models that failed; models that have not answered; people who keep items too long."""
    items: int
    stage: str = ""
    region: str = ""
    """Where the stage asks for people from the item's region."""
    language: str = ""
    """Where the stage asks for people who know the item's language."""
    people: int = 0
    """How many match."""
    needed: int = 0


def find_missing_people(flow: Flow, groups: Iterable[ItemGroup], people: Collection[Person]) -> list[Stuck]:
    """Return the open items for which there are fewer people than they need, those with the most items first."""
    waiting: dict[tuple[str, str, str], tuple[int, int]] = {}
    for group in groups:
        if group.status != ItemStatus.OPEN.value or not 0 < group.needed < EVERYBODY:
            continue
        stage = flow.stage(group.stage)
        key = group.stage, group.region if stage.regional else "", group.language if stage.speaking else ""
        items, needed = waiting.get(key, (0, 0))
        waiting[key] = items + group.items, max(needed, group.needed)
    found = []
    for (name, region, language), (items, needed) in waiting.items():
        stage = flow.stage(name)
        matching = sum(
            stage.role in person.roles
            and (person.qualified or stage.role is Role.ORGANISER)
            and (not stage.regional or region in person.regions)
            and (not stage.speaking or language in person.languages)
            for person in people
        )
        if matching < needed:
            found.append(Stuck("people", items, name, region, language, matching, needed))
    return sorted(found, key=lambda stuck: (-stuck.items, stuck.stage, stuck.region, stuck.language))


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
    """The work that waits for a person in a campaign."""

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
    """Return how long a person has worked in a campaign, by the server's clock, as it counts for pay."""
    span = func.coalesce(votes.c.span, votes.c.seconds)
    answering = select(span).where(votes.c.campaign == campaign.id, votes.c.person == person.id)
    with database.read() as connection:
        answered = sum(map(campaign.settings.count_seconds, connection.execute(answering).scalars()))
        return float(answered) + read_writing(connection, campaign, person.id).get(person.id, (0, 0.0))[1]


class ItemFilter(BaseModel):
    """The items that a list shows; all of them where nothing is said."""

    stage: str = ""
    status: str = ""
    author: str = ""
    disputed: bool = False
    stuck: bool = False
    q: str = ""
    """A part of what names an item in lists."""
    start: int = 0
    """Where the page of the list begins."""


def list_items(database: Database, campaign: Campaign, shown: ItemFilter, start: int) -> list[ItemLine]:
    """Return the items of a campaign, those that were touched last first, one page of them."""
    query = select(*_LINE).where(items.c.campaign == campaign.id, items.c.is_check == false())
    for name, value in shown.model_dump(exclude={"start", "q"}, exclude_defaults=True).items():
        query = query.where(items.c[name] == value)
    if shown.q.strip():
        query = query.where(items.c.headline.icontains(shown.q.strip()[:200], autoescape=True))
    query = query.order_by(items.c.updated.desc(), items.c.id)
    return [ItemLine(*row) for row in database.fetch(query.offset(start).limit(PAGE))]


def list_disputed(database: Database, campaign: Campaign) -> list[str]:
    """Return the items about which people disagree and nobody has decided, the oldest disagreement first."""
    query = select(items.c.id).where(*_disputed(campaign)).order_by(items.c.updated, items.c.id)
    return [row.id for row in database.fetch(query.limit(200))]


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


class OrganiserMessage(NamedTuple):
    """A remark to the organiser beside an answer, or the reason for giving an item back."""

    at: Any
    person: str
    name: str
    """Empty where they have left."""
    item: str
    headline: str
    stage: str
    comment: str
    declined: bool = False
    """They could not judge the item, and this is the reason."""


_REASON = events.c.payload["reason"].as_string()


def list_messages(
    database: Database, campaign: Campaign, start: int = 0, limit: int | None = PAGE
) -> list[OrganiserMessage]:
    """Return what people wrote to the organiser, the newest first; a page of it, or everything."""
    beside = (votes.c.at, votes.c.person, votes.c.item, votes.c.stage, votes.c.comment, false().label("declined"))
    back = (events.c.at, events.c.person, events.c.item, events.c.stage, _REASON.label("comment"), true())
    written = union_all(
        select(*beside).where(votes.c.campaign == campaign.id, votes.c.comment != ""),
        select(*back).where(events.c.campaign == campaign.id, *_is_reason()),
    ).subquery()
    columns = (written.c.at, written.c.person, people.c.name, written.c.item, items.c.headline)
    joined = written.join(items, items.c.id == written.c.item).outerjoin(people, people.c.id == written.c.person)
    query = select(*columns, written.c.stage, written.c.comment, written.c.declined).select_from(joined)
    query = query.order_by(written.c.at.desc(), written.c.item, written.c.person).offset(start)
    return [OrganiserMessage(*row) for row in database.fetch(query.limit(limit) if limit else query)]


def _is_reason() -> tuple[ColumnElement[bool], ...]:
    """Return the conditions of events in which a person gave an item back and said why."""
    return (
        events.c.kind == EventKind.RELEASED.value,
        events.c.person.is_not(None),
        _REASON != "",
        _REASON.not_like('{"phrase"%'),  # what the studio itself says where no reason was given
    )


class Reply(NamedTuple):
    """An answer of an organiser to somebody."""

    person: str
    item: str
    headline: str
    text: str
    at: Any


def list_replies(database: Database, campaign: Campaign, person: str = "") -> list[Reply]:
    """Return what organisers answered, to everybody or one person, the newest first."""
    columns = (replies.c.person, replies.c.item, items.c.headline, replies.c.text, replies.c.at)
    query = select(*columns).join(items, items.c.id == replies.c.item).where(replies.c.campaign == campaign.id)
    query = query.where(replies.c.person == person) if person else query
    return [Reply(*row) for row in database.fetch(query.order_by(replies.c.id.desc()).limit(PAGE if person else 1000))]


def reply(database: Database, campaign: Campaign, message: tuple[str, str], text: str, by: str) -> None:
    """Answer somebody who wrote beside an item; raises `Unknown` where they did not."""
    person, item = message
    mine = (votes.c.campaign == campaign.id, votes.c.person == person, votes.c.item == item, votes.c.comment != "")
    back = (events.c.campaign == campaign.id, events.c.person == person, events.c.item == item, *_is_reason())
    written = union_all(select(votes.c.item).where(*mine), select(events.c.item).where(*back)).subquery()
    if not database.fetch(select(written.c.item).limit(1)):
        raise Unknown("There is no such message.")
    with database.write() as connection:
        row = {"campaign": campaign.id, "person": person, "item": item, "text": text, "by": by, "at": now()}
        connection.execute(insert(replies), row)


RECENT = timedelta(days=14)


class Forecast(NamedTuple):
    """The progress of a campaign."""

    done: int
    target: int
    days: float | None
    """Until it is done, at the pace of the last two weeks; None where nothing was done in them."""


def forecast(database: Database, campaign: Campaign, row: ProgressRow) -> Forecast:
    """Return how many items are accepted, of how many, and when the rest may be."""
    done = row.closed.get(ItemStatus.ACCEPTED.value, 0)
    target = campaign.settings.target or sum(row.open.values()) + done
    mine = (items.c.campaign == campaign.id, items.c.is_check == false(), items.c.status == ItemStatus.ACCEPTED.value)
    last = select(func.count()).where(*mine, items.c.updated > now() - RECENT).scalar_subquery()
    first = select(func.min(items.c.created)).where(items.c.campaign == campaign.id).scalar_subquery()
    [(count, began)] = database.fetch(select(last, first))
    spent = min(now() - began, RECENT) / timedelta(days=1) if began else 0
    return Forecast(done, target, max(target - done, 0) / count * max(spent, 1 / 24) if count else None)


SLOW = timedelta(minutes=15)
"""A model that has not answered for so long is said to be slow."""


class ItemGroup(NamedTuple):
    """Items that are alike."""

    stage: str
    status: str
    region: str
    language: str
    items: int
    needed: int
    """How many more people the item needs that needs the most."""


class ModelUse(NamedTuple):
    """A request to one model."""

    model: str
    task: str
    calls: int
    waiting: int
    failed: int
    tokens: int
    cost: float | None
    """Dollars; None where the price of no answer is known."""
    unpriced: int
    """Answers of which the price is not known."""


class ProgressRow(NamedTuple):
    """The progress of the items of one region or language."""

    name: str
    open: dict[str, int]
    """By stage."""
    closed: dict[str, int]
    """By status."""

    @property
    def items(self) -> int:
        return sum(self.open.values()) + sum(self.closed.values())


def count_groups(database: Database, campaign: Campaign) -> list[ItemGroup]:
    """Return how many items there are by stage, status, region and language, without attention checks."""
    columns = (items.c.stage, items.c.status, items.c.region, items.c.language)
    query = (
        select(*columns, func.count(), func.max(items.c.missing))
        .where(items.c.campaign == campaign.id, items.c.is_check == false())
        .group_by(*columns)
        .order_by(*columns)
    )
    return [ItemGroup(*row) for row in database.fetch(query)]


def tabulate(groups: Sequence[ItemGroup], by: str = "") -> list[ProgressRow]:
    """Return the progress of each region or language, those with the most items first; of all items in one row."""
    rows: dict[str, ProgressRow] = {} if by else {"": ProgressRow("", Counter(), Counter())}
    for group in groups:
        name = getattr(group, by) if by else ""
        row = rows.setdefault(name, ProgressRow(name, Counter(), Counter()))
        if group.status == ItemStatus.OPEN.value:
            row.open[group.stage] += group.items
        else:
            row.closed[group.status] += group.items
    return sorted(rows.values(), key=lambda row: (-row.items, row.name))


def summarise_work(database: Database, campaign: Campaign, person: str) -> tuple[Waits, Counter[str]]:
    """Return what waits for a member, and, for an organiser, how many items have each status."""
    member, counts = find_member(database, campaign, person), Counter[str]()
    assert member is not None
    if Role.ORGANISER not in member.person.roles:
        return count_waiting_for(database, campaign, member.person), counts
    for group in count_groups(database, campaign):
        counts[group.status] += group.items
    return Waits(), counts


def find_stuck(database: Database, campaign: Campaign, groups: Sequence[ItemGroup]) -> list[Stuck]:
    """Find everything that keeps items from going on."""
    people = [member.person for member in list_members(database, campaign) if member.name]
    found = find_missing_people(campaign.flow, groups, people)
    mine = items.c.campaign == campaign.id
    counts = {
        "models": _count(items.c.id, mine, items.c.stuck, items.c.status == ItemStatus.OPEN.value),
        "slow": _count(asks.c.id, asks.c.campaign == campaign.id, asks.c.waiting, asks.c.asked < now() - SLOW),
        "late": _count(holds.c.item, holds.c.campaign == campaign.id, holds.c.until <= now()),
    }
    [row] = database.fetch(select(*(query.label(name) for name, query in counts.items())))
    others = [Stuck("models", row.models), Stuck("slow", row.slow), Stuck("late", row.late)]
    return [*(stuck for stuck in others if stuck.items), *found]


def _count(column: ColumnElement[str], *conditions: ColumnElement[bool]) -> ColumnElement[int]:
    query: ColumnElement[int] = select(func.count(column)).where(*conditions).scalar_subquery()
    return query


def count_models(database: Database, campaign: Campaign) -> list[ModelUse]:
    """Return what each model was asked, how often it failed, and what it took."""
    answered = (asks.c.waiting == false()) & (asks.c.failed == false())
    query = (
        select(
            asks.c.model,
            asks.c.task,
            func.count(),
            func.sum(case((asks.c.waiting == true(), 1), else_=0)),
            func.sum(case((asks.c.failed == true(), 1), else_=0)),
            func.sum(asks.c.tokens),
            func.sum(asks.c.cost),
            func.sum(case((answered & asks.c.cost.is_(None), 1), else_=0)),
        )
        .where(asks.c.campaign == campaign.id)
        .group_by(asks.c.model, asks.c.task)
        .order_by(asks.c.model, asks.c.task)
    )
    return [ModelUse(*row) for row in database.fetch(query)]
