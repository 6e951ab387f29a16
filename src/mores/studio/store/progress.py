"""How far a campaign is: counts by stage, region and language, what waits, and what models were asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import NamedTuple

from sqlalchemy import ColumnElement, case, false, func, select, true

from mores.studio.records import ItemStatus, Role
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign, now
from mores.studio.store.people import find_member, list_members
from mores.studio.store.queries import Waits, count_waiting_for
from mores.studio.store.tables import asks, holds, items
from mores.studio.stuck import Stuck, Waiting, find_missing_people
from mores.studio.workflow import EVERYBODY

SLOW = timedelta(minutes=15)
"""A model that has not answered for so long is said to be slow."""


class ItemGroup(NamedTuple):
    """Items that are alike."""

    stage: str
    status: str
    region: str
    language: str
    items: int
    needed: int
    """How many more people the item needs that needs the most."""


class ModelUse(NamedTuple):
    """What one model was asked."""

    model: str
    task: str
    calls: int
    waiting: int
    failed: int
    tokens: int
    cost: float | None
    """Dollars; None where the price of no answer is known."""
    unpriced: int
    """Answers of which the price is not known."""


class ProgressRow(NamedTuple):
    """How far the items of one region or language are."""

    name: str
    open: dict[str, int]
    """By stage."""
    closed: dict[str, int]
    """By status."""

    @property
    def items(self) -> int:
        return sum(self.open.values()) + sum(self.closed.values())


def count_groups(database: Database, campaign: Campaign) -> list[ItemGroup]:
    """Return how many items there are by stage, status, region and language, without attention checks."""
    columns = (items.c.stage, items.c.status, items.c.region, items.c.language)
    query = (
        select(*columns, func.count(), func.max(items.c.missing))
        .where(items.c.campaign == campaign.id, items.c.is_check == false())
        .group_by(*columns)
        .order_by(*columns)
    )
    return [ItemGroup(*row) for row in database.fetch(query)]


def count_items(campaign: Campaign, groups: Iterable[ItemGroup]) -> tuple[dict[str, int], dict[str, int]]:
    """Return how many items are open, by stage, and how many are closed, by status."""
    open_items = {stage.name: 0 for stage in campaign.flow.stages}
    closed = {status.value: 0 for status in ItemStatus if status is not ItemStatus.OPEN}
    for group in groups:
        counts, name = (open_items, group.stage) if group.status == ItemStatus.OPEN.value else (closed, group.status)
        counts[name] = counts.get(name, 0) + group.items
    return open_items, closed


def tabulate(groups: Sequence[ItemGroup], by: str) -> list[ProgressRow]:
    """Return the progress of each region or language, those with the most items first."""
    rows: dict[str, ProgressRow] = {}
    for group in groups:
        name = getattr(group, by)
        row = rows.setdefault(name, ProgressRow(name, Counter(), Counter()))
        if group.status == ItemStatus.OPEN.value:
            row.open[group.stage] += group.items
        else:
            row.closed[group.status] += group.items
    return sorted(rows.values(), key=lambda row: (-row.items, row.name))


def summarise_work(database: Database, campaign: Campaign, person: str) -> tuple[Waits, Counter[str]]:
    """Return what waits for a member, and, for an organiser, how many items have each status."""
    member, counts = find_member(database, campaign, person), Counter[str]()
    assert member is not None
    if Role.ORGANISER not in member.person.roles:
        return count_waiting_for(database, campaign, member.person), counts
    for group in count_groups(database, campaign):
        counts[group.status] += group.items
    return Waits(), counts


def find_stuck(database: Database, campaign: Campaign, groups: Sequence[ItemGroup]) -> list[Stuck]:
    """Find everything that keeps items from going on."""
    waiting = [
        Waiting(group.stage, group.region, group.language, group.items, group.needed)
        for group in groups
        if group.status == ItemStatus.OPEN.value and 0 < group.needed < EVERYBODY
    ]
    people = [member.person for member in list_members(database, campaign) if member.name]
    found = find_missing_people(campaign.flow, waiting, people)
    mine = items.c.campaign == campaign.id
    counts = {
        "models": _count(items.c.id, mine, items.c.stuck, items.c.status == ItemStatus.OPEN.value),
        "slow": _count(asks.c.id, asks.c.campaign == campaign.id, asks.c.waiting, asks.c.asked < now() - SLOW),
        "late": _count(holds.c.item, holds.c.campaign == campaign.id, holds.c.until <= now()),
    }
    [row] = database.fetch(select(*(query.label(name) for name, query in counts.items())))
    others = [Stuck("models", row.models), Stuck("slow", row.slow), Stuck("late", row.late)]
    return [*(stuck for stuck in others if stuck.items), *found]


def _count(column: ColumnElement[str], *conditions: ColumnElement[bool]) -> ColumnElement[int]:
    query: ColumnElement[int] = select(func.count(column)).where(*conditions).scalar_subquery()
    return query


def count_models(database: Database, campaign: Campaign) -> list[ModelUse]:
    """Return what each model was asked, how often it failed, and what it took."""
    answered = (asks.c.waiting == false()) & (asks.c.failed == false())
    query = (
        select(
            asks.c.model,
            asks.c.task,
            func.count(),
            func.sum(case((asks.c.waiting == true(), 1), else_=0)),
            func.sum(case((asks.c.failed == true(), 1), else_=0)),
            func.sum(asks.c.tokens),
            func.sum(asks.c.cost),
            func.sum(case((answered & asks.c.cost.is_(None), 1), else_=0)),
        )
        .where(asks.c.campaign == campaign.id)
        .group_by(asks.c.model, asks.c.task)
        .order_by(asks.c.model, asks.c.task)
    )
    return [ModelUse(*row) for row in database.fetch(query)]
