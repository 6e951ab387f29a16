"""Figures of confidence and correctness, for the answers themselves and for every resample of the questions at once.

Answers with the same confidence to the same question are one cell. A resample is then a weight for each question, and
every figure is computed for many resamples together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mores.diagnose.draws import RESAMPLES, bounds, draw_counts, number
from mores.stats.calibration import BINS
from mores.stats.classification import Bools, Floats, ratios
from mores.stats.intervals import Z95, drawn_interval, limits, ratio_interval, ratio_moments
from mores.types import Result

SURE = 0.9
"""From here on a model is called sure."""
HALF = 0.5
ECE, CHANCE, BRIER, CONFIDENCE, ACCURACY = "ECE", "ECE by chance", "Brier", "confidence", "accuracy"
GAP, SURELY, AUROC = "overconfidence", "accuracy at 90+", "AUROC"
AT_HALF, GAIN, AREA = "accuracy at half coverage", "gain at half coverage", "area under selective accuracy"
FIGURES = (ECE, BRIER, CONFIDENCE, ACCURACY, GAP, SURELY, AUROC, AT_HALF, GAIN, AREA, CHANCE)

Indices = npt.NDArray[np.intp]
Sample = dict[str, Floats]
Interval = tuple[float | None, float | None]


class Cells(NamedTuple):
    """Answers by confidence, the surest first, and question."""

    sure: Floats
    n: Floats
    hits: Floats
    unit: Indices
    units: int

    def whole(self) -> Ranked:
        """The answers themselves."""
        return self.weighted(np.ones((1, self.units)))

    def weighted(self, times: Floats) -> Ranked:
        """The answers of resamples, given how often each question is drawn."""
        each = times[:, self.unit]
        return self.ranked(each * self.n, each * self.hits)

    def ranked(self, n: Floats, hits: Floats) -> Ranked:
        """Samples × cells, put together by confidence."""
        starts = np.flatnonzero(np.concatenate(([True], self.sure[1:] != self.sure[:-1])))
        together = (np.add.reduceat(own, starts, axis=1) for own in (n, hits))
        return Ranked(self.sure[starts], *together)

    def resamples(self) -> Iterator[Ranked]:
        """Blocks of resamples of the questions."""
        return map(self.weighted, draw_counts(self.units, width=len(self.sure)))


class Ranked(NamedTuple):
    """Samples × confidences, the highest first: how many answers, and how many right ones."""

    sure: Floats
    n: Floats
    hits: Floats

    def thresholds(self) -> tuple[Floats, Floats]:
        """Answers, and right ones, that are at least so sure, for every confidence; from none of them on."""
        tops = (np.cumsum(own, axis=1) for own in (self.n, self.hits))
        covered, right = (np.concatenate((np.zeros((len(own), 1)), own), axis=1) for own in tops)
        return covered, right


def make_cells(sure: Floats, right: Bools, unit: Indices) -> Cells:
    """The cells of answers; `unit` may have any numbers."""
    codes = np.unique(unit, return_inverse=True)[1].ravel()
    keys, place = np.unique(np.stack([-sure, codes], axis=1), axis=0, return_inverse=True)
    place = place.ravel()
    hits: Floats = np.bincount(place, weights=right.astype(np.float64), minlength=len(keys)).astype(np.float64)
    n = np.bincount(place, minlength=len(keys)).astype(np.float64)
    return Cells(-keys[:, 0], n, hits, keys[:, 1].astype(np.intp), int(codes.max(initial=-1)) + 1)


# ---- figures ---------------------------------------------------------------------------------------------------


def figures(cells: Cells, unscored: int) -> dict[str, Result]:
    """Every figure with its interval."""
    n = int(cells.n.sum())
    if not n:
        return {name: Result(name=name, value=None, unscored=unscored) for name in FIGURES}
    value = {name: float(own[0]) for name, own in measure(cells.whole()).items()}
    chance = _chance(cells, n, unscored)
    intervals = _intervals(cells, value, chance)
    found = {
        name: Result(name=name, value=number(own), low=low, high=high, n=n, unscored=unscored)
        for name, own in value.items()
        for low, high in (intervals[name] if not np.isnan(own) else (None, None),)
    }
    found[SURELY] = found[SURELY].model_copy(update={"n": int(cells.n[cells.sure >= SURE].sum())})
    return found | {CHANCE: chance}


def _intervals(cells: Cells, value: Mapping[str, float], chance: Result) -> dict[str, Interval]:
    """Of shares and means by question; of the others with the variance of resampled questions.

    AUROC rests on the rarer of right and wrong answers, and the gain of the surer half on that half; the area weighs
    the surest answers most, which comes to half of them too (the mean of ln² is 2).
    """
    blocks = [measure(one) for one in cells.resamples()]
    drawn = {name: np.concatenate([block[name] for block in blocks]) for name in value}
    sure, n, hits, half = cells.sure, cells.n, cells.hits, cells.units / 2
    rarer = cells.units * min(value[ACCURACY], 1 - value[ACCURACY])
    low, high = _mean(cells, (n * (1 + sure) - hits) / 2)
    return {
        ECE: _error_interval(value[ECE], drawn[ECE], chance, cells.units),
        BRIER: _mean(cells, n * sure**2 - 2 * hits * sure + hits),
        CONFIDENCE: _mean(cells, n * sure),
        ACCURACY: _share(cells, np.ones_like(sure, dtype=np.bool_)),
        GAP: (2 * low - 1, 2 * high - 1),
        SURELY: _share(cells, sure >= SURE),
        AUROC: drawn_interval(value[AUROC], drawn[AUROC], rarer),
        AT_HALF: selective_interval(cells, HALF),
        GAIN: drawn_interval(value[GAIN], drawn[GAIN], half, least=-1.0),
        AREA: drawn_interval(value[AREA], drawn[AREA], half),
    }


def measure(ranked: Ranked) -> Sample:
    """Every figure of every sample; ECE is in percentage points, nan is what is not defined."""
    sure, n, hits = ranked
    total, right = n.sum(axis=1), hits.sum(axis=1)
    covered, correct = ranked.thresholds()
    top = np.where(sure >= SURE, 1.0, 0.0)
    confidence, accuracy = (n @ sure) / total, right / total
    half = selective(covered, correct, HALF)
    return {
        ECE: ece(ranked),
        BRIER: (n @ sure**2 - 2 * (hits @ sure) + right) / total,
        CONFIDENCE: confidence,
        ACCURACY: accuracy,
        GAP: confidence - accuracy,
        SURELY: ratios(hits @ top, n @ top),
        AUROC: auroc(covered, correct),
        AT_HALF: half,
        GAIN: half - accuracy,
        AREA: area(covered, correct),
    }


def ece(ranked: Ranked) -> Floats:
    """Expected calibration error in percentage points: ten bins, a border in the upper one, and 1 in the last."""
    gaps = (ranked.hits - ranked.n * ranked.sure) @ np.eye(BINS)[bins_of(ranked.sure)]
    found: Floats = 100 * np.abs(gaps).sum(axis=1) / ranked.n.sum(axis=1)
    return found


def bins_of(sure: Floats) -> Indices:
    """The bin of each confidence."""
    return np.minimum(np.searchsorted(np.arange(BINS + 1) / BINS, sure, side="right") - 1, BINS - 1)


def auroc(covered: Floats, correct: Floats) -> Floats:
    """How often a right answer is surer than a wrong one; a tie counts one half."""
    right, wrong = np.diff(correct, axis=1), np.diff(covered - correct, axis=1)
    wrongs = (covered - correct)[:, -1:]
    below = wrongs - (covered - correct)[:, 1:] + wrong / 2
    return ratios((right * below).sum(axis=1), correct[:, -1] * wrongs[:, 0])


def selective(covered: Floats, correct: Floats, coverage: float) -> Floats:
    """The accuracy of the surest share of the answers; of equally sure ones, a random part is taken."""
    wanted = coverage * covered[:, -1]
    after = np.maximum((covered < wanted[:, None] - 1e-9).sum(axis=1), 1)
    row = np.arange(len(covered))
    start, end = covered[row, after - 1], covered[row, after]
    first, last = correct[row, after - 1], correct[row, after]
    hits = first + (last - first) * ratios(wanted - start, end - start)
    return ratios(hits, wanted)


def selective_interval(cells: Cells, coverage: float) -> tuple[float, float]:
    """Of the accuracy of the surest share of the answers, where the cut-off is uncertain as well as the accuracy.

    In other samples of the questions this cut-off covers another share: c within d = 1.96 standard errors. Where many
    answers have the same confidence, just above it they may be far better than just below, and resampled values lean
    to one side. So the end is the farthest of those of all cut-offs c, where a cut-off that is f of d away leaves
    √(1 - f²) of the interval's side: both errors together are as far as one of them alone may be.
    """
    whole = cells.whole()
    covered = whole.thresholds()[0][0]
    reach = Z95 * np.sqrt(coverage * (1 - coverage) / cells.units)
    edges = covered[1:] / covered[-1]
    edges = edges[np.abs(edges - coverage) < reach]
    cuts = np.concatenate([coverage + reach * np.linspace(-1, 1, 17), edges[:: 1 + len(edges) // 16]])
    cuts = cuts[(cuts > 0) & (cuts <= 1)]
    taken = np.clip((cuts[:, None] * covered[-1] - covered[:-1]) / np.diff(covered), 0, 1)
    weights = taken[:, np.searchsorted(-whole.sure, -cells.sure)]
    hits, n = (
        np.array([np.bincount(cells.unit, weights=own * weight) for weight in weights], dtype=np.float64)
        for own in (cells.hits, cells.n)
    )
    value, variance, units = ratio_moments(hits, n, n)
    low, high = limits(value, variance, units)
    side = np.sqrt(np.maximum(0.0, 1 - ((cuts - coverage) / reach) ** 2)) if reach else 1.0
    return float((value - side * (value - low)).min()), float((value + side * (high - value)).max())


def area(covered: Floats, correct: Floats) -> Floats:
    """The mean of the selective accuracy over all coverages, exactly: hits grow linearly among equally sure answers.

    Between coverages a and b the accuracy is (h + r (t - a)) / t, whose integral is r (b - a) + (h - r a) ln(b / a).
    """
    a, b, h = covered[:, :-1], covered[:, 1:], correct[:, :-1]
    rate = np.nan_to_num(ratios(np.diff(correct, axis=1), b - a))
    logs = np.log(np.divide(b, a, out=np.ones_like(b), where=a > 0))
    found: Floats = (rate * (b - a) + (h - rate * a) * logs).sum(axis=1) / covered[:, -1]
    return found


def _error_interval(value: float, drawn: Floats, chance: Result, units: int) -> Interval:
    """Of the calibration error, without the part that noise adds: a resample contains that part once more.

    The low end is 0 where a perfectly calibrated model would show as large an error by chance.
    """
    noise = float(drawn.mean()) - value
    low, high = drawn_interval(float(np.clip(value - noise, 0.0, 100.0)), drawn, units, most=100.0)
    by_chance = chance.high is not None and value <= chance.high
    return 0.0 if by_chance else min(low, value), max(high, value)


def _chance(cells: Cells, n: int, unscored: int) -> Result:
    """What ECE a model has by chance that is right exactly as often as it says; answers to a question go together."""
    rng = np.random.default_rng(0)
    step = max(1, 2_000_000 // len(cells.sure))
    rows = (min(step, RESAMPLES - start) for start in range(0, RESAMPLES, step))
    found = np.concatenate([ece(_honest(cells, rng.random((own, cells.units)))) for own in rows])
    low, high = bounds(found)
    return Result(name=CHANCE, value=float(found.mean()), low=low, high=high, n=n, unscored=unscored)


def _honest(cells: Cells, luck: Floats) -> Ranked:
    n = np.broadcast_to(cells.n, (len(luck), len(cells.n)))
    return cells.ranked(n, n * (luck[:, cells.unit] < cells.sure))


def _mean(cells: Cells, sums: Floats) -> tuple[float, float]:
    """Of the mean of values from 0 to 1 over all answers, given their sum in each cell."""
    return ratio_interval(*(np.bincount(cells.unit, weights=own) for own in (sums, cells.n)))


def _share(cells: Cells, some: Bools) -> Interval:
    """Of the share of right answers in some of the cells; nothing where they have none."""
    if not some.any():
        return None, None
    return ratio_interval(*(np.bincount(cells.unit[some], weights=own[some]) for own in (cells.hits, cells.n)))


# ---- plots -----------------------------------------------------------------------------------------------------


def curve(cells: Cells, coverages: Floats) -> Mapping[str, Floats]:
    """The selective accuracy at each coverage, with its interval and the least confidence that is answered."""
    covered, correct = cells.whole().thresholds()
    levels = cells.whole().sure
    place = np.maximum((covered[0] < coverages[:, None] * covered[0, -1] - 1e-9).sum(axis=1), 1) - 1
    value = np.concatenate([selective(covered, correct, share) for share in coverages])
    low, high = np.array([selective_interval(cells, share) for share in coverages]).T
    return {"accuracy": value, "low": low, "high": high, "threshold": levels[place]}


def bin_intervals(cells: Cells) -> list[Interval]:
    """Intervals of the accuracy in each bin."""
    place = bins_of(cells.sure)
    return [_share(cells, place == bin_) for bin_ in range(BINS)]
