"""How well tuned models decide, in the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from mores.formatting import number, percent
from mores.report.base.grid import Grid, Row
from mores.training.folder import TrainRun
from mores.training.ground import Grounded
from mores.training.records import Trained
from mores.types import Result


def run_tables(run: TrainRun) -> list[Grid | str]:
    """Return what is printed about a run."""
    return tables({run.result.without or "all": run.result})


def tables(trained: Mapping[str, Trained]) -> list[Grid | str]:
    """Return the models, by the source that was left out (`all` for none), by split and source of the samples."""
    rows = {
        ("all" if name == "all" else f"all but {name}", split): results
        for name, each in trained.items()
        for split, results in each.decisions.items()
    }
    sources = list(dict.fromkeys(source for results in rows.values() for source in results))
    shown = [(*head, *(_cell(results, source) for source in sources)) for head, results in rows.items()]
    columns = ("trained on", "split", *sources)
    grid = Grid(columns, [("", shown)], "scaled accuracy of decisions", words=frozenset({0, 1}))
    lines = [
        f"trained on {name}: scaled accuracy {_cell(results, 'all')} on {split}"
        for (name, split), results in rows.items()
    ]
    return [grid, *lines]


def _cell(results: Mapping[str, Result], source: str) -> str:
    return number(results[source].value if source in results else None, 3)


def grounded_table(grounded: Grounded) -> Grid:
    """Return how often the fact of a sample's own item is among its evidence, in files where it can be."""
    files = {name: counts for name, counts in grounded.found.items() if counts and not name.endswith("-uncovered")}
    sources = sorted({source for counts in files.values() for source in counts if source != "all"})
    rows: list[Row] = []
    for source in [*sources, "all"]:
        parts = [counts.get(source) for counts in files.values()]
        rows.append((source, *("" if part is None else percent(part.own / part.samples) for part in parts)))
    return Grid(("own fact found", *files), [("", rows)])
