"""Making a campaign from a template or a YAML file, and changing its settings."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from mores.errors import ConfigError, InputError
from mores.studio.campaigns import REGISTRY, all_kinds, open_kind
from mores.studio.form import clean
from mores.studio.kind import STEPS, CampaignKind, CampaignSettings
from mores.studio.records import Role
from mores.studio.setup import (
    NAMED,
    dump_campaign,
    read_campaign_file,
    read_settings_form,
    settings_form,
    show_settings,
)
from mores.studio.store.campaigns import SettingsError, change_settings, duplicate_campaign, make_campaign, set_open
from mores.studio.store.people import add_member, log_action
from mores.studio.web.pages import language_in, region_in
from mores.studio.web.places import find_name, split_names
from mores.studio.web.visit import Form, Organising, Place, Posted, SignedIn, Visit, limited

router = APIRouter()


def _organiser(visit: Visit) -> str:
    """Return who makes campaigns; everybody else gets a 404."""
    if visit.account is None or not visit.account.organises:
        raise HTTPException(404)
    return visit.account.id


@router.get("/campaigns/new")
def new(visit: SignedIn, kind: str = "") -> Response:
    """Show the kinds of campaign, or the form of one."""
    _organiser(visit)
    if not kind:
        return visit.page("new_campaign.html", kinds=all_kinds(), problem="", text="")
    chosen = _kind(kind)
    return _form(visit, chosen, show_named(visit, chosen.settings.model_construct(title="")), {})


def show_named(visit: Visit, settings: CampaignSettings) -> dict[str, Any]:
    """Return what the form shows: regions and languages by their names in the language of the page."""
    values = show_settings(settings)
    for name in NAMED:
        is_language = name == "languages"
        tell = language_in if is_language else region_in
        names = {code: tell(code, visit.locale).replace(",", "") for code in getattr(settings, name)}
        kept = (
            known if find_name(known, visit.locale, is_language=is_language) == code else code
            for code, known in names.items()
        )
        values[name] = ", ".join(kept)
    return values


def read_named(
    visit: Visit, kind: CampaignKind[Any], form: Posted, before: CampaignSettings | None = None
) -> CampaignSettings:
    """Return the settings that were sent; regions and languages may be named in any language."""
    given = dict(form.values)
    for name in NAMED:
        written = split_names("\n".join(given.get(name, ())))
        given[name] = [find_name(part, visit.locale, is_language=name == "languages") or part for part in written]
    return read_settings_form(kind, given, before)


def _kind(name: str) -> CampaignKind[Any]:
    if name not in REGISTRY.names():
        raise HTTPException(404)
    return open_kind(name)


def _form(visit: Visit, kind: CampaignKind[Any], values: dict[str, Any], problems: dict[str, str]) -> Response:
    code, form = 422 if problems else 200, settings_form(kind)
    return visit.page(
        "new_settings.html", code=code, kind=kind, form=form, values=values, problems=problems, steps=STEPS
    )


@router.post("/campaigns", dependencies=[limited("write")])
def make(visit: SignedIn, form: Form) -> Response:
    """Make a campaign from the form, or from YAML that was pasted or sent as a file."""
    organiser = _organiser(visit)
    if form.get("kind"):
        kind = _kind(form.get("kind"))
        try:
            settings = read_named(visit, kind, form)
        except SettingsError as error:
            return _form(visit, kind, form.lists, error.problems)
    else:
        try:
            kind, settings = read_campaign_file(form.files.get("file") or form.get("yaml").encode())
        except (ConfigError, InputError) as error:
            text = form.get("yaml")
            return visit.page("new_campaign.html", code=422, kinds=all_kinds(), problem=error.args[0], text=text)
    campaign = make_campaign(visit.database, kind, settings, model=visit.studio.model)
    add_member(visit.database, campaign, organiser, Role.ORGANISER)
    log_action(visit.database, organiser, "made the campaign", kind.name, campaign.id)
    return visit.go(f"/c/{campaign.id}/overview")


@router.get("/c/{campaign}/settings")
def settings(place: Organising, saved: bool = False) -> Response:
    """Show the campaign's settings."""
    return _settings(place, show_named(place.visit, place.campaign.settings), {}, saved=saved)


def _settings(place: Place, values: dict[str, Any], problems: dict[str, str], *, saved: bool = False) -> Response:
    about: dict[str, Any] = {
        "form": settings_form(place.campaign.kind),
        "steps": STEPS,
        "values": values,
        "saved": saved,
    }
    return place.page("settings.html", code=422 if problems else 200, problems=problems, **about)


@router.post("/c/{campaign}/settings", dependencies=[limited("write")])
def change(place: Organising, form: Form) -> Response:
    """Change the settings."""
    try:
        changed = read_named(place.visit, place.campaign.kind, form, place.campaign.settings)
    except SettingsError as error:
        return _settings(place, form.lists, error.problems)
    change_settings(place.database, place.campaign, changed, place.person.id)
    return place.go("/settings?saved=1")


@router.post("/c/{campaign}/open", dependencies=[limited("write")])
def open_or_close(place: Organising, form: Form) -> Response:
    """Pause or close the campaign, with a notice for its people, or open it again."""
    is_open, notice = form.get("open") == "yes", clean(form.get("notice"))[:2000]
    paused = form.get("open") == "pause"
    set_open(place.database, place.campaign, is_open, place.person.id, paused=paused, notice=notice)
    return place.go("/settings")


@router.post("/c/{campaign}/duplicate", dependencies=[limited("write")])
def duplicate(place: Organising, _form: Form) -> Response:
    """Make a campaign with the same settings, without people and items."""
    organiser = _organiser(place.visit)
    campaign = duplicate_campaign(place.database, place.campaign)
    add_member(place.database, campaign, organiser, Role.ORGANISER)
    log_action(place.database, organiser, "made the campaign", place.campaign.id, campaign.id)
    return place.visit.go(f"/c/{campaign.id}/settings")


@router.get("/c/{campaign}/settings.yaml")
def download(place: Organising) -> Response:
    """Send the settings as a file from which the campaign can be made again."""
    text = dump_campaign(place.campaign.kind, place.campaign.settings)
    return place.download(text.encode(), f"{place.campaign.id}.yaml", "application/yaml; charset=utf-8")
