"""Items and their events: what the rules say is written in one transaction, with the tables that pages read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from secrets import token_hex
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    and_,
    delete,
    exists,
    false,
    func,
    insert,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.exc import IntegrityError

from mores.studio.form import matches
from mores.studio.kind import Kind
from mores.studio.records import Ask, Event, EventKind, Item, Person, Role, Status, Vote
from mores.studio.store.database import Database
from mores.studio.store.tables import VIEWS, asks, events, holds, items, met, votes
from mores.studio.workflow import (
    Action,
    Create,
    Flow,
    Refused,
    Release,
    Take,
    Unknown,
    act,
    apply,
    assign,
    judged,
    missing,
)

CANDIDATES = 30
"""How many items are looked at when a person asks for work."""
CLAIM = timedelta(minutes=10)
"""How long a process has to answer a question to a model before another may."""


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Campaign:
    """A campaign that is open in the store: who it is, its kind and its rules."""

    id: str
    kind: Kind[Any]
    settings: Any
    flow: Flow
    title: str
    demo: bool = False


class Written(NamedTuple):
    """What an action led to."""

    item: Item
    events: Sequence[Event]
    """Empty where the same action was sent a second time."""


def do(
    database: Database,
    campaign: Campaign,
    person: Person | None,
    action: Action,
    *,
    item: str = "",
    key: str = "",
    at: datetime | None = None,
) -> Written:
    """Do something to an item; raises `Refused` with the reason. The same key a second time does nothing."""
    key = key or token_hex(12)
    try:
        with database.write() as connection:
            done = _done(connection, campaign, person, key)
            if done is not None:
                return Written(done, ())
            target = None if isinstance(action, Create) else _load(connection, campaign, item, lock=True)
            added = act(campaign.flow, target, person, action, at or now(), key)
            return Written(append(connection, campaign, target, added), added)
    except IntegrityError:  # the same action came at the same moment by another way
        with database.read() as connection:
            done = _done(connection, campaign, person, key)
        if done is None:
            raise
        return Written(done, ())


def _done(connection: Connection, campaign: Campaign, person: Person | None, key: str) -> Item | None:
    """The item to which this action was done before; None where it was not. A key says nothing to anybody else."""
    query = select(events.c.item, events.c.person).where(events.c.campaign == campaign.id, events.c.key == key)
    row = connection.execute(query).one_or_none()
    if row is None:
        return None
    if row.person is not None and (person is None or row.person != person.id):
        raise Refused("This form is not yours. Please load the page again.")
    return _load(connection, campaign, row.item)


def append(connection: Connection, campaign: Campaign, item: Item | None, added: Sequence[Event]) -> Item:
    """Write events, and what they make of the item."""
    before = item
    for event in added:
        item = apply(item, event)
    if item is None:
        raise Refused("There is no such item.")
    if added:
        connection.execute(insert(events), [_event_row(event) for event in added])
        write_views(connection, campaign, before, item)
    return item


def _event_row(event: Event) -> dict[str, Any]:
    return event.model_dump() | {"kind": event.kind.value}


def _load(connection: Connection, campaign: Campaign, item: str, *, lock: bool = False) -> Item:
    query = select(items.c.state).where(items.c.id == item, items.c.campaign == campaign.id)
    state = connection.execute(query.with_for_update() if lock else query).scalar()
    if state is None:
        raise Unknown("There is no such item.")
    return Item.model_validate(state)


def read_item(database: Database, campaign: Campaign, item: str) -> Item:
    """One item; raises `Unknown` where the campaign has none of that id."""
    with database.read() as connection:
        return _load(connection, campaign, item)


def find_item(database: Database, campaign: Campaign, person: Person, item: str) -> Item:
    """One item that a person organises, wrote or was given; for everybody else there is none (`Unknown`)."""
    mine = exists().where(events.c.campaign == campaign.id, events.c.item == item, events.c.person == person.id)
    with database.read() as connection:
        found = _load(connection, campaign, item)
        if Role.ORGANISER in person.roles or found.author == person.id or connection.execute(select(mine)).scalar():
            return found
    raise Unknown("There is no such item.")


def read_events(database: Database, campaign: Campaign, item: str) -> list[Event]:
    """An item's whole life, in order."""
    query = select(events).where(events.c.campaign == campaign.id, events.c.item == item).order_by(events.c.id)
    with database.read() as connection:
        return [to_event(row) for row in connection.execute(query)]


def to_event(row: Row[Any]) -> Event:
    """An event, from its row."""
    fields = {name: getattr(row, name) for name in Event.model_fields}
    return Event(**fields)


