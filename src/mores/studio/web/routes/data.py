"""What goes out of a campaign and comes into it: exports, the data card, imports."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response

from mores.errors import ConfigError, InputError
from mores.studio.data import imports
from mores.studio.data.card import write_card, write_method
from mores.studio.data.exports import list_exports, list_formats, make_export, read_export
from mores.studio.data.snapshot import read_snapshot
from mores.studio.phrase import Phrase
from mores.studio.web.visit import Form, Organising, Place, limited

router = APIRouter(prefix="/c/{campaign}")


@router.get("/data")
def data(place: Organising) -> Response:
    """Show the page for exporting and importing."""
    return _page(place)


def _page(place: Place, *, problem: str = "", imported: imports.Imported | None = None) -> Response:
    campaign = place.campaign
    target = imports.find_import_stage(campaign)
    return place.page(
        "data.html",
        code=422 if problem else 200,
        formats=list_formats(campaign.kind),
        readers=imports.READERS,
        most=imports.MOST_ROWS,
        imported=imported,
        kept=list_exports(place.database, campaign),
        target=target,
        columns=imports.list_columns(campaign, target),
        problem=problem,
    )


@router.post("/export", dependencies=[limited("write")])
def export(place: Organising, form: Form) -> Response:
    """Make an export, keep it, and send it."""
    try:
        kept = make_export(place.database, place.campaign, form.get("format", "folder"), place.person.id)
    except (ConfigError, InputError) as error:
        return _page(place, problem=error.args[0])
    return send(kept.id, place)


@router.get("/exports/{export}")
def send(export: str, place: Organising) -> Response:
    """Send an export that was made before, byte for byte."""
    form, data = read_export(place.database, place.campaign, export)
    return place.download(data, f"{place.campaign.id}-{form}.zip", "application/zip")


@router.get("/card")
def card(place: Organising) -> Response:
    """Show the data card that an export would have now."""
    return PlainTextResponse(write_card(read_snapshot(place.database, place.campaign)))


@router.get("/method")
def method(place: Organising) -> Response:
    """Show the paragraph for a paper's Method section, as of now."""
    return PlainTextResponse(write_method(read_snapshot(place.database, place.campaign)) + "\n")


@router.post("/import", dependencies=[limited("write")])
def bring_in(place: Organising, form: Form) -> Response:
    """Import items from a file."""
    sent = form.files.get("file", b"")
    name = form.names.get("file", "") or "file"
    if not sent:
        return _page(place, problem=Phrase("Choose a file first."))
    try:
        rows = imports.read_items_files(place.campaign, [(name, sent)], form.get("format"), form.get("stage"))
        imported = imports.import_items(place.database, place.campaign, place.person, rows, sent, form.get("stage"))
    except InputError as error:
        return _page(place, problem=error.args[0])
    return _page(place, imported=imported)
