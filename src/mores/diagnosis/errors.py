"""Kinds of errors: the wrong answers of a run, each given one of six types by a judge, with its reason.

MSQA, Section 4.3 and Appendix B: `taxonomy.toml` has the types of Table 5, a result the shares of Table 4 for one
model, `compare_models` the bars of Figure 9 for several, and `check_types` measures how well a judge agrees with
people. The types help people look at errors; they do not claim to explain what happens inside a model.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mores.benchmark.benchmark import Label
from mores.diagnosis.change import FEW
from mores.diagnosis.paired import LONGEST, Opened, map_groups, shorten
from mores.diagnosis.verdict import ask_judge, read_lines
from mores.engine import Answer, Asker, Job, Reply, read_reply
from mores.errors import InputError
from mores.formatting import full_share, number
from mores.io import read_records
from mores.io.values import read_packaged_toml
from mores.models import Request
from mores.prompts import hash_prompts, read_prompt
from mores.reading import without_thoughts
from mores.signature import sign
from mores.stats.agreement import cohen_kappa, cohen_kappa_interval
from mores.stats.results import mean_result, share_result
from mores.types import Failure, Item, Record, Result, Signature

VERSION = 1
TYPED = "errors.jsonl"
"""File with the judge's types."""
CASES = 20
"""At most this many answers of each type are listed."""
_PROMPT = read_prompt(__file__, "prompts/error-type.en")
_LINE = "TYPE"


class ErrorType(Record):
    """One type of error."""

    name: str
    definition: str


@cache
def taxonomy() -> tuple[ErrorType, ...]:
    """Return the six types, in the order of Table 5."""
    table = read_packaged_toml("mores.diagnosis", "taxonomy.toml")
    return tuple(ErrorType(**entry) for entry in table["types"])


@cache
def type_names() -> tuple[str, ...]:
    """Return the names of the types."""
    return tuple(kind.name for kind in taxonomy())


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
    """A wrong answer whose type a person chose: one line of a file for `check_types`."""

    item_id: str
    answer: str
    type: str


class _Wrong(NamedTuple):
    """A wrong answer that needs a type."""

    item: Item
    sample: int
    answer: str


@dataclass(frozen=True)
class ErrorJudge:
    """Asks a model for the type of every wrong answer."""

    run: Opened
    judge: Asker

    @property
    def identity(self) -> str:
        """The judge, its prompt and the types, for signatures."""
        return f"{self.judge.model.identity}.{hash_prompts(_PROMPT, _listed_types())}"

    def signature(self) -> Signature:
        """Return what must be the same for two results to be comparable."""
        return sign({"diagnosis": f"errors.{VERSION}", **self.run.fields, "types": self.identity})

    async def ask(self, path: Path) -> None:
        """Write the type of every wrong answer of the run to a file."""
        by_id = self._items()
        wrong = (
            _Wrong(by_id[verdict.item_id], verdict.sample, verdict.answer or "")
            for verdict in self.run.folder.verdicts()
            if verdict.label is Label.INCORRECT
        )
        total = sum(verdict.label is Label.INCORRECT for verdict in self.run.folder.verdicts())
        await self._write(wrong, path, "classifying errors", total)

    async def ask_labelled(self, labelled: Sequence[LabelledError], path: Path) -> None:
        """Write the judge's type of each labelled answer to a file, in the same order."""
        by_id = self._items()
        if unknown := next((answer.item_id for answer in labelled if answer.item_id not in by_id), None):
            raise InputError(f"{unknown!r} has a type, but {self.run.folder.path} has no such item; check its id")
        rows = (_Wrong(by_id[answer.item_id], 0, answer.answer) for answer in labelled)
        await self._write(rows, path, "checking the judge", len(labelled))

    def _items(self) -> dict[str, Item]:
        return {item.id: item for item in self.run.folder.items()}

    async def _write(self, wrong: Iterable[_Wrong], path: Path, task: str, total: int) -> None:
        def read(answer: Answer) -> Typed:
            row: _Wrong = answer.job.data
            return Typed(item_id=row.item.id, sample=row.sample, answer=row.answer, **read_type(read_reply(answer)))

        jobs = (Job(row.item.id, type_request(self.run, row.item, row.answer), data=row) for row in wrong)
        await self.judge.write(path, jobs, read, stage=f"{self.run.result.benchmark}: {task}", total=total)


