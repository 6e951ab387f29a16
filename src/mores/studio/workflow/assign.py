"""Who should get which items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from mores.studio.records import CampaignItem, Person
from mores.studio.workflow.actions import Take
from mores.studio.workflow.rules import count_missing, may
from mores.studio.workflow.stages import Flow


def assign(
    flow: Flow, people: Collection[Person], items: Iterable[CampaignItem], load: Mapping[str, int] | None = None
) -> list[tuple[str, str]]:
    """Return who should get which items, as pairs of a person and an item.

    Items that need the fewest further answers come first, then the oldest; each goes to the people who have the least
    to do. Nobody gets more than one, and no item more people than it needs.
    """
    busy = Counter(load or {})
    free = sorted(people, key=lambda person: (busy[person.id], person.id))
    pairs: list[tuple[str, str]] = []
    for item in sorted(items, key=lambda item: (count_missing(flow, item), item.created, item.id)):
        slots = count_missing(flow, item)
        for person in list(free):
            if slots > 0 and may(flow, item, person, Take) is None:
                pairs.append((person.id, item.id))
                free.remove(person)
                slots -= 1
    return pairs
