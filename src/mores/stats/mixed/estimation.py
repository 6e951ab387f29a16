"""Fits cumulative link (mixed) models by maximum likelihood, and says in the result what went wrong, if anything.

The search runs over centred and scaled columns, the logarithms of the thresholds' gaps and the random intercepts'
standard deviations; estimates and covariances are carried back to the data's own scale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import pi, sqrt

import numpy as np
from scipy.optimize import linprog, minimize
from scipy.special import logit, ndtr

from mores.stats.mixed.design import CodedFactor, Columns, Design, Floats, MixedModel, build
from mores.stats.mixed.likelihood import Likelihood

STEP = 1e-4
"""The step of the central differences of the gradient that make the matrix of second derivatives."""
DECREMENT = 1e-7
"""Converged when a Newton step would raise the log-likelihood by less than half of this."""
ZERO_SD = 1e-3
"""A standard deviation under this is zero: on the logistic scale, whose own is 1.81."""
LARGE_SD = 25.0
"""A standard deviation over this means that the groups settle the ratings."""


@dataclass(frozen=True, slots=True)
class FittedCoefficient:
    """A threshold or a fixed effect with Wald's test that it is zero."""

    name: str
    estimate: float
    se: float
    """Standard error; NaN, as z and p, when the fit has problems."""
    z: float
    p: float


@dataclass(frozen=True, slots=True)
class Variance:
    """The variance of a random intercept."""

    group: str
    variance: float
    sd: float
    levels: int
    """How many groups there are."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The precision of a linear model's variances, for small samples."""

    slopes: Floats
    """How the covariance of the effects moves with each parameter of the variances."""
    covariance: Floats
    """Of these parameters."""
    names: tuple[str, ...]
    """The random terms, and the residual."""
    variances: Floats
    """Of each of `names`; what was estimated as zero is kept away from it."""
    variance_covariance: Floats
    least: float
    """The fewest degrees of freedom: the levels of the smallest term less one."""

    def flipped(self, flip: Floats) -> Spread:
        """Return the same for effects with other signs."""
        return replace(self, slopes=np.array([flip @ slope @ flip for slope in self.slopes]))

    def degrees(self, weights: Floats, variance: float) -> float:
        """Return Satterthwaite's degrees of freedom of a combination of effects with this variance."""
        slope = np.array([weights @ slope @ weights for slope in self.slopes])
        return self._degrees(variance, float(slope @ self.covariance @ slope))

    def of_sum(self, shares: Floats) -> tuple[float, float]:
        """Return Σ share · variance over `names`, and its degrees of freedom."""
        variance = float(shares @ self.variances)
        return variance, self._degrees(variance, float(shares @ self.variance_covariance @ shares))

    def _degrees(self, variance: float, spread: float) -> float:
        return max(self.least, 2 * variance**2 / spread) if spread > 0 else float("inf")


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted model."""

    model: MixedModel
    design: Design
    thresholds: tuple[FittedCoefficient, ...]
    """Named "1|2", "2|3", …"""
    coefficients: tuple[FittedCoefficient, ...]
    """The fixed effects; a positive one goes with higher ratings."""
    variances: tuple[Variance, ...]
    log_likelihood: float
    parameters: int
    """How many were estimated: thresholds, fixed effects and variances."""
    covariance: Floats
    """Of the estimates of thresholds and fixed effects, in that order."""
    modes: Mapping[str, Mapping[object, float]]
    """The conditional mode of each group's intercept, by term and level."""
    problems: tuple[str, ...]
    """Why the numbers are not to be used; empty when all is well."""
    notes: tuple[str, ...]
    """What to know about numbers that are good."""
    spread: Spread | None = None
    """Of a linear model."""

    @property
    def converged(self) -> bool:
        return not self.problems

    @property
    def aic(self) -> float:
        return 2 * self.parameters - 2 * self.log_likelihood

    def require_converged(self) -> None:
        """Raise ValueError with the problems, before anything is worked out from the estimates."""
        if self.problems:
            raise ValueError(f"the model of {self.model.response!r} was not fitted: {'; '.join(self.problems)}")


@dataclass(frozen=True, slots=True)
class RSquared:
    """The shares of the latent variance that the model explains."""

    marginal: float
    """By the fixed effects."""
    conditional: float
    """By the fixed effects and the random intercepts together."""


