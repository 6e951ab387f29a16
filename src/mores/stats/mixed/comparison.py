"""Estimated marginal means of a fitted model, and the differences between them.

A mean is that of the latent variable whose thresholds have mean zero: xβ - mean(θ), averaged with equal weights over
the levels of the other factors, with covariates at their means. S. R. Searle, F. M. Speed and G. A. Milliken,
Population marginal means in the linear model, The American Statistician 34 (1980), 216-221; the numbers of R's
`emmeans(fit, ~ a | b, mode = "latent")`, which however puts a covariate of two values at the middle of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, groupby, product
from math import sqrt
from typing import Literal, get_args

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln, ndtr
from scipy.stats import norm, t

from mores.stats.intervals import TAIL, Z95
from mores.stats.mixed.design import CodedFactor, Covariate, Floats, Variable, expand_columns
from mores.stats.mixed.estimation import Fit

Adjustment = Literal["tukey", "bonferroni", "none"]
Levels = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Mean:
    """The estimated marginal mean of a combination of levels."""

    levels: Levels
    """The level of each factor asked for, and of each factor that it is asked within."""
    estimate: float
    se: float
    low: float
    """The ends of Wald's 95% interval."""
    high: float


@dataclass(frozen=True, slots=True)
class MeanContrast:
    """The first mean less the second, with Wald's test that they are equal."""

    first: Levels
    second: Levels
    within: Levels
    """The levels of the factors that the comparison is made within."""
    estimate: float
    se: float
    z: float
    p: float
    """Adjusted for the number of comparisons within the same levels."""
    low: float
    """The ends of the 95% interval with the same adjustment: it is without zero where p is below 5%."""
    high: float
    df: float
    """Degrees of freedom; infinite where z is taken as normal."""


def means(result: Fit, factors: Sequence[str], by: Sequence[str] = ()) -> tuple[Mean, ...]:
    """Return the mean of each combination of the factors' levels, the first factor varying fastest and `by` slowest."""
    cells, weights = grid(result, factors, by)
    return tuple(mean(result, cell, row) for cell, row in zip(cells, weights, strict=True))


def contrasts(
    result: Fit,
    factors: Sequence[str],
    by: Sequence[str] = (),
    adjust: Adjustment = "tukey",
    df: Callable[[Levels, Levels], float] | None = None,
) -> tuple[MeanContrast, ...]:
    """Return all pairwise differences of `means` within the same levels of `by`: with it, the simple effects.

    Degrees of freedom are those of a linear fit, or what `df` gives for two groups; otherwise z is taken as normal.
    """
    if adjust not in get_args(Adjustment):
        raise ValueError(f"unknown adjustment {adjust!r}; expected {', '.join(get_args(Adjustment))}")
    cells, weights = grid(result, factors, by)
    out: list[MeanContrast] = []
    rows = zip(cells, weights, strict=True)
    for _, family in groupby(rows, key=lambda row: [row[0][name] for name in by]):
        out += compare(result, list(family), by, adjust, df)
    return tuple(out)


def grid(result: Fit, factors: Sequence[str], by: Sequence[str]) -> tuple[list[dict[str, object]], Floats]:
    """Return the cells asked for, and for each the weights of thresholds and fixed effects that make its mean."""
    result.require_converged()
    variables = result.design.variables
    chosen = check_factors(factors, by, variables)
    names = [*factors, *by]
    cells = list(levels_of(chosen))
    rows = np.array([average(result, cell) for cell in cells])
    cuts = len(result.thresholds)
    return [
        {name: chosen[name].levels[level] for name, level in cell.items() if name in names} for cell in cells
    ], np.column_stack([np.full((len(rows), cuts), -1 / cuts), rows])


def check_factors(
    factors: Sequence[str], by: Sequence[str], variables: Mapping[str, Variable]
) -> dict[str, CodedFactor]:
    """Return the factors asked for, by name."""
    if isinstance(factors, str) or isinstance(by, str):
        raise ValueError("factors and by are tuples of names, such as ('model',)")
    available = {name: variable for name, variable in variables.items() if isinstance(variable, CodedFactor)}
    names = [*factors, *by]
    for name in names:
        if name not in available:
            raise ValueError(f"unknown factor {name!r}; the fixed effects have {', '.join(available) or 'none'}")
    if not factors or len(set(names)) < len(names):
        raise ValueError(f"expected at least one factor and each once, not {names}")
    return {name: available[name] for name in names}


def levels_of(factors: Mapping[str, CodedFactor]) -> Iterator[dict[str, int]]:
    """Yield all combinations of places in the factors' levels, the first factor varying fastest."""
    for places in product(*(range(len(factor.levels)) for factor in [*factors.values()][::-1])):
        yield dict(zip(factors, reversed(places), strict=True))


