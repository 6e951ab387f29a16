"""How often the intervals that Mores prints hold the truth, and how wide they are beside the best known alternatives.

    python benchmarks/intervals.py --out benchmarks/results/intervals.jsonl --docs docs/meta.md
    python benchmarks/intervals.py --only agreement --out benchmarks/results/intervals.jsonl  # keeps other lines

A line for each setting: coverage and mean width of ours, and of the narrowest alternative that holds at least 93% there
(or, where none does, of the one that holds most). `--docs` writes the table into that page. With the 800 samples of the
default a coverage of 95% is known to within 1.5 points; it takes about six minutes of one processor.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402
import numpy.typing as npt  # noqa: E402
from scipy.sparse import csr_matrix  # noqa: E402
from scipy.special import expit  # noqa: E402
from scipy.stats import beta, norm, t  # noqa: E402

from mores.longanswer.figures import NOT_DUE, FigurePart, decided  # noqa: E402
from mores.longanswer.figures import figure as product_of  # noqa: E402
from mores.metaevaluation.evaluate import COUNTED, counted_interval  # noqa: E402
from mores.rating.agreement import alpha_of  # noqa: E402
from mores.rating.population import raters_interval  # noqa: E402
from mores.rating.ranking import crossed_interval  # noqa: E402
from mores.stats.agreement import (  # noqa: E402
    Votes,
    alphas,
    cohen_kappa_interval,
    fleiss_kappa,
    fleiss_kappa_interval,
    krippendorff_alpha,
    krippendorff_alpha_interval,
)
from mores.stats.calibration import AREA, AT_HALF, AUROC, BRIER, ECE, GAIN, GAP, confidence_results  # noqa: E402
from mores.stats.codings import masi_alpha  # noqa: E402
from mores.stats.correlation import spearman  # noqa: E402
from mores.stats.influence import Influenced, area, compare, kendall_b, pearson, tie_accuracy  # noqa: E402
from mores.stats.intervals import (  # noqa: E402
    difference_interval,
    drawn_interval,
    mean_interval,
    ratio_interval,
    share_interval,
)
from mores.stats.irt import fit_questions  # noqa: E402
from mores.stats.marks import FEWEST_PEOPLE, AgreementFigure, MarkedText, SpanMark, span_agreement  # noqa: E402
from mores.stats.mixed import MixedModel, contrasts, fit, fit_linear  # noqa: E402
from mores.stats.ranks import rank_range, significant_order, tau_range  # noqa: E402
from mores.stats.raters import annotator_drift, annotator_severity  # noqa: E402
from mores.stats.selective import area as area_of_curve  # noqa: E402
from mores.stats.selective import make_cells, selective  # noqa: E402
from mores.stats.ties import calibrate_ties  # noqa: E402
from mores.stats.worth import interval_alpha, side_by_side, worth_in_people  # noqa: E402

Ends = tuple[float, float]
Floats = npt.NDArray[np.float64]
Z = float(norm.isf(0.025))
PROMISE = 0.93
WIDER = 1.3
FISHER = "Fisher's z"
FIVE = (1.0, 2.0, 3.0, 4.0, 5.0)


class Setting(NamedTuple):
    """One figure in one design."""

    figure: str
    """What is estimated, with the design."""
    method: str
    """Ours."""
    population: str
    """What is drawn anew: other questions, or other raters and questions."""
    truth: float
    ours: Sequence[Ends]
    others: Mapping[str, Sequence[Ends]]
    reason: str = ""
    """Why ours is wider, where it is."""


def wilson(k: float, n: float) -> Ends:
    """Return Wilson's interval of k of n, which need not be whole."""
    share, half = k / n, Z * np.sqrt(k / n * (1 - k / n) / n + Z**2 / (4 * n**2))
    return (share + Z**2 / (2 * n) - half) / (1 + Z**2 / n), (share + Z**2 / (2 * n) + half) / (1 + Z**2 / n)


def jeffreys(k: int, n: int) -> Ends:
    """Return the interval of Jeffreys' prior, to 0 or 1 where all trials are alike."""
    low, high = beta.ppf([0.025, 0.975], k + 0.5, n - k + 0.5)
    return (0.0 if k == 0 else float(low)), (1.0 if k == n else float(high))


def deflated(right: Floats, each: int) -> Ends:
    """Return Wilson's interval with the design effect of questions with `each` answers."""
    n, share = len(right) * each, right.sum() / (len(right) * each)
    binomial = share * (1 - share) / n
    effect = right.var(ddof=1) / each**2 / len(right) / binomial if binomial else 1.0
    effect = float(np.clip(effect, 1.0, each))
    return wilson(right.sum() / effect, n / effect)


def student(values: Floats) -> Ends:
    """Return Student's interval of a mean."""
    half = float(t.isf(0.025, len(values) - 1)) * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean() - half), float(values.mean() + half)


def percentile(drawn: Sequence[float | None] | Floats) -> Ends:
    """Return the percentile bootstrap's interval of redrawn values; those that are not defined are left out."""
    values = np.array([np.nan if value is None else value for value in drawn], dtype=np.float64)
    low, high = np.nanquantile(values, [0.025, 0.975])
    return float(low), float(high)


def resample(rng: np.random.Generator, units: int, draws: int = 200) -> npt.NDArray[np.int64]:
    return rng.integers(0, units, (draws, units))


