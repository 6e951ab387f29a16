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

from mores.stats.mixed.design import CodedFactor, Codes, Floats, indicate, is_nested

NEWTON_STEPS = 100
MODE_TOLERANCE = 1e-9
"""The largest last step of a mode; the search converges quadratically, so the modes are nearer than that."""
NEAR = 0.1
"""The largest step with second derivatives of an earlier place."""
MOST_CELLS = 20_000
"""Pairs of a level of the largest term and one of the others that are held as a matrix."""


@dataclass(frozen=True, slots=True)
class RowThresholds:
    """Each row's two thresholds, which stay as they are while modes are searched for."""

    codes: Codes
    below: Floats
    above: Floats
    share: Floats
    """1 - exp(below - above) of each category."""
    pull: Floats
    """Of each category, the derivative of the logarithm of `share` by its upper threshold."""

    @classmethod
    def of(cls, thresholds: Floats, codes: Codes) -> RowThresholds:
        ends = np.concatenate([[-np.inf], thresholds, [np.inf]])
        gap = np.diff(ends)
        share = -np.expm1(-gap)
        return cls(codes, ends[codes], ends[codes + 1], share, np.exp(-gap) / share)


class Rows:
    """Each row's log-probability and its derivatives by the row's two thresholds and by its predictor m."""

    def __init__(self, bounds: RowThresholds, m: Floats) -> None:
        """Use F(b) - F(a) = F(b) F(-a) (1 - exp(a - b)), which loses no digits in the tails."""
        self.bounds, self.m = bounds, m
        self.low, self.high = expit(bounds.below - m), expit(bounds.above - m)
        self.low_rest, self.high_rest = expit(m - bounds.below), expit(m - bounds.above)
        self.by_m = self.low - self.high_rest
        self.lower, self.upper = self.low * self.low_rest, self.high * self.high_rest
        """The logistic densities at the thresholds."""
        self.weight = self.upper + self.lower
        """Minus the second derivative by m."""

    def log_p(self) -> float:
        """Return the sum of the log-probabilities."""
        product = self.high * self.low_rest
        if product.min(initial=1.0) > 1e-300:
            logs = np.log(product)
        else:  # one logarithm costs a fourth of two, but a product of small numbers may be zero
            logs = log_expit(self.bounds.above - self.m) + log_expit(self.m - self.bounds.below)
        counts = np.bincount(self.bounds.codes, minlength=len(self.bounds.share))
        return float(logs.sum() + counts @ np.log(self.bounds.share))

    def by_thresholds(self) -> tuple[Floats, Floats]:
        """Return the derivatives by the upper and the lower threshold."""
        pull = self.bounds.pull[self.bounds.codes]
        return self.high_rest + pull, -self.low - pull

    def slopes(self) -> tuple[Floats, Floats]:
        """Return the derivatives of `upper` and `lower` by their thresholds; `weight` has minus their sum by m."""
        return self.upper * (self.high_rest - self.high), self.lower * (self.low_rest - self.low)


