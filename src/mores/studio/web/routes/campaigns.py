"""Making a campaign from a template or a YAML file, and changing its settings."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from mores.errors import InputError
from mores.studio.campaigns import REGISTRY, all_kinds, open_kind
from mores.studio.kind import Kind, Settings
from mores.studio.phrase import Phrase
from mores.studio.records import Role
from mores.studio.setup import dump_campaign, read_settings_form, settings_form, show_settings
from mores.studio.store.campaigns import SettingsError, change_settings, make_campaign, parse_campaign, set_open
from mores.studio.store.people import add_member, record
from mores.studio.web.visit import Form, Organising, Place, Posted, SignedIn, Visit, limited

HARMLESS = ("", "none", "embedded")
"""Models that anybody may name, besides those on a server."""
router = APIRouter()
LONGEST_YAML = 1_000_000


def _organiser(visit: Visit) -> str:
    """Return who makes campaigns; for everybody else there is no such page."""
    if visit.account is None or not visit.account.organises:
        raise HTTPException(404)
    return visit.account.id


@router.get("/campaigns/new")
def new(visit: SignedIn, kind: str = "") -> Response:
    """The kinds of campaign, or the form of one."""
    _organiser(visit)
    if not kind:
        return visit.page("new_campaign.html", kinds=all_kinds(), problem="", text="")
    chosen = _kind(kind)
    return _form(visit, chosen, show_settings(chosen.settings.model_construct(title="")), {})


def _kind(name: str) -> Kind[Any]:
    if name not in REGISTRY.names():
        raise HTTPException(404)
    return open_kind(name)


def _form(visit: Visit, kind: Kind[Any], values: dict[str, Any], problems: dict[str, str]) -> Response:
    code = 422 if problems else 200
    return visit.page(
        "new_settings.html", code=code, kind=kind, form=settings_form(kind), values=values, problems=problems
    )


@router.post("/campaigns", dependencies=[limited("write")])
def make(visit: SignedIn, form: Form) -> Response:
    """Make a campaign from the form, or from YAML that was pasted or sent as a file."""
    organiser = _organiser(visit)
    if form.get("kind"):
        kind = _kind(form.get("kind"))
        try:
            settings = read_settings_form(kind, form.values)
            refuse_files(kind, settings)
        except SettingsError as error:
            return _form(visit, kind, form.lists, error.problems)
    else:
        try:
            kind, settings = _read_yaml(form)
            refuse_files(kind, settings)
        except InputError as error:
            text = form.get("yaml")
            return visit.page("new_campaign.html", code=422, kinds=all_kinds(), problem=error.args[0], text=text)
    campaign = make_campaign(visit.database, kind, settings, model=visit.studio.model)
    add_member(visit.database, campaign, organiser, Role.ORGANISER)
    with visit.database.write() as connection:
        record(connection, organiser, "made the campaign", kind.name, campaign.id)
    return visit.go(f"/c/{campaign.id}/overview")


def refuse_files(kind: Kind[Any], settings: Settings, before: Settings | None = None) -> None:
    """SettingsError where a setting names a file of the server that it did not name before: it would show the file."""
    kept = _files(kind, before) if before else {}
    named = [name for name, value in _files(kind, settings).items() if kept.get(name) != value]
    if named:
        reason = Phrase("Files of the server can only be named there: ask the person who runs it to make the campaign.")
        raise SettingsError("campaign", dict.fromkeys(named, reason))


def _files(kind: Kind[Any], settings: Settings) -> dict[str, str]:
    """Return the settings that name files of the server.

    Among models only those on a server and the embedded one do not.
    """
    models = (settings.model, *kind.models(settings))
    local = sorted(name for name in set(models) if name not in HARMLESS and not name.startswith("openai:"))
    return dict(kind.on_server(settings)) | ({"model": ", ".join(local)} if local else {})


def _read_yaml(form: Posted) -> tuple[Kind[Any], Settings]:
    data = form.files.get("file") or form.get("yaml").encode()
    if len(data) > LONGEST_YAML:
        template = "The file has {size} bytes; a campaign has at most {most}."
        raise InputError(Phrase(template, size=len(data), most=LONGEST_YAML))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("The file is not UTF-8. Save it as UTF-8.") from error
    return parse_campaign(text, "campaign")


@router.get("/c/{campaign}/settings")
def settings(place: Organising, saved: bool = False) -> Response:
    """The campaign's settings."""
    return _settings(place, show_settings(place.campaign.settings), {}, saved=saved)


def _settings(place: Place, values: dict[str, Any], problems: dict[str, str], *, saved: bool = False) -> Response:
    form = settings_form(place.campaign.kind)
    code = 422 if problems else 200
    return place.page("settings.html", code=code, form=form, values=values, problems=problems, saved=saved)


@router.post("/c/{campaign}/settings", dependencies=[limited("write")])
def change(place: Organising, form: Form) -> Response:
    """Change the settings."""
    try:
        changed = read_settings_form(place.campaign.kind, form.values)
        refuse_files(place.campaign.kind, changed, place.campaign.settings)
    except SettingsError as error:
        return _settings(place, form.lists, error.problems)
    before = place.campaign.settings
    names = [name for name in type(changed).model_fields if getattr(before, name) != getattr(changed, name)]
    if names:
        change_settings(place.visit.database, place.campaign, changed)
        _record(place, "changed settings", ", ".join(names))
    return place.go("/settings?saved=1")


@router.post("/c/{campaign}/open", dependencies=[limited("write")])
def open_or_close(place: Organising, form: Form) -> Response:
    """Close the campaign, or open it again."""
    is_open = form.get("open") == "yes"
    set_open(place.visit.database, place.campaign, is_open)
    _record(place, "opened the campaign" if is_open else "closed the campaign", "")
    return place.go("/settings")


def _record(place: Place, action: str, detail: str) -> None:
    with place.visit.database.write() as connection:
        record(connection, place.person.id, action, detail, place.campaign.id)


@router.get("/c/{campaign}/settings.yaml")
def download(place: Organising) -> Response:
    """The settings as a file from which the campaign can be made again."""
    text = dump_campaign(place.campaign.kind, place.campaign.settings)
    headers = {"Content-Disposition": f'attachment; filename="{place.campaign.id}.yaml"'}
    return Response(text, media_type="application/yaml; charset=utf-8", headers=headers)
