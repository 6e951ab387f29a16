"""Native versus English: the same model on two versions of the same questions, and what is lost in between.

It takes two runs of one benchmark, such as `culturall` and its variant `english`. Questions with the same text in both,
such as those about English-speaking places, can show no difference: they are excluded and counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path

from mores.benchmark.benchmark import Benchmark, Label
from mores.diagnosis.change import (
    GAIN,
    By,
    RunChange,
    Uncertain,
    change_of,
    changes_by,
    language_words,
    significance_words,
    uncertain_of,
    uncertain_words,
)
from mores.diagnosis.paired import LONGEST, AskedQuestion, Opened, PairedRuns, QuestionPair, open_run, shorten
from mores.errors import ConfigError
from mores.formatting import full_points, full_share, p_equals
from mores.signature import sign
from mores.types import Record, Result, Signature

VERSION = 1
CASES = 100
"""At most this many questions are listed in each direction."""
NATIVE = "natively"
SAME_TEXT = "the same question in both"


class QuestionVersion(Record):
    """One version of a question, and the answer."""

    question: str
    reference: tuple[str, ...]
    answer: str
    label: Label | None
    credit: float | None
    """Share of correct answers, if it was asked several times."""


class TranslationCase(Record):
    """A question that is correct in one version and wrong in the other."""

    unit: str
    first: QuestionVersion
    second: QuestionVersion
    groups: dict[str, str]


class TranslationResult(Record):
    """The changes for one model between two versions of the questions."""

    model: str
    benchmark: str
    names: tuple[str, str]
    """The two versions, for example `natively` and `in English`."""
    signature: Signature
    figures: dict[str, Result]
    """The accuracy in each version, and the gain: the second minus the first."""
    change: RunChange
    by: By
    lost: tuple[TranslationCase, ...]
    """Correct in the first version, wrong in the second; `change.matrix` has the total number."""
    won: tuple[TranslationCase, ...]
    """Wrong in the first version, correct in the second."""
    uncertain: Uncertain
    left_out: dict[str, int]
    """Questions that could not be compared, by reason."""
    notes: tuple[str, ...] = ()


def open_versions(
    path: Path, other_path: Path, *, benchmark: Benchmark | None = None, force: bool = False
) -> PairedRuns:
    """Return the runs in two folders, the original first; ConfigError if they differ in more than the version."""
    first, second = sorted(
        (open_run(path, benchmark), open_run(other_path, benchmark)), key=lambda run: run.variant is not None
    )
    if first.variant == second.variant:
        fix = "give one run of `mores bench` without a variant and one with it"
        raise ConfigError(f"{path} and {other_path}: both were asked {_name(first)}; {fix}")
    same, alike = ("benchmark", "data", "model"), ("decoding", "judge", "search")
    runs = PairedRuns.make(first, second, (_name(first), _name(second)), same, alike, force)
    different = [pair for pair in runs.pairs if pair.first.question != pair.second.question]
    identical = {SAME_TEXT: len(runs.pairs) - len(different)} if len(different) < len(runs.pairs) else {}
    return replace(runs, pairs=different, left_out={**runs.left_out, **identical})


def _name(run: Opened) -> str:
    if run.variant is None:
        return NATIVE
    return "in English" if run.variant == "english" else f"as {run.variant}"


def diagnose_translation(versions: PairedRuns) -> TranslationResult:
    """Compare two runs."""
    pairs, names = versions.pairs, versions.names
    unscored = sum(count for reason, count in versions.left_out.items() if reason != SAME_TEXT)
    change = change_of(pairs, names, unscored)
    against = versions.second.fields.get("task", "")
    signature = sign({"diagnosis": f"translation.{VERSION}", **versions.first.fields, "against": against})
    return TranslationResult(
        model=versions.first.result.model, benchmark=versions.first.result.benchmark, names=names,
        signature=signature, figures=change.figures, change=change,
        by=changes_by(pairs, [pair.groups for pair in pairs], names),
        lost=_cases(pair for pair in pairs if pair.first.correct and not pair.second.correct),
        won=_cases(pair for pair in pairs if pair.second.correct and not pair.first.correct),
        uncertain=uncertain_of(pairs, names), left_out=dict(versions.left_out), notes=versions.notes,
    )  # fmt: skip


def _cases(pairs: Iterable[QuestionPair]) -> tuple[TranslationCase, ...]:
    return tuple(
        TranslationCase(
            unit=pair.first.unit, first=_version(pair.first), second=_version(pair.second), groups=pair.groups
        )
        for pair in islice(pairs, CASES)
    )


def _version(asked: AskedQuestion) -> QuestionVersion:
    return QuestionVersion(
        question=shorten(asked.question, LONGEST), reference=asked.reference, answer=shorten(asked.answer, LONGEST),
        label=asked.label, credit=asked.credit,
    )  # fmt: skip


def paragraph(result: TranslationResult) -> str:
    """Return the result in plain words."""
    first, second = result.names
    change, matrix, n = result.change, result.change.matrix, result.change.gain.n
    if not n:
        return f"No question of {result.benchmark} has a grade both {first} and {second}, so nothing can be compared."
    same = result.left_out.get(SAME_TEXT, 0)
    missing = sum(result.left_out.values()) - same
    better = second if (change.gain.value or 0.0) > 0 else first
    certain = change.p is not None and change.p < 0.05
    parts = [
        f"Asked {first}, {result.model} answers {full_share(result.figures[first])} of {n} questions correctly; asked"
        f" {second}, {full_share(result.figures[second])} of the same questions: a change of"
        f" {full_points(result.figures[GAIN])}.",
        significance_words(change.p, change.gain),
        f"It is better if asked {better}." if certain else "Neither version is significantly better.",
        f"{matrix.first} questions are correct only {first} and {matrix.second} only {second}"
        f" (McNemar's exact test: {p_equals(1.0 if change.mcnemar is None else change.mcnemar)}); {matrix.neither} are"
        " wrong both ways.",
        language_words(result.by),
        uncertain_words(result.uncertain),
        f"{same} questions have the same text in both and are excluded." if same else "",
        f"{missing} more could not be compared, because an answer or a grade is missing." if missing else "",
    ]
    return " ".join(filter(None, parts))
