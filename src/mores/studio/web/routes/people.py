"""The organiser's pages about people: invitations, roles, quality, time and pay."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Annotated, Any

import segno
from fastapi import APIRouter, Depends, Query
from fastapi.responses import Response
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException

from mores.errors import InputError
from mores.io.addresses import HERE, nearby_address
from mores.studio.data.tables import time_rows, to_csv
from mores.studio.figures import PersonFigures, find_unusual
from mores.studio.form import clean
from mores.studio.phrase import Phrase
from mores.studio.records import Role
from mores.studio.store.identity import Settled, list_alike, settle_alike
from mores.studio.store.items import read_items
from mores.studio.store.panels import (
    SERVICES,
    Panel,
    Reconciled,
    end_place,
    free_late_places,
    rate_of,
    read_panels,
    read_quotas,
    reconcile,
)
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
from mores.studio.store.queries import PAGE, list_items_by
from mores.studio.store.statistics import read_figures
from mores.studio.store.team import change_roles, makes_campaigns, new_link, remove_member, set_maker
from mores.studio.web.places import find_name
from mores.studio.web.visit import FURTHEST, Form, Organising, Place, Posted, limited
from mores.studio.workflow import Refused

router = APIRouter(prefix="/c/{campaign}")
NOTHING_DONE = PersonFigures()


def find_someone(person: str, place: Organising) -> Member:
    """Return the member that an address names; there is no such page for anybody else."""
    member = find_member(place.database, place.campaign, person)
    if member is None:
        raise HTTPException(404)
    return member


Someone = Annotated[Member, Depends(find_someone)]


class PeopleFilter(BaseModel):
    """The people that a list shows; all of them where nothing is said."""

    q: str = ""
    """A part of their name, or of their id in a panel."""
    unusual: bool = False
    start: int = 0
    """Where the page of the list begins."""


EVERYBODY = PeopleFilter()


@router.get("/people")
def people(place: Organising, shown: Annotated[PeopleFilter, Query()]) -> Response:
    """Show who works in the campaign and how, and the invitations that still work."""
    return _people(place, shown=shown)


def _people(
    place: Place,
    token: str = "",
    query: str = "",
    problem: str = "",
    reconciled: Reconciled | None = None,
    shown: PeopleFilter = EVERYBODY,
) -> Response:
    database, campaign, link = place.database, place.campaign, _address(place, token, query)
    free_late_places(database, campaign)
    if place.visit.request.method == "POST":  # a link is shown once: no page in its place may say to wait
        read_figures(database, campaign, fresh=True)
    members, figures = list_members(database, campaign), read_figures(database, campaign)
    panels, unusual = read_panels(database, campaign), find_unusual(figures.people)
    start, part = min(max(shown.start, 0), FURTHEST), clean(shown.q).casefold()
    found = [
        member
        for member in members
        if part in f"{member.name} {member.participant}".casefold()
        and (not shown.unusual or member.person.id in unusual)
    ]
    return place.page(
        "people.html",
        code=422 if problem else 200,
        members=found[start : start + PAGE],
        found=len(found),
        joined=Counter(member.person.link for member in members),
        shown=shown,
        start=start,
        page=PAGE,
        names={member.person.id: member.name for member in members},
        figures=figures.people,
        unusual=unusual,
        panels=panels,
        rates=rate_of(members, panels, figures),
        services=SERVICES,
        reconciled=reconciled,
        problem=problem,
        nothing=NOTHING_DONE,
        invitations=open_invitations(database, campaign),
        alike=list_alike(database, campaign, PAGE, figures.copies),
        link=link,
        qr=_draw(link),
    )


def _draw(link: str) -> str:
    """Return a link as a QR code; empty without one."""
    return segno.make(link).svg_data_uri(scale=4, border=2) if link else ""


def _address(place: Place, token: str, query: str = "") -> str:
    """Return the whole link of an invitation; empty without one.

    Where the page was opened by an address that only this computer knows, the link has the one in its network.
    """
    base = place.visit.request.base_url
    if token and base.scheme == "http" and base.hostname in HERE and (found := nearby_address(base.port or 80)):
        base = base.replace(hostname=found)
    return f"{str(base).rstrip('/')}/join/{token}{query}" if token else ""


@router.post("/invite", dependencies=[limited("write")])
def invite_people(place: Organising, form: Form) -> Response:
    """Make an invitation and show its link once."""
    role, also = _roles(place, form)
    uses = int(min(max(form.number("uses", 1), 1), 1000))
    note = form.get("note")[:200]
    token = invite(place.database, place.campaign, role, place.person.id, uses=uses, note=note, also=also)
    return _people(place, token)


def _roles(place: Place, form: Posted) -> tuple[Role, tuple[Role, ...]]:
    """Return the roles that were chosen, of those that the campaign has."""
    chosen = [role for role in place.campaign.roles if role.value in form.values.get("role", ())]
    if not chosen:
        raise Refused("Choose a role.")
    return chosen[0], tuple(chosen[1:])


@router.post("/panel", dependencies=[limited("write")])
def invite_panel(place: Organising, form: Form) -> Response:
    """Make a link for a panel, which puts the participant's id into it."""
    role, also = _roles(place, form)
    try:
        numbers = {name: form.number(name) for name in ("hours", "reward")}
        texts = {name: clean(form.get(name)) for name in ("service", "code", "finish")}
        answers = int(form.number("answers", 10))
        quotas = read_quotas(
            clean(form.get("quotas")),
            lambda name, is_language: find_name(name, place.visit.locale, is_language=is_language),
        )
        panel = Panel(**texts, **numbers, answers=answers, quotas=quotas)
        if not (panel.code or panel.finish):
            raise InputError("Give the panel's completion code, or the address that ends a place.")
    except ValidationError:
        return _people(place, problem=Phrase("One of the numbers is too small or too large."))
    except InputError as error:
        return _people(place, problem=error.args[0])
    uses = int(min(max(form.number("uses", 1), 1), 100_000))
    about: dict[str, Any] = {"uses": uses, "note": panel.about.title, "lasts": timedelta(days=90), "also": also}
    token = invite(place.database, place.campaign, role, place.person.id, panel=panel.model_dump(), **about)
    return _people(place, token, f"?{panel.about.parameter}={panel.about.value}" if panel.about.value else "")


