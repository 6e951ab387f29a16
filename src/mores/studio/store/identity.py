"""One person is one vote: accounts that look alike, a way back in for the same person, deletion that leaves no name.

What two joins have in common is found by keyed hashes (`signals`), which nobody can turn back into a name or a browser.
The page on which people join names them; they are deleted when the campaign closes.
"""

from __future__ import annotations

import hmac
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from secrets import choice
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, delete, func, or_, select, update

from mores.studio.store.database import Database
from mores.studio.store.items import Campaign, now
from mores.studio.store.people import digest, find_member, give_back, record
from mores.studio.store.tables import drafts, events, invitations, items, members, people, replies, sessions, votes
from mores.studio.workflow import Refused

MOST_ALIKE = 20
"""Accounts that one is compared with: those of the same name first, then the latest. Where more have the same browser
and network, as in a school, this says nothing about a person."""
TOGETHER = timedelta(hours=1)
"""Two joins by the same link within this time are noted beside what else they have in common."""
LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""What codes are made of: nothing that looks like something else on paper."""
Settled = Literal["", "same", "different"]


def hash_signals(key: str, campaign: str, name: str, browser: str) -> dict[str, str]:
    """Return what tells whether two joins of a campaign are alike, as hashes with the studio's key."""
    plain = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    values = {"name": plain, "browser": browser}
    return {
        kind: hmac.new(key.encode(), f"{campaign}\0{kind}\0{value}".encode("utf-8", "replace"), sha256).hexdigest()
        for kind, value in values.items()
    }


def note_signals(database: Database, campaign: str, person: str, signals: Mapping[str, str]) -> None:
    """Keep the signals of someone who has joined, and which members before them look alike."""
    columns = (members.c.person, members.c.signals, members.c.joined, members.c.invitation)
    with database.write() as connection:
        rows = connection.execute(select(*columns).where(members.c.campaign == campaign)).all()
        mine = next(row for row in rows if row.person == person)
        found: list[tuple[bool, datetime, str, list[str]]] = []
        for row in rows:
            shared = [kind for kind, value in signals.items() if value and row.signals.get(kind) == value]
            if row.person == person or not shared:
                continue
            if row.invitation == mine.invitation and mine.joined - row.joined < TOGETHER:
                shared.append("time")
            found.append(("name" in shared, row.joined, row.person, shared))
        found.sort(reverse=True)
        alike = {other: {"by": shared, "settled": ""} for _, _, other, shared in found[:MOST_ALIKE]}
        here = (members.c.campaign == campaign, members.c.person == person)
        connection.execute(update(members).where(*here).values(signals=dict(signals), alike=alike))


def forget_signals(connection: Connection, campaign: str) -> None:
    """Delete the signals of everybody in a campaign; what was found by them stays."""
    connection.execute(update(members).where(members.c.campaign == campaign).values(signals={}))


def settle_alike(
    database: Database,
    campaign: Campaign,
    person: str,
    other: str,
    settled: Settled,
    by: str | None,
    copies: Collection[tuple[str, str]] = (),
) -> None:
    """Keep what an organiser found out about two accounts that look alike; `copies` do by their answers alone."""
    here = (members.c.campaign == campaign.id, members.c.person == person)
    with database.write() as connection:
        alike = connection.execute(select(members.c.alike).where(*here)).scalar() or {}
        if (person, other) in copies:
            alike = {other: {"by": ["answers"]}} | alike
        if other not in alike or settled not in ("same", "different"):
            raise Refused("These two accounts were not found to be alike.")
        changed = alike | {other: alike[other] | {"settled": settled}}
        connection.execute(update(members).where(*here).values(alike=changed))
        record(connection, by, "compared two accounts", f"{person}, {other}: {settled}", campaign.id)


class Alike(NamedTuple):
    """Two accounts of a campaign that look like one person's."""

    person: str
    other: str
    by: tuple[str, ...]
    """What they have in common: name, browser, time, answers."""
    settled: Settled
    answered: int = 0
    """Items that both have answered."""
    same: int = 0
    """Those of them with the same answer."""


def list_alike(
    database: Database, campaign: Campaign, limit: int, copies: Iterable[tuple[str, str]] = ()
) -> list[Alike]:
    """Return the accounts that look alike, those that nobody has settled and that have the most in common first.

    `copies` are those who gave the same rare answers.
    """
    query = select(members.c.person, members.c.alike).where(members.c.campaign == campaign.id)
    known = {(row.person, other): about for row in database.fetch(query) for other, about in (row.alike or {}).items()}
    for person, other in copies:
        place = (other, person) if (other, person) in known else (person, other)
        about = known.get(place, {"by": []})
        known[place] = about | {"by": list(dict.fromkeys((*about["by"], "answers")))}
    pairs = [(*place, about) for place, about in known.items()]
    pairs.sort(key=lambda pair: (pair[2].get("settled", "") != "", "name" not in pair[2]["by"], pair[0], pair[1]))
    found = []
    for person, other, about in pairs[:limit]:
        mine, theirs = votes.alias(), votes.alias()
        both = (mine.c.item == theirs.c.item, mine.c.stage == theirs.c.stage, mine.c.version == theirs.c.version)
        who = (mine.c.campaign == campaign.id, mine.c.person == person, theirs.c.person == other)
        labels = database.fetch(select(mine.c.label, theirs.c.label).where(*both, *who))
        same = sum(first == second for first, second in labels)
        found.append(Alike(person, other, tuple(about["by"]), about.get("settled", ""), len(labels), same))
    return found


