"""A dataset on disk, and the check of one.

| file | what |
| --- | --- |
| `train`, `dev`, `test` `.jsonl` | one `Gold` record per line |
| the same, `.parquet` | the same as flat columns, the report as JSON |
| `card.md`, `card.html` | the data card |
| `recipe.json` | the recipe, versions, counts and audits |
| `SHA256SUMS` | of all of these |
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mores.errors import InputError
from mores.factory.build import Built
from mores.factory.card import facts, render
from mores.factory.gold import Gold
from mores.factory.recipe import Recipe
from mores.factory.split import SPLITS
from mores.io import JsonlWriter, read_records, write_text

SUMS = "SHA256SUMS"
COLUMNS = ["id", "instruction", "text", "language", "region", "source"]
COLUMNS += ["task", "kind", "maker", "item", "group", "report"]


def write(built: Built, recipe: Recipe, folder: Path) -> None:
    """Write everything; the same build gives the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    for split in SPLITS:
        own = [gold for gold in built.golds if gold.split == split]
        with JsonlWriter(folder / f"{split}.jsonl") as writer:
            for gold in own:
                writer.write(gold)
        _write_parquet(own, folder / f"{split}.parquet")
    about = facts(built, recipe)
    write_text(folder / "card.md", render(about, "md"))
    write_text(folder / "card.html", render(about, "html"))
    write_text(folder / "recipe.json", json.dumps(about, indent=2, ensure_ascii=False) + "\n")
    lines = [f"{_sum(folder / name)}  {name}\n" for name in _names()]
    write_text(folder / SUMS, "".join(lines))


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


def _names() -> list[str]:
    return [f"{split}.{kind}" for split in SPLITS for kind in ("jsonl", "parquet")] + [
        "card.html",
        "card.md",
        "recipe.json",
    ]


def _sum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_parquet(golds: list[Gold], path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = (
        "id",
        "instruction",
        "text",
        "language",
        "region",
        "source",
        "task",
        "kind",
        "maker",
        "item",
        "group",
        "report",
    )
    columns = [pa.field(name, pa.string()) for name in names] + [pa.field("score", pa.float64())]
    table = pa.Table.from_pylist([_flat(gold) for gold in golds], schema=pa.schema(columns))
    pq.write_table(table, path, compression="zstd")


def _flat(gold: Gold) -> dict[str, Any]:
    return gold.sample.model_dump() | {
        "task": gold.task.value,
        "kind": gold.kind,
        "maker": gold.maker,
        "item": gold.item,
        "group": gold.group,
        "report": gold.report.model_dump_json(),
        "score": float(sum(error.severity.weight for error in gold.report.errors)),
    }
