"""The rules, said once more and slowly: what an item's events add up to, and who should get which item."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import reduce

from mores.studio.records import CampaignItem, Event, Person
from mores.studio.workflow import Flow, Take, apply, count_missing, may


def fold_events(item: CampaignItem | None, events: Iterable[Event]) -> CampaignItem | None:
    return reduce(apply, events, item)


def assign(flow: Flow, people: Collection[Person], items: Iterable[CampaignItem]) -> list[tuple[str, str]]:
    """Pairs of a person and an item: those that need the fewest further answers come first, then the oldest.

    Nobody gets more than one, and no item more people than it needs.
    """
    free = sorted(people, key=lambda person: person.id)
    pairs: list[tuple[str, str]] = []
    needed = [(count_missing(flow, item), item) for item in items]
    for slots, item in sorted(needed, key=lambda pair: (pair[0], pair[1].created, pair[1].id)):
        for person in list(free):
            if slots > 0 and may(flow, item, person, Take) is None:
                pairs.append((person.id, item.id))
                free.remove(person)
                slots -= 1
    return pairs