class Arrow:
    """A matrix [[D, C], [Cᵀ, K]] with a diagonal D, which is eliminated first."""

    def __init__(self, diagonal: Floats, cross: Floats, corner: Floats) -> None:
        self.diagonal, self.width = diagonal, len(corner)
        self.scaled = cross / diagonal[:, None]
        # An empty matrix, for one grouping term only, has no factorisation in LAPACK.
        self.factor = cho_factor(corner - cross.T @ self.scaled) if self.width else None

    def log_determinant(self) -> float:
        diagonal_part = float(np.log(self.diagonal).sum())
        return diagonal_part + (2 * float(np.log(np.diag(self.factor[0])).sum()) if self.factor else 0.0)

    def solve(self, vector: Floats) -> Floats:
        """Return the inverse times a vector."""
        size = len(self.diagonal)
        first, rest = vector[:size], vector[size:]
        if self.factor:
            rest = cho_solve(self.factor, rest - self.scaled.T @ first)
        return np.concatenate([first / self.diagonal - self.scaled @ rest, rest])

    def inverse(self) -> tuple[Floats, Floats, Floats]:
        """Return the inverse's diagonal beside D, its block beside C, and that beside K."""
        corner = cho_solve(self.factor, np.eye(self.width)) if self.factor else np.empty((0, 0))
        edge = -(self.scaled @ corner)
        return 1 / self.diagonal - (self.scaled * edge).sum(axis=1), edge, corner

    def inverse_diagonal(self) -> Floats:
        """Return the diagonal of the inverse: the variances of the intercepts, given everything else."""
        variances, _, corner = self.inverse()
        return np.concatenate([variances, np.diag(corner)])

    def inverse_at(self, places: Sequence[Codes]) -> list[list[Floats]]:
        """Return, for each row, the entries of H⁻¹ between its levels of every two terms; places count by block."""
        variances, edge, corner = self.inverse()
        first, *rest = places
        top = [variances[first], *(edge[first, place] for place in rest)]
        return [top, *([top[n], *(corner[place, other] for other in rest)] for n, place in enumerate(rest, 1))]


class NestedArrow:
    """A matrix whose first block is diagonal and beside the second in one place of each row only: of answers, each of
    which is within one question. What their elimination leaves is an arrow again."""

    def __init__(self, diagonal: Floats, link: Floats, parents: Codes, cross: Floats, outer: Arrow) -> None:
        self.diagonal, self.parents, self.outer = diagonal, parents, outer
        self.link, self.scaled = link / diagonal, cross / diagonal[:, None]

    def log_determinant(self) -> float:
        return float(np.log(self.diagonal).sum()) + self.outer.log_determinant()

    def solve(self, vector: Floats) -> Floats:
        """Return the inverse times a vector."""
        size, height = len(self.diagonal), len(self.outer.diagonal)
        first, second, rest = np.split(vector, [size, size + height])
        second = second - np.bincount(self.parents, self.link * first, height)
        tail = self.outer.solve(np.concatenate([second, rest - self.scaled.T @ first]))
        first = first / self.diagonal - self.link * tail[:height][self.parents] - self.scaled @ tail[height:]
        return np.concatenate([first, tail])

    def inverse(self) -> tuple[Floats, Floats, Floats]:
        """Return the inverse's entries of the first block: its diagonal, beside the second block, beside the rest."""
        variances, edge, corner = self.outer.inverse()
        beside = -self.link[:, None] * edge[self.parents] - self.scaled @ corner
        within = -self.link * variances[self.parents] - (self.scaled * edge[self.parents]).sum(axis=1)
        return 1 / self.diagonal - self.link * within - (self.scaled * beside).sum(axis=1), within, beside

    def inverse_diagonal(self) -> Floats:
        """Return the diagonal of the inverse."""
        return np.concatenate([self.inverse()[0], self.outer.inverse_diagonal()])

    def inverse_at(self, places: Sequence[Codes]) -> list[list[Floats]]:
        """Return, for each row, the entries of the inverse between its levels of every two terms."""
        first, _, *rest = places
        variances, within, beside = self.inverse()
        top = [variances[first], within[first], *(beside[first, place] for place in rest)]
        return [top, *([top[n], *row] for n, row in enumerate(self.outer.inverse_at(places[1:]), 1))]


