"""Linear mixed models of ratings with crossed random intercepts, by restricted maximum likelihood (REML).

y = Xβ + Σ_t Z_t b_t + e with independent b_t ~ N(0, σ²θ_t²) for every level of each grouping term and e ~ N(0, σ²). A
random slope of a factor is the term of its pairs with the group ("annotator:model"). All that a likelihood needs of the
rows are sums over levels and pairs of levels, which are made once; then, for each θ, the matrix I + ΘZᵀZΘ bordered by
ΘZᵀ[X y] is eliminated (`sums`).
D. Bates, M. Mächler, B. Bolker and S. Walker, Fitting linear mixed-effects models using lme4, Journal of Statistical
Software 67 (2015), gives the likelihood.

Degrees of freedom are Satterthwaite's, 2 V² / var(V) for the variance V of an estimate, with the variances' covariance
from the curvature of the restricted likelihood (A. Kuznetsova, P. B. Brockhoff and R. H. B. Christensen, lmerTest
package, Journal of Statistical Software 82 (2017)). Among few raters a variance is often estimated as zero, and an
interval that takes this for the truth holds far less than 95%. So inference (not the estimates) adds log θ_t to the
log-likelihood of a term that is estimated as zero, which keeps it away from zero by about one standard error
(Y. Chung, S. Rabe-Hesketh, V. Dorie, A. Gelman and J. Liu, Psychometrika 78 (2013), 685-709).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from mores.stats.mixed.design import CodedFactor, Codes, Columns, Design, Floats, MixedModel, build
from mores.stats.mixed.estimation import Fit, Spread, Variance, merge_alike, note_alike, note_zero, wald_tests
from mores.stats.mixed.sums import Sums

ZERO = 1e-3
"""A standard deviation below this share of the residual one is zero."""
FEW = 30
"""Levels up to which a variance of zero is not believed."""
MANY = 20_000
"""Rows from which the search starts on some of them."""
STEP = 1e-3
"""Of the differences that make second derivatives by θ."""


def fit_linear(model: MixedModel, data: Columns) -> Fit:
    """Return the REML fit of numbers; its `thresholds` hold minus the intercept, so that means read off it alike."""
    design = build(model, data)
    y = np.asarray([float(level) for level in design.response.levels])[design.response.codes]  # type: ignore[arg-type]
    rows = len(y)
    matrix = np.column_stack([np.ones(rows), design.matrix])
    settled = [group for group in design.groups if is_settled(group, matrix)]
    design = replace(design, groups=tuple(group for group in design.groups if group not in settled))
    groups, merged = merge_alike(design.groups)
    if rows <= matrix.shape[1] + 1:
        raise ValueError(f"{rows} ratings are too few for {matrix.shape[1]} fixed effects")
    centre, df = float(y.mean()), rows - matrix.shape[1]
    sums = Sums(y - centre, matrix, groups)
    start = np.full(len(groups), 0.5)
    whole = float(y.var())
    check_spread(sums.profile(start).rest / df, whole)  # a search would divide by nothing
    if rows > MANY and groups:  # some of the largest groups' rows bring the search near to the end
        largest = max(groups, key=lambda group: len(group.levels) if group.name == "question" else 0)
        some = largest.codes < max(50, len(largest.levels) * MANY // rows // 2)
        part = Sums(y[some] - centre, matrix[some], tuple(compact(group, some) for group in groups))
        known = dict(zip((group.name for group in part.groups), search(part, start, None), strict=True))
        start = np.array([max(known[group.name], 0.02) for group in sums.groups])
    thetas = search(sums, start, None)
    few = np.array([len(group.levels) <= FEW for group in sums.groups], dtype=bool)
    safe, zero = thetas, np.flatnonzero((thetas < ZERO) & few)
    if zero.size:  # what is estimated as zero is not known to be zero
        first = np.where(thetas < ZERO, 0.1, thetas)
        safe = search(sums, first, zero)
    at = sums.profile(thetas)
    residual = at.rest / df
    check_spread(residual, whole)
    spread, covariance = curvature(sums, safe)
    flip = np.diag([-1.0, *np.ones(matrix.shape[1] - 1)])
    estimates = flip @ at.effects
    estimates[0] -= centre
    covariance, spread = flip @ covariance @ flip, spread.flipped(flip)
    coefficients = wald_tests(design, estimates, covariance, ["−intercept"])
    variances = variances_of(design, sums.groups, merged, thetas, residual)
    sds = np.array([thetas[sums.groups.index(group)] for group in groups]) * sqrt(residual)
    return Fit(
        model=model,
        design=design,
        thresholds=coefficients[:1],
        coefficients=coefficients[1:],
        variances=(*variances, Variance("residual", residual, sqrt(residual), rows)),
        log_likelihood=-sums.deviance(thetas)[0] / 2,
        parameters=matrix.shape[1] + len(groups) + 1,
        covariance=covariance,
        modes={},
        problems=(),
        notes=(
            *(f"the variance of {group.name} cannot be told from the fixed effects" for group in settled),
            *note_alike(merged),
            *note_zero(groups, sds),
        ),
        spread=spread,
    )


def is_settled(group: CodedFactor, matrix: Floats) -> bool:
    """Return whether the fixed effects say the level of every row: no likelihood then depends on the variance."""
    if len(group.levels) > matrix.shape[1]:
        return False
    members = np.eye(len(group.levels))[group.codes]
    return bool(np.allclose(matrix @ np.linalg.lstsq(matrix, members)[0], members, atol=1e-8))


def check_spread(residual: float, whole: float) -> None:
    """Refuse ratings that the effects fit perfectly, by the residual variance and that of the ratings."""
    if residual < 1e-8 * whole:
        raise ValueError("the ratings have no spread beside these effects")


def compact(group: CodedFactor, rows: npt.NDArray[np.bool_]) -> CodedFactor:
    """Return a grouping of some rows, with the levels that they have."""
    kept, codes = np.unique(group.codes[rows], return_inverse=True)
    return CodedFactor(group.name, tuple(group.levels[n] for n in kept.tolist()), codes)


def search(sums: Sums, start: Floats, kept: Codes | None) -> Floats:
    """Return the θ of the highest restricted likelihood; it is even and smooth in each, so that zero is inside."""
    if not len(start):
        return start
    # The likelihood of many rows bends so much that a larger slope is as near to its top.
    close = max(1e-4, 1e-6 * sums.rows)
    first = np.diag(np.maximum(start, 0.1) ** 2 / (4 * np.array(sums.sizes)))  # as if each level's effect were known
    options = {"gtol": close, "maxiter": 100, "hess_inv0": first}
    optimum = minimize(sums.deviance, start, args=(kept,), jac=True, method="BFGS", options=options)
    thetas = np.abs(np.asarray(optimum.x, dtype=np.float64))
    if kept is not None:
        return thetas
    # A slope that is flat at zero stops a search there; what is zero must also be the better one.
    away = np.where(thetas < 10 * ZERO, 0.0, thetas)
    return away if sums.deviance(away)[0] <= sums.deviance(thetas)[0] + 1e-8 else thetas


def curvature(sums: Sums, thetas: Floats) -> tuple[Spread, Floats]:
    """Return how the effects' covariance moves with each variance parameter, these parameters' covariance, and the
    effects' covariance; the parameters are the terms' θ and the residual standard deviation."""
    count, df = len(thetas), sums.rows - sums.wide
    at = sums.profile(thetas)
    residual = at.rest / df
    hessian = np.zeros((count + 1, count + 1))
    slopes = []
    for n, step in enumerate(STEP * np.maximum(1.0, thetas)):
        up, down = (sums.profile(thetas + sign * step * (np.arange(count) == n)) for sign in (1, -1))
        bend = up.log_slopes - down.log_slopes + (up.rest_slopes - down.rest_slopes) / residual
        hessian[n, :count] = bend / (2 * step)
        slopes.append(residual * (up.covariance - down.covariance) / (2 * step))
    hessian[:count, count] = hessian[count, :count] = -2 * at.rest_slopes / residual**1.5
    hessian[count, count] = 4 * df / residual
    slopes.append(2 * sqrt(residual) * at.covariance)
    # Directions in which the likelihood does not bend down, at the edge of what is possible, count for nothing.
    values, vectors = np.linalg.eigh((hessian + hessian.T) / 4)
    used = values > 1e-8 * values.max()
    known = (vectors[:, used] / values[used]) @ vectors[:, used].T
    variances = np.concatenate([residual * thetas**2, [residual]])
    jacobian = np.diag([*(2 * thetas * residual), 2 * sqrt(residual)])
    jacobian[:count, count] = 2 * thetas**2 * sqrt(residual)
    names = (*(group.name for group in sums.groups), "residual")
    least = max(1.0, min(sums.sizes, default=2) - 1.0)
    of_variances = jacobian @ known @ jacobian.T
    return Spread(np.array(slopes), known, names, variances, of_variances, least), residual * at.covariance


def raw_mean(result: Fit, rows: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """Return the variance of the plain mean of some rows, over levels drawn anew of every term, and its degrees of
    freedom."""
    assert result.spread is not None
    codes, n = {group.name: group.codes for group in result.design.groups}, int(rows.sum())
    shares = [
        1 / n if name == "residual" else float(((np.bincount(codes[name][rows]) / n) ** 2).sum())
        for name in result.spread.names
    ]
    return result.spread.of_sum(np.array(shares))


def variances_of(
    design: Design, ordered: Sequence[CodedFactor], merged: dict[str, list[str]], thetas: Floats, residual: float
) -> list[Variance]:
    """Return each term's variance in the model's order; terms that group alike share one evenly."""
    shares = {
        name: residual * float(theta) ** 2 / len(merged[group.name])
        for group, theta in zip(ordered, thetas, strict=True)
        for name in merged[group.name]
    }
    return [Variance(g.name, shares[g.name], sqrt(shares[g.name]), len(g.levels)) for g in design.groups]
