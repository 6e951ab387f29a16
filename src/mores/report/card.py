"""The card of a dataset (`mores build`): what is in it, where it comes from, its shortcuts, and examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mores.culture import language_name, region_name
from mores.factory.folder import BuildRun, DatasetDifference
from mores.factory.gold import Gold
from mores.factory.output import OF_ERRORS, tell_validation
from mores.formatting import count, number, show_failures
from mores.report.base.blocks import Fold, Frame, Notes, PageBlock, Paragraph, Section, Signatures, key
from mores.report.base.charts import Amounts
from mores.report.base.document import ResultDocument
from mores.report.base.grid import Cell, Grid, Head, Heat, Row, make_grid
from mores.report.base.marks import MarkedSample, mark
from mores.report.base.names import look_up
from mores.report.base.page import render_page

COUNTED = {
    "items": "items", "bad": "bad rows", "samples": "samples", "train": "train", "dev": "dev", "test": "test",
    "lost": "left out",
}  # fmt: skip
"""What is counted of each source, and what the columns are called."""
OPEN = 12
"""A table of counts with more rows is folded away."""
PAIRS = (
    "Instruction–text pairs with gold error reports: half of them are culturally correct, half have errors. "
    "facts.jsonl says what is correct about each item that they were made of, as a corpus to search."
)
SHORTCUT = (
    "How well a classifier that sees the text alone tells correct from wrong: scaled accuracy, where 0 is chance, "
    "cross-validated by item, with its standard error. The paler a cell, the less a metric can learn without reading "
    "the instruction. The first two columns are the guesser that the dataset was balanced with; nothing was balanced "
    "with the others."
)

COMPARED = "Data of edition {} and of edition {} cannot be compared sample by sample."
SHOWN = 5
"""Samples that are named of those added, removed or changed."""


def describe(run: BuildRun) -> ResultDocument:
    """Return the card of a dataset that was built."""
    return describe_card(run.about, run.manifest.headline)


def page(about: Mapping[str, Any]) -> str:
    """Return the page of what `mores.factory.output.facts` found."""
    return render_page(describe_card(about))


def describe_card(about: Mapping[str, Any], headline: str = "") -> ResultDocument:
    """Return the sources, their shortcuts, the splits, counts, what is new, and examples."""
    missing, failed = ", ".join(about["missing"]), show_failures(about.get("failures", {}))
    lacking = [f"Missing when this was built: {missing}."] if missing else []
    lacking += [f"Soft errors that the model failed to make: {failed}."] if failed else []
    dropped = [f"{n:,}: {reason}" for reason, n in about.get("dropped", {}).items()]
    validated = tell_validation(about)
    looked = [Section("validation", "Validation", [Paragraph(validated)])] if validated else []
    looked += [Section("dropped", "Dropped soft errors", [Notes(dropped)])] if dropped else []
    repaired = [f"{n:,}: {reason}" for reason, n in about.get("repaired", {}).items()]
    looked += [Section("repaired", "Repaired answers", [Notes(repaired)])] if repaired else []
    severities = [f"{n:,}: {reason}." for reason, n in about.get("severities", {}).items()]
    looked += [Section("severities", "Severity by the model", [Notes(severities)])] if severities else []
    softened = [(name, made, asked) for name, (made, asked) in about.get("soft_errors", {}).items()]
    table = make_grid("", ("source", "made", "asked for"), softened)
    looked += [Section("soft", "Soft errors by a model", [table])] if softened else []
    named = [(source["name"], source["revision"]) for source in about["sources"]]
    named.append(("manifest.jsonl", f"sha256:{about['manifest']}"))
    revisions = (
        "The Hub’s commit of each source, or the SHA-256 sum of the local files. The sum of manifest.jsonl, which "
        "lists every sample, names this dataset."
    )
    licence = (
        f"At most {about['recipe']['cap']:,} samples of a source are used. Left out: samples that balancing removed. "
        "Each source keeps its licence; the whole may be used only as all of them allow."
    )
    groups, grouping = about["groups"], about["grouping"]
    splits = (
        "Samples of one group are in one split: those of items that share a unit of their source, a question or half "
        f"of their distinctive wording. There are {count(groups['count'], 'group')}; the largest has "
        f"{count(groups['samples'], 'sample')}. {grouping['twins']:,} of {count(grouping['tested'], 'test item')} "
        "have a near twin in training."
    )
    lengths = ", ".join(f"{side} {number(about['length'][side], 0)}" for side in ("instruction", "text"))
    counts = {
        f"{name.capitalize()} (errors)" if name in OF_ERRORS else name.capitalize(): rows
        for name, rows in about["tables"].items()
        if rows
    }
    short = [Amounts(name, rows) for name, rows in counts.items() if len(rows) <= OPEN]
    folded = [Fold(f"{n} ({len(rows)})", [Amounts(n, rows)]) for n, rows in counts.items() if len(rows) > OPEN]
    examples = []
    for place, gold in enumerate(map(Gold.model_validate, about["examples"])):
        sample, marked = gold.sample, mark(place, gold.sample, gold.report.errors)
        places = (look_up(language_name, sample.language), look_up(region_name, sample.region), gold.task.value)
        examples.append(ExampleCard(marked, gold.kind, [name for name in places if name]))
    changes = [Notes(about["changes"]), key(COMPARED.format(about["edition"] - 1, about["edition"]))]
    origin = Fold("Revisions", [key(revisions), Signatures(named)])
    return ResultDocument(
        "data card",
        about["recipe"]["name"],
        [*_printed(about), *([validated] if validated else []), headline],
        [
            Section("sources", "Sources", [Paragraph(PAIRS), _sources(about["sources"]), key(licence), origin]),
            Section("shortcuts", "Shortcuts", [Paragraph(SHORTCUT), _shortcuts(about)]),
            *looked,
            Section("splits", "Splits", [Paragraph(splits)]),
            Section("counts", "Counts", [Paragraph(f"Median length in characters: {lengths}."), Frame(short), *folded]),
            Section("edition", f"New in edition {about['edition']}", changes),
            Section("examples", "Examples", [Paragraph("The first sample of each source, task and kind."), *examples]),
        ],
        facts={
            "Samples": count(about["samples"]),
            "Facts": count(about["facts"]),
            "Sources": str(len(about["sources"])),
            "Built by": f"Mores {about['mores']}",
            "Edition": f"{about['edition']} of the data factory",
        },
        warning=" ".join(lacking) or None,
        look="report bench data",
    )


def _printed(about: Mapping[str, Any]) -> list[Grid]:
    """Return the sources with how well a classifier does that sees the text alone, and the classifiers."""
    rows: list[Row] = []
    sources = {source["name"]: source for source in about["sources"]}
    for name, shortcut in about["shortcut"].items():
        source, paper = sources.get(name, {}), about["paper_shortcut"][name]
        counts = (source.get("items"), source.get("bad"), shortcut["n"], source.get("lost"))
        rows.append((name, *("" if n is None else n for n in counts), _accuracy(shortcut), _accuracy(paper)))
    columns = ("source", "items", "bad", "samples", "left out", "shortcut", "paper's")
    audits = about["audits"]
    checks = [(name, *(_accuracy(results[name]) for results in audits.values())) for name in about["shortcut"]]
    return [make_grid("", columns, rows), make_grid("", ("source", *audits), checks)]


def _sources(sources: Sequence[Mapping[str, Any]]) -> Grid:
    rows = [
        (
            Head(source["name"], source["title"]),
            Cell(source["licence"], small="not for commercial use" if source["commercial"] is False else ""),
            *(source[name] for name in COUNTED),
        )
        for source in sources
    ]
    return make_grid("Sources", ("source", "licence", *COUNTED.values()), rows)


def _shortcuts(about: Mapping[str, Any]) -> Grid:
    columns = {"this dataset": about["shortcut"], "the paper’s sampling": about["paper_shortcut"]} | about["audits"]
    rows = [
        (Head(name, f"n {audit['n']:,}"), *(_accuracy(audits[name]) for audits in columns.values()))
        for name, audit in about["shortcut"].items()
    ]
    return make_grid("Shortcut audit", ("source", *columns), rows, kind=Heat)


def _accuracy(audit: Mapping[str, Any]) -> Cell:
    return Cell(number(audit["value"], 3), audit["value"], small=f"± {number(audit['error'], 3)}", n=audit["n"])


class ExampleCard(PageBlock, template="cards/build.html.j2"):
    """One sample with the errors of its gold report."""

    marked: MarkedSample
    kind: str
    places: Sequence[str]


def difference_tables(differences: Sequence[DatasetDifference]) -> list[Grid | str]:
    """Return how many samples of each source differ, the first of them, and the sum."""
    columns = ("source", "same", "added", "removed", "changed", "in another split")
    rows = [
        (part.source, part.same, *map(len, (part.added, part.removed, part.changed, part.moved)))
        for part in differences
    ]
    table, whole = make_grid("", columns, rows), differences[-1]
    if whole.is_empty:
        return [table, f"the same {count(whole.same, 'sample')}"]
    lists = {"added": whole.added, "removed": whole.removed, "changed": whole.changed}
    named = [
        f"{what}: {', '.join(ids[:SHOWN])}{f' and {len(ids) - SHOWN:,} more' if len(ids) > SHOWN else ''}"
        for what, ids in lists.items()
        if ids
    ]
    sums = ", ".join(f"{len(ids):,} {what}" for what, ids in lists.items())
    return [table, *named, f"{sums}; {whole.same:,} the same"]
