"""A campaign as of one event: everything that an export is made from, read in one transaction."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from sqlalchemy import func, select

from mores.studio.data.stored import PAGE, ChosenItems, StoredItems
from mores.studio.figures import Figures, summarise_votes
from mores.studio.kind import ItemCount
from mores.studio.provenance import Irregular, add_standings, find_irregular, last_votes
from mores.studio.records import CampaignItem, EventKind, ItemStatus, PersonStanding
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign
from mores.studio.store.people import Member, list_members
from mores.studio.store.statistics import read_votes
from mores.studio.store.tables import events
from mores.studio.timeline import ItemVersion, RecordedEvent, list_versions

NOT_SIGNED = {"author", "votes", "holds", "path", "deciding", "edited", "standing"}
"""What the signature of the items does not cover: people, and what is derived from the rest."""


@dataclass
class ItemTally:
    """The counts of a card, from one pass over the items."""

    campaign: Campaign
    same: Mapping[str, str]
    """The first account of everybody who has several."""
    items: int = 0
    statuses: Counter[ItemStatus] = field(default_factory=Counter)
    open: Counter[str] = field(default_factory=Counter)
    """Open items by stage."""
    places: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """Items by `region` and `language`."""
    exported: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """The same of what is exported as accepted."""
    topics: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """Topics of what is exported as accepted, by region."""
    returned: int = 0
    """Items that came back to their author."""
    imported: int = 0
    authors: set[str] = field(default_factory=set)
    judges: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Who answered at each stage."""
    judged: dict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    """Items that were judged at each stage, and the answers about the last version that was."""
    standings: dict[str, list[PersonStanding]] = field(default_factory=dict)
    """Everybody who wrote or judged, with who they were then."""
    links: dict[str, str] = field(default_factory=dict)
    """The invitations by which people joined, as numbers: `l1` is the one that was used first."""
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Questions to models, by model and task."""
    failed: Counter[tuple[str, str]] = field(default_factory=Counter)
    irregular: set[str] = field(default_factory=set)
    """Items about which not the rules alone have decided."""
    overrides: list[list[Irregular]] = field(default_factory=list)
    """What was irregular about each accepted item that was."""
    given: set[str] = field(default_factory=set)
    """Items that are exported as accepted: those that the rules decided, or all where the organiser wants it."""
    own: ItemCount | None = None
    """What the kind counts about the items that the rules alone decided."""

    def __post_init__(self) -> None:
        self._digest = sha256()
        kind, settings = self.campaign.kind, self.campaign.settings
        self.own = kind.count(settings) if kind.count else None

    @property
    def digest(self) -> str:
        """Of everything in the items that their signature covers."""
        return self._digest.hexdigest()

    def add(self, item: CampaignItem) -> None:
        """Count everything that a card says about an item."""
        campaign = self.campaign
        self.items += 1
        self._digest.update(item.model_dump_json(exclude=NOT_SIGNED).encode())
        accepted = item.status is ItemStatus.ACCEPTED
        if found := find_irregular(campaign.flow, item, self.same):
            self.irregular.add(item.id)
            if accepted:
                self.overrides.append(found)
        elif self.own is not None:
            self.own.add(item)
        self.statuses[item.status] += 1
        if item.status is ItemStatus.OPEN:
            self.open[item.stage] += 1
        given = accepted and (campaign.settings.include_overrides or not found)
        if given:
            self.given.add(item.id)
        for name, code in (("region", item.region), ("language", item.language)):
            self.places[name][code] += 1
            self.exported[name][code] += given
        if given and campaign.kind.topic and (topic := campaign.kind.topic(item)):
            self.topics[item.region][topic] += 1
        self.returned += item.returns > 0
        self.imported += item.author is None
        for ask in item.asks:
            self.calls[ask.model, ask.task] += 1
            self.failed[ask.model, ask.task] += bool(ask.failure)
        self._count_people(item)

    def _count_people(self, item: CampaignItem) -> None:
        if item.author:
            self.authors.add(item.author)
        for vote in item.votes:
            self.judges[vote.stage].add(vote.person)
            if vote.standing and vote.standing.link:
                self.links.setdefault(vote.standing.link, f"l{len(self.links) + 1}")
        for stage in dict.fromkeys(vote.stage for vote in item.votes):
            judged = self.judged[stage]
            judged[0] += 1
            judged[1] += len(last_votes(item, stage))
        add_standings(self.standings, item)


@dataclass(frozen=True)
class Snapshot:
    """A campaign as of its last event. People are numbers: `p1` is who acted first."""

    campaign: Campaign
    last_event: int
    at: datetime | None
    """When the last event happened."""
    items: Sequence[CampaignItem]
    """In the order in which they were made, without attention checks."""
    votes: Counter[str]
    """How many answers each stage has, also about attention checks."""
    figures: Figures
    """Of stages, not of people."""
    numbers: dict[str, str]
    members: Sequence[Member]
    """Those who did something."""
    versions: Iterable[ItemVersion] = ()
    """Every version of the items, also those that nobody judged or played, in the order of the items."""

    @cached_property
    def counted(self) -> ItemTally:
        """Everything that a card counts, of the items that were read so far."""
        return ItemTally(self.campaign, self.same)

    def read(self) -> Iterator[CampaignItem]:
        """Yield the items; each is counted when it is read for the first time, before it is given."""
        for number, item in enumerate(self.items):
            if number == self.counted.items:
                self.counted.add(item)
            yield item

    @property
    def tally(self) -> ItemTally:
        """Everything that a card counts."""
        if self.counted.items < len(self.items):
            for _ in self.read():
                pass
        return self.counted

    @cached_property
    def method(self) -> str:
        """The kind's own paragraph for a paper, about what the rules decided; empty where the kind has none."""
        kind = self.campaign.kind
        if self.tally.own is not None:
            return self.tally.own.method()
        return kind.method(self.campaign.settings, self.regular) if kind.method else ""

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
    def accepted(self) -> Iterable[CampaignItem]:
        """The items that are exported as accepted: those that the rules decided, and others if the organiser wants."""
        return ChosenItems(self.read, lambda item: item if item.id in self.counted.given else None)

    @property
    def regular(self) -> Iterable[CampaignItem]:
        """The items about which the rules alone have decided so far."""
        return ChosenItems(self.read, lambda item: None if item.id in self.counted.irregular else item)

    @property
    def numbered(self) -> Iterable[CampaignItem]:
        """All items, with numbers for those who judged them, or could not."""

        def number(item: CampaignItem) -> CampaignItem:
            votes = tuple(vote.model_copy(update={"person": self.number(vote.person)}) for vote in item.votes)
            declined = tuple((self.number(person), stage) for person, stage in item.declined)
            return item.model_copy(update={"votes": votes, "declined": declined})

        return ChosenItems(self.read, number)

    def number(self, person: str | None) -> str:
        """Return a person's number; empty for nobody."""
        return self.numbers.get(person or "", "")

    def hide(self, value: Any) -> Any:
        """Return a value in which people are numbers, wherever a stage may have kept who they are."""
        if isinstance(value, str):
            return self.numbers.get(value, value)
        if isinstance(value, dict):
            return {name: self.hide(inside) for name, inside in value.items()}
        return [self.hide(inside) for inside in value] if isinstance(value, list | tuple) else value