@dataclass(frozen=True, slots=True)
class Scaling:
    """Columns less their means, divided by their standard deviations."""

    means: Floats
    sds: Floats
    matrix: Floats


@dataclass(frozen=True, slots=True)
class FitTask:
    """The problem that the search works on."""

    design: Design
    groups: tuple[CodedFactor, ...]
    """The grouping terms, less those that group the rows as an earlier one does."""
    merged: Mapping[str, list[str]]
    """The names of all the terms that each of `groups` stands for."""
    scaling: Scaling
    likelihood: Likelihood


@dataclass(frozen=True, slots=True)
class Optimum:
    """The point where the search ended."""

    point: Floats
    value: float
    """The log-likelihood."""
    gradient: Floats
    """Of minus the log-likelihood."""
    inverse: Floats | None
    """Of minus the second derivatives; None when they are not those of a maximum."""
    decrement: float


def fit(model: MixedModel, data: Columns, near: Fit | None = None) -> Fit:
    """Return the maximum-likelihood fit; with random terms, of the Laplace approximation of the likelihood.

    `near` is the same model's fit of some of the rows: from there Newton steps reach the same maximum, with second
    derivatives (and so standard errors) that leave out how log|H| bends with thresholds and effects.
    """
    task = prepare(model, data)
    problems = find_separation(task)
    if near and not problems:
        optimum = approach(task.likelihood, start_near(task, near))
    else:
        first = start(task.design, task.scaling)
        # Without a finite maximum, a search would only end after all its steps.
        optimum = stop_at(task.likelihood, first) if problems else search(task.likelihood, first)
    sds = np.abs(optimum.point[len(optimum.point) - len(task.groups) :])
    problems = problems or [*find_failure(optimum), *find_divergence(task.groups, sds)]
    notes = [*note_alike(task.merged), *note_zero(task.groups, sds)]
    estimates, covariance = carry_back(task, optimum)
    if problems:
        covariance = np.full_like(covariance, np.nan)
    coefficients = wald_tests(task.design, estimates, covariance)
    cuts = task.likelihood.cuts
    return Fit(
        model=model,
        design=task.design,
        thresholds=coefficients[:cuts],
        coefficients=coefficients[cuts:],
        variances=share_variances(task, sds),
        log_likelihood=optimum.value,
        parameters=len(optimum.point),
        covariance=covariance,
        modes=share_modes(task, optimum),
        problems=tuple(problems),
        notes=tuple(notes),
    )


def prepare(model: MixedModel, data: Columns) -> FitTask:
    design = build(model, data)
    groups, merged = merge_alike(design.groups)
    scaling = scale(design.matrix)
    return FitTask(design, groups, merged, scaling, Likelihood(design.response, scaling.matrix, groups))


def merge_alike(groups: tuple[CodedFactor, ...]) -> tuple[tuple[CodedFactor, ...], dict[str, list[str]]]:
    """Return one of each set of grouping terms that group the rows alike, and the names that each stands for."""
    distinct: dict[bytes, CodedFactor] = {}
    merged: dict[str, list[str]] = {}
    for group in groups:
        # Levels are numbered by appearance, so like groupings have the same codes.
        first = distinct.setdefault(group.codes.tobytes(), group)
        merged.setdefault(first.name, []).append(group.name)
    return tuple(distinct.values()), merged


def scale(matrix: Floats) -> Scaling:
    means, sds = matrix.mean(axis=0), matrix.std(axis=0)
    return Scaling(means, sds, (matrix - means) / sds)


def start(design: Design, scaling: Scaling) -> Floats:
    """Return the estimates without random terms, found from the shares of the ratings and no effects."""
    counts = np.bincount(design.response.codes)
    cuts = logit(np.cumsum(counts)[:-1] / counts.sum())
    plain = Likelihood(design.response, scaling.matrix, ())
    point = np.concatenate([cuts[:1], np.log(np.diff(cuts)), np.zeros(scaling.matrix.shape[1])])
    return climb(plain, point)


def thresholds_at(parameters: Floats) -> Floats:
    """Return thresholds from the first one and the logarithms of the gaps, which keep them in order."""
    return np.cumsum(np.concatenate([parameters[:1], np.exp(np.clip(parameters[1:], -20, 20))]))


