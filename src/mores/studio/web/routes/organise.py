"""The organiser's overview: how the campaign stands, its items, what was done in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from mores.studio.data.card import write_method
from mores.studio.data.snapshot import read_snapshot
from mores.studio.data.tables import to_csv
from mores.studio.form import clean
from mores.studio.records import ItemStatus
from mores.studio.store import queries
from mores.studio.store.people import log_action
from mores.studio.store.statistics import Keeper, find_last_event, read_figures
from mores.studio.store.work import draw_sample
from mores.studio.web.routes.health import look
from mores.studio.web.visit import FURTHEST, Form, Organising, limited
from mores.studio.workflow import Recheck, may

router = APIRouter(prefix="/c/{campaign}")
_summaries = Keeper[tuple[Mapping[str, Any], str, int]]()


@router.get("/overview")
def overview(place: Organising) -> Response:
    """Show how far the campaign is, what is stuck, and how far people agree."""
    database, campaign = place.database, place.campaign
    groups = queries.count_groups(database, campaign)
    [every] = queries.tabulate(groups)
    return place.page(
        "overview.html",
        problem=look(place.visit.request),
        every=every,
        forecast=queries.forecast(database, campaign, every),
        statuses=[status.value for status in ItemStatus if status is not ItemStatus.OPEN],
        stuck=queries.find_stuck(database, campaign, groups),
        tables=[(by, rows) for by in ("region", "language") if len(rows := queries.tabulate(groups, by)) > 1],
        figures=read_figures(database, campaign),
        models=queries.count_models(database, campaign),
    )


@router.get("/figures")
def figures(place: Organising) -> Response:
    """Show what the campaign has come to, beside the paper's figures."""
    database, campaign = place.database, place.campaign

    def summarise() -> tuple[Mapping[str, Any], str, int]:
        """Return the kind's figures, the paragraph for a paper, and how many items a sample can be drawn from."""
        snapshot = read_snapshot(database, campaign)
        kind, settings = campaign.kind, campaign.settings
        counted = kind.count(settings) if kind.count else None
        left = 0
        for item in snapshot.read():
            left += may(campaign.flow, item, place.person, Recheck) is None
            if counted is not None:
                counted.add(item)
        found = kind.summarise(settings, snapshot.items) if counted is None else counted.summarise()
        return found, write_method(snapshot), left

    with database.read() as connection:
        version = find_last_event(connection, campaign), campaign.settings.model_dump_json()
    found, paragraph, left = _summaries.get(database, campaign.id, version, summarise)
    return place.page("figures.html", figures=found, paragraph=paragraph, sampling=campaign.flow.sampling, left=left)


@router.post("/sample", dependencies=[limited("write")])
def sample(place: Organising, form: Form) -> Response:
    """Draw a sample of the accepted items, to be judged once more."""
    if place.campaign.flow.sampling is None:
        raise HTTPException(404)
    count = int(min(max(form.number("count"), 0), FURTHEST))
    drawn = draw_sample(place.database, place.campaign, place.person, count)
    log_action(place.database, place.person.id, "drew a sample", str(drawn), place.campaign.id)
    return place.go("/figures")


@router.get("/items")
def items(place: Organising, shown: Annotated[queries.ItemFilter, Query()]) -> Response:
    """Show the campaign's items."""
    start = min(max(shown.start, 0), FURTHEST)
    lines = queries.list_items(place.database, place.campaign, shown, start)
    return place.page("items.html", lines=lines, **shown.model_dump() | {"start": start})


@router.get("/messages")
def messages(place: Organising, start: int = 0) -> Response:
    """Show what people wrote to the organiser beside their answers."""
    start = min(max(start, 0), FURTHEST)
    found = queries.list_messages(place.database, place.campaign, start)
    answered: dict[tuple[str, str], list[queries.Reply]] = {}
    for one in queries.list_replies(place.database, place.campaign):
        answered.setdefault((one.person, one.item), []).insert(0, one)
    return place.page("messages.html", messages=found, replies=answered, start=start, page=queries.PAGE)


@router.post("/messages/reply", dependencies=[limited("write")])
def reply(place: Organising, form: Form) -> Response:
    """Answer somebody who wrote to the organiser; they read it on the page of their work."""
    if text := clean(form.get("text"))[:2000]:
        message = form.get("person"), form.get("item")
        queries.reply(place.database, place.campaign, message, text, place.person.id)
    return place.go("/messages")


@router.get("/messages.csv")
def all_messages(place: Organising) -> Response:
    """Send everything that people wrote to the organiser, with names."""
    rows = [message._asdict() for message in queries.list_messages(place.database, place.campaign, limit=None)]
    table = to_csv([{**row, "at": row["at"].isoformat()} for row in rows], ())
    log_action(place.database, place.person.id, "exported messages", "", place.campaign.id)
    return place.download(table, f"{place.campaign.id}-messages.csv", "text/csv; charset=utf-8")


@router.get("/audit")
def audit(place: Organising, before: int = 0) -> Response:
    """Show who invited, exported, changed settings and roles, the newest first."""
    lines = queries.list_audit(place.database, place.campaign, min(max(before, 0), FURTHEST))
    return place.page("audit.html", lines=lines)
