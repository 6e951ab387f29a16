"""People who do not read what they rate, from the ratings alone, and how often an honest person would look the same.

    result = fit(Model("rating", ("model*type",), ("language/annotator", "question")), data)
    people = find_careless(result, data["annotator"], Conduct(order=…, seconds=…, position=…))
    [(person.annotator, person.adjusted_p, person.signs) for person in people if person.flagged]

What an honest person would say about each answer comes from the fitted model and the other people's ratings: the
intercepts of questions and answers are those without the person's own ratings. Up to four signs are looked at:

- "random": ratings follow what the others' ratings predict less than those of honest people do. The statistic is the
  correlation of the person's ranks with the prediction; its distribution comes from drawing the person's own ratings
  (so that nobody is suspected for a narrow or a high scale) in the order of simulated latent values. Honest people
  respond to what they rate more or less strongly, with a factor whose logarithm has the standard deviation `SPREAD`.
- "straight": the longest run of equal ratings, against that of simulated honest people, whose severities vary
  as those of the others do.
- "fast": the mean logarithm of the seconds, against the other people's: an outlier test with Student's t.
- "position": a slope of the ratings on where the answer stood on the screen, beside the effects of the model.

A person's p-value is the smallest of theirs times how many were made (Bonferroni). `adjusted_p` of Benjamini and
Hochberg over people holds the false discovery rate: in a study of honest people, anybody is flagged at most as often
as `rate` says. `posterior` is how probable random answering is, if one of twenty does so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.stats import norm, rankdata, t

from mores.stats.mixed import Fit
from mores.stats.mixed.design import Codes, Floats
from mores.stats.mixed.likelihood import Likelihood
from mores.stats.raters.drift import person_slopes
from mores.stats.resampling import adjust_p_values, blocks

SPREAD = 0.25
"""Of the logarithm of how strongly honest people respond to what they rate."""
PRIOR = 0.05
"""The share of people who answer at random, before any rating."""
FEWEST = 8
"""Ratings below which nobody is judged."""
INSTANT = 0.1
"""Seconds below which a rating is made in no time."""
DRAWS = 2000
MORE_DRAWS = 20_000
"""Where hardly any of the first draws is as extreme."""
Kind: TypeAlias = Literal["random", "straight", "fast", "position"]


@dataclass(frozen=True, slots=True)
class Conduct:
    """The circumstances of ratings; one number for each row of the model, nan where it is not known."""

    order: npt.ArrayLike | None = None
    """The time or place of each rating in its person's work; without it, the order of the rows."""
    seconds: npt.ArrayLike | None = None
    position: npt.ArrayLike | None = None
    """Where the answer stood on the screen, from 1."""


@dataclass(frozen=True, slots=True)
class SuspicionSign:
    """One look at one person."""

    kind: Kind
    p: float
    """How often an honest person looks at least as bad."""
    value: float
    """The correlation, the longest run, the geometric mean of the seconds, or the latent change with each place."""
    expected: float
    """The mean of honest people, the others' geometric mean, or 0."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """The signs of carelessness of one person."""

    annotator: object
    ratings: int
    signs: tuple[SuspicionSign, ...]
    """All that were looked at, the worst first; none with too few ratings or too few people."""
    p: float | None
    adjusted_p: float | None
    flagged: bool
    posterior: float | None
    """How probable it is that the person answers at random; None where that was not looked at."""
    power: float | None
    """How probably somebody who answers these at random would be flagged by the sign "random", if nobody else were:
    among the signs that are looked at and the people who are judged."""
    rate: float

    @property
    def reasons(self) -> tuple[SuspicionSign, ...]:
        """The signs for which a flagged person is flagged: the worst, and those as clear by themselves."""
        if not self.flagged or self.p is None:
            return ()
        return tuple(sign for n, sign in enumerate(self.signs) if n == 0 or sign.p * len(self.signs) <= self.rate)


@dataclass(frozen=True, slots=True)
class Prediction:
    """The ratings that others make likely for the answers that a person rated."""

    fixed: Floats
    """Of each row."""
    means: tuple[Floats, ...]
    """Of each term's levels that the person met."""
    sds: tuple[Floats, ...]
    codes: tuple[Codes, ...]
    """Each row's place among these levels, term by term."""

    def mean(self) -> Floats:
        total = self.fixed.copy()
        for values, codes in zip(self.means, self.codes, strict=True):
            total += values[codes]
        return total

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """Draw latent values of so many honest people: draws × rows."""
        total = np.tile(self.fixed, (count, 1))
        for values, sds, codes in zip(self.means, self.sds, self.codes, strict=True):
            total += rng.normal(values, sds, (count, len(values)))[:, codes]
        strength = np.exp(rng.normal(0, SPREAD, (count, 1)))
        return np.asarray(strength * total + rng.logistic(size=total.shape))