def read_items(
    database: Database,
    campaign: Campaign,
    *,
    status: Status | None = None,
    checks: bool = False,
    connection: Connection | None = None,
) -> Iterator[Item]:
    """The items of a campaign in the order in which they were made, a batch at a time; without attention checks.

    With a connection all are as of the same moment.
    """
    conditions = [items.c.campaign == campaign.id]
    if status:
        conditions.append(items.c.status == status.value)
    if not checks:
        conditions.append(items.c.is_check == false())
    last: tuple[datetime, str] | None = None
    while True:
        query = select(items.c.state, items.c.created, items.c.id).where(*conditions)
        if last:
            query = query.where(or_(items.c.created > last[0], and_(items.c.created == last[0], items.c.id > last[1])))
        with nullcontext(connection) if connection else database.read() as reading:
            rows = reading.execute(query.order_by(items.c.created, items.c.id).limit(500)).all()
        if not rows:
            return
        for row in rows:
            yield Item.model_validate(row.state)
        last = (rows[-1].created, rows[-1].id)


def take(database: Database, campaign: Campaign, person: Person, *, check: bool = False) -> Item | None:
    """Give a person the item that needs them most; None where there is nothing for them.

    Two people who ask at once never get the same last place: the rules are asked again when the item's row is locked.
    """
    release_late(database, campaign)
    for _ in range(3):
        found = find_work(database, campaign, person, check=check)
        pairs = dict(assign(campaign.flow, [person], found))
        order = [pairs[person.id]] if person.id in pairs else []
        order += [item.id for item in found if item.id not in order]
        for item in order:
            try:
                return do(database, campaign, person, Take(), item=item).item
            except Refused:
                continue
        if not found:
            return None
    return None


def find_work(database: Database, campaign: Campaign, person: Person, *, check: bool = False) -> list[Item]:
    """Some items that a person could take, those that need the fewest further answers first."""
    query = select(items.c.state).where(*_suiting(campaign, person, check)).order_by(items.c.missing, items.c.created)
    with database.read() as connection:
        return [Item.model_validate(state) for (state,) in connection.execute(query.limit(CANDIDATES))]


def count_work(database: Database, campaign: Campaign, person: Person) -> int:
    """How many items a person could take; no more than `CANDIDATES` are counted."""
    query = select(items.c.id).where(*_suiting(campaign, person, check=False)).limit(CANDIDATES)
    with database.read() as connection:
        return int(connection.execute(select(func.count()).select_from(query.subquery())).scalar_one())


def _suiting(campaign: Campaign, person: Person, check: bool) -> Sequence[ColumnElement[bool]]:
    """What holds for items that a person could take."""
    stages = [stage for stage in campaign.flow.stages if stage.role in person.roles and judged(stage)]
    if not stages or not person.qualified:
        return [false()]
    suits = []
    for stage in stages:
        conditions = [items.c.stage == stage.name]
        if stage.regional:
            conditions.append(items.c.region.in_(person.regions))
        if stage.speaking:
            conditions.append(items.c.language.in_(person.languages))
        suits.append(and_(*conditions))
    seen = exists().where(
        met.c.item == items.c.id,
        met.c.person == person.id,
        met.c.stage == items.c.stage,
        met.c.version == items.c.version,
    )
    held = exists().where(holds.c.item == items.c.id, holds.c.person == person.id)
    return [
        items.c.campaign == campaign.id,
        items.c.status == Status.OPEN.value,
        items.c.missing > 0,
        items.c.is_check == (true() if check else false()),
        or_(*suits),
        or_(items.c.author.is_(None), items.c.author != person.id),
        ~seen,
        ~held,
    ]


def release_late(database: Database, campaign: Campaign, at: datetime | None = None) -> int:
    """Take back the items that people have kept too long."""
    moment = at or now()
    query = select(holds.c.item).where(holds.c.campaign == campaign.id, holds.c.until <= moment).distinct()
    with database.read() as connection:
        late = list(connection.execute(query).scalars())
    for item in late:
        do(database, campaign, None, Release(), item=item, at=moment)
    return len(late)


def held_by(database: Database, campaign: Campaign, person: Person) -> list[Item]:
    """The items that wait for this person."""
    query = (
        select(items.c.state)
        .join(holds, holds.c.item == items.c.id)
        .where(holds.c.person == person.id, holds.c.campaign == campaign.id)
        .order_by(holds.c.until)
    )
    with database.read() as connection:
        return [Item.model_validate(state) for (state,) in connection.execute(query)]


