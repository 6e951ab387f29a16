"""Linear mixed models of ratings with crossed random intercepts, by restricted maximum likelihood (REML).

y = Xβ + Σ_t Z_t b_t + e with independent b_t ~ N(0, σ²θ_t²) for every level of each grouping term and e ~ N(0, σ²). A
random slope of a factor is the term of its pairs with the group ("annotator:model"). All that a likelihood needs of the
rows are sums over levels and pairs of levels, which are made once; then, for each θ, the matrix I + ΘZᵀZΘ bordered by
ΘZᵀ[X y] is eliminated block by block. A block is diagonal as long as the levels before it are nested in its own
(answers in questions), so that only the last block, of raters, is dense: 200,000 ratings take as long as 20,000.
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
from dataclasses import dataclass
from itertools import pairwise
from math import log, pi, sqrt

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, diags, identity, issparse

from mores.stats.mixed.design import CodedFactor, Codes, Columns, Design, Floats, MixedModel, build
from mores.stats.mixed.estimation import Fit, Spread, Variance, merge_alike, note_alike, note_zero, wald_tests

ZERO = 1e-3
"""A standard deviation below this share of the residual one is zero."""
FEW = 30
"""Levels up to which a variance of zero is not believed."""
MANY = 20_000
"""Rows from which the search starts on some of them."""
SMALL = 500
"""Levels of all terms that are solved at once."""
STEP = 1e-3
"""Of the differences that make second derivatives by θ."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The likelihood at a point, but for the residual variance: log|M| + log|XᵀV⁻¹X|, and what estimates come from."""

    logs: float
    rest: float
    """The weighted sum of squares that the fixed effects leave."""
    information: Floats
    """XᵀV⁻¹X, with V in units of the residual variance."""
    effects: Floats


class Sums:
    """What a likelihood needs of the rows."""

    def __init__(self, y: Floats, matrix: Floats, groups: Sequence[CodedFactor]) -> None:
        self.groups = [groups[n] for n in order_terms(groups)]
        self.sizes = [len(group.levels) for group in self.groups]
        # A small system is solved at once: taking it apart would cost more.
        self.chain = nested_length(self.groups) if sum(self.sizes) > SMALL else 0
        self.rows, self.wide = matrix.shape[0], matrix.shape[1]
        self.border = np.column_stack([matrix, y])
        rows = np.arange(self.rows)
        starts = np.cumsum([0, *self.sizes])[:-1]
        columns = np.concatenate([g.codes + s for g, s in zip(self.groups, starts, strict=True)] or [rows[:0]])
        shape = (self.rows, sum(self.sizes))
        z = csr_matrix((np.ones(len(columns)), (np.tile(rows, len(self.groups)), columns)), shape)
        crossed = (z.T @ z).tocsr()
        self.crossed = crossed if self.chain else crossed.toarray()
        self.bordered = np.asarray(z.T @ self.border)
        self.corner = self.border.T @ self.border

    def profile(self, thetas: Floats) -> Profile:
        """Eliminate the random effects; `thetas` are in the order of `groups`."""
        scale = np.repeat(thetas, self.sizes)
        if self.chain:
            matrix = (identity(len(scale)) + diags(scale) @ self.crossed @ diags(scale)).tocsr()
        else:
            matrix = np.eye(len(scale)) + scale[:, None] * self.crossed * scale
        border, corner, logs = scale[:, None] * self.bordered, self.corner, 0.0
        for step, size in enumerate(self.sizes[: self.chain]):
            diagonal, beside, rest = matrix[:size, :size].diagonal(), matrix[:size, size:], matrix[size:, size:]
            if step:  # what one elimination leaves between questions and raters is nearly full
                beside, rest = beside.toarray(), rest.toarray() if issparse(rest) else rest
            top, border = border[:size], border[size:]
            scaled = beside / diagonal[:, None] if step else diags(1 / diagonal) @ beside
            logs += float(np.log(diagonal).sum())
            matrix = rest - beside.T @ scaled
            matrix = csr_matrix(matrix) if step + 1 < self.chain else matrix
            border = border - scaled.T @ top
            corner = corner - top.T @ (top / diagonal[:, None])
        if len(border):
            factor = cho_factor(matrix.toarray() if issparse(matrix) else matrix, check_finite=False)
            logs += 2 * float(np.log(np.diag(factor[0])).sum())
            corner = corner - border.T @ cho_solve(factor, border)
        information, target = corner[:-1, :-1], corner[:-1, -1]
        fixed = cho_factor(information)
        effects = cho_solve(fixed, target)
        logs += 2 * float(np.log(np.diag(fixed[0])).sum())
        return Profile(logs, max(float(corner[-1, -1] - target @ effects), 1e-300), information, effects)

    def deviance(self, thetas: Floats, kept: Codes | None = None) -> float:
        """Return -2 log of the restricted likelihood at its best residual variance; less 2 log θ of the terms kept."""
        at, df = self.profile(thetas), self.rows - self.wide
        plain: float = at.logs + df * (1 + log(2 * pi * at.rest / df))
        return plain if kept is None else plain - 2 * float(np.log(np.abs(thetas[kept]) + 1e-12).sum())


