"""Which process answers which question to a model: each is claimed by one, and again by another where that one ends."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection, or_, select, true, update

from mores.studio.store.database import Database
from mores.studio.store.items import now
from mores.studio.store.tables import asks, campaigns

CLAIM = timedelta(minutes=2)
"""How long a process that answers a question may say nothing before another answers it."""


class Claimed(NamedTuple):
    """A question to a model that this process shall answer."""

    campaign: str
    item: str
    ask: str


def claim_asks(database: Database, full: Collection[str] = (), limit: int = 20) -> list[Claimed]:
    """Claim some questions that wait in open campaigns, the oldest first; none to the models that are `full`."""
    moment = now()
    unclaimed = or_(asks.c.claimed.is_(None), asks.c.claimed < moment - CLAIM)
    query = (
        select(asks.c.campaign, asks.c.item, asks.c.id)
        .join(campaigns, campaigns.c.id == asks.c.campaign)
        .where(asks.c.waiting == true(), unclaimed, campaigns.c.open == true(), asks.c.model.not_in(full))
        .order_by(asks.c.asked, asks.c.id)
        .limit(limit)
    )
    if not database.fetch(query.limit(1)):  # mostly there is none, and looking locks nothing
        return []
    with database.write() as connection:
        chosen = [Claimed(*row) for row in connection.execute(query.with_for_update(skip_locked=True, of=asks))]
        if chosen:
            _set_claimed(connection, [claimed.ask for claimed in chosen], moment)
    return chosen


def keep_claims(database: Database, claimed: Collection[str], *, at: datetime | None = None) -> None:
    """Say that this process is still answering questions, or, without a time, that it no longer is."""
    if claimed:
        with database.write() as connection:
            _set_claimed(connection, claimed, at)


def _set_claimed(connection: Connection, claimed: Collection[str], at: datetime | None) -> None:
    connection.execute(update(asks).where(asks.c.id.in_(claimed), asks.c.waiting == true()).values(claimed=at))
