"""Items and their events: what the rules say is written in one transaction, with the tables that pages read."""

from mores.studio.store.items.campaign import Campaign, now
from mores.studio.store.items.changes import ActionResult, append, perform
from mores.studio.store.items.reading import (
    find_item,
    list_held,
    read_events,
    read_item,
    read_items,
    to_event,
)
from mores.studio.store.items.views import rebuild, write_views
from mores.studio.store.items.work import CANDIDATES, count_votes, count_work, release_late, take, take_next

__all__ = [
    "CANDIDATES",
    "ActionResult",
    "Campaign",
    "append",
    "count_votes",
    "count_work",
    "find_item",
    "list_held",
    "now",
    "perform",
    "read_events",
    "read_item",
    "read_items",
    "rebuild",
    "release_late",
    "take",
    "take_next",
    "to_event",
    "write_views",
]