def read_snapshot(database: Database, campaign: Campaign) -> Snapshot:
    """Return the present state of a campaign."""
    with database.read() as connection:
        mine = events.c.campaign == campaign.id
        last, at = connection.execute(select(func.max(events.c.id), func.max(events.c.at)).where(mine)).one()
        # each person's first event by an index; grouping all events takes several times as long
        people = select(events.c.person).where(events.c.person != "").distinct().subquery()
        here = events.c.campaign.concat("") == campaign.id  # not by its index: read whole for all who acted elsewhere
        first = select(events.c.id).where(here, events.c.person == people.c.person).order_by(events.c.id).limit(1)
        acted = select(people.c.person, first.scalar_subquery().label("first")).subquery()
        order = select(acted.c.person).where(acted.c.first.is_not(None)).order_by(acted.c.first)
        numbers = {person: f"p{number}" for number, person in enumerate(connection.execute(order).scalars(), 1)}
        items = StoredItems(connection, campaign)
        votes = read_votes(connection, campaign)
    stages = [stage.name for stage in campaign.flow.stages]
    figures = summarise_votes(votes, stages, count_seconds=None)
    members = [member for member in list_members(database, campaign) if member.person.id in numbers]
    counts = Counter(dict(zip(votes.stages, np.bincount(votes.stage).tolist(), strict=True)))
    versions = Versions(database, items.ids, int(last or 0))
    return Snapshot(campaign, versions.last, at, items, counts, figures, numbers, members, versions)


@dataclass(frozen=True)
class Versions:
    """Every version of some items until an event, whatever has happened since; read again each time."""

    database: Database
    items: Sequence[str]
    last: int

    def __iter__(self) -> Iterator[ItemVersion]:
        kinds = [EventKind.CREATED.value, EventKind.EDITED.value]
        columns = (events.c[name] for name in RecordedEvent._fields)
        query = select(*columns).where(events.c.kind.in_(kinds), events.c.id <= self.last).order_by(events.c.id)
        for start in range(0, len(self.items), PAGE):
            some = self.items[start : start + PAGE]
            places = {item: place for place, item in enumerate(some)}
            rows = self.database.fetch(query.where(events.c.item.in_(some)))
            found = list_versions(RecordedEvent(*row) for row in rows)
            yield from sorted(found, key=lambda version: (places[version.item], version.number))
