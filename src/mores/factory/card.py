"""The data card: contents, sources, permitted uses and shortcuts of a dataset."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from statistics import median
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from mores import __version__
from mores.culture import language_name, region_name, roll_up
from mores.factory import sources as datasets
from mores.factory.audit import MOST
from mores.factory.build import Built
from mores.factory.gold import Gold
from mores.factory.recipe import EDITION, BuildRecipe
from mores.factory.split import SPLITS

CHANGES = (
    "The cap counts the samples of a source, not its items.",
    "Rules put errors into every answer that is a sentence or fits into one, and texts are composed of several facts; "
    "a text has one to three errors, minor or major by the rule that made each.",
    "Every sample is in manifest.jsonl with the hash of its record, so that two datasets can be compared.",
    "Correct and wrong texts are balanced by words, runs of characters, shape and the letter of an option; three "
    "classifiers of other kinds audit the result.",
    "Items of all sources that are near twins are in one split, and so is a question of BLEnD in all regions.",
    "The same recipe and sources give the same bytes on every processor.",
    "Texts are worded in 33 languages, 20 of them with machine-made templates, and always in their own language.",
    "Exam questions that refer to their options are only asked with them; exams with unsound answer keys are left out.",
    "Tweets and opinions are not among the facts; forum posts have no greetings, links and list numbers.",
)
"""The changes from edition 1 of the data factory to edition 2, for people who have data of both."""
OF_ERRORS = ("severity", "error type")
"""Tables that count errors; the others count samples."""


class CardTally:
    """Counts that are updated pair by pair."""

    def __init__(self) -> None:
        self.facts = 0
        self.tables: dict[str, Counter[str]] = {}
        self.splits: dict[str, Counter[str]] = {}
        self.groups: Counter[str] = Counter()
        self.lengths = {"instruction": array("q"), "text": array("q")}
        self.examples: dict[tuple[str, str, str], Gold] = {}
        """The first of each source, task and kind."""

    def add(self, gold: Gold) -> None:
        sample, source = gold.sample, gold.sample.source or ""
        for table, value in _cells(gold):
            self.tables.setdefault(table, Counter())[value] += 1
        self.splits.setdefault(source, Counter())[gold.split] += 1
        self.groups[gold.group] += 1
        self.lengths["instruction"].append(len(sample.instruction))
        self.lengths["text"].append(len(sample.text))
        self.examples.setdefault((source, gold.task.value, gold.kind), gold)


def _cells(gold: Gold) -> Iterator[tuple[str, str]]:
    yield "split", gold.split
    yield "task", gold.task.value
    yield "kind", gold.kind
    yield "maker", gold.maker
    yield "language of the text", language_name(gold.sample.language) if gold.sample.language else "unknown"
    place, part = roll_up(gold.sample.region) if gold.sample.region else (None, None)
    yield "region", region_name(place) if place else "none"
    if part:
        yield "part of a country", region_name(part)
    if gold.report.errors:
        yield "errors of a text", str(len(gold.report.errors))
    for error in gold.report.errors:
        yield "severity", error.severity.value
        yield "error type", error.type


def facts(built: Built, recipe: BuildRecipe, tally: CardTally) -> dict[str, Any]:
    """Return the contents of the card, as plain data."""
    largest = min(tally.groups, key=lambda group: (-tally.groups[group], group), default="")
    return {
        "recipe": recipe.model_dump(mode="json"),
        "mores": __version__,
        "edition": EDITION,
        "changes": CHANGES,
        "samples": len(built.golds),
        "facts": tally.facts,
        "missing": built.missing,
        "sources": [_source(name, built, tally, recipe.cap) for name in sorted(built.items)],
        "groups": {"count": len(tally.groups), "largest": largest, "samples": tally.groups[largest]},
        "tables": {
            name: dict(sorted(rows.items(), key=lambda row: (-row[1], row[0]))) for name, rows in tally.tables.items()
        },
        "length": {side: median(values) if values else 0 for side, values in tally.lengths.items()},
        "shortcut": {name: shortcut.model_dump() for name, shortcut in built.shortcuts.items()},
        "paper_shortcut": {name: shortcut.model_dump() for name, shortcut in built.paper_shortcuts.items()},
        "audits": {
            name: {part: shortcut.model_dump() for part, shortcut in parts.items()}
            for name, parts in built.audits.items()
        },
        "audited": MOST,
        "grouping": built.grouping.model_dump(),
        "examples": [tally.examples[key].model_dump(mode="json") for key in sorted(tally.examples)],
    }


def render(about: dict[str, Any]) -> str:
    """Return the card in Markdown."""
    loader = PackageLoader("mores.factory", "cards")
    environment = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.get_template("card.md.j2").render(about | {"of_errors": OF_ERRORS})


def _source(name: str, built: Built, tally: CardTally, cap: int) -> dict[str, Any]:
    source = datasets.source(name) if name in datasets.names() else None
    splits = tally.splits.get(name, Counter())
    return {
        "name": name,
        "title": source.title if source else "your own items",
        "licence": source.licence if source else "as stated by their owner",
        "commercial": source.commercial if source else None,
        "revision": built.revisions[name],
        "items": built.items[name],
        "samples": splits.total(),
        "cap": cap,
        "bad": built.bad[name],
        "lost": built.lost.get(name, 0),
        **{split: splits[split] for split in SPLITS},
    }