def write_views(connection: Connection, campaign: Campaign, before: Item | None, after: Item) -> None:
    """Bring the tables that pages read to the new state of one item."""
    row = _item_row(campaign, after)
    if before is None:
        connection.execute(insert(items), row)
    else:
        connection.execute(update(items).where(items.c.id == after.id).values(row))
    if before is None or before.holds != after.holds:
        connection.execute(delete(holds).where(holds.c.item == after.id))
        _insert(connection, holds, [hold.model_dump() | _of(after) for hold in after.holds])
    if before is None or before.votes != after.votes:
        connection.execute(delete(votes).where(votes.c.item == after.id))
        _insert(connection, votes, [_vote_row(campaign, after, vote) for vote in after.votes])
    if before is None or before.votes != after.votes or before.declined != after.declined:
        connection.execute(delete(met).where(met.c.item == after.id))
        pairs = {(vote.person, vote.stage, vote.version) for vote in after.votes}
        pairs |= {(person, stage, after.version) for person, stage in after.declined}
        rows = [{"person": person, "stage": stage, "version": version} for person, stage, version in sorted(pairs)]
        _insert(connection, met, [row | _of(after) for row in rows])
    known = {} if before is None else {ask.id: ask for ask in before.asks}
    for ask in after.asks:
        if ask.id not in known:
            row = {"id": ask.id, "task": ask.task, "model": ask.model, "asked": after.updated}
            connection.execute(insert(asks), row | _of(after) | _state(ask))
        elif known[ask.id] != ask:
            connection.execute(update(asks).where(asks.c.id == ask.id).values(_state(ask)))


def _state(ask: Ask) -> dict[str, Any]:
    tokens = ask.usage.get("prompt_tokens", 0) + ask.usage.get("completion_tokens", 0)
    return {"waiting": ask.waiting, "failed": bool(ask.failure), "tokens": tokens, "cost": ask.usage.get("cost")}


def _item_row(campaign: Campaign, item: Item) -> dict[str, Any]:
    labels = {campaign.kind.label(vote.stage, vote.answer) for vote in item.votes_at(item.stage)} - {None}
    return {
        "id": item.id,
        "campaign": item.campaign,
        "author": item.author,
        "stage": item.stage,
        "status": item.status.value,
        "version": item.version,
        "region": item.region,
        "language": item.language,
        "is_check": item.check is not None,
        "missing": missing(campaign.flow, item),
        "headline": campaign.kind.headline(item)[:300],
        "returns": item.returns,
        "disputed": len(labels) > 1 and (item.stage, item.version) not in item.adjudicated,
        "stuck": item.status is Status.OPEN and bool(item.failed),
        "created": item.created,
        "updated": item.updated,
        "state": item.model_dump(mode="json"),
    }


def _vote_row(campaign: Campaign, item: Item, vote: Vote) -> dict[str, Any]:
    correct = None
    if item.check is not None:
        correct = matches(vote.answer, item.check)
    label = campaign.kind.label(vote.stage, vote.answer)
    return vote.model_dump(exclude={"skill", "order"}) | _of(item) | {"label": label, "correct": correct}


def _of(item: Item) -> dict[str, str]:
    return {"item": item.id, "campaign": item.campaign}


def _insert(connection: Connection, table: Any, rows: Sequence[dict[str, Any]]) -> None:
    if rows:
        connection.execute(insert(table), rows)


def rebuild(database: Database, campaigns: Iterable[Campaign]) -> int:
    """Make all tables that are made from events again; the number of items."""
    count = 0
    with database.write() as connection:
        for campaign in campaigns:
            for table in VIEWS:
                connection.execute(delete(table).where(table.c.campaign == campaign.id))
            query = select(events).where(events.c.campaign == campaign.id).order_by(events.c.id)
            state: dict[str, Item] = {}
            asked: dict[str, datetime] = {}
            for row in connection.execute(query):
                event = to_event(row)
                state[event.item] = apply(state.get(event.item), event)
                if event.kind is EventKind.ASKED_MODEL:
                    asked[event.payload["ask"]] = event.at
            for item in state.values():
                write_views(connection, campaign, None, item)
            for ask, at in asked.items():
                connection.execute(update(asks).where(asks.c.id == ask).values(asked=at))
            count += len(state)
    return count


def claim_asks(database: Database, campaign: Campaign, limit: int = 20) -> list[tuple[str, str]]:
    """Questions to models that this process shall answer, as pairs of an item and a question."""
    moment = now()
    with database.write() as connection:
        query = (
            select(asks.c.item, asks.c.id)
            .where(asks.c.campaign == campaign.id, _is_free(moment))
            .order_by(asks.c.asked)
            .limit(limit)
        )
        chosen = [(row.item, row.id) for row in connection.execute(query.with_for_update(skip_locked=True))]
        if chosen:
            ids = [ask for _, ask in chosen]
            connection.execute(update(asks).where(asks.c.id.in_(ids)).values(claimed=moment))
    return chosen


def campaigns_that_wait(database: Database) -> list[str]:
    """The campaigns in which a model has something to answer that no process is answering."""
    query = select(asks.c.campaign).where(_is_free(now())).distinct()
    with database.read() as connection:
        return list(connection.execute(query).scalars())


def _is_free(moment: datetime) -> ColumnElement[bool]:
    """Whether a question waits and no process is answering it."""
    return and_(asks.c.waiting == true(), or_(asks.c.claimed.is_(None), asks.c.claimed < moment - CLAIM))
