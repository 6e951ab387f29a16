"""Items and their events: what the rules say is written in one transaction, with the tables that pages read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Table, and_, bindparam, delete, false, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from mores.studio.form import matches
from mores.studio.kind import CampaignKind
from mores.studio.records import Ask, CampaignItem, Content, Event, EventKind, ItemStatus, Person, Role
from mores.studio.store.database import Database
from mores.studio.store.tables import VIEWS, asks, drafts, events, holds, items, met, votes
from mores.studio.workflow import Action, Cast, Create, Flow, Refused, Step, Unknown, act, apply, count_missing


def now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Campaign:
    """A campaign that is open in the store: who it is, its kind and its rules."""

    id: str
    kind: CampaignKind[Any]
    settings: Any
    flow: Flow
    title: str
    demo: bool = False
    paused: bool = False
    """It is not open now, and will be again."""
    notice: str = ""
    """What people read while it is not open."""

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles of people in it: those who work at one of its stages, and organisers."""
        working = {stage.role for stage in self.flow.stages} - {None, Role.ORGANISER}
        return (*(role for role in Role if role in working), Role.ORGANISER)

    def blank(self, stage: str, content: Content, *, author: str | None = None, **place: str) -> CampaignItem:
        """Return an item that is not in the store, for its form; `place` may have its id, region and language."""
        place = {"id": "new", "campaign": self.id, "stage": stage} | place
        return CampaignItem(author=author, content=content, created=now(), updated=now(), **place)


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


def lock_item(connection: Connection, campaign: Campaign, item: str) -> CampaignItem:
    """Return one item; nobody else changes it until the transaction ends."""
    state = connection.execute(_LOCKED, {"item": item, "campaign": campaign.id}).scalar()
    if state is None:
        raise Unknown("There is no such item.")
    return CampaignItem.model_validate(state)


def read_item(database: Database, campaign: Campaign, item: str) -> CampaignItem:
    """Return one item; raises `Unknown` where the campaign has none of that id."""
    for row in database.fetch(_STATE, {"item": item, "campaign": campaign.id}):
        return CampaignItem.model_validate(row.state)
    raise Unknown("There is no such item.")


def find_item(database: Database, campaign: Campaign, person: Person, item: str) -> CampaignItem:
    """Return one item that a person organises, wrote or was given; for everybody else there is none (`Unknown`)."""
    shown = read_item(database, campaign, item)
    if Role.ORGANISER in person.roles or shown.author == person.id:
        return shown
    if any(hold.person == person.id for hold in shown.holds) or any(vote.person == person.id for vote in shown.votes):
        return shown
    if database.fetch(_TOUCHED, {"item": item, "person": person.id, "campaign": campaign.id}):
        return shown
    raise Unknown("There is no such item.")


def read_events(database: Database, campaign: Campaign, item: str) -> list[Event]:
    """Return an item's whole life, in order."""
    query = select(events).where(events.c.campaign == campaign.id, events.c.item == item).order_by(events.c.id)
    return [to_event(row) for row in database.fetch(query)]


def to_event(row: Row[Any]) -> Event:
    """Return an event, from its row."""
    return Event(**{name: getattr(row, name) for name in Event.model_fields})


