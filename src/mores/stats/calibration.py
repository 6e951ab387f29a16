"""Calibration: confidence against whether an answer is correct.

Confidence is a probability from 0 to 1, and each answer is correct (1, True) or not. Without answers the scores are
None, and the bins of a curve are empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mores.stats.classification import Bools, Floats, ratios
from mores.stats.intervals import Interval, drawn_interval, ratio_interval, share_interval
from mores.stats.resampling import RESAMPLES, Indices, blocks, group_codes, percentiles
from mores.stats.selective import ConfidenceCells, Ranked, area, auroc, selective, selective_interval
from mores.types import Result

BINS = 10
CONFIDENT = 0.9
"""From this confidence on, an answer counts as confident."""
HALF = 0.5
ECE, CHANCE, BRIER, CONFIDENCE, ACCURACY = "ECE", "ECE by chance", "Brier", "confidence", "accuracy"
GAP, AT_90, AUROC = "overconfidence", "accuracy at 90+", "AUROC"
AT_HALF, GAIN, AREA = "accuracy at half coverage", "gain at half coverage", "area under selective accuracy"
FIGURES = (ECE, BRIER, CONFIDENCE, ACCURACY, GAP, AT_90, AUROC, AT_HALF, GAIN, AREA, CHANCE)


class Bin(NamedTuple):
    """The answers whose confidence is in [low, high); the last bin has its high, too."""

    low: float
    high: float
    n: int
    confidence: float | None
    """Mean confidence; None in an empty bin."""
    accuracy: float | None
    """Share of correct answers; None in an empty bin."""
    interval: Interval
    """95% interval of the accuracy; (0, 1) in an empty bin."""


def reliability_curve(
    confidence: npt.ArrayLike, correct: npt.ArrayLike, bins: int = BINS, *, groups: npt.ArrayLike | None = None
) -> list[Bin]:
    """Return confidence and accuracy of each of the equally wide bins, empty ones included.

    Answers of a group, such as those to one question, depend on each other.
    A. Niculescu-Mizil and R. Caruana, Predicting good probabilities with supervised learning, ICML 2005, section 4.
    """
    confidences, answers = _answers(confidence, correct)
    edges, bin_of = _edges(bins).tolist(), _bins_of(confidences, bins)
    counts = np.bincount(bin_of, minlength=bins).tolist()
    sums = np.bincount(bin_of, weights=confidences, minlength=bins).tolist()
    hits = np.bincount(bin_of, weights=answers, minlength=bins).astype(int).tolist()
    intervals = [share_interval(k, n) for k, n in zip(hits, counts, strict=True)]
    if groups is not None:
        codes, inside = group_codes(groups, confidences.size), [bin_of == index for index in range(bins)]
        by_group = ((np.bincount(codes[mask], weights=answers[mask]), np.bincount(codes[mask])) for mask in inside)
        intervals = [ratio_interval(*parts) for parts in by_group]
    return [
        Bin(low, high, n, total / n if n else None, k / n if n else None, interval)
        for low, high, n, total, k, interval in zip(edges[:-1], edges[1:], counts, sums, hits, intervals, strict=True)
    ]


def _answers(confidence: npt.ArrayLike, correct: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return both as checked arrays of numbers."""
    confidences, answers = np.asarray(confidence, dtype=np.float64), np.asarray(correct, dtype=np.float64)
    if confidences.ndim != 1 or confidences.shape != answers.shape:
        raise ValueError(
            f"{confidences.size} confidences and {answers.size} answers; give two lists, one of each per answer"
        )
    if np.isnan(confidences).any():
        raise ValueError("a confidence is missing; exclude the answers without one, and report how many")
    if ((confidences < 0) | (confidences > 1)).any():
        wrong = confidences[(confidences < 0) | (confidences > 1)][0]
        raise ValueError(f"confidence {wrong:g} is not from 0 to 1; divide percentages by 100")
    if not np.isin(answers, (0, 1)).all():
        raise ValueError("an answer is neither correct (1, True) nor wrong (0, False); exclude unjudged answers")
    return confidences, answers


def _edges(bins: int) -> Floats:
    if bins < 1:
        raise ValueError(f"{bins} bins; give at least 1")
    # Divided, not multiplied by a step: 3/10 is the very number that 0.3 is, and 3 * 0.1 is not.
    return np.arange(bins + 1) / bins


def _bins_of(confidence: Floats, bins: int) -> Indices:
    """Return the bin of each confidence."""
    return np.minimum(np.searchsorted(_edges(bins), confidence, side="right") - 1, bins - 1)


# -- all figures, with intervals by question ---------------------------------------------------------------


def confidence_results(cells: ConfidenceCells, unscored: int = 0) -> dict[str, Result]:
    """Return every figure with its interval; ECE is in percentage points."""
    n = int(cells.n.sum())
    if not n:
        return {name: Result(name=name, value=None, unscored=unscored) for name in FIGURES}
    values = {name: float(value[0]) for name, value in measure(cells.unweighted()).items()}
    chance = _error_by_chance(cells)
    intervals = _intervals(cells, values, percentiles(chance)[1])
    results = {
        name: Result(name=name, value=None if undefined else value, low=low, high=high, n=n, unscored=unscored)
        for name, value in values.items()
        for undefined in [np.isnan(value)]
        for low, high in [(None, None) if undefined else intervals[name]]
    }
    results[AT_90] = results[AT_90].model_copy(update={"n": int(cells.n[cells.confidence >= CONFIDENT].sum())})
    low, high = percentiles(chance)
    results[CHANCE] = Result(name=CHANCE, value=float(chance.mean()), low=low, high=high, n=n, unscored=unscored)
    return results


