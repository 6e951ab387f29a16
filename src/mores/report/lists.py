"""Lists of what there is: runs in a folder, and datasets that training data are made from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mores.factory.sources import COUNTS
from mores.formatting import count
from mores.report.base.grid import Grid, make_grid
from mores.run import Run
from mores.settings import Value


def runs_table(runs: Sequence[Run]) -> Grid:
    """Return what each run is, how far it has come, and its result."""
    manifests = [(str(run.path), run.manifest) for run in runs]
    rows = [(path, each.kind, each.status.value, each.headline or each.error) for path, each in manifests]
    columns = ("folder", "kind", "status", "result")
    return make_grid("", columns, rows, count(len(rows), "run"), words=frozenset(range(4)))


def sources_table(sources: Sequence[dict[str, Any]]) -> Grid:
    """Descriptions of sources (`mores.factory.sources.describe`), with what is counted of each where it was."""
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


def settings_table(name: str, values: Sequence[Value]) -> Grid:
    """Return the settings of a command, with where each comes from."""
    rows = [(each.name, None if each.value is None else str(each.value), each.origin) for each in values]
    return make_grid(f"Settings of {name}", ("setting", "value", "from"), rows, words=frozenset(range(3)))
