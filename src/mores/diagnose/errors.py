"""Kinds of errors: the wrong answers of a run, each given one of six types by a judge, with its reason.

MSQA, Section 4.3 and Appendix B: `taxonomy.toml` has the types of Table 5, a result the shares of Table 4 for one
model, `compare_models` the bars of Figure 9 for several, and `check_types` says how far a judge agrees with people.
The types are tags for people to look at, not claims about what goes on in a model.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from mores.bench.benchmark import Label
from mores.bench.prompts import hash_of
from mores.diagnose.change import FEW
from mores.diagnose.paired import Opened, map_groups, short
from mores.diagnose.verdict import ask_judge, prompt, read_lines
from mores.engine import Counts, Job, run
from mores.errors import InputError
from mores.io import JsonlWriter, read_records
from mores.longform.asking import How, Reply, replied
from mores.models import Model, Request
from mores.models.written import without_thoughts
from mores.show import full_share, number
from mores.signature import sign
from mores.stats.agreement import cohen_kappa, cohen_kappa_interval
from mores.stats.results import mean_result, share_result
from mores.types import Failure, Item, Record, Result

VERSION = 1
TYPED = "errors.jsonl"
"""File of what a judge says."""
CASES = 20
"""Most answers that are listed of each type."""
_LINE = "TYPE"


class ErrorType(Record):
    """One type of error."""

    name: str
    definition: str


@cache
def taxonomy() -> tuple[ErrorType, ...]:
    """The six types, in the order of Table 5."""
    found = tomllib.loads(files("mores.diagnose").joinpath("taxonomy.toml").read_text("utf-8"))
    return tuple(ErrorType(**one) for one in found["types"])


@cache
def type_names() -> tuple[str, ...]:
    """Their names."""
    return tuple(one.name for one in taxonomy())


# ---- the judge -------------------------------------------------------------------------------------------------


class Typed(Record):
    """One wrong answer and its type, or why it has none."""

    item_id: str
    sample: int = 0
    answer: str
    type: str | None = None
    reason: str = ""
    failure: Failure | None = None


class LabelledError(Record):
    """A wrong answer whose type a person has given: one line of a file for `check_types`."""

    item_id: str
    answer: str
    type: str


class _Wrong(NamedTuple):
    """A wrong answer to be sorted."""

    item: Item
    sample: int
    answer: str


@dataclass(frozen=True)
class ErrorJudge:
    """Asks a model for the type of every wrong answer."""

    run: Opened
    judge: Model
    how: How = field(default_factory=How)

    @property
    def identity(self) -> str:
        """The judge, its prompt and the types, for signatures."""
        return f"{self.judge.identity}.{hash_of(prompt('error-type.en'), _listed_types())}"

    def signature(self) -> str:
        """What must be the same for two results to be comparable."""
        fields = {name: value for name, value in self.run.fields.items() if name != "mores"}
        return sign({"diagnosis": f"errors.{VERSION}", **fields, "types": self.identity})

    async def ask(self, path: Path, counts: Counts) -> None:
        """Put the type of every wrong answer of the run into a file."""
        by_id = self._items()
        wrong = (
            _Wrong(by_id[one.item_id], one.sample, one.answer or "")
            for one in self.run.folder.verdicts()
            if one.label is Label.INCORRECT
        )
        await self._write(wrong, path, counts)

    async def ask_labelled(self, labelled: Iterable[LabelledError], path: Path, counts: Counts) -> None:
        """Put the type that the judge gives to labelled answers into a file, in their order."""
        by_id = self._items()
        await self._write((_to_check(one, by_id, self.run) for one in labelled), path, counts)

    def _items(self) -> dict[str, Item]:
        return {item.id: item for item in self.run.folder.items()}

    async def _write(self, wrong: Iterable[_Wrong], path: Path, counts: Counts) -> None:
        with JsonlWriter(path) as writer:
            async with aclosing(self._typed(wrong, counts)) as typed:
                async for one in typed:
                    writer.write(one)

    async def _typed(self, wrong: Iterable[_Wrong], counts: Counts) -> AsyncGenerator[Typed, None]:
        how = self.how
        jobs = (Job(one.item.id, type_request(self.run, one.item, one.answer), data=one) for one in wrong)
        answers = run(jobs, self.judge, store=how.store, limits=how.limits, counts=counts, fresh=how.fresh)
        async with aclosing(answers):
            async for answer in answers:
                own: _Wrong = answer.job.data
                found = read_type(replied(answer))
                yield Typed(item_id=own.item.id, sample=own.sample, answer=own.answer, **found)


def _to_check(one: LabelledError, by_id: Mapping[str, Item], run_: Opened) -> _Wrong:
    if one.item_id not in by_id:
        raise InputError(f"{one.item_id!r} has a type, but {run_.folder.path} has no such item; check its id")
    return _Wrong(by_id[one.item_id], 0, one.answer)


def type_request(run_: Opened, item: Item, answer: str) -> Request:
    """Asks for the type of a wrong answer; question, reference and answer are fenced."""
    texts = {
        "question": run_.question(item), "reference": "\nor\n".join(run_.reference(item)),
        "answer": without_thoughts(answer),
    }  # fmt: skip
    return ask_judge(prompt("error-type.en"), (_LINE,), {"types": _listed_types()}, texts)


def _listed_types() -> str:
    return "\n".join(f"{place}. {one.name}: it {one.definition}." for place, one in enumerate(taxonomy(), 1))


def read_type(reply: Reply) -> dict[str, str | Failure | None]:
    """The type, the reason and the failure in a reply, whose last line is `TYPE: 3` and no other is one."""
    numbers = {str(place): name for place, name in enumerate(type_names(), 1)}
    lines = reply if isinstance(reply, Failure) else read_lines(reply, {_LINE: tuple(numbers)})
    if isinstance(lines, Failure):
        return {"type": None, "reason": "", "failure": lines}
    return {"type": numbers[lines.values[_LINE]], "reason": lines.reason, "failure": None}


def read_labelled(path: Path) -> list[LabelledError]:
    """Answers whose type is known; InputError for a type that there is not."""
    labelled = list(read_records(path, LabelledError))
    for row, answer in enumerate(labelled, 1):
        if answer.type not in type_names():
            raise InputError(f"{path}: row {row}: no type {answer.type!r}; there are {'; '.join(type_names())}")
    return labelled


def read_typed(path: Path) -> Iterator[Typed]:
    """What a judge said, from its file."""
    return read_records(path, Typed)


# ---- the result ------------------------------------------------------------------------------------------------


class ErrorCase(Record):
    """One wrong answer with its type."""

    item_id: str
    type: str
    question: str
    reference: tuple[str, ...]
    answer: str
    reason: str
    groups: dict[str, str]


class ErrorsResult(Record):
    """The kinds of errors of one model."""

    model: str
    benchmark: str
    judge: str
    signature: str
    answers: int
    """All that have a grade, so that shares of errors can be told from numbers of them."""
    declined: int
    """Of these, those that assert nothing wrong: a refusal is no error of these types."""
    ungraded: int
    """Answers without a grade."""
    wrong: int
    figures: dict[str, Result]
    """Share of each type among the wrong answers that have one, in the order of Table 5."""
    counts: dict[str, int]
    by: dict[str, dict[str, dict[str, Result]]]
    """Grouping, group, type."""
    cases: tuple[ErrorCase, ...]
    failures: dict[str, int]
    """Wrong answers without a type, by kind of failure; they are in no share."""

    @property
    def unscored(self) -> int:
        """Wrong answers without a type."""
        return sum(self.failures.values())


def diagnose_errors(run_: Opened, typed: Iterable[Typed], judge: str, signature: str) -> ErrorsResult:
    """The distribution over types of the wrong answers of a run, overall and by group."""
    by_id = {item.id: item for item in run_.folder.items()}
    rows, cases, listed, failures = list[_Row](), list[ErrorCase](), Counter[str](), Counter[str]()
    for one in typed:
        if one.item_id not in by_id:
            raise InputError(f"{run_.folder.path}: a type is given to {one.item_id!r}, which is no item of the run")
        item = by_id[one.item_id]
        rows.append(_Row(run_.benchmark.unit(item), one.type, run_.groups(item)))
        if one.type is None:
            failures[one.failure.kind.value if one.failure else "unknown"] += 1
            continue
        listed[one.type] += 1
        if listed[one.type] <= CASES:
            cases.append(ErrorCase(
                item_id=item.id, type=one.type, question=short(run_.question(item)), reference=run_.reference(item),
                answer=short(one.answer), reason=short(one.reason), groups=dict(rows[-1].groups),
            ))  # fmt: skip
    labels = Counter(verdict.label for verdict in run_.folder.verdicts())
    return ErrorsResult(
        model=run_.result.model, benchmark=run_.result.benchmark, judge=judge, signature=signature,
        answers=labels.total() - labels[None], declined=labels[Label.NOT_ATTEMPTED], ungraded=labels[None],
        wrong=len(rows), figures=shares(rows), counts={name: listed[name] for name in type_names()},
        by=map_groups(shares, rows, [row.groups for row in rows]), cases=tuple(cases), failures=dict(failures),
    )  # fmt: skip


class _Row(NamedTuple):
    """What is kept of a wrong answer."""

    unit: str
    type: str | None
    groups: Mapping[str, str]


def shares(rows: Sequence[_Row]) -> dict[str, Result]:
    """The share of each type; several answers to a question are not independent."""
    scored = [row for row in rows if row.type is not None]
    units, unscored = [row.unit for row in scored], len(rows) - len(scored)
    return {
        name: mean_result(name, [row.type == name for row in scored], groups=units, unscored=unscored)
        for name in type_names()
    }


# ---- several models --------------------------------------------------------------------------------------------


class TypeRow(Record):
    """One line of Table 4."""

    type: str
    count: int
    share: Result


class ModelBar(Record):
    """One bar of Figure 9: the wrong answers of a model, cut by type."""

    model: str
    wrong: int
    unscored: int
    counts: dict[str, int]
    shares: dict[str, Result]


class ErrorTable(Record):
    """The kinds of errors of several models."""

    types: tuple[TypeRow, ...]
    """Of all together, the most frequent first."""
    models: tuple[ModelBar, ...]
    """The one with the most errors first."""
    notes: tuple[str, ...] = ()


def compare_models(results: Sequence[ErrorsResult]) -> ErrorTable:
    """Table 4 and Figure 9 of some models; a judge or benchmark that is not the same for all is noted."""
    total = sum(result.wrong - result.unscored for result in results)
    unscored = sum(result.unscored for result in results)
    counts = {name: sum(result.counts[name] for result in results) for name in type_names()}
    rows = [TypeRow(type=name, count=n, share=share_result(name, n, total, unscored)) for name, n in counts.items()]
    bars = [
        ModelBar(model=one.model, wrong=one.wrong, unscored=one.unscored, counts=one.counts, shares=one.figures)
        for one in results
    ]
    notes = [
        f"the {what} is not the same for all: {', '.join(sorted(values))}"
        for what, values in {"judge": {r.judge for r in results}, "benchmark": {r.benchmark for r in results}}.items()
        if len(values) > 1
    ]
    ranked, largest = sorted(rows, key=lambda row: -row.count), sorted(bars, key=lambda bar: -bar.wrong)
    return ErrorTable(types=tuple(ranked), models=tuple(largest), notes=tuple(notes))


# ---- judge and people ------------------------------------------------------------------------------------------


class TypeCheck(Record):
    """How far a judge agrees with types that people gave."""

    judge: str
    signature: str
    accuracy: Result
    kappa: Result
    """Cohen's; no value where it is not defined."""
    confusion: dict[str, dict[str, int]]
    """The type that people gave, the type that the judge gave: how many."""
    recall: dict[str, Result]
    """Share that the judge gets right, by the type that people gave."""
    failures: dict[str, int]


