"""Drift: the change of a person's ratings from their first to their last, after what was rated.

    result = fit(Model("rating", ("model*type",), ("language/annotator",)), data)
    drifts = annotator_drift(result, data["annotator"], data["order"])
    [(drift.annotator, drift.change, drift.adjusted_p) for drift in drifts.people]

Each person gets a slope of their own beside the effects of the fitted model, all at once (see `joint`): the change of
the latent value from the first rating to the last, by rank of time. Positive is growing lenient. Tests and intervals
are Wald's with Student's t of two less than the person's ratings; `adjusted_p` holds the false discovery rate over
people (Benjamini and Hochberg).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from scipy.stats import rankdata, t

from mores.stats.classification import vector
from mores.stats.intervals import TAIL
from mores.stats.mixed import Fit
from mores.stats.mixed.design import Codes, Floats
from mores.stats.raters.joint import Joint, join, maximise
from mores.stats.raters.severity import expected_ratings
from mores.stats.resampling import adjust_p_values

FEWEST = 8
"""Ratings of a person below which no slope is estimated."""


@dataclass(frozen=True, slots=True)
class Drift:
    """Of one person, or of everybody; positive is growing lenient."""

    annotator: object | None
    """None for everybody together."""
    ratings: int
    change: float | None
    """Of the latent value from the first rating to the last; None with too few ratings."""
    low: float | None
    high: float | None
    p: float | None
    adjusted_p: float | None
    points: float | None
    """The same change in points of the scale, on the answers that the person rated; None also for names."""


@dataclass(frozen=True, slots=True)
class Drifts:
    """Of all people, and of everybody together with one slope."""

    people: tuple[Drift, ...]
    everybody: Drift


@dataclass(frozen=True, slots=True)
class Slopes:
    """Of each group of rows on a column, beside the effects of a model."""

    estimates: Floats
    errors: Floats
    joint: Joint
    point: Floats
    """All unknowns of the model with these slopes."""


def annotator_drift(result: Fit, annotators: Sequence[object], order: npt.ArrayLike) -> Drifts:
    """Return the drift of each person, in order of appearance.

    `order` is the time or the place of each rating in its person's work, one number for each row of the model.
    """
    times = vector(order, "order", finite=True)
    people = list(dict.fromkeys(annotators))
    codes = np.array([people.index(name) for name in annotators], dtype=np.intp)
    if not len(codes) == len(times) == len(result.design.response.codes):
        rows = len(result.design.response.codes)
        raise ValueError(f"{len(codes)} annotators and {len(times)} times; expected one of each for {rows} ratings")
    progress = progress_of(codes, times, len(people))
    counts = np.bincount(codes, minlength=len(people))
    enough = np.array([counts[n] >= FEWEST and progress[codes == n].any() for n in range(len(people))])
    everybody = Drift(None, len(codes), None, None, None, None, None, None)
    if len(codes) >= FEWEST and progress.any():
        (everybody,) = describe(result, person_slopes(result, np.zeros_like(codes), progress), [None], [codes >= 0])
    kept = np.flatnonzero(enough).tolist()
    known: dict[int, Drift] = {}
    if kept:
        columns = np.where(enough[codes], np.searchsorted(kept, codes), -1)
        slopes = person_slopes(result, columns, progress)
        known = dict(
            zip(kept, describe(result, slopes, [people[n] for n in kept], [codes == n for n in kept]), strict=True)
        )
    return Drifts(
        people=tuple(
            known.get(n, Drift(name, int(counts[n]), None, None, None, None, None, None))
            for n, name in enumerate(people)
        ),
        everybody=everybody,
    )


def progress_of(codes: Codes, times: Floats, people: int) -> Floats:
    """Return -1/2 for a person's first rating to 1/2 for the last, by rank; 0 where all are at one time."""
    progress = np.zeros(len(times))
    for person in range(people):
        rows = codes == person
        ranks = rankdata(times[rows])
        if np.ptp(ranks) > 0:
            progress[rows] = (ranks - ranks.min()) / np.ptp(ranks) - 0.5
    return progress


def person_slopes(result: Fit, columns: Codes, values: Floats) -> Slopes:
    """Return one slope on the values for each group of rows; rows of the group -1 have none."""
    rows = np.flatnonzero(columns >= 0)
    shape = len(columns), int(columns.max()) + 1
    joint = join(result, csr_matrix((values[rows], (rows, columns[rows])), shape))
    point, covariances = maximise(joint)
    extras = joint.extras
    return Slopes(point[extras], np.sqrt(np.diag(covariances)[extras]), joint, point)


def describe(
    result: Fit, slopes: Slopes, names: Sequence[object | None], rows: Sequence[npt.NDArray[np.bool_]]
) -> list[Drift]:
    counts = np.array([mask.sum() for mask in rows])
    reach = slopes.errors * t.isf(TAIL, counts - 2)
    p = 2 * t.sf(np.abs(slopes.estimates / slopes.errors), counts - 2)
    adjusted = adjust_p_values(p)
    return [
        Drift(
            annotator=name,
            ratings=int(counts[n]),
            change=float(slope),
            low=float(slope - reach[n]),
            high=float(slope + reach[n]),
            p=float(p[n]),
            adjusted_p=float(adjusted[n]),
            points=in_points(result, slopes, mask, float(slope)),
        )
        for n, (name, mask, slope) in enumerate(zip(names, rows, slopes.estimates, strict=True))
    ]


def in_points(result: Fit, slopes: Slopes, rows: npt.NDArray[np.bool_], change: float) -> float | None:
    """Return how much higher these rows' mean rating would be at the end than at the beginning; None for names."""
    levels = result.design.response.levels
    if not all(isinstance(level, int | float | np.number) for level in levels):
        return None
    joint, still = slopes.joint, slopes.point.copy()
    still[joint.extras] = 0.0
    m, values = joint.predictor(still)[rows], np.array(levels, dtype=np.float64)
    thresholds = slopes.point[: joint.cuts]
    late, early = (expected_ratings(values, thresholds, m + sign * change / 2).mean() for sign in (1, -1))
    return float(late - early)