def threshold_jacobian(parameters: Floats) -> Floats:
    """Return the thresholds' derivatives by their parameters."""
    gaps = np.concatenate([[1.0], np.exp(np.clip(parameters[1:], -20, 20))])
    return np.tril(np.tile(gaps, (len(gaps), 1)))


def evaluate(point: Floats, likelihood: Likelihood) -> tuple[float, Floats]:
    """Return minus the log-likelihood and minus its gradient by the search's parameters."""
    cuts, effects = likelihood.cuts, likelihood.matrix.shape[1]
    value, gradient = likelihood.value_and_gradient(
        thresholds_at(point[:cuts]), point[cuts : cuts + effects], point[cuts + effects :]
    )
    by_cut = threshold_jacobian(point[:cuts]).T @ gradient[:cuts]
    return -value, -np.concatenate([by_cut, gradient[cuts:]])


def climb(likelihood: Likelihood, point: Floats) -> Floats:
    """Maximise the mean log-likelihood of a row by quasi-Newton steps (BFGS)."""
    rows = len(likelihood.codes)

    def mean(parameters: Floats) -> tuple[float, Floats]:
        value, gradient = evaluate(parameters, likelihood)
        return value / rows, gradient / rows

    optimum = minimize(mean, point, jac=True, method="BFGS", options={"gtol": 1e-7, "maxiter": 500})
    return np.asarray(optimum.x, dtype=np.float64)


def stop_at(likelihood: Likelihood, point: Floats) -> Optimum:
    """Return the start, with standard deviations of 1, where there is nothing to search for."""
    point = np.concatenate([point, np.ones(len(likelihood.groups))])
    value, gradient = evaluate(point, likelihood)
    return Optimum(point, -value, gradient, None, float("inf"))


def search(likelihood: Likelihood, point: Floats) -> Optimum:
    """Search by BFGS from standard deviations of 1, then by Newton steps until there is nothing to gain."""
    point = np.concatenate([point, np.ones(len(likelihood.groups))])
    if likelihood.groups:
        point = climb(likelihood, point)
    optimum = inspect(likelihood, point)
    if 1e-4 < optimum.decrement < np.inf:
        optimum = inspect(likelihood, improve(likelihood, optimum).point)
    for _ in range(5):
        if optimum.inverse is None or optimum.decrement < DECREMENT / 1000:
            break
        optimum = improve(likelihood, optimum)
    return optimum


def start_near(task: FitTask, near: Fit) -> Floats:
    """Return the estimates of a fit of some of the rows, as parameters of the search."""
    known = {coefficient.name: coefficient.estimate for coefficient in near.coefficients}
    effects = np.array([known[name] for name in task.design.names])
    thresholds = np.array([cut.estimate for cut in near.thresholds]) - task.scaling.means @ effects
    sds = {variance.group: variance.sd for variance in near.variances}
    first = np.concatenate([thresholds[:1], np.log(np.diff(thresholds)), effects * task.scaling.sds])
    return np.append(first, [max(0.05, sds[group.name]) for group in task.groups])


def approach(likelihood: Likelihood, point: Floats) -> Optimum:
    """Search by Newton steps; second derivatives are worked out every four steps, the last time next to the maximum."""
    cuts, known = likelihood.cuts, likelihood.cuts + likelihood.matrix.shape[1]
    value, gradient = evaluate(point, likelihood)
    optimum = Optimum(point, -value, gradient, None, float("inf"))
    for attempt in range(8):
        jacobian = np.eye(known)
        jacobian[:cuts, :cuts] = threshold_jacobian(point[:cuts])
        information = likelihood.information(thresholds_at(point[:cuts]), point[cuts:known], point[known:])
        matrix = np.zeros((len(point), len(point)))
        matrix[:known, :known] = jacobian.T @ information @ jacobian
        for n in range(known, len(point)):
            step = STEP * (np.arange(len(point)) == n)
            ahead = evaluate(point + step, likelihood)[1]
            # Steps from afar need them roughly, standard errors to both sides.
            behind = evaluate(point - step, likelihood)[1] if attempt else 2 * gradient - ahead
            bend = (ahead - behind) / (2 * STEP)
            matrix[n], matrix[:, n] = bend, bend
        values, vectors = np.linalg.eigh(matrix)
        # Far from the maximum the likelihood may bend upwards; there a step goes down the slope.
        inverse = (vectors / np.maximum(np.abs(values), 1e-9 * values[-1])) @ vectors.T
        optimum = Optimum(point, optimum.value, gradient, inverse, float(gradient @ inverse @ gradient))
        near = attempt and values[0] > 0 and optimum.decrement < 0.01
        for _ in range(4):
            if near and optimum.decrement < DECREMENT:
                return optimum
            optimum = improve(likelihood, optimum)
        point, gradient = optimum.point, optimum.gradient
    return optimum