def type_request(run_: Opened, item: Item, answer: str) -> Request:
    """Return the question for the type of a wrong answer; question, reference and answer are fenced."""
    texts = {
        "question": run_.question(item), "reference": "\nor\n".join(run_.reference(item)),
        "answer": without_thoughts(answer),
    }  # fmt: skip
    return ask_judge(_PROMPT, (_LINE,), {"types": _listed_types()}, texts)


def _listed_types() -> str:
    return "\n".join(f"{index}. {kind.name}: it {kind.definition}." for index, kind in enumerate(taxonomy(), 1))


def read_type(reply: Reply) -> dict[str, str | Failure | None]:
    """Return the type, the reason and the failure in a reply, which must end with its only line such as `TYPE: 3`."""
    numbers = {str(index): name for index, name in enumerate(type_names(), 1)}
    lines = reply if isinstance(reply, Failure) else read_lines(reply, {_LINE: tuple(numbers)})
    if isinstance(lines, Failure):
        return {"type": None, "reason": "", "failure": lines}
    return {"type": numbers[lines.values[_LINE]], "reason": lines.reason, "failure": None}


def read_labelled(path: Path) -> list[LabelledError]:
    """Return the answers whose type people gave; InputError for an unknown type."""
    labelled = list(read_records(path, LabelledError))
    for row, answer in enumerate(labelled, 1):
        if answer.type not in type_names():
            raise InputError(f"{path}: row {row}: no type {answer.type!r}; there are {'; '.join(type_names())}")
    return labelled


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
    signature: Signature
    answers: int
    """All answers with a grade, from which the share of errors follows."""
    declined: int
    """Those of them that decline: a refusal is not an error of these types."""
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


def diagnose_errors(run_: Opened, typed: Iterable[Typed], judge: str, signature: Signature) -> ErrorsResult:
    """Return the distribution over types of the wrong answers of a run, overall and by group."""
    by_id = {item.id: item for item in run_.folder.items()}
    rows, cases, listed, failures = list[_Row](), list[ErrorCase](), Counter[str](), Counter[str]()
    for answer in typed:
        if answer.item_id not in by_id:
            raise InputError(
                f"{run_.folder.path}: {answer.item_id!r} has a type, but the run has no such item; ask the judge again"
            )
        item = by_id[answer.item_id]
        rows.append(_Row(run_.benchmark.unit(item), answer.type, run_.groups(item)))
        if answer.type is None:
            failures[answer.failure.kind.value if answer.failure else "unknown"] += 1
            continue
        listed[answer.type] += 1
        if listed[answer.type] <= CASES:
            cases.append(ErrorCase(
                item_id=item.id, type=answer.type, question=shorten(run_.question(item), LONGEST),
                reference=run_.reference(item), answer=shorten(answer.answer, LONGEST),
                reason=shorten(answer.reason, LONGEST), groups=dict(rows[-1].groups),
            ))  # fmt: skip
    labels = Counter(verdict.label for verdict in run_.folder.verdicts())
    return ErrorsResult(
        model=run_.result.model, benchmark=run_.result.benchmark, judge=judge, signature=signature,
        answers=labels.total() - labels[None], declined=labels[Label.NOT_ATTEMPTED], ungraded=labels[None],
        wrong=len(rows), figures=shares(rows), counts={name: listed[name] for name in type_names()},
        by=map_groups(shares, rows, [row.groups for row in rows]), cases=tuple(cases), failures=dict(failures),
    )  # fmt: skip


class _Row(NamedTuple):
    """The parts of a wrong answer that the shares need."""

    unit: str
    type: str | None
    groups: Mapping[str, str]


