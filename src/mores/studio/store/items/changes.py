"""Doing something to an item: its events, and what they make of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from secrets import token_hex
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, delete, insert, select
from sqlalchemy.exc import IntegrityError

from mores.studio.records import CampaignItem, Event, Person
from mores.studio.store.database import Database
from mores.studio.store.items.campaign import Campaign, now
from mores.studio.store.items.reading import load, read_item
from mores.studio.store.items.views import write_views
from mores.studio.store.tables import drafts, events
from mores.studio.workflow import Action, Cast, Create, Refused, Step, act, apply


class ActionResult(NamedTuple):
    """What an action led to."""

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
            target = None if isinstance(action, Create) else load(connection, campaign, item, lock=True)
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
_DONE = select(events.c.item, events.c.person).where(
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