def find_careless(
    result: Fit,
    annotators: Sequence[object],
    conduct: Conduct | None = None,
    *,
    rate: float = 0.05,
    draws: int = DRAWS,
    seed: int = 0,
) -> tuple[Suspicion, ...]:
    """Return everybody who rated, in order of appearance; nobody is judged among fewer than three people."""
    result.require_converged()
    conduct = conduct or Conduct()
    rows = len(result.design.response.codes)
    people = list(dict.fromkeys(annotators))
    codes = np.array([people.index(name) for name in annotators], dtype=np.intp)
    order = numbers(conduct.order, rows, "order")
    if len(codes) != rows:
        raise ValueError(f"{len(codes)} annotators; expected one for each of {rows} ratings")
    counts = np.bincount(codes, minlength=len(people))
    signs: list[list[SuspicionSign]] = [[] for _ in people]
    random: dict[int, Randomness] = {}
    if len(people) >= 3:
        for n in np.flatnonzero(counts >= FEWEST).tolist():
            mine = np.flatnonzero(codes == n)
            mine = mine[np.argsort(order[mine], kind="stable")] if conduct.order is not None else mine
            prediction = predict(result, codes == n, mine)
            rng = np.random.default_rng([seed, n])
            random[n] = judge_consistency(result.design.response.codes[mine], prediction, draws, rng)
            signs[n] += [sign for sign in (random[n].sign,) if sign]
            signs[n].append(judge_run(result, mine, prediction, draws, rng))
        add(signs, judge_speed(codes, numbers(conduct.seconds, rows, "seconds"), counts))
        add(signs, judge_position(result, codes, numbers(conduct.position, rows, "position"), counts))
    return conclude(people, counts, signs, random, rate)


def numbers(values: npt.ArrayLike | None, rows: int, name: str) -> Floats:
    """Return a column of numbers, or of nan where there is none."""
    if values is None:
        return np.full(rows, np.nan)
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (rows,):
        raise ValueError(f"{name} has the shape {array.shape}; expected one number for each of {rows} ratings")
    return array


def add(signs: list[list[SuspicionSign]], more: dict[int, SuspicionSign]) -> None:
    for person, sign in more.items():
        signs[person].append(sign)


def conclude(
    people: Sequence[object],
    counts: Codes,
    signs: Sequence[list[SuspicionSign]],
    random: dict[int, Randomness],
    rate: float,
) -> tuple[Suspicion, ...]:
    """Return one p-value for each person, and who is flagged."""
    ordered = [tuple(sorted(of_person, key=lambda sign: sign.p)) for of_person in signs]
    p_values = {n: min(1.0, len(of_person) * of_person[0].p) for n, of_person in enumerate(ordered) if of_person}
    adjusted = dict(zip(p_values, adjust_p_values(list(p_values.values())).tolist(), strict=True)) if p_values else {}
    nobody = Randomness(None, None, None)

    def power(n: int) -> float | None:
        """Return how probably a random correlation is as low as honest ones at the level of the smallest p-value."""
        seen, level = random.get(n, nobody), rate / max(1, len(p_values) * len(ordered[n]))
        if seen.honest is None:
            return None
        mean, sd, chance = seen.honest
        return float(norm.cdf((mean + norm.ppf(level) * sd) / chance))

    return tuple(
        Suspicion(
            annotator=name,
            ratings=int(counts[n]),
            signs=ordered[n],
            p=p_values.get(n),
            adjusted_p=adjusted.get(n),
            flagged=adjusted.get(n, 1.0) <= rate,
            posterior=random.get(n, nobody).posterior,
            power=power(n),
            rate=rate,
        )
        for n, name in enumerate(people)
    )


# -- what an honest person would say -----------------------------------------------------------------------


def predict(result: Fit, is_mine: npt.NDArray[np.bool_], mine: Codes) -> Prediction:
    """Predict from the model and the other people's ratings; `mine` are the person's rows in their order.

    A level that nobody else rated is unknown: it varies as the levels of its term do that others rated.
    """
    design, others = result.design, np.flatnonzero(~is_mine)
    effects = np.array([c.estimate for c in result.coefficients])
    thresholds = np.array([c.estimate for c in result.thresholds])
    groups = tuple(replace(group, codes=group.codes[others]) for group in design.groups)
    means: list[Floats] = []
    spreads: list[Floats] = []
    places: list[Codes] = []
    if groups:
        response = replace(design.response, codes=design.response.codes[others])
        likelihood = Likelihood(response, design.matrix[others], groups)
        sds = np.array([variance.sd for variance in result.variances])
        fixed = design.matrix[others] @ effects
        _, curvature = likelihood.find_modes(thresholds, fixed, sds[likelihood.order])
        known = likelihood.modes_by_term(), likelihood.by_term(curvature.inverse_diagonal())
        for sd, group, modes, variances in zip(sds, design.groups, *known, strict=True):
            seen = np.bincount(group.codes[others], minlength=len(group.levels)) > 0
            usual = float((modes[seen] ** 2 + variances[seen]).mean())
            levels, codes = np.unique(group.codes[mine], return_inverse=True)
            means.append(sd * modes[levels])
            spreads.append(sd * np.sqrt(np.where(seen[levels], variances[levels], usual)))
            places.append(codes)
    return Prediction(design.matrix[mine] @ effects, tuple(means), tuple(spreads), tuple(places))


