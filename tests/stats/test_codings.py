"""Agreement on sets of codes, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from mores.stats.agreement import krippendorff_alpha
from mores.stats.codings import Codes, masi_alpha, masi_distance

NONE: Codes = frozenset()
A, B, AB, BC = frozenset("a"), frozenset("b"), frozenset("ab"), frozenset("bc")


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [
        (A, A, 0.0),
        (NONE, NONE, 0.0),
        (A, B, 1.0),
        (A, NONE, 1.0),
        (A, AB, 1 - 1 / 2 * 2 / 3),
        (AB, BC, 1 - 1 / 3 * 1 / 3),
    ],
)
def test_masi_by_hand(first: Codes, second: Codes, distance: float) -> None:
    assert masi_distance(first, second) == pytest.approx(distance)
    assert masi_distance(second, first) == pytest.approx(distance)


def test_alpha_by_hand() -> None:
    """Units (a, a), (a, ab) and (b, b): one pair differs, by 2/3, and a, ab and b were given 3, 1 and 2 times."""
    agreement = masi_alpha([[A, A], [A, AB], [B, B], [B]])
    assert agreement
    expected = 2 * (3 * 1 * 2 / 3 + 3 * 2 * 1 + 1 * 2 * 2 / 3)
    assert agreement.alpha == pytest.approx(1 - 5 * 2 * (2 / 3) / expected)
    assert agreement.units == 3
    assert -1 <= agreement.low < agreement.alpha < agreement.high <= 1


def test_single_codes_are_nominal_values() -> None:
    first, second = "aabbcacb", "aabacabb"
    agreement = masi_alpha([[frozenset(x), frozenset(y)] for x, y in zip(first, second, strict=True)])
    assert agreement
    assert agreement.alpha == pytest.approx(krippendorff_alpha([list(first), list(second)]))


def test_random_codes_agree_by_chance() -> None:
    rng = np.random.default_rng(0)
    draws = rng.random((3000, 2, 4)) < 0.3
    units = [[frozenset(np.flatnonzero(row).astype(str).tolist()) for row in unit] for unit in draws]
    agreement = masi_alpha(units, resamples=100)
    assert agreement
    assert agreement.alpha == pytest.approx(0, abs=0.03)


def test_undefined_where_nothing_varies() -> None:
    assert masi_alpha([[A, A], [A, A]]) is None
    assert masi_alpha([[A, B]]) is None
    assert masi_alpha([[A], [B]]) is None
