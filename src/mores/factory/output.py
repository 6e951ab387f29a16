"""A dataset on disk.

| file | contents |
| --- | --- |
| `train`, `dev`, `test` `.jsonl` | one `Gold` record per line |
| the same, `.parquet` | the same as flat columns, the report as JSON |
| `manifest.jsonl` | one `ManifestEntry` per sample: id, split, source, task, kind, group and hash of its record |
| `facts.jsonl` | the correct fact about each of their items, as a corpus to search: one `CorrectFact` per line |
| `card.md`, `card.html` | the data card (`mores build` draws the page) |
| `CANARY` | words by which a copy can be found in a training corpus, from edition 3 on |
| `recipe.json` | the recipe, versions, counts and audits |
| `SHA256SUMS` | of all of these |
"""

from __future__ import annotations

import json
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any, Self

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from mores import __version__
from mores.canary import FILE as CANARY
from mores.canary import make_canary, tell_canary
from mores.culture import language_name, region_name, roll_up
from mores.engine import SILENT, Progress
from mores.factory import sources as datasets
from mores.factory.audit import MOST
from mores.factory.built import Built
from mores.factory.facts import FACTS
from mores.factory.folder import ABOUT, MANIFEST, SUMS, make_entry, sum_of
from mores.factory.gold import Gold
from mores.factory.recipe import BuildRecipe
from mores.factory.split import SPLITS
from mores.formatting import number, show_failures
from mores.io import JsonlWriter, read_records, write_text
from mores.io.private import make_folder, make_part
from mores.types import Sample

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
CHANGES_3 = (
    "BLEnD is asked in 13 languages: a share of the items of each region, which the recipe states, is in its language, "
    "with sentences and texts of several facts in it.",
    "An error is refused if it is an accepted answer, lies in an accepted range of numbers, times, months or weekdays "
    "or between two accepted answers, or breaks the grammar.",
    "Words are balanced one by one: no word is significantly more frequent in wrong or correct texts of a source "
    "(false-discovery rate 5%), and none of 40 or more texts is in twice as many of one kind as of the other.",
    "A logistic regression on words and pairs of words audits the result as well.",
    "Rows of CANDLE and CultureAtlas that are not about the life of people of their country are left out.",
    "A short answer has one of nine wordings as a sentence instead of four, and a sentence may state a wrong answer of "
    "the source.",
    "A soft error by a model has the severity that the model assigns, not the one that it was asked for.",
)
"""The changes from edition 2 to edition 3."""
OF_ERRORS = ("severity", "error type")
"""Tables that count errors; the others count samples."""


