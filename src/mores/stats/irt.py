"""Item response models: ability and difficulty on one scale, by marginal maximum likelihood.

    model = fit(table)                    # rows × columns with 0, 1, shares between them, or nan
    model.intercepts, model.slopes        # of the columns: logit p = intercept + slope · z
    model.means, model.deviations         # of the z of each row, given its cells

The z of rows are draws from a standard normal distribution, over which the likelihood of the columns is integrated on a
grid (Bock and Aitkin 1981). With one slope for all columns it is the 1PL or Rasch model, with one for each the 2PL.

Benchmarks have many questions and few models. For ability and difficulty, questions are therefore the rows and models
the columns (`fit_questions`): estimates become exact as questions are added, however few the models. A question's
own discrimination needs many models, which are then the rows (`fit_discrimination`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mores.stats.classification import Floats

REACH = 6.0
"""The grid covers so many standard deviations on each side."""
TOLERANCE, ROUNDS = 1e-4, 500
"""EM ends when no parameter changes by more than this, or after so many rounds."""
SPREAD = 0.5
"""Standard deviation of the discriminations of questions around their common value, before any answer is seen."""
WIDE = 4.0
"""The same of their intercepts around 0, so that a question that all models get correct has an estimate."""
LEAST_MODELS = 3
"""Fewer models say nothing about a scale that they share."""
LEAST_FOR_DISCRIMINATION = 75
"""Models from which on discriminations are worth estimating (`benchmarks/item_response.py` measures it)."""


@dataclass(frozen=True)
class ResponseModel:
    """A fitted model of a table of answers."""

    intercepts: Floats
    """Of every column."""
    slopes: Floats
    """Of every column; all the same in the 1PL."""
    means: Floats
    """Posterior mean of the z of every row."""
    deviations: Floats
    """Posterior standard deviation of the z of every row."""
    log_likelihood: float
    errors: Floats
    """Standard errors of the intercepts; nan where slopes differ."""

    def probabilities(self) -> Floats:
        """Return the expected value of every cell, at the posterior means of the rows."""
        return expit(self.intercepts + np.outer(self.means, self.slopes))


def fit(
    table: npt.ArrayLike, *, own_slopes: bool = False, centre: float | None = None, spread: float = SPREAD
) -> ResponseModel:
    """Fit a table of answers; every column needs cells on both sides of 0 and 1 unless there is a prior.

    The prior, for slopes of their own, is normal around `centre` with the standard deviation `spread`, and around 0
    with `WIDE` for intercepts. Without a centre there is none.
    """
    prior_of = None if centre is None else (centre, spread)
    cells = np.asarray(table, dtype=np.float64)
    seen, correct = (~np.isnan(cells)).astype(np.float64), np.nan_to_num(cells)
    columns = cells.shape[1]
    # A row with many cells has a narrow posterior, about 2 / √columns wide, which the grid must not step over.
    nodes = np.linspace(-REACH, REACH, 2 * max(40, int(np.ceil(8 * np.sqrt(columns)))) + 1)
    prior = -0.5 * nodes**2 - np.logaddexp.reduce(-0.5 * nodes**2)
    share = np.clip(correct.sum(axis=0) / seen.sum(axis=0).clip(1), 0.01, 0.99)
    intercepts, slopes = 1.2 * np.log(share / (1 - share)), np.ones(columns)
    for _ in range(ROUNDS):
        weights, likelihood = _posterior(correct, seen, intercepts, slopes, nodes, prior)
        right, total = weights.T @ correct, weights.T @ seen  # nodes × columns
        update = _own_slopes if own_slopes else _common_slope
        new = update(right, total, intercepts, slopes, nodes, prior_of)
        # The z that the rows turn out to have become the unit: without it, EM creeps along the scale (PX-EM, Liu 1998).
        centre_of, square = float((weights @ nodes).mean()), float((weights @ nodes**2).mean())
        new = new[0] + new[1] * centre_of, new[1] * np.sqrt(square - centre_of**2)
        change = max(np.abs(new[0] - intercepts).max(), np.abs(new[1] - slopes).max())
        intercepts, slopes = new
        if change < TOLERANCE:
            break
    if slopes.sum() < 0:  # the direction of z is arbitrary
        slopes = -slopes
    weights, likelihood = _posterior(correct, seen, intercepts, slopes, nodes, prior)
    means = weights @ nodes
    deviations = np.sqrt(np.maximum(0.0, weights @ nodes**2 - means**2))
    errors = np.full(columns, np.nan)
    if not own_slopes:
        errors = np.sqrt(np.diag(_covariance(correct, seen, intercepts, slopes, nodes, weights))[:-1])
    return ResponseModel(intercepts, slopes, means, deviations, likelihood, errors)


def _posterior(
    correct: Floats, seen: Floats, intercepts: Floats, slopes: Floats, nodes: Floats, prior: Floats
) -> tuple[Floats, float]:
    """Return the weight of every node for every row, and the log-likelihood."""
    logits = intercepts + np.outer(nodes, slopes)
    # log p · x + log(1 - p) · (1 - x) is x · logit + log(1 - p).
    joint = correct @ logits.T + seen @ -np.logaddexp(0.0, logits).T + prior
    marginal = np.logaddexp.reduce(joint, axis=1, keepdims=True)
    return np.exp(joint - marginal), float(marginal.sum())


def _common_slope(
    right: Floats, total: Floats, intercepts: Floats, slopes: Floats, nodes: Floats, _: tuple[float, float] | None
) -> tuple[Floats, Floats]:
    """Return the intercepts and the slope after a step of Newton's method."""
    p = expit(intercepts + np.outer(nodes, slopes))
    left, information = right - total * p, total * p * (1 - p)
    gradient = np.append(left.sum(axis=0), nodes @ left.sum(axis=1))
    hessian = np.diag(np.append(information.sum(axis=0), nodes**2 @ information.sum(axis=1)))
    hessian[-1, :-1] = hessian[:-1, -1] = nodes @ information
    step = np.clip(np.linalg.solve(hessian + 1e-9 * np.eye(len(hessian)), gradient), -1, 1)
    return intercepts + step[:-1], slopes + step[-1]


