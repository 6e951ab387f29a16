"""How far a judge can be trusted: answers whose grade is known are given to it.

Of every item five answers are made: the correct one, the correct one in many words, the answer of another item (in the
same language where there is one), that in many words, and a refusal. A judge without fault calls the first two correct,
the next two incorrect and the last not attempted, where it tells these apart. Answers that people have graded can be
given besides (`Labelled`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mores.bench.benchmark import Judging, Label, Verdict
from mores.bench.run import Said
from mores.errors import InputError
from mores.factory.drafts import draw
from mores.io import JsonlWriter
from mores.stats.agreement import cohen_kappa
from mores.stats.intervals import Ratio, difference_interval, share_interval
from mores.types import Item, Record, Response, Result, Signature


class Probe(StrEnum):
    """A kind of answer whose grade is known."""

    RIGHT = "right"
    WORDY_RIGHT = "right, in many words"
    WRONG = "wrong"
    WORDY_WRONG = "wrong, in many words"
    REFUSAL = "refusal"
    LABELLED = "graded by people"


PROBES, LABELS = tuple(Probe), tuple(Label)
WANTED = {
    Probe.RIGHT: Label.CORRECT,
    Probe.WORDY_RIGHT: Label.CORRECT,
    Probe.WRONG: Label.INCORRECT,
    Probe.WORDY_WRONG: Label.INCORRECT,
    Probe.REFUSAL: Label.NOT_ATTEMPTED,
}
"""What each should be called; people say it of those that they graded."""
UNSCORED = "unscored"
WORDS = (
    "That is a good question, and there is a good deal to say about it. Many people have thought about this for a long"
    " time. Taking everything together, and having considered it from several sides, the answer is: {answer}. There is"
    " of course more that one could add, but this is what matters here."
)
REFUSE = "I am sorry, but I do not know the answer to this."


class Labelled(Record):
    """An answer that a person has graded."""

    item_id: str
    answer: str
    label: Label


class JudgeCheck(Record):
    """What a judge makes of answers whose grade is known."""

    judge: str
    signature: Signature
    agreement: Result
    """Share of answers that are called what they are: correct, incorrect or, where the judge says so, not attempted."""
    kappa: float | None
    """Cohen's, of the same."""
    probes: dict[str, Result]
    """The share by kind of answer."""
    grades: dict[str, dict[str, int]]
    """What the answers of each kind were called, and how many have no grade."""
    languages: dict[str, Result]
    """And by language: a judge may read one language worse than another."""
    biases: dict[str, Result]
    """How much more often an answer is called correct because it has many words; 0 is no bias."""


def write_probes(items: Sequence[Item], labelled: Iterable[Labelled], known: Iterable[Item], path: Path) -> int:
    """Put the answers into a file, as if a model had said them; how many there are.

    Answers are made of `items`; people may have graded those to any of the `known` ones.
    """
    others, ids, count = _others(items), {item.id for item in known}, 0
    with JsonlWriter(path) as writer:
        for item in items:
            for probe, answer in _answers(item, others.get(item.id)):
                writer.write(_said(item.id, probe, answer))
                count += 1
        for row in labelled:
            if row.item_id not in ids:
                raise InputError(f"an answer is graded to {row.item_id!r}, which the benchmark has not; check its id")
            writer.write(_said(row.item_id, Probe.LABELLED, row.answer))
            count += 1
    return count


class Checked(NamedTuple):
    """One answer: what it should be called, and what the judge calls it, None where it gave no grade."""

    probe: Probe
    item: Item
    wanted: Label
    given: Label | None


