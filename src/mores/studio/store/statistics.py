"""The figures of a campaign, kept until something happens, and how often each person is correct, from its votes."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from concurrent.futures import Future
from datetime import datetime
from threading import Lock, Thread
from typing import Generic, NamedTuple, TypeVar, cast
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, func, select, true, update

from mores.stats.annotators import fit_dawid_skene, table_votes
from mores.studio.figures import Figures, Given, VoteTable, summarise_votes, table_given
from mores.studio.records import EventKind
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign
from mores.studio.store.tables import campaigns, events, items, votes

T = TypeVar("T")
QUICK = 0.25
"""Seconds of work that a page may wait for."""
SOON = 1.0
"""Seconds after which a page that has nothing older to show says that it is being made."""
PATIENCE = 20
"""What took a second to make may be this many seconds old."""


class _Value(NamedTuple, Generic[T]):
    version: Hashable
    value: T
    made: float
    took: float


class NotReady(Exception):  # noqa: N818 - not an error
    """A value is being made for the first time, and takes longer than a page may."""


class Keeper(Generic[T]):
    """Keeps one value for each name in each database, and makes it again in the background as things happen."""

    def __init__(self) -> None:
        self._values: WeakKeyDictionary[Database, dict[str, _Value[T]]] = WeakKeyDictionary()
        self._making: dict[tuple[int, str], Future[None]] = {}
        self._lock = Lock()

    def get(self, database: Database, name: str, version: Hashable, make: Callable[[], T], *, fresh: bool = False) -> T:
        """Return the value of this version, or, where it is slow to make, one that is a little older.

        Raises `NotReady` where there is none yet; `fresh` waits for the one of this version, whatever it takes.
        """
        until = time.monotonic() + SOON
        while True:
            with self._lock:
                kept = self._values.setdefault(database, {}).get(name)
                if kept and kept.version == version:
                    return kept.value
                slow = kept is not None and kept.took >= QUICK and not fresh
                if kept is None or not slow or time.monotonic() - kept.made > PATIENCE * kept.took:
                    making = self._begin(database, name, version, make)
            if kept and slow:
                return kept.value
            try:
                making.result(None if fresh else max(until - time.monotonic(), 0))
            except TimeoutError:
                raise NotReady from None

    def _begin(self, database: Database, name: str, version: Hashable, make: Callable[[], T]) -> Future[None]:
        """Make the value in the background, once at a time."""
        key = id(database), name
        if key not in self._making:
            self._making[key] = Future()
            Thread(target=self._make, args=(self._making[key], database, name, version, make), daemon=True).start()
        return self._making[key]

    def _make(
        self, making: Future[None], database: Database, name: str, version: Hashable, make: Callable[[], T]
    ) -> None:
        started = time.thread_time()
        value: T | None = None
        failure: BaseException | None = None
        try:
            value = make()
        except BaseException as error:
            failure = error
        with self._lock:
            if failure is None:
                took = time.thread_time() - started
                made = _Value(version, cast(T, value), time.monotonic(), took)
                self._values.setdefault(database, {})[name] = made
            del self._making[id(database), name]
        if failure is None:
            making.set_result(None)
        else:
            making.set_exception(failure)


_figures = Keeper[Figures]()


def find_last_event(connection: Connection, campaign: Campaign) -> int:
    """Return the number of the campaign's last event; 0 where nothing has happened."""
    return int(connection.execute(select(func.max(events.c.id)).where(events.c.campaign == campaign.id)).scalar() or 0)


def read_figures(database: Database, campaign: Campaign, *, fresh: bool = False) -> Figures:
    """Return the campaign's figures; with `fresh` those of this moment, whatever it takes."""

    def make() -> Figures:
        with database.read() as connection:
            given, written = read_votes(connection, campaign), read_writing(connection, campaign)
        stages = [stage.name for stage in campaign.flow.stages]
        return summarise_votes(given, stages, written, campaign.settings.count_seconds)

    with database.read() as connection:
        version = find_last_event(connection, campaign), campaign.settings.least_seconds, campaign.settings.most_seconds
    return _figures.get(database, campaign.id, version, make, fresh=fresh)


