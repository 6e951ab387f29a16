"""The trust that a judge deserves: it grades answers whose grade is known.

Five answers are made for every item: the correct one, the correct one in many words, the answer of another item (in the
same language where there is one), that in many words, and a refusal. A perfect judge calls the first two correct, the
next two incorrect and the last not attempted, if it distinguishes these. Answers that people have graded can be added
(`Labelled`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from typing import NamedTuple

import numpy as np
from pydantic import Field

from mores.benchmark.benchmark import Judging, Label, Verdict
from mores.benchmark.run import Said
from mores.errors import InputError
from mores.factory.drafts import draw
from mores.formatting import count, number, share_between
from mores.run import Run
from mores.stats.agreement import cohen_kappa
from mores.stats.intervals import difference_interval, share_interval
from mores.stats.ratio import Ratio
from mores.stats.results import ratio_result
from mores.types import Item, Record, Response, Result, Signature


class Probe(StrEnum):
    """A kind of answer whose grade is known."""

    CORRECT = "correct"
    WORDY_CORRECT = "correct, in many words"
    WRONG = "wrong"
    WORDY_WRONG = "wrong, in many words"
    REFUSAL = "refusal"
    LABELLED = "graded by people"


PROBES, LABELS = tuple(Probe), tuple(Label)
EXPECTED = {
    Probe.CORRECT: Label.CORRECT,
    Probe.WORDY_CORRECT: Label.CORRECT,
    Probe.WRONG: Label.INCORRECT,
    Probe.WORDY_WRONG: Label.INCORRECT,
    Probe.REFUSAL: Label.NOT_ATTEMPTED,
}
"""The label that each should get; people gave it to those that they graded."""
UNSCORED = "unscored"
RESULT = "judge-check.json"
PROTOCOL = "protocol.jsonl"
"""The verdicts by the other protocol."""
WORDS = (
    "That is a good question, and there is a good deal to say about it. Many people have thought about this for a long"
    " time. Taking everything together, and having considered it from several sides, the answer is: {answer}. There is"
    " of course more that one could add, but this is what matters here."
)
REFUSE = "I am sorry, but I do not know the answer to this."


class LabelledAnswer(Record):
    """An answer that a person has graded."""

    item_id: str
    answer: str
    label: Label


class ProtocolAgreement(Record):
    """The agreement of two protocols, ours and that of MSQA's authors, on the grades of answers by the same model."""

    agreement: Result
    """Share of the answers that both grade; what either could not is unscored."""
    kappa: float | None
    grades: dict[str, dict[str, int]]
    """How many answers have each grade by our protocol (outer) and by the other (inner)."""
    known: Result
    """Share of answers to which the other protocol gives the expected grade."""


class JudgeCheck(Record):
    """The grades of a judge for answers whose grade is known."""

    judge: str
    signature: Signature
    agreement: Result
    """Share of answers with the expected label: correct, incorrect or, if the judge has it, not attempted."""
    kappa: float | None
    """Cohen's, of the same."""
    probes: dict[str, Result]
    """The share by kind of answer."""
    grades: dict[str, dict[str, int]]
    """The labels of the answers of each kind, and how many have none."""
    languages: dict[str, Result]
    """And by language: a judge may read one language worse than another."""
    biases: dict[str, Result]
    """How much more often an answer is called correct because it has many words; 0 is no bias."""
    protocol: ProtocolAgreement | None = Field(None, exclude_if=lambda protocol: protocol is None)
    """How often another protocol gives the same grade, where one was named."""

    @property
    def headline(self) -> str:
        """The result in one line."""
        kappa = "" if self.kappa is None else f", Cohen's κ {number(self.kappa, 3)}"
        share = share_between(self.agreement)
        return f"{self.judge} grades {share} of {count(self.agreement.n)} answers correctly{kappa}"


class JudgeCheckRun(Run):
    """A run of `mores judge-check`: the answers, the judge's verdicts on them, and the result."""

    @cached_property
    def result(self) -> JudgeCheck:
        """All figures."""
        return self.record(RESULT, JudgeCheck)


def make_probes(items: Sequence[Item], labelled: Iterable[LabelledAnswer], known: Iterable[Item]) -> list[Said]:
    """Return the answers to grade, as if a model had given them.

    They are made of `items`; people may have graded answers to any of the `known` ones.
    """
    others, ids = _others(items), {item.id for item in known}
    answers: list[tuple[str, Probe, str]] = []
    for item in items:
        for plain, wordy, answer in (
            (Probe.CORRECT, Probe.WORDY_CORRECT, next(iter(item.target), None)),
            (Probe.WRONG, Probe.WORDY_WRONG, others.get(item.id)),
        ):
            if answer is not None:
                answers += [(item.id, plain, answer), (item.id, wordy, WORDS.replace("{answer}", answer))]
        answers.append((item.id, Probe.REFUSAL, REFUSE))
    for row in labelled:
        if row.item_id not in ids:
            raise InputError(f"a graded answer is to {row.item_id!r}, which is not in the benchmark; check its id")
        answers.append((row.item_id, Probe.LABELLED, row.answer))
    return [
        Said(sample=PROBES.index(probe), response=Response(item_id=item_id, model="probe", text=text))
        for item_id, probe, text in answers
    ]


def probes_hash(probes: Iterable[Said], labelled: Iterable[LabelledAnswer]) -> str:
    """Eight digits that change when an answer does, or the grade that people gave it."""
    total = blake2b(digest_size=4)
    for record in (*probes, *labelled):
        total.update(record.model_dump_json().encode("utf-8", "surrogatepass"))
    return total.hexdigest()


