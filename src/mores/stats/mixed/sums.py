"""The restricted likelihood of a linear mixed model and its slopes, from sums that are made once.

For each θ the matrix of the mixed model equations, I + ΘZᵀZΘ bordered by ΘZᵀX and XᵀX, is eliminated. Of a large study
two terms are eliminated level by level: the one with most levels (answers), and one that it is nested in (questions).
The rest, raters and their slopes, is dense. Levels of the first term with as many rows are taken together, so that a
step costs as much for 200,000 ratings as for 20,000.

With F that whole matrix, n_t levels of a term and u its effects in units of their standard deviation, log|F| has the
slope 2 (n_t - tr F⁻¹) / θ_t, where the trace is over the term's levels, and the sum of squares has -2 |u|² / θ_t.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, pi

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_matrix, diags, hstack

from mores.stats.mixed.design import CodedFactor, Codes, Floats, indicate, is_nested

SMALL = 500
"""Levels of all terms that are solved at once: taking them apart would cost more."""
MOST_CELLS = 10_000_000
"""Of the sums that are kept for each number of rows of a level; with more, they are summed at every step."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The likelihood at a point, but for the residual variance: log|F|, and what estimates come from."""

    logs: float
    rest: float
    """The weighted sum of squares that the fixed effects leave."""
    covariance: Floats
    """Of the fixed effects, in units of the residual variance."""
    effects: Floats
    log_slopes: Floats
    """Of `logs` by each θ, and of `rest`."""
    rest_slopes: Floats