@router.post("/participants", dependencies=[limited("write")])
def compare_participants(place: Organising, form: Form) -> Response:
    """Compare the participants with a list of the panel."""
    data, name = form.files.get("file", b""), form.names.get("file") or "list.csv"
    try:
        return _people(place, reconciled=reconcile(place.database, place.campaign, data, name, place.person.id))
    except InputError as error:
        return _people(place, problem=error.args[0])


@router.post("/people/{person}/place", dependencies=[limited("write")])
def end(member: Someone, place: Organising, _form: Form) -> Response:
    """Give back a place that somebody returned to the panel."""
    if member.participant and member.place.get("state") == "working":
        end_place(place.database, place.campaign, member, "returned")
    return place.go(f"/people/{member.person.id}")


@router.post("/people/{person}/maker", dependencies=[limited("write")])
def maker(member: Someone, place: Organising, form: Form) -> Response:
    """Let somebody make campaigns in this studio, or not any more."""
    if place.visit.account is None or not place.visit.account.organises:
        raise HTTPException(404)
    set_maker(place.database, place.campaign, member.person.id, form.get("makes") == "yes", place.person.id)
    return place.go(f"/people/{member.person.id}")


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
    panels = read_panels(database, campaign)
    table = to_csv(
        time_rows(campaign, list_members(database, campaign), figures, items, campaign.settings.hourly, panels), ()
    )
    log_action(place.database, place.person.id, "exported time and pay", "", place.campaign.id)
    return place.download(table, f"{place.campaign.id}-time.csv", "text/csv; charset=utf-8")


@router.get("/people/{person}")
def person(member: Someone, place: Organising) -> Response:
    """Show one person: quality, time, pay, the qualification test, and what the organiser can change."""
    return _person(place, member)


def _person(place: Place, member: Member, token: str = "") -> Response:
    database, campaign, link = place.database, place.campaign, _address(place, token)
    return place.page(
        "person.html",
        member=member,
        done=read_figures(database, campaign, fresh=bool(token)).people.get(member.person.id, NOTHING_DONE),
        written=list_items_by(database, campaign, member.person),
        roles=(*place.campaign.roles, *(role for role in member.person.roles if role not in place.campaign.roles)),
        makes=makes_campaigns(database, member.person.id),
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
    copies = read_figures(place.database, place.campaign).copies
    pair = member.person.id, form.get("other")
    settle_alike(place.database, place.campaign, *pair, settled, place.person.id, copies)
    return place.go("/people")


@router.post("/people/{person}/link", dependencies=[limited("write")])
def link(member: Someone, place: Organising, _form: Form) -> Response:
    """Show a link by which the person signs in again, once."""
    return _person(place, member, new_link(place.database, member, place.person.id))
