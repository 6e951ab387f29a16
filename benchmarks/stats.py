"""Speed and memory of the statistics, as ratios measured in one run where there is something to compare with.

    python benchmarks/stats.py                      # a table, in a few minutes
    python benchmarks/stats.py --pairs 200000       # fewer pairs for the pair-by-pair reference
    python benchmarks/stats.py --save               # and writes results/peers/ties.json

Made-up scores: people count minor and major errors, so that many pairs are tied; the metric adds noise to the sum.
Times are the best of three, the reference's that of one run. SciPy is needed for one of the rows.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import peers

import mores
from mores.stats.agreement import krippendorff_alpha
from mores.stats.correlation import kendall_tau_b
from mores.stats.resampling import compare_means, resample_sums
from mores.stats.ties import calibrate_ties

Floats = npt.NDArray[np.float64]
PAIRS, SYSTEMS, ONE_GROUP, SAMPLES = 2_000_000, 15, 8_000, 40_000


class Compared(NamedTuple):
    """The same work by Mores and by something else."""

    work: str
    seconds: float
    other: float

    def cells(self) -> list[str]:
        return [self.work, f"{self.seconds:.3f}", f"{self.other:.3f}", f"{self.other / self.seconds:.1f}×"]


def score(count: int) -> tuple[Floats, Floats]:
    """People's and a metric's scores, the same for the same count."""
    rng = np.random.default_rng(count)
    people = -(rng.poisson(0.6, count) + 5.0 * rng.poisson(0.3, count))
    return people, people + rng.normal(0, 2, count)


def calibrate_pair_by_pair(human: list[float], metric: list[float], groups: list[int]) -> tuple[float, float]:
    """The reference: best accuracy and its ε, as the paper describes it, in plain Python."""
    members: dict[int, list[tuple[float, float]]] = {}
    for people, machine, group in zip(human, metric, groups, strict=True):
        members.setdefault(group, []).append((people, machine))
    steps: list[tuple[float, float]] = []
    total = 0.0
    for samples in members.values():
        weight = 2 / (len(samples) * (len(samples) - 1) * len(members))
        for (h1, m1), (h2, m2) in combinations(samples, 2):
            alike = (h1 < h2 and m1 < m2) or (h1 > h2 and m1 > m2)
            total += weight * alike
            steps.append((abs(m1 - m2), weight if h1 == h2 else -weight * alike))
    return walk(sorted(steps), total)


def walk(steps: list[tuple[float, float]], total: float) -> tuple[float, float]:
    """Raise ε gap by gap; pairs of the same gap become ties together."""
    best, epsilon = total, 0.0
    for place, (gap, step) in enumerate(steps):
        total += step
        whole = place + 1 == len(steps) or steps[place + 1][0] != gap
        if whole and (total > best or gap == 0):
            best, epsilon = total, gap
    return best, epsilon


def clock(work: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    """The least seconds that the work took, and what it gave."""
    timings: list[tuple[float, Any]] = []
    for _ in range(times):
        started = time.perf_counter()
        result = work()
        timings.append((time.perf_counter() - started, result))
    return min(timings, key=lambda timing: timing[0])


def compare_with_reference(name: str, sizes: npt.NDArray[np.int64]) -> Compared:
    """One row: groups of these sizes, against the pair-by-pair reference, whose best accuracy must be the same."""
    groups = np.repeat(np.arange(sizes.size), sizes)
    human, metric = score(groups.size)
    seconds, ours = clock(lambda: calibrate_ties(human, metric, groups))
    values = human.tolist(), metric.tolist(), groups.tolist()
    reference, (accuracy, _) = clock(lambda: calibrate_pair_by_pair(*values), 1)
    if abs(ours.accuracy - accuracy) > 1e-9:
        raise SystemExit(f"{name}: accuracy {ours.accuracy}, but pair by pair {accuracy}")
    return Compared(f"tie calibration, {ours.pairs:,} pairs, {name}", seconds, reference)


def shapes(pairs: int) -> dict[str, npt.NDArray[np.int64]]:
    """About so many pairs, in groups of different kinds."""
    each = SYSTEMS * (SYSTEMS - 1) // 2
    ragged = np.random.default_rng(0).integers(2, 200, max(1, pairs // 6_600))
    return {
        f"groups of {SYSTEMS}": np.full(max(1, round(pairs / each)), SYSTEMS),
        "one group": np.array([round((2 * pairs) ** 0.5)]),
        "groups of 2 to 199": ragged,
    }


def compare_kendall(count: int) -> list[str]:
    """One row: tau-b against SciPy's."""
    human, metric = score(count)
    seconds, ours = clock(lambda: kendall_tau_b(human, metric))
    name = f"Kendall's tau-b, {count:,} samples"
    try:
        from scipy.stats import kendalltau  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return [name, f"{seconds:.3f}", "SciPy is not installed"]
    theirs, result = clock(lambda: kendalltau(human, metric).statistic)
    if abs(ours - result) > 1e-12:
        raise SystemExit(f"{name}: {ours}, but SciPy {result}")
    return Compared(f"{name}; SciPy", seconds, theirs).cells()


