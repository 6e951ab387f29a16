"""The organiser's pages about people: invitations, roles, quality, time and pay."""

from __future__ import annotations

import segno
from fastapi import APIRouter
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from mores.studio.data.tables import time_rows, to_csv
from mores.studio.figures import PersonFigures
from mores.studio.records import Role
from mores.studio.store.people import (
    Member,
    find_member,
    invite,
    list_members,
    log_action,
    open_invitations,
    release,
    revoke,
    set_pay_note,
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


def _people(place: Place, link: str = "") -> Response:
    database, campaign = place.database, place.campaign
    return place.page(
        "people.html",
        members=list_members(database, campaign),
        figures=read_figures(database, campaign).people,
        nothing=NOTHING_DONE,
        invitations=open_invitations(database, campaign),
        link=link,
        qr=draw(link),
    )


def draw(link: str) -> str:
    """Return a link as a QR code; empty without one."""
    return segno.make(link).svg_data_uri(scale=4, border=2) if link else ""


def address(place: Place, token: str) -> str:
    """Return the whole link of an invitation."""
    return f"{str(place.visit.request.base_url).rstrip('/')}/join/{token}"


@router.post("/invite", dependencies=[limited("write")])
def invite_people(place: Organising, form: Form) -> Response:
    """Make an invitation and show its link once."""
    if form.get("role") not in set(Role):
        raise Refused("Choose a role.")
    uses = int(min(max(form.number("uses", 1), 1), 1000))
    role = Role(form.get("role"))
    token = invite(place.database, place.campaign, role, place.person.id, uses=uses, note=form.get("note")[:200])
    return _people(place, address(place, token))


@router.post("/invitations/{invitation}/revoke")
def revoke_invitation(invitation: str, place: Organising, _form: Form) -> Response:
    """Make an invitation useless."""
    revoke(place.database, place.campaign, invitation, place.person.id)
    return place.go("/people")


@router.get("/people/time.csv")
def time_and_pay(place: Organising) -> Response:
    """Send who worked how long and what the organiser noted about pay, with names, for whoever pays."""
    figures = read_figures(place.database, place.campaign, fresh=True)
    table = to_csv(time_rows(list_members(place.database, place.campaign), figures), ())
    log_action(place.database, place.person.id, "exported time and pay", "", place.campaign.id)
    return place.download(table, f"{place.campaign.id}-time.csv", "text/csv; charset=utf-8")


def _member(place: Place, person: str) -> Member:
    member = find_member(place.database, place.campaign, person)
    if member is None:
        raise HTTPException(404)
    return member


@router.get("/people/{person}")
def person(person: str, place: Organising) -> Response:
    """Show one person: quality, time, pay, the qualification test, and what the organiser can change."""
    return _person(place, person)


def _person(place: Place, person: str, link: str = "") -> Response:
    database, campaign = place.database, place.campaign
    member = _member(place, person)
    return place.page(
        "person.html",
        member=member,
        done=read_figures(database, campaign).people.get(person, NOTHING_DONE),
        written=list_items_by(database, campaign, member.person),
        roles=tuple(Role),
        link=link,
        qr=draw(link),
    )


@router.post("/people/{person}/pay", dependencies=[limited("write")])
def note_pay(person: str, place: Organising, form: Form) -> Response:
    """Keep a note about a person's pay."""
    _member(place, person)
    set_pay_note(place.database, place.campaign, person, form.get("note").strip())
    return place.go(f"/people/{person}")


@router.post("/people/{person}/roles", dependencies=[limited("write")])
def set_roles(person: str, place: Organising, form: Form) -> Response:
    """Change what a person is in the campaign."""
    _member(place, person)
    roles = {Role(name) for name in form.values.get("roles", ()) if name in set(Role)}
    change_roles(place.database, place.campaign, person, roles, place.person.id)
    return place.go(f"/people/{person}")


@router.post("/people/{person}/remove", dependencies=[limited("write")])
def remove(person: str, place: Organising, _form: Form) -> Response:
    """Take a person out of the campaign."""
    _member(place, person)
    remove_member(place.database, place.campaign, person, place.person.id)
    return place.go("/people")


@router.post("/people/{person}/release", dependencies=[limited("write")])
def release_author(person: str, place: Organising, _form: Form) -> Response:
    """Let an author go on after the pilot."""
    _member(place, person)
    release(place.database, place.campaign, person, place.person.id)
    return place.go("/people")


@router.post("/people/{person}/link", dependencies=[limited("write")])
def link(person: str, place: Organising, _form: Form) -> Response:
    """Show a link by which the person signs in again, once."""
    _member(place, person)
    token = new_link(place.database, place.campaign, person, place.person.id)
    return _person(place, person, address(place, token))
