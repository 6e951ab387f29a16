"""The dataset that metrics are tested on: a folder that `mores build` wrote, or a file of a user's own pairs."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mores.errors import ConfigError, InputError
from mores.factory.drafts import draw
from mores.factory.gold import Gold
from mores.factory.items import Task
from mores.factory.output import read_split
from mores.factory.split import SPLITS
from mores.io.columns import TableColumn
from mores.io.samples import SampleTable
from mores.io.source import TableRow
from mores.metaevaluation.records import GROUPINGS
from mores.metric.groups import find_column
from mores.types import DEFAULT_INSTRUCTION, Error, ErrorReport, Sample, Severity


@dataclass
class Dataset:
    """A split to judge, and the samples to learn from."""

    folder: Path
    split: str = "test"
    limit: int | None = None
    """Most samples of a source, half of them with errors (ExCAM, Figure 4 has 100)."""
    by: Sequence[str] = ()
    """Columns of the samples that results are broken down by besides `GROUPINGS`."""

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

    @cached_property
    def groupings(self) -> tuple[str, ...]:
        """The columns of these samples that `by` means."""
        return find_groupings(self.golds, self.by)

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


def find_groupings(golds: Iterable[Gold], names: Sequence[str]) -> tuple[str, ...]:
    """Return the groupings that a person means: ours, or columns of the samples; ConfigError for another name."""
    kept = dict.fromkeys(column for gold in golds for column in gold.sample.metadata) if names else {}
    return tuple(dict.fromkeys(find_column(name, {**kept, **dict.fromkeys(GROUPINGS)}, {}) for name in names))


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


CORRECT = TableColumn("correct", kind="choice")
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_UNKNOWN = Error(side="text", quote="", severity=Severity.MAJOR, type="not said")


class Pairs(Dataset):
    """A user's own pairs: a file of texts, each with the word on whether it is culturally correct.

        {"instruction": "What do people in Japan eat rice with?", "text": "A fork.", "correct": false}

    JSON lines, CSV and Parquet, with the fields of `mores score` and `correct`: true or false, yes or no, 1 or 0.
    Nothing is learned from them, and where the errors are is not known. `folder` is the file's path.
    """

    def __post_init__(self) -> None:
        if self.split != "test":
            raise InputError(f"{self.folder}: a file of pairs has no splits; leave the split out", setting="split")

    @cached_property
    def golds(self) -> list[Gold]:
        """The pairs, with an error somewhere in those that are not correct."""
        table = SampleTable(self.folder, more=(CORRECT,))
        golds: dict[str, Gold] = {}
        for row, sample in table.rows():
            if sample.id in golds:
                raise row.error(f"duplicate id {sample.id!r}; give every pair a different one")
            golds[sample.id] = _gold(row, sample, table.value(row, CORRECT.name))
        if not golds:
            raise table.source.error("it has no pairs")
        return chosen(list(golds.values()), self.limit)

    @cached_property
    def revision(self) -> str:
        """A hash of the file."""
        return hashlib.sha256(self.folder.read_bytes()).hexdigest()[:12]

    @property
    def everything(self) -> list[Gold]:
        """All pairs: there are no splits."""
        return self.golds

    def _other(self, split: str) -> list[Gold]:  # noqa: ARG002 - there are no others
        return []


def _gold(row: TableRow, sample: Sample, value: object) -> Gold:
    correct = _WORDS.get(str(value).strip().lower())
    if correct is None:
        problem = "no field 'correct'" if value is None else f"'correct' is {value!r}"
        raise row.error(f"{problem}; expected true or false: whether the text is culturally correct")
    return Gold(
        sample=sample,
        report=ErrorReport(errors=() if correct else (_UNKNOWN,)),
        task=Task.FREEFORM,
        kind="correct" if correct else "hard",
        maker="people",
        item=sample.id,
        group=sample.id if sample.instruction == DEFAULT_INSTRUCTION else sample.instruction,
    )
