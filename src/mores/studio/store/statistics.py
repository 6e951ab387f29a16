"""What the figures of a campaign are made from, and the figures, kept until something happens."""

from __future__ import annotations

from collections import defaultdict

from sqlalchemy import Connection, func, select

from mores.studio.figures import Figures, Given, summarise_votes
from mores.studio.records import EventKind
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign
from mores.studio.store.kept import Keeper
from mores.studio.store.tables import events, votes

_figures = Keeper[Figures]()


def find_last_event(connection: Connection, campaign: Campaign) -> int:
    """Return the number of the campaign's last event; 0 where nothing has happened."""
    return int(connection.execute(select(func.max(events.c.id)).where(events.c.campaign == campaign.id)).scalar() or 0)


def read_figures(database: Database, campaign: Campaign, *, fresh: bool = False) -> Figures:
    """Return the campaign's figures; with `fresh` those of this moment, whatever it takes."""

    def make() -> Figures:
        with database.read() as connection:
            number = find_last_event(connection, campaign)
            given, written = read_votes(connection, campaign), read_writing(connection, campaign)
        return summarise_votes(given, [stage.name for stage in campaign.flow.stages], written, number)

    with database.read() as connection:
        number = find_last_event(connection, campaign)
    return _figures.get(database, campaign.id, number, make, fresh=fresh)


def read_votes(connection: Connection, campaign: Campaign) -> list[Given]:
    """Return every answer of the campaign, in the order of items and people."""
    columns = (votes.c[name] for name in Given._fields)
    query = select(*columns).where(votes.c.campaign == campaign.id)
    return [Given(*row) for row in connection.execute(query.order_by(votes.c.item, votes.c.stage, votes.c.person))]


def read_writing(connection: Connection, campaign: Campaign) -> dict[str, tuple[int, float]]:
    """Return how many items each person has sent on, and the seconds that it took them."""
    query = select(events.c.person, events.c.item, events.c.payload).where(
        events.c.campaign == campaign.id, events.c.kind == EventKind.SUBMITTED.value, events.c.person.is_not(None)
    )
    sent: dict[str, set[str]] = defaultdict(set)
    seconds: dict[str, float] = defaultdict(float)
    for person, item, payload in connection.execute(query):
        sent[person].add(item)
        seconds[person] += payload.get("seconds") or 0.0
    return {person: (len(sent[person]), seconds[person]) for person in sent}
