"""Confidence intervals of proportions and of their differences, at 95%."""

from __future__ import annotations

from math import sqrt

Z95 = 1.959963984540054
"""The 97.5% quantile of the standard normal distribution."""


def wilson(k: int, n: int) -> tuple[float, float]:
    """Wilson's score interval of the proportion k/n; (0, 1), that is nothing known, when n is 0.

    With p = k/n: (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n), without continuity correction.
    E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927), 209-212;
    method 3 of R. G. Newcombe, Statistics in Medicine 17 (1998), 857-872.
    """
    if not 0 <= k <= n:
        raise ValueError(f"{k} of {n} is no proportion; expected 0 <= k <= n")
    if n == 0:
        return 0.0, 1.0
    p = k / n
    scale = 1 + Z95**2 / n
    centre = (p + Z95**2 / (2 * n)) / scale
    half = Z95 * sqrt(p * (1 - p) / n + Z95**2 / (4 * n**2)) / scale
    # At the ends the bound is 0 or 1 exactly, and rounding must not hide it.
    return (0.0 if k == 0 else centre - half), (1.0 if k == n else centre + half)


def newcombe(k1: int, n1: int, k2: int, n2: int) -> tuple[float, float]:
    """Newcombe's hybrid score interval of k1/n1 - k2/n2, two independent proportions; (-1, 1) when n1 or n2 is 0.

    With p, l, u of each proportion from `wilson`: from d - √((p1-l1)² + (u2-p2)²) to d + √((u1-p1)² + (p2-l2)²).
    Method 10 of R. G. Newcombe, Interval estimation for the difference between independent proportions,
    Statistics in Medicine 17 (1998), 873-890.
    """
    (low1, high1), (low2, high2) = wilson(k1, n1), wilson(k2, n2)
    if n1 == 0 or n2 == 0:
        return -1.0, 1.0
    p1, p2 = k1 / n1, k2 / n2
    low = p1 - p2 - sqrt((p1 - low1) ** 2 + (high2 - p2) ** 2)
    high = p1 - p2 + sqrt((high1 - p1) ** 2 + (p2 - low2) ** 2)
    return low, high
