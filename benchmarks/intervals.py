"""How often the intervals that Mores prints hold the truth, and how wide they are beside the best known alternative.

    python benchmarks/intervals.py --samples 400 --out benchmarks/results/intervals.jsonl

A line for each setting: coverage and mean width of ours and of the alternative. docs/meta.md has the table.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy.stats import norm, t

from mores.stats.influence import kendall_b, pearson
from mores.stats.intervals import mean_interval, share_interval
from mores.stats.mixed import MixedModel, fit_linear, raw_mean

Ends = tuple[float, float]
Z = float(norm.isf(0.025))


def wilson(k: float, n: float) -> Ends:
    """Return Wilson's interval of k of n, which need not be whole."""
    share, half = k / n, Z * np.sqrt(k / n * (1 - k / n) / n + Z**2 / (4 * n**2))
    return (share + Z**2 / (2 * n) - half) / (1 + Z**2 / n), (share + Z**2 / (2 * n) + half) / (1 + Z**2 / n)


def deflated(right: np.ndarray, each: int) -> Ends:
    """Return Wilson's interval with the design effect of questions with `each` answers."""
    n, share = len(right) * each, right.sum() / (len(right) * each)
    binomial = share * (1 - share) / n
    effect = right.var(ddof=1) / each**2 / len(right) / binomial if binomial else 1.0
    effect = float(np.clip(effect, 1.0, each))
    return wilson(right.sum() / effect, n / effect)


def shares(rng: np.random.Generator, samples: int) -> Iterator[tuple[str, list[Ends], list[Ends], float]]:
    """Yield single answers, and five answers to each of 20 questions: independent, identical, and rarely all wrong."""
    for share in (0.02, 0.5):
        counts = rng.binomial(100, share, samples)
        yield (
            f"share of 100 answers, {share}",
            [share_interval(int(k), 100) for k in counts],
            [wilson(k, 100) for k in counts],
            share,
        )
    for name in ("independent", "identical", "rarely all wrong"):
        chance = {"independent": np.full((samples, 20), 0.02)}.get(name, (rng.random((samples, 20)) < 0.02) * 1.0)
        mixed = np.where(chance > 0, 1.0, 0.005) if name == "rarely all wrong" else chance
        right = rng.binomial(5, mixed).astype(float)
        truth = 0.02 if name != "rarely all wrong" else 0.02 + 0.98 * 0.005
        groups = np.repeat(np.arange(20), 5)
        ours = [mean_interval(np.repeat(row / 5, 5), groups=groups) for row in right]
        yield f"5 {name} answers to 20 questions, {truth:.3f}", ours, [deflated(row, 5) for row in right], truth


def correlations(rng: np.random.Generator, samples: int) -> Iterator[tuple[str, list[Ends], list[Ends], float]]:
    """Yield τ and r of 20 and 60 items, against the percentile bootstrap."""
    kinds: dict[str, Callable[..., object]] = {"τ": kendall_b, "r": pearson}
    for name, statistic in kinds.items():
        for items, noise in ((20, 0.3), (20, 1.5), (60, 0.3)):
            x = rng.normal(size=(samples, items))
            y = x + rng.normal(0, noise, x.shape)
            large = rng.normal(size=3000)
            truth = statistic(large, large + rng.normal(0, noise, 3000)).value  # type: ignore[attr-defined]
            found = [statistic(a, b) for a, b in zip(x, y, strict=True)]
            ours = [each.interval() for each in found]  # type: ignore[attr-defined]
            other = []
            for a, b in zip(x, y, strict=True):
                redrawn = [statistic(a[rows], b[rows]) for rows in rng.integers(0, items, (100, items))]
                drawn = [each.value for each in redrawn if each is not None]  # type: ignore[attr-defined]
                other.append(tuple(np.quantile(drawn, [0.025, 0.975])))
            yield f"{name} = {truth:.2f} of {items} items", ours, other, truth


def ratings(rng: np.random.Generator, samples: int) -> Iterator[tuple[str, list[Ends], list[Ends], float]]:
    """Yield means over raters and questions, against those that know every variance."""
    for raters, spread in ((3, 0.5), (10, 0.5), (10, 0.1)):
        ours, other = [], []
        rows = [(r, q) for r in range(raters) for q in range(30)]
        columns = {"r": [f"r{r}" for r, _ in rows], "q": [f"q{q}" for _, q in rows]}
        for _ in range(samples):
            person, question = rng.normal(0, spread, raters), rng.normal(0, 0.5, 30)
            y = np.array([3 + person[r] + question[q] for r, q in rows]) + rng.normal(0, 0.8, len(rows))
            fitted = fit_linear(MixedModel("rating", (), ("r", "q")), columns | {"rating": y.tolist()})
            variance, df = raw_mean(fitted, np.ones(len(y), dtype=bool))
            half = float(t.isf(0.025, df)) * np.sqrt(variance)
            ours.append((y.mean() - half, y.mean() + half))
            known = float(t.isf(0.025, raters - 1)) * np.sqrt(spread**2 / raters + 0.25 / 30 + 0.64 / len(y))
            other.append((y.mean() - known, y.mean() + known))
        yield f"mean of {raters} raters (SD {spread}) and 30 questions", ours, other, 3.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    lines = []
    for family in (shares, correlations, ratings):
        for name, ours, other, truth in family(np.random.default_rng(0), given.samples):
            row: dict[str, object] = {"setting": name, "samples": given.samples}
            for which, ends in (("ours", ours), ("other", other)):
                low, high = np.array(ends).T
                row[f"{which}_coverage"] = round(float(((low <= truth) & (truth <= high)).mean()), 3)
                row[f"{which}_width"] = round(float((high - low).mean()), 3)
            lines.append(json.dumps(row, ensure_ascii=False))
            print(lines[-1], flush=True)
    if given.out:
        given.out.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