def shares(rng: np.random.Generator, samples: int) -> Iterator[Setting]:
    """Yield single answers, several answers to each question, partial credit, and differences."""
    for n, share in ((20, 0.9), (100, 0.02), (100, 0.5), (500, 0.8)):
        counts = rng.binomial(n, share, samples).tolist()
        others = {"Wilson": [wilson(k, n) for k in counts], "Jeffreys": [jeffreys(k, n) for k in counts]}
        ours = [share_interval(k, n) for k in counts]
        yield Setting(f"accuracy {share} of {n} questions", "Clopper–Pearson", "questions", share, ours, others)
    groups = np.repeat(np.arange(20), 5)
    # (1 - 0.139)^20 = 0.05.
    unseen = (
        "answers to a question may be alike, and 13.9% of questions that are always correct show none among 20 in 5% "
        "of samples: an interval that holds 95% there reaches 0.139. The alternative does not hold two lines further"
    )
    clustered = {
        "independent": (np.full((samples, 20), 0.02), 0.02, unseen),
        "independent, half correct": (np.full((samples, 20), 0.5), 0.5, ""),
        "identical": ((rng.random((samples, 20)) < 0.1).astype(float), 0.1, ""),
        "8% of questions always, others 1%": (np.where(rng.random((samples, 20)) < 0.08, 1.0, 0.01), 0.0892, ""),
        "spread evenly": (rng.beta(1, 1, (samples, 20)), 0.5, ""),
    }
    for name, (chance, truth, reason) in clustered.items():
        right = rng.binomial(5, chance).astype(float)
        ours = [mean_interval(np.repeat(row / 5, 5), groups=groups) for row in right]
        others = {
            "Wilson with a design effect": [deflated(row, 5) for row in right],
            "Student's t of questions": [student(row / 5) for row in right],
        }
        figure = f"share {truth:.3g} of 5 answers to 20 questions, {name}"
        yield Setting(figure, "beta with one more question", "questions", truth, ours, others, reason)
    right = rng.binomial(3, rng.beta(4, 1, (samples, 60))).astype(float)
    ours = [mean_interval(np.repeat(2 * row / 3 - 1, 3), groups=np.repeat(np.arange(60), 3), least=-1) for row in right]
    others = {"Student's t of items": [student(2 * row / 3 - 1) for row in right]}
    figure = "scaled accuracy 0.6 of 3 texts of 60 items"
    yield Setting(figure, "beta with one more item", "items", 0.6, ours, others)
    for name, values, truth in (
        ("evenly spread", rng.beta(2, 2, (samples, 40)), 0.5),
        ("mostly 1, 5% are 0", (rng.random((samples, 40)) < 0.95).astype(float) * 0.5 + 0.5, 0.975),
    ):
        others = {"Student's t": [student(row) for row in values]}
        ours = [mean_interval(row) for row in values]
        yield Setting(
            f"mean credit of 40 answers, {name}", "beta with one more answer", "questions", truth, ours, others
        )
    pairs = rng.binomial(50, (0.8, 0.6), (samples, 2)).tolist()
    ours = [difference_interval(*((k / 50, share_interval(k, 50)) for k in pair)) for pair in pairs]
    others = {"Newcombe with Wilson's": [difference_interval(*((k / 50, wilson(k, 50)) for k in p)) for p in pairs]}
    yield Setting("difference 0.2 of two shares of 50", "Newcombe", "questions", 0.2, ours, others)
    hard = rng.normal(size=(samples, 60, 1))
    both = (hard + rng.normal(size=(samples, 60, 2)) < (0.5, 0.2)).astype(float)
    gaps, truth = both[..., 0] - both[..., 1], float(norm.cdf(0.5 / 2**0.5) - norm.cdf(0.2 / 2**0.5))
    ours = [mean_interval(row, least=-1) for row in gaps]
    others = {"Student's t": [student(row) for row in gaps]}
    yield Setting("paired difference of accuracy, 60 questions", "beta, paired", "questions", truth, ours, others)
    whole = (rng.random((samples, 40)) < 0.7) * rng.choice([0.5, 1.0], (samples, 40))
    parts = {
        value: FigurePart((decided(float(value > 0)), decided(value) if value else NOT_DUE), value, value, scored=True)
        for value in (0.0, 0.5, 1.0)
    }
    found = [product_of("S", [parts[value] for value in row]) for row in whole.tolist()]
    ours, others = [(each.low or 0.0, each.high or 0.0) for each in found], {"Student's t": [student(x) for x in whole]}
    yield Setting("product 0.525 of two shares of 40", "beta, delta method", "questions", 0.525, ours, others)
    # Of each unit two, three or four people say one of three things, the same as the truth in three of four cases.
    pairs_of, alike_of = np.array([1, 3, 6]), []
    for people in (2, 3, 4):
        true = rng.choice(3, (samples, 40, 1), p=[0.6, 0.3, 0.1])
        said = np.where(rng.random((samples, 40, people)) < 0.25, rng.choice(3, (samples, 40, people)), true)
        first, second = np.triu_indices(people, 1)
        alike_of.append((said[..., first] == said[..., second]).sum(axis=2))
    kind = rng.integers(0, 3, (samples, 40))
    alike = np.take_along_axis(np.stack(alike_of, axis=2), kind[..., None], axis=2)[..., 0].astype(float)
    below, truth = pairs_of[kind].astype(float), 0.75**2 + (1 - 0.75**2) / 3
    ours, plain = [ratio_interval(a, b) for a, b in zip(alike, below, strict=True)], []
    for a, b in zip(alike, below, strict=True):
        value = a.sum() / b.sum()
        half = float(t.isf(0.025, 39)) * (a - value * b).std(ddof=1) * np.sqrt(40) / b.sum()
        plain.append((value - half, value + half))
    name = f"share {truth:.2f} of alike pairs of 2 to 4 people, 40 units"
    yield Setting(name, "beta with one more unit", "units", truth, ours, {"linearised, Student's t": plain})


def draw_times(rng: np.random.Generator, items: int, draws: int = 400) -> Floats:
    """Return draws × items: how often each is drawn."""
    return rng.multinomial(items, np.full(items, 1 / items), draws).astype(np.float64)


def bootstrap_tau(a: Floats, b: Floats, times: Floats) -> Floats:
    """Return τ-b of each resample, from the signs of all pairs."""
    x, y = np.sign(a[:, None] - a), np.sign(b[:, None] - b)
    both, first, second = (((times @ signs) * times).sum(axis=1) for signs in (x * y, x**2, y**2))
    return np.asarray(both / np.sqrt(first * second))


def bootstrap_r(a: Floats, b: Floats, times: Floats) -> Floats:
    """Return r of each resample, from its moments."""
    n = len(a)
    mean_a, mean_b = times @ a / n, times @ b / n
    spread = (times @ a**2 / n - mean_a**2) * (times @ b**2 / n - mean_b**2)
    return (times @ (a * b) / n - mean_a * mean_b) / np.sqrt(spread)


def bootstrap_accuracy(a: Floats, b: Floats, times: Floats, epsilon: float = 0.5) -> Floats:
    """Return the pairwise accuracy with ε; an item that is drawn twice is a tie of both."""
    x, y = a[:, None] - a, b[:, None] - b
    alike = np.where(np.abs(y) <= epsilon, x == 0, x * y > 0).astype(np.float64)
    n = len(a)
    return np.asarray((((times @ alike) * times).sum(axis=1) - n) / (n * (n - 1)))


