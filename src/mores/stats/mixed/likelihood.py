"""The Laplace approximation of a cumulative logit mixed model's likelihood, and its exact gradient.

Row i is in category k with probability F(θ_k - m_i) - F(θ_{k-1} - m_i), where F is the logistic function and
m = Xβ + Σ_t σ_t u_t: one standard normal u for each level of each grouping term t. With modes û that maximise
ℓ(u) = Σ log p_i - |u|²/2, and H the matrix of second derivatives of -ℓ there, the marginal log-likelihood is nearly
ℓ(û) - log|H|/2: the model of R. H. B. Christensen, Cumulative link models for ordinal regression with the R package
ordinal (2018), section 6; L. Tierney and J. B. Kadane, JASA 81 (1986), 82-86, for the approximation.

A standard deviation σ, not its logarithm, is the parameter: the likelihood is even in σ and smooth at 0, so that a
variance estimated as zero is an ordinary maximum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit, log_expit

from mores.stats.mixed.design import CodedFactor, Codes, Floats

NEWTON_STEPS = 100
MODE_TOLERANCE = 1e-9
"""The largest last step of a mode; the search converges quadratically, so the modes are nearer than that."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Each row's log-probability and its derivatives by the row's two thresholds and by its predictor m."""

    log_p: Floats
    by_upper: Floats
    by_lower: Floats
    by_m: Floats
    upper: Floats
    """The logistic density at the upper threshold; `weight` is their sum, minus the second derivative by m."""
    lower: Floats
    upper_slope: Floats
    """The derivative of `upper` by its threshold; `weight` has minus the sum of slopes as derivative by m."""
    lower_slope: Floats

    @property
    def weight(self) -> Floats:
        return self.upper + self.lower


def rows_at(thresholds: Floats, codes: Codes, m: Floats) -> Rows:
    """Use F(b) - F(a) = F(b) F(-a) (1 - exp(a - b)), which loses no digits in the tails."""
    ends = np.concatenate([[-np.inf], thresholds, [np.inf]])
    below, above = ends[codes], ends[codes + 1]
    gap = above - below
    share = -np.expm1(-gap)
    pull = np.exp(-gap) / share
    low, high = expit(below - m), expit(above - m)
    low_rest, high_rest = expit(m - below), expit(m - above)
    lower, upper = low * low_rest, high * high_rest
    return Rows(
        log_p=log_expit(above - m) + log_expit(m - below) + np.log(share),
        by_upper=high_rest + pull,
        by_lower=-low - pull,
        by_m=low - high_rest,
        upper=upper,
        lower=lower,
        upper_slope=upper * (high_rest - high),
        lower_slope=lower * (low_rest - low),
    )


class Curvature:
    """H = I + CᵀWC, C = Zσ: the block of the largest grouping term is diagonal and is eliminated first."""

    def __init__(self, groups: Sequence[CodedFactor], deviations: Floats, weight: Floats) -> None:
        first, *rest = groups
        sizes = [len(group.levels) for group in rest]
        starts = np.cumsum([0, *sizes])
        self.width = int(starts[-1])
        size = len(first.levels)
        self.diagonal = 1 + deviations[0] ** 2 * np.bincount(first.codes, weight, size)
        places = [group.codes + start for group, start in zip(rest, starts[:-1], strict=True)]
        self.cross = self._sum_pairs(first.codes, size, places, deviations[0] * deviations[1:], weight)
        self.scaled = self.cross / self.diagonal[:, None]
        schur = np.eye(self.width)
        for place, sd in zip(places, deviations[1:], strict=True):
            schur += self._sum_pairs(place, self.width, places, sd * deviations[1:], weight)
        schur -= self.cross.T @ self.scaled
        # An empty matrix, for one grouping term only, has no factorisation in LAPACK.
        self.factor = cho_factor(schur) if self.width else None

    def _sum_pairs(self, rows: Codes, height: int, columns: Sequence[Codes], scales: Floats, weight: Floats) -> Floats:
        """Return the weights summed by the pairs of a level of one term and one of the others."""
        total = np.zeros((height, self.width))
        for column, scale in zip(columns, scales, strict=True):
            sums = np.bincount(rows * self.width + column, scale * weight, height * self.width)
            total += sums.reshape(height, self.width)
        return total

    def log_determinant(self) -> float:
        diagonal_part = float(np.log(self.diagonal).sum())
        return diagonal_part + (2 * float(np.log(np.diag(self.factor[0])).sum()) if self.factor else 0.0)

    def solve(self, vector: Floats) -> Floats:
        """Return H⁻¹ times a vector."""
        size = len(self.diagonal)
        first, rest = vector[:size], vector[size:]
        if self.factor:
            rest = cho_solve(self.factor, rest - self.scaled.T @ first)
        return np.concatenate([first / self.diagonal - self.scaled @ rest, rest])

    def inverse_diagonal(self) -> Floats:
        """Return the diagonal of H⁻¹: the variances of the intercepts, given everything else."""
        corner = cho_solve(self.factor, np.eye(self.width)) if self.factor else np.empty((0, 0))
        first = 1 / self.diagonal + (self.scaled * (self.scaled @ corner)).sum(axis=1)
        return np.concatenate([first, np.diag(corner)])

    def inverse_at(self, places: Sequence[Codes]) -> list[list[Floats]]:
        """Return, for each row, the entries of H⁻¹ between its levels of every two terms; places count by block."""
        corner = cho_solve(self.factor, np.eye(self.width)) if self.factor else np.empty((0, 0))
        edge = -(self.scaled @ corner)
        variances = 1 / self.diagonal - (self.scaled * edge).sum(axis=1)
        first, *rest = places
        top = [variances[first], *(edge[first, place] for place in rest)]
        return [top, *([top[n], *(corner[place, other] for other in rest)] for n, place in enumerate(rest, 1))]