def check(
    known: Iterable[Item],
    labelled: Sequence[Labelled],
    verdicts: Iterable[Verdict],
    judging: Judging,
    judge: str,
    signature: Signature,
) -> JudgeCheck:
    """Compare a judge's verdicts on the answers with what they should be."""
    by_id, should = {item.id: item for item in known}, iter(labelled)
    rows: list[Checked] = []
    for verdict in verdicts:
        probe = PROBES[verdict.sample]
        wanted = next(should).label if probe is Probe.LABELLED else WANTED[probe]
        rows.append(Checked(probe, by_id[verdict.item_id], wanted, verdict.label))
    if Label.NOT_ATTEMPTED not in judging.labels:
        not_correct = {Label.NOT_ATTEMPTED: Label.INCORRECT}
        rows = [
            row._replace(
                wanted=not_correct.get(row.wanted, row.wanted),
                given=row.given and not_correct.get(row.given, row.given),
            )
            for row in rows
        ]
    pairs = [(LABELS.index(row.wanted), LABELS.index(row.given)) for row in rows if row.given]
    return JudgeCheck(
        judge=judge,
        signature=signature,
        agreement=_share("agreement", rows),
        kappa=cohen_kappa([wanted for wanted, _ in pairs], [given for _, given in pairs]) if pairs else None,
        probes=_by(rows, lambda row: row.probe.value),
        grades=_grades(rows),
        languages=_by(rows, lambda row: row.item.language or "unknown"),
        biases=_biases(rows),
    )


def _grades(rows: Iterable[Checked]) -> dict[str, dict[str, int]]:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        found[row.probe.value][row.given.value if row.given else UNSCORED] += 1
    order = [*(label.value for label in LABELS), UNSCORED]
    return {name: {grade: own[grade] for grade in order if own[grade]} for name, own in found.items()}


def _answers(item: Item, other: str | None) -> Iterator[tuple[Probe, str]]:
    if item.target:
        yield Probe.RIGHT, item.target[0]
        yield Probe.WORDY_RIGHT, WORDS.replace("{answer}", item.target[0])
    if other is not None:
        yield Probe.WRONG, other
        yield Probe.WORDY_WRONG, WORDS.replace("{answer}", other)
    yield Probe.REFUSAL, REFUSE


def _others(items: Sequence[Item]) -> dict[str, str]:
    """The answer of another item for each, which is none of its own; of the same language where there is one."""
    drawn = sorted((item for item in items if item.target), key=lambda item: draw(0, item.id))
    circles: dict[str | None, list[Item]] = defaultdict(list)
    for item in drawn:
        circles[item.language].append(item)
    found: dict[str, str] = {}
    for circle in circles.values():
        for place, item in enumerate(circle):
            own = {answer.casefold() for answer in item.target}
            rest = (other.target[0] for other in chain(circle[place + 1 :], circle[:place], drawn))
            wrong = next((answer for answer in rest if answer.casefold() not in own), None)
            if wrong is not None:
                found[item.id] = wrong
    return found


def _said(item: str, probe: Probe, answer: str) -> Said:
    return Said(sample=PROBES.index(probe), response=Response(item_id=item, model="probe", text=answer))


def _share(name: str, rows: Sequence[Checked]) -> Result:
    """Answers to one item are not independent: the interval is that of items."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in rows:
        if row.given:
            counts[row.item.id][row.wanted is not row.given] += 1
    n, figure = sum(map(sum, counts.values())), Ratio((1, 0), (1, 1))
    if not n:
        return Result(name=name, value=None, unscored=len(rows))
    units = np.array(list(counts.values()), dtype=np.float64)
    low, high = figure.interval(units)
    value = float(figure.value(units.sum(axis=0)[:, None])[0])
    return Result(name=name, value=value, low=low, high=high, n=n, unscored=len(rows) - n)


def _by(rows: Iterable[Checked], group: Callable[[Checked], str]) -> dict[str, Result]:
    found: dict[str, list[Checked]] = defaultdict(list)
    for row in rows:
        found[group(row)].append(row)
    return {name: _share(name, own) for name, own in found.items()}


def _biases(rows: Iterable[Checked]) -> dict[str, Result]:
    called: Mapping[Probe, list[bool]] = defaultdict(list)
    for row in rows:
        if row.given:
            called[row.probe].append(row.given is Label.CORRECT)
    pairs = {
        "many words, right": (Probe.WORDY_RIGHT, Probe.RIGHT),
        "many words, wrong": (Probe.WORDY_WRONG, Probe.WRONG),
    }
    found = {}
    for name, (wordy, plain) in pairs.items():
        one, two = called[wordy], called[plain]
        if one and two:
            first, second = ((sum(own) / len(own), share_interval(sum(own), len(own))) for own in (one, two))
            low, high = difference_interval(first, second)
            value = first[0] - second[0]
            found[name] = Result(name=name, value=value, low=low, high=high, n=len(one) + len(two))
    return found