def measure(samples: Ranked) -> dict[str, Floats]:
    """Return every figure of every sample; nan where it is undefined."""
    confidences, n, hits = samples
    total = n.sum(axis=1)
    covered, correct = samples.thresholds()
    top = np.where(confidences >= CONFIDENT, 1.0, 0.0)
    confidence, accuracy = (n @ confidences) / total, hits.sum(axis=1) / total
    half = selective(covered, correct, HALF)
    return {
        ECE: _calibration_errors(samples),
        BRIER: _brier_scores(samples),
        CONFIDENCE: confidence,
        ACCURACY: accuracy,
        GAP: confidence - accuracy,
        AT_90: ratios(hits @ top, n @ top),
        AUROC: auroc(covered, correct),
        AT_HALF: half,
        GAIN: half - accuracy,
        AREA: area(covered, correct),
    }


def _calibration_errors(samples: Ranked) -> Floats:
    """Return ECE = Σ_b (n_b/N) |accuracy_b - confidence_b| over equally wide bins, in percentage points.

    M. Pakdaman Naeini et al., Obtaining well calibrated probabilities using Bayesian binning, AAAI 2015;
    C. Guo et al., On calibration of modern neural networks, ICML 2017, Eq. 3. A confidence on the border of two bins
    is in the upper one, and 1 in the last, as in MSQA; Guo et al. put borders into the lower one.
    """
    # n_b |mean difference| is |sum of differences|, so that no bin needs dividing, not even an empty one.
    gaps = (samples.hits - samples.n * samples.confidence) @ np.eye(BINS)[_bins_of(samples.confidence, BINS)]
    errors: Floats = ratios(100 * np.abs(gaps).sum(axis=1), samples.n.sum(axis=1))
    return errors


def _brier_scores(samples: Ranked) -> Floats:
    """Return the mean of (confidence - correct)²: 0 is best, 0.25 is a constant confidence of 0.5.

    G. W. Brier, Verification of forecasts expressed in terms of probability, Monthly Weather Review 78 (1950), 1-3,
    whose sum over both outcomes is twice this, the usual form for two.
    """
    confidences, n, hits = samples
    scores: Floats = (n @ confidences**2 - 2 * (hits @ confidences) + hits.sum(axis=1)) / n.sum(axis=1)
    return scores


def _intervals(cells: ConfidenceCells, value: Mapping[str, float], chance: float) -> dict[str, Interval]:
    """Return intervals of shares and means by question; of other figures with the variance of resampled questions.

    The units of AUROC are the rarer of correct and wrong answers. The gain plus a half is the share of all units
    that are correct in the more confident half or wrong in the other; the area weights the most confident answers most,
    which amounts to half of them (the mean of ln² is 2).
    """
    samples = [measure(block) for block in cells.resamples()]
    resampled = {name: np.concatenate([sample[name] for sample in samples]) for name in value}
    confidences, n, hits, half = cells.confidence, cells.n, cells.hits, cells.units / 2
    rarer = cells.units * min(value[ACCURACY], 1 - value[ACCURACY])
    everywhere, top = np.ones_like(confidences, dtype=np.bool_), confidences >= CONFIDENT
    low, high = _mean(cells, (n * (1 + confidences) - hits) / 2, everywhere)
    return {
        ECE: _error_interval(value[ECE], resampled[ECE], chance, cells.units),
        BRIER: _mean(cells, n * confidences**2 - 2 * hits * confidences + hits, everywhere),
        CONFIDENCE: _mean(cells, n * confidences, everywhere),
        ACCURACY: _mean(cells, hits, everywhere),
        GAP: (2 * low - 1, 2 * high - 1),
        AT_90: _mean(cells, hits, top),
        AUROC: drawn_interval(value[AUROC], resampled[AUROC], rarer),
        AT_HALF: selective_interval(cells, HALF),
        GAIN: drawn_interval(value[GAIN], resampled[GAIN], cells.units, least=-0.5, most=0.5),
        AREA: drawn_interval(value[AREA], resampled[AREA], half),
    }


def _mean(cells: ConfidenceCells, sums: Floats, mask: Bools) -> Interval:
    """Return the interval of the mean of values from 0 to 1 over the answers in some cells, given their sum in each."""
    return ratio_interval(*(np.bincount(cells.unit[mask], weights=part[mask]) for part in (sums, cells.n)))


def _error_interval(value: float, resampled: Floats, chance: float, units: int) -> Interval:
    """Return the interval of the calibration error without what noise adds: a resample contains that once more.

    The low end is 0 where a perfectly calibrated model would show as large an error by chance.
    """
    noise = float(resampled.mean()) - value
    low, high = drawn_interval(float(np.clip(value - noise, 0.0, 100.0)), resampled, units, most=100.0)
    return 0.0 if value <= chance else min(low, value), max(high, value)


def _error_by_chance(cells: ConfidenceCells) -> Floats:
    """Draw of the ECE of a perfectly calibrated model; answers to a question are drawn together."""
    rng, errors = np.random.default_rng(0), []
    for start, stop in blocks(RESAMPLES, len(cells.confidence)):
        luck = rng.random((stop - start, cells.units))[:, cells.unit]
        n = np.broadcast_to(cells.n, luck.shape)
        errors.append(_calibration_errors(cells.ranked(n, n * (luck < cells.confidence))))
    return np.concatenate(errors)
