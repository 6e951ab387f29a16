"""Studies that are simulated many at a time, and the tests of each: arrays whose first axis is the study.

A test generalises over raters and items alike: the variance of a mean is that of raters plus that of items less that of
single ratings (A. C. Cameron, J. B. Gelbach and D. L. Miller, J. Bus. Econ. Stat. 29 (2011), 238-249), with
Satterthwaite's degrees of freedom. Correlations that share the people are compared after E. J. Williams, J. R. Stat.
Soc. B 21 (1959), 396-399. Agreement is Krippendorff's α of numbers with the interval of `mores rate` over raters and
items; with two raters, an intraclass correlation with its exact interval over items (P. E. Shrout and J. L. Fleiss,
Psychol. Bull. 86 (1979), 420-428), which α approaches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats
from scipy.special import ndtr

from mores.planning.records import Assumed, StudyDesign
from mores.rating.agreement import FEWEST

Floats = npt.NDArray[np.float64]
MOST_CELLS = 1_000_000
"""Ratings that are simulated at once."""


class Estimates(NamedTuple):
    """The finding of each study: a difference from the null, with its interval."""

    value: Floats
    low: Floats
    high: Floats

    @classmethod
    def around(cls, value: Floats, error: Floats, tail: float, degrees: npt.ArrayLike) -> Estimates:
        """Return intervals of Student's t."""
        reach = error * stats.t.isf(tail, degrees)
        return cls(value, value - reach, value + reach)