def curvature_of(
    groups: Sequence[CodedFactor], deviations: Floats, weight: Floats, nested: bool
) -> Arrow | NestedArrow:
    """Return H = I + CᵀWC, C = Zσ; `nested` says that the first term is nested in the second."""
    rest = groups[1 + nested :]
    starts = np.cumsum([0, *(len(group.levels) for group in rest)])
    width, sds = int(starts[-1]), deviations[1 + nested :]
    places = [group.codes + start for group, start in zip(rest, starts[:-1], strict=True)]

    def sum_pairs(codes: Codes, height: int, deviation: float) -> Floats:
        """Return the weights summed by the pairs of a level of one term and one of the rest."""
        total = np.zeros((height, width))
        for column, sd in zip(places, sds, strict=True):
            sums = np.bincount(codes * width + column, deviation * sd * weight, height * width)
            total += sums.reshape(height, width)
        return total

    def sum_levels(group: CodedFactor) -> Floats:
        return np.asarray(np.bincount(group.codes, weight, len(group.levels)), dtype=np.float64)

    corner = np.eye(width)
    for place, sd in zip(places, sds, strict=True):
        corner += sum_pairs(place, width, sd)
    blocks = [
        (1 + sd**2 * sum_levels(group), sum_pairs(group.codes, len(group.levels), sd))
        for group, sd in zip(groups[: 1 + nested], deviations[: 1 + nested], strict=True)
    ]
    diagonal, cross = blocks[0]
    if not nested:
        return Arrow(diagonal, cross, corner)
    inner, outer = groups[:2]
    parents = np.empty(len(inner.levels), dtype=np.intp)
    parents[inner.codes] = outer.codes
    link = deviations[0] * deviations[1] * sum_levels(inner)
    own = blocks[1][0] - np.bincount(parents, link**2 / diagonal, len(outer.levels))
    beside = blocks[1][1] - indicate(parents).T @ (cross * (link / diagonal)[:, None])
    left = Arrow(own, np.asarray(beside), corner - cross.T @ (cross / diagonal[:, None]))
    return NestedArrow(diagonal, link, parents, cross, left)


