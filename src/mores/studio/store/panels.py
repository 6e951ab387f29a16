"""Panels that send people by a link with their id: Prolific, MTurk, Connect, SONA, or any other of this shape.

    /join/TOKEN?PROLIFIC_PID=5f… → questions about oneself, screening by quotas → work → completion code or address

The id in a link can be edited. It is flagged until a list of the panel that the organiser uploads has it, and it never
signs anybody in. A place that somebody returns, or does not finish in time, is given to the next person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple
from urllib.parse import quote

from pydantic import Field, field_validator
from sqlalchemy import select, update

from mores.errors import InputError
from mores.io.rows import read_rows
from mores.io.source import TableSource
from mores.studio.figures import Figures
from mores.studio.kind import read_languages, read_regions
from mores.studio.phrase import Phrase
from mores.studio.records import Person
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign, find_first_held, now
from mores.studio.store.people import Member, change_member, digest, give_back, list_members, record
from mores.studio.store.statistics import read_writing
from mores.studio.store.tables import invitations
from mores.studio.store.tables import members as every_member
from mores.studio.store.work import count_votes, count_work
from mores.studio.workflow import Refused, writes_items
from mores.types import Record


class PanelService(NamedTuple):
    """The names under which a panel passes ids on."""

    title: str
    parameter: str
    """The name under which the id stands in the link."""
    value: str
    """What the organiser writes there, for the panel to replace; empty where the panel adds it by itself."""
    finish: str = ""
    """The address that ends a place, with {code} and {id}; empty where people copy the code."""


SERVICES = {
    "prolific": PanelService(
        "Prolific", "PROLIFIC_PID", "{{%PROLIFIC_PID%}}", "https://app.prolific.com/submissions/complete?cc={code}"
    ),
    "mturk": PanelService("MTurk", "workerId", "${workerId}"),
    "connect": PanelService("CloudResearch Connect", "participantId", ""),
    "sona": PanelService("SONA", "id", "%SURVEY_CODE%"),
    "other": PanelService("Another panel", "participant", "ID"),
}
_ID = re.compile(r"[A-Za-z0-9_.@-]{1,100}")
COLUMNS = ("participantid", "prolificpid", "workerid", "surveycode", "idcode", "sonaid", "participant", "id")
"""How panels call the column of ids, without spaces and signs; the first that a list has counts."""
ENDED = {"return": "returned", "timed": "timed out", "abandon": "timed out", "expire": "timed out"}
"""How the status of a panel begins or what it has in it, and what it means here."""


class Panel(Record):
    """The contents of a link for a panel."""

    service: str = "other"
    code: str = Field("", max_length=100)
    """The completion code; people see it when they have finished."""
    finish: str = Field("", max_length=500)
    """An address in place of the service's own; {code} and {id} are put in."""
    answers: int = Field(10, ge=1, le=10_000)
    """How many answers or written items finish a place."""
    hours: float = Field(0, ge=0, le=24 * 60)
    """After how long a place that is not finished is given to another person; 0 for never."""
    reward: float = Field(0, ge=0, le=100_000)
    """What the panel pays for a place, for the hourly rate and the bonus."""
    quotas: dict[str, int] = Field(default_factory=dict)
    """The most people by code of a region or language; empty for everybody."""

    @field_validator("service")
    @classmethod
    def _known(cls, value: str) -> str:
        return value if value in SERVICES else "other"

    @property
    def about(self) -> PanelService:
        """The service."""
        return SERVICES[self.service]

    def link(self, participant: str) -> str:
        """Return the address that ends a place; empty where people copy the code."""
        pattern = self.finish or (self.about.finish if self.code else "")
        address = pattern.replace("{code}", quote(self.code, safe="")).replace("{id}", quote(participant, safe=""))
        return address if address.startswith(("https://", "http://")) else ""


def _read_place(name: str) -> tuple[str, ...]:
    try:
        return read_regions([name])
    except InputError:
        return read_languages([name])


