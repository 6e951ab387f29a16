"""What keeps a campaign from going on: items that nobody can take, models that fail, people who keep items."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple

from mores.studio.records import Person, Role
from mores.studio.workflow import CampaignStage, Flow


class Waiting(NamedTuple):
    """Items of one region and language that need answers at a stage."""

    stage: str
    region: str
    language: str
    items: int
    needed: int
    """How many more people the item needs that needs the most."""


class Stuck(NamedTuple):
    """Items that cannot go on, and why."""

    reason: Literal["people", "models", "slow", "late"]
    """Too few people who match; models that failed; models that have not answered; people who keep items too long."""
    items: int
    stage: str = ""
    region: str = ""
    """Where the stage asks for people from the item's region."""
    language: str = ""
    """Where the stage asks for people who know the item's language."""
    people: int = 0
    """How many match."""
    needed: int = 0


def find_missing_people(flow: Flow, waiting: Iterable[Waiting], people: Collection[Person]) -> list[Stuck]:
    """Return the groups of items for which there are fewer people than they need, those with the most items first."""
    groups: dict[tuple[str, str, str], tuple[int, int]] = {}
    for group in waiting:
        stage = flow.stage(group.stage)
        key = group.stage, group.region if stage.regional else "", group.language if stage.speaking else ""
        items, needed = groups.get(key, (0, 0))
        groups[key] = items + group.items, max(needed, group.needed)
    found = []
    for (name, region, language), (items, needed) in groups.items():
        matching = len(matches(flow.stage(name), people, region, language))
        if matching < needed:
            found.append(Stuck("people", items, name, region, language, matching, needed))
    return sorted(found, key=lambda stuck: (-stuck.items, stuck.stage, stuck.region, stuck.language))


def matches(stage: CampaignStage, people: Collection[Person], region: str, language: str) -> Sequence[Person]:
    """Return who may judge items of a region and language at a stage."""
    return [
        person
        for person in people
        if stage.role in person.roles
        and (person.qualified or stage.role is Role.ORGANISER)
        and (not stage.regional or region in person.regions)
        and (not stage.speaking or language in person.languages)
    ]
