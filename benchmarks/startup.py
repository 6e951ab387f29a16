"""How long a command takes to show its help, against other commands and against Python itself.

    python benchmarks/startup.py                   # 15 starts of each, in turn
    python benchmarks/startup.py --save            # and writes results/peers/startup.json
    pip install lm_eval inspect-ai                 # the peers; without them their rows are missing

Every start is a new process. The first of each is not counted: it may have to compile. CPU is user and system time;
both are medians.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import NamedTuple

import peers

import mores

STARTS = 15
GOAL_MS = 150


class Start(NamedTuple):
    """One process from its start to its end."""

    wall_ms: float
    cpu_ms: float


def commands() -> dict[str, tuple[str, list[str]]]:
    """What is started, with its version; only what is installed beside this Python."""
    there: dict[str, tuple[str, list[str]]] = {"Mores": (mores.__version__, [sys.executable, "-m", "mores", "--help"])}
    for name, package, program in (("lm_eval", "lm-eval", "lm_eval"), ("inspect", "inspect-ai", "inspect")):
        path = Path(sys.executable).with_name(program)
        try:
            there[name] = (version(package), [str(path), "--help"])
        except PackageNotFoundError:
            print(f"{name} is not installed", file=sys.stderr)
    there["python -c pass"] = ("", [sys.executable, "-c", "pass"])
    return there


def start(command: Sequence[str]) -> Start:
    """Run one command and throw away what it prints."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return Start(1000 * wall, 1000 * (used.ru_utime + used.ru_stime))


def main() -> None:
    """Start everything in turn, so that what else the machine does meets all alike."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=STARTS, help="of each command (default: %(default)s)")
    parser.add_argument("--save", action="store_true", help="write the results file and the table of README.md")
    options = parser.parse_args()
    there = commands()
    rounds = [{name: start(command) for name, (_, command) in there.items()} for _ in range(options.starts + 1)][1:]
    wall = {name: median(each[name].wall_ms for each in rounds) for name in there}
    cpu = {name: median(each[name].cpu_ms for each in rounds) for name in there}
    print(f"{'':<16}{'wall ms':>9}{'ratio':>8}{'CPU ms':>9}{'ratio':>8}")
    for name in there:
        ratios = wall[name] / wall["Mores"], cpu[name] / cpu["Mores"]
        print(f"{name:<16}{wall[name]:>9.0f}{ratios[0]:>7.2f}×{cpu[name]:>9.0f}{ratios[1]:>7.2f}×")
    print(
        f"mores --help: {wall['Mores']:.0f} ms, goal under {GOAL_MS}: {'pass' if wall['Mores'] < GOAL_MS else 'FAIL'}"
    )
    if options.save:
        versions = {name: number for name, (number, _) in there.items()}
        peers.save("startup", "Start-up: the command shows its help", versions, {"wall ms": wall, "CPU ms": cpu})


if __name__ == "__main__":
    main()