def read_quotas(text: str, find: Callable[[str, bool], str | None] | None = None) -> dict[str, int]:
    """Return quotas from lines such as `Kenya: 20` and `Swahili: 40`, by code; InputError names a line.

    `find` knows regions and, with True, languages that are not named in English.
    """
    quotas: dict[str, int] = {}
    for line in filter(None, (line.strip() for line in text.replace(",", "\n").split("\n"))):
        name, _, count = map(str.strip, line.partition(":"))
        if not name or not count.isdecimal() or len(count) > 9:
            raise InputError(Phrase("{line}: write a region or language, “:” and how many people.", line=line))
        try:
            [code] = _read_place(name)
        except InputError:
            if not find or not (code := find(name, False) or find(name, True) or ""):
                raise
        quotas[code] = int(count)
    return quotas


def find_panel_campaign(database: Database, token: str) -> str:
    """Return the campaign of a panel's link, also of one that has no place left; empty for any other link."""
    query = select(invitations.c.campaign, invitations.c.panel).where(invitations.c.token == digest(token))
    return next((str(row.campaign) for row in database.fetch(query) if row.panel), "")


def check_participant(members: list[Member], panel: Panel, invitation: str, participant: str, person: Person) -> None:
    """Refuse an id that cannot be one or is taken, and people for whom there is no place in a quota."""
    if not _ID.fullmatch(participant):
        raise Refused("This link needs your id in the panel. Please open it from the panel's page.")
    if any(member.participant == participant for member in members):
        raise Refused(
            "This participant has begun already. Please go on in the same browser, or write to the organiser."
        )
    mine = [member for member in members if member.person.link == invitation and member.participant]
    there = [member.person for member in mine if member.place.get("state") in ("working", "finished")]
    for known, having in ((person.regions, "regions"), (person.languages, "languages")):
        wanted = {code for code in panel.quotas if code.isupper() == (having == "regions")}
        taken = {code: sum(code in getattr(other, having) for other in there) for code in wanted}
        if wanted and not any(taken[code] < panel.quotas[code] for code in wanted & known):
            raise Refused("There are enough people like you in this study. Please return your place to the panel.")


def see_place(database: Database, campaign: Campaign, member: Member, panel: Panel) -> str:
    """Return the state of a participant's place; it is finished with enough answers, or when nothing is left to do."""
    state = str(member.place.get("state", ""))
    if state != "working":
        return state
    person, flow = member.person, campaign.flow
    with database.read() as connection:
        sent, _ = read_writing(connection, campaign, person.id).get(person.id, (0, 0.0))
    done = count_votes(database, campaign, person) + sent
    waits = (flow.open or campaign.paused) and bool(
        writes_items(flow, person)
        or find_first_held(database, campaign, person)
        or count_work(database, campaign, person)
    )
    if done < panel.answers and (waits or not done):
        return state
    end_place(database, campaign, member, "finished")
    return "finished"


def end_place(database: Database, campaign: Campaign, member: Member, state: str) -> None:
    """Keep how a place ended, once; one that was not finished is given to the next person, with what waits there."""
    mine = (every_member.c.campaign == campaign.id, every_member.c.person == member.person.id)
    with database.write() as connection:
        place = connection.execute(select(every_member.c.place).where(*mine).with_for_update()).scalar() or {}
        if place.get("state") != "working":  # ended meanwhile: many people may open the link at once
            return
        connection.execute(update(every_member).where(*mine).values(place={**place, "state": state}))
        if state != "finished":
            left = {"uses_left": invitations.c.uses_left + 1}
            connection.execute(update(invitations).where(invitations.c.id == member.person.link).values(left))
            record(connection, None, "gave a place back", f"{member.person.id}: {state}", campaign.id)
    if state != "finished":
        give_back(database, campaign, member.person)


def read_panels(database: Database, campaign: Campaign) -> dict[str, Panel]:
    """Return the campaign's links for panels, by the invitation's id."""
    query = select(invitations.c.id, invitations.c.panel).where(invitations.c.campaign == campaign.id)
    return {row.id: Panel.model_validate(row.panel) for row in database.fetch(query) if row.panel}