def shares(rows: Sequence[_Row]) -> dict[str, Result]:
    """Return the share of each type; several answers to a question are not independent."""
    units = [row.unit for row in rows]
    return {
        name: mean_result(name, [math.nan if row.type is None else row.type == name for row in rows], groups=units)
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
    """Of all models together, the most frequent first."""
    models: tuple[ModelBar, ...]
    """The model with the most errors first."""
    notes: tuple[str, ...] = ()


def compare_models(results: Sequence[ErrorsResult]) -> ErrorTable:
    """Table 4 and Figure 9 for several models, with a note if the judge or the benchmark differs between them."""
    total = sum(result.wrong - result.unscored for result in results)
    unscored = sum(result.unscored for result in results)
    counts = {name: sum(result.counts[name] for result in results) for name in type_names()}
    rows = [TypeRow(type=name, count=n, share=share_result(name, n, total, unscored)) for name, n in counts.items()]
    bars = [
        ModelBar(model=r.model, wrong=r.wrong, unscored=r.unscored, counts=r.counts, shares=r.figures) for r in results
    ]
    notes = [
        f"the {field} differs: {', '.join(sorted(values))}"
        for field, values in {"judge": {r.judge for r in results}, "benchmark": {r.benchmark for r in results}}.items()
        if len(values) > 1
    ]
    ranked, largest = sorted(rows, key=lambda row: -row.count), sorted(bars, key=lambda bar: -bar.wrong)
    return ErrorTable(types=tuple(ranked), models=tuple(largest), notes=tuple(notes))


# ---- judge and people ------------------------------------------------------------------------------------------


class TypeCheck(Record):
    """The agreement of a judge with the types that people gave."""

    judge: str
    signature: Signature
    accuracy: Result
    kappa: Result
    """Cohen's; without a value where it is undefined."""
    confusion: dict[str, dict[str, int]]
    """How many answers have each type from people (outer) and from the judge (inner)."""
    recall: dict[str, Result]
    """Share to which the judge gives the same type, by the type that people gave."""
    failures: dict[str, int]


def check_types(
    labelled: Sequence[LabelledError], typed: Sequence[Typed], judge: str, signature: Signature
) -> TypeCheck:
    """Compare the judge's types (`ask_labelled`) with people's, answer by answer."""
    rows, judgements = ([(row.item_id, row.answer) for row in answers] for answers in (labelled, typed))
    if rows != judgements:
        raise InputError("the judge's types do not belong to the labelled answers in this order; ask the judge again")
    pairs = [(row.type, answer.type) for row, answer in zip(labelled, typed, strict=True) if answer.type is not None]
    failed = [answer.failure for answer in typed if answer.type is None]
    failures = Counter(failure.kind.value if failure else "unknown" for failure in failed)
    cells, unscored, names = Counter(pairs), failures.total(), type_names()
    people, judged = [expected for expected, _ in pairs], [actual for _, actual in pairs]
    kappa, (low, high) = cohen_kappa(people, judged), cohen_kappa_interval(people, judged, names) or (None, None)
    return TypeCheck(
        judge=judge, signature=signature,
        accuracy=share_result("accuracy", sum(expected == actual for expected, actual in pairs), len(pairs), unscored),
        kappa=Result(name="kappa", value=kappa, low=low, high=high, n=len(pairs), unscored=unscored),
        confusion={expected: {actual: cells[expected, actual] for actual in names} for expected in names},
        recall={name: share_result(name, cells[name, name], people.count(name)) for name in names},
        failures=dict(failures),
    )  # fmt: skip


# ---- words -----------------------------------------------------------------------------------------------------


def paragraph(result: ErrorsResult) -> str:
    """Return the result in plain words."""
    n = result.wrong - result.unscored
    if not result.wrong:
        return f"None of the {result.answers} graded answers of {result.model} is wrong: there is nothing to classify."
    if not n:
        return f"The judge gave a type to none of the {result.wrong} wrong answers of {result.model}."
    ranked = sorted(result.figures.values(), key=lambda share: -(share.value or 0.0))
    most, second = ranked[0], ranked[1]
    apart = most.low is not None and second.high is not None and most.low > second.high
    parts = [
        f"{result.wrong} of {result.answers} graded answers of {result.model} are wrong, and {result.judge} gave {n} of"
        f" them a type.",
        f"The most frequent is {most.name}, with {full_share(most)}"
        + (f", and then {second.name}, with {full_share(second)}." if second.value else "."),
        "" if apart else "Which of the two is more frequent is uncertain: their intervals overlap.",
        f"The {result.declined} answers that decline are not among them." if result.declined else "",
        f"{result.unscored} have no type because the judge failed; they are excluded from the shares."
        if result.unscored
        else "",
        f"With only {n} answers, the shares are rough estimates." if n < FEW else "",
        "The types come from a judge: check them against people's before relying on them.",
    ]
    return " ".join(filter(None, parts))


def check_paragraph(check: TypeCheck) -> str:
    """Return the result in plain words."""
    if check.accuracy.value is None:
        return "The judge gave a type to none of the answers that people classified, so its agreement is unknown."
    kappa = "undefined" if check.kappa.value is None else number(check.kappa.value)
    same = f"the judge gives {full_share(check.accuracy)} the same type"
    meaning = "0 is chance, 1 is full agreement"
    return f"Of {check.accuracy.n} answers that people classified, {same} (Cohen's kappa {kappa}; {meaning})."
