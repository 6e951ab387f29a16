"""Two runs on the same questions, pair by pair; `change.py` says what changes between them.

A question that was asked several times has a credit, the share of its graded answers that are right, and is right when
more than half of them are. A question without a grade in one of the runs is left out of both and counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from string import ascii_uppercase
from typing import TypeVar

from pydantic import Field

from mores.bench.benchmark import LABELS, Benchmark, Label, Verdict
from mores.bench.folder import BenchRun, open_bench_run
from mores.bench.score import BenchResult, label_of, together
from mores.errors import ConfigError
from mores.models.written import without_thoughts
from mores.types import Failure, Item, Record, Signature

Row = TypeVar("Row")
Figure = TypeVar("Figure")
GROUPINGS = ("language", "topic", "region", "subregion", "popularity")
"""Looked for in every item, whatever its benchmark breaks down by."""


@dataclass(frozen=True)
class Opened:
    """One run, and how its questions were asked."""

    folder: BenchRun
    benchmark: Benchmark
    result: BenchResult

    @property
    def fields(self) -> Signature:
        """Of its signature."""
        return self.result.signature

    @property
    def variant(self) -> str | None:
        """The other way in which it was asked, if not the plain."""
        return self.result.variant

    @property
    def unjudged(self) -> Label | None:
        """What an answer counts as that the judge failed to grade, where the run counts it."""
        return self.result.unjudged

    def question(self, item: Item) -> str:
        """What was asked, without the words around it where the data tell them apart."""
        version = self._version(item)
        if "question" in version:
            return "\n".join(filter(None, (version.get("scenario"), version["question"])))
        return self.benchmark.messages(item, self.variant)[-1].content

    def reference(self, item: Item) -> tuple[str, ...]:
        """The correct answers, in the language in which it was asked where there is one."""
        answer = self._version(item).get("answer")
        return (answer,) if answer else item.target

    def groups(self, item: Item) -> dict[str, str]:
        """What an item belongs to, by grouping."""
        names = dict.fromkeys((*GROUPINGS, *self.benchmark.breakdowns, *item.metadata.get(LABELS, {})))
        found = {name: self.benchmark.group(item, name) for name in names}
        return {name: group for name, group in found.items() if group is not None}

    def _version(self, item: Item) -> dict[str, str]:
        found: dict[str, str] = item.metadata.get("versions", {}).get(self.variant or "", {})
        return found


def open_run(path: Path, known: Benchmark | None = None) -> Opened:
    """The run in a folder; its benchmark is looked up unless it is given."""
    folder = open_bench_run(path)
    result = folder.result
    if result.measured:
        raise ConfigError(f"{path}: answers to {result.benchmark} are measured, not right or wrong; give another run")
    return Opened(folder, known or folder.benchmark(), result)


def check_alike(first: Opened, second: Opened, same: Sequence[str], alike: Sequence[str], force: bool) -> list[str]:
    """What is not the same in two runs; ConfigError where that spoils the comparison, unless `force`."""
    different = {name: _difference(name, first, second) for name in (*same, *alike)}
    spoiling = [different[name] for name in same if different[name]]
    if spoiling and not force:
        raise ConfigError(f"{spoiling[0]}; run them alike, or force the comparison", setting="force")
    return [note for note in different.values() if note]


def _difference(name: str, first: Opened, second: Opened) -> str:
    one, two = (_told(run, name) for run in (first, second))
    return f"{name} is {one} in {first.folder.path} and {two} in {second.folder.path}" if one != two else ""


def _told(run: Opened, name: str) -> str:
    return run.result.benchmark if name == "benchmark" else run.fields.get(name, "none")


# ---- reading ---------------------------------------------------------------------------------------------------


class Asked(Record):
    """One question in one run, with an answer that stands for those that were given."""

    unit: str
    question: str
    reference: tuple[str, ...]
    parts: int = 1
    """Items that the question is made of; all must be correct."""
    groups: dict[str, str] = Field(default_factory=dict)
    answer: str | None = None
    """The first that is correct where the question is, else the first that is not."""
    chosen: str = ""
    """The same in short: without thoughts, or the text of the option; nothing for a question with several parts."""
    label: Label | None = None
    """Of that answer."""
    credit: float | None = None
    """Share of the graded answers that are correct; None without a graded answer."""
    failure: Failure | None = None
    """Why the first answer without a grade has none."""

    @property
    def right(self) -> bool:
        """Whether more than half of its graded answers are correct."""
        return self.credit is not None and self.credit > 0.5


@dataclass
class _Answers:
    """What is kept of the answers to one question, however many there are."""

    right: int = 0
    graded: int = 0
    first: dict[bool, tuple[Label, str | None, str]] = field(default_factory=dict)
    failure: Failure | None = None


def read_asked(run: Opened) -> dict[str, Asked]:
    """Every question of a run."""
    parts: dict[str, list[Item]] = defaultdict(list)
    for item in run.folder.items():
        parts[run.benchmark.unit(item)].append(item)
    kept = _collect(run.folder.verdicts(), parts, run.unjudged)
    return {unit: _asked(run, unit, own, kept.get(unit, _Answers())) for unit, own in parts.items()}


def _collect(
    verdicts: Iterable[Verdict], parts: Mapping[str, Sequence[Item]], unjudged: Label | None
) -> dict[str, _Answers]:
    found: dict[str, _Answers] = defaultdict(_Answers)
    for (unit, _), group in groupby(verdicts, lambda verdict: (verdict.unit, verdict.sample)):
        own, answers = list(group), found[unit]
        label = together([label_of(verdict, unjudged) for verdict in own])
        answers.failure = answers.failure or next((one.failure for one in own if one.failure), None)
        if label is not None:
            right = label is Label.CORRECT
            answers.right, answers.graded = answers.right + right, answers.graded + 1
            answers.first.setdefault(right, (label, _joined(own), _short(own, parts.get(unit, ()))))
    return found


def _joined(verdicts: Sequence[Verdict]) -> str | None:
    given = [verdict.answer for verdict in verdicts if verdict.answer is not None]
    return "\n".join(given) if given else None


def _short(verdicts: Sequence[Verdict], items: Sequence[Item]) -> str:
    if len(verdicts) != 1 or len(items) != 1:
        return ""
    (verdict,), (item,) = verdicts, items
    if item.choices and verdict.read and verdict.read in ascii_uppercase[: len(item.choices)]:
        return item.choices[ascii_uppercase.index(verdict.read)]
    return without_thoughts(verdict.answer or "")


def _asked(run: Opened, unit: str, items: Sequence[Item], answers: _Answers) -> Asked:
    credit = answers.right / answers.graded if answers.graded else None
    label, answer, short = answers.first.get(credit is not None and credit > 0.5, (None, None, ""))
    texts = dict.fromkeys(run.question(item) for item in items)
    return Asked(
        unit=unit, question="\n".join(texts), reference=_references(run, items), parts=len(items),
        groups=run.groups(items[0]), answer=answer, chosen=short, label=label, credit=credit, failure=answers.failure,
    )  # fmt: skip


def _references(run: Opened, items: Sequence[Item]) -> tuple[str, ...]:
    """Of one item all correct answers; of several parts one line with the first of each."""
    every = [run.reference(item) for item in items]
    return every[0] if len(every) == 1 else ("; ".join(own[0] for own in every if own),)


class Pair(Record):
    """One question in two runs, graded in both."""

    first: Asked
    second: Asked

    @property
    def groups(self) -> dict[str, str]:
        """What the question belongs to."""
        return self.first.groups

    @property
    def credits(self) -> tuple[float, float]:
        """The share of correct answers in each."""
        return self.first.credit or 0.0, self.second.credit or 0.0


Names = tuple[str, str]
"""How the two runs are told apart, after words such as "right": `without evidence`, `in English`."""


def pair_up(first: Mapping[str, Asked], second: Mapping[str, Asked], names: Names) -> tuple[list[Pair], dict[str, int]]:
    """The questions that both runs have a grade for, and how many there are that they have not, by reason."""
    pairs: list[Pair] = []
    left_out: Counter[str] = Counter()
    for unit in dict.fromkeys((*first, *second)):
        one, two = first.get(unit), second.get(unit)
        if one is None or two is None:
            left_out[f"not asked {names[one is not None]}"] += 1
        elif one.credit is None or two.credit is None:
            where = int(one.credit is not None)
            left_out[f"no grade {names[where]} ({_why((one, two)[where])})"] += 1
        else:
            pairs.append(Pair(first=one, second=two))
    return pairs, dict(left_out)


def _why(asked: Asked) -> str:
    return asked.failure.kind.value if asked.failure else "no answer"


def map_groups(
    figure: Callable[[list[Row]], Figure], rows: Iterable[Row], groups: Iterable[Mapping[str, str]]
) -> dict[str, dict[str, Figure]]:
    """A figure of the rows of each group, by grouping and group, given the group of each row in every grouping."""
    by: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row, own in zip(rows, groups, strict=True):
        for grouping, group in own.items():
            by[grouping][group].append(row)
    return {name: {group: figure(members[group]) for group in sorted(members)} for name, members in by.items()}


def short(text: str, longest: int = 600) -> str:
    """The beginning of a long text, for lists of items."""
    return text if len(text) <= longest else text[: longest - 1] + "…"