def average(result: Fit, cell: Mapping[str, int]) -> Floats:
    """Return the fixed effects' columns in a cell, averaged over the other factors' levels."""
    variables = result.design.variables
    others = {n: v for n, v in variables.items() if isinstance(v, CodedFactor) and n not in cell}
    places = [{**cell, **other} for other in levels_of(others)]
    rows: dict[str, Variable] = {
        name: Covariate(name, np.full(len(places), variable.values.mean()))
        if isinstance(variable, Covariate)
        else CodedFactor(name, variable.levels, np.array([place[name] for place in places], dtype=np.intp))
        for name, variable in variables.items()
    }
    return np.asarray(expand_columns(result.design.terms, rows, len(places))[1].mean(axis=0))


def mean(result: Fit, cell: Levels, weights: Floats) -> Mean:
    estimate, se = combine(result, weights)
    return Mean(cell, estimate, se, estimate - Z95 * se, estimate + Z95 * se)


def combine(result: Fit, weights: Floats) -> tuple[float, float]:
    """Return the estimate and standard error of a linear combination of thresholds and fixed effects."""
    estimates = np.array([c.estimate for c in (*result.thresholds, *result.coefficients)])
    return float(weights @ estimates), float(np.sqrt(weights @ result.covariance @ weights))


def compare(
    result: Fit,
    family: Sequence[tuple[dict[str, object], Floats]],
    by: Sequence[str],
    adjust: Adjustment,
    given: Callable[[Levels, Levels], float] | None,
) -> Iterator[MeanContrast]:
    """Yield each two cells of a family."""
    count = len(family) * (len(family) - 1) // 2
    for (first, plus), (second, minus) in combinations(family, 2):
        estimate, se = combine(result, plus - minus)
        z, df = estimate / se if se else 0.0, given(first, second) if given else np.inf
        if result.spread is not None:
            # Six digits, so that the quantiles of a balanced design are worked out once.
            df = float(f"{result.spread.degrees(plus - minus, se**2):.6g}")
        reach = critical_value(len(family), count, adjust, df) * se
        yield MeanContrast(
            first={name: level for name, level in first.items() if name not in by},
            second={name: level for name, level in second.items() if name not in by},
            within={name: first[name] for name in by},
            estimate=estimate,
            se=se,
            z=z,
            p=adjusted(z, len(family), count, adjust, df),
            low=estimate - reach,
            high=estimate + reach,
            df=df,
        )


def adjusted(z: float, size: int, count: int, adjust: Adjustment, df: float = np.inf) -> float:
    """Return the two-sided p-value of z (or t) among `count` comparisons of `size` means.

    Tukey's is that of the range of `size` standard normals: P(range > √2 |z|); Bonferroni's is min(1, count · p).
    """
    plain = float(2 * (ndtr(-abs(z)) if np.isinf(df) else t.sf(abs(z), df)))
    if adjust == "none" or count == 1:
        return plain
    if adjust == "bonferroni":
        return min(1.0, count * plain)
    return range_tail(sqrt(2) * abs(z), size, df)


@lru_cache(maxsize=1024)
def critical_value(size: int, count: int, adjust: Adjustment, df: float) -> float:
    """Return the |z| or |t| at which such a p-value is 5%."""
    if adjust == "tukey" and count > 1:
        return float(brentq(lambda q: range_tail(q, size, df) - 2 * TAIL, 1e-6, 1e4, xtol=1e-9)) / sqrt(2)
    tail = TAIL / (count if adjust == "bonferroni" else 1)
    return float(norm.isf(tail) if np.isinf(df) else t.isf(tail, df))


def range_tail(q: float, size: int, df: float) -> float:
    """Return P(range of `size` standard normals > q s), with s² of `df` degrees of freedom: the studentised range.

    Sums over equal steps of smooth functions that vanish on both sides are exact to many digits; SciPy's integration
    takes a hundred times as long.
    """
    z = np.linspace(-7.0, 7.0, 57)
    if np.isinf(df):
        s, mass = np.ones(1), np.ones(1)
    else:
        logs = np.linspace(-9.0, 6.0, 61) / sqrt(2 * df) if df > 20 else np.linspace(-18.0, 3.0, 121) / sqrt(df)
        s = np.exp(logs)
        density = df / 2 * np.log(df / 2) - gammaln(df / 2) + df * logs - df * s**2 / 2
        mass = 2 * np.exp(density) * (logs[1] - logs[0])
    inside = (ndtr(z) - ndtr(z - q * s[:, None])) ** (size - 1)
    within = size * inside @ norm.pdf(z) * (z[1] - z[0])
    return float(np.clip(mass @ (1 - within) + max(0.0, 1 - mass.sum()), 0, 1))
