"""Items and events, read from the store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, false, or_, select

from mores.studio.records import CampaignItem, Event, ItemStatus, Person, Role
from mores.studio.store.database import Database
from mores.studio.store.items.campaign import Campaign
from mores.studio.store.tables import events, holds, items
from mores.studio.workflow import Unknown

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


def load(connection: Connection, campaign: Campaign, item: str, *, lock: bool = False) -> CampaignItem:
    """Return one item, within a transaction; locked, nobody else changes it until that ends."""
    state = connection.execute(_LOCKED if lock else _STATE, {"item": item, "campaign": campaign.id}).scalar()
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
    fields = {name: getattr(row, name) for name in Event.model_fields}
    return Event(**fields)


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
