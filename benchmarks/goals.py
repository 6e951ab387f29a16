"""What Mores must not be slower than: every goal with what this machine measures, in one table.

    python benchmarks/goals.py                            # half an hour; part of `make bench`
    python benchmarks/goals.py --only start,board         # some of the parts
    python benchmarks/goals.py --save                     # and writes results/goals.json and the table of README.md

The parts are start, board, score, calls, serve, factory, ray and judge. Seconds are of the CPU, user and system, of
whole processes: other programs change them less than the clock's. Where a goal is set by another program, both do the
same work several times in turn, and the ratio is the median of the rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import board
import engine
import score
import verdicts

FOLDER = Path(__file__).parent
RESULTS, README = FOLDER / "results" / "goals.json", FOLDER / "README.md"
HEAD, END = "<!-- goals: written by goals.py -->\n", "<!-- /goals -->"
STARTS = {
    "mores --help": ("-m", "mores", "--help"),
    "mores score --help": ("-m", "mores", "score", "--help"),
    "mores bench --help": ("-m", "mores", "bench", "--help"),
    "first call from Python": ("-c", "import mores; mores.score(['A text.'], model='fake:clean')"),
    "language_name('en')": ("-c", "from mores.culture import language_name; language_name('en')"),
}
TEXTS = 300_000
ROUNDS = 7
LOADS = {
    "200 ms": engine.Load(12_000, 200, 200.0),
    "5 ms": engine.Load(12_000, 200, 5.0),
    "300 words": engine.Load(4000, 200, 200.0, 300),
}
ITEMS, GROWN = 20_000, (40_000, 80_000)


class Measured(NamedTuple):
    """A figure and its goal."""

    what: str
    value: float
    unit: str
    goal: float
    more_is_better: bool = False
    beside: str = ""
    """What was measured beside it, with the version of the other program."""

    @property
    def is_met(self) -> bool:
        """Whether it is as good as the goal, or better."""
        return self.value >= self.goal if self.more_is_better else self.value <= self.goal


def start(*arguments: str, **environment: str) -> tuple[float, float]:
    """Return the CPU seconds and the peak MB of a process."""
    process = subprocess.Popen(
        [sys.executable, *arguments], env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
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
    stored = sum(path.stat().st_size for path in (folder / "cache").glob("responses.db*"))
    yield Measured(f"{what}, its answers in the store", stored / TEXTS / 1000, "KB a text", 0.6)


def calls(folder: Path) -> Iterator[Measured]:
    """Yield the CPU and the rate of calls beside bare aiohttp, which keeps nothing."""
    arena = engine.Arena(folder, None)
    rounds = {
        delay: [[arena.measure(name, load) for name in ("mores", "aiohttp")] for _ in range(ROUNDS)]
        for delay, load in LOADS.items()
    }
    peer = f"aiohttp {version('aiohttp')}"
    for delay, answer in ("200 ms", "20 words"), ("300 words", "300 words"):
        cpu = [[row.cpu_ms_per_call for row in rows if isinstance(row, engine.Row)] for rows in rounds[delay]]
        beside = f"{median(ours for ours, _ in cpu):.3f} ms; {peer}: {median(theirs for _, theirs in cpu):.3f}"
        what = f"CPU of a call, 200 at once, 200 ms, answers of {answer}, as a multiple of aiohttp's"
        yield Measured(what, median(ours / theirs for ours, theirs in cpu), "×", 1.3, beside=beside)
    rates = [[row.calls_per_s for row in rows if isinstance(row, engine.Row)] for rows in rounds["5 ms"]]
    beside = f"{median(ours for ours, _ in rates):,.0f}/s; {peer}: {median(theirs for _, theirs in rates):,.0f}"
    share = 100 * median(ours / theirs for ours, theirs in rates)
    yield Measured("calls/s, 200 at once, 5 ms, as a share of aiohttp's", share, "%", 85, True, beside)


def services(_folder: Path) -> Iterator[Measured]:
    """Yield how fast the service is for 32 clients, beside bare FastAPI."""
    rounds = [
        {row["way"]: row for row in _run_json("serve.py", "--texts", "8192", "--connections", "32", "--json")["rows"]}
        for _ in range(ROUNDS)
    ]
    ours, bare = ([each[way] for each in rounds] for way in ("one by one", "bare FastAPI"))
    share = 100 * median(a["texts_per_s"] / b["texts_per_s"] for a, b in zip(ours, bare, strict=True))
    rates, late = ([median(row[name] for row in rows) for rows in (ours, bare)] for name in ("texts_per_s", "p99_ms"))
    peer = f"FastAPI {version('fastapi')}, uvicorn {version('uvicorn')}"
    beside = f"{rates[0]:,.0f}/s, 99% within {late[0]:.0f} ms; {peer}: {rates[1]:,.0f}, {late[1]:.0f} ms"
    yield Measured("mores serve, 32 clients, texts/s as a share of bare FastAPI's", share, "%", 70, True, beside)


def factories(_folder: Path) -> Iterator[Measured]:
    """Yield what the data factory takes for an item, and how its memory grows."""
    some, few, many = (_run_json("factory.py", "--one", str(items)) for items in (ITEMS, *GROWN))
    yield Measured(f"mores build, {ITEMS:,} items, CPU of an item", 1000 * some["cpu"] / ITEMS, "ms", 2.0)
    growth = 1000 * (many["peak_mb"] - few["peak_mb"]) / (GROWN[1] - GROWN[0])
    beside = f"at most {few['peak_mb']:,.0f} MB for {GROWN[0]:,}, {many['peak_mb']:,.0f} MB for {GROWN[1]:,}"
    yield Measured(f"mores build, {GROWN[1]:,} items, memory of a further item", growth, "KB", 1.0, beside=beside)


def clusters(_folder: Path) -> Iterator[Measured]:
    """Yield how fast one command hands out texts on Ray, beside Ray Data."""
    settings = ("--rows", "20000", "--delay", "0", "--workers", "2", "--data", "256", "--rounds", str(ROUNDS))
    rows = {row["name"]: row for row in _run_json("ray_workers.py", *settings, "--only-ray", "--json")}
    ours, alone, data = (rows[name]["per_second"] for name in ("2 workers", "workers alone", "Ray Data, 256"))
    beside = f"without engine and store: {alone:,.0f}; Ray Data {version('ray')}, batches of 256: {data:,.0f}"
    yield Measured("mores score --ray, 2 workers, a judge that answers at once", ours, "texts/s", 5000, True, beside)


def judges(_folder: Path) -> Iterator[Measured]:
    """Yield how fast the small judge is on texts with evidence, beside what it was."""
    judged = verdicts.measure("embedded", 32, verdicts.BEFORE)
    before, now = judged.values()
    beside = f"{32 / now.cpu:.2f} texts a second; before: {32 / before.cpu:.2f}; "
    beside += verdicts.compare(before.errors, now.errors)
    what = f"embedded judge, texts with evidence, as a multiple of {verdicts.BEFORE}"
    yield Measured(what, before.cpu / now.cpu, "×", 2, more_is_better=True, beside=beside)


PARTS: dict[str, Callable[[Path], Iterator[Measured]]] = {
    "start": starts,
    "board": boards,
    "score": scores,
    "calls": calls,
    "serve": services,
    "factory": factories,
    "ray": clusters,
    "judge": judges,
}


def _run_json(script: str, *arguments: str) -> Any:
    command = [sys.executable, str(FOLDER / script), *arguments]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def table(parts: dict[str, Any]) -> str:
    """Return the table of README.md, and when and where each part was measured."""
    lines = ["", "| what | now | goal | | beside |", "| --- | ---: | ---: | --- | --- |"]
    places = dict[str, list[str]]()
    for name in PARTS:
        if part := parts.get(name):
            for row in map(Measured._make, part["rows"]):
                met = "met" if row.is_met else "not met"
                most = "≥" if row.more_is_better else "≤"
                now, goal = f"{show(row.value)} {row.unit}", f"{most} {show(row.goal)}"
                lines.append(f"| {row.what} | {now} | {goal} | {met} | {row.beside} |")
            places.setdefault(part["where"], []).append(f"{name} (load {part['load'][0]} to {part['load'][1]})")
    lines += ["", *(f"Measured on {where}: {', '.join(names)}." for where, names in places.items())]
    return "\n".join(lines) + "\n"


def show(value: float) -> str:
    """Return three digits, or all of a whole number."""
    return f"{value:,.3g}" if value < 100 else f"{value:,.0f}"


def save(parts: dict[str, Any]) -> None:
    """Keep what was measured with the other parts, and write the table."""
    known = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps(known | parts, indent=1, ensure_ascii=False) + "\n", "utf-8")
    before, _, rest = README.read_text("utf-8").partition(HEAD)
    README.write_text(before + HEAD + table(known | parts) + END + rest.partition(END)[2], "utf-8")


def main() -> None:
    """Measure each part and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--save", action="store_true", help="write the results file and the table of README.md")
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # who installs Mores has bytecode
    print(f"{'':<68}{'now':>10}{'goal':>10}")
    parts = {}
    for name in options.only.split(","):
        load, rows = [round(os.getloadavg()[0], 1)], []
        with tempfile.TemporaryDirectory() as folder:
            for each in PARTS[name](Path(folder)):
                rows.append(each)
                met = "" if each.is_met else "not reached"
                print(f"{each.what:<68}{show(each.value):>10}{show(each.goal):>10} {each.unit:<9} {met}", flush=True)
                if each.beside:
                    print(f"    {each.beside}", flush=True)
        load.append(round(os.getloadavg()[0], 1))
        machine = engine.machine()
        where = (
            f"{time.strftime('%Y-%m-%d')}, {machine['system']}, {machine['cores']} cores, Python {machine['python']}"
        )
        parts[name] = {"where": where, "load": load, "rows": rows}
    print(f"load of the machine: {load[0]} before the last part, {load[1]} after, {os.cpu_count()} cores")
    if options.save:
        save(parts)


if __name__ == "__main__":
    main()
