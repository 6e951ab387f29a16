"""Thresholds, effects and random intercepts of a fitted model together, and further columns beside them.

The joint log-likelihood of thresholds θ, fixed effects β and standard normal u is ℓ = Σ log p - |u|²/2, with the
random intercepts' variances as the fit has them. The inverse of minus its second derivatives is the covariance of all
these unknowns, that of the intercepts including what is not known about θ and β (C. R. Henderson, Biometrics 31
(1975), 423-447, for linear models; Y. Lee and J. A. Nelder, JRSS B 58 (1996), 619-678, for others).

Further columns have a normal prior with the standard deviation `WIDE`, which changes nothing (0.6% of a slope whose
standard error is 0.8) unless they settle a person's ratings, where there would be no finite estimate otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_matrix, diags, hstack

from mores.stats.mixed import Fit
from mores.stats.mixed.design import CodedFactor, Codes, Floats
from mores.stats.mixed.estimation import scale
from mores.stats.mixed.likelihood import Rows, RowThresholds

STEPS = 50
WIDE = 10.0
"""In latent (logit) units."""
TOLERANCE = 1e-8
"""The search ends when a Newton step would raise the log-likelihood by less than half of this."""


@dataclass(frozen=True, slots=True)
class Joint:
    """The unknowns of a model: thresholds, scaled fixed effects, standard normal intercepts, further columns."""

    codes: Codes
    """Each row's category."""
    cuts: int
    effects: int
    groups: tuple[CodedFactor, ...]
    """The grouping terms, in the order of their intercepts."""
    predictors: csr_matrix
    """Rows × effects, intercepts (each column times its standard deviation) and further columns."""
    penalty: Floats
    """What multiplies each unknown's square, twice: 1 for intercepts, nearly 0 for further columns, 0 for others."""
    point: Floats

    @property
    def extras(self) -> slice:
        """The places of the further columns among all unknowns."""
        return slice(self.cuts + self.effects + sum(len(g.levels) for g in self.groups), len(self.point))

    def intercepts(self, term: str) -> slice:
        """Return where the intercepts of a term are among all unknowns."""
        names = [group.name for group in self.groups]
        before = sum(len(group.levels) for group in self.groups[: names.index(term)])
        start = self.cuts + self.effects + before
        return slice(start, start + len(self.groups[names.index(term)].levels))

    def predictor(self, point: Floats) -> Floats:
        """Return m of each row."""
        return np.asarray(self.predictors @ point[self.cuts :])

    def rows(self, point: Floats) -> Rows:
        return Rows(RowThresholds.of(point[: self.cuts], self.codes), self.predictor(point))

    def value(self, point: Floats) -> float:
        """Return ℓ; minus infinity where thresholds are not in order."""
        if (np.diff(point[: self.cuts]) <= 0).any():
            return -np.inf
        return self.rows(point).log_p() - float((self.penalty * point**2).sum()) / 2

    def indicators(self) -> tuple[csr_matrix, csr_matrix]:
        """Return rows × thresholds: 1 at each row's upper threshold, and at its lower one."""
        places, shape = np.arange(len(self.codes)), (len(self.codes), self.cuts)
        has_upper, has_lower = self.codes < self.cuts, self.codes > 0
        upper = csr_matrix((np.ones(has_upper.sum()), (places[has_upper], self.codes[has_upper])), shape)
        lower = csr_matrix((np.ones(has_lower.sum()), (places[has_lower], self.codes[has_lower] - 1)), shape)
        return upper, lower

    def gradient(self, point: Floats) -> Floats:
        rows, (upper, lower) = self.rows(point), self.indicators()
        by_upper, by_lower = rows.by_thresholds()
        by_threshold = upper.T @ by_upper + lower.T @ by_lower
        return np.concatenate([by_threshold, self.predictors.T @ rows.by_m]) - self.penalty * point

    def information(self, point: Floats) -> Floats:
        """Return minus the second derivatives of ℓ."""
        rows, (upper, lower) = self.rows(point), self.indicators()
        pull = rows.bounds.pull[self.codes]
        bend = diags(pull * (1 + pull))
        between = upper.T @ bend @ lower
        corner = upper.T @ (diags(rows.upper) + bend) @ upper + lower.T @ (diags(rows.lower) + bend) @ lower
        edge = -(upper.T @ diags(rows.upper) + lower.T @ diags(rows.lower)) @ self.predictors
        rest = self.predictors.T @ diags(rows.weight) @ self.predictors
        matrix = np.block([
            [(corner - between - between.T).toarray(), edge.toarray()],
            [edge.toarray().T, rest.toarray()],
        ])  # fmt: skip
        return np.asarray(matrix + np.diag(self.penalty))


def join(result: Fit, columns: csr_matrix | None = None) -> Joint:
    """Return the unknowns of a fit at its estimates; `columns` (rows × columns) are further effects, starting at 0."""
    result.require_converged()
    design, scaling = result.design, scale(result.design.matrix)
    sds = {variance.group: variance.sd for variance in result.variances}
    count = len(design.response.codes)
    blocks = [csr_matrix(scaling.matrix)]
    for group in design.groups:
        ones = np.full(count, sds[group.name])
        blocks.append(csr_matrix((ones, (np.arange(count), group.codes)), (count, len(group.levels))))
    levels = sum(len(group.levels) for group in design.groups)
    extras = 0 if columns is None else columns.shape[1]
    effects = np.array([c.estimate for c in result.coefficients])
    thresholds = np.array([c.estimate for c in result.thresholds]) - scaling.means @ effects
    intercepts = [
        result.modes[group.name][level] / sds[group.name] if sds[group.name] > 0 else 0.0
        for group in design.groups
        for level in group.levels
    ]
    return Joint(
        codes=design.response.codes,
        cuts=len(thresholds),
        effects=len(effects),
        groups=design.groups,
        predictors=hstack([*blocks, *([] if columns is None else [columns])]).tocsr(),
        penalty=np.repeat([0.0, 1.0, WIDE**-2], [len(thresholds) + len(effects), levels, extras]),
        point=np.concatenate([thresholds, effects * scaling.sds, intercepts, np.zeros(extras)]),
    )


def covariance(joint: Joint, point: Floats) -> Floats:
    """Return the covariance of all unknowns."""
    matrix = joint.information(point)
    return np.asarray(cho_solve(cho_factor(matrix), np.eye(len(matrix))))


def maximise(joint: Joint) -> tuple[Floats, Floats]:
    """Return where ℓ is highest, and the covariance there; ValueError where the search does not get there.

    Newton's method with step halving: ℓ is concave, so that there is one maximum.
    """
    point = joint.point
    for _ in range(STEPS):
        gradient = joint.gradient(point)
        try:
            step = cho_solve(cho_factor(joint.information(point)), gradient)
        except np.linalg.LinAlgError:
            break
        if gradient @ step < TOLERANCE:
            return point + step, covariance(joint, point + step)
        before, size = joint.value(point), 1.0
        while joint.value(point + size * step) < before and size > 1e-6:
            size /= 2
        point = point + size * step
    raise ValueError(f"slopes beside the model were not found in {STEPS} steps; leave out people with extreme ratings")