def free_late_places(database: Database, campaign: Campaign) -> int:
    """Give back the places that were not finished in time; their number."""
    panels = read_panels(database, campaign)
    late = []
    for member in list_members(database, campaign) if panels else ():
        panel = panels.get(member.person.link)
        if not panel or not panel.hours or not member.joined or member.place.get("state") != "working":
            continue
        over = member.joined + timedelta(hours=panel.hours) < now()
        if over and see_place(database, campaign, member, panel) == "working":
            late.append(member)
    for member in late:
        end_place(database, campaign, member, "timed out")
    return len(late)


class Reconciled(NamedTuple):
    """The participants here, as a panel's list has them."""

    confirmed: int
    """Participants whom the list has."""
    unknown: tuple[str, ...]
    """Ids here that the list does not have: edited links, or a list that is too old."""
    absent: int
    """Ids of the list that are not here."""
    ended: int
    """Places that were returned or timed out by the list, and are given back."""


def reconcile(database: Database, campaign: Campaign, data: bytes, place: str, by: str) -> Reconciled:
    """Compare the participants with a list of the panel (CSV); those whom it has are who they say."""
    rows: list[Mapping[str, Any]] = []
    for row in read_rows(TableSource(Path(place), "csv", data=data)):
        if isinstance(row, InputError):
            raise row
        rows.append(row.values)
    names = {re.sub("[^a-z]", "", name.lower()): name for name in (rows[0] if rows else {})}
    column = next((names[name] for name in COLUMNS if name in names), None)
    if column is None:
        raise InputError(Phrase("{place}: no column of ids; name it “Participant id” or “WorkerId”", place=place))
    status = next((names[name] for name in ("status", "assignmentstatus", "completionstatus") if name in names), "")
    listed = {str(row[column]).strip(): str(row.get(status) or "").lower() for row in rows if row.get(column)}
    confirmed, unknown, ended = 0, [], 0
    members = [member for member in list_members(database, campaign) if member.participant]
    for member in members:
        if member.participant not in listed:
            unknown.append(member.participant)
            continue
        confirmed += 1
        change_member(database, campaign, member.person.id, place={**member.place, "confirmed": True})
        state = next((end for part, end in ENDED.items() if part in listed[member.participant]), "")
        if state and member.place.get("state") == "working":
            end_place(database, campaign, member, state)
            ended += 1
    absent = len(listed.keys() - {member.participant for member in members})
    found = Reconciled(confirmed, tuple(unknown), absent, ended)
    with database.write() as connection:
        record(connection, by, "compared participants", f"{confirmed}, {len(unknown)}, {absent}", campaign.id)
    return found


def rate_of(members: list[Member], panels: Mapping[str, Panel], figures: Figures) -> dict[str, float]:
    """Return what each panel pays for an hour: its reward by the median of the hours that finished places took."""
    rates = {}
    for link, panel in panels.items():
        done = [m.person.id for m in members if m.person.link == link and m.place.get("state") == "finished"]
        hours = [figures.people[person].seconds / 3600 for person in done if person in figures.people]
        if panel.reward and hours and median(hours) > 0:
            rates[link] = panel.reward / median(hours)
    return rates


def pay_columns(member: Member, hourly: float, panel: Panel | None, seconds: float) -> dict[str, Any]:
    """Return what whoever pays needs besides the hours: id, place, amount, and what is due beyond the reward."""
    amount = seconds / 3600 * hourly
    paid = panel.reward if panel and member.place.get("state") == "finished" else 0.0
    return {
        "participant": member.participant,
        "id confirmed": "yes" if member.place.get("confirmed") else "no" if member.participant else "",
        "place": member.place.get("state", ""),
        "amount": f"{amount:.2f}" if hourly else "",
        "reward of the panel": f"{paid:.2f}" if paid else "",
        "bonus": f"{max(amount - paid, 0):.2f}" if hourly and member.place.get("state") == "finished" else "",
    }