def compare_alpha(units: int) -> list[list[str]]:
    """Rows of Krippendorff's ordinal α of three raters on a slider: against the package krippendorff on few units, and
    on many, where the memory of that package would be units × values²."""
    import krippendorff

    rng = np.random.default_rng(0)
    slides = np.round(rng.normal(50, 20, units * 10) + rng.normal(0, 8, (3, units * 10)), 3)
    few = np.round(slides[:, :300])
    seconds, ours = clock(lambda: krippendorff_alpha(few, "ordinal"))
    theirs, result = clock(lambda: krippendorff.alpha(few, level_of_measurement="ordinal"))
    if ours is None or abs(ours - result) > 1e-9:
        raise SystemExit(f"Krippendorff's α: {ours}, but the package krippendorff {result}")
    rows = [Compared(f"Krippendorff's α, {len(np.unique(few))} values; krippendorff", seconds, theirs).cells()]
    for count in (units, units * 10):
        chosen = slides[:, :count]
        seconds, _ = clock(lambda chosen=chosen: krippendorff_alpha(chosen, "ordinal"))  # type: ignore[misc]
        rows.append([f"Krippendorff's α, {chosen.size:,} ratings, {len(np.unique(chosen)):,} values", f"{seconds:.3f}"])
    return rows


def time_resampling(count: int) -> list[list[str]]:
    """Rows of the permutation test and of resampling, 1,000 each."""
    first, second = score(count)
    test, _ = clock(lambda: compare_means(first, second, permutations=1000))
    drawn, _ = clock(lambda: resample_sums(first[:, None], resamples=1000))
    return [
        [f"permutation test of means, 1,000 × {count:,} samples", f"{test:.3f}"],
        [f"resampled sums, 1,000 × {count:,} samples", f"{drawn:.3f}"],
    ]


def measure_one_group(count: int) -> dict[str, float]:
    """Calibrate one group, once, in this process."""
    human, metric = score(count)
    before = _peak_mb()
    seconds, _ = clock(lambda: calibrate_ties(human, metric), 1)
    return {"seconds": seconds, "peak_mb": _peak_mb(), "before_mb": before}


def start_one_group(count: int) -> list[str]:
    """One row, from a separate process, so that the memory is that of this work."""
    command = [sys.executable, __file__, "--one-group", str(count)]
    measured = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    memory = f"peak {measured['peak_mb']:,.0f} MB, of which {measured['before_mb']:,.0f} before"
    pairs = count * (count - 1) // 2
    return [f"tie calibration, {pairs:,} pairs, one group", f"{measured['seconds']:.3f}", "", "", memory]


def save(rows: Sequence[Compared]) -> None:
    """Write the results file of tie calibration."""
    figures = {f"s, {row.work.partition(', ')[2]}": {"Mores": row.seconds, "pair by pair": row.other} for row in rows}
    versions = {"Mores": mores.__version__, "NumPy": np.__version__}
    peers.save("ties", "Tie calibration; the same accuracy", versions, figures)


def _peak_mb() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / 1e6 if sys.platform == "darwin" else used * 1024 / 1e6


def print_table(lines: Sequence[Sequence[str]]) -> None:
    """The first column to the left, the others to the right."""
    widths = [max(len(line[i]) for line in lines if i < len(line)) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip())


def main() -> None:
    """Measure everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=PAIRS, help="of the comparison (default: %(default)s)")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="of the other tests (default: %(default)s)")
    parser.add_argument("--save", action="store_true", help="write the results file and the table of README.md")
    parser.add_argument("--one-group", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one_group:
        print(json.dumps(measure_one_group(options.one_group)))
        return
    # First, while this process is small: a new process starts with the peak of the one that it came from.
    lines = [["", "seconds", "other's", "ratio", "memory"], start_one_group(ONE_GROUP)]
    compared = [compare_with_reference(name, sizes) for name, sizes in shapes(options.pairs).items()]
    lines += [row.cells() for row in compared]
    lines += [compare_kendall(options.samples), *time_resampling(options.samples), *compare_alpha(10_000)]
    print_table(lines)
    if options.save:
        save(compared)


if __name__ == "__main__":
    main()
