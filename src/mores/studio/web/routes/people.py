"""The organiser's pages about people: invitations, roles, quality, time and pay."""

from __future__ import annotations

from typing import Annotated

import segno
from fastapi import APIRouter, Depends
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from mores.studio.data.tables import time_rows, to_csv
from mores.studio.figures import PersonFigures
from mores.studio.records import Role
from mores.studio.store.identity import Settled, list_alike, settle_alike
from mores.studio.store.items import read_items
from mores.studio.store.people import (
    Member,
    change_member,
    find_member,
    invite,
    list_members,
    log_action,
    open_invitations,
    revoke,
)
from mores.studio.store.queries import list_items_by
from mores.studio.store.statistics import read_figures
from mores.studio.store.team import change_roles, new_link, remove_member
from mores.studio.web.visit import Form, Organising, Place, limited
from mores.studio.workflow import Refused

router = APIRouter(prefix="/c/{campaign}")
NOTHING_DONE = PersonFigures()


@router.get("/people")
def people(place: Organising) -> Response:
    """Show who works in the campaign and how, and the invitations that still work."""
    return _people(place)


def _people(place: Place, token: str = "") -> Response:
    database, campaign, link = place.database, place.campaign, _address(place, token)
    members = list_members(database, campaign)
    return place.page(
        "people.html",
        members=members,
        names={member.person.id: member.name for member in members},
        figures=read_figures(database, campaign).people,
        nothing=NOTHING_DONE,
        invitations=open_invitations(database, campaign),
        alike=list_alike(database, campaign),
        link=link,
        qr=_draw(link),
    )


def _draw(link: str) -> str:
    """Return a link as a QR code; empty without one."""
    return segno.make(link).svg_data_uri(scale=4, border=2) if link else ""


def _address(place: Place, token: str) -> str:
    """Return the whole link of an invitation; empty without one."""
    return f"{str(place.visit.request.base_url).rstrip('/')}/join/{token}" if token else ""


@router.post("/invite", dependencies=[limited("write")])
def invite_people(place: Organising, form: Form) -> Response:
    """Make an invitation and show its link once."""
    if form.get("role") not in set(Role):
        raise Refused("Choose a role.")
    uses = int(min(max(form.number("uses", 1), 1), 1000))
    role = Role(form.get("role"))
    token = invite(place.database, place.campaign, role, place.person.id, uses=uses, note=form.get("note")[:200])
    return _people(place, token)


@router.post("/invitations/{invitation}/revoke")
def revoke_invitation(invitation: str, place: Organising, _form: Form) -> Response:
    """Make an invitation useless."""
    revoke(place.database, place.campaign, invitation, place.person.id)
    return place.go("/people")


@router.get("/people/time.csv")
def time_and_pay(place: Organising) -> Response:
    """Send who worked how long and what the organiser noted about pay, with names, for whoever pays."""
    database, campaign = place.database, place.campaign
    items = read_items(database, campaign) if campaign.kind.earned else ()
    figures = read_figures(database, campaign, fresh=True)
    table = to_csv(time_rows(campaign, list_members(database, campaign), figures, items), ())
    log_action(place.database, place.person.id, "exported time and pay", "", place.campaign.id)
    return place.download(table, f"{place.campaign.id}-time.csv", "text/csv; charset=utf-8")


def find_someone(person: str, place: Organising) -> Member:
    """Return the member that an address names; there is no such page for anybody else."""
    member = find_member(place.database, place.campaign, person)
    if member is None:
        raise HTTPException(404)
    return member


Someone = Annotated[Member, Depends(find_someone)]


@router.get("/people/{person}")
def person(member: Someone, place: Organising) -> Response:
    """Show one person: quality, time, pay, the qualification test, and what the organiser can change."""
    return _person(place, member)


def _person(place: Place, member: Member, token: str = "") -> Response:
    database, campaign, link = place.database, place.campaign, _address(place, token)
    return place.page(
        "person.html",
        member=member,
        done=read_figures(database, campaign).people.get(member.person.id, NOTHING_DONE),
        written=list_items_by(database, campaign, member.person),
        roles=tuple(Role),
        link=link,
        qr=_draw(link),
    )


@router.post("/people/{person}/pay", dependencies=[limited("write")])
def note_pay(member: Someone, place: Organising, form: Form) -> Response:
    """Keep a note about a person's pay."""
    change_member(place.database, place.campaign, member.person.id, pay_note=form.get("note").strip()[:500])
    return place.go(f"/people/{member.person.id}")


@router.post("/people/{person}/roles", dependencies=[limited("write")])
def set_roles(member: Someone, place: Organising, form: Form) -> Response:
    """Change what a person is in the campaign."""
    roles = {Role(name) for name in form.values.get("roles", ()) if name in set(Role)}
    change_roles(place.database, place.campaign, member, roles, place.person.id)
    return place.go(f"/people/{member.person.id}")


@router.post("/people/{person}/remove", dependencies=[limited("write")])
def remove(member: Someone, place: Organising, _form: Form) -> Response:
    """Take a person out of the campaign."""
    remove_member(place.database, place.campaign, member, place.person.id)
    return place.go("/people")


@router.post("/people/{person}/release", dependencies=[limited("write")])
def release_author(member: Someone, place: Organising, _form: Form) -> Response:
    """Let an author go on after the pilot."""
    released = member.person.id
    change_member(place.database, place.campaign, released, released=True)
    log_action(place.database, place.person.id, "let an author go on after the pilot", released, place.campaign.id)
    return place.go("/people")


@router.post("/people/{person}/alike", dependencies=[limited("write")])
def settle(member: Someone, place: Organising, form: Form) -> Response:
    """Say whether two accounts that look alike are the same person's."""
    settled: Settled = "same" if form.get("settled") == "same" else "different"
    settle_alike(place.database, place.campaign, member.person.id, form.get("other"), settled, place.person.id)
    return place.go("/people")


@router.post("/people/{person}/link", dependencies=[limited("write")])
def link(member: Someone, place: Organising, _form: Form) -> Response:
    """Show a link by which the person signs in again, once."""
    return _person(place, member, new_link(place.database, member, place.person.id))
