"""The sections of the page for a dataset's card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from mores.culture import language_name, region_name
from mores.factory.card import OF_ERRORS
from mores.factory.gold import Gold
from mores.formatting import count, number
from mores.report.base.blocks import Block, Fold, Frame, Heat, Notes, Section, Signatures, Table, Text, key
from mores.report.base.charts import Amounts
from mores.report.base.marks import Marked, mark
from mores.report.base.names import look_up
from mores.report.base.page import Page, render
from mores.report.base.sheet import Cell, Head, Sheet

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

COMPARED = "Data of edition 1 and of edition 2 cannot be compared sample by sample."


def page(about: Mapping[str, Any]) -> str:
    """Return the whole page of what `mores.factory.card.facts` found."""
    facts = {
        "Samples": f"{about['samples']:,}",
        "Facts": f"{about['facts']:,}",
        "Sources": str(len(about["sources"])),
        "Built by": f"Mores {about['mores']}",
        "Edition": f"{about['edition']} of the data factory",
    }
    missing = ", ".join(about["missing"])
    warning = f"Missing when this was built: {missing}." if missing else None
    return render(Page("report bench data", "data card", about["recipe"]["name"], sections(about), facts, warning))


def sections(about: Mapping[str, Any]) -> list[Section]:
    """Return what the card says."""
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
    tables = {_counted(name): rows for name, rows in about["tables"].items() if rows}
    short = [Amounts(name, rows) for name, rows in tables.items() if len(rows) <= OPEN]
    folded = [Fold(f"{n} ({len(rows)})", [Amounts(n, rows)]) for n, rows in tables.items() if len(rows) > OPEN]
    examples = [_example(place, Gold.model_validate(example)) for place, example in enumerate(about["examples"])]
    return [
        Section("sources", "Sources", [Text(PAIRS), Table(_source_sheet(about["sources"])), key(licence),
                                       Fold("Revisions", [key(revisions), Signatures(named)])]),
        Section("shortcuts", "Shortcuts", [Text(SHORTCUT), Heat(_shortcut_sheet(about))]),
        Section("splits", "Splits", [Text(splits)]),
        Section("counts", "Counts", [Text(f"Median length in characters: {lengths}."), Frame(short), *folded]),
        Section("edition", f"New in edition {about['edition']}", [Notes(about["changes"]), key(COMPARED)]),
        Section("examples", "Examples", [Text("The first sample of each source, task and kind."), *examples]),
    ]  # fmt: skip


def _counted(table: str) -> str:
    """Return the title of a table of counts; those of errors say so, and the others count samples."""
    return f"{table.capitalize()} (errors)" if table in OF_ERRORS else table.capitalize()


def _source_sheet(sources: list[dict[str, Any]]) -> Sheet:
    rows = [Head(source["name"], source["title"]) for source in sources]
    cells = [
        [
            Cell(source["licence"], small="not for commercial use" if source["commercial"] is False else ""),
            *(Cell(f"{source[name]:,}") for name in COUNTED),
        ]
        for source in sources
    ]
    return Sheet("Sources", rows, [Head("licence"), *map(Head, COUNTED.values())], cells)


def _shortcut_sheet(about: Mapping[str, Any]) -> Sheet:
    columns = {"this dataset": about["shortcut"], "the paper’s sampling": about["paper_shortcut"]} | about["audits"]
    cells = [[_accuracy(audits[name]) for audits in columns.values()] for name in about["shortcut"]]
    rows = [Head(name, f"n {audit['n']:,}") for name, audit in about["shortcut"].items()]
    return Sheet("Shortcut audit", rows, list(map(Head, columns)), cells)


def _accuracy(audit: Mapping[str, Any]) -> Cell:
    return Cell(number(audit["value"], 3), audit["value"], small=f"± {number(audit['error'], 3)}", n=audit["n"])


@dataclass(frozen=True)
class Example(Block):
    """One sample with the errors of its gold report."""

    template: ClassVar[str] = "card/cards.html.j2"
    marked: Marked
    kind: str
    places: list[str]


def _example(place: int, gold: Gold) -> Example:
    sample = gold.sample
    places = [look_up(language_name, sample.language), look_up(region_name, sample.region), gold.task.value]
    return Example(mark(place, sample, gold.report.errors), gold.kind, [name for name in places if name])
