"""What `mores topics` prints."""

from __future__ import annotations

from mores.benchmark.topics import TopicsRun, show_counts
from mores.formatting import percent
from mores.report.base.grid import Grid

NONE = "not sorted"


def run_tables(run: TopicsRun) -> list[Grid | str]:
    """Return how many questions have each topic."""
    counts, total = run.counts, run.counts.total()
    rows = [(name, f"{n:,}", percent(n / total if total else None)) for name, n in ordered(run).items()]
    return [Grid(("topic", "questions", "share"), [("", rows)]), show_counts(run.manifest.name, counts)]


def ordered(run: TopicsRun) -> dict[str, int]:
    """Return the topics with their numbers of questions, the largest first and those without one last."""
    named = sorted((topic for topic in run.counts if topic), key=lambda topic: -run.counts[topic])
    return {topic or NONE: run.counts[topic] for topic in [*named, ""]}
