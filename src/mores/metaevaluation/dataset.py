"""The dataset that metrics are tested on: a folder that `mores build` wrote."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mores.errors import ConfigError, InputError
from mores.factory.drafts import draw
from mores.factory.gold import Gold
from mores.factory.output import read_split
from mores.factory.split import SPLITS


@dataclass
class Dataset:
    """A split to judge, and the samples to learn from."""

    folder: Path
    split: str = "test"
    limit: int | None = None
    """Most samples of a source, half of them with errors (ExCAM, Figure 4 has 100)."""

    def __post_init__(self) -> None:
        path = self.folder / f"{self.split}.jsonl"
        if not path.is_file():
            raise InputError(f"{path}: no such file; give a folder that `mores build` wrote", setting="data")

    @cached_property
    def golds(self) -> list[Gold]:
        """The samples to judge."""
        golds = list(read_split(self.folder, self.split))
        if not golds:
            raise InputError(f"{self.folder / self.split}.jsonl: it has no samples")
        if twice := next((name for name, n in Counter(gold.sample.id for gold in golds).items() if n > 1), None):
            raise InputError(f"{self.folder / self.split}.jsonl: duplicate id {twice!r}; see `mores build verify`")
        return chosen(golds, self.limit)

    @cached_property
    def train(self) -> list[Gold]:
        return self._other("train")

    @cached_property
    def dev(self) -> list[Gold]:
        return self._other("dev")

    @cached_property
    def revision(self) -> str:
        """A hash of the split, the same for any part of it."""
        with (self.folder / f"{self.split}.jsonl").open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:12]

    @property
    def everything(self) -> list[Gold]:
        """The samples of all splits in the folder."""
        there = [split for split in SPLITS if (self.folder / f"{split}.jsonl").is_file()]
        return [gold for split in there for gold in read_split(self.folder, split)]

    @property
    def sources(self) -> list[str]:
        return sorted(set(map(source_of, self.golds)))

    def learned(self, splits: Collection[str]) -> tuple[list[Gold], list[Gold]]:
        """Return the training and the dev samples, each empty unless `splits` has it."""
        return self.train if "train" in splits else [], self.dev if "dev" in splits else []

    def _other(self, split: str) -> list[Gold]:
        if split == self.split:
            raise ConfigError(f"the judged split ({split}) cannot be learned from; choose another", setting="split")
        return list(read_split(self.folder, split)) if (self.folder / f"{split}.jsonl").is_file() else []


def source_of(gold: Gold) -> str:
    """Return the source of a sample, or `unknown`."""
    return gold.sample.source or "unknown"


def without(golds: Sequence[Gold], source: str | None) -> list[Gold]:
    """Return the samples of all other sources, or of all if `source` is None."""
    return [gold for gold in golds if source is None or source_of(gold) != source]


def chosen(golds: list[Gold], limit: int | None) -> list[Gold]:
    """Return at most `limit` samples of each source, half with errors, by id: a larger limit includes a smaller one."""
    if limit is None:
        return golds
    cells: dict[tuple[str | None, bool], list[Gold]] = defaultdict(list)
    for gold in sorted(golds, key=lambda gold: draw(0, gold.sample.id)):
        cells[gold.sample.source, bool(gold.report.errors)].append(gold)
    ids = {gold.sample.id for members in cells.values() for gold in members[: max(1, limit // 2)]}
    return [gold for gold in golds if gold.sample.id in ids]