def order_terms(groups: Sequence[CodedFactor]) -> list[int]:
    """Return the terms from the one with most levels."""
    return sorted(range(len(groups)), key=lambda n: -len(groups[n].levels))


def nested_length(groups: Sequence[CodedFactor]) -> int:
    """Return how many terms, from the first, can be eliminated level by level: each nested in the next."""
    length = min(1, len(groups))
    for inner, outer in pairwise(groups):
        pairs = np.unique(inner.codes * np.intp(len(outer.levels)) + outer.codes).size
        if pairs > len(inner.levels):
            break
        length += 1
    return length


def fit_linear(model: MixedModel, data: Columns) -> Fit:
    """Return the REML fit of numbers; its `thresholds` hold minus the intercept, so that means read off it alike."""
    design = build(model, data)
    y = np.asarray([float(level) for level in design.response.levels])[design.response.codes]  # type: ignore[arg-type]
    rows = len(y)
    groups, merged = merge_alike(design.groups)
    matrix = np.column_stack([np.ones(rows), design.matrix])
    if rows <= matrix.shape[1] + 1:
        raise ValueError(f"{rows} ratings are too few for {matrix.shape[1]} fixed effects")
    centre = float(y.mean())
    sums = Sums(y - centre, matrix, groups)
    start = np.full(len(groups), 0.5)
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
    at, df = sums.profile(thetas), rows - matrix.shape[1]
    residual = at.rest / df
    if residual < 1e-12:
        raise ValueError("the ratings have no spread beside the fixed effects")
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
        log_likelihood=-sums.deviance(thetas) / 2,
        parameters=matrix.shape[1] + len(groups) + 1,
        covariance=covariance,
        modes={},
        problems=(),
        notes=(*note_alike(merged), *note_zero(groups, sds)),
        spread=spread,
    )


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
    optimum = minimize(sums.deviance, start, args=(kept,), method="BFGS", options=options)
    thetas = np.abs(np.asarray(optimum.x, dtype=np.float64))
    if kept is not None:
        return thetas
    # A slope that is flat at zero stops a search there; what is zero must also be the better one.
    away = np.where(thetas < 10 * ZERO, 0.0, thetas)
    return away if sums.deviance(away) <= sums.deviance(thetas) + 1e-8 else thetas


def curvature(sums: Sums, thetas: Floats) -> tuple[Spread, Floats]:
    """Return how the effects' covariance moves with each variance parameter, these parameters' covariance, and the
    effects' covariance; the parameters are the terms' θ and the residual standard deviation."""
    count, df = len(thetas), sums.rows - sums.wide
    at = sums.profile(thetas)
    residual = at.rest / df
    inverse = np.linalg.inv(at.information)
    step = STEP * np.maximum(1.0, thetas)

    def moved(*places: tuple[int, int]) -> Profile:
        point = thetas.copy()
        for place, sign in places:
            point[place] += sign * step[place]
        return sums.profile(point)

    up, down = [moved((n, 1)) for n in range(count)], [moved((n, -1)) for n in range(count)]
    hessian = np.zeros((count + 1, count + 1))
    slopes = []
    for n in range(count):
        bend = [
            (getattr(up[n], part) - 2 * getattr(at, part) + getattr(down[n], part)) / step[n] ** 2
            for part in ("logs", "rest")
        ]
        hessian[n, n] = bend[0] + bend[1] / residual
        hessian[n, count] = hessian[count, n] = -(up[n].rest - down[n].rest) / step[n] / residual**1.5
        slopes.append(residual * (np.linalg.inv(up[n].information) - np.linalg.inv(down[n].information)) / 2 / step[n])
        for m in range(n):
            both, neither = moved((n, 1), (m, 1)), moved((n, -1), (m, -1))
            hessian[n, m] = hessian[m, n] = sum(
                weight
                * (
                    getattr(both, part) + getattr(neither, part) + 2 * getattr(at, part)
                    - sum(getattr(side[k], part) for side in (up, down) for k in (n, m))
                )
                / (2 * step[n] * step[m])
                for part, weight in (("logs", 1.0), ("rest", 1 / residual))
            )  # fmt: skip
    hessian[count, count] = 4 * df / residual
    slopes.append(2 * sqrt(residual) * inverse)
    # Directions in which the likelihood does not bend down, at the edge of what is possible, count for nothing.
    values, vectors = np.linalg.eigh(hessian / 2)
    used = values > 1e-8 * values.max()
    known = (vectors[:, used] / values[used]) @ vectors[:, used].T
    variances = np.concatenate([residual * thetas**2, [residual]])
    jacobian = np.diag([*(2 * thetas * residual), 2 * sqrt(residual)])
    jacobian[:count, count] = 2 * thetas**2 * sqrt(residual)
    names = (*(group.name for group in sums.groups), "residual")
    least = max(1.0, min(sums.sizes, default=2) - 1.0)
    of_variances = jacobian @ known @ jacobian.T
    return Spread(np.array(slopes), known, names, variances, of_variances, least), residual * inverse


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
