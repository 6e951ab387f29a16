"""Questions by topic (`mores topics`) and by tier (`mores tiers`)."""

from __future__ import annotations

from collections.abc import Sequence

from mores.benchmark.labels import Tiers
from mores.benchmark.topics import RegionTopics, TopicsRun, show_counts
from mores.culture import region_name
from mores.formatting import count, percent, show_failures
from mores.report.base.blocks import PageBlock, Paragraph, Section, key
from mores.report.base.charts import Amounts
from mores.report.base.document import ResultDocument
from mores.report.base.grid import Cell, Head, Heat, make_grid, share_cell
from mores.stats.results import share_result

FAILED = 100
"""Questions without a topic on one page."""


def _line(region: RegionTopics, topics: Sequence[str]) -> list[Cell]:
    """Return a region's share of each topic."""
    n = next(iter(region.shares.values())).n
    found = [region.shares.get(topic) or share_result(topic, 0, n) for topic in topics]
    return [Cell(share_cell(share)[0], share.value, share_cell(share)[1], n=n) for share in found]


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
    regions = run.regions()
    places: list[PageBlock] = []
    if len(regions) > 1:
        lead = "The share of each topic among a region’s questions, with 95% intervals. The colour is the share."
        rests = key("A region with fewer than 20 questions has no colour: its shares are rough.")
        named = [name for name in named if any(name in each.shares for each in regions)]
        heat = [
            (Head(region_name(each.region), count(next(iter(each.shares.values())).n)), *_line(each, named))
            for each in regions
        ]
        places = [Paragraph(lead), make_grid("Topics by region", ("region", *named), heat, kind=Heat), rests]
    brief = [
        (region_name(each.region), first.n, first.name, Cell(*share_cell(first)[:1], small=share_cell(first)[1]))
        for each in regions
        for first in list(each.shares.values())[:1]
    ]
    most = make_grid("Most frequent topic by region", ("region", "questions", "topic", "share"), brief)
    return ResultDocument(
        "topics",
        "Questions by topic",
        [make_grid("", ("topic", "questions", "share"), rows), *([most] if len(regions) > 1 else []), headline],
        [
            Section("topics", "Topics", counted),
            Section("regions", "Regions", places),
            Section("without", "Without a topic", without),
        ],
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