@dataclass(frozen=True)
class Trial:
    """Studies of one design, under assumptions about the world."""

    design: StudyDesign
    assumed: Assumed
    difference: float
    alpha: float
    scale: tuple[float, float]

    @property
    def tail(self) -> float:
        """The share of false alarms to each side, divided among all pairs of models (Bonferroni)."""
        return self.alpha / 2 / max(1, self.design.models * (self.design.models - 1) // 2)

    @property
    def places(self) -> npt.NDArray[np.intp]:
        """The raters of each item, in turn."""
        each, raters = self.design.each, self.design.raters
        start = np.arange(self.design.items)[:, None] * (0 if each == raters else each)
        return np.asarray((start + np.arange(each)) % raters)

    def spread(self, values: Floats) -> Floats:
        """Return a value of each rater at each item that the rater gets."""
        return values[:, None, :] if self.design.each == self.design.raters else values[:, self.places]


def normal(rng: np.random.Generator, spread: float, *shape: int) -> Floats:
    """Return effects with a standard deviation; in single precision other processors might draw others."""
    return rng.standard_normal(shape) * spread


def mean_estimates(values: Floats, places: npt.NDArray[np.intp], raters: int, tail: float) -> Estimates:
    """Return the mean of (study, item, rater) values, with an error that generalises over items and raters.

    With one rater it generalises over items alone.
    """
    studies, items, each = values.shape
    n = items * each
    mean = values.mean((1, 2))
    rest = values - mean[:, None, None]
    by_item = (rest.sum(2) ** 2).sum(1) / n**2 * items / (items - 1)
    variance, degrees = by_item, np.full(studies, items - 1.0)
    if raters > 1:
        member = np.zeros((n, raters))
        member[np.arange(n), places.ravel()] = 1
        by_rater = ((rest.reshape(studies, n) @ member) ** 2).sum(1) / n**2 * raters / (raters - 1)
        single = (rest**2).sum((1, 2)) / n / (n - 1)
        variance = np.maximum(by_item + by_rater - single, np.maximum(by_item, by_rater))
        parts = by_item**2 / (items - 1) + by_rater**2 / (raters - 1) + single**2 / (n - 1)
        degrees = np.maximum(1.0, variance**2 / np.maximum(parts, 1e-30))
    return Estimates.around(mean, np.sqrt(variance), tail, degrees)


def observe(centre: float, spread: float, scale: tuple[float, float]) -> tuple[float, float]:
    """Return the mean and the standard deviation of a normal value that is rounded and cut to a scale."""
    points = np.arange(scale[0], scale[1])
    above = 1 - ndtr((points + 0.5 - centre) / spread)  # how often each next point is reached
    mean = scale[0] + above.sum()
    square = scale[0] ** 2 + (above * (2 * points + 1)).sum()
    return float(mean), float(np.sqrt(max(0.0, square - mean**2)))


@cache
def centre_of(mean: float, spread: float, scale: tuple[float, float]) -> float:
    """Return the centre of a normal value that has a mean after it is rounded and cut to a scale."""
    low, high = scale[0] - 20 * spread, scale[1] + 20 * spread
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if observe(middle, spread, scale)[0] < mean else (low, middle)
    return (low + high) / 2


@cache
def spread_of(mean: float, deviation: float, scale: tuple[float, float]) -> float:
    """Return the spread before rounding and cutting that gives a standard deviation after it."""
    low, high = 1e-3, 20.0 * (scale[1] - scale[0])
    for _ in range(60):
        middle = (low * high) ** 0.5
        found = observe(centre_of(mean, middle, scale), middle, scale)[1]
        low, high = (middle, high) if found < deviation else (low, middle)
    return float((low * high) ** 0.5)


def simulate_ratings(rng: np.random.Generator, trial: Trial, studies: int) -> Estimates:
    """Simulate ratings of two models' answers by the same raters, on a scale of whole numbers."""
    design, assumed, places = trial.design, trial.assumed, trial.places
    names = ("rater", "slope", "item", "answer", "residual")
    total = sum(getattr(assumed, name) ** 2 for name in names) ** 0.5
    spread = spread_of(assumed.value, total, trial.scale)
    rater, slope, item, answer, residual = (spread / total * getattr(assumed, name) for name in names)
    people, items = normal(rng, rater, studies, design.raters), normal(rng, item, studies, design.items, 1)
    ratings = []
    for half in (trial.difference / 2, -trial.difference / 2):
        centre = centre_of(assumed.value + half, spread, trial.scale)
        level = people + normal(rng, slope, studies, design.raters) + centre
        values = normal(rng, residual, studies, *places.shape)
        values += trial.spread(level)
        values += items + normal(rng, answer, studies, design.items, 1)
        ratings.append(np.clip(np.rint(values, out=values), *trial.scale, out=values))
    return mean_estimates(ratings[0] - ratings[1], places, design.raters, trial.tail)


def simulate_wins(rng: np.random.Generator, trial: Trial, studies: int) -> Estimates:
    """Simulate which of two answers raters prefer; the value is how far the win rate is above one half."""
    design, places = trial.design, trial.places
    spreads = trial.assumed.slope, trial.assumed.answer
    level = stats.norm.ppf(0.5 + trial.difference) * (1 + spreads[0] ** 2 + spreads[1] ** 2) ** 0.5
    values = trial.spread(normal(rng, spreads[0], studies, design.raters)) + normal(
        rng, spreads[1], studies, design.items, 1
    )
    wins = (values + normal(rng, 1.0, studies, *places.shape) > -level).astype(np.float64)
    return mean_estimates(wins - 0.5, places, design.raters, trial.tail)


def simulate_accuracy(rng: np.random.Generator, trial: Trial, studies: int) -> Estimates:
    """Simulate the answers of two models to the same questions."""
    spread = trial.assumed.item
    easy = normal(rng, spread, studies, trial.design.items)
    shares = trial.assumed.value, trial.assumed.value - trial.difference
    levels = [stats.norm.ppf(share) * (1 + spread**2) ** 0.5 for share in shares]
    correct = [easy + normal(rng, 1.0, *easy.shape) > -level for level in levels]
    return _paired(correct[0].astype(np.float64) - correct[1], trial)


def simulate_scaled(rng: np.random.Generator, trial: Trial, studies: int) -> Estimates:
    """Simulate scaled accuracy, 2·accuracy − 1."""
    assumed = trial.assumed.model_copy(update={"value": (trial.assumed.value + 1) / 2})
    halved = Trial(trial.design, assumed, trial.difference / 2, trial.alpha, trial.scale)
    found = simulate_accuracy(rng, halved, studies)
    return Estimates(2 * found.value, 2 * found.low, 2 * found.high)


def _paired(values: Floats, trial: Trial) -> Estimates:
    """Return the mean of each study's items."""
    n = values.shape[1]
    error = values.std(1, ddof=1) / n**0.5
    return Estimates.around(values.mean(1), error, trial.tail, n - 1)


def simulate_correlation(rng: np.random.Generator, trial: Trial, studies: int) -> Estimates:
    """Simulate how two judges agree with the mean of several people's ratings of the same items."""
    design, assumed = trial.design, trial.assumed
    shape, n = (studies, design.items), design.items
    truth = normal(rng, 1.0, *shape)
    noise = assumed.residual / max(assumed.item, 1e-6) / max(1, design.each) ** 0.5
    people = truth + normal(rng, noise, *shape)
    common = normal(rng, assumed.shared**0.5, *shape)
    judges = []
    for value in (assumed.value, assumed.value - trial.difference):
        own = common + normal(rng, (1 - assumed.shared) ** 0.5, *shape)
        judges.append(value * truth + (1 - value**2) ** 0.5 * own)

    def correlate(first: Floats, second: Floats) -> Floats:
        x, y = (each - each.mean(1, keepdims=True) for each in (first, second))
        return np.asarray((x * y).sum(1) / np.sqrt((x**2).sum(1) * (y**2).sum(1)))

    first, second, between = correlate(people, judges[0]), correlate(people, judges[1]), correlate(*judges)
    spread = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    mean = (first + second) / 2
    variance = (2 * (n - 1) / (n - 3) * spread + mean**2 * (1 - between) ** 3) / ((n - 1) * (1 + between))
    return Estimates.around(first - second, np.sqrt(variance), trial.tail, n - 3)


def simulate_agreement(rng: np.random.Generator, trial: Trial, studies: int) -> Estimates:
    """Simulate ratings whose agreement is the assumed one, tested against one that is lower by the difference."""
    design, assumed = trial.design, trial.assumed
    apart = (assumed.rater**2 + assumed.residual**2) ** 0.5 or 1.0
    unit = (1 - assumed.value) ** 0.5 / apart
    values = trial.spread(normal(rng, assumed.rater * unit, studies, design.raters))
    values = values + normal(rng, assumed.value**0.5, studies, design.items, 1)
    items, each = design.items, design.each
    values = values + normal(rng, assumed.residual * unit, studies, items, each)
    null = assumed.value - trial.difference
    if design.raters >= FEWEST:
        return _alpha_over_raters(values, trial, null)
    of_items = values.mean(2)
    between = each * of_items.var(1, ddof=1)
    within = ((values - of_items[:, :, None]) ** 2).sum((1, 2)) / (items * (each - 1))
    ratio, degrees = between / within, (items - 1, items * (each - 1))
    ends = ratio, ratio / stats.f.isf(trial.tail, *degrees), ratio * stats.f.isf(trial.tail, *reversed(degrees))
    return Estimates(*((end - 1) / (end + each - 1) - null for end in ends))


def _alpha_over_raters(values: Floats, trial: Trial, null: float) -> Estimates:
    """Return Krippendorff's α of numbers less the null, with the interval that `mores rate` prints: variances over
    items and over raters (the jackknife), Student's t, on the scale of Fisher's z."""
    raters, items = trial.design.raters, trial.design.items
    places = np.broadcast_to(trial.places, (items, values.shape[2]))

    def parts(mine: npt.NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
        """Return α, and what each item adds to the sums of squares within it and over all, of some ratings."""
        kept = mine & (mine.sum(1) > 1)[:, None]
        n = kept.sum(1)
        first, square = (values * kept).sum(2), (values**2 * kept).sum(2)
        mean = (first.sum(1) / n.sum())[:, None]
        apart = np.where(n > 1, (square - first**2 / np.maximum(n, 1)) * n / np.maximum(n - 1, 1), 0.0)
        whole = square - 2 * mean * first + n * mean**2
        return 1 - (n.sum() - 1) / n.sum() * apart.sum(1) / whole.sum(1), apart, whole

    alpha, apart, whole = parts(np.ones_like(places, dtype=bool))
    total = whole.sum(1, keepdims=True)
    shift = (apart - apart.sum(1, keepdims=True) / total * whole) / total
    by_item = (shift**2).sum(1) * items / (items - 1)
    without = np.array([parts(places != person)[0] for person in range(raters)])
    by_rater = (raters - 1) / raters * ((without - without.mean(0)) ** 2).sum(0)
    variance = by_item + by_rater
    degrees = variance**2 / (by_item**2 / (items - 1) + by_rater**2 / (raters - 1))
    centre = np.arctanh(np.clip(alpha, -0.999999, 0.999999))
    reach = stats.t.isf(trial.tail, degrees) * np.sqrt(variance) / (1 - np.tanh(centre) ** 2)
    return Estimates(*(np.tanh(end) - null for end in (centre, centre - reach, centre + reach)))


def simulate_spans(rng: np.random.Generator, trial: Trial, studies: int) -> Estimates:
    """Simulate how many errors two judges find in the same texts, and how many they make up; F1 over all texts."""
    assumed, shape = trial.assumed, (studies, trial.design.items)
    errors = rng.poisson(assumed.spans, shape)
    easy = normal(rng, assumed.item, *shape)
    influences = []
    for value in (assumed.value, assumed.value - trial.difference):
        found = rng.binomial(errors, ndtr(stats.norm.ppf(value) * (1 + assumed.item**2) ** 0.5 + easy))
        made_up = rng.poisson(assumed.spans * (1 - value), shape)
        above, below = 2.0 * found, found + made_up + errors
        ratio = above.sum(1) / np.maximum(1, below.sum(1))
        # What each text adds to the ratio: their mean is the ratio, and their spread gives its error.
        share = (above - ratio[:, None] * below) / np.maximum(1e-9, below.mean(1, keepdims=True))
        influences.append(ratio[:, None] + share)
    return _paired(np.asarray(influences[0] - influences[1]), trial)


@dataclass(frozen=True)
class Measure:
    """Something that a study may measure."""

    words: str
    """The difference, in words, with its size and value."""
    simulate: Callable[[np.random.Generator, Trial, int], Estimates]
    difference: float
    items: tuple[int, ...]
    raters: tuple[int, ...] = ()
    """Empty where no people are asked."""
    bounds: tuple[float, float] = (0.0, 1.0)
    """Between which values lie; of ratings the scale."""


FEW, SOME, MANY = (25, 50, 100, 200, 400), (50, 100, 200, 400, 800), (250, 500, 1000, 2000, 4000)
CROWD = (3, 5, 10, 20)
MEASURES: Mapping[str, Measure] = {
    "ratings": Measure("a difference of {difference:g} points of a rating", simulate_ratings, 0.2, FEW, CROWD),
    "wins": Measure("that a model wins {win} of comparisons with another", simulate_wins, 0.1, FEW, CROWD),
    "accuracy": Measure("an accuracy of {value:g} against {other:g}", simulate_accuracy, 0.03, MANY),
    "scaled-accuracy": Measure(
        "a scaled accuracy of {value:g} against {other:g}", simulate_scaled, 0.06, MANY, bounds=(-1.0, 1.0)
    ),
    "correlation": Measure(
        "a correlation with people of {value:g} against {other:g}",
        simulate_correlation,
        0.1,
        SOME,
        (1, 3, 5),
        (-1.0, 1.0),
    ),
    "agreement": Measure("an agreement of {value:g} against {other:g}", simulate_agreement, 0.1, SOME, (2, 3, 5)),
    "span-f1": Measure("a span F1 of {value:g} against {other:g}", simulate_spans, 0.05, SOME, (2,)),
}


def simulate(name: str, trial: Trial, studies: int, seed: int) -> Estimates:
    """Simulate studies; the same design has the same numbers in any grid."""
    design = trial.design
    rng = np.random.default_rng([seed, design.raters, design.items, design.models, design.each])
    room = max(1, MOST_CELLS // (design.items * max(1, design.each)))
    counts = [min(room, studies - start) for start in range(0, studies, room)]
    parts = [MEASURES[name].simulate(rng, trial, count) for count in counts]
    return Estimates(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