class Likelihood:
    """The log-likelihood of thresholds, effects and standard deviations; remembers the modes to start from them."""

    def __init__(self, response: CodedFactor, matrix: Floats, groups: Sequence[CodedFactor]) -> None:
        self.codes, self.cuts = response.codes, len(response.levels) - 1
        self.matrix = matrix
        # The largest term comes first, where its block costs nothing.
        self.order = sorted(range(len(groups)), key=lambda n: -len(groups[n].levels))
        self.groups = [groups[n] for n in self.order]
        sizes = [len(group.levels) for group in self.groups]
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        self.modes = np.zeros(sum(sizes))

    def value_and_gradient(self, thresholds: Floats, effects: Floats, sds: Floats) -> tuple[float, Floats]:
        """Return the Laplace log-likelihood and its gradient by thresholds, effects, standard deviations."""
        fixed = self.matrix @ effects
        if not self.groups:
            rows = rows_at(thresholds, self.codes, fixed)
            return float(rows.log_p.sum()), self.join(rows.by_upper, rows.by_lower, rows.by_m, np.empty(0))
        deviations = sds[self.order]
        rows, curvature = self.find_modes(thresholds, fixed, deviations)
        value = float(rows.log_p.sum() - self.modes @ self.modes / 2) - curvature.log_determinant() / 2
        return value, self.gradient(rows, curvature, deviations)

    def find_modes(self, thresholds: Floats, fixed: Floats, deviations: Floats) -> tuple[Rows, Curvature]:
        """Use Newton's method with step halving; the problem is concave, so it has one maximum."""
        scales = np.repeat(deviations, np.diff(self.starts))

        def rows_for(u: Floats) -> Rows:
            return rows_at(thresholds, self.codes, fixed + np.sum(self.by_row(scales * u), axis=0))

        u = self.modes
        rows = rows_for(u)
        for _ in range(NEWTON_STEPS):
            curvature = Curvature(self.groups, deviations, rows.weight)
            step = curvature.solve(scales * self.by_level(rows.by_m) - u)
            if np.abs(step).max() < MODE_TOLERANCE:
                break
            before, size = rows.log_p.sum() - u @ u / 2, 1.0
            while True:
                moved = u + size * step
                rows = rows_for(moved)
                if rows.log_p.sum() - moved @ moved / 2 >= before - 1e-9 or size < 1e-6:
                    break
                size /= 2
            u = moved
        self.modes = u
        return rows, curvature

    def by_level(self, values: Floats) -> Floats:
        """Return sums of the rows' values over all levels, term by term."""
        return np.concatenate([np.bincount(g.codes, values, len(g.levels)) for g in self.groups])

    def gradient(self, rows: Rows, curvature: Curvature, deviations: Floats) -> Floats:
        """Use the chain rule through H and through the modes, whose derivatives are H⁻¹ ∂(Cᵀ ∂log p/∂m)/∂parameter."""
        between = curvature.inverse_at(self.places())
        mixed = [sum((sd * entry for sd, entry in zip(deviations, row, strict=True)), np.zeros(1)) for row in between]
        leverage = sum((sd * part for sd, part in zip(deviations, mixed, strict=True)), np.zeros(1))
        bend = -leverage * (rows.upper_slope + rows.lower_slope)
        scales = np.repeat(deviations, np.diff(self.starts))
        through = curvature.solve(scales * self.by_level(bend))
        echo = sum((sd * part for sd, part in zip(deviations, self.by_row(through), strict=True)), np.zeros(1))
        by_m = rows.by_m - bend / 2 + echo * rows.weight / 2
        by_sd = [
            by_m @ u - rows.weight @ part - rows.by_m @ shift / 2
            for u, part, shift in zip(self.by_row(self.modes), mixed, self.by_row(through), strict=True)
        ]
        by_deviation = np.empty(len(self.groups))
        by_deviation[self.order] = by_sd
        by_upper = rows.by_upper - leverage * rows.upper_slope / 2 - echo * rows.upper / 2
        by_lower = rows.by_lower - leverage * rows.lower_slope / 2 - echo * rows.lower / 2
        return self.join(by_upper, by_lower, by_m, by_deviation)

    def join(self, by_upper: Floats, by_lower: Floats, by_m: Floats, by_sd: Floats) -> Floats:
        """Sum the rows' derivatives into the parameters'; a row of category k has thresholds k - 1 and k."""
        size = self.cuts + 1
        by_threshold = np.bincount(self.codes, by_upper, size)[:-1] + np.bincount(self.codes, by_lower, size)[1:]
        return np.concatenate([by_threshold, self.matrix.T @ by_m, by_sd])

    def by_row(self, vector: Floats) -> list[Floats]:
        """Return a vector over all levels, as each row sees it, term by term."""
        return [vector[start + g.codes] for start, g in zip(self.starts[:-1], self.groups, strict=True)]

    def modes_by_term(self) -> list[Floats]:
        """Return the modes of each term's standard normal intercepts, in the order of the terms given."""
        return self.by_term(self.modes)

    def by_term(self, vector: Floats) -> list[Floats]:
        """Return a vector over all levels, term by term in the order of the terms given."""
        parts = np.split(vector, self.starts[1:-1])
        return [parts[self.order.index(n)] for n in range(len(self.groups))]

    def places(self) -> list[Codes]:
        """Return each row's level in the first block, and in the block of all the other terms together."""
        first, *rest = self.groups
        return [first.codes, *(g.codes + s - self.starts[1] for g, s in zip(rest, self.starts[1:-1], strict=True))]