class CardTally:
    """Counts that are updated pair by pair."""

    def __init__(self) -> None:
        self.facts = 0
        self.tables: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.splits: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.lengths = {"instruction": array("q"), "text": array("q")}
        self.examples: dict[tuple[str, str, str], Gold] = {}
        """The first of each source, task and kind."""

    def add(self, gold: Gold) -> None:
        sample, source = gold.sample, gold.sample.source or ""
        for table, value in _cells(gold):
            self.tables[table][value] += 1
        self.splits[source][gold.split] += 1
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
    return {
        "recipe": recipe.model_dump(mode="json"),
        "mores": __version__,
        "edition": recipe.edition,
        "changes": CHANGES if recipe.edition == 2 else CHANGES_3,
        "samples": len(built.golds),
        "facts": tally.facts,
        "missing": built.missing,
        **({"failures": built.failures} if built.failures else {}),
        **({"dropped": built.dropped} if built.dropped and recipe.edition > 2 else {}),
        **(
            {
                "repaired": soft.repaired,
                "severities": soft.severities,
                "soft_errors": {name: list(counts) for name, counts in soft.made.items()},
            }
            if (soft := built.softened) and recipe.edition > 2
            else {}
        ),
        **({"validation": built.validation.model_dump()} if built.validation else {}),
        "sources": [_source(name, built, tally, recipe.cap) for name in sorted(built.items)],
        "groups": built.groups.model_dump(),
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
    failed = show_failures(about.get("failures", {}))
    told: dict[str, Any] = {
        "of_errors": OF_ERRORS,
        "failed": failed,
        "validated": tell_validation(about),
        "dropped": {},
        "repaired": {},
        "severities": {},
        "soft_errors": {},
        "canary": "",
        "tell_canary": tell_canary,
    }
    return environment.get_template("card.md.j2").render(told | about)


def tell_validation(about: Mapping[str, Any]) -> str | None:
    """Return the rate of bad samples that people found, or that nobody has looked; None if it does not matter."""
    if (found := about.get("validation")) is None:
        return None
    if not found["judged"]:
        return "Nobody has validated samples of this dataset yet."
    shares = (found["bad"] / found["judged"], found["low"], found["high"])
    rate, low, high = (f"{number(100 * share, 1)}%" for share in shares)
    return (
        f"People judged {found['judged']:,} samples with errors: {found['bad']:,} of them are bad ({rate}, 95% "
        f"interval {low} to {high}), because a majority finds no error at the marked words or nothing about a culture."
    )


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


_OF_SAMPLE = tuple(name for name in Sample.model_fields if name not in ("evidence", "turns", "metadata"))
"""A built sample has no evidence yet, and is no conversation."""
COLUMNS = (*_OF_SAMPLE, "task", "kind", "maker", "answer", "item", "group", "report")
ROWS = 10_000
"""Rows of a Parquet row group."""
_FEW = 500
"""Rows that are kept as Python's objects."""


def write(
    built: Built,
    recipe: BuildRecipe,
    folder: Path,
    progress: Progress = SILENT,
    page: Callable[[dict[str, Any]], str] | None = None,
) -> None:
    """Write all files; the same build gives the same bytes. `page` renders the card as HTML."""
    make_folder(folder)
    tally = CardTally()
    with ExitStack() as stack:
        files: dict[str, _Split] = {split: stack.enter_context(_Split(folder, split)) for split in SPLITS}
        manifest = stack.enter_context(JsonlWriter(folder / MANIFEST))
        for gold in progress.track("writing", built.golds, len(built.golds)):
            line = files[gold.split].write(gold)
            manifest.write(make_entry(gold, line))
            tally.add(gold)
    with JsonlWriter(folder / FACTS) as writer:
        for tally.facts, fact in enumerate(built.facts, 1):
            writer.write(fact)
    about = facts(built, recipe, tally) | {"manifest": sum_of(folder / MANIFEST)}
    beside = []
    if recipe.edition > 2:  # the files of edition 2 are those of 0.2.0
        about["canary"] = make_canary("build", recipe.name, about["manifest"])
        write_text(folder / CANARY, about["canary"] + "\n")
        beside = [CANARY]
    cards = {"card.md": render(about)} | ({"card.html": page(about)} if page else {})
    for name, card in cards.items():
        write_text(folder / name, card)
    write_text(folder / ABOUT, json.dumps(about, indent=2, ensure_ascii=False) + "\n")
    splits = [f"{split}.{kind}" for split in SPLITS for kind in ("jsonl", "parquet")]
    lines = [
        f"{sum_of(folder / name)}  {name}\n" for name in (*splits, MANIFEST, FACTS, *sorted(cards), ABOUT, *beside)
    ]
    write_text(folder / SUMS, "".join(lines))


class _Split:
    """The two files of a split while they are written; they appear when the `with` block ends without an error."""

    def __init__(self, folder: Path, split: str) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._schema = pa.schema([*((name, pa.string()) for name in COLUMNS), ("score", pa.float64())])
        self._jsonl = JsonlWriter(folder / f"{split}.jsonl")
        self._path = folder / f"{split}.parquet"
        self._part = make_part(folder / f".{split}.parquet.part")
        self._parquet = pq.ParquetWriter(self._part, self._schema, compression="zstd")
        self._rows: list[tuple[str | None, ...]] = []
        self._scores = array("d")
        self._tables: list[Any] = []

    def __enter__(self) -> Self:
        self._jsonl.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._jsonl.__exit__(*raised)
        if raised[0] is None:
            self._flush()
        self._parquet.close()
        if raised[0] is None:
            self._part.replace(self._path)
        self._part.unlink(missing_ok=True)

    def write(self, gold: Gold) -> bytes:
        """Add a sample, and return its line."""
        of_gold = gold.task.value, gold.kind, gold.maker, gold.answer, gold.item, gold.group
        self._rows.append((*map(gold.sample.__dict__.__getitem__, _OF_SAMPLE), *of_gold, gold.report.model_dump_json()))
        self._scores.append(sum(error.severity.weight for error in gold.report.errors))
        if len(self._rows) == _FEW:
            self._pack()
        if len(self._tables) * _FEW == ROWS:
            self._flush()
        return self._jsonl.write(gold)

    def _pack(self) -> None:
        import pyarrow as pa

        if self._rows:
            scores = pa.Array.from_buffers(pa.float64(), len(self._scores), [None, pa.py_buffer(self._scores)])
            columns = [*map(_strings, zip(*self._rows, strict=True)), scores]
            self._tables.append(pa.Table.from_arrays(columns, schema=self._schema))
            self._rows.clear()
            self._scores = array("d")

    def _flush(self) -> None:
        import pyarrow as pa

        self._pack()
        if self._tables:
            self._parquet.write_table(pa.concat_tables(self._tables).combine_chunks())
            self._tables.clear()


def _strings(texts: Sequence[str | None]) -> Any:
    """Return a column of texts; `pa.array` would import pandas, where that is installed."""
    import pyarrow as pa

    encoded = [b"" if text is None else text.encode() for text in texts]
    starts = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    is_there = np.packbits([text is not None for text in texts], bitorder="little")
    return pa.StringArray.from_buffers(len(texts), *map(pa.py_buffer, (starts, b"".join(encoded), is_there)))


def read_split(folder: Path, split: str, *, only: str | None = None, without: str | None = None) -> Iterator[Gold]:
    """Yield the pairs of a split: of all sources, only one, or all but one, for leave-one-out evaluation."""
    for gold in read_records(folder / f"{split}.jsonl", Gold):
        if only in (None, gold.sample.source) and (without is None or gold.sample.source != without):
            yield gold
