"""Leases: who gets which item, and for how long."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from secrets import token_hex
from typing import Any

from sqlalchemy import BindParameter, Connection, Select, and_, bindparam, func, or_, select

from mores.studio.form import draw_lot
from mores.studio.records import CampaignItem, ItemStatus, Person
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign, append, find_first_held, lock_item, now, perform, read_items
from mores.studio.store.tables import holds, items, met, votes
from mores.studio.workflow import Recheck, Refused, Release, Take, act, is_judged, may

CANDIDATES = 30
"""The most items that are tried when a person asks for work, and that are counted as waiting for them."""


def take(database: Database, campaign: Campaign, person: Person, *, check: bool = False) -> CampaignItem | None:
    """Give a person the item that needs them most; None where there is nothing for them.

    It is the one that `assign` says, and it is given when its row is locked: two people who ask at once never get the
    same last place. What others are changing at this moment is passed over, and waited for where there is nothing else.
    """
    release_late(database, campaign)
    query = _work_for(campaign, person)
    if query is None or not campaign.flow.open:
        return None
    values = _values(campaign, person, check)
    refused: list[str] = []
    for wait in (False,) if database.sqlite else (False, True):
        while len(refused) < CANDIDATES:
            with database.write() as connection:
                left = query.where(items.c.id.not_in(refused)) if refused else query
                item = _lock_first(connection, campaign, left.limit(1), values, wait)
                if item is None:
                    break
                try:
                    added = act(campaign.flow, item, person, Take(), now(), token_hex(12))
                except Refused:
                    refused.append(item.id)
                else:
                    return append(connection, campaign, item, added)
    return None


def take_next(database: Database, campaign: Campaign, person: Person) -> str | None:
    """Return the item that waits for a person, or give them one; every so often it is an attention check."""
    if held := find_first_held(database, campaign, person):
        return held
    every = campaign.settings.check_every
    check = bool(every) and count_votes(database, campaign, person) % every == every - 1
    item = take(database, campaign, person, check=True) if check else None
    item = item or take(database, campaign, person)
    return item.id if item else None


def count_votes(database: Database, campaign: Campaign, person: Person) -> int:
    """Return how many answers a person has given."""
    query = select(func.count()).where(votes.c.campaign == campaign.id, votes.c.person == person.id)
    return int(database.fetch(query)[0][0])


def _lock_first(
    connection: Connection, campaign: Campaign, query: Select[Any], values: dict[str, Any], wait: bool
) -> CampaignItem | None:
    """Return the first item of a query, locked.

    A transaction that waits for one row has no other: nobody waits for it.
    """
    if wait:
        item = connection.execute(query.with_only_columns(items.c.id), values).scalar()
        return lock_item(connection, campaign, item) if item else None
    state = connection.execute(query.with_for_update(skip_locked=True), values).scalar()
    return CampaignItem.model_validate(state) if state else None


def count_work(database: Database, campaign: Campaign, person: Person) -> int:
    """Return how many items a person could take; no more than `CANDIDATES` are counted."""
    query = _work_for(campaign, person)
    if query is None:
        return 0
    some = query.with_only_columns(items.c.id).order_by(None).limit(CANDIDATES).subquery()
    return int(database.fetch(select(func.count()).select_from(some), _values(campaign, person, check=False))[0][0])


def _work_for(campaign: Campaign, person: Person) -> Select[Any] | None:
    """Return the query for the items that a person could take, with `_values`; None where they judge nothing."""
    mine = [stage for stage in campaign.flow.stages if stage.role in person.roles and is_judged(stage)]
    stages = tuple((stage.name, stage.regional, stage.speaking, stage.others) for stage in mine)
    return _work(stages) if stages and person.qualified else None


def _values(campaign: Campaign, person: Person, check: bool) -> dict[str, Any]:
    known = {"regions": sorted(person.regions), "languages": sorted(person.languages)}
    return {"campaign": campaign.id, "check": check, "person": person.id} | known


@lru_cache
def _work(stages: tuple[tuple[str, bool, bool, bool], ...]) -> Select[Any]:
    """Return the query for items at stages (name, regional, speaking, others), those that need fewest answers first."""
    person: BindParameter[Any] = bindparam("person")
    mine = (met.c.item == items.c.id, met.c.person == person, met.c.version == items.c.version)
    suits = []
    for name, regional, speaking, others in stages:
        conditions = [items.c.stage == name]
        if regional:
            conditions.append(items.c.region.in_(bindparam("regions", expanding=True)))
        if speaking:
            conditions.append(items.c.language.in_(bindparam("languages", expanding=True)))
        if others:
            conditions.append(select(met.c.item).where(*mine).limit(1).scalar_subquery().is_(None))
        suits.append(and_(*conditions))
    # PostgreSQL looks each of these up by the primary key, also in new tables, which it believes to be almost empty:
    # there it joins a `NOT EXISTS` row by row
    seen = select(met.c.item).where(*mine, met.c.stage == items.c.stage)
    held = select(holds.c.item).where(holds.c.item == items.c.id, holds.c.person == person)
    return (
        select(items.c.state)
        .where(
            items.c.campaign == bindparam("campaign"),
            items.c.status == ItemStatus.OPEN.value,
            items.c.missing > 0,
            items.c.is_check == bindparam("check"),
            or_(*suits),
            or_(items.c.author.is_(None), items.c.author != person),
            seen.scalar_subquery().is_(None),
            held.scalar_subquery().is_(None),
        )
        .order_by(items.c.missing, items.c.created)
    )


_LATE = select(holds.c.item).where(holds.c.campaign == bindparam("campaign"), holds.c.until <= bindparam("until"))


def release_late(database: Database, campaign: Campaign, at: datetime | None = None) -> int:
    """Take back the items that people have kept too long."""
    moment = at or now()
    late = {row.item for row in database.fetch(_LATE, {"campaign": campaign.id, "until": moment})}
    for item in sorted(late):
        perform(database, campaign, None, Release(), item=item, at=moment)
    return len(late)


def draw_sample(database: Database, campaign: Campaign, person: Person, count: int) -> int:
    """Have so many accepted items judged once more, of those that were not; how many it became.

    The order depends on the campaign and on the items' ids alone. A second draw goes on where the first ended.
    """
    drawn = 0
    accepted = read_items(database, campaign, status=ItemStatus.ACCEPTED)
    left = [item for item in accepted if may(campaign.flow, item, person, Recheck) is None]
    for item in sorted(left, key=lambda item: draw_lot(campaign.id, item.id))[:count]:
        try:
            perform(database, campaign, person, Recheck(), item=item.id)
        except Refused:  # it was withdrawn or drawn at this moment
            continue
        drawn += 1
    return drawn