def bootstrap_area(a: Floats, b: Floats, times: Floats) -> Floats:
    """Return the area under the ROC curve for a > 0 by b."""
    wrong = a > 0
    above = (np.sign(b[wrong][:, None] - b[~wrong]) + 1) / 2
    with np.errstate(invalid="ignore"):
        won = ((times[:, wrong] @ above) * times[:, ~wrong]).sum(axis=1)
        return np.asarray(won / (times[:, wrong].sum(axis=1) * times[:, ~wrong].sum(axis=1)))


def correlations(rng: np.random.Generator, samples: int) -> Iterator[Setting]:
    """Yield statistics over pairs of items, against the percentile bootstrap."""
    kinds = {"τ": (kendall_b, bootstrap_tau), "r": (pearson, bootstrap_r)}
    for name, (statistic, redraw) in kinds.items():
        for items, noise in ((20, 0.3), (20, 1.5), (60, 0.3)):
            x = rng.normal(size=(samples, items))
            y = x + rng.normal(0, noise, x.shape)
            exact = 1 / np.sqrt(1 + noise**2)
            truth = float({"r": exact, "τ": 2 / np.pi * np.arcsin(exact)}[name])
            pairs = list(zip(x, y, strict=True))
            ours = [statistic(a, b).interval() for a, b in pairs]  # type: ignore[union-attr]
            redrawn = [percentile(redraw(a, b, draw_times(rng, items))) for a, b in pairs]
            figure, others = f"{name} = {truth:.2f} of {items} items", {"percentile bootstrap": redrawn}
            yield Setting(figure, "Fisher's z", "items", truth, ours, others)
    x = rng.poisson(0.8, (samples, 40)).astype(float)
    pairs = list(zip(x, x + rng.normal(0, 0.8, x.shape), strict=True))
    large = rng.poisson(0.8, 3000).astype(float)
    noisy = large + rng.normal(0, 0.8, 3000)
    over_pairs: dict[str, tuple[Callable[[Floats, Floats], Influenced | None], Callable[..., Floats]]] = {
        "pairwise accuracy": (lambda a, b: tie_accuracy(a, b, 0.5), bootstrap_accuracy),
        "AUC": (lambda a, b: area(a > 0, b), bootstrap_area),
    }
    for name, (figure_of, redraw) in over_pairs.items():
        truth = figure_of(large, noisy).value  # type: ignore[union-attr]
        ours = [figure_of(a, b).interval() for a, b in pairs]  # type: ignore[union-attr]
        others = {"percentile bootstrap": [percentile(redraw(a, b, draw_times(rng, 40))) for a, b in pairs]}
        reason = "ours is never a point, but the bootstrap is one where the few errors of a sample all rank first"
        yield Setting(f"{name} {truth:.2f} of 40 items", "beta, influences", "items", truth, ours, others, reason)
    best = calibrate_ties(large, noisy)
    assert best
    ours, redrawn = [], []
    for a, b in pairs:
        found = calibrate_ties(a, b)
        assert found
        ours.append(tie_accuracy(a, b, found.epsilon).interval())  # type: ignore[union-attr]
        redrawn.append(percentile(bootstrap_accuracy(a, b, draw_times(rng, 40), found.epsilon)))
    figure = f"tie-calibrated accuracy {best.accuracy:.2f} of 40 items"
    yield Setting(figure, "beta, influences", "items", best.accuracy, ours, {"percentile bootstrap": redrawn})


def differences(rng: np.random.Generator, samples: int) -> Iterator[Setting]:
    """Yield differences of two judges' correlations with people on the same items."""
    x = rng.normal(size=(samples, 40))
    good, poor = x + rng.normal(0, 0.5, x.shape), x + rng.normal(0, 1.0, x.shape)
    triples = list(zip(x, good, poor, strict=True))
    exact = [1 / np.sqrt(1 + noise**2) for noise in (0.5, 1.0)]
    for name, statistic, redraw, values in (
        ("τ", kendall_b, bootstrap_tau, [2 / np.pi * np.arcsin(r) for r in exact]),
        ("r", pearson, bootstrap_r, exact),
    ):
        ours, redrawn = [], []
        for a, b, c in triples:
            test = compare(statistic(a, b), statistic(a, c))  # type: ignore[arg-type]
            ours.append((test.low, test.high))
            times = draw_times(rng, 40)
            redrawn.append(percentile(redraw(a, b, times) - redraw(a, c, times)))
        truth = float(values[0] - values[1])
        figure, others = f"difference {truth:.2f} of two judges' {name} of 40 items", {"percentile bootstrap": redrawn}
        yield Setting(figure, "Zou, of both Fisher's z", "items", truth, ours, others)


def log_odds(rng: np.random.Generator, samples: int) -> Iterator[Setting]:
    """Yield differences of models in log odds, where raters see models differently."""
    raters, questions, truth = 8, 20, 0.5
    person, question, model = np.array([(r, q, m) for r in range(raters) for q in range(questions) for m in (0, 1)]).T
    columns = {"r": person.tolist(), "q": question.tolist(), "m": ["ab"[m] for m in model]}
    ours: list[Ends] = []
    plain: list[Ends] = []
    without: list[Ends] = []
    for _ in range(min(samples, 200)):
        taste = rng.normal(0, 0.8, (raters, 2))[person, model]
        latent = truth * model + rng.normal(0, 1, raters)[person] + rng.normal(0, 1, questions)[question] + taste
        ratings = np.digitize(latent + rng.logistic(size=len(model)), [-2.5, -0.8, 0.8, 2.5]) + 1.0
        data = columns | {"y": ratings.tolist()}
        levels = {"m": ("a", "b")}
        random = ("r", "q", "r:m")
        df = contrasts(fit_linear(MixedModel("y", ("m",), random, levels), data), ("m",))[0].df
        fitted = fit(MixedModel("y", ("m",), random, levels), data).coefficients[0]
        intercepts = fit(MixedModel("y", ("m",), random[:2], levels), data).coefficients[0]
        for found, each, reach in (
            (ours, fitted, float(t.isf(0.025, df))), (plain, fitted, Z), (without, intercepts, Z)
        ):  # fmt: skip
            found.append((each.estimate - reach * each.se, each.estimate + reach * each.se))
    yield Setting(
        f"difference {truth} of two models in log odds, {raters} raters (SD of tastes 0.8) and {questions} questions",
        "Laplace, Satterthwaite's df of points",
        "raters and questions",
        truth,
        ours,
        {"normal, with random slopes": plain, "normal, random intercepts only": without},
    )


