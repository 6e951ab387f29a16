"""Pages on which organisers prepare and try items with known answers, and see pages as others see them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from mores.studio.form import FormError, clean, read_form
from mores.studio.practice import practised_stage
from mores.studio.records import CampaignItem, Content, ItemStatus, Person, Role
from mores.studio.setup import KNOWN
from mores.studio.store.campaigns import SettingsError, change_settings, read_settings
from mores.studio.store.items import now, read_item, read_items
from mores.studio.store.people import Member
from mores.studio.timeline import list_values
from mores.studio.web.routes.work import judge_page, write_page
from mores.studio.web.visit import Form, Organising, Place, limited
from mores.studio.workflow import CampaignStage, Refused, Withdraw

router = APIRouter(prefix="/c/{campaign}")
TRIED = 200
"""Items that are looked through for one that shows a stage."""


@router.get("/known")
def known(place: Organising) -> Response:
    """Show the practice items and attention checks, with their known answers."""
    campaign = place.campaign
    stage = practised_stage(campaign.flow, place.person)
    lists: dict[str, list[tuple[CampaignItem, Any, str]]] = {}
    for name in KNOWN:
        for entry in getattr(campaign.settings, name):
            item = campaign.blank(stage.name, entry.content, region=entry.region, language=entry.language)
            answer = list_values(stage.form(item), entry.answer)
            lists.setdefault(name, []).append((item, answer, entry.explanation))
    return place.page("known.html", lists=lists, stage=stage, step=1, seen=_as_others(place, stage))


@router.post("/known/remove", dependencies=[limited("write")])
def remove(place: Organising, form: Form) -> Response:
    """Take out a practice item or an attention check."""
    name, number = form.get("list"), int(form.number("number", -1))
    if name not in KNOWN or not 0 <= number < len(getattr(place.campaign.settings, name)):
        raise Refused("There is no such item.")
    kept = [entry for place_, entry in enumerate(getattr(place.campaign.settings, name)) if place_ != number]
    _change(place, name, kept)
    return place.go("/known")


@router.get("/items/{item}/known")
def make(item: str, place: Organising) -> Response:
    """Show the form for the known answer of an item."""
    return _page(place, read_item(place.database, place.campaign, item), {})


@router.post("/items/{item}/known", dependencies=[limited("write")])
def add(item: str, place: Organising, form: Form) -> Response:
    """Use an item for practice or as an attention check; what is filled in is what an answer must have."""
    shown, name = read_item(place.database, place.campaign, item), form.get("list")
    stage = practised_stage(place.campaign.flow, place.person)
    try:
        answer = read_form(stage.form(shown), form.values, draft=True)
    except FormError as error:
        return _page(place, shown, error.problems, form.lists)
    wanted = {key: value for key, value in answer.items() if value not in ("", [], False, None)}
    if name not in KNOWN or not wanted:
        raise Refused("Choose practice or attention check, and fill in what a correct answer must have.")
    entry = {"content": shown.content, "answer": wanted, "explanation": clean(form.get("explanation"))[:2000]}
    entry |= {"region": shown.region, "language": shown.language}
    try:
        _change(place, name, [*getattr(place.campaign.settings, name), entry])
    except SettingsError as error:
        return _page(place, shown, error.problems, form.lists)
    if form.get("withdraw") and shown.status is not ItemStatus.WITHDRAWN:
        place.perform(Withdraw("It is used for practice or attention."), item, form.key)
    return place.go("/known")


def _page(place: Place, item: CampaignItem, problems: Content, values: Content | None = None) -> Response:
    stage = practised_stage(place.campaign.flow, place.person)
    fields = stage.form(item)
    about: Content = {
        "seen": _as_others(place, stage),
        "item": item,
        "stage": stage,
        "form": fields,
        "values": values or fields.values,
        "step": fields.steps,
    }
    return place.page(
        "make_known.html", code=422 if problems else 200, problems=problems, key=f"{item.id}-known", **about
    )


def _change(place: Place, name: str, entries: list[Any]) -> None:
    """Change the list of items with known answers."""
    settings = place.campaign.settings.model_dump(mode="json") | {name: entries}
    change_settings(place.database, place.campaign, read_settings(place.campaign.kind, settings), place.person.id)


@router.get("/preview")
def preview(place: Organising, stage: str = "") -> Response:
    """Show a stage as people at it see it, with an item that is there; nothing that is sent there is kept."""
    campaign = place.campaign
    stages = [one for one in campaign.flow.stages if one.role not in (None, Role.ORGANISER)]
    chosen = next((one for one in stages if one.name == stage), stages[0])
    # what its pages send goes to the route below
    there = replace(campaign, id=f"{campaign.id}/preview")
    ghost = replace(_as_others(place, chosen), campaign=there, preview=stages)
    if chosen is campaign.flow.stages[0] and chosen.own:
        return write_page(ghost, None, {})
    item = _example(place, chosen)
    if item is None:
        return place.page("preview.html", stages=stages, stage=chosen)
    return write_page(ghost, item.model_copy(update={"version": 1}), {}) if chosen.own else judge_page(ghost, item, {})


def _as_others(place: Place, stage: CampaignStage) -> Place:
    """Return the place of somebody who works at a stage, and may see no more than they do."""
    assert stage.role is not None
    settings = place.campaign.settings
    regions, languages = frozenset(settings.regions), frozenset(settings.languages)
    person = Person(id="", roles=frozenset({stage.role}), regions=regions, languages=languages)
    return replace(place, member=Member(person, "", now(), {}, ""))


def _example(place: Place, stage: CampaignStage) -> CampaignItem | None:
    """Return an item that is at a stage, else one that has passed it, else a practice item."""
    campaign, best = place.campaign, None
    for _, item in zip(range(TRIED), read_items(place.database, campaign), strict=False):
        if item.stage == stage.name and item.status is ItemStatus.OPEN:
            return item.model_copy(update={"holds": ()})
        best = best or (item if any(vote.stage == stage.name for vote in item.votes) else None)
    if best is None and not stage.own and campaign.settings.practice:
        entry = campaign.settings.practice[0]
        return campaign.blank(stage.name, entry.content, region=entry.region, language=entry.language)
    return best.model_copy(update={"stage": stage.name, "status": ItemStatus.OPEN, "holds": ()}) if best else None


@router.get("/preview/{rest:path}")
def stay(rest: str, place: Organising) -> Response:  # noqa: ARG001 - other pages are not in a preview
    """Go back to the preview from a link in it."""
    return place.go("/preview")


@router.api_route("/preview/{rest:path}", methods=["POST", "PUT"])
def pretend(rest: str, place: Organising, _form: Form) -> Response:  # noqa: ARG001 - whatever it is, nothing is kept
    """Take what a page sends that an organiser only looks at."""
    return JSONResponse({"saved": True}) if place.visit.request.method == "PUT" else place.go("/preview")