def improve(likelihood: Likelihood, optimum: Optimum) -> Optimum:
    """Return one Newton step with the second derivatives at hand, which costs far less than working them out again."""
    if optimum.inverse is None:
        return optimum
    point = optimum.point - optimum.inverse @ optimum.gradient
    value, gradient = evaluate(point, likelihood)
    return Optimum(point, -value, gradient, optimum.inverse, float(gradient @ optimum.inverse @ gradient))


def inspect(likelihood: Likelihood, point: Floats) -> Optimum:
    """Return the log-likelihood at a point, its curvature there and how far it is from the maximum."""
    value, gradient = evaluate(point, likelihood)
    matrix = np.empty((len(point), len(point)))
    for n, parameter in enumerate(point):
        step = np.zeros(len(point))
        step[n] = STEP * max(1.0, abs(parameter))
        change = evaluate(point + step, likelihood)[1] - evaluate(point - step, likelihood)[1]
        matrix[n] = change / (2 * step[n])
    matrix = (matrix + matrix.T) / 2
    values, vectors = np.linalg.eigh(matrix)
    if values[0] <= 1e-9 * values[-1]:
        return Optimum(point, -value, gradient, None, float("inf"))
    inverse = (vectors / values) @ vectors.T
    return Optimum(point, -value, gradient, inverse, float(gradient @ inverse @ gradient))


def find_separation(task: FitTask) -> list[str]:
    """Return the fixed effects with no finite estimate: along some direction every row's probability rises or stays.

    Such a direction moves each row's upper threshold less its predictor up, and the lower one down, or leaves them: a
    linear programme. A. Albert and J. A. Anderson, Biometrika 71 (1984), 1-10, for categorical regressions.
    """
    cuts, names = task.likelihood.cuts, task.design.names
    if not names:
        return []
    # Like rows have the same sum at random weights, which sorts much faster than rows do.
    weights = np.random.default_rng(0).normal(size=len(names))
    sums = np.column_stack([task.design.response.codes, (task.scaling.matrix * weights).sum(axis=1)])
    first = np.unique(sums.view(np.complex128).ravel(), return_index=True)[1]
    codes, matrix = task.design.response.codes[first], task.scaling.matrix[first]
    picks = np.eye(cuts)
    upper = np.column_stack([picks[codes[codes < cuts]], -matrix[codes < cuts]])
    lower = np.column_stack([-picks[codes[codes > 0] - 1], matrix[codes > 0]])
    moves = np.vstack([upper, lower])
    solution = linprog(-moves.sum(axis=0), A_ub=-moves, b_ub=np.zeros(len(moves)), bounds=(-1, 1))
    if solution.status != 0 or -solution.fun < 1e-6:
        return []
    moved = [name for name, move in zip(names, solution.x[cuts:], strict=True) if abs(move) > 1e-6]
    return [f"separation: no finite estimate of {', '.join(moved)}, which settle some of the ratings"]


def find_failure(optimum: Optimum) -> list[str]:
    if optimum.inverse is None:
        return ["the search ended where the log-likelihood has no maximum (its second derivatives are singular)"]
    if optimum.decrement > DECREMENT:
        return [f"the search ended before the maximum (Newton decrement {optimum.decrement:.1e})"]
    return []


def find_divergence(groups: tuple[CodedFactor, ...], sds: Floats) -> list[str]:
    return [
        f"the variance of {group.name} grows without bound: its groups settle the ratings"
        for group, sd in zip(groups, sds, strict=True)
        if sd > LARGE_SD
    ]