def counts(rng: np.random.Generator, samples: int) -> Iterator[Setting]:
    """Yield F1 and what else is made of four counts, span F1 over characters, and the calibration error."""
    cells = np.array([0.24, 0.07, 0.06, 0.63])  # found, false alarms, missed, passed
    for name in ("f1", "mcc", "balanced_accuracy"):
        truth = float(COUNTED[name](cells[:, None])[0])
        ours, redrawn = [], []
        for row in rng.multinomial(60, cells, samples):
            units = np.repeat(np.eye(4), row, axis=0)
            ours.append(counted_interval(name, float(COUNTED[name](row[:, None].astype(float))[0]), units))
            redrawn.append(percentile(COUNTED[name](rng.multinomial(60, row / 60, 500).T.astype(float))))
        figure, others = f"{name.replace('_', ' ')} {truth:.2f} of 60 texts", {"percentile bootstrap": redrawn}
        yield Setting(figure, "beta, resampled texts", "texts", truth, ours, others)
    # Spans: of each text with an error, characters of gold, of the prediction and of both.
    ours, redrawn, truth = [], [], 0.0
    for sample in range(samples + 1):
        size = 40 if sample < samples else 400_000
        gold, hit = rng.geometric(0.08, size), rng.beta(1.2, 0.8, size)
        both, predicted = gold * hit, gold * hit + rng.exponential(4, size)
        if sample == samples:
            truth = 2 * both.sum() / (gold.sum() + predicted.sum())
            break
        sums = np.column_stack([2 * both, gold + predicted])
        value, drawn = sums.sum(axis=0), sums[resample(rng, size, 500)].sum(axis=1)
        ratios = drawn[:, 0] / drawn[:, 1]
        ours.append(drawn_interval(value[0] / value[1], ratios, 40))
        redrawn.append(percentile(ratios))
    figure, others = f"span F1 {truth:.2f} of 40 texts", {"percentile bootstrap": redrawn}
    yield Setting(figure, "beta, resampled texts", "texts", truth, ours, others)
    levels = np.array([0.55, 0.65, 0.75, 0.85, 0.95])
    names = (ECE, AUROC, AT_HALF, BRIER, GAP, GAIN, AREA)
    figures: dict[str, tuple[list[Ends], list[Ends]]] = {name: ([], []) for name in names}
    below = (np.sign(levels[:, None] - levels) + 1) / 2
    for _ in range(samples):
        confidence = rng.choice(levels, 100)
        correct = rng.random(100) < confidence - 0.12
        results = confidence_results(make_cells(confidence, correct, np.arange(100)))
        for name, (ours, _others) in figures.items():
            ours.append((results[name].low or 0.0, results[name].high or 0.0))
        rows = resample(rng, 100)
        is_level = confidence[rows][..., None] == levels
        hits, drawn = (is_level * correct[rows][..., None]).sum(axis=1), is_level.sum(axis=1)
        misses = drawn - hits
        figures[ECE][1].append(percentile(np.abs(hits - drawn * levels).sum(axis=1)))
        won = np.einsum("dl,lm,dm->d", hits, below, misses) / (hits.sum(axis=1) * misses.sum(axis=1))
        figures[AUROC][1].append(percentile(won))
        top = np.argsort(-confidence, kind="stable")[:50]
        figures[AT_HALF][1].append(wilson(correct[top].sum(), 50))
        figures[BRIER][1].append(percentile((drawn * levels**2 - 2 * hits * levels + hits).sum(axis=1) / 100))
        figures[GAP][1].append(percentile((drawn * levels - hits).sum(axis=1) / 100))
        ordered = [np.cumsum(np.pad(each[:, ::-1], ((0, 0), (1, 0))), axis=1) for each in (drawn, hits)]
        half = selective(ordered[0].astype(float), ordered[1].astype(float), 0.5)
        figures[GAIN][1].append(percentile(half - hits.sum(axis=1) / 100))
        figures[AREA][1].append(percentile(area_of_curve(ordered[0].astype(float), ordered[1].astype(float))))
    right = levels - 0.12
    truths = {ECE: 12.0, AUROC: right @ below @ (1 - right) / (right.sum() * (1 - right).sum()), AT_HALF: 0.75}
    covered, above = (np.concatenate([[0.0], np.cumsum(x)])[None] / 5 for x in (np.ones(5), right[::-1]))
    truths |= {BRIER: np.mean(0.12**2 + right * (1 - right)), GAP: 0.12, GAIN: 0.75 - right.mean()}
    truths[AREA] = area_of_curve(covered, above)[0]
    for name, words, method, other in (
        (ECE, "calibration error 12 points, 100 answers", "beta, less the noise", "percentile bootstrap"),
        (AUROC, "AUROC {:.2f} of confidences of 100 answers", "beta, resampled questions", "percentile bootstrap"),
        (
            AT_HALF,
            "accuracy {:.2f} of the more confident half of 100 answers",
            "beta, at either end of the half",
            "Wilson",
        ),
        (GAIN, "gain {:.2f} of answering the more confident half", "beta, resampled questions", "percentile bootstrap"),
        (AREA, "area {:.2f} under its accuracy", "beta, resampled questions", "percentile bootstrap"),
        (BRIER, "Brier score {:.2f} of 100 answers", "beta with one more question", "percentile bootstrap"),
        (GAP, "overconfidence {:.2f} of 100 answers", "beta with one more question", "percentile bootstrap"),
    ):
        ours, redrawn = figures[name]
        truth = float(truths[name])
        yield Setting(words.format(truth), method, "questions", truth, ours, {other: redrawn})


