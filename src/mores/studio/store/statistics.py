"""What the figures of a campaign are made from, and the figures, kept until something happens.

Reading fifty thousand votes takes a moment. So figures are made again only when there are new events, and where
making them is slow, not more often than every twenty times as long as it takes: pages stay fast while people vote.
"""

from __future__ import annotations

import time
from collections import defaultdict
from threading import Lock
from typing import NamedTuple
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, func, select

from mores.studio.figures import Figures, Given, summarise_votes
from mores.studio.records import EventKind
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign
from mores.studio.store.tables import events, votes

PATIENCE = 20
"""Figures that took a second to make may be this many seconds old."""


class _Kept(NamedTuple):
    figures: Figures
    made: float
    took: float


_kept: WeakKeyDictionary[Database, dict[str, _Kept]] = WeakKeyDictionary()
_lock = Lock()


def last_event(connection: Connection, campaign: Campaign) -> int:
    """The number of the campaign's last event; 0 where nothing has happened."""
    return int(connection.execute(select(func.max(events.c.id)).where(events.c.campaign == campaign.id)).scalar() or 0)


def figures_of(database: Database, campaign: Campaign, *, fresh: bool = False) -> Figures:
    """The campaign's figures; with `fresh` those of this moment, whatever it takes."""
    with _lock:
        kept = _kept.setdefault(database, {}).get(campaign.id)
    with database.read() as connection:
        number = last_event(connection, campaign)
        if kept and kept.figures.last_event == number:
            return kept.figures
        started = time.monotonic()
        if kept and not fresh and started - kept.made < PATIENCE * kept.took:
            return kept.figures
        given, written = read_votes(connection, campaign), read_writing(connection, campaign)
    figures = summarise_votes(given, [stage.name for stage in campaign.flow.stages], written, number)
    with _lock:
        _kept[database][campaign.id] = _Kept(figures, time.monotonic(), time.monotonic() - started)
    return figures


def read_votes(connection: Connection, campaign: Campaign) -> list[Given]:
    """Every answer of the campaign, in the order of items and people."""
    columns = (votes.c[name] for name in Given._fields)
    query = select(*columns).where(votes.c.campaign == campaign.id)
    return [Given(*row) for row in connection.execute(query.order_by(votes.c.item, votes.c.stage, votes.c.person))]


def read_writing(connection: Connection, campaign: Campaign) -> dict[str, tuple[int, float]]:
    """How many items each person has sent on, and the seconds that it took them."""
    query = select(events.c.person, events.c.item, events.c.payload).where(
        events.c.campaign == campaign.id, events.c.kind == EventKind.SUBMITTED.value, events.c.person.is_not(None)
    )
    sent: dict[str, set[str]] = defaultdict(set)
    seconds: dict[str, float] = defaultdict(float)
    for person, item, payload in connection.execute(query):
        sent[person].add(item)
        seconds[person] += payload.get("seconds") or 0.0
    return {person: (len(sent[person]), seconds[person]) for person in sent}
