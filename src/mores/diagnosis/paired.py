"""Two runs on the same questions, pair by pair; `change.py` measures what changes between them.

A question that was asked several times has a credit, the share of correct answers among the graded ones, and is correct
if its credit is above a half. A question without a grade in one of the runs is excluded from both and counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from string import ascii_uppercase
from typing import Self, TypeVar

from pydantic import Field

from mores.benchmark.benchmark import LABELS, Benchmark, Label
from mores.benchmark.folder import BenchRun, open_bench_run
from mores.benchmark.labels import with_labels
from mores.benchmark.run import BenchJob
from mores.benchmark.score import BenchResult, label_of, together
from mores.errors import ConfigError
from mores.reading import without_thoughts
from mores.signature import sign
from mores.types import Failure, Item, Record, Signature

LONGEST = 600
"""At most this many characters of a text in a list of cases."""


@dataclass(frozen=True)
class Subject:
    """A model on a benchmark."""

    benchmark: Benchmark
    items: Sequence[Item]
    model: str
    signature: Signature
    variation: str = ""
    """How it was asked, if not as published: with its options in another order, for example."""

    @property
    def name(self) -> str:
        """The benchmark and the way in which it was asked."""
        return ".".join(filter(None, (self.benchmark.name, self.variation)))

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
        return tuple(dict.fromkeys(("language", "topic", *self.benchmark.breakdowns)))

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
    benchmark = with_labels(folder.benchmark(), items)
    return Subject(benchmark, items, result.model, result.signature, result.variation)


def shorten(text: str | None, longest: int = 300) -> str:
    """Return the beginning of a text, for display."""
    text = text or ""
    return text if len(text) <= longest else text[: longest - 1] + "…"


Row = TypeVar("Row")
Figure = TypeVar("Figure")
GROUPINGS = ("language", "topic", "region", "subregion", "popularity")
"""Groupings that are used if an item has them, besides the benchmark's breakdowns."""


@dataclass(frozen=True)
class Opened:
    """A run with its benchmark and its result."""

    folder: BenchRun
    benchmark: Benchmark
    result: BenchResult

    @property
    def fields(self) -> Signature:
        """The fields of its signature."""
        return self.result.signature

    @property
    def variant(self) -> str | None:
        """The variant in which the questions were asked, if any."""
        return self.result.variant

    def question(self, item: Item) -> str:
        """Return the question, without the rest of the prompt if the data has it separately."""
        version = self._version(item)
        if "question" in version:
            return "\n".join(filter(None, (version.get("scenario"), version["question"])))
        return self.benchmark.messages(item, self.variant)[-1].content

    def reference(self, item: Item) -> tuple[str, ...]:
        """Return the correct answers, in the language of the question if available."""
        answer = self._version(item).get("answer")
        return (answer,) if answer else item.target

    def groups(self, item: Item) -> dict[str, str]:
        """Return the group of an item in each grouping."""
        names = dict.fromkeys((*GROUPINGS, *self.benchmark.breakdowns, *item.metadata.get(LABELS, {})))
        by_name = {name: self.benchmark.group(item, name) for name in names}
        return {name: group for name, group in by_name.items() if group is not None}

    def _version(self, item: Item) -> dict[str, str]:
        version: dict[str, str] = item.metadata.get("versions", {}).get(self.variant or "", {})
        return version


def open_run(path: Path, benchmark: Benchmark | None = None) -> Opened:
    """Return the run in a folder; its benchmark is looked up unless given."""
    folder = open_bench_run(path)
    result = folder.result
    if result.measured:
        raise ConfigError(
            f"{path}: answers to {result.benchmark} are measured, not correct or incorrect; give another run"
        )
    return Opened(folder, benchmark or folder.benchmark(), result)


# ---- reading ---------------------------------------------------------------------------------------------------


class AskedQuestion(Record):
    """One question in one run, with an answer that represents all answers to it."""

    unit: str
    question: str
    reference: tuple[str, ...]
    parts: int = 1
    """Items that form the question; all must be correct."""
    groups: dict[str, str] = Field(default_factory=dict)
    answer: str | None = None
    """The first correct answer if the question is correct, otherwise the first that is not."""
    chosen: str = ""
    """The answer in short: without thoughts, or the text of the option; empty for a question with several parts."""
    label: Label | None = None
    """The label of that answer."""
    credit: float | None = None
    """Share of the graded answers that are correct; None without a graded answer."""
    failure: Failure | None = None
    """Why the first ungraded answer has no grade."""

    @property
    def correct(self) -> bool:
        """True if more than half of its graded answers are correct."""
        return self.credit is not None and self.credit > 0.5


@dataclass
class _Answers:
    """A summary of all answers to one question."""

    correct: int = 0
    graded: int = 0
    first: dict[bool, tuple[Label, str | None, str]] = field(default_factory=dict)
    failure: Failure | None = None


