"""The organiser's pages: how the campaign stands, its people, its items, its exports."""

from __future__ import annotations

from secrets import token_hex
from typing import Any

import segno
from fastapi import APIRouter
from fastapi.responses import Response

from mores.studio.export import pack
from mores.studio.form import FormError, read_form
from mores.studio.records import Content, Item, Role
from mores.studio.store.items import do, read_events, read_item, read_items
from mores.studio.store.people import invite, list_members, open_invitations, release, revoke
from mores.studio.store.queries import count_stages, count_stuck, list_items
from mores.studio.web.visit import FURTHEST, Form, Organising, Place, limited
from mores.studio.workflow import Adjudicate, AskAgain, Refused

router = APIRouter(prefix="/c/{campaign}")


@router.get("/overview")
def overview(place: Organising) -> Response:
    """How far the campaign is."""
    database = place.visit.database
    stuck = count_stuck(database, place.campaign)
    return place.page("overview.html", counts=count_stages(database, place.campaign), stuck=stuck)


@router.get("/figures")
def figures(place: Organising) -> Response:
    """What the campaign has come to, beside the paper's figures."""
    every = list(read_items(place.visit.database, place.campaign))
    kind, settings = place.campaign.kind, place.campaign.settings
    paragraph = kind.method(settings, every) if kind.method else ""
    return place.page("figures.html", figures=kind.summarise(settings, every), paragraph=paragraph)


@router.get("/items")
def items(
    place: Organising,
    stage: str = "",
    status: str = "",
    disputed: bool = False,
    stuck: bool = False,
    author: str = "",
    start: int = 0,
) -> Response:
    """The campaign's items."""
    shown: dict[str, Any] = {"stage": stage, "status": status, "disputed": disputed, "stuck": stuck, "author": author}
    start = min(max(start, 0), FURTHEST)
    lines = list_items(place.visit.database, place.campaign, **shown, start=start)
    return place.page("items.html", lines=lines, start=start, **shown)


@router.get("/items/{item}/life")
def life(item: str, place: Organising) -> Response:
    """One item's whole life."""
    shown = read_item(place.visit.database, place.campaign, item)
    return _life(place, shown, {})


def _life(place: Place, item: Item, problems: Content) -> Response:
    """An item's page; at an organiser's stage with the form that goes with accepting it."""
    members = list_members(place.visit.database, place.campaign)
    names = {member.person.id: member.name for member in members if member.name}
    events = read_events(place.visit.database, place.campaign, item.id)
    stage = place.campaign.flow.stage(item.stage)
    decided = stage.form(item) if stage.role is Role.ORGANISER else None
    values = {"item": item, "events": events, "names": names, "key": token_hex(12)}
    return place.page("life.html", code=422 if problems else 200, form=decided, problems=problems, **values)


@router.post("/items/{item}/adjudicate", dependencies=[limited("write")])
def adjudicate(item: str, place: Organising, form: Form) -> Response:
    """Decide in place of the votes."""
    outcome = form.get("outcome")
    if outcome not in ("next", "back", "rejected"):
        raise Refused("Choose what shall happen to the item.")
    shown = read_item(place.visit.database, place.campaign, item)
    stage = place.campaign.flow.stage(shown.stage)
    result: Content = {}
    if outcome == "next" and stage.role is Role.ORGANISER:
        try:
            result = read_form(stage.form(shown), form.values)
        except FormError as error:
            return _life(place, shown, error.problems)
    action = Adjudicate(outcome, form.get("note").strip()[:2000], result)  # type: ignore[arg-type]  # it is one of these
    do(place.visit.database, place.campaign, place.person, action, item=item, key=form.key)
    return place.go(f"/items/{item}/life")


@router.post("/items/{item}/ask-again", dependencies=[limited("write")])
def ask_again(item: str, place: Organising, form: Form) -> Response:
    """Ask models again what they could not answer."""
    do(place.visit.database, place.campaign, place.person, AskAgain(), item=item, key=form.key)
    return place.go(f"/items/{item}/life")


@router.get("/people")
def people(place: Organising) -> Response:
    """Who works in the campaign, and the invitations that still work."""
    members = list_members(place.visit.database, place.campaign)
    return place.page(
        "people.html",
        members=members,
        invitations=open_invitations(place.visit.database, place.campaign),
        link="",
        qr="",
    )


@router.post("/invite", dependencies=[limited("write")])
def invite_people(place: Organising, form: Form) -> Response:
    """Make an invitation and show its link once."""
    if form.get("role") not in set(Role):
        raise Refused("Choose a role.")
    uses = int(min(max(form.number("uses", 1), 1), 1000))
    role = Role(form.get("role"))
    token = invite(place.visit.database, place.campaign, role, place.person.id, uses=uses, note=form.get("note")[:200])
    link = f"{str(place.visit.request.base_url).rstrip('/')}/join/{token}"
    return _people(place, link, segno.make(link).svg_data_uri(scale=4, border=2))


def _people(place: Place, link: str = "", qr: str = "") -> Response:
    members = list_members(place.visit.database, place.campaign)
    invitations = open_invitations(place.visit.database, place.campaign)
    return place.page("people.html", members=members, invitations=invitations, link=link, qr=qr)


@router.post("/people/{person}/release", dependencies=[limited("write")])
def release_author(person: str, place: Organising, _form: Form) -> Response:
    """Let an author go on after the pilot."""
    release(place.visit.database, place.campaign, person, place.person.id)
    return place.go("/people")


@router.post("/invitations/{invitation}/revoke")
def revoke_invitation(invitation: str, place: Organising, _form: Form) -> Response:
    """Make an invitation useless."""
    revoke(place.visit.database, place.campaign, invitation, place.person.id)
    return place.go("/people")


@router.post("/export", dependencies=[limited("write")])
def export(place: Organising, _form: Form) -> Response:
    """The accepted items as a folder for `mores bench`, zipped."""
    data = pack(place.visit.database, place.campaign)
    name = f"{place.campaign.id}.zip"
    return Response(
        data, media_type="application/zip", headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )
