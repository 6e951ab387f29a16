"""The page of questions by topic."""

from __future__ import annotations

from mores.benchmark.topics import TopicsRun, show_counts
from mores.formatting import show_failures
from mores.report.base.blocks import Block, Section, Table, Text, key
from mores.report.base.charts import Amounts
from mores.report.base.page import Page, render, signatures_section
from mores.report.base.sheet import Cell, Head, Sheet
from mores.report.topics.table import ordered

FAILED = 100
"""Questions without a topic on one page."""


def run_page(run: TopicsRun) -> str:
    """Return the page of a run."""
    manifest = run.manifest
    facts = {"Benchmark": manifest.name, "Model": manifest.model, "Questions": f"{run.counts.total():,}"}
    return render(Page("report bench", "topics", "Questions by topic", run_sections(run), facts))


def run_sections(run: TopicsRun) -> list[Section]:
    """Return how many questions each topic has, and those without one."""
    failures = run.manifest.failures
    counted: list[Block] = [
        Text(f"{show_counts(run.manifest.name, run.counts)}."),
        Amounts("Questions of each topic", ordered(run)),
    ]
    counted += [key(f"Not sorted: {show_failures(failures)}.")] if failures else []
    failed = [(each.id, each.failure.reason) for each in run.labels() if each.failure]
    sheet = Sheet(
        "Questions without a topic",
        [Head(id_) for id_, _ in failed[:FAILED]],
        [Head("why")],
        [[Cell(reason)] for _, reason in failed[:FAILED]],
    )
    more = [key("The others are in topics.jsonl.")] if len(failed) > FAILED else []
    return [
        Section("topics", "Topics", counted),
        Section("without", "Without a topic", [Table(sheet), *more] if failed else []),
        signatures_section([(run.manifest.model, run.signature)]),
    ]
