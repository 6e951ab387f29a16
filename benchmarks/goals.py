"""What Mores must not be slower than: every goal with what this machine measures, in one table.

    python benchmarks/goals.py                            # some minutes; part of `make bench`
    python benchmarks/goals.py --only start,board         # some of start, board and score

Seconds are of the CPU, user and system, of whole processes: other programs change them less than the clock's. The load
of the machine stands under the table.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import board
import score

STARTS = {
    "mores --help": ("-m", "mores", "--help"),
    "mores score --help": ("-m", "mores", "score", "--help"),
    "mores bench --help": ("-m", "mores", "bench", "--help"),
    "first call from Python": ("-c", "import mores; mores.score(['A text.'], model='fake:clean')"),
    "language_name('en')": ("-c", "from mores.culture import language_name; language_name('en')"),
}
TEXTS = 30_000


class Measured(NamedTuple):
    """A figure and its goal."""

    what: str
    value: float
    unit: str
    goal: float
    more_is_better: bool = False

    @property
    def is_met(self) -> bool:
        """Whether it is as good as the goal, or better."""
        return self.value >= self.goal if self.more_is_better else self.value <= self.goal


def start(*arguments: str, **environment: str) -> tuple[float, float]:
    """Return the CPU seconds and the peak MB of a process."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(
        [sys.executable, *arguments], env=inherited | environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def starts(folder: Path) -> Iterator[Measured]:
    """Yield what a start takes: the least of five, after one that may compile."""
    for what, arguments in STARTS.items():
        seconds = min([start(*arguments, MORES_CACHE=str(folder))[0] for _ in range(6)][1:])
        yield Measured(what, seconds, "s", 0.2)
    plain = start("-c", "pass")[1]
    compiling = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": str(folder / "nothing")}
    taken = start(*STARTS["language_name('en')"], **compiling)[1]
    yield Measured("language_name('en') without bytecode, beside Python", taken - plain, "MB", 10)


def boards(folder: Path) -> Iterator[Measured]:
    """Yield what a board of 200 runs takes."""
    for name, seconds in board.measure(folder, 200, 2000).items():
        yield Measured(f"mores board, 200 runs × 2,000, {name}", seconds, "s", board.GOALS[name])


def scores(folder: Path) -> Iterator[Measured]:
    """Yield how fast texts are judged by a judge that answers at once, and what is left to do afterwards."""
    score.write_texts(folder / "texts.jsonl", TEXTS)
    spent = score.measure(score.ROOT / "src", folder / "texts.jsonl", folder)
    what = f"mores score, {TEXTS:,} texts"
    yield Measured(what, TEXTS / spent["cpu"], "texts/s", score.GOAL, more_is_better=True)
    yield Measured(f"{what}, after the last call, with a page of 2,000", spent["after"], "s", 2.0)


PARTS = {"start": starts, "board": boards, "score": scores}


def main() -> None:
    """Measure each part and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PARTS))
    options = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"{'':<64}{'now':>10}{'goal':>10}")
    for name in options.only.split(","):
        with tempfile.TemporaryDirectory() as folder:
            for each in PARTS[name](Path(folder)):
                value, goal = (f"{number:,.3g}" if number < 100 else f"{number:,.0f}" for number in each[1:4:2])
                print(f"{each.what:<64}{value:>10}{goal:>10} {each.unit:<8}{'' if each.is_met else 'not reached'}")
    print(f"load of the machine: {load:.1f} before, {os.getloadavg()[0]:.1f} after, {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