def check_types(labelled: Sequence[LabelledError], typed: Sequence[Typed], judge: str, signature: str) -> TypeCheck:
    """Compare what a judge said (`ask_labelled`) with what people said, answer by answer."""
    if [(one.item_id, one.answer) for one in labelled] != [(one.item_id, one.answer) for one in typed]:
        raise InputError("the judge's types are not of the labelled answers, in their order; ask the judge again")
    pairs = [(one.type, two.type) for one, two in zip(labelled, typed, strict=True) if two.type is not None]
    failures = Counter(two.failure.kind.value if two.failure else "unknown" for two in typed if two.type is None)
    cells, unscored, names = Counter(pairs), failures.total(), type_names()
    people, judged = [one for one, _ in pairs], [two for _, two in pairs]
    kappa, (low, high) = cohen_kappa(people, judged), cohen_kappa_interval(people, judged, names) or (None, None)
    return TypeCheck(
        judge=judge, signature=signature,
        accuracy=share_result("accuracy", sum(one == two for one, two in pairs), len(pairs), unscored),
        kappa=Result(name="kappa", value=kappa, low=low, high=high, n=len(pairs), unscored=unscored),
        confusion={one: {two: cells[one, two] for two in names} for one in names},
        recall={one: share_result(one, cells[one, one], sum(cells[one, two] for two in names)) for one in names},
        failures=dict(failures),
    )  # fmt: skip