def agreement(rng: np.random.Generator, samples: int) -> Iterator[Setting]:
    """Yield κ and α over units, and α over raters and units."""
    pool, shares_of = 200_000, np.array([0.6, 0.3, 0.1])

    def label(count: int, raters: int) -> npt.NDArray[np.int64]:
        """Return raters × units: the true label, or with one in four a random one."""
        true = rng.choice(3, count, p=shares_of)
        return np.where(rng.random((raters, count)) < 0.25, rng.choice(3, (raters, count), p=shares_of), true)

    def votes(table: npt.NDArray[np.int64]) -> Votes:
        return Votes((0, 1, 2), np.array([(table == level).sum(axis=0) for level in range(3)]).T)

    truth = 0.75**2  # both give the true label, beyond what chance makes alike
    tables = [label(60, 2) for _ in range(samples)]
    ours = [cohen_kappa_interval(a.tolist(), b.tolist(), (0, 1, 2)) or (-1.0, 1.0) for a, b in tables]

    def kappas(table: npt.NDArray[np.int64]) -> Floats:
        joint = np.bincount(3 * table[0] + table[1], minlength=9) / 60
        drawn = rng.multinomial(60, joint, 500).reshape(-1, 3, 3) / 60
        chance = (drawn.sum(axis=1) * drawn.sum(axis=2)).sum(axis=1)
        return np.asarray((np.trace(drawn, axis1=1, axis2=2) - chance) / (1 - chance))

    others = {"percentile bootstrap": [percentile(kappas(table)) for table in tables]}
    yield Setting("Cohen's κ 0.56 of 60 units", "Fisher's z, resampled units", "units", truth, ours, others)
    tables = [label(40, 4) for _ in range(samples)]
    whole = votes(label(pool, 4))
    for name, value, interval in (
        ("Krippendorff's α", krippendorff_alpha(whole), krippendorff_alpha_interval),
        ("Fleiss' κ", fleiss_kappa(whole), fleiss_kappa_interval),
    ):
        ours, redrawn = [], []
        for table in tables:
            counted = votes(table)
            ours.append(interval(counted) or (-1.0, 1.0))
            units = np.asarray(counted.counts, dtype=float)
            drawn = units[resample(rng, 40)]
            chance = ((drawn.sum(axis=1) / 160) ** 2).sum(axis=1)
            observed = ((drawn**2).sum(axis=2) - 4).mean(axis=1) / 12
            kappa = (observed - chance) / (1 - chance)
            redrawn.append(percentile(kappa + (1 - kappa) / 160 if "α" in name else kappa))
        others = {"percentile bootstrap": redrawn}
        figure = f"{name} {value:.2f} of 4 raters and 40 units"
        yield Setting(figure, "Fisher's z, resampled units", "units, these raters", float(value or 0), ours, others)
    for raters in (4, 10):
        ours, redrawn = [], []
        for sample in range(samples + 1):
            people, size = (raters, 60) if sample < samples else (400, 4000)
            leaning = rng.normal(0, 0.5, (people, 1))
            table = np.clip(np.rint(3 + rng.normal(0, 1, size) + leaning + rng.normal(0, 0.7, (people, size))), 1, 5)
            if sample == samples:
                coded = np.array([(table == level).sum(axis=0) for level in range(1, 6)]).T
                truth = float(krippendorff_alpha(Votes(FIVE, coded), "ordinal") or 0)
                break
            given = [{f"r{r}": float(table[r, unit]) for r in range(people)} for unit in range(size)]
            result = alpha_of("rating", given, True)
            ours.append((result.low or 0.0, result.high or 0.0))
            values: list[float] = []
            for rows in resample(rng, size, 40):
                kept = table[rng.integers(0, people, people)][:, rows]
                coded = np.array([(kept == level).sum(axis=0) for level in range(1, 6)]).T.astype(float)
                values.append(
                    float(alphas((1.0, 2.0, 3.0, 4.0, 5.0), csr_matrix(coded), np.ones((1, size)), "ordinal")[0])
                )
            redrawn.append(percentile(values))
        figure = f"ordinal α {truth:.2f} of {raters} raters and 60 answers"
        others = {"percentile bootstrap of raters and answers": redrawn}
        reason = "a rater drawn twice agrees with themselves, so that the bootstrap is off its centre"
        method = "Fisher's z, resampled answers and jackknifed raters"
        yield Setting(figure, method, "raters and answers", truth, ours, others, reason)


def marked(rng: np.random.Generator, people: int, count: int) -> list[MarkedText]:
    """Return texts with three errors; people find each as often as they are careful, give or take a word."""
    text, care = " ".join(f"word{n:02d}" for n in range(40)), np.clip(rng.normal(0.7, 0.1, people), 0, 1)
    texts = []
    for _ in range(count):
        errors = [(int(word), "major" if rng.random() < 0.4 else "minor") for word in rng.integers(0, 36, 3)]
        given: dict[str, list[SpanMark]] = {}
        for person, careful in enumerate(care.tolist()):
            found = [error for error in errors if rng.random() < careful]
            found += [(int(rng.integers(0, 36)), "minor")] if rng.random() < 0.3 else []
            spans = [(word + int(rng.integers(0, 2)), int(rng.integers(1, 4)), label) for word, label in found]
            given[f"p{person}"] = [
                SpanMark(7 * word, 7 * (word + size) - 1, label if rng.random() < 0.8 else "minor")
                for word, size, label in spans
            ]
        texts.append(MarkedText(text, given))
    return texts


def span_figures(names: Sequence[str], people: int, sample: int, count: int = 20) -> list[Floats]:
    """Return value, low and high of figures of marks by people and in texts drawn anew."""
    texts = marked(np.random.default_rng([people, sample]), people, count)
    weights = {"minor": 1.0, "major": 5.0}
    found = span_agreement(texts, weights=weights, over_raters=count == 20, with_gamma="gamma" in names)
    figures: list[AgreementFigure] = [getattr(found, name) for name in names]
    return [np.array([np.nan if end is None else end for end in figure]) for figure in figures]


def marks(_: np.random.Generator, samples: int) -> Iterator[Setting]:
    """Yield agreement on marked spans over people and texts, of characters."""
    titles = {"weighted": "α weighted by severity", "alpha": "α of characters", "kappa": "κ of characters", "f1": "F1"}
    for people in (3, 6):
        yield from agree_on_marks(titles, people, min(samples, 300))


def gamma(_: np.random.Generator, samples: int) -> Iterator[Setting]:
    """Yield γ, which takes a second for each sample."""
    yield from agree_on_marks({"gamma": "γ"}, 3, min(samples, 100))


def agree_on_marks(titles: Mapping[str, str], people: int, samples: int) -> Iterator[Setting]:
    """Yield figures of marks by so many people in 20 texts."""
    # The truth is the mean of many other groups of people.
    large = np.array([span_figures(list(titles), people, 10_000 + n, 60) for n in range(40)])
    figures = np.array([span_figures(list(titles), people, n) for n in range(samples)])
    for place, title in enumerate(titles.values()):
        truth, found = float(large[:, place, 0].mean()), figures[:, place]
        half = Z * float(np.std(found[:, 0], ddof=1))
        yield Setting(
            f"{title} {truth:.2f} of marks by {people} people in 20 texts",
            f"{'beta' if people < FEWEST_PEOPLE else FISHER}, resampled texts and jackknifed people",
            "people and texts",
            truth,
            [(low, high) for _, low, high in found.tolist()],
            {"normal, told the variance": [(value - half, value + half) for value in found[:, 0].tolist()]},
            "how far so few people differ is hardly known (Student's t with about as many degrees of freedom), and the "
            "alternative is told it",
        )