def make_code(database: Database, person: str) -> str:
    """Give a person a new code by which they come back, on paper; earlier ones no longer work."""
    code = "-".join("".join(choice(LETTERS) for _ in range(4)) for _ in range(3))
    with database.write() as connection:
        connection.execute(update(people).where(people.c.id == person).values(code=digest(code)))
    return code


def find_by_code(database: Database, code: str) -> str:
    """Return who has a code, however it is written; raises `Refused` where nobody has."""
    plain = "".join(letter for letter in code.upper() if letter.isalnum())
    written = "-".join(plain[start : start + 4] for start in range(0, 12, 4))
    query = select(people.c.id).where(people.c.code == digest(written), people.c.withdrawn.is_(None))
    for row in database.fetch(query) if len(plain) == 12 else ():
        return str(row.id)
    raise Refused("Nobody has this code. Please look at it again, or ask the organiser for a new link.")


def collect_data(database: Database, person: str) -> dict[str, Any]:
    """Return everything that is kept about a person, for themselves: profile, campaigns, and all that they did."""
    columns = (events.c.at, events.c.campaign, events.c.item, events.c.stage, events.c.kind)
    acted = select(*columns, events.c.payload, events.c.standing).where(events.c.person == person)
    names = ("campaign", "roles", "joined", "consented", "test", "participant")
    joined = tuple(members.c[name] for name in names)
    queries = {
        "profile": select(*(column for column in people.c if column.name not in ("password", "code"))).where(
            people.c.id == person
        ),
        "campaigns": select(*joined, members.c.pay_note).where(members.c.person == person),
        "drafts": select(drafts.c.campaign, drafts.c.place, drafts.c.content).where(drafts.c.person == person),
        "actions": acted.order_by(events.c.id),
        "replies": select(replies.c.at, replies.c.item, replies.c.text).where(replies.c.person == person),
    }

    def plain(value: Any) -> Any:
        return value.isoformat() if isinstance(value, datetime) else value

    found = {
        name: [{key: plain(value) for key, value in row._mapping.items()} for row in database.fetch(query)]
        for name, query in queries.items()
    }
    for action in found["actions"]:  # which model was asked is the organiser's to know
        action["payload"] = {name: value for name, value in action["payload"].items() if name != "model"}
    return found


def withdraw_person(database: Database, campaigns: Iterable[Campaign], person: str) -> None:
    """Delete what is known about a person; their work stays, without a name, and what waits for them goes to others."""
    for campaign in campaigns:
        if member := find_member(database, campaign, person):
            give_back(database, campaign, member.person)
    nothing: dict[str, Any] = {"name": "", "email": "", "password": "", "nationality": [], "home": [], "languages": []}
    nothing |= {"code": "", "typed": {}}
    with database.write() as connection:
        name = connection.execute(select(people.c.name).where(people.c.id == person)).scalar() or ""
        forget_person(connection, person, name)
        connection.execute(update(people).where(people.c.id == person).values(nothing | {"withdrawn": now()}))
        connection.execute(
            update(members).where(members.c.person == person).values(test={}, pay_note="", participant="")
        )
        for table in (sessions, drafts, replies):
            connection.execute(delete(table).where(table.c.person == person))
        record(connection, person, "deleted their data")


def forget_person(connection: Connection, person: str, name: str) -> None:
    """Delete what could name someone who leaves: notes of invitations, signals, and what their answers do not need.

    Of who they were, each answer keeps only whether they matched the item.
    """
    noted = or_(invitations.c.used_by == person, func.lower(invitations.c.note).contains(name.lower(), autoescape=True))
    joined = select(members.c.campaign).where(members.c.person == person)
    if name:
        here = invitations.c.campaign.in_(joined)
        connection.execute(update(invitations).where(here, noted).values(note=""))
    connection.execute(update(invitations).where(invitations.c.used_by == person).values(used_by=None, uses_left=0))
    connection.execute(update(members).where(members.c.person == person).values(signals={}))
    columns = (events.c.id, events.c.standing, items.c.id.label("item"), items.c.region, items.c.language)
    mine = select(*columns).join(items, items.c.id == events.c.item)
    touched = set()
    for row in connection.execute(mine.where(events.c.person == person)).all():
        if row.standing:
            reduced = _reduce(row.standing, row.region, row.language)
            connection.execute(update(events).where(events.c.id == row.id).values(standing=reduced))
            touched.add(row.item)
    for row in connection.execute(select(items).where(items.c.id.in_(touched))).all() if touched else ():
        state = row.state
        for vote in [vote for vote in state["votes"] if vote["person"] == person and vote.get("standing")]:
            vote["standing"] = _reduce(vote["standing"], row.region, row.language)
        if state["author"] == person and state.get("standing"):
            state["standing"] = _reduce(state["standing"], row.region, row.language)
        connection.execute(update(items).where(items.c.id == row.id).values(state=state))


def _reduce(standing: Mapping[str, Any], region: str, language: str) -> dict[str, Any]:
    """Return who someone was as far as an item of a region and language needs it."""
    known = {"regions": [region], "languages": [language]}
    return dict(standing) | {"link": ""} | {key: [c for c in standing[key] if c in known[key]] for key in known}