# ---- words -----------------------------------------------------------------------------------------------------


def paragraph(result: ErrorsResult) -> str:
    """What it means, for people who do not program."""
    n = result.wrong - result.unscored
    if not result.wrong:
        return f"None of the {result.answers} graded answers of {result.model} is wrong: there is no error to sort."
    if not n:
        return f"The judge gave none of the {result.wrong} wrong answers of {result.model} a type: nothing can be said."
    ranked = sorted(result.figures.values(), key=lambda share: -(share.value or 0.0))
    most, second = ranked[0], ranked[1]
    apart = most.low is not None and second.high is not None and most.low > second.high
    parts = [
        f"{result.wrong} of {result.answers} graded answers of {result.model} are wrong, and {result.judge} gave {n} of"
        f" them a type.",
        f"The most frequent is {most.name}, with {full_share(most)}"
        + (f", and then {second.name}, with {full_share(second)}." if second.value else "."),
        "" if apart else "Which of the two is the more frequent is not certain: their intervals overlap.",
        f"Answers that decline, of which there are {result.declined}, are not among them." if result.declined else "",
        f"{result.unscored} have no type because the judge failed; they are in no share." if result.unscored else "",
        f"With only {n} answers the shares are rough." if n < FEW else "",
        "The types are a judge's: check them against people's before resting much on them.",
    ]
    return " ".join(filter(None, parts))


def check_paragraph(check: TypeCheck) -> str:
    """What it means, for people who do not program."""
    if check.accuracy.value is None:
        return "The judge gave none of the answers that people sorted a type: how far it agrees cannot be said."
    kappa = "undefined" if check.kappa.value is None else number(check.kappa.value)
    same = f"the judge gives {full_share(check.accuracy)} the same type"
    meaning = "0 is chance, 1 is full agreement"
    return f"Of {check.accuracy.n} answers that people sorted, {same} (Cohen's kappa {kappa}; {meaning})."
