"""What failures of judge and search do to the figures: at random they move none, and the bounds cover all others."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from functools import cache
from statistics import fmean

import pytest

from mores.longanswer.records import Appraisal, Claim, LanguageCheck, LongAnswer, QuestionKind
from mores.longanswer.summary import Counting, figures, parts_of, summarise
from mores.types import Failure, FailureKind, Result

DOWN = Failure(kind=FailureKind.MODEL, reason="the server is down")
FIGURES = ("S", "precision", "recall", "F1", "relevance", "without issues")
COUNTING = Counting(k=6)
Pair = tuple[LongAnswer, Appraisal]
Spoil = Callable[[random.Random, Appraisal], dict[str, object]]
"""What a failure leaves of an appraisal."""


@cache
def truth(count: int = 300) -> tuple[Pair, ...]:
    """Answers as they are, with all that makes a careless average go wrong.

    Three in ten have a surface issue, one in eight makes no claim, and longer answers are better and more relevant.
    """
    draw = random.Random(7)
    pairs = []
    for n in range(count):
        answer = LongAnswer(
            id=str(n), question=f"{n}?", answer="!", language="fj", model="m", kind=QuestionKind.SPECIFIC
        )
        if draw.random() < 0.3:
            check = LanguageCheck(detected="en", correct=False)
            pairs.append((answer, Appraisal(id=answer.id, model="m", language=check)))
            continue
        size = 0 if draw.random() < 0.125 else draw.randint(1, 9)
        claims = tuple(Claim(text=str(i), sentence=i, supported=draw.random() < 0.3 + 0.07 * size) for i in range(size))
        pairs.append((answer, Appraisal(
            id=answer.id, model="m", language=LanguageCheck(detected="fj", correct=True), claims=claims,
            relevant=draw.random() < 0.5 + 0.05 * size,
        )))  # fmt: skip
    return tuple(pairs)


def undecided(claims: tuple[Claim, ...], fails: Callable[[], bool]) -> tuple[Claim, ...]:
    """Some claims without a verdict."""
    return tuple(
        claim.model_copy(update={"supported": None, "failure": DOWN}) if fails() else claim for claim in claims
    )


def each_claim(share: float) -> Spoil:
    """The search or the verifier fails for claims one by one."""

    def spoil(draw: random.Random, appraisal: Appraisal) -> dict[str, object]:
        claims = undecided(appraisal.claims or (), lambda: draw.random() < share)
        failed = any(claim.failure for claim in claims)
        return {"claims": claims, "failures": {"verification": DOWN} if failed else {}}

    return spoil


def each_answer(share: float, what: str) -> Spoil:
    """A stage fails for all of an answer."""

    def spoil(draw: random.Random, appraisal: Appraisal) -> dict[str, object]:
        if draw.random() >= share:
            return {}
        lost: dict[str, dict[str, object]] = {
            "translation": {"claims": None, "relevant": None},
            "claims": {"claims": None, "read": 0.0},
            "search": {"claims": undecided(appraisal.claims or (), lambda: True)},
            "relevance": {"relevant": None},
        }
        none = what == "search" and not appraisal.claims
        return {} if none else {**lost[what], "failures": {what: DOWN}}

    return spoil


def each_sentence(share: float) -> Spoil:
    """The extractor fails for sentences one by one: here every claim has its own, and one more has none."""

    def spoil(draw: random.Random, appraisal: Appraisal) -> dict[str, object]:
        read = [draw.random() >= share for _ in range(len(appraisal.claims or ()) + 1)]
        if all(read):
            return {}
        claims = tuple(claim for claim, kept in zip(appraisal.claims or (), read, strict=False) if kept)
        return {"claims": claims if any(read) else None, "read": fmean(read), "failures": {"claims": DOWN}}

    return spoil


def figures_of(rows: Iterable[Pair]) -> dict[str, Result]:
    parts = [(answer.question, parts_of(answer, appraisal, COUNTING)) for answer, appraisal in rows]
    return figures(
        [
            (question, {name: parts_of_figure[name] for name in FIGURES if name in parts_of_figure})
            for question, parts_of_figure in parts
        ]
    )


def spoiled(spoil: Spoil, seed: int) -> list[Pair]:
    """What is left; answers with a surface issue never come to a judge."""
    draw = random.Random(seed)
    return [
        (answer, appraisal if appraisal.claims is None else appraisal.model_copy(update=spoil(draw, appraisal)))
        for answer, appraisal in truth()
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "tolerance"),
    [
        pytest.param(each_answer(0.4, "translation"), 0.01, marks=pytest.mark.slow),
        (each_answer(0.4, "claims"), 0.01),
        (each_sentence(0.1), 0.012),  # an answer without a claim is known to be one only when all of it was read
        pytest.param(each_answer(0.4, "search"), 0.01, marks=pytest.mark.slow),
        (each_claim(0.4), 0.012),  # recall is cut at 1, so that what is taken to be supported counts a little less
        (each_answer(0.4, "relevance"), 0.01),
    ],
    ids=["translation", "claims", "sentences", "search", "verification", "relevance"],
)
def test_failures_at_random_leave_the_figures_as_they_are(spoil: Spoil, tolerance: float) -> None:
    """The mean of ten runs; the plain average of all decided answers is off by up to 7 points of S."""
    true, runs = figures_of(truth()), [figures_of(spoiled(spoil, seed)) for seed in range(10)]
    for name, expected in true.items():
        assert expected.value is not None
        values = [run[name].value for run in runs]
        assert fmean(value for value in values if value is not None) == pytest.approx(expected.value, abs=tolerance)
        for run in runs:
            if run[name].unscored:
                assert_between(expected.value, run[name].bounds)


def assert_between(value: float, bounds: tuple[float, float] | None) -> None:
    assert bounds is not None
    assert bounds[0] <= value <= bounds[1]


@pytest.mark.parametrize("stage", ["translation", "claims", "search", "relevance"])
def test_where_all_failed_there_is_no_figure_but_bounds(stage: str) -> None:
    true, spoiled_figures = figures_of(truth()), figures_of(spoiled(each_answer(1.0, stage), 0))
    lost = {"S", "relevance"} if stage == "relevance" else {"S", "precision", "F1"}
    for name in lost:
        assert (
            spoiled_figures[name].value,
            spoiled_figures[name].low,
            spoiled_figures[name].high,
            spoiled_figures[name].n,
        ) == (None, None, None, 0)
        assert spoiled_figures[name].unscored > 0
        assert_between(true[name].value or 0.0, spoiled_figures[name].bounds)
    assert spoiled_figures["without issues"] == true["without issues"]


@pytest.mark.parametrize(("share", "known"), [(0.4, True), (0.6, False)])
def test_less_than_half_decided_is_too_little(share: float, known: bool) -> None:
    spoiled_figures = figures_of(spoiled(each_answer(share, "search"), 3))
    assert (spoiled_figures["S"].value is not None, spoiled_figures["precision"].value is not None) == (known, known)
    assert spoiled_figures["relevance"].value is not None


def test_bounds_that_failures_not_at_random_reach() -> None:
    """Where the verifier fails on every false claim, nothing but the bounds can tell."""

    def spoil(_: random.Random, appraisal: Appraisal) -> dict[str, object]:
        flags = iter([not claim.supported for claim in appraisal.claims or ()])
        return {"claims": undecided(appraisal.claims or (), lambda: next(flags))}

    true, spoiled_figures = figures_of(truth()), figures_of(spoiled(spoil, 0))
    assert (spoiled_figures["precision"].bounds or (None,))[0] == pytest.approx(true["precision"].value)
    assert (spoiled_figures["S"].bounds or (None,))[0] == pytest.approx(true["S"].value)
    assert (spoiled_figures["precision"].value or 0) > (true["precision"].value or 0) + 0.1


def test_a_known_zero_needs_no_judge() -> None:
    """Where no answer is without an issue S is 0, and where none makes a claim so is the precision."""
    wrong = [pair for pair in truth() if pair[1].claims is None]
    silent = [pair for pair in truth() if pair[1].claims == ()]
    assert (figures_of(wrong)["S"].value, "precision" in figures_of(wrong)) == (0.0, False)
    spoiled_figures = figures_of(silent)
    assert (spoiled_figures["precision"].value, spoiled_figures["S"].value, spoiled_figures["S"].unscored) == (
        0.0,
        0.0,
        0,
    )


@pytest.mark.slow
def test_failures_are_counted_by_stage() -> None:
    [summary] = summarise(spoiled(each_claim(0.4), 0), COUNTING)
    clean = [appraisal for _, appraisal in spoiled(each_claim(0.4), 0)]
    assert summary.failures == {"verification": sum("verification" in appraisal.failures for appraisal in clean)}
    assert summary.claims == sum(len(appraisal.claims or ()) for appraisal in clean)
    assert 0.3 * summary.claims < summary.undecided < 0.5 * summary.claims