def read_votes(connection: Connection, campaign: Campaign) -> VoteTable:
    """Return every answer of the campaign."""
    columns = (votes.c[name] for name in Given._fields)
    query = select(*columns).where(votes.c.campaign == campaign.id).execution_options(yield_per=1000)
    return table_given(connection.execute(query).partitions())


def read_writing(connection: Connection, campaign: Campaign, author: str | None = None) -> dict[str, tuple[int, float]]:
    """Return how many items each person, or one author, has sent on, and the seconds that it took them.

    By the server's clock: from opening the empty form, from sending the item on before, or from its coming back.
    """
    kinds = [EventKind.CREATED.value, EventKind.RETURNED.value, EventKind.SUBMITTED.value]
    columns = (events.c.kind, events.c.at, events.c.person, events.c.item, events.c.payload)
    query = select(*columns).where(events.c.campaign == campaign.id, events.c.kind.in_(kinds)).order_by(events.c.id)
    if author is not None:
        query = query.where(events.c.item.in_(select(items.c.id).where(items.c.author == author)))
    begun: dict[str, datetime] = {}
    sent: dict[str, set[str]] = defaultdict(set)
    seconds: dict[str, float] = defaultdict(float)
    for kind, at, person, item, payload in connection.execute(query):
        if kind == EventKind.SUBMITTED.value and person is not None:
            sent[person].add(item)
            seconds[person] += campaign.settings.count_seconds((at - begun.get(item, at)).total_seconds())
        since = payload.get("since") if kind == EventKind.CREATED.value else None
        begun[item] = datetime.fromisoformat(since) if since else at
    return {person: (len(sent[person]), seconds[person]) for person in sent}


def learn_skills(database: Database, campaign: Campaign) -> dict[str, float]:
    """Estimate everybody's skill from all votes and attention checks, and keep it with the campaign.

    It counts for votes from then on: a vote remembers the skill that it was weighed with (`Vote.skill`).
    """
    query = select(votes.c.item, votes.c.version, votes.c.stage, votes.c.person, votes.c.label)
    checks = select(items.c.id, items.c.stage, items.c.state).where(
        items.c.campaign == campaign.id, items.c.is_check == true()
    )
    with database.read() as connection:
        given = connection.execute(query.where(votes.c.campaign == campaign.id, votes.c.label.is_not(None))).all()
        known = {
            f"{row.id}/1/{row.stage}": campaign.kind.label(row.stage, row.state["check"])
            for row in connection.execute(checks)
        }
    skills = estimate(
        ((f"{row.item}/{row.version}/{row.stage}", row.person, row.label) for row in given),
        {item: label for item, label in known.items() if label},
    )
    with database.write() as connection:
        connection.execute(update(campaigns).where(campaigns.c.id == campaign.id).values(skills=skills))
    return skills


def estimate(given: Iterable[tuple[str, str, str]], known: Mapping[str, str] | None = None) -> dict[str, float]:
    """Estimate each person's skill from (item, person, label); labels are interchangeable, as options of questions are.

    An item that one person judged says nothing about that person, and is left out unless its label is known.
    """
    triples, known = list(given), known or {}
    people: dict[str, set[str]] = {}
    for item, person, _ in triples:
        people.setdefault(item, set()).add(person)
    telling = [triple for triple in triples if len(people[triple[0]]) > 1 or triple[0] in known]
    labels = sorted({label for _, _, label in telling} | set(known.values()))
    if len(labels) < 2:
        return {}
    table = table_votes(telling, labels)
    answered: dict[str | int, str | float] = {item: label for item, label in known.items() if item in people}
    accuracy = fit_dawid_skene(table, known=answered, symmetric=True).accuracy()
    return {str(name): round(skill, 4) for name, skill in accuracy.items()}


def count_all_votes(database: Database, campaign: Campaign) -> int:
    """Return how many votes a campaign has."""
    return int(database.fetch(select(func.count()).where(votes.c.campaign == campaign.id))[0][0])
