"""The jobs of a campaign: an export that is made and kept, a file that is imported."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from mores.io.columns import TableReport
from mores.studio.data.exports import make_export
from mores.studio.data.imports import LOOKED_AT, import_items, read_items_files
from mores.studio.store.campaigns import open_campaign
from mores.studio.store.database import Database
from mores.studio.store.jobs import ASKS, StudioJob, Work
from mores.studio.store.people import find_member
from mores.studio.workflow import Refused


def list_work(model: str) -> Mapping[str, Work]:
    """Return what does each kind of job; `model` answers what people ask unless a campaign says otherwise."""
    return {"export": partial(_export, model), "import": partial(_import, model)}


def _export(model: str, database: Database, job: StudioJob, _data: bytes) -> dict[str, Any]:
    campaign = open_campaign(database, job.campaign, model)
    return {"export": make_export(database, campaign, job.settings["format"], job.made_by).id}


def _import(model: str, database: Database, job: StudioJob, data: bytes) -> dict[str, Any]:
    campaign = open_campaign(database, job.campaign, model)
    member = find_member(database, campaign, job.made_by or "")
    if member is None:
        raise Refused("You are not in this campaign any more.")
    stage = job.settings["stage"]
    reports: list[TableReport] = []
    rows = read_items_files(campaign, [(job.settings["name"], data)], job.settings["format"], stage, reports.append)
    read = [(ours, " / ".join(names)) for each in reports for ours, names in each.columns.items()]
    unread = [name for each in reports for name in each.unread]
    if (unread or any(ours != theirs for ours, theirs in read)) and not job.settings.get("confirmed"):
        return {ASKS: {"read": read, "unread": unread[:LOOKED_AT], "items": len(rows)}}
    return import_items(database, campaign, member.person, rows, data, stage)._asdict()
