"""The subject of an analysis: a model's answers to the questions of a benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from mores.benchmark.benchmark import Benchmark
from mores.benchmark.folder import BenchRun
from mores.benchmark.labels import with_labels
from mores.benchmark.run import BenchJob
from mores.errors import ConfigError
from mores.signature import sign
from mores.types import Item, Signature

GROUPINGS = ("language", "topic")
"""The groupings of every analysis, before those of the benchmark."""
LONGEST = 600
"""At most this many characters of a text in a list of cases."""


@dataclass(frozen=True)
class Subject:
    """A model on a benchmark."""

    benchmark: Benchmark
    items: Sequence[Item]
    model: str
    signature: Signature

    def __post_init__(self) -> None:
        if self.benchmark.grade is None and self.benchmark.judging is None:
            raise ConfigError(
                f"{self.benchmark.name}: its answers are measured, not correct or incorrect; "
                "give a benchmark of short answers, such as msqa"
            )

    @cached_property
    def by_id(self) -> dict[str, Item]:
        """Every item by its id."""
        return {item.id: item for item in self.items}

    @property
    def groupings(self) -> tuple[str, ...]:
        """Language, topic, and the breakdowns of the benchmark."""
        return tuple(dict.fromkeys((*GROUPINGS, *self.benchmark.breakdowns)))

    @cached_property
    def units(self) -> dict[str, Item]:
        """Every question, with its first part."""
        return {self.benchmark.unit(item): item for item in reversed(self.items)}


def subject_of_run(run: BenchJob, **extra: str) -> Subject:
    """Return the subject of a run; `extra` adds fields to its signature, such as the source of confidence."""
    return Subject(run.benchmark, run.items, run.model.name, sign(run.signature() | extra))


def subject_of_folder(folder: BenchRun) -> Subject:
    """Return the subject of a run that `mores bench` wrote."""
    result, items = folder.result, folder.items()
    return Subject(with_labels(folder.benchmark(), items), items, result.model, result.signature)


def shorten(text: str | None, longest: int = 300) -> str:
    """Return the beginning of a text, for display."""
    text = text or ""
    return text if len(text) <= longest else text[: longest - 1] + "…"
