"""Questions by topic (`mores topics`) and by tier (`mores tiers`)."""

from __future__ import annotations

from mores.benchmark.labels import Tiers
from mores.benchmark.topics import TopicsRun, show_counts
from mores.formatting import count, percent, show_failures
from mores.report.base.blocks import PageBlock, Paragraph, Section, key
from mores.report.base.charts import Amounts
from mores.report.base.document import ResultDocument
from mores.report.base.grid import make_grid

FAILED = 100
"""Questions without a topic on one page."""


def describe(run: TopicsRun) -> ResultDocument:
    """Return how many questions each topic has, the largest first, and those without one."""
    manifest, counts, total = run.manifest, run.counts, run.counts.total()
    named = sorted((topic for topic in counts if topic), key=lambda topic: -counts[topic])
    ordered = {topic or "not sorted": counts[topic] for topic in [*named, ""]}
    rows = [(name, n, percent(n / total if total else None)) for name, n in ordered.items()]
    headline = show_counts(manifest.name, counts)
    counted: list[PageBlock] = [Paragraph(f"{headline}."), Amounts("Questions of each topic", ordered)]
    counted += [key(f"Not sorted: {show_failures(manifest.failures)}.")] if manifest.failures else []
    failed = [(each.id, each.failure.reason) for each in run.labels() if each.failure]
    without: list[PageBlock] = []
    if failed:
        without.append(
            make_grid("Questions without a topic", ("question", "why"), failed[:FAILED], words=frozenset({0, 1}))
        )
    if len(failed) > FAILED:
        without.append(key("The others are in topics.jsonl."))
    return ResultDocument(
        "topics",
        "Questions by topic",
        [make_grid("", ("topic", "questions", "share"), rows), headline],
        [Section("topics", "Topics", counted), Section("without", "Without a topic", without)],
        facts={"Benchmark": manifest.name, "Model": manifest.model, "Questions": count(total)},
        signatures=[(manifest.model, run.signature)],
    )


def describe_tiers(tiers: Tiers) -> ResultDocument:
    """Return how many questions each tier has."""
    counts = ", ".join(f"{number:,} {tier}" for tier, number in tiers.counts.items())
    line = f"{counts}; {tiers.without:,} without a tier; from {tiers.answers} answers to each question"
    rows = {**tiers.counts, "without a tier": tiers.without}
    body = [Amounts("Questions of each tier", rows), make_grid("Tiers", ("tier", "questions"), rows.items())]
    return ResultDocument("tiers", "Questions by tier", [line], [Section("tiers", "Tiers", body)])
