"""A user's own pairs: a file of texts, each with the word on whether it is culturally correct.

    {"instruction": "What do people in Japan eat rice with?", "text": "A fork.", "correct": false}

JSON lines, CSV and Parquet, with the fields of `mores score` and `correct`: true or false, yes or no, 1 or 0. Nothing
is learned from them, and where the errors are is not known.
"""

from __future__ import annotations

import hashlib
from functools import cached_property

from mores.errors import InputError
from mores.factory.gold import Gold
from mores.factory.items import Task
from mores.io.columns import TableColumn
from mores.io.samples import SampleTable
from mores.io.source import TableRow
from mores.metaevaluation.dataset import Dataset, chosen
from mores.types import DEFAULT_INSTRUCTION, Error, ErrorReport, Sample, Severity

CORRECT = TableColumn("correct", kind="choice")
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_UNKNOWN = Error(side="text", quote="", severity=Severity.MAJOR, type="not said")


class Pairs(Dataset):
    """The pairs of a file; `folder` is its path."""

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
