"""Items and their events: what the rules say is written in one transaction, with the tables that pages read."""

from mores.studio.store.items.campaign import Campaign, now
from mores.studio.store.items.changes import ActionResult, append, do
from mores.studio.store.items.reading import (
    find_item,
    first_held,
    held_by,
    read_events,
    read_item,
    read_items,
    to_event,
)
from mores.studio.store.items.views import rebuild, write_views
from mores.studio.store.items.work import CANDIDATES, count_work, release_late, take

__all__ = [
    "CANDIDATES",
    "ActionResult",
    "Campaign",
    "append",
    "count_work",
    "do",
    "find_item",
    "first_held",
    "held_by",
    "now",
    "read_events",
    "read_item",
    "read_items",
    "rebuild",
    "release_late",
    "take",
    "to_event",
    "write_views",
]  # fmt: skip
