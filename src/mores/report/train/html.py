"""The page of a training: how well the tuned model decides, and what it was trained on."""

from __future__ import annotations

from mores.formatting import count, duration
from mores.report.base.blocks import Section
from mores.report.base.charts import Amounts, Intervals, Row
from mores.report.base.page import Page, render, signatures_section
from mores.training.folder import TrainRun
from mores.training.records import Trained


def page(trained: Trained) -> str:
    """Return the whole page."""
    facts = {
        "Base": trained.base,
        "Trained on": f"{count(trained.samples, 'sample')}, {trained.tokens:,} tokens in an epoch",
        "Without": trained.without or "",
        "Time": f"{duration(trained.seconds)} on {trained.device}",
    }
    shown = {name: value for name, value in facts.items() if value}
    return render(Page("report bench", "training", "A tuned metric", sections(trained), shown))


def sections(trained: Trained) -> list[Section]:
    """Scaled accuracy by split and source, the sources, and the signature."""
    charts = [
        Intervals(
            f"Scaled accuracy on {split}",
            [Row(source, result) for source, result in results.items()],
            unit="number",
            zero="chance",
        )
        for split, results in trained.decisions.items()
    ]
    return [
        Section("decisions", "Decisions", charts),
        Section("sources", "Samples of each source", [Amounts("Samples", trained.sources)] if trained.sources else []),
        signatures_section([(trained.base, trained.signature)]),
    ]


def run_sections(run: TrainRun) -> list[Section]:
    """Return the charts and tables of its page."""
    return sections(run.result)


def run_page(run: TrainRun) -> str:
    """Return the page of a run."""
    return page(run.result)
