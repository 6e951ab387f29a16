"""Paired permutation tests, resamples and adjusted p-values.

Samples of one source item are not independent: pass `groups`, one label per sample, and whole groups are swapped
or drawn. The same seed gives the same result. None without samples.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mores.stats.classification import Floats, same_length, vector

Indices = npt.NDArray[np.intp]
Swaps = npt.NDArray[np.uint8]

EXACT_UNITS = 12
"""Up to this many samples (or groups), all swaps are enumerated, whatever number is requested."""
RESAMPLES = 1000
BLOCK_CELLS = 2_000_000
"""Random cells that are held at once."""
ROUNDING = 1e-13
"""Differences closer than this share of the values' size are equal: the order of a sum must not decide a test."""


@dataclass(frozen=True)
class PermutationTest:
    """A paired permutation test."""

    difference: float
    """The first's statistic minus the second's."""
    p_value: float
    """Two-sided."""
    permutations: int
    """How many were examined."""
    exact: bool
    """Whether these were all possible ones."""


# -- permutation tests -------------------------------------------------------------------------------------


def compare_means(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    groups: npt.ArrayLike | None = None,
    permutations: int = 1000,
    seed: int = 0,
) -> PermutationTest | None:
    """Test whether two paired lists have the same mean, by swapping their values at random: Σ ±(first - second).

    Per-sample values may be anything that is averaged, such as 1 for a correct verdict and 0 for a wrong one. The
    p-value is the share of swaps whose |difference| is at least the observed: of all 2ⁿ where they are few, else
    (1 + count) / (1 + permutations), which is never 0.
    E. W. Noreen, Computer-Intensive Methods for Testing Hypotheses (1989); B. Phipson and G. K. Smyth, Statistical
    Applications in Genetics and Molecular Biology 9 (2010), 39, for the added 1.
    """
    pair = paired_gaps(first, second, groups)
    return compare_gaps([pair], permutations=permutations, seed=seed)[0] if pair.samples else None


class PairedGaps(NamedTuple):
    """Two paired lists, as far as a permutation test needs them."""

    gaps: Floats
    """The sum of first - second of each group; of each sample without groups."""
    size: float
    """Of the values: their absolute sum."""
    samples: int


def paired_gaps(first: npt.ArrayLike, second: npt.ArrayLike, groups: npt.ArrayLike | None = None) -> PairedGaps:
    """Return the gaps of two paired lists."""
    a, b = vector(first, "first", finite=True), vector(second, "second", finite=True)
    same_length(first=a, second=b)
    gaps = np.bincount(group_codes(groups, a.size), weights=a - b).astype(np.float64)
    return PairedGaps(gaps, float(np.abs(a).sum() + np.abs(b).sum()), a.size)


def compare_gaps(pairs: Sequence[PairedGaps], *, permutations: int = 1000, seed: int = 0) -> list[PermutationTest]:
    """Return `compare_means` of many pairs that have samples; those with as many groups share their swaps."""
    of_size, tests = defaultdict[int, list[int]](list), dict[int, PermutationTest]()
    for place, pair in enumerate(pairs):
        of_size[pair.gaps.size].append(place)
    for size, places in of_size.items():
        gaps = np.stack([pairs[place].gaps for place in places], axis=1)
        totals = np.array([float(pairs[place].gaps.sum()) for place in places])
        bars = np.abs(totals) - ROUNDING * np.array([pairs[place].size for place in places])
        # Sums of whole numbers are exact in half the memory, and fast.
        whole = bool((gaps == np.rint(gaps)).all()) and float(np.abs(gaps).sum(axis=0).max()) < 2**24
        number: type[np.floating[Any]] = np.float32 if whole else np.float64
        extreme, columns = np.zeros(len(places), dtype=np.intp), gaps.astype(number)
        for swaps in draw_swaps(size, permutations, seed):
            sums = np.matmul(swaps.astype(number), columns).astype(np.float64)
            extreme += np.count_nonzero(np.abs(totals - 2 * sums) >= bars, axis=0)
        exact = enumerates(size, permutations)
        for place, total, count in zip(places, totals.tolist(), extreme.tolist(), strict=True):
            p = count / 2**size if exact else (1 + count) / (1 + permutations)
            examined = 2**size if exact else permutations
            tests[place] = PermutationTest(total / pairs[place].samples, p, examined, exact)
    return [tests[place] for place in range(len(pairs))]


def enumerates(units: int, permutations: int) -> bool:
    """Return whether there are few enough swaps to enumerate them."""
    return units <= EXACT_UNITS or 2**units <= permutations


