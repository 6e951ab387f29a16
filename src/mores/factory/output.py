"""A dataset on disk, and the check of one.

| file | what |
| --- | --- |
| `train`, `dev`, `test` `.jsonl` | one `Gold` record per line |
| the same, `.parquet` | the same as flat columns, the report as JSON |
| `facts.jsonl` | what is correct about each of their items, as a corpus to search: one `Fact` per line |
| `card.md`, `card.html` | the data card (`mores build` draws the page) |
| `recipe.json` | the recipe, versions, counts and audits |
| `SHA256SUMS` | of all of these |
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from mores.errors import InputError
from mores.factory.build import Built, Progress, quiet
from mores.factory.card import Tally, facts, render
from mores.factory.facts import FACTS
from mores.factory.gold import Gold
from mores.factory.recipe import Recipe
from mores.factory.split import SPLITS
from mores.io import JsonlWriter, read_records, write_text
from mores.io.private import make_folder
from mores.types import Sample

SUMS = "SHA256SUMS"
_OF_SAMPLE = tuple(name for name in Sample.model_fields if name != "evidence")
"""What is built has no evidence yet."""
COLUMNS = (*_OF_SAMPLE, "task", "kind", "maker", "answer", "item", "group", "report")
ROWS = 10_000
"""Rows of a Parquet row group."""


def write(
    built: Built,
    recipe: Recipe,
    folder: Path,
    progress: Progress = quiet,
    page: Callable[[dict[str, Any]], str] | None = None,
) -> None:
    """Write everything; the same build gives the same bytes. `page` makes HTML of the card, if it is given."""
    make_folder(folder)
    tally = Tally()
    with ExitStack() as stack:
        files: dict[str, _Split] = {split: stack.enter_context(_Split(folder, split)) for split in SPLITS}
        for gold in progress("writing", built.golds, len(built.golds)):
            files[gold.split].write(gold)
            tally.add(gold)
    with JsonlWriter(folder / FACTS) as writer:
        for tally.facts, fact in enumerate(built.facts, 1):
            writer.write(fact)
    about = facts(built, recipe, tally)
    cards = {"card.md": render(about)} | ({"card.html": page(about)} if page else {})
    for name, card in cards.items():
        write_text(folder / name, card)
    write_text(folder / "recipe.json", json.dumps(about, indent=2, ensure_ascii=False) + "\n")
    splits = [f"{split}.{kind}" for split in SPLITS for kind in ("jsonl", "parquet")]
    lines = [f"{_sum(folder / name)}  {name}\n" for name in (*splits, FACTS, *sorted(cards), "recipe.json")]
    write_text(folder / SUMS, "".join(lines))


class _Split:
    """The two files of a split while they are written."""

    def __init__(self, folder: Path, split: str) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._files = ExitStack()
        self._schema = pa.schema([*((name, pa.string()) for name in COLUMNS), ("score", pa.float64())])
        self._jsonl = JsonlWriter(folder / f"{split}.jsonl")
        self._parquet = pq.ParquetWriter(folder / f"{split}.parquet", self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        self._files.enter_context(self._parquet)
        self._files.callback(self._flush)
        self._files.enter_context(self._jsonl)
        return self

    def __exit__(self, *raised: Any) -> None:
        self._files.__exit__(*raised)

    def write(self, gold: Gold) -> None:
        self._jsonl.write(gold)
        self._rows.append(_flat(gold))
        if len(self._rows) == ROWS:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            self._parquet.write_table(pa.Table.from_pylist(self._rows, schema=self._schema))
            self._rows.clear()


def read_split(folder: Path, split: str, *, only: str | None = None, without: str | None = None) -> Iterator[Gold]:
    """The pairs of a split, of one source only, or without one: `train` without and `test` only leave one out."""
    for gold in read_records(folder / f"{split}.jsonl", Gold):
        if only in (None, gold.sample.source) and (without is None or gold.sample.source != without):
            yield gold


def verify(folder: Path) -> list[str]:
    """What is wrong with a dataset on disk; empty when nothing is."""
    if not (folder / SUMS).is_file():
        raise InputError(f"{folder}: no {SUMS} in it; is it a folder that `mores build` wrote?")
    problems = list(_wrong_sums(folder))
    about = json.loads((folder / "recipe.json").read_text("utf-8"))
    seen: dict[str, str] = {}
    groups: dict[str, str] = {}
    counts = dict.fromkeys(SPLITS, 0)
    for split in SPLITS:
        for gold in read_records(folder / f"{split}.jsonl", Gold):
            counts[split] += 1
            problems += _wrong(gold, split, seen, groups)
    if counts != {split: about["tables"]["split"].get(split, 0) for split in SPLITS}:
        problems.append(f"recipe.json counts {about['tables']['split']}, the files have {counts}")
    return problems


def _wrong(gold: Gold, split: str, seen: dict[str, str], groups: dict[str, str]) -> Iterator[str]:
    name = gold.sample.id
    if gold.split != split:
        yield f"{name}: says {gold.split}, but is in {split}"
    if seen.get(name) == split:
        yield f"{name}: is in {split} twice"
    if seen.setdefault(name, split) != split or groups.setdefault(gold.group, split) != split:
        yield f"{name}: {gold.group} is in {groups[gold.group]} and in {split}"
    if (gold.kind == "correct") != (not gold.report.errors):
        yield f"{name}: is {gold.kind}, with {len(gold.report.errors)} errors"
    for error in gold.report.errors:
        if gold.sample.side(error.side)[error.start : error.end] != error.quote:
            yield f"{name}: the span {error.start}:{error.end} does not hold its quote"


def _wrong_sums(folder: Path) -> Iterator[str]:
    for line in (folder / SUMS).read_text("utf-8").splitlines():
        wanted, _, name = line.partition("  ")
        if not (folder / name).is_file():
            yield f"{name}: is missing"
        elif _sum(folder / name) != wanted:
            yield f"{name}: has been changed (sha256 differs)"


def _sum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _flat(gold: Gold) -> dict[str, Any]:
    return gold.sample.model_dump(exclude={"evidence"}) | {
        "task": gold.task.value,
        "kind": gold.kind,
        "maker": gold.maker,
        "answer": gold.answer,
        "item": gold.item,
        "group": gold.group,
        "report": gold.report.model_dump_json(),
        "score": float(sum(error.severity.weight for error in gold.report.errors)),
    }