class CheckedAnswer(NamedTuple):
    """One answer: the label that it should get, and the judge's, None where it gave none."""

    probe: Probe
    item: Item
    expected: Label
    actual: Label | None


def check(
    known: Iterable[Item],
    labelled: Sequence[LabelledAnswer],
    verdicts: Iterable[Verdict],
    judging: Judging,
    judge: str,
    signature: Signature,
) -> JudgeCheck:
    """Compare a judge's verdicts on the answers with what they should be."""
    by_id, should = {item.id: item for item in known}, iter(labelled)
    rows: list[CheckedAnswer] = []
    for verdict in verdicts:
        probe = PROBES[verdict.sample]
        expected = next(should).label if probe is Probe.LABELLED else EXPECTED[probe]
        rows.append(CheckedAnswer(probe, by_id[verdict.item_id], expected, verdict.label))
    if Label.NOT_ATTEMPTED not in judging.labels:
        not_correct = {Label.NOT_ATTEMPTED: Label.INCORRECT}
        rows = [
            row._replace(
                expected=not_correct.get(row.expected, row.expected),
                actual=row.actual and not_correct.get(row.actual, row.actual),
            )
            for row in rows
        ]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        counts[row.probe.value][row.actual.value if row.actual else UNSCORED] += 1
    order = [*(label.value for label in LABELS), UNSCORED]
    pairs = [(LABELS.index(row.expected), LABELS.index(row.actual)) for row in rows if row.actual]
    return JudgeCheck(
        judge=judge,
        signature=signature,
        agreement=_share("agreement", rows),
        kappa=cohen_kappa([expected for expected, _ in pairs], [actual for _, actual in pairs]) if pairs else None,
        probes=_group(rows, lambda row: row.probe.value),
        grades={name: {grade: n[grade] for grade in order if n[grade]} for name, n in counts.items()},
        languages=_group(rows, lambda row: row.item.language or "unknown"),
        biases=_biases(rows),
    )


def compare_protocols(
    known: Iterable[Item], theirs: JudgeCheck, pairs: Iterable[tuple[Verdict, Verdict]]
) -> ProtocolAgreement:
    """Compare the grades that two protocols give to the same answers, in the same order."""
    by_id, rows, cells = (
        {item.id: item for item in known},
        list[CheckedAnswer](),
        defaultdict[str, Counter[str]](Counter),
    )
    for one, other in pairs:
        cells[one.label or UNSCORED][other.label or UNSCORED] += 1
        graded = other.label if one.label else None
        rows.append(CheckedAnswer(PROBES[one.sample], by_id[one.item_id], one.label or Label.CORRECT, graded))
    both = [(LABELS.index(row.expected), LABELS.index(row.actual)) for row in rows if row.actual]
    order = [*(label.value for label in LABELS), UNSCORED]
    return ProtocolAgreement(
        agreement=_share("agreement", rows),
        kappa=cohen_kappa([one for one, _ in both], [other for _, other in both]) if both else None,
        grades={
            one: {other: cells[one][other] for other in order if cells[one][other]} for one in order if one in cells
        },
        known=theirs.agreement,
    )


def _others(items: Sequence[Item]) -> dict[str, str]:
    """Return for each item an answer of another one, in the same language where there is one."""
    drawn = sorted((item for item in items if item.target), key=lambda item: draw(0, item.id))
    circles: dict[str | None, list[Item]] = defaultdict(list)
    for item in drawn:
        circles[item.language].append(item)
    answers: dict[str, str] = {}
    for circle in circles.values():
        for place, item in enumerate(circle):
            targets = {answer.casefold() for answer in item.target}
            rest = (other.target[0] for other in chain(circle[place + 1 :], circle[:place], drawn))
            wrong = next((candidate for candidate in rest if candidate.casefold() not in targets), None)
            if wrong is not None:
                answers[item.id] = wrong
    return answers


def _share(name: str, rows: Sequence[CheckedAnswer]) -> Result:
    """Return the share of correct grades; answers to one item are not independent, so the interval is that of items."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in rows:
        counts[row.item.id][2 if not row.actual else row.expected is not row.actual] += 1
    units = np.array(list(counts.values()), dtype=np.float64).reshape(-1, 3)
    return ratio_result(name, Ratio((1, 0), (1, 1)), units[:, :2], int(units[:, :2].sum()), units[:, 2])


def _group(rows: Iterable[CheckedAnswer], group: Callable[[CheckedAnswer], str]) -> dict[str, Result]:
    groups: dict[str, list[CheckedAnswer]] = defaultdict(list)
    for row in rows:
        groups[group(row)].append(row)
    return {name: _share(name, members) for name, members in groups.items()}


def _biases(rows: Iterable[CheckedAnswer]) -> dict[str, Result]:
    called: Mapping[Probe, list[bool]] = defaultdict(list)
    for row in rows:
        if row.actual:
            called[row.probe].append(row.actual is Label.CORRECT)
    pairs = {
        "many words, correct": (Probe.WORDY_CORRECT, Probe.CORRECT),
        "many words, wrong": (Probe.WORDY_WRONG, Probe.WRONG),
    }
    biases = {}
    for name, (wordy, plain) in pairs.items():
        many, few = called[wordy], called[plain]
        if many and few:
            first, second = ((sum(flags) / len(flags), share_interval(sum(flags), len(flags))) for flags in (many, few))
            low, high = difference_interval(first, second)
            value = first[0] - second[0]
            biases[name] = Result(name=name, value=value, low=low, high=high, n=len(many) + len(few))
    return biases
