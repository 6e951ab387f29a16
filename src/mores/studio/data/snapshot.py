"""A campaign as of one event: everything that an export is made from, read in one transaction."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from typing import Any

from sqlalchemy import func, select

from mores.studio.data.stored import PAGE, ChosenItems, StoredItems
from mores.studio.figures import Figures, summarise_votes
from mores.studio.kind import ItemCount
from mores.studio.provenance import Irregular, add_standings, find_irregular, last_votes
from mores.studio.records import CampaignItem, EventKind, ItemStatus, PersonStanding
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign
from mores.studio.store.people import Member, list_members
from mores.studio.store.statistics import read_votes, read_writing
from mores.studio.store.tables import events
from mores.studio.timeline import ItemVersion, RecordedEvent, list_versions

NOT_SIGNED = {"author", "votes", "holds", "path", "deciding", "edited", "standing"}
"""What the signature of the items does not cover: people, and what is derived from the rest."""


@dataclass
class ItemTally:
    """What a card counts, from one pass over the items."""

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
    own: ItemCount | None = None
    """What the kind counts about the items that the rules alone decided."""
    digest: str = ""
    """Of everything in the items that their signature covers."""


def count_items(campaign: Campaign, items: Iterable[CampaignItem], same: Mapping[str, str]) -> ItemTally:
    """Count everything that a card says about the items, in one pass."""
    tally, digest = ItemTally(), sha256()
    own = tally.own = campaign.kind.count(campaign.settings) if campaign.kind.count else None
    topic_of = campaign.kind.topic or (lambda _item: "")
    for item in items:
        digest.update(item.model_dump_json(exclude=NOT_SIGNED).encode())
        accepted = item.status is ItemStatus.ACCEPTED
        if found := find_irregular(campaign.flow, item, same):
            tally.irregular.add(item.id)
            if accepted:
                tally.overrides.append(found)
        elif own is not None:
            own.add(item)
        tally.statuses[item.status] += 1
        if item.status is ItemStatus.OPEN:
            tally.open[item.stage] += 1
        given = accepted and (campaign.settings.include_overrides or not found)
        for name, code in (("region", item.region), ("language", item.language)):
            tally.places[name][code] += 1
            tally.exported[name][code] += given
        if given and (topic := topic_of(item)):
            tally.topics[item.region][topic] += 1
        tally.returned += item.returns > 0
        tally.imported += item.author is None
        _count_people(tally, item)
        for ask in item.asks:
            tally.calls[ask.model, ask.task] += 1
            tally.failed[ask.model, ask.task] += bool(ask.failure)
    tally.digest = digest.hexdigest()
    return tally


def _count_people(tally: ItemTally, item: CampaignItem) -> None:
    if item.author:
        tally.authors.add(item.author)
    for vote in item.votes:
        tally.judges[vote.stage].add(vote.person)
        if vote.standing and vote.standing.link:
            tally.links.setdefault(vote.standing.link, f"l{len(tally.links) + 1}")
    for stage in {vote.stage for vote in item.votes}:
        tally.judged[stage][0] += 1
        tally.judged[stage][1] += len(last_votes(item, stage))
    add_standings(tally.standings, item)


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
    numbers: dict[str, str]
    members: Sequence[Member]
    """Those who did something."""
    versions: Iterable[ItemVersion] = ()
    """Every version of the items, also those that nobody judged or played, in the order of the items."""

    @cached_property
    def tally(self) -> ItemTally:
        """Everything that a card counts."""
        return count_items(self.campaign, self.items, self.same)

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
        """What is exported as accepted: without what the rules did not decide, unless the organiser wants it."""
        left_out = set() if self.campaign.settings.include_overrides else self.tally.irregular

        def choose(item: CampaignItem) -> CampaignItem | None:
            return item if item.status is ItemStatus.ACCEPTED and item.id not in left_out else None

        return ChosenItems(self.items, choose)

    @property
    def regular(self) -> Iterable[CampaignItem]:
        """The items about which the rules alone have decided so far."""
        return ChosenItems(self.items, lambda item: None if item.id in self.tally.irregular else item)

    @property
    def numbered(self) -> Iterable[CampaignItem]:
        """All items, with numbers for those who judged them, or could not."""

        def number(item: CampaignItem) -> CampaignItem:
            votes = tuple(vote.model_copy(update={"person": self.number(vote.person)}) for vote in item.votes)
            declined = tuple((self.number(person), stage) for person, stage in item.declined)
            return item.model_copy(update={"votes": votes, "declined": declined})

        return ChosenItems(self.items, number)

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
        items = StoredItems(connection, campaign)
        votes = read_votes(connection, campaign)
        written = read_writing(connection, campaign)
    stages = [stage.name for stage in campaign.flow.stages]
    figures = summarise_votes(votes, stages, written, campaign.settings.count_seconds)
    members = [member for member in list_members(database, campaign) if member.person.id in numbers]
    versions = Versions(database, items.ids, int(last or 0))
    counts = Counter(vote.stage for vote in votes)
    return Snapshot(campaign, int(last or 0), at, items, counts, figures, numbers, members, versions)


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