class Sums:
    """All that the likelihood needs of the rows; `apart` says whether terms are eliminated level by level."""

    def __init__(self, y: Floats, matrix: Floats, groups: Sequence[CodedFactor], apart: bool | None = None) -> None:
        dense = sorted(groups, key=lambda group: -len(group.levels))
        if apart is None:
            apart = sum(len(group.levels) for group in groups) > SMALL
        heads = [dense.pop(0)] if apart and dense else []
        heads += [group for group in dense if heads and is_nested(heads[0], group)][:1]
        dense = [group for group in dense if group not in heads]
        self.groups, self.heads = [*heads, *dense], len(heads)
        self.sizes = [len(group.levels) for group in self.groups]
        self.rows, self.wide = matrix.shape
        self.dense = sum(self.sizes[self.heads :])
        columns = hstack(
            [*(indicate(group.codes) for group in dense), csr_matrix(np.column_stack([matrix, y]))]
        ).tocsr()
        self.whole = (columns.T @ columns).toarray()
        # Without such terms there is one level, whose θ is zero.
        none = np.zeros(self.rows, dtype=np.intp)
        inner, outer = ([*(group.codes for group in heads), none, none])[:2]
        self.inner = (indicate(inner).T @ columns).tocsr()
        first = np.unique(inner, return_index=True)[1]
        self.parents = outer[first]
        self.rows_of = np.bincount(inner)
        self.counts, self.classes = np.unique(self.rows_of, return_inverse=True)
        self.members = indicate(self.parents).T @ indicate(self.classes)
        self.by_class: tuple[Floats, Floats] | None = None
        height, width = int(self.parents.max()) + 1, columns.shape[1]
        if len(self.counts) * (height + width) * width <= MOST_CELLS:
            each = np.eye(len(self.counts))
            self.by_class = np.array([self.inner_sums(c) for c in each]), np.array([self.outer_sums(c) for c in each])

    def inner_sums(self, weights: Floats) -> Floats:
        """Return Σ w s sᵀ over the levels of the first term, with their sums s and the weight of their class."""
        if self.by_class:
            return np.tensordot(weights, self.by_class[0], 1)
        return np.asarray((self.inner.T @ diags(weights[self.classes]) @ self.inner).toarray())

    def outer_sums(self, weights: Floats) -> Floats:
        """Return Σ w s within each level of the term that they are nested in."""
        if self.by_class:
            return np.tensordot(weights, self.by_class[1], 1)
        return np.asarray((indicate(self.parents).T @ diags(weights[self.classes]) @ self.inner).toarray())

    def profile(self, thetas: Floats) -> Profile:
        """Eliminate the random effects; `thetas` are in the order of `groups`."""
        inner, outer = [*thetas[: self.heads], 0.0, 0.0][:2]
        scale = np.append(np.repeat(thetas[self.heads :], self.sizes[self.heads :]), np.ones(self.wide + 1))
        share = 1 / (1 + inner**2 * self.counts)
        diagonal = 1 + outer**2 * (self.members @ (self.counts * share))
        beside = outer * scale * self.outer_sums(share)
        scaled = beside / diagonal[:, None]
        matrix = scale[:, None] * (self.whole - inner**2 * self.inner_sums(share)) * scale - beside.T @ scaled
        matrix[np.arange(self.dense), np.arange(self.dense)] += 1
        target, beside, scaled_target, scaled = matrix[:-1, -1], beside[:, :-1], scaled[:, -1], scaled[:, :-1]
        factor = cho_factor(matrix[:-1, :-1], check_finite=False)
        inverse = cho_solve(factor, np.eye(len(target)), check_finite=False)
        solution = inverse @ target
        levels = np.bincount(self.classes)
        logs = -levels @ np.log(share) + np.log(diagonal).sum() + 2 * np.log(np.diag(factor[0])).sum()
        # The entries of F⁻¹ that the traces need, and the effects.
        edge, scale = -(scaled @ inverse), scale[:-1]
        own = 1 / diagonal - (scaled * edge).sum(axis=1)
        weights = inner**2 * share**2
        trace = (
            levels @ share
            + outer**2 * own @ (self.members @ (weights * self.counts**2))
            + 2 * outer * float((self.outer_sums(weights * self.counts)[:, :-1] * scale * edge).sum())
            + float((self.inner_sums(weights)[:-1, :-1] * (scale[:, None] * inverse * scale)).sum())
        )
        outer_effects = scaled_target - scaled @ solution
        left = self.inner @ np.append(-scale * solution, 1.0) - outer * self.rows_of * outer_effects[self.parents]
        inner_effects = inner * share[self.classes] * left
        splits = np.cumsum(self.sizes[self.heads :])[:-1]
        traces = [trace, own.sum()][: self.heads]
        squares = [inner_effects @ inner_effects, outer_effects @ outer_effects][: self.heads]
        if self.dense:
            traces += [part.sum() for part in np.split(np.diag(inverse)[: self.dense], splits)]
            squares += [part @ part for part in np.split(solution[: self.dense], splits)]
        safe = np.where(np.abs(thetas) < 1e-9, np.inf, thetas)  # even in θ, so that it is flat at zero
        return Profile(
            logs=float(logs),
            rest=max(float(matrix[-1, -1] - target @ solution), 1e-300),
            covariance=inverse[self.dense :, self.dense :],
            effects=solution[self.dense :],
            log_slopes=2 * (np.array(self.sizes, dtype=np.float64) - traces) / safe,
            rest_slopes=-2 * np.array(squares) / safe,
        )

    def deviance(self, thetas: Floats, kept: Codes | None = None) -> tuple[float, Floats]:
        """Return -2 log of the restricted likelihood at its best residual variance, and its slopes; less 2 log θ of the
        terms kept."""
        at, df = self.profile(thetas), self.rows - self.wide
        value, slopes = at.logs + df * (1 + log(2 * pi * at.rest / df)), at.log_slopes + df * at.rest_slopes / at.rest
        if kept is not None:
            value -= 2 * float(np.log(np.abs(thetas[kept]) + 1e-12).sum())
            slopes[kept] -= 2 / np.where(np.abs(thetas[kept]) < 1e-12, 1e-12, thetas[kept])
        return value, slopes