def note_alike(merged: Mapping[str, list[str]]) -> list[str]:
    return [
        f"{' and '.join(names)} group the rows alike: only the sum of their variances is estimated, and split evenly"
        for names in merged.values()
        if len(names) > 1
    ]


def note_zero(groups: tuple[CodedFactor, ...], sds: Floats) -> list[str]:
    return [f"the variance of {g.name} is estimated as zero" for g, sd in zip(groups, sds, strict=True) if sd < ZERO_SD]


def carry_back(task: FitTask, optimum: Optimum) -> tuple[Floats, Floats]:
    """Return thresholds and fixed effects on the data's own scale, and their covariance by the delta method."""
    cuts, sds = task.likelihood.cuts, task.scaling.sds
    point = optimum.point[: cuts + len(sds)]
    shift = task.scaling.means / sds
    effects = point[cuts:] / sds
    estimates = np.concatenate([thresholds_at(point[:cuts]) + shift @ point[cuts:], effects])
    jacobian = np.zeros((len(point), len(point)))
    jacobian[:cuts, :cuts] = threshold_jacobian(point[:cuts])
    jacobian[:cuts, cuts:] = shift
    jacobian[cuts:, cuts:] = np.diag(1 / sds)
    if optimum.inverse is None:
        return estimates, np.full_like(jacobian, np.nan)
    return estimates, jacobian @ optimum.inverse[: len(point), : len(point)] @ jacobian.T


def wald_tests(
    design: Design, estimates: Floats, covariance: Floats, cuts: Sequence[str] | None = None
) -> tuple[FittedCoefficient, ...]:
    """Return Wald's test of each threshold (or what stands for them) and fixed effect."""
    thresholds = [f"{low}|{high}" for low, high in pairwise(design.response.levels)] if cuts is None else cuts
    names = [*thresholds, *design.names]
    errors = np.sqrt(np.diag(covariance))
    zs = estimates / errors
    columns = (names, estimates.tolist(), errors.tolist(), zs.tolist(), (2 * ndtr(-np.abs(zs))).tolist())
    return tuple(FittedCoefficient(*row) for row in zip(*columns, strict=True))


def share_variances(task: FitTask, sds: Floats) -> tuple[Variance, ...]:
    """Return each random term's variance, in the model's order; terms that group alike share one evenly."""
    variances: dict[str, float] = {}
    for group, sd in zip(task.groups, sds.tolist(), strict=True):
        names = task.merged[group.name]
        variances |= {name: sd**2 / len(names) for name in names}
    return tuple(
        Variance(group.name, variances[group.name], sqrt(variances[group.name]), len(group.levels))
        for group in task.design.groups
    )


def share_modes(task: FitTask, optimum: Optimum) -> dict[str, dict[object, float]]:
    """Return each group's most probable intercept given the data."""
    evaluate(optimum.point, task.likelihood)
    sds = optimum.point[len(optimum.point) - len(task.groups) :]
    factors = {group.name: group for group in task.design.groups}
    out: dict[str, dict[object, float]] = {}
    for group, sd, modes in zip(task.groups, sds, task.likelihood.modes_by_term(), strict=True):
        names = task.merged[group.name]
        values = (modes * sd / len(names)).tolist()
        out |= {name: dict(zip(factors[name].levels, values, strict=True)) for name in names}
    return {name: out[name] for name in factors}


def r_squared(result: Fit) -> RSquared:
    """Return Nakagawa's R² on the latent scale: v / (f + r + π²/3), with v = f (marginal) or f + r (conditional).

    f is the variance of the fixed effects' part of the predictor over the rows, r the sum of the random intercepts'
    variances, and π²/3 the variance of the standard logistic distribution. S. Nakagawa and H. Schielzeth, Methods in
    Ecology and Evolution 4 (2013), 133-142; S. Nakagawa, P. C. D. Johnson and H. Schielzeth, Journal of the Royal
    Society Interface 14 (2017), 20170213.
    """
    result.require_converged()
    effects = np.array([c.estimate for c in result.coefficients])
    fixed = float((result.design.matrix @ effects).var(ddof=1))
    random = sum(v.variance for v in result.variances)
    whole = fixed + random + pi**2 / 3
    return RSquared(fixed / whole, (fixed + random) / whole)
