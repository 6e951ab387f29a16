"""How far a judge can be trusted: answers whose grade is known are given to it.

Of every item five answers are made: the right one, the right one in many words, the answer of another item (in the same
language where there is one), that in many words, and a refusal. A judge without fault calls the first two correct and
the others not. Answers that people have graded can be given besides (`Labelled`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from mores.bench.benchmark import Label, Verdict
from mores.bench.run import Said
from mores.errors import InputError
from mores.factory.drafts import draw
from mores.io import JsonlWriter, read_records
from mores.stats.agreement import cohen_kappa
from mores.stats.intervals import newcombe, wilson
from mores.types import Item, Record, Response, Result


class Probe(StrEnum):
    """A kind of answer whose grade is known."""

    RIGHT = "right"
    WORDY_RIGHT = "right, in many words"
    WRONG = "wrong"
    WORDY_WRONG = "wrong, in many words"
    REFUSAL = "refusal"
    LABELLED = "graded by people"


PROBES = tuple(Probe)
CORRECT = {Probe.RIGHT, Probe.WORDY_RIGHT}
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
    signature: str
    agreement: Result
    """Share of answers that are graded as they should be: correct, or not."""
    kappa: float | None
    """Cohen's, of the same."""
    probes: dict[str, Result]
    """The share by kind of answer."""
    languages: dict[str, Result]
    """And by language: a judge may read one language worse than another."""
    biases: dict[str, Result]
    """How much more often an answer is called correct because it has many words; 0 is no bias."""


def write_probes(items: Sequence[Item], labelled: Iterable[Labelled], path: Path) -> int:
    """Put the answers into a file, as if a model had said them; how many there are."""
    known = {item.id for item in items}
    others, count = _others(items), 0
    with JsonlWriter(path) as writer:
        for item in items:
            for probe, answer in _answers(item, others.get(item.id)):
                writer.write(_said(item.id, probe, answer))
                count += 1
        for row in labelled:
            if row.item_id not in known:
                raise InputError(f"an answer is graded to {row.item_id!r}, which the benchmark has not; check its id")
            writer.write(_said(row.item_id, Probe.LABELLED, row.answer))
            count += 1
    return count


def check(
    items: Sequence[Item], labelled: Sequence[Labelled], verdicts: Path, judge: str, signature: str
) -> JudgeCheck:
    """Compare a judge's verdicts on the answers with what they should be."""
    languages = {item.id: item.language or "unknown" for item in items}
    should = iter(labelled)
    rows: list[tuple[Probe, str, bool, bool | None]] = []
    for verdict in read_records(verdicts, Verdict):
        probe = PROBES[verdict.sample]
        wanted = next(should).label is Label.CORRECT if probe is Probe.LABELLED else probe in CORRECT
        given = None if verdict.label is None else verdict.label is Label.CORRECT
        rows.append((probe, languages[verdict.item_id], wanted, given))
    graded = [(wanted, given) for _, _, wanted, given in rows if given is not None]
    return JudgeCheck(
        judge=judge,
        signature=signature,
        agreement=_share("agreement", [(wanted, given) for _, _, wanted, given in rows]),
        kappa=cohen_kappa([int(a) for a, _ in graded], [int(b) for _, b in graded]) if graded else None,
        probes=_by((probe.value, wanted, given) for probe, _, wanted, given in rows),
        languages=_by((language, wanted, given) for _, language, wanted, given in rows),
        biases=_biases(rows),
    )


def _answers(item: Item, other: str | None) -> Iterator[tuple[Probe, str]]:
    if item.target:
        yield Probe.RIGHT, item.target[0]
        yield Probe.WORDY_RIGHT, WORDS.replace("{answer}", item.target[0])
    if other is not None:
        yield Probe.WRONG, other
        yield Probe.WORDY_WRONG, WORDS.replace("{answer}", other)
    yield Probe.REFUSAL, REFUSE


def _others(items: Sequence[Item]) -> dict[str, str]:
    """The answer of another item for each, which is none of its own; items of a language are drawn into a circle."""
    circles: dict[str | None, list[Item]] = defaultdict(list)
    for item in sorted(items, key=lambda item: draw(0, item.id)):
        circles[item.language].append(item)
    found: dict[str, str] = {}
    for circle in circles.values():
        for place, item in enumerate(circle):
            own = {answer.casefold() for answer in item.target}
            rest = (other.target[0] for other in circle[place + 1 :] + circle[:place] if other.target)
            wrong = next((answer for answer in rest if answer.casefold() not in own), None)
            if wrong is not None:
                found[item.id] = wrong
    return found


def _said(item: str, probe: Probe, answer: str) -> Said:
    return Said(sample=PROBES.index(probe), response=Response(item_id=item, model="probe", text=answer))


Pairs = Sequence[tuple[bool, bool | None]]
"""What should be, and what is; None where the judge gave no grade."""


def _share(name: str, pairs: Pairs) -> Result:
    graded = [(wanted, given) for wanted, given in pairs if given is not None]
    hits = sum(wanted == given for wanted, given in graded)
    low, high = wilson(hits, len(graded))
    value = hits / len(graded) if graded else None
    return Result(name=name, value=value, low=low, high=high, n=len(graded), unscored=len(pairs) - len(graded))


def _by(rows: Iterable[tuple[str, bool, bool | None]]) -> dict[str, Result]:
    found: dict[str, list[tuple[bool, bool | None]]] = defaultdict(list)
    for name, wanted, given in rows:
        found[name].append((wanted, given))
    return {name: _share(name, pairs) for name, pairs in found.items()}


def _biases(rows: Iterable[tuple[Probe, str, bool, bool | None]]) -> dict[str, Result]:
    called: Mapping[Probe, list[bool]] = defaultdict(list)
    for probe, _, _, given in rows:
        if given is not None:
            called[probe].append(given)
    pairs = {
        "many words, right": (Probe.WORDY_RIGHT, Probe.RIGHT),
        "many words, wrong": (Probe.WORDY_WRONG, Probe.WRONG),
    }
    found = {}
    for name, (wordy, plain) in pairs.items():
        one, two = called[wordy], called[plain]
        if one and two:
            low, high = newcombe(sum(one), len(one), sum(two), len(two))
            value = sum(one) / len(one) - sum(two) / len(two)
            found[name] = Result(name=name, value=value, low=low, high=high, n=len(one) + len(two))
    return found
