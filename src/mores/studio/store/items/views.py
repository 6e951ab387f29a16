"""The tables that pages read, made from the states of items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from mores.studio.form import matches
from mores.studio.records import Ask, CampaignItem, EventKind, ItemStatus, ItemVote
from mores.studio.store.database import Database
from mores.studio.store.items.campaign import Campaign
from mores.studio.store.items.reading import to_event
from mores.studio.store.tables import VIEWS, asks, events, holds, items, met, votes
from mores.studio.workflow import apply, count_missing

_CHANGE_ITEM = update(items).where(items.c.id == bindparam("of"))
_DELETE_HOLD = delete(holds).where(holds.c.item == bindparam("of"), holds.c.person == bindparam("by"))
_DELETE_VOTE, _DELETE_MET = (
    delete(table).where(
        table.c.item == bindparam("of"),
        table.c.person == bindparam("by"),
        table.c.stage == bindparam("where"),
        table.c.version == bindparam("about"),
    )
    for table in (votes, met)
)


def write_views(connection: Connection, campaign: Campaign, before: CampaignItem | None, after: CampaignItem) -> None:
    """Bring the tables that pages read to the new state of one item: what changed, and nothing else."""
    row = _item_row(campaign, after)
    if before is None:
        connection.execute(insert(items), row)
    else:
        connection.execute(_CHANGE_ITEM, row | {"of": after.id})
    kept_holds = before.holds if before else ()
    for hold in kept_holds:
        if hold not in after.holds:
            connection.execute(_DELETE_HOLD, {"of": after.id, "by": hold.person})
    _insert(connection, holds, [hold.model_dump() | _name(after) for hold in after.holds if hold not in kept_holds])
    _write_votes(connection, campaign, before, after)
    met_before, met_after = _met(before) if before else set(), _met(after)
    for place in met_before - met_after:
        connection.execute(_DELETE_MET, _where(after, place))
    added = [dict(zip(("person", "stage", "version"), place, strict=True)) for place in met_after - met_before]
    _insert(connection, met, [row | _name(after) for row in added])
    known = {} if before is None else {ask.id: ask for ask in before.asks}
    for ask in after.asks:
        if ask.id not in known:
            row = {"id": ask.id, "task": ask.task, "model": ask.model, "asked": after.updated}
            connection.execute(insert(asks), row | _name(after) | _state(ask))
        elif known[ask.id] != ask:
            connection.execute(update(asks).where(asks.c.id == ask.id).values(_state(ask)))


def _write_votes(connection: Connection, campaign: Campaign, before: CampaignItem | None, after: CampaignItem) -> None:
    kept = {_place(vote): vote for vote in before.votes} if before else {}
    given = {_place(vote): vote for vote in after.votes}
    for place, vote in kept.items():
        if given.get(place) != vote:
            connection.execute(_DELETE_VOTE, _where(after, place))
    rows = []
    for place, vote in given.items():
        if kept.get(place) != vote:
            correct = None if after.check is None else matches(vote.answer, after.check)
            known = {"label": campaign.kind.label(vote.stage, vote.answer), "correct": correct}
            rows.append(vote.model_dump(exclude={"skill", "order"}) | _name(after) | known)
    _insert(connection, votes, rows)


def _met(item: CampaignItem) -> set[tuple[str, str, int]]:
    """Return who has judged or declined which version at which stage."""
    return {_place(vote) for vote in item.votes} | {(person, stage, item.version) for person, stage in item.declined}


def _place(vote: ItemVote) -> tuple[str, str, int]:
    return vote.person, vote.stage, vote.version


def _where(item: CampaignItem, place: tuple[str, str, int]) -> dict[str, Any]:
    return {"of": item.id, "by": place[0], "where": place[1], "about": place[2]}


def _state(ask: Ask) -> dict[str, Any]:
    tokens = ask.usage.get("prompt_tokens", 0) + ask.usage.get("completion_tokens", 0)
    return {"waiting": ask.waiting, "failed": bool(ask.failure), "tokens": tokens, "cost": ask.usage.get("cost")}


def _item_row(campaign: Campaign, item: CampaignItem) -> dict[str, Any]:
    labels = {campaign.kind.label(vote.stage, vote.answer) for vote in item.votes_at(item.stage)} - {None}
    return {
        "id": item.id,
        "campaign": item.campaign,
        "author": item.author,
        "stage": item.stage,
        "status": item.status.value,
        "version": item.version,
        "region": item.region,
        "language": item.language,
        "is_check": item.check is not None,
        "missing": count_missing(campaign.flow, item),
        "headline": campaign.kind.headline(item)[:300],
        "returns": item.returns,
        "disputed": len(labels) > 1 and (item.stage, item.version) not in item.adjudicated,
        "stuck": item.status is ItemStatus.OPEN and bool(item.failed),
        "created": item.created,
        "updated": item.updated,
        "state": item.model_dump(mode="json"),
    }


def _name(item: CampaignItem) -> dict[str, str]:
    return {"item": item.id, "campaign": item.campaign}


def _insert(connection: Connection, table: Any, rows: Sequence[dict[str, Any]]) -> None:
    if rows:
        connection.execute(insert(table), rows)


def rebuild(database: Database, campaigns: Iterable[Campaign]) -> int:
    """Make all tables that are made from events again; the number of items."""
    count = 0
    with database.write() as connection:
        for campaign in campaigns:
            for table in VIEWS:
                connection.execute(delete(table).where(table.c.campaign == campaign.id))
            query = select(events).where(events.c.campaign == campaign.id).order_by(events.c.id)
            state: dict[str, CampaignItem] = {}
            asked: dict[str, datetime] = {}
            for row in connection.execute(query):
                event = to_event(row)
                state[event.item] = apply(state.get(event.item), event)
                if event.kind is EventKind.ASKED_MODEL:
                    asked[event.payload["ask"]] = event.at
            for item in state.values():
                write_views(connection, campaign, None, item)
            for ask, at in asked.items():
                connection.execute(update(asks).where(asks.c.id == ask).values(asked=at))
            count += len(state)
    return count
