"""A dataset on disk.

| file | contents |
| --- | --- |
| `train`, `dev`, `test` `.jsonl` | one `Gold` record per line |
| the same, `.parquet` | the same as flat columns, the report as JSON |
| `manifest.jsonl` | one `ManifestEntry` per sample: id, split, source, task, kind, group and hash of its record |
| `facts.jsonl` | the correct fact about each of their items, as a corpus to search: one `CorrectFact` per line |
| `card.md`, `card.html` | the data card (`mores build` draws the page) |
| `recipe.json` | the recipe, versions, counts and audits |
| `SHA256SUMS` | of all of these |
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from mores.engine import SILENT, Progress
from mores.factory.build import Built
from mores.factory.card import CardTally, facts, render
from mores.factory.facts import FACTS
from mores.factory.folder import ABOUT, SUMS
from mores.factory.gold import Gold
from mores.factory.manifest import MANIFEST, make_entry, sum_of
from mores.factory.recipe import BuildRecipe
from mores.factory.split import SPLITS
from mores.io import JsonlWriter, read_records, write_text
from mores.io.private import make_folder, make_part
from mores.types import Sample

_OF_SAMPLE = tuple(name for name in Sample.model_fields if name not in ("evidence", "metadata"))
"""A built sample has no evidence yet."""
COLUMNS = (*_OF_SAMPLE, "task", "kind", "maker", "answer", "item", "group", "report")
ROWS = 10_000
"""Rows of a Parquet row group."""


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
    cards = {"card.md": render(about)} | ({"card.html": page(about)} if page else {})
    for name, card in cards.items():
        write_text(folder / name, card)
    write_text(folder / ABOUT, json.dumps(about, indent=2, ensure_ascii=False) + "\n")
    splits = [f"{split}.{kind}" for split in SPLITS for kind in ("jsonl", "parquet")]
    lines = [f"{sum_of(folder / name)}  {name}\n" for name in (*splits, MANIFEST, FACTS, *sorted(cards), ABOUT)]
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
        self._rows: list[dict[str, Any]] = []

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
        self._rows.append(
            gold.sample.model_dump(exclude={"evidence"})
            | {name: getattr(gold, name) for name in ("kind", "maker", "answer", "item", "group")}
            | {
                "task": gold.task.value,
                "report": gold.report.model_dump_json(),
                "score": float(sum(error.severity.weight for error in gold.report.errors)),
            }
        )
        if len(self._rows) == ROWS:
            self._flush()
        return self._jsonl.write(gold)

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            self._parquet.write_table(pa.Table.from_pylist(self._rows, schema=self._schema))
            self._rows.clear()


def read_split(folder: Path, split: str, *, only: str | None = None, without: str | None = None) -> Iterator[Gold]:
    """Yield the pairs of a split: of all sources, only one, or all but one, for leave-one-out evaluation."""
    for gold in read_records(folder / f"{split}.jsonl", Gold):
        if only in (None, gold.sample.source) and (without is None or gold.sample.source != without):
            yield gold