def _own_slopes(
    right: Floats,
    total: Floats,
    intercepts: Floats,
    slopes: Floats,
    nodes: Floats,
    prior: tuple[float, float] | None,
) -> tuple[Floats, Floats]:
    """Return the intercepts and slopes of all columns after a step of Newton's method."""
    p = expit(intercepts + np.outer(nodes, slopes))
    left, information = right - total * p, total * p * (1 - p)
    d, s = left.sum(axis=0), nodes @ left
    dd, ds, ss = information.sum(axis=0), nodes @ information, nodes**2 @ information
    if prior is not None:
        centre, spread = prior
        d, dd = d - intercepts / WIDE**2, dd + 1 / WIDE**2
        s, ss = s - (slopes - centre) / spread**2, ss + 1 / spread**2
    determinant = np.maximum(dd * ss - ds**2, 1e-12)
    steps = (ss * d - ds * s) / determinant, (dd * s - ds * d) / determinant
    return intercepts + np.clip(steps[0], -1, 1), slopes + np.clip(steps[1], -1, 1)


def _covariance(
    correct: Floats, seen: Floats, intercepts: Floats, slopes: Floats, nodes: Floats, weights: Floats
) -> Floats:
    """Return the covariance of the intercepts and the common slope that also holds for shares as cells.

    The information of the marginal likelihood is that of complete data less what is not known of z (Louis 1982); the
    sandwich with the products of the rows' scores allows for cells that are less variable than draws of 0 and 1.
    """
    p = expit(intercepts + np.outer(nodes, slopes))
    size = len(intercepts) + 1
    information, products = np.zeros((size, size)), np.zeros((size, size))
    counts = weights.T @ seen * p * (1 - p)
    information[np.diag_indices(size - 1)] = counts.sum(axis=0)
    information[-1, :-1] = information[:-1, -1] = nodes @ counts
    information[-1, -1] = nodes**2 @ counts.sum(axis=1)
    for start in range(0, len(correct), 1000):  # rows × nodes × columns at once would not fit into memory
        rows = slice(start, start + 1000)
        left = correct[rows, None, :] - seen[rows, None, :] * p
        scores = np.concatenate([left, (nodes * left.sum(axis=2))[..., None]], axis=2)
        weighted = scores * np.sqrt(weights[rows, :, None])
        flat = weighted.reshape(-1, size)
        mean = np.einsum("iq,iqm->im", weights[rows], scores)
        information -= flat.T @ flat - mean.T @ mean
        products += mean.T @ mean
    inverse = np.linalg.pinv(information)
    return np.asarray(inverse @ products @ inverse)


