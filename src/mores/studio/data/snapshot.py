"""A campaign as of one event: everything that an export is made from, read in one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from sqlalchemy import func, select

from mores.studio.figures import Figures, Given, summarise_votes
from mores.studio.provenance import find_irregular, list_standings
from mores.studio.records import CampaignItem, EventKind, ItemStatus, PersonStanding
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign, read_items, to_event
from mores.studio.store.people import Member, list_members
from mores.studio.store.statistics import read_votes, read_writing
from mores.studio.store.tables import events
from mores.studio.timeline import ItemVersion, list_versions


@dataclass(frozen=True)
class Snapshot:
    """A campaign as of its last event. People are numbers: `p1` is who acted first."""

    campaign: Campaign
    last_event: int
    at: datetime | None
    """When the last event happened."""
    items: Sequence[CampaignItem]
    """In the order in which they were made, without attention checks."""
    votes: Sequence[Given]
    """Also about attention checks."""
    figures: Figures
    numbers: dict[str, str]
    members: Sequence[Member]
    """Those who did something."""
    read_versions: Callable[[], Sequence[ItemVersion]] = tuple
    """Reads every version of the items; most of what is made from a snapshot needs none."""

    @cached_property
    def versions(self) -> Sequence[ItemVersion]:
        """Every version of the items, also those that nobody judged or played, in the order of the items."""
        places = {item.id: place for place, item in enumerate(self.items)}
        found = [version for version in self.read_versions() if version.item in places]
        return sorted(found, key=lambda version: (places[version.item], version.number))

    @cached_property
    def statuses(self) -> Counter[ItemStatus]:
        return Counter(item.status for item in self.items)

    @cached_property
    def same(self) -> dict[str, str]:
        """The first account of everybody who, as an organiser found out, has several."""
        found: dict[str, str] = {}
        for member in self.members:
            for other, about in member.alike.items():
                if about.get("settled") == "same":
                    found[member.person.id] = found.get(other, other)
        return found

    @property
    def accepted(self) -> list[CampaignItem]:
        """What is exported as accepted: without what the rules did not decide, unless the organiser wants it."""
        chosen = [item for item in self.items if item.status is ItemStatus.ACCEPTED]
        if self.campaign.settings.include_overrides:
            return chosen
        return [item for item in chosen if not find_irregular(self.campaign.flow, item, self.same)]

    @cached_property
    def regular(self) -> list[CampaignItem]:
        """The items about which the rules alone have decided so far."""
        return [item for item in self.items if not find_irregular(self.campaign.flow, item, self.same)]

    @cached_property
    def standings(self) -> dict[str, list[PersonStanding]]:
        """Everybody who wrote or judged, with who they were then."""
        return list_standings(self.items)

    @property
    def numbered(self) -> list[CampaignItem]:
        """All items, with numbers for those who judged them, or could not."""
        return [
            item.model_copy(
                update={
                    "votes": tuple(vote.model_copy(update={"person": self.number(vote.person)}) for vote in item.votes),
                    "declined": tuple((self.number(person), stage) for person, stage in item.declined),
                }
            )
            for item in self.items
        ]

    @cached_property
    def links(self) -> dict[str, str]:
        """The invitations by which people joined, as numbers: `l1` is the one that was used first."""
        used = (vote.standing.link for item in self.items for vote in item.votes if vote.standing)
        return {link: f"l{number}" for number, link in enumerate(dict.fromkeys(filter(None, used)), 1)}

    def number(self, person: str | None) -> str:
        """Return a person's number; empty for nobody."""
        return self.numbers.get(person or "", "")

    def hide(self, value: Any) -> Any:
        """Return a value in which people are numbers, wherever a stage may have kept who they are."""
        if isinstance(value, dict):
            return {name: self.hide(inside) for name, inside in value.items()}
        if isinstance(value, list | tuple):
            return [self.hide(inside) for inside in value]
        return self.numbers.get(value, value) if isinstance(value, str) else value


def read_snapshot(database: Database, campaign: Campaign) -> Snapshot:
    """Return the present state of a campaign."""
    with database.read() as connection:
        mine = events.c.campaign == campaign.id
        last, at = connection.execute(select(func.max(events.c.id), func.max(events.c.at)).where(mine)).one()
        first = func.min(events.c.id)
        acted = select(events.c.person).where(mine, events.c.person.is_not(None), events.c.person != "")
        order = connection.execute(acted.group_by(events.c.person).order_by(first)).scalars()
        numbers = {person: f"p{number}" for number, person in enumerate(order, 1)}
        items = list(read_items(database, campaign, connection=connection))
        votes = read_votes(connection, campaign)
        written = read_writing(connection, campaign)
    stages = [stage.name for stage in campaign.flow.stages]
    figures = summarise_votes(votes, stages, written, campaign.settings.count_seconds)
    members = [member for member in list_members(database, campaign) if member.person.id in numbers]

    def read_versions() -> list[ItemVersion]:
        """Return the versions until the last event, whatever has happened since."""
        kinds = [EventKind.CREATED.value, EventKind.EDITED.value]
        query = select(events).where(mine, events.c.kind.in_(kinds), events.c.id <= int(last or 0))
        return list_versions(map(to_event, database.fetch(query.order_by(events.c.id))))

    return Snapshot(campaign, int(last or 0), at, items, votes, figures, numbers, members, read_versions)