def two_way(table: Floats) -> Ends:
    """Return the interval of the mean of raters × questions from the sums of squares of both, with Satterthwaite's
    degrees of freedom; a part that is estimated below zero is left out."""
    (raters, questions), mean = table.shape, table.mean()
    rows, columns = table.mean(axis=1), table.mean(axis=0)
    free = raters - 1, questions - 1, (raters - 1) * (questions - 1)
    rest = table - rows[:, None] - columns + mean
    by_rater, by_question, error = (
        float(squares / df)
        for squares, df in zip(
            (questions * ((rows - mean) ** 2).sum(), raters * ((columns - mean) ** 2).sum(), (rest**2).sum()),
            free,
            strict=True,
        )
    )
    summed = by_rater + by_question - error
    parts: tuple[float, ...] = by_rater, by_question, error
    if min(by_rater, by_question) < error:
        summed, parts = max(by_rater, by_question), tuple(x if x == max(by_rater, by_question) else 0.0 for x in parts)
    df = summed**2 / max(sum(x**2 / n for x, n in zip(parts, free, strict=True)), 1e-300)
    half = float(t.isf(0.025, max(df, 1.0))) * np.sqrt(summed / table.size)
    return float(mean - half), float(mean + half)


def rate_answers(rng: np.random.Generator, raters: int, questions: int, spread: float, rare: bool) -> Floats:
    """Return ratings from 1 to 5, raters × questions × two models: of the usual kind, or of good answers, in which
    everybody rates the answers to 5% of questions lowest."""
    shape = raters, questions, 2
    if rare:
        good = np.where(rng.random(shape) < 0.9, 5.0, 4.0)
        return np.where(rng.random((1, questions, 1)) < 0.05, 1.0, good)
    latent = rng.normal(0, spread, (raters, 1, 1)) + rng.normal(0, 0.5, (1, questions, 1))
    latent = latent + rng.normal(0, spread / 2, (raters, 1, 2)) + np.array([3.0, 3.3])
    return np.asarray(np.clip(np.rint(latent + rng.normal(0, 0.8, shape)), 1, 5))


def people(rng: np.random.Generator, samples: int) -> Iterator[Setting]:
    """Yield means, differences and win rates over raters and questions."""
    for raters, questions, spread, rare in (
        (3, 20, 0.5, False), (7, 6, 0.4, False), (10, 20, 0.5, False), (10, 20, 0.1, False), (5, 20, 0.0, True)
    ):  # fmt: skip
        means, differences, sums_of_squares, of_gaps = [], [], [], []
        person, question, model = np.indices((raters, questions, 2)).reshape(3, -1)
        columns = {"r": person.tolist(), "q": question.tolist(), "m": ["ab"[m] for m in model]}
        columns |= {"rm": (2 * person + model).tolist()}
        second = model == 1
        for _ in range(min(samples, 400)):
            table = rate_answers(rng, raters, questions, spread, rare)
            y = table.ravel()
            fitted = fit_linear(MixedModel("y", ("m",), ("r", "q", "rm")), columns | {"y": y.tolist()})
            means.append(raters_interval(fitted, second, y[second], question[second], FIVE))
            gap = contrasts(fitted, ("m",))[0]
            differences.append((-gap.high, -gap.low))
            sums_of_squares.append(two_way(table[..., 1]))
            of_gaps.append(two_way(table[..., 1] - table[..., 0]))
        many = [rate_answers(rng, 400, 400, spread, rare) for _ in range(20)]
        truth = float(np.mean([table[..., 1].mean() for table in many]))
        truth_gap = truth - float(np.mean([table[..., 0].mean() for table in many]))
        design = f"{raters} raters (SD {spread}) and {questions} questions"
        design = f"{raters} raters and {questions} questions, of which all rate 5% lowest" if rare else design
        both, other = "raters and questions", "two-way analysis of variance, Satterthwaite"
        method = "REML, Satterthwaite, within the scale"
        yield Setting(f"mean rating {truth:.2f}, {design}", method, both, truth, means, {other: sums_of_squares})
        if not rare:
            figure = f"difference {truth_gap:.2f} of two models, {design}"
            yield Setting(figure, "REML, Satterthwaite", both, truth_gap, differences, {other: of_gaps})
    for raters, questions, spread in ((3, 40, 0.5), (10, 40, 0.5), (10, 40, 0.0)):
        person, question = np.divmod(np.arange(raters * questions), questions)
        truth = float(norm.cdf(0.5 / np.sqrt(2 + spread**2)))
        ours, one_way = [], []
        for _ in range(samples):
            latent = 0.5 + rng.normal(0, spread, raters)[person] + rng.normal(0, 1, questions)[question]
            won = (latent + rng.normal(0, 1, len(person)) > 0).astype(float)
            ours.append(crossed_interval(won, person, question))
            by_rater = student(np.bincount(person, won) / questions)
            by_question = student(np.bincount(question, won) / raters)
            one_way.append(max(by_rater, by_question, key=lambda ends: ends[1] - ends[0]))
        figure = f"win rate {truth:.2f}, {raters} raters (SD {spread}) and {questions} questions"
        others = {"the wider of Student's t by rater and by question": one_way}
        yield Setting(figure, "variances over both, Student's t", "raters and questions", truth, ours, others)


def annotators(rng: np.random.Generator, samples: int) -> Iterator[Setting]:
    """Yield how severe each of ten people is, and how much each changes from the first rating to the last."""
    raters, questions = 10, 20
    person, question, model = np.array([(r, q, m) for r in range(raters) for q in range(questions) for m in (0, 1)]).T
    columns = {"r": person.tolist(), "q": question.tolist(), "m": ["ab"[m] for m in model]}
    found: dict[str, tuple[list[Ends], list[Ends]]] = {"severity": ([], []), "drift": ([], [])}
    for _ in range(min(samples, 60)):
        severity, drift = rng.normal(0, 0.5, raters), rng.normal(0, 1, raters)
        order = np.argsort(rng.random((raters, 2 * questions)), axis=1).ravel()
        time = order / (2 * questions - 1) - 0.5
        latent = 0.5 * model + rng.normal(0, 1, questions)[question] - severity[person] + drift[person] * time
        ratings = np.digitize(latent + rng.logistic(size=len(model)), [-2.5, -0.8, 0.8, 2.5]) + 1.0
        data = columns | {"y": ratings.tolist()}
        fitted = fit(MixedModel("y", ("m",), ("r", "q"), {"m": ("a", "b")}), data)
        apart = annotator_severity(fitted, data, "r").people
        changed = annotator_drift(fitted, columns["r"], order).people
        true = severity - severity.mean()
        for name, rows, df in (
            ("severity", [(x.severity, x.low, x.high, true[int(str(x.annotator))]) for x in apart], raters - 1),
            ("drift", [(x.change, x.low, x.high, drift[int(str(x.annotator))]) for x in changed], 2 * questions - 2),
        ):
            for value, low, high, truth in rows:
                if value is not None and low is not None and high is not None:
                    half = (high - low) / 2 * Z / float(t.isf(0.025, df))
                    found[name][0].append((low - truth, high - truth))
                    found[name][1].append((value - half - truth, value + half - truth))
    for name, (ours, plain) in found.items():
        figure = f"{name} of each of {raters} raters of 40 answers, log odds"
        yield Setting(figure, "Laplace, Student's t", "these raters' ratings", 0.0, ours, {"normal": plain})


