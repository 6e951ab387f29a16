"""Lists of what there is: runs in a folder, datasets that training data are made from, and settings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import MISSING
from typing import Any

from mores.factory.sources import COUNTS
from mores.formatting import count
from mores.report.base.grid import Grid, make_grid
from mores.report.settings import ConfigSettings
from mores.run import Run
from mores.settings import declared, resolve_values, settings_of
from mores.settings.files import redact, settings_files, user_file
from mores.settings.records import load_record


def runs_table(runs: Sequence[Run]) -> Grid:
    """Return what each run is, how far it has come, and its result."""
    manifests = [(str(run.path), run.manifest) for run in runs]
    rows = [(path, each.kind, each.status.value, each.headline or each.error) for path, each in manifests]
    columns = ("folder", "kind", "status", "result")
    return make_grid("", columns, rows, count(len(rows), "run"), words=frozenset(range(4)))


def sources_table(sources: Sequence[dict[str, Any]]) -> Grid:
    """Return sources (`mores.factory.sources.describe`), with what is counted of each where it was."""
    counted = any("items" in source for source in sources)
    rows = []
    for source in sources:
        licence = source["licence"] if source["commercial"] else f"{source['licence']} *"
        if counted:
            more = [source[name] for name in COUNTS]
        else:
            place = f"Hub: {source['hub']}" if source["hub"] else str(source["from"]).removeprefix("https://")
            more = [source["stands_in_for"] or "", place]
        rows.append((source["name"], source["task"], licence, *more))
    columns = ("name", "task", "licence", *(COUNTS if counted else ("for", "from")))
    free = sum(source["commercial"] for source in sources)
    note = f"{len(sources)} datasets, {free} of them also for commercial use (* is not)"
    return make_grid("", columns, rows, note, words=frozenset(range(3 if counted else 5)))


def describe_settings(settings: ConfigSettings) -> tuple[dict[str, Any], list[Grid | str]]:
    """Return the settings of a command, with where each comes from, and the named models: as data, and as tables."""
    given = {name: value for name in ("config", "model") if (value := getattr(settings, name)) is not None}
    record = load_record(settings.of)
    offered = {entry.name for entry in settings_of(record) if declared(entry).command}
    values = [each for each in resolve_values(record, given) if each.name in offered and each.value is not MISSING]
    files = settings_files(settings.config)
    models = {name: redact(table) for file in reversed(files) for name, table in file.table("models").items()}
    shown = {value.name: {"value": str(value.value), "from": value.origin} for value in values}
    rows = [(each.name, None if each.value is None else str(each.value), each.origin) for each in values]
    table = make_grid(f"Settings of {settings.of}", ("setting", "value", "from"), rows, words=frozenset(range(3)))
    named = [f"model {name}: " + ", ".join(f"{key} = {it}" for key, it in of.items()) for name, of in models.items()]
    read = "files: " + (", ".join(str(file.path) for file in files) or f"none; yours would be {user_file()}")
    return json.loads(json.dumps({"settings": shown, "models": models}, default=str)), [table, *named, read]
