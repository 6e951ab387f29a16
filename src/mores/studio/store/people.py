"""People: invitations, profiles, sessions, passwords, roles in a campaign, and taking oneself out.

Tokens are stored as hashes: who reads the database cannot sign in with what it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from hashlib import sha256
from secrets import token_hex, token_urlsafe
from typing import Any, NamedTuple

from pydantic import Field
from sqlalchemy import Connection, Row, Select, bindparam, delete, func, insert, literal, select, update

from mores.culture import countries
from mores.errors import InputError
from mores.studio.form import clean
from mores.studio.kind import read_languages, read_regions
from mores.studio.records import Person, Role
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign, list_held, now, perform
from mores.studio.store.tables import audit, drafts, invitations, items, members, people, secrets, sessions
from mores.studio.workflow import Refused, Release, Unknown
from mores.types import Record

INVITED = timedelta(days=14)
AS_WRITTEN = " as written"
SIGNED_IN = timedelta(days=30)


class PersonProfile(Record):
    """The things that a person tells about themselves (the papers' criteria)."""

    name: str
    email: str = ""
    nationality: tuple[str, ...] = ()
    """Regions of which they are nationals."""
    home: tuple[str, ...] = ()
    """Where they lived most of the time before they were 18."""
    languages: tuple[str, ...] = ()
    """Languages that they speak natively or nearly so."""
    locale: str = "en"
    """The language of the pages."""
    typed: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """What they wrote in a field and no list has; with `AS_WRITTEN` behind the field's name, what was found in one."""


class Account(NamedTuple):
    """A person who is signed in."""

    id: str
    profile: PersonProfile
    organises: bool
    has_password: bool


class Member(NamedTuple):
    """A person in one campaign."""

    person: Person
    name: str
    consented: datetime | None
    test: dict[str, Any]
    pay_note: str
    written: int = 0
    """How many items they have written, as far as the campaign has a pilot."""
    released: bool = False
    """The organiser has let them go on after the pilot."""
    alike: Mapping[str, Mapping[str, Any]] = {}
    """Other members who look like the same person: in what (`by`), and what the organiser found out (`settled`)."""
    typed: Mapping[str, Sequence[str]] = {}
    """What they wrote about themselves that no list has."""
    participant: str = ""
    """Their id in the panel that sent them, as it stood in the link."""
    place: Mapping[str, Any] = {}
    """How far they are for the panel: `state`, and whether its list has them (`confirmed`)."""
    joined: datetime | None = None


class Invitation(NamedTuple):
    """An invitation, without its secret."""

    id: str
    campaign: str | None
    person: str | None
    """Who signs in by it; None for someone new."""
    role: Role
    note: str
    uses_left: int
    until: datetime
    used_by: str | None = None
    """Whose own link it is, since they have used it."""
    roles: tuple[Role, ...] = ()
    """Everything that who uses it becomes."""
    panel: Mapping[str, Any] = {}
    """How a panel sends people by it (`store.panels.Panel`); empty for any other link."""
    personal: bool = False
    """It brings the one person who uses it back, on any device."""


def read_profile(
    name: str,
    email: str = "",
    nationality: Sequence[str] = (),
    home: Sequence[str] = (),
    languages: Sequence[str] = (),
    locale: str = "en",
    typed: Mapping[str, Sequence[str]] | None = None,
) -> PersonProfile:
    """Return a profile with known regions and languages; InputError names what is not known."""
    if not clean(name):
        raise InputError("Please give a name; it may be invented.")
    if len(name) > 100 or len(email) > 200:
        raise InputError("This name or address is too long.")
    return PersonProfile(
        name=clean(name),
        email=clean(email),
        nationality=read_regions(nationality),
        home=read_regions(home),
        languages=read_languages(languages),
        locale=locale,
        typed={field: tuple(names) for field, names in (typed or {}).items()},
    )


def digest(token: str) -> str:
    """Return what is kept of a secret."""
    return sha256(token.encode("utf-8", "replace")).hexdigest()


def signing_key(database: Database) -> str:
    """Return the key that signs what browsers keep; made once for each database."""
    with database.write() as connection:
        key = connection.execute(select(secrets.c.value).where(secrets.c.name == "signing")).scalar()
        if key is None:
            key = token_urlsafe(32)
            connection.execute(insert(secrets), {"name": "signing", "value": key})
    return str(key)


def invite(
    database: Database,
    campaign: Campaign,
    role: Role,
    by: str,
    *,
    uses: int = 1,
    note: str = "",
    lasts: timedelta = INVITED,
    also: Sequence[Role] = (),
    panel: Mapping[str, Any] | None = None,
) -> str:
    """Make an invitation, for further roles (`also`) or a panel; the secret that stands in its link.

    One for a single person is theirs once they have used it: by it they come back.
    """
    names = ", ".join((role, *also))
    with database.write() as connection:
        record(connection, by, "invited", f"{names} × {uses}", campaign.id)
        about = {"campaign": campaign.id, "note": note, "uses_left": uses, "personal": uses == 1 and not panel}
        about |= {"also": [other.value for other in also], "panel": dict(panel or {})}
        return _add_link(connection, role, by, lasts, **about)


def link_back(database: Database, person: str, by: str, *, role: Role, lasts: timedelta = INVITED) -> str:
    """Make a link by which someone known signs in, for example on another device; the secret that stands in it."""
    with database.write() as connection:
        record(connection, by, "made a link", person)
        return _add_link(connection, role, by, lasts, person=person, uses_left=1)


def _add_link(connection: Connection, role: Role, by: str, lasts: timedelta, **fields: Any) -> str:
    token = token_urlsafe(24)
    row = fields | {"id": token_hex(6), "token": digest(token), "role": role.value, "made_by": by}
    connection.execute(insert(invitations), row | {"created": now(), "until": now() + lasts})
    return token


def find_invitation(database: Database, token: str) -> Invitation:
    """Return the invitation of a link; raises `Refused` where it was used, has run out or never was."""
    with database.read() as connection:
        return _invitation(_find_usable(connection, token))


def _find_usable(connection: Connection, token: str) -> Row[Any]:
    row = connection.execute(select(invitations).where(invitations.c.token == digest(token))).one_or_none()
    if row is None or (row.used_by is None and (row.uses_left < 1 or row.until <= now())):
        raise Refused("This invitation does not work any more. Please ask for a new one.")
    return row


def open_invitations(database: Database, campaign: Campaign) -> list[Invitation]:
    """Return the invitations of a campaign that still work, the newest first."""
    query = select(invitations).where(
        invitations.c.campaign == campaign.id, invitations.c.uses_left > 0, invitations.c.until > now()
    )
    return [_invitation(row) for row in database.fetch(query.order_by(invitations.c.created.desc()))]


def revoke(database: Database, campaign: Campaign, invitation: str, by: str) -> None:
    """Make an invitation useless."""
    mine = (invitations.c.id == invitation, invitations.c.campaign == campaign.id)
    with database.write() as connection:
        useless = {"uses_left": 0, "used_by": None, "until": now()}
        if not connection.execute(update(invitations).where(*mine).values(useless)).rowcount:
            raise Unknown("There is no such invitation.")
        record(connection, by, "revoked", invitation, campaign.id)


def _invitation(row: Row[Any]) -> Invitation:
    about = (Role(row.role), row.note, row.uses_left, row.until, row.used_by)
    roles = (Role(row.role), *map(Role, row.also or ()))
    return Invitation(row.id, row.campaign, row.person, *about, roles, row.panel or {}, row.personal)


def join(
    database: Database,
    token: str,
    profile: PersonProfile | None,
    person: str | None = None,
    participant: str = "",
    browser: str = "",
    admit: Callable[[], None] = lambda: None,
) -> str:
    """Use an invitation: someone new with this profile, or who is signed in, becomes a member; the person's id.

    `participant` is who the panel says they are, and `browser` what their browser keeps until it is signed in, by which
    they join once though they send it twice; `admit` refuses them while nobody else joins by the same link.
    """
    with database.write() as connection:
        connection.execute(select(invitations.c.id).where(invitations.c.token == digest(token)).with_for_update())
        if profile and browser and (known := _find_joined(connection, token, browser, profile.name)):
            return known[0]
        row = _find_usable(connection, token)
        admit()
        if row.used_by and person != row.used_by:
            raise Refused("This link belongs to somebody else. Please ask for a link of your own.")
        if row.person:
            connection.execute(update(invitations).where(invitations.c.id == row.id).values(uses_left=0))
            return str(row.person)
        if person is None:
            if profile is None:
                raise InputError("Please give a name.")
            person = add_person(connection, profile)
        mine = (members.c.campaign == row.campaign, members.c.person == person)
        known = connection.execute(select(members.c.roles).where(*mine)).scalar()
        offered = [row.role, *(row.also or ())]
        if known is None:
            new = {"campaign": row.campaign, "person": person, "roles": offered, "qualified": False}
            state = {"state": "working"} if participant else {}
            new |= {"participant": participant, "place": state | ({"browser": digest(browser)} if browser else {})}
            connection.execute(insert(members), new | {"consented": None, "joined": now(), "invitation": row.id})
        elif more := [role for role in offered if role not in known]:
            connection.execute(update(members).where(*mine).values(roles=[*known, *more]))
        else:
            return person  # the invitation is kept for someone else
        used = {"uses_left": invitations.c.uses_left - 1, "used_by": person if row.personal else None}
        connection.execute(update(invitations).where(invitations.c.id == row.id).values(used))
        record(connection, person, "joined", ", ".join(offered), row.campaign)
    return person


def find_joined(database: Database, token: str, browser: str, name: str) -> tuple[str, str] | None:
    """Return who has joined by a link from this browser under this name, and got no answer, and the campaign."""
    with database.read() as connection:
        return _find_joined(connection, token, browser, name)


def _find_joined(connection: Connection, token: str, browser: str, name: str) -> tuple[str, str] | None:
    columns = (members.c.person, members.c.campaign, members.c.place, people.c.name)
    query = select(*columns).join(people, people.c.id == members.c.person)
    query = query.join(invitations, invitations.c.id == members.c.invitation)
    for row in connection.execute(query.where(invitations.c.token == digest(token), people.c.withdrawn.is_(None))):
        if row.place.get("browser") == digest(browser) and row.name == clean(name):
            return str(row.person), str(row.campaign)
    return None


def come_back(database: Database, person: str, name: str) -> str:
    """Return the person whose own link was opened, where they know the name that they gave."""
    for row in database.fetch(select(people.c.name).where(people.c.id == person, people.c.withdrawn.is_(None))):
        if clean(name).casefold() == row.name.casefold():
            return person
    raise InputError("This is not the name with which this link was used. Please write it as you did then.")


def add_person(connection: Connection, profile: PersonProfile, *, organises: bool = False) -> str:
    """Add a person; their id."""
    identifier = token_hex(8)
    fields = profile.model_dump(mode="json")
    row = fields | {"id": identifier, "organises": organises, "created": now(), "password": ""}
    connection.execute(insert(people), row)
    return identifier


def add_member(database: Database, campaign: Campaign, person: str, *roles: Role, qualified: bool = True) -> None:
    """Make someone a member without an invitation, for example the organiser of a new campaign."""
    row = {"campaign": campaign.id, "person": person, "roles": [role.value for role in roles], "joined": now()}
    with database.write() as connection:
        connection.execute(insert(members), row | {"qualified": qualified, "consented": now()})


def sign_in(database: Database, person: str) -> str:
    """Begin a session; the secret that the browser keeps."""
    token = token_urlsafe(32)
    row = {"token": digest(token), "person": person, "created": now(), "until": now() + SIGNED_IN}
    with database.write() as connection:
        connection.execute(delete(sessions).where(sessions.c.until <= now()))
        connection.execute(insert(sessions), row)
        record(connection, person, "signed in")
    return token


def sign_out(database: Database, token: str) -> None:
    """End a session."""
    with database.write() as connection:
        connection.execute(delete(sessions).where(sessions.c.token == digest(token)))


_SIGNED_IN = (
    select(people)
    .join(sessions, sessions.c.person == people.c.id)
    .where(sessions.c.token == bindparam("token"), sessions.c.until > bindparam("now"), people.c.withdrawn.is_(None))
)


def find_account(database: Database, token: str) -> Account | None:
    """Return the person of a session; None where it has ended."""
    for row in database.fetch(_SIGNED_IN, {"token": digest(token), "now": now()}):
        fields = {name: getattr(row, name) for name in PersonProfile.model_fields}
        return Account(row.id, PersonProfile(**fields), row.organises, bool(row.password))
    return None


def change_profile(database: Database, person: str, profile: PersonProfile) -> None:
    """Change what a person tells about themselves."""
    with database.write() as connection:
        connection.execute(update(people).where(people.c.id == person).values(profile.model_dump(mode="json")))
        record(connection, person, "profile changed")


def find_member(database: Database, campaign: Campaign, person: str) -> Member | None:
    """Return someone in a campaign; None where they are not in it."""
    rows = database.fetch(_members(bool(campaign.settings.pilot), each=True), {"campaign": campaign.id, "id": person})
    return _member(campaign, rows[0]) if rows else None


def list_members(database: Database, campaign: Campaign) -> list[Member]:
    """Return everybody in a campaign, in the order in which they joined."""
    query = _members(bool(campaign.settings.pilot)).order_by(members.c.joined, people.c.id)
    return [_member(campaign, row) for row in database.fetch(query, {"campaign": campaign.id})]


@cache
def _members(counting: bool, each: bool = False) -> Select[Any]:
    """Return the query for everybody in a campaign, or one of them; `counting` what they have written."""
    names = ("roles", "qualified", "test", "consented", "pay_note", "released", "invitation", "alike")
    columns = tuple(members.c[name] for name in (*names, "participant", "place", "joined"))
    known = tuple(people.c[name] for name in ("id", "name", "nationality", "home", "languages", "typed"))
    chosen: tuple[Any, ...] = (*known, *columns)
    written: Any = literal(0)
    if counting:
        mine = (items.c.campaign == members.c.campaign, items.c.author == people.c.id, items.c.status != "withdrawn")
        written = select(func.count()).where(*mine).scalar_subquery()
    chosen = (*chosen, written.label("written"))
    joined = select(*chosen).join(members, members.c.person == people.c.id)
    joined = joined.where(members.c.campaign == bindparam("campaign"))
    return joined.where(people.c.id == bindparam("id")) if each else joined


def with_countries(codes: Iterable[str]) -> frozenset[str]:
    """Return regions, and the country of each that lies in a single one: who lived in Tokyo lived in Japan."""
    known = frozenset(codes)
    within = (countries(code) for code in known if "-" in code)
    return known | {names[0] for names in within if len(names) == 1}


def _member(campaign: Campaign, row: Row[Any]) -> Member:
    person = Person(
        id=row.id,
        roles=frozenset(Role(role) for role in row.roles),
        regions=with_countries(row.nationality) & with_countries(row.home),
        languages=frozenset(row.languages),
        qualified=row.qualified or not campaign.settings.pass_share,
        left=campaign.settings.pilot - row.written if campaign.settings.pilot and not row.released else None,
        link=row.invitation,
    )
    about = (
        row.name,
        row.consented,
        row.test or {},
        row.pay_note,
        row.written,
        row.released,
        row.alike or {},
        row.typed,
        row.participant,
        row.place or {},
        row.joined,
    )
    return Member(person, *about)


def change_member(database: Database, campaign: Campaign, person: str, **values: Any) -> None:
    """Change what the campaign keeps about a person: consent, test, pay note, whether their pilot is over."""
    mine = (members.c.campaign == campaign.id, members.c.person == person)
    with database.write() as connection:
        connection.execute(update(members).where(*mine).values(**values))


def give_back(database: Database, campaign: Campaign, person: Person, keep: Collection[Role] = ()) -> None:
    """Let others have what waits for someone, but for what people in the roles to keep judge."""
    for item in list_held(database, campaign, person):
        if campaign.flow.stage(item.stage).role not in keep:
            perform(database, campaign, None, Release(of=person.id), item=item.id)


def record(
    connection: Connection, person: str | None, action: str, detail: str = "", campaign: str | None = None
) -> None:
    """Write a line of the audit log; never a secret."""
    row = {"at": now(), "campaign": campaign, "person": person, "action": action, "detail": detail[:500]}
    connection.execute(insert(audit), row)


def log_action(database: Database, person: str | None, action: str, detail: str, campaign: str) -> None:
    """Write a line of a campaign's audit log."""
    with database.write() as connection:
        record(connection, person, action, detail, campaign)


def save_draft(database: Database, campaign: Campaign, person: str, place: str, content: dict[str, Any]) -> None:
    """Keep what a person is typing; an empty draft is deleted."""
    mine = (drafts.c.campaign == campaign.id, drafts.c.person == person, drafts.c.place == place)
    with database.write() as connection:
        connection.execute(delete(drafts).where(*mine))
        if content:
            row = {"campaign": campaign.id, "person": person, "place": place, "content": content, "at": now()}
            connection.execute(insert(drafts), row)


_DRAFT = select(drafts.c.content).where(
    drafts.c.campaign == bindparam("campaign"),
    drafts.c.person == bindparam("person"),
    drafts.c.place == bindparam("place"),
)


def read_draft(database: Database, campaign: Campaign, person: str, place: str) -> dict[str, Any]:
    """Return what a person was typing; empty where there is nothing."""
    rows = database.fetch(_DRAFT, {"campaign": campaign.id, "person": person, "place": place})
    return dict(rows[0].content) if rows else {}