def draw_swaps(units: int, permutations: int, seed: int) -> Iterator[Swaps]:
    """Yield blocks of rows of 0 and 1 (swap), a column per unit: all 2ⁿ rows where `enumerates`, else random ones."""
    if permutations < 1:
        raise ValueError(f"permutations is {permutations}; expected at least 1, better 1000")
    rng, columns = np.random.default_rng(seed), np.arange(units)
    exact = enumerates(units, permutations)
    count = 2**units if exact else permutations
    for start, stop in blocks(count, units):
        if exact:
            yield (np.arange(start, stop)[:, None] >> columns & 1).astype(np.uint8)
        else:
            packed = rng.integers(0, 256, size=(stop - start, -(-units // 8)), dtype=np.uint8)
            yield np.unpackbits(packed, axis=1, count=units)


def compare_with_whole(
    groups: Sequence[Floats], others: Floats, *, permutations: int = 1000, seed: int = 0
) -> list[float]:
    """Return, for each group, the p-value that a random group of its size is as far from the mean of the whole.

    The whole is all groups and the `others`, samples that are in none of them.
    """
    combined, sizes = np.concatenate([*groups, others]), np.array([len(group) for group in groups])
    rng, starts, extreme = np.random.default_rng(seed), np.cumsum(sizes) - sizes, np.zeros(len(sizes))
    observed = np.array([abs(group.mean() - combined.mean()) for group in groups]) - 1e-12
    for start, stop in blocks(permutations, len(combined)):
        mixed = rng.permuted(np.tile(combined, (stop - start, 1)), axis=1)[:, : sizes.sum()]
        means = np.add.reduceat(mixed, starts, axis=1) / sizes
        extreme += (np.abs(means - combined.mean()) >= observed).sum(axis=0)
    return [float(p) for p in (1 + extreme) / (1 + permutations)]


# -- bootstrap ---------------------------------------------------------------------------------------------


def resample_sums(
    values: npt.NDArray[np.float64],
    *,
    groups: npt.ArrayLike | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Floats:
    """Sum the columns of samples × columns in each resample: all that statistics of counts and means need."""
    codes = group_codes(groups, len(values))
    sums = np.stack([np.bincount(codes, weights=column) for column in values.T])
    draws = _draw_units(sums.shape[1], resamples, seed)
    return np.concatenate(
        [np.stack([column[units_drawn].sum(axis=1) for column in sums], axis=1) for units_drawn in draws]
    )


def draw_counts(units: int, *, resamples: int = RESAMPLES, seed: int = 0, width: int = 1) -> Iterator[Floats]:
    """Yield resamples × units in blocks: how often each unit is drawn; a resample later holds `width` cells."""
    for units_drawn in _draw_units(units, resamples, seed, width):
        cells = units_drawn + np.arange(len(units_drawn))[:, None] * units
        yield np.bincount(cells.ravel(), minlength=units_drawn.size).reshape(units_drawn.shape).astype(np.float64)


def _draw_units(units: int, resamples: int, seed: int, width: int = 1) -> Iterator[Indices]:
    """Yield blocks of resamples, one per row."""
    if resamples < 1:
        raise ValueError(f"resamples is {resamples}; expected at least 1, better 1000")
    rng = np.random.default_rng(seed)
    for start, stop in blocks(resamples, max(units, width)):
        yield rng.integers(0, units, size=(stop - start, units), dtype=np.intp)


def percentiles(values: Floats, confidence: float = 0.95, units: float = np.inf) -> tuple[float, float]:
    """Return the interval of a statistic's resampled values, of those that are defined.

    With few `units` resampled values are less spread than the statistic: their quantiles are then those that give the
    mean of a sample Student's interval (T. C. Hesterberg, The American Statistician 69 (2015), 371-386).
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence:g}; expected a share between 0 and 1, such as 0.95")
    tail = (1 - confidence) / 2
    if np.isfinite(units):
        from scipy.special import ndtr, stdtrit  # half a second

        n = max(units, 2.0)
        tail = float(ndtr(stdtrit(n - 1, tail) * np.sqrt(n / (n - 1))))
    low, high = np.quantile(values[~np.isnan(values)], [tail, 1 - tail])
    return float(low), float(high)


# -- many tests --------------------------------------------------------------------------------------------


def adjust_p_values(p_values: npt.ArrayLike) -> Floats:
    """Return Benjamini and Hochberg's adjusted p-values: those <= q keep the false discovery rate <= q.

    With p sorted and m of them: the least of p_j · m / j over j >= i, at most 1.
    Y. Benjamini and Y. Hochberg, Journal of the Royal Statistical Society B 57 (1995), 289-300.
    """
    array = vector(p_values, "p_values")
    wrong = (array < 0) | (array > 1)
    if wrong.any():
        index = int(np.argmax(wrong))
        raise ValueError(f"p_values[{index}] is {array[index]:g}; expected a number from 0 to 1")
    order = np.argsort(-array, kind="stable")
    ranks = np.arange(array.size, 0, -1)
    adjusted = np.empty_like(array)
    adjusted[order] = np.minimum(np.minimum.accumulate(array[order] * array.size / ranks), 1.0)
    return adjusted


# -- groups and blocks -------------------------------------------------------------------------------------


def group_codes(groups: npt.ArrayLike | None, count: int) -> Indices:
    """Return each sample's group as a number from 0; without groups every sample is its own."""
    if groups is None:
        return np.arange(count)
    array = np.asarray(groups)
    if array.ndim != 1 or array.size != count:
        raise ValueError(f"groups: shape {array.shape}, but there are {count} samples; expected one label per sample")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise ValueError(f"groups[{int(np.argmax(np.isnan(array)))}] is nan; give that sample a group or leave it out")
    try:
        return np.unique(array, return_inverse=True)[1]
    except TypeError as error:
        raise ValueError(f"groups: labels of one kind are needed, all strings or all numbers ({error})") from None


def blocks(rows: int, columns: int) -> Iterator[tuple[int, int]]:
    """Return ranges of rows that hold at most `BLOCK_CELLS` cells together, or one row."""
    step = max(1, BLOCK_CELLS // max(1, columns))
    return ((start, min(start + step, rows)) for start in range(0, rows, step))
