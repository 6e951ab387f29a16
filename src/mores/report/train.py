"""A training (`mores train`): how well the tuned model decides, and what it was trained on."""

from __future__ import annotations

from collections.abc import Mapping

from mores.formatting import count, duration, number, percent
from mores.report.base.blocks import Section
from mores.report.base.charts import Amounts, IntervalRow, Intervals
from mores.report.base.document import ResultDocument
from mores.report.base.grid import Grid, Row, make_grid
from mores.training.folder import Trained, TrainRun
from mores.training.ground import Grounded
from mores.types import Result


def describe(run: TrainRun) -> ResultDocument:
    """Return the document of a run."""
    return describe_training({run.result.without or "all": run.result})


def describe_training(models: Mapping[str, Trained]) -> ResultDocument:
    """Return scaled accuracy by split and source, the sources, and the signature of each model.

    Models are named by the source that was left out, `all` for none.
    """
    first, several = next(iter(models.values())), len(models) > 1
    facts = {
        "Base": first.base,
        "Trained on": f"{count(first.samples, 'sample')}, {first.tokens:,} tokens in an epoch",
        "Without": first.without or "",
        "Time": f"{duration(sum(each.seconds for each in models.values()))} on {first.device}",
    }
    charts = [
        Intervals(
            f"Scaled accuracy on {split}{f', trained on {_name(name)}' if several else ''}",
            [IntervalRow(source, result) for source, result in results.items()],
            unit="number",
            zero="chance",
        )
        for name, trained in models.items()
        for split, results in trained.decisions.items()
    ]
    samples = [Amounts("Samples", first.sources)] if first.sources else []
    return ResultDocument(
        "training",
        "A tuned metric",
        tables(models),
        [Section("decisions", "Decisions", charts), Section("sources", "Samples of each source", samples)],
        facts={name: value for name, value in facts.items() if value},
        signatures=[(each.base, each.signature) for each in models.values()],
    )


def _name(left_out: str) -> str:
    return "all" if left_out == "all" else f"all but {left_out}"


def tables(trained: Mapping[str, Trained]) -> list[Grid | str]:
    """Return the models, by the source that was left out (`all` for none), by split and source of the samples."""

    def cell(results: Mapping[str, Result], source: str) -> str:
        return number(results[source].value if source in results else None, 3)

    rows = {
        (_name(name), split): results for name, each in trained.items() for split, results in each.decisions.items()
    }
    sources = list(dict.fromkeys(source for results in rows.values() for source in results))
    shown = [(*head, *(cell(results, source) for source in sources)) for head, results in rows.items()]
    columns = ("trained on", "split", *sources)
    lines = [
        f"trained on {name}: scaled accuracy {cell(results, 'all')} on {split}"
        for (name, split), results in rows.items()
    ]
    return [make_grid("scaled accuracy of decisions", columns, shown, words=frozenset({0, 1})), *lines]


def grounded_table(grounded: Grounded) -> Grid:
    """Return how often the fact of a sample's own item is among its evidence, in files where it can be."""
    files = {name: counts for name, counts in grounded.found.items() if counts and not name.endswith("-uncovered")}
    sources = sorted({source for counts in files.values() for source in counts if source != "all"})
    rows: list[Row] = []
    for source in [*sources, "all"]:
        parts = [counts.get(source) for counts in files.values()]
        rows.append((source, *("" if part is None else percent(part.own / part.samples) for part in parts)))
    return make_grid("", ("own fact found", *files), rows)
