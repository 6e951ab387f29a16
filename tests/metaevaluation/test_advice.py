"""One line says whether a judge is any good: judges of known truth get the advice that they deserve."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest

from mores.factory.gold import Gold
from mores.metaevaluation.advice import advise
from mores.metaevaluation.compare import compare_all
from mores.metaevaluation.evaluate import evaluate, influences, join
from mores.metaevaluation.records import Advice
from tests.metaevaluation.golds import labelled, scores

Judge = Callable[[Gold], float | None]
SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 5))]


def is_wrong(gold: Gold) -> bool:
    return bool(gold.report.errors)


def accurate(share: float, seed: int = 0) -> Judge:
    """Correct with this probability."""
    dice = random.Random(seed)
    return lambda gold: -1.0 if is_wrong(gold) is (dice.random() < share) else 1.0


def perfect(gold: Gold) -> float:
    return -1.0 if is_wrong(gold) else 1.0


def inverted(gold: Gold) -> float:
    return -perfect(gold)


def advice(n: int, judge: Judge, *, wrong: float = 0.5, baselines: tuple[Judge, ...] = (lambda _: -1.0,)) -> Advice:
    """The advice on a judge of `n` pairs, of which a share has errors; the baseline always says so."""
    golds = [labelled(str(number), number < wrong * n) for number in range(n)]
    judges = {"judge": judge} | {f"baseline-{number}": baseline for number, baseline in enumerate(baselines)}
    scored = {name: join(golds, scores(golds, [each(gold) for gold in golds])) for name, each in judges.items()}
    evaluations = [evaluate(name, golds, part, baseline=name != "judge") for name, part in scored.items()]
    with_scores = {name: part for name, part in scored.items() if part.golds}
    moved = {name: influences(part) for name, part in with_scores.items()}
    [only] = advise(evaluations, compare_all(with_scores, moved))
    assert only.line.startswith("judge: ")
    return only


def test_a_perfect_judge_is_useful() -> None:
    line = advice(200, perfect).line
    assert line.startswith("judge: useful here: scaled accuracy 1.00 [0.9")
    assert line.endswith("on 200 pairs, significantly above the best baseline (baseline-0, 0.00)")


def test_a_guesser_is_not_better_than_guessing() -> None:
    only = advice(400, lambda gold: 1.0 if int(gold.sample.id) % 2 else -1.0)
    assert only.verdict == "not better"
    assert only.line.startswith("judge: not better than guessing here: scaled accuracy 0.00 [−0.1")
    assert only.line.endswith("on 400 pairs; do not use it for texts like these")


def test_an_inverted_judge_is_worse_than_guessing() -> None:
    only = advice(100, inverted)
    assert only.verdict == "worse"
    assert "worse than guessing here: scaled accuracy −1.00" in only.line


def test_what_was_not_judged_is_counted() -> None:
    some = advice(200, lambda gold: perfect(gold) if int(gold.sample.id) % 10 else None)
    assert some.verdict == "useful"
    assert "on 180 pairs, 20 more not judged" in some.line
    half = advice(200, lambda gold: perfect(gold) if int(gold.sample.id) % 2 else None)
    assert half.verdict == "missing"
    assert "cannot tell, as too many pairs were not judged: scaled accuracy 1.00" in half.line
    assert "1.00 [−0.1" in half.line
    assert "on 100 pairs, 100 more not judged" in half.line
    nothing = advice(8, lambda _: None)
    assert (nothing.verdict, nothing.line) == ("unjudged", "judge: judged none of 8 pairs")


def failing(share: float, seed: int) -> Judge:
    """Correct with this probability, but silent on three quarters of what it would get wrong."""
    dice, judge = random.Random(seed + 100), accurate(share, seed)

    def score(gold: Gold) -> float | None:
        given = judge(gold)
        return given if given == perfect(gold) or dice.random() < 0.25 else None

    return score


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_guesser_that_is_silent_where_it_would_be_wrong_is_not_called_useful(seed: int) -> None:
    """On what it judged its scaled accuracy is 0.6, and significantly better than the baseline."""
    only = advice(400, failing(0.5, seed))
    assert only.verdict == "missing"
    assert "useful" not in only.line
    assert advice(400, failing(0.5, seed), baselines=()).verdict == "missing"


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_the_interval_of_a_judge_covers_what_it_did_not_judge(seed: int) -> None:
    """Its true scaled accuracy is 0.4, on what it judged 0.8; it is better than the baseline in any case."""
    only = advice(400, failing(0.7, seed))
    assert only.verdict == "useful"
    found = re.search(r"0\.[78]\d \[(0\.\d+), (0\.\d+)] whatever the others are, \[0\.[67]", only.line)
    assert found
    assert float(found[1]) <= 0.4 <= float(found[2])


@pytest.mark.parametrize("judge", [perfect, lambda gold: 1.0 if int(gold.sample.id) % 2 else -1.0])
def test_eight_pairs_tell_nothing(judge: Judge) -> None:
    only = advice(8, judge)
    assert only.verdict == "too few"
    assert only.needed is not None
    assert 10 <= only.needed <= 2000
    assert only.line.startswith("judge: too few pairs to tell: scaled accuracy ")
    plan = f"to show that a judge is 0.2 above the baseline baseline-0, plan for about {only.needed:,} pairs"
    assert only.line.endswith(f"on 8 pairs; {plan}")


def correct_in(shown: int) -> Judge:
    """Wrong about as many of every ten pairs as leaves so many."""
    return lambda gold: perfect(gold) if 7 * int(gold.sample.id) % 10 < shown else inverted(gold)


@pytest.mark.slow
def test_as_many_pairs_as_it_plans_for_usually_show_a_judge_worth_using() -> None:
    """A scaled accuracy of 0.2 is shown in about 80% of studies, whatever the few pairs happened to show."""
    few = advice(30, correct_in(6))
    assert few.verdict == "too few"
    assert few.needed is not None
    assert 350 <= few.needed <= 500  # 385 by the true variance
    later = [advice(few.needed, accurate(0.6, seed)).verdict for seed in range(20)]
    assert later.count("useful") >= 12


def test_the_planned_number_of_pairs_does_not_follow_from_the_difference_seen() -> None:
    """A judge that is as often wrong as another is correct varies as much, so that the plan is the same."""
    seen = [advice(20, correct_in(shown), baselines=()) for shown in (4, 6)]
    assert [each.verdict for each in seen] == ["too few", "too few"]
    assert seen[0].needed == seen[1].needed


@pytest.mark.slow
def test_a_judge_that_is_no_better_than_a_baseline_is_told_so() -> None:
    only = advice(600, accurate(0.7), baselines=(accurate(0.75, seed=1), lambda _: -1.0))
    assert only.verdict == "not better"
    assert "not better than the baseline baseline-0 (0." in only.line
    unbalanced = advice(300, lambda _: -1.0, wrong=0.9, baselines=(lambda _: -1.0,))
    assert unbalanced.verdict == "not better"


def test_without_baselines_the_same_verdict_everywhere_is_not_useful() -> None:
    assert advice(300, lambda _: -1.0, wrong=0.9, baselines=()).verdict == "not better"
    useful = advice(300, perfect, wrong=0.9, baselines=())
    assert useful.verdict == "useful"
    assert "baseline" not in useful.line


@pytest.mark.slow
def test_guessers_are_seldom_called_useful() -> None:
    verdicts = [advice(100, accurate(0.5, seed)).verdict for seed in range(20)]
    assert verdicts.count("useful") <= 1


@pytest.mark.parametrize(
    ("wrong", "judge", "line"),
    [
        (0.0, perfect, "all 12 texts are correct; add texts with errors"),
        (0.0, inverted, "all 12 texts are correct; add texts with errors"),
        (1.0, perfect, "all 12 texts have errors; add correct texts"),
        (
            0.5,
            lambda gold: None if is_wrong(gold) else 1.0,
            "all 6 texts that it judged are correct; add texts with errors",
        ),
    ],
)
def test_texts_of_one_class_tell_nothing_however_many_there_are(wrong: float, judge: Judge, line: str) -> None:
    only = advice(12, judge, wrong=wrong)
    assert (only.verdict, only.line, only.needed) == ("one class", f"judge: cannot tell: {line}", None)