def read_items(
    database: Database,
    campaign: Campaign,
    *,
    status: ItemStatus | None = None,
    checks: bool = False,
    connection: Connection | None = None,
) -> Iterator[CampaignItem]:
    """Yield the items of a campaign in the order in which they were made, a batch at a time; without attention checks.

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
            yield CampaignItem.model_validate(row.state)
        last = (rows[-1].created, rows[-1].id)


_HELD = (
    select(items.c.id, items.c.state)
    .join(holds, holds.c.item == items.c.id)
    .where(holds.c.person == bindparam("person"), holds.c.campaign == bindparam("campaign"))
    .order_by(holds.c.until)
)
_FIRST_HELD = _HELD.with_only_columns(items.c.id).limit(1)


def list_held(database: Database, campaign: Campaign, person: Person) -> list[CampaignItem]:
    """Return the items that wait for this person."""
    rows = database.fetch(_HELD, {"person": person.id, "campaign": campaign.id})
    return [CampaignItem.model_validate(row.state) for row in rows]


def find_first_held(database: Database, campaign: Campaign, person: Person) -> str | None:
    """Return the item that waits for this person and is due first."""
    rows = database.fetch(_FIRST_HELD, {"person": person.id, "campaign": campaign.id})
    return rows[0].id if rows else None


_CHANGE_ITEM = update(items).where(items.c.id == bindparam("of"))
_KEYS = {table: [column.name for column in table.primary_key] for table in (holds, votes, met)}
_DELETE = {
    table: delete(table).where(*(table.c[name] == bindparam(f"old_{name}") for name in names))
    for table, names in _KEYS.items()
}


def write_views(connection: Connection, campaign: Campaign, before: CampaignItem | None, after: CampaignItem) -> None:
    """Bring the tables that pages read to the new state of one item: what changed, and nothing else."""
    row = _item_row(campaign, after)
    if before is None:
        connection.execute(insert(items), row)
    else:
        connection.execute(_CHANGE_ITEM, row | {"of": after.id})
    old, new = _rows(campaign, before) if before else {}, _rows(campaign, after)
    for table, rows in new.items():
        kept = old.get(table, {})
        for key, row in kept.items():
            if rows.get(key) != row:
                connection.execute(_DELETE[table], {f"old_{name}": row[name] for name in _KEYS[table]})
        if added := [row for key, row in rows.items() if kept.get(key) != row]:
            connection.execute(insert(table), added)
    known = {} if before is None else {ask.id: ask for ask in before.asks}
    for ask in after.asks:
        if ask.id not in known:
            row = {"id": ask.id, "item": after.id, "campaign": after.campaign, "task": ask.task, "model": ask.model}
            connection.execute(insert(asks), row | {"asked": after.updated} | _state(ask))
        elif known[ask.id] != ask:
            connection.execute(update(asks).where(asks.c.id == ask.id).values(_state(ask)))


def _rows(campaign: Campaign, item: CampaignItem) -> dict[Table, dict[tuple[Any, ...], dict[str, Any]]]:
    """Return who has an item, who has judged it, and who has judged or declined which version at which stage."""
    voted = []
    for vote in item.votes:
        correct = None if item.check is None else matches(vote.answer, item.check)
        label = campaign.kind.label(vote.stage, vote.answer)
        row = vote.model_dump(exclude={"skill", "order", "taken", "standing"})
        voted.append(row | {"label": label, "correct": correct, "span": vote.span})
    places = {(vote.person, vote.stage, vote.version) for vote in item.votes}
    places |= {(person, stage, item.version) for person, stage in item.declined}
    seen = [dict(zip(("person", "stage", "version"), place, strict=True)) for place in places]
    found = {holds: [hold.model_dump(exclude={"taken"}) for hold in item.holds], votes: voted, met: seen}
    name = {"item": item.id, "campaign": item.campaign}
    named = ((table, [row | name for row in rows]) for table, rows in found.items())
    return {table: {tuple(row[key] for key in _KEYS[table]): row for row in rows} for table, rows in named}


def _state(ask: Ask) -> dict[str, Any]:
    tokens = ask.usage.get("prompt_tokens", 0) + ask.usage.get("completion_tokens", 0)
    return {"waiting": ask.waiting, "failed": bool(ask.failure), "tokens": tokens, "cost": ask.usage.get("cost")}


def _item_row(campaign: Campaign, item: CampaignItem) -> dict[str, Any]:
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
        "missing": count_missing(campaign.flow, item),
        "headline": campaign.kind.headline(item)[:300],
        "returns": item.returns,
        "disputed": len(labels) > 1 and (item.stage, item.version) not in item.adjudicated,
        "stuck": item.status is ItemStatus.OPEN and bool(item.failed),
        "created": item.created,
        "updated": item.updated,
        "state": item.model_dump(mode="json"),
    }


def rebuild(database: Database, campaigns: Iterable[Campaign]) -> int:
    """Make all tables that are made from events again; the number of items."""
    count = 0
    with database.write() as connection:
        for campaign in campaigns:
            for table in VIEWS:
                connection.execute(delete(table).where(table.c.campaign == campaign.id))
            query = select(events).where(events.c.campaign == campaign.id).order_by(events.c.id)
            state: dict[str, CampaignItem] = {}
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


class ActionResult(NamedTuple):
    """The result of an action."""

    item: CampaignItem
    events: Sequence[Event]
    """Empty where the same action was sent a second time."""


def perform(
    database: Database,
    campaign: Campaign,
    person: Person | None,
    action: Action,
    *,
    item: str = "",
    key: str = "",
    at: datetime | None = None,
) -> ActionResult:
    """Do something to an item; raises `Refused` with the reason. The same key a second time does nothing."""
    key = key or token_hex(12)
    try:
        with database.write() as connection:
            target = None if isinstance(action, Create) else lock_item(connection, campaign, item)
            added = act(campaign.flow, target, person, action, at or now(), key)
            written = append(connection, campaign, target, added)
            if isinstance(action, Cast | Step) and person:
                connection.execute(_FORGET, {"of": campaign.id, "by": person.id, "at": item})
            return ActionResult(written, added)
    except (IntegrityError, Refused):  # what was done before, or comes by another way at this moment, is done
        done = _done(database, campaign, person, key)
        if done is None:
            raise
        return ActionResult(done, ())


_FORGET = delete(drafts).where(
    drafts.c.campaign == bindparam("of"), drafts.c.person == bindparam("by"), drafts.c.place == bindparam("at")
)
"""What a person typed before they answered."""
_DONE = select(events.c.item, events.c.person, events.c.kind).where(
    events.c.campaign == bindparam("campaign"), events.c.key == bindparam("key")
)


def _done(database: Database, campaign: Campaign, person: Person | None, key: str) -> CampaignItem | None:
    """Return the item to which this action was done before; None where it was not.

    A key says nothing to anybody else.
    """
    for row in database.fetch(_DONE, {"campaign": campaign.id, "key": key}):
        if row.person is not None and (person is None or row.person != person.id):
            raise Refused("This form is not yours. Please load the page again.")
        return read_item(database, campaign, row.item)
    return None


def find_done(database: Database, campaign: Campaign, person: Person, key: str) -> EventKind | None:
    """Return what a person did with a form that they send once more; None where it is new."""
    rows = database.fetch(_DONE, {"campaign": campaign.id, "key": key}) if key else ()
    return next((EventKind(row.kind) for row in rows if row.person == person.id), None)


def append(
    connection: Connection, campaign: Campaign, item: CampaignItem | None, added: Sequence[Event]
) -> CampaignItem:
    """Write events, and what they make of the item."""
    before = item
    for event in added:
        item = apply(item, event)
    if item is None:
        raise Refused("There is no such item.")
    if added:
        connection.execute(insert(events), [event.model_dump() | {"kind": event.kind.value} for event in added])
        write_views(connection, campaign, before, item)
    return item