@dataclass(frozen=True)
class QuestionScale:
    """Models and questions on one scale, in logits; 0 is the difficulty of the average question."""

    ability: Floats
    """Of every model; nan where all its answers have the same value, so that no finite value fits."""
    errors: Floats
    """Standard errors of the abilities, over the drawing of questions."""
    difficulty: Floats
    """Of every question, shrunk towards 0 as far as its few answers demand."""
    uncertainty: Floats
    """Posterior standard deviations of the difficulties."""
    spread: float
    """Standard deviation of the difficulties of all questions."""


def fit_questions(table: npt.ArrayLike) -> QuestionScale:
    """Fit the 1PL to questions × models; it needs two models with finite abilities."""
    cells = np.asarray(table, dtype=np.float64)
    finite = ~np.all(np.isnan(cells) | (cells == 0), axis=0) & ~np.all(np.isnan(cells) | (cells == 1), axis=0)
    if finite.sum() < 2:
        raise ValueError("fewer than two models have both correct and incorrect answers")
    model = fit(cells[:, finite])
    ability, errors = (np.full(cells.shape[1], np.nan) for _ in range(2))
    ability[finite], errors[finite] = model.intercepts, model.errors
    spread = float(model.slopes[0])
    return QuestionScale(ability, errors, -spread * model.means, spread * model.deviations, spread)


def fit_discrimination(table: npt.ArrayLike) -> Floats:
    """Return the discrimination of every question of a table of questions × models, by the 2PL.

    It is the slope over one standard deviation of the models' abilities. A negative one means that better models
    answer the question worse: its key may be wrong.
    """
    cells = np.asarray(table, dtype=np.float64).T
    usable = cells[:, ~np.all(np.isnan(cells), axis=0)]
    varied = np.array([len(np.unique(column[~np.isnan(column)])) > 1 for column in usable.T])
    centre = float(fit(usable[:, varied]).slopes[0])
    discrimination = np.full(cells.shape[1], np.nan)
    discrimination[~np.all(np.isnan(cells), axis=0)] = fit(usable, own_slopes=True, centre=centre).slopes
    return discrimination


# ---- a short form ----------------------------------------------------------------------------------------------


def choose_questions(scale: QuestionScale, size: int) -> npt.NDArray[np.intp]:
    """Return the questions that together say most about the abilities of these models, in the order of the choice.

    Each adds what it tells about every model to what the ones before it tell, and the sum of the logarithms counts: a
    question that tells about models of whom little is known is worth more than one about the others.
    """
    ability = scale.ability[~np.isnan(scale.ability)]
    p = expit((ability - scale.difficulty[:, None]) / _widened(scale.uncertainty)[:, None])
    told, known = p * (1 - p), np.full(len(ability), 0.5)
    chosen, free = [], np.ones(len(told), dtype=bool)
    for _ in range(min(size, len(told))):
        gains = np.where(free, np.log1p(told / known).sum(axis=1), -np.inf)
        chosen.append(int(gains.argmax()))
        free[chosen[-1]], known = False, known + told[chosen[-1]]
    return np.array(chosen, dtype=np.intp)


def _widened(uncertainty: Floats) -> Floats:
    """Return by what a logit is divided where the difficulty is uncertain: the logistic curve becomes flatter."""
    return np.sqrt(1 + (np.pi / 8) * uncertainty**2)


def predict_credit(scale: QuestionScale, answers: Floats, asked: npt.NDArray[np.intp]) -> float:
    """Return the share of all questions that a model will answer correctly, from its answers to those `asked`."""
    difficulty, width = scale.difficulty[asked], _widened(scale.uncertainty[asked])
    there = ~np.isnan(answers)
    answers, difficulty, width = answers[there], difficulty[there], width[there]
    known = scale.ability[~np.isnan(scale.ability)]
    centre, precision = float(known.mean()), 1 / max(0.5, float(known.std())) ** 2
    ability = centre
    for _ in range(50):  # Newton's method; the prior is that the model is one like the others
        p = expit((ability - difficulty) / width)
        gradient = ((answers - p) / width).sum() - precision * (ability - centre)
        ability += float(np.clip(gradient / ((p * (1 - p) / width**2).sum() + precision), -1, 1))
    return float(expit((ability - scale.difficulty) / _widened(scale.uncertainty)).mean())


def expit(logits: Floats) -> Floats:
    """Return 1 / (1 + e^-x), also where e^-x is too large."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -logits)))