def read_asked(run: Opened) -> dict[str, AskedQuestion]:
    """Return every question of a run."""
    parts: dict[str, list[Item]] = defaultdict(list)
    for item in run.folder.items():
        parts[run.benchmark.unit(item)].append(item)
    collected: dict[str, _Answers] = defaultdict(_Answers)
    for (unit, _), group in groupby(run.folder.verdicts(), lambda verdict: (verdict.unit, verdict.sample)):
        verdicts, answers = list(group), collected[unit]
        label = together([label_of(verdict, run.result.unjudged) for verdict in verdicts])
        answers.failure = answers.failure or next((verdict.failure for verdict in verdicts if verdict.failure), None)
        if label is not None:
            correct = label is Label.CORRECT
            answers.correct, answers.graded = answers.correct + correct, answers.graded + 1
            texts = [verdict.answer for verdict in verdicts if verdict.answer is not None]
            answer = "\n".join(texts) if texts else None
            items, chosen = parts.get(unit, []), ""
            if len(verdicts) == len(items) == 1:  # nothing in short for a question with several parts
                letter, choices = verdicts[0].read, items[0].choices
                listed = bool(choices and letter and letter in ascii_uppercase[: len(choices)])
                chosen = choices[ascii_uppercase.index(letter or "")] if listed else without_thoughts(answer or "")
            answers.first.setdefault(correct, (label, answer, chosen))
    asked = {}
    for unit, items in parts.items():
        answers = collected.get(unit, _Answers())
        credit = answers.correct / answers.graded if answers.graded else None
        label, answer, chosen = answers.first.get(credit is not None and credit > 0.5, (None, None, ""))
        questions, references = dict.fromkeys(map(run.question, items)), list(map(run.reference, items))
        # Several parts share one line, with the first correct answer of each.
        joined = "; ".join(reference[0] for reference in references if reference)
        asked[unit] = AskedQuestion(
            unit=unit, question="\n".join(questions), reference=references[0] if len(items) == 1 else (joined,),
            parts=len(items), groups=run.groups(items[0]), answer=answer, chosen=chosen, label=label, credit=credit,
            failure=answers.failure,
        )  # fmt: skip
    return asked


class QuestionPair(Record):
    """One question in two runs, graded in both."""

    first: AskedQuestion
    second: AskedQuestion

    @property
    def groups(self) -> dict[str, str]:
        """The group of the question in each grouping."""
        return self.first.groups

    @property
    def credits(self) -> tuple[float, float]:
        """The share of correct answers in each."""
        return self.first.credit or 0.0, self.second.credit or 0.0


Names = tuple[str, str]
"""The names of the two runs, as they follow a word such as "correct": `without evidence`, `in English`."""


def pair_up(
    first: Mapping[str, AskedQuestion], second: Mapping[str, AskedQuestion], names: Names
) -> tuple[list[QuestionPair], dict[str, int]]:
    """Return the questions with a grade in both runs, and the number of the others by reason."""
    pairs: list[QuestionPair] = []
    left_out: Counter[str] = Counter()
    for unit in dict.fromkeys((*first, *second)):
        asked_first, asked_second = first.get(unit), second.get(unit)
        if asked_first is None or asked_second is None:
            left_out[f"not asked {names[asked_first is not None]}"] += 1
        elif asked_first.credit is None or asked_second.credit is None:
            side = int(asked_first.credit is not None)
            failure = (asked_first, asked_second)[side].failure
            left_out[f"no grade {names[side]} ({failure.kind.value if failure else 'no answer'})"] += 1
        else:
            pairs.append(QuestionPair(first=asked_first, second=asked_second))
    return pairs, dict(left_out)


@dataclass(frozen=True)
class PairedRuns:
    """Two runs of a model on the same questions."""

    first: Opened
    second: Opened
    names: Names
    pairs: Sequence[QuestionPair]
    left_out: Mapping[str, int]
    notes: tuple[str, ...] = ()
    """How their settings differ."""

    @classmethod
    def make(
        cls, first: Opened, second: Opened, names: Names, same: Sequence[str], alike: Sequence[str], force: bool
    ) -> Self:
        """Return the pairs of two runs; ConfigError if a field of `same` differs in their signatures, unless `force`.

        The fields of `alike` should not differ.
        """
        settings = [{**run.fields, "benchmark": run.result.benchmark} for run in (first, second)]
        values = {name: [setting.get(name, "none") for setting in settings] for name in (*same, *alike)}
        different = {
            name: f"{name} is {before} in {first.folder.path} and {after} in {second.folder.path}"
            for name, (before, after) in values.items()
            if before != after
        }
        spoiling = next((different[name] for name in same if name in different), None)
        if spoiling and not force:
            raise ConfigError(f"{spoiling}; run them with the same settings, or force the comparison", setting="force")
        pairs, left_out = pair_up(read_asked(first), read_asked(second), names)
        return cls(first, second, names, pairs, left_out, tuple(different.values()))


def map_groups(
    figure: Callable[[list[Row]], Figure], rows: Iterable[Row], groups: Iterable[Mapping[str, str]]
) -> dict[str, dict[str, Figure]]:
    """Return a figure for each group of rows, by grouping and group; `groups` has the groups of each row."""
    by: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row, memberships in zip(rows, groups, strict=True):
        for grouping, group in memberships.items():
            by[grouping][group].append(row)
    return {name: {group: figure(members[group]) for group in sorted(members)} for name, members in by.items()}