def items(rng: np.random.Generator, samples: int) -> Iterator[Setting]:
    """Yield abilities and difficulties of item response models."""
    ability, spread, count = np.array([-0.6, 0.0, 0.4, 0.9, 1.5]), 1.2, 60
    nodes = np.linspace(-6, 6, 241) * spread
    abilities: tuple[list[Ends], list[Ends]] = ([], [])
    difficulties: tuple[list[Ends], list[Ends]] = ([], [])
    for _ in range(min(samples, 100)):
        hard = rng.normal(0, spread, count)
        table = (rng.random((count, 5)) < expit(ability - hard[:, None])).astype(float)
        scale = fit_questions(table)
        drawn = np.array([fit_questions(table[rows]).ability for rows in resample(rng, count, 40)])
        spreads = np.nanstd(drawn, axis=0)
        for value, error, redrawn, truth in zip(scale.ability, scale.errors, spreads, ability, strict=True):
            abilities[0].append((value - truth - Z * error, value - truth + Z * error))
            abilities[1].append((value - truth - Z * redrawn, value - truth + Z * redrawn))
        for value, error, row, truth in zip(scale.difficulty, scale.uncertainty, table, hard, strict=True):
            difficulties[0].append((value - truth - Z * error, value - truth + Z * error))
            p = expit(ability[:, None] - nodes)
            mass = np.where(row[:, None] > 0, p, 1 - p).prod(axis=0) * norm.pdf(nodes / spread)
            low, high = np.interp([0.025, 0.975], np.cumsum(mass) / mass.sum(), nodes)
            difficulties[1].append((low - truth, high - truth))
    of = f"by item response, {len(ability)} models and {count} questions"
    other = {"normal, resampled questions": abilities[1]}
    yield Setting(f"ability {of}", "sandwich, normal", "questions", 0.0, abilities[0], other)
    other = {"posterior, told abilities and spread": difficulties[1]}
    yield Setting(f"difficulty {of}", "posterior, normal", "answers", 0.0, difficulties[0], other)


def places(rng: np.random.Generator, samples: int) -> Iterator[Setting]:
    """Yield the places of models, and τ between their orders on two benchmarks."""
    reason = "of models that are nearly alike (two lines further) resampled places hold too little"
    for levels, words in (
        (np.array([0.75, 0.65, 0.6, 0.55, 0.53, 0.51]), "6 models that differ by 2 to 10 points"),
        (np.linspace(0.6, 0.582, 10), "10 models that differ by 0.2 points"),
    ):
        yield from place(rng, levels, words, min(samples, 300), reason)


