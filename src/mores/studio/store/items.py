"""Items and their events: what the rules say is written in one transaction, with the tables that pages read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from secrets import token_hex
from typing import Any, NamedTuple

from sqlalchemy import (
    BindParameter,
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    delete,
    false,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from mores.studio.form import matches
from mores.studio.kind import Kind
from mores.studio.records import Ask, Event, EventKind, Item, Person, Role, Status, Vote
from mores.studio.store.database import Database
from mores.studio.store.tables import VIEWS, asks, drafts, events, holds, items, met, votes
from mores.studio.workflow import (
    Action,
    Cast,
    Create,
    Flow,
    Refused,
    Release,
    Step,
    Take,
    Unknown,
    act,
    apply,
    judged,
    missing,
)

CANDIDATES = 30
"""The most items that are tried when a person asks for work, and that are counted as waiting for them."""


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
            target = None if isinstance(action, Create) else _load(connection, campaign, item, lock=True)
            added = act(campaign.flow, target, person, action, at or now(), key)
            written = append(connection, campaign, target, added)
            if isinstance(action, Cast | Step) and person:
                connection.execute(_FORGET, {"of": campaign.id, "by": person.id, "at": item})
            return Written(written, added)
    except (IntegrityError, Refused):  # what was done before, or comes by another way at this moment, is done
        done = _done(database, campaign, person, key)
        if done is None:
            raise
        return Written(done, ())


_FORGET = delete(drafts).where(
    drafts.c.campaign == bindparam("of"), drafts.c.person == bindparam("by"), drafts.c.place == bindparam("at")
)
"""What a person typed before they answered."""
_DONE = select(events.c.item, events.c.person).where(
    events.c.campaign == bindparam("campaign"), events.c.key == bindparam("key")
)


def _done(database: Database, campaign: Campaign, person: Person | None, key: str) -> Item | None:
    """The item to which this action was done before; None where it was not. A key says nothing to anybody else."""
    for row in database.fetch(_DONE, {"campaign": campaign.id, "key": key}):
        if row.person is not None and (person is None or row.person != person.id):
            raise Refused("This form is not yours. Please load the page again.")
        return read_item(database, campaign, row.item)
    return None


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


_STATE = select(items.c.state).where(items.c.id == bindparam("item"), items.c.campaign == bindparam("campaign"))
_LOCKED = _STATE.with_for_update()
_TOUCHED = (
    select(events.c.id)
    .where(
        events.c.item == bindparam("item"),
        events.c.person == bindparam("person"),
        events.c.campaign == bindparam("campaign"),
    )
    .limit(1)
)


def _load(connection: Connection, campaign: Campaign, item: str, *, lock: bool = False) -> Item:
    state = connection.execute(_LOCKED if lock else _STATE, {"item": item, "campaign": campaign.id}).scalar()
    if state is None:
        raise Unknown("There is no such item.")
    return Item.model_validate(state)


def read_item(database: Database, campaign: Campaign, item: str) -> Item:
    """One item; raises `Unknown` where the campaign has none of that id."""
    for row in database.fetch(_STATE, {"item": item, "campaign": campaign.id}):
        return Item.model_validate(row.state)
    raise Unknown("There is no such item.")


def find_item(database: Database, campaign: Campaign, person: Person, item: str) -> Item:
    """One item that a person organises, wrote or was given; for everybody else there is none (`Unknown`)."""
    shown = read_item(database, campaign, item)
    if Role.ORGANISER in person.roles or shown.author == person.id:
        return shown
    if any(hold.person == person.id for hold in shown.holds) or any(vote.person == person.id for vote in shown.votes):
        return shown
    if database.fetch(_TOUCHED, {"item": item, "person": person.id, "campaign": campaign.id}):
        return shown
    raise Unknown("There is no such item.")


def read_events(database: Database, campaign: Campaign, item: str) -> list[Event]:
    """An item's whole life, in order."""
    query = select(events).where(events.c.campaign == campaign.id, events.c.item == item).order_by(events.c.id)
    return [to_event(row) for row in database.fetch(query)]


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

    It is the one that `assign` says, and it is given when its row is locked: two people who ask at once never get the
    same last place. What others are changing at this moment is passed over, and waited for where there is nothing else.
    """
    release_late(database, campaign)
    query = _work_for(campaign, person)
    if query is None or not campaign.flow.open:
        return None
    values = _values(campaign, person, check)
    refused: list[str] = []
    for wait in (False,) if database.sqlite else (False, True):
        while len(refused) < CANDIDATES:
            with database.write() as connection:
                left = query.where(items.c.id.not_in(refused)) if refused else query
                item = _lock_first(connection, campaign, left.limit(1), values, wait)
                if item is None:
                    break
                try:
                    added = act(campaign.flow, item, person, Take(), now(), token_hex(12))
                except Refused:
                    refused.append(item.id)
                else:
                    return append(connection, campaign, item, added)
    return None


def _lock_first(
    connection: Connection, campaign: Campaign, query: Select[Any], values: dict[str, Any], wait: bool
) -> Item | None:
    """The first item of a query, locked. A transaction that waits for one row has no other: nobody waits for it."""
    if wait:
        item = connection.execute(query.with_only_columns(items.c.id), values).scalar()
        return _load(connection, campaign, item, lock=True) if item else None
    state = connection.execute(query.with_for_update(skip_locked=True), values).scalar()
    return Item.model_validate(state) if state else None


def count_work(database: Database, campaign: Campaign, person: Person) -> int:
    """How many items a person could take; no more than `CANDIDATES` are counted."""
    query = _work_for(campaign, person)
    if query is None:
        return 0
    some = query.with_only_columns(items.c.id).order_by(None).limit(CANDIDATES).subquery()
    return int(database.fetch(select(func.count()).select_from(some), _values(campaign, person, check=False))[0][0])


def _work_for(campaign: Campaign, person: Person) -> Select[Any] | None:
    """What finds the items that a person could take, to be asked with `_values`; None where they judge nothing."""
    if not person.qualified:
        return None
    stages = [stage for stage in campaign.flow.stages if stage.role in person.roles and judged(stage)]
    return (
        _work(tuple((stage.name, stage.regional, stage.speaking, stage.others) for stage in stages)) if stages else None
    )


def _values(campaign: Campaign, person: Person, check: bool) -> dict[str, Any]:
    known = {"regions": sorted(person.regions), "languages": sorted(person.languages)}
    return {"campaign": campaign.id, "check": check, "person": person.id} | known


@lru_cache
def _work(stages: tuple[tuple[str, bool, bool, bool], ...]) -> Select[Any]:
    """What finds items at stages (name, regional, speaking, others), first those that need the fewest answers."""
    person: BindParameter[Any] = bindparam("person")
    mine = (met.c.item == items.c.id, met.c.person == person, met.c.version == items.c.version)
    suits = []
    for name, regional, speaking, others in stages:
        conditions = [items.c.stage == name]
        if regional:
            conditions.append(items.c.region.in_(bindparam("regions", expanding=True)))
        if speaking:
            conditions.append(items.c.language.in_(bindparam("languages", expanding=True)))
        if others:
            conditions.append(select(met.c.item).where(*mine).limit(1).scalar_subquery().is_(None))
        suits.append(and_(*conditions))
    # PostgreSQL looks each of these up by the primary key, also in new tables, which it believes to be almost empty:
    # there it joins a `NOT EXISTS` row by row
    seen = select(met.c.item).where(*mine, met.c.stage == items.c.stage)
    held = select(holds.c.item).where(holds.c.item == items.c.id, holds.c.person == person)
    return (
        select(items.c.state)
        .where(
            items.c.campaign == bindparam("campaign"),
            items.c.status == Status.OPEN.value,
            items.c.missing > 0,
            items.c.is_check == bindparam("check"),
            or_(*suits),
            or_(items.c.author.is_(None), items.c.author != person),
            seen.scalar_subquery().is_(None),
            held.scalar_subquery().is_(None),
        )
        .order_by(items.c.missing, items.c.created)
    )


_LATE = select(holds.c.item).where(holds.c.campaign == bindparam("campaign"), holds.c.until <= bindparam("until"))


def release_late(database: Database, campaign: Campaign, at: datetime | None = None) -> int:
    """Take back the items that people have kept too long."""
    moment = at or now()
    late = {row.item for row in database.fetch(_LATE, {"campaign": campaign.id, "until": moment})}
    for item in sorted(late):
        do(database, campaign, None, Release(), item=item, at=moment)
    return len(late)


_HELD = (
    select(items.c.id, items.c.state)
    .join(holds, holds.c.item == items.c.id)
    .where(holds.c.person == bindparam("person"), holds.c.campaign == bindparam("campaign"))
    .order_by(holds.c.until)
)
_FIRST_HELD = _HELD.with_only_columns(items.c.id).limit(1)


def held_by(database: Database, campaign: Campaign, person: Person) -> list[Item]:
    """The items that wait for this person."""
    rows = database.fetch(_HELD, {"person": person.id, "campaign": campaign.id})
    return [Item.model_validate(row.state) for row in rows]


def first_held(database: Database, campaign: Campaign, person: Person) -> str | None:
    """The item that waits for this person and is due first."""
    rows = database.fetch(_FIRST_HELD, {"person": person.id, "campaign": campaign.id})
    return rows[0].id if rows else None


_CHANGE_ITEM = update(items).where(items.c.id == bindparam("of"))
_DELETE_HOLD = delete(holds).where(holds.c.item == bindparam("of"), holds.c.person == bindparam("by"))
_DELETE_VOTE, _DELETE_MET = (
    delete(table).where(
        table.c.item == bindparam("of"),
        table.c.person == bindparam("by"),
        table.c.stage == bindparam("where"),
        table.c.version == bindparam("about"),
    )
    for table in (votes, met)
)


def write_views(connection: Connection, campaign: Campaign, before: Item | None, after: Item) -> None:
    """Bring the tables that pages read to the new state of one item: what changed, and nothing else."""
    row = _item_row(campaign, after)
    if before is None:
        connection.execute(insert(items), row)
    else:
        connection.execute(_CHANGE_ITEM, row | {"of": after.id})
    _write_holds(connection, before, after)
    _write_votes(connection, campaign, before, after)
    _write_met(connection, before, after)
    known = {} if before is None else {ask.id: ask for ask in before.asks}
    for ask in after.asks:
        if ask.id not in known:
            row = {"id": ask.id, "task": ask.task, "model": ask.model, "asked": after.updated}
            connection.execute(insert(asks), row | _of(after) | _state(ask))
        elif known[ask.id] != ask:
            connection.execute(update(asks).where(asks.c.id == ask.id).values(_state(ask)))


def _write_holds(connection: Connection, before: Item | None, after: Item) -> None:
    kept = before.holds if before else ()
    for hold in kept:
        if hold not in after.holds:
            connection.execute(_DELETE_HOLD, {"of": after.id, "by": hold.person})
    _insert(connection, holds, [hold.model_dump() | _of(after) for hold in after.holds if hold not in kept])


def _write_votes(connection: Connection, campaign: Campaign, before: Item | None, after: Item) -> None:
    kept = {_place(vote): vote for vote in before.votes} if before else {}
    given = {_place(vote): vote for vote in after.votes}
    for place, vote in kept.items():
        if given.get(place) != vote:
            connection.execute(_DELETE_VOTE, _where(after, place))
    added = [vote for place, vote in given.items() if kept.get(place) != vote]
    _insert(connection, votes, [_vote_row(campaign, after, vote) for vote in added])


def _write_met(connection: Connection, before: Item | None, after: Item) -> None:
    known, present = _met(before) if before else set(), _met(after)
    for place in known - present:
        connection.execute(_DELETE_MET, _where(after, place))
    added = [{"person": person, "stage": stage, "version": version} for person, stage, version in present - known]
    _insert(connection, met, [row | _of(after) for row in added])


def _met(item: Item) -> set[tuple[str, str, int]]:
    """Who has judged or declined which version at which stage."""
    return {_place(vote) for vote in item.votes} | {(person, stage, item.version) for person, stage in item.declined}


def _place(vote: Vote) -> tuple[str, str, int]:
    return vote.person, vote.stage, vote.version


def _where(item: Item, place: tuple[str, str, int]) -> dict[str, Any]:
    return {"of": item.id, "by": place[0], "where": place[1], "about": place[2]}


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