# -- signs -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Randomness:
    """The sign "random", and what follows from it."""

    sign: SuspicionSign | None
    posterior: float | None
    honest: tuple[float, float, float] | None
    """Mean and standard deviation of honest people's correlations, and that of random ones, whose mean is 0."""


def judge_consistency(ratings: Codes, prediction: Prediction, draws: int, rng: np.random.Generator) -> Randomness:
    """Return how far ratings follow the prediction, among honest people with the same ratings in another order."""
    scores = rankdata(ratings) - (len(ratings) + 1) / 2
    expected = prediction.mean()
    expected = expected - expected.mean()
    size = float(np.sqrt((scores @ scores) * (expected @ expected)))
    if size < 1e-9 * len(ratings):  # one rating only, or nothing to follow
        return Randomness(None, None, None)
    ascending = np.sort(scores)

    def correlations(count: int) -> Floats:
        parts = [
            expected[np.argsort(prediction.draw(stop - start, rng), axis=1)] @ ascending
            for start, stop in blocks(count, len(ratings))
        ]
        return np.concatenate(parts) / size

    value = float(scores @ expected) / size
    honest = correlations(draws)
    if (honest <= value).sum() < 10:
        honest = np.concatenate([honest, correlations(MORE_DRAWS)])
    p = float(1 + (honest <= value).sum()) / (1 + len(honest))
    mean, sd, chance = float(honest.mean()), float(honest.std()), float(1 / np.sqrt(len(ratings) - 1))
    at_random, honestly = PRIOR * norm.pdf(value, 0, chance), (1 - PRIOR) * norm.pdf(value, mean, sd)
    posterior = float(at_random / (at_random + honestly)) if at_random + honestly > 0 else None
    return Randomness(SuspicionSign("random", p, value, mean), posterior, (mean, sd, chance))


def judge_run(result: Fit, mine: Codes, prediction: Prediction, draws: int, rng: np.random.Generator) -> SuspicionSign:
    """Return the longest run of equal ratings."""
    value = int(longest_runs(result.design.response.codes[mine][None, :])[0])
    thresholds = np.array([c.estimate for c in result.thresholds])

    def runs(count: int) -> Floats:
        parts = [
            longest_runs(np.searchsorted(thresholds, prediction.draw(stop - start, rng)))
            for start, stop in blocks(count, len(mine))
        ]
        return np.concatenate(parts)

    honest = runs(draws)
    if (honest >= value).sum() < 10:
        honest = np.concatenate([honest, runs(MORE_DRAWS)])
    return SuspicionSign(
        "straight", float(1 + (honest >= value).sum()) / (1 + len(honest)), value, float(honest.mean())
    )


def longest_runs(codes: Codes) -> Floats:
    """Return the length of the longest run of equal numbers in each row."""
    run = np.ones(len(codes))
    longest = run.copy()
    for before, now in zip(codes.T[:-1], codes.T[1:], strict=True):
        run = np.where(now == before, run + 1, 1)
        longest = np.maximum(longest, run)
    return longest


def judge_speed(codes: Codes, seconds: Floats, counts: Codes) -> dict[int, SuspicionSign]:
    """Find who is faster: each person's mean logarithm against the others', if at least three are timed."""
    timed = np.isfinite(seconds)
    known = np.bincount(codes[timed], minlength=len(counts))
    people = np.flatnonzero(known >= FEWEST)
    if len(people) < 4:
        return {}
    logs = np.bincount(codes[timed], np.log(np.maximum(seconds[timed], INSTANT)), len(counts))[people] / known[people]
    signs = {}
    for n, person in enumerate(people.tolist()):
        others = np.delete(logs, n)
        error = others.std(ddof=1) * np.sqrt(1 + 1 / len(others))
        p = float(t.cdf((logs[n] - others.mean()) / error, len(others) - 1)) if error > 0 else 1.0
        signs[person] = SuspicionSign("fast", p, float(np.exp(logs[n])), float(np.exp(others.mean())))
    return signs


def judge_position(result: Fit, codes: Codes, position: Floats, counts: Codes) -> dict[int, SuspicionSign]:
    """Return who rates answers by where they stand on the screen."""
    known = np.isfinite(position)
    people = [
        n
        for n in np.flatnonzero(np.bincount(codes[known], minlength=len(counts)) >= FEWEST).tolist()
        if np.ptp(position[known & (codes == n)]) > 0
    ]
    if not people:
        return {}
    columns = np.full(len(codes), -1, dtype=np.intp)
    values = np.zeros(len(codes))
    for n, person in enumerate(people):
        rows = known & (codes == person)
        columns[rows] = n
        values[rows] = position[rows] - position[rows].mean()
    slopes = person_slopes(result, columns, values)
    freedom = np.bincount(columns[columns >= 0]) - 2
    p_values = 2 * t.sf(np.abs(slopes.estimates / slopes.errors), freedom)
    return {
        person: SuspicionSign("position", float(p), float(slope), 0.0)
        for person, p, slope in zip(people, p_values, slopes.estimates, strict=True)
    }