def place(rng: np.random.Generator, levels: Floats, words: str, samples: int, reason: str) -> Iterator[Setting]:
    """Yield the places of models with these accuracies."""
    count, truth = len(levels), np.arange(1, len(levels) + 1)
    ranges: tuple[list[Ends], list[Ends]] = ([], [])
    taus: tuple[list[Ends], list[Ends]] = ([], [])
    upper = np.triu_indices(count, 1)
    for _ in range(samples):
        signs, redrawn = [], []
        for _ in range(2):
            easy = rng.normal(0, 1, (100, 1))
            credit = (easy + rng.normal(0, 1, (100, count)) < norm.ppf(levels) * 2**0.5).astype(float)
            signs.append(significant_order(credit, count * (count - 1) // 2))
            means = draw_times(rng, 100, 200) @ credit
            redrawn.append(np.sign(means[:, :, None] - means[:, None, :])[:, *upper])
        low, high = rank_range(significant_order(credit, count - 1))
        ranges[0].extend(zip((low - truth).tolist(), (high - truth).tolist(), strict=True))
        ranks = 1 + (means[:, :, None] < means[:, None, :]).sum(axis=2)
        ends = np.quantile(ranks, [0.025, 0.975], axis=0) - truth
        ranges[1].extend(zip(*ends.tolist(), strict=True))
        taus[0].append(tau_range(*signs))
        taus[1].append(percentile((redrawn[0] * redrawn[1]).mean(axis=1)))
    method, other = "paired, all comparisons together", {"percentile bootstrap": ranges[1]}
    yield Setting(f"place of each of {words}, 100 questions", method, "questions", 0.0, ranges[0], other, reason)
    figure = f"τ = 1 of the orders of {words} on two benchmarks of 100 questions"
    other = {"percentile bootstrap": taus[1]}
    yield Setting(figure, method, "questions", 1.0, taus[0], other)


def judges(rng: np.random.Generator, samples: int) -> Iterator[Setting]:
    """Yield a judge beside people, the agreement of people's numbers and of their codes, and Spearman's ρ."""
    count, noise = 40, 0.8
    r, j = 1 / (1 + noise**2), 1 / np.sqrt(1 + noise**2) / np.sqrt(1.25)
    worth = j**2 / r * (1 - r) / (r * (1 - j**2 / r))
    truths = {
        "person with person": r,
        "judge with person": j,
        "judge less person": j - r,
        "people": worth / (1 + worth),
    }
    ours: dict[str, list[Ends]] = {name: [] for name in (*truths, "α", "ρ", "MASI")}
    others: dict[str, list[Ends]] = {name: [] for name in ours}
    for _ in range(min(samples, 200)):
        true = rng.normal(size=count)
        people, judge = true + rng.normal(0, noise, (3, count)), true + rng.normal(0, 0.5, count)
        given = people.T.tolist()
        found = side_by_side(given, judge)
        assert found
        share = [(end / (1 + end)) if np.isfinite(end) else 1.0 for end in found.worth_interval or (0.0, np.inf)]
        ends = found.people_interval, found.judge_interval, found.difference, (share[0], share[1])
        for name, interval in zip(truths, ends, strict=True):
            ours[name].append(interval)
        alpha = interval_alpha(given)
        assert alpha
        ours["α"].append(alpha[1])
        drawn: list[tuple[float, ...]] = []
        rhos = []
        for rows in resample(rng, count, 100):
            x, y = people[:, rows], judge[rows]
            between = np.mean([np.corrcoef(x[a], x[b])[0, 1] for a, b in ((0, 1), (0, 2), (1, 2))])
            of_judge = np.mean([np.corrcoef(each, y)[0, 1] for each in x])
            within = x.var(axis=0, ddof=1).mean()
            values = between, of_judge, of_judge - between, (worth_in_people(of_judge, between) or 0.0)
            drawn.append((*values[:3], 1 - 1 / (1 + values[3]), 1 - within / x.var(ddof=1)))
            rhos.append(float(spearman(people[0][rows], y) or 0.0))
        for name, column in zip((*truths, "α"), np.array(drawn).T, strict=True):
            others[name].append(percentile(column))
        ours["ρ"].append(drawn_interval(spearman(people[0], judge) or 0.0, rhos, count, least=-1.0))
        others["ρ"].append(percentile(rhos))
        codes = rng.random((count, 3)) < 0.4
        seen = [[frozenset(np.flatnonzero(row ^ (rng.random(3) < 0.1)).astype(str)) for _ in range(3)] for row in codes]
        sets = masi_alpha(seen)
        assert sets
        ours["MASI"].append((sets.low, sets.high))
        again = [masi_alpha([seen[n] for n in rows], resamples=1) for rows in resample(rng, count, 60)]
        others["MASI"].append(percentile([each and each.alpha for each in again]))
    many = rng.random((3000, 3)) < 0.4
    large = [[frozenset(np.flatnonzero(row ^ (rng.random(3) < 0.1)).astype(str)) for _ in range(3)] for row in many]
    coded = masi_alpha(large, resamples=1)
    assert coded
    truths |= {"α": r, "ρ": 6 / np.pi * np.arcsin(j / 2), "MASI": coded.alpha}
    words = {
        "person with person": "correlation {} of two of 3 people, 40 answers",
        "judge with person": "correlation {} of a judge with one of 3 people, 40 answers",
        "judge less person": "difference {} of these correlations",
        "people": "k / (1 + k) = {} of k people that a judge is worth",
        "α": "interval α {} of 3 people, 40 answers",
        "ρ": "Spearman's ρ = {} of 40 items",
        "MASI": "α with MASI {} of 3 coders, 40 comments",
    }
    for name, truth in truths.items():
        is_plain = name in ("judge less person", "people")
        method = "expanded percentiles" if is_plain else "beta, resampled answers"
        method = "Fisher's z, resampled units" if name == "MASI" else method
        other = {"percentile bootstrap": others[name]}
        yield Setting(words[name].format(f"{truth:.2f}"), method, "answers, these people", truth, ours[name], other)


FAMILIES = {
    each.__name__: each
    for each in (
        shares, correlations, differences, counts, agreement, judges, marks, gamma, people, log_odds, annotators, items,
        places,
    )
}  # fmt: skip


def measure(setting: Setting) -> dict[str, object]:
    """Return a setting's line: ours, and the best of the alternatives."""

    def held(ends: Sequence[Ends]) -> tuple[float, float]:
        low, high = np.array(ends, dtype=np.float64).T
        inside = (low - 1e-12 <= setting.truth) & (setting.truth <= high + 1e-12)
        return round(float(inside.mean()), 3), round(float((high - low).mean()), 3)

    coverage, width = held(setting.ours)
    found = {name: held(ends) for name, ends in setting.others.items()}
    good = {name: of for name, of in found.items() if of[0] >= PROMISE}
    best = min(good, key=lambda name: good[name][1]) if good else max(found, key=lambda name: found[name][0])
    wide = bool(good) and width > WIDER * found[best][1]
    return {
        "figure": setting.figure, "method": setting.method, "population": setting.population,
        "samples": len(setting.ours), "coverage": coverage, "width": width,
        "alternative": best, "alternative_coverage": found[best][0], "alternative_width": found[best][1],
        "fails": coverage < PROMISE, "wider": wide, "reason": setting.reason if wide else "",
    }  # fmt: skip


def tabulate(lines: Sequence[dict[str, object]]) -> str:
    """Return the table of the docs."""
    head = "| figure | method | over other | coverage | width | alternative | its coverage | its width |"
    rows = [
        f"| {x['figure']} | {x['method']} | {x['population']} | {x['coverage']:.1%} | {x['width']:.3f} | "
        f"{x['alternative']} | {x['alternative_coverage']:.1%} | {x['alternative_width']:.3f} |"
        for x in lines
    ]
    wide = [f"- {x['figure']}: {x['reason'] or 'no reason is known'}." for x in lines if x["wider"]]
    return "\n".join([head, "| --- | --- | --- | ---: | ---: | --- | ---: | ---: |", *rows, "", *wide])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=800)
    parser.add_argument("--only", choices=FAMILIES, action="append", help="may be given several times")
    parser.add_argument("--out", type=Path, help="file for the lines")
    parser.add_argument("--docs", type=Path, help="page with the table, between its two comments")
    parser.add_argument("--read", type=Path, nargs="*", help="files with lines, instead of simulating")
    given = parser.parse_args()
    chosen = [] if given.read else given.only or list(FAMILIES)
    there = given.read or ([given.out] if given.only and given.out and given.out.exists() else [])
    lines = [json.loads(line) for path in there for line in path.read_text("utf-8").splitlines()]
    lines = [line for line in lines if line["family"] not in chosen]
    for name in chosen:
        started = time.process_time()
        for setting in FAMILIES[name](np.random.default_rng(0), given.samples):
            seconds = round(time.process_time() - started, 1)
            lines.append({"family": name} | measure(setting) | {"cpu_seconds": seconds})
            print(json.dumps(lines[-1], ensure_ascii=False), flush=True)
            started = time.process_time()
    lines.sort(key=lambda line: list(FAMILIES).index(line["family"]))
    if given.out:
        given.out.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    if given.docs:
        text = given.docs.read_text("utf-8")
        marks = "<!-- benchmarks/intervals.py -->", "<!-- end of benchmarks/intervals.py -->"
        table = f"{marks[0]}\n\n{tabulate(lines)}\n\n{marks[1]}"
        given.docs.write_text(re.sub(f"{marks[0]}.*{marks[1]}", lambda _: table, text, flags=re.DOTALL), "utf-8")


if __name__ == "__main__":
    main()
