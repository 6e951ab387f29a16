"""Advice on a judge for texts like those of a dataset, in one line.

- **useful**: the lower end of its interval is above 0, and it is significantly better than the best baseline; both
  whatever it would say of the pairs that it did not judge.
- **worse**: the upper end of its interval is below 0.
- **one class**: all texts are correct, or all have errors; nothing can be told, however many there are.
- **missing**: it would be useful, or worse, if the pairs that it did not judge were like the others.
- **too few**: neither is shown, but it may still be better than the best baseline by `WORTH` or more.
- **not better**: anything else; more pairs would not make it useful.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from statistics import NormalDist

from mores.formatting import count, number, span
from mores.metaevaluation.records import Advice, MetricComparison, MetricEvaluation, Verdict
from mores.stats.missing import decide
from mores.types import MUCH_MISSING, Result

WORTH = 0.2
"""Scaled accuracy above the best baseline: a judge with less is not worth using."""
SIGNIFICANT = 0.05
_SIDES = NormalDist().inv_cdf(1 - SIGNIFICANT / 2)
_POWER = NormalDist().inv_cdf(0.8)
MAIN = "scaled_accuracy"


def advise(evaluations: Sequence[MetricEvaluation], comparisons: Sequence[MetricComparison]) -> Iterator[Advice]:
    """Yield the advice on each judge except baselines."""
    baselines = [evaluation for evaluation in evaluations if evaluation.baseline and evaluation.accuracy is not None]
    best = max(baselines, key=lambda baseline: baseline.accuracy or 0.0, default=None)
    for evaluation in evaluations:
        if not evaluation.baseline:
            yield _advice(evaluation, best, _against(evaluation, best, comparisons))


def _against(
    judge: MetricEvaluation, best: MetricEvaluation | None, comparisons: Sequence[MetricComparison]
) -> MetricComparison | None:
    """Return the comparison of a judge with the best baseline, the judge first."""
    for test in comparisons:
        if best and test.statistic == MAIN and {test.first, test.second} == {judge.metric, best.metric}:
            if test.first == judge.metric:
                return test
            low, high = (None if end is None else -end for end in (test.high, test.low))
            whole = test.whole and (-test.whole[1], -test.whole[0])
            ends = {"difference": -test.difference, "low": low, "high": high, "whole": whole}
            return test.model_copy(update={"first": test.second, "second": test.first, **ends})
    return None


def _advice(judge: MetricEvaluation, best: MetricEvaluation | None, test: MetricComparison | None) -> Advice:
    result = judge.scores.get(MAIN)
    if result is None or result.value is None or result.low is None or result.high is None:
        asked = count(judge.n + judge.unscored, "pair")
        return Advice(metric=judge.metric, verdict="unjudged", line=f"{judge.metric}: judged none of {asked}")
    # Against the best baseline; without one, against the same verdict on every pair.
    balanced = judge.scores["balanced_accuracy"]
    if test is not None:
        above = 2.0 if test.high is None else test.high
        better, held = test.difference > 0 and test.adjusted < SIGNIFICANT, test.significant
    else:
        above = 2.0 if balanced.high is None else 2 * balanced.high - 1
        better, held = balanced.low is not None and balanced.low > 0.5, decide(balanced, 0.5) > 0
    passed, found = (judge.scores[name].value is not None for name in ("correct_passed", "errors_found"))
    interval = span(result.low, result.high)
    if result.whole and result.missing > MUCH_MISSING:
        interval = f"{span(*result.whole)} whatever the others are, {interval} if they are like these,"
    shown = f"scaled accuracy {number(result.value)} {interval} on {count(judge.n, 'pair')}"
    shown += f", {count(judge.unscored)} more not judged" if judge.unscored else ""
    needed = None
    verdict: Verdict
    if not passed or not found:
        judged = " that it judged" if judge.unscored else ""
        texts, (are, have) = (
            (f"all {count(judge.n)} texts{judged}", ("are", "have"))
            if judge.n > 1
            else (f"the only text{judged}", ("is", "has"))
        )
        fix = f"{are} correct; add texts with errors" if passed else f"{have} errors; add correct texts"
        verdict, line = "one class", f"cannot tell: {texts} {fix}"
    elif (result.low > 0 and better and not (held and decide(result) > 0)) or result.high < 0 <= decide(result):
        verdict, line = "missing", f"cannot tell, as too many pairs were not judged: {shown}"
    elif result.low > 0 and better:
        baseline = f", significantly above the best baseline ({best.metric}, {number(best.accuracy)})" if best else ""
        verdict, line = "useful", f"useful here: {shown}{baseline}"
    elif result.high < 0:
        verdict, line = "worse", f"worse than guessing here: {shown}; do not use it for texts like these"
    elif min(result.high, above) >= WORTH:
        needed = _needed(result, test)
        than = f"the baseline {best.metric}" if best else "guessing"
        plan = f"to show that a judge is {WORTH:g} above {than}, plan for about {count(needed, 'pair')}"
        verdict, line = "too few", f"too few pairs to tell: {shown}; {plan}"
    else:
        than = f"the baseline {best.metric} ({number(best.accuracy)})" if best and result.low > 0 else "guessing"
        verdict, line = "not better", f"not better than {than} here: {shown}; do not use it for texts like these"
    return Advice(metric=judge.metric, verdict=verdict, line=f"{judge.metric}: {line}", needed=needed)


def _needed(result: Result, test: MetricComparison | None) -> int:
    """Return how many pairs show a difference of `WORTH` in 80% of studies, if pairs differ as these do.

    The difference that these few pairs happen to show is no part of it.
    """
    low, high, n = (test.low, test.high, test.n) if test else (result.low, result.high, result.n)
    error = ((high or 0.0) - (low or 0.0)) / (2 * _SIDES)
    needed = n * ((_SIDES + _POWER) * error / WORTH) ** 2
    return 10 * ceil(max(needed, n + 1) / 10)
