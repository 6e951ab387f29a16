"""Data out of a campaign and into it: exports, the data card, imports."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response

from mores.studio.data import imports
from mores.studio.data.card import write_card, write_method
from mores.studio.data.exports import list_exports, list_formats, read_export
from mores.studio.data.snapshot import read_snapshot
from mores.studio.phrase import Phrase, read_phrases
from mores.studio.store.jobs import StudioJob, add_job, cancel_job, confirm_job, list_jobs, read_job
from mores.studio.web.visit import Form, Organising, Place, limited

router = APIRouter(prefix="/c/{campaign}")
SOON = 1.0
"""Seconds after which a page says how far something is, instead of waiting for it."""


@router.get("/data")
def data(place: Organising) -> Response:
    """Show the page for exporting and importing."""
    return _page(place)


def _page(
    place: Place,
    *,
    problem: str = "",
    imported: imports.Imported | None = None,
    made: str = "",
    cancelled: bool = False,
) -> Response:
    campaign = place.campaign
    target = imports.find_import_stage(campaign)
    return place.page(
        "data.html",
        code=422 if problem else 200,
        formats=list_formats(campaign.kind),
        readers=imports.READERS,
        most=imports.MOST_ROWS,
        imported=imported,
        made=made,
        cancelled=cancelled,
        running=list_jobs(place.database, campaign.id),
        kept=list_exports(place.database, campaign),
        target=target,
        columns=imports.list_columns(campaign, target),
        problem=problem,
    )


@router.post("/export", dependencies=[limited("write")])
def export(place: Organising, form: Form) -> Response:
    """Let an export be made and kept; it is sent where it is made soon."""
    return _begin(place, "export", {"format": form.get("format", "folder")})


def _begin(place: Place, kind: str, settings: Mapping[str, str], data: bytes = b"") -> Response:
    """Let something be done, and show what came of it, or how far it is where it takes longer than a page may."""
    campaign, runner = place.campaign.id, place.visit.studio.runner
    job = add_job(place.database, campaign, kind, place.person.id, settings, data)
    runner.wake()
    found = runner.wait(campaign, job, SOON)
    if not (found.over or found.asks):
        return place.go(f"/jobs/{job}")
    return send(found.result["export"], place) if "export" in found.result else _show(place, found)


def _show(place: Place, job: StudioJob) -> Response:
    """Show how far a job is, or what came of it."""
    if not job.over:
        return place.page("job.html", job=job)
    if problem := job.result.get("problem"):
        return _page(place, problem=read_phrases(problem))
    if job.status == "done" and job.kind == "import":
        return _page(place, imported=imports.Imported(**job.result))
    return _page(place, made=job.result.get("export", ""), cancelled=job.status == "cancelled")


@router.get("/jobs/{job}")
def show_job(job: str, place: Organising) -> Response:
    """Show how far a job is; the page loads itself again until it is over."""
    place.visit.studio.runner.wake()  # a process that died may have left it
    return _show(place, read_job(place.database, place.campaign.id, job))


@router.post("/jobs/{job}/cancel")
def cancel(job: str, place: Organising, _form: Form) -> Response:
    """Give a job up."""
    found = read_job(place.database, place.campaign.id, job)
    cancel_job(place.database, found)
    return place.go(f"/jobs/{job}")


@router.post("/jobs/{job}/confirm")
def confirm(job: str, place: Organising, _form: Form) -> Response:
    """Let a file be imported as its columns were read."""
    runner = place.visit.studio.runner
    confirm_job(place.database, read_job(place.database, place.campaign.id, job))
    runner.wake()
    found = runner.wait(place.campaign.id, job, SOON)
    return _show(place, found) if found.over else place.go(f"/jobs/{job}")


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
    settings = {"name": name, "format": form.get("format"), "stage": form.get("stage")}
    return _begin(place, "import", settings | {"sha256": sha256(sent).hexdigest()}, sent)