class Likelihood:
    """The log-likelihood of thresholds, effects and standard deviations; remembers the modes to start from them."""

    def __init__(self, response: CodedFactor, matrix: Floats, groups: Sequence[CodedFactor]) -> None:
        self.codes, self.cuts = response.codes, len(response.levels) - 1
        self.matrix = matrix
        # The largest term comes first, where its block costs nothing; in large studies then one that it is nested in.
        self.order = sorted(range(len(groups)), key=lambda n: -len(groups[n].levels))
        cells = len(groups[self.order[0]].levels) * sum(len(groups[n].levels) for n in self.order[1:]) if groups else 0
        outer = [n for n in self.order[1:] if cells > MOST_CELLS and is_nested(groups[self.order[0]], groups[n])][:1]
        self.order = [*self.order[:1], *outer, *(n for n in self.order[1:] if n not in outer)]
        self.nested, self.groups = bool(outer), [groups[n] for n in self.order]
        sizes = [len(group.levels) for group in self.groups]
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        self.modes = np.zeros(sum(sizes))
        self.curvature: Arrow | NestedArrow | None = None

    def value_and_gradient(self, thresholds: Floats, effects: Floats, sds: Floats) -> tuple[float, Floats]:
        """Return the Laplace log-likelihood and its gradient by thresholds, effects, standard deviations."""
        fixed = self.matrix @ effects
        if not self.groups:
            rows = Rows(RowThresholds.of(thresholds, self.codes), fixed)
            return rows.log_p(), self.join(*rows.by_thresholds(), rows.by_m, np.empty(0))
        deviations = sds[self.order]
        rows, curvature = self.find_modes(thresholds, fixed, deviations)
        value = rows.log_p() - float(self.modes @ self.modes) / 2 - curvature.log_determinant() / 2
        return value, self.gradient(rows, curvature, deviations)

    def find_modes(self, thresholds: Floats, fixed: Floats, deviations: Floats) -> tuple[Rows, Arrow | NestedArrow]:
        """Use Newton's method with step halving; the problem is concave, so it has one maximum.

        In large studies, while steps shrink tenfold, the second derivatives at hand (at first those of the last search)
        are good enough.
        """
        scales = np.repeat(deviations, np.diff(self.starts))
        bounds = RowThresholds.of(thresholds, self.codes)

        def rows_for(u: Floats) -> Rows:
            return Rows(bounds, sum(self.by_row(scales * u), fixed))

        u, curvature, last = self.modes, self.curvature, np.inf
        rows, exact = rows_for(u), None
        value = rows.log_p() - u @ u / 2
        for _ in range(NEWTON_STEPS):
            slope = scales * self.by_level(rows.by_m) - u
            step = curvature.solve(slope) if curvature and self.nested else np.full(len(u), np.inf)
            length = float(np.abs(step).max())
            if not self.nested or length > last / 10 or length > NEAR:
                curvature, exact = curvature_of(self.groups, deviations, rows.weight, self.nested), rows
                step = curvature.solve(slope)
                length = float(np.abs(step).max())
            if length < MODE_TOLERANCE:
                break
            before, size, last = value, 1.0, length
            while True:
                moved = u + size * step
                rows = rows_for(moved)
                value = rows.log_p() - moved @ moved / 2
                if value >= before - 1e-9 or size < 1e-6:
                    break
                size /= 2
            u = moved
        if curvature is None or exact is not rows:
            curvature = curvature_of(self.groups, deviations, rows.weight, self.nested)
        self.modes, self.curvature = u, curvature
        return rows, curvature

    def by_level(self, values: Floats) -> Floats:
        """Return sums of the rows' values over all levels, term by term."""
        return np.concatenate([np.bincount(g.codes, values, len(g.levels)) for g in self.groups])

    def gradient(self, rows: Rows, curvature: Arrow | NestedArrow, deviations: Floats) -> Floats:
        """Use the chain rule through H and through the modes, whose derivatives are H⁻¹ ∂(Cᵀ ∂log p/∂m)/∂parameter."""
        between = curvature.inverse_at(self.places())
        mixed = [sum((sd * entry for sd, entry in zip(deviations, row, strict=True)), np.zeros(1)) for row in between]
        leverage = sum((sd * part for sd, part in zip(deviations, mixed, strict=True)), np.zeros(1))
        upper_slope, lower_slope = rows.slopes()
        bend = -leverage * (upper_slope + lower_slope)
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
        by_upper, by_lower = rows.by_thresholds()
        by_upper -= (leverage * upper_slope + echo * rows.upper) / 2
        by_lower -= (leverage * lower_slope + echo * rows.lower) / 2
        return self.join(by_upper, by_lower, by_m, by_deviation)

    def information(self, thresholds: Floats, effects: Floats, sds: Floats) -> Floats:
        """Return minus the second derivatives of ℓ by thresholds and effects, with the modes that follow them.

        These are nearly those of the marginal log-likelihood: only how log|H| bends is left out.
        """
        deviations, size = sds[self.order], self.cuts + 1
        rows, curvature = self.find_modes(thresholds, self.matrix @ effects, deviations)
        pull = 1 / np.expm1(np.diff(thresholds))
        bends = np.bincount(self.codes, minlength=size)[1:-1] * pull * (1 + pull)
        upper, lower = np.bincount(self.codes, rows.upper, size)[:-1], np.bincount(self.codes, rows.lower, size)[1:]
        corner = np.diag(upper + lower + np.append(bends, 0) + np.append(0, bends))
        corner -= np.diag(bends, 1) + np.diag(bends, -1)
        scales = np.repeat(deviations, np.diff(self.starts))
        bent = [-(rows.upper * (self.codes == cut) + rows.lower * (self.codes == cut + 1)) for cut in range(self.cuts)]
        edge = np.array(bent) @ self.matrix
        bent += [rows.weight * column for column in self.matrix.T]
        whole = np.block([[corner, edge], [edge.T, np.array(bent[self.cuts :]) @ self.matrix]])
        beside = np.array([scales * self.by_level(column) for column in bent])
        return np.asarray(whole - beside @ np.array([curvature.solve(column) for column in beside]).T)

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
        """Return each row's level in each block of its own, and in the block of all the other terms together."""
        heads = 1 + self.nested
        rest = zip(self.groups[heads:], self.starts[heads:-1], strict=True)
        return [*(g.codes for g in self.groups[:heads]), *(g.codes + s - self.starts[heads] for g, s in rest)]
