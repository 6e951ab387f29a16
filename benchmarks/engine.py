"""Speed and memory of the engine against its peers, as ratios measured in one run on loopback.

    python benchmarks/engine.py                    # 20,000 calls, 200 connections, 200 ms: a table
    python benchmarks/engine.py --only mores,aiohttp --json
    python benchmarks/engine.py --words 300        # answers as long as those of a chat
    python benchmarks/engine.py --million          # a million calls, then the same again from the store
    python benchmarks/engine.py --save             # and writes results/peers/calls.json

Every contestant makes the same calls to the same kind of server (see `stub.py`), one after the other, each in a
process of its own (see `contestants.py`). See README.md for what is counted, and `whole.py` for whole evaluations.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import contestants
import peers
import stub
from contestants import CONTESTANTS, Plan

CALLS, CONNECTIONS, LATENCY_MS, MILLION = 20_000, 200, 200.0, 1_000_000


@dataclass(frozen=True)
class Load:
    """What every contestant has to do."""

    calls: int
    connections: int
    latency_ms: float
    words: int = stub.WORDS
    """Of every answer."""

    @property
    def ideal_rate(self) -> float | None:
        """Calls per second when every connection always waits for an answer."""
        return self.connections / self.latency_ms * 1000 if self.latency_ms else None


@dataclass(frozen=True)
class Row:
    """One contestant's measurement; the times are those of the calls, without imports."""

    name: str
    title: str
    version: str
    calls: int
    good: int
    """Answers that arrived whole."""
    cached: int
    """Those that came from the store."""
    requests: int
    """What the server counted."""
    most_at_once: int
    """Most requests that waited in the server together; 0 without latency."""
    wall_s: float
    calls_per_s: float
    share_of_ideal: float | None
    cpu_ms_per_call: float
    peak_mb: float
    others_cores: float | None
    """Cores that the rest of the machine used meanwhile; None where /proc/stat does not tell."""


@dataclass(frozen=True)
class Missing:
    """A contestant that is not here."""

    name: str
    title: str
    installed: bool = False


@dataclass(frozen=True)
class Target:
    """What the engine has to reach; `met` is None when this run's settings do not show it."""

    name: str
    wanted: str
    value: float
    met: bool | None


class Meter:
    """How much of the machine was used by neither the contestant nor the server: such wall times say little."""

    def __init__(self) -> None:
        self.start = self._read()

    def others_cores(self, server_s: float) -> float | None:
        """Cores in use since the start, less those of the children that have ended and of the server."""
        wall, mine_s, busy = (after - before for after, before in zip(self._read(), self.start, strict=True))
        return max(0.0, busy - mine_s - server_s) / wall if busy else None

    def _read(self) -> tuple[float, float, float]:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.perf_counter(), used.ru_utime + used.ru_stime, _machine_busy_s()


def _machine_busy_s() -> float:
    """CPU seconds of all programs since the start of the machine; 0 where there is no /proc/stat."""
    try:
        user, nice, system, _, _, irq, softirq, steal = Path("/proc/stat").read_text().split(None, 9)[1:9]
    except (OSError, ValueError):
        return 0.0
    return sum(map(int, (user, nice, system, irq, softirq, steal))) / os.sysconf("SC_CLK_TCK")


class Arena:
    """A folder, a server program and the contestants that are run against it."""

    def __init__(self, folder: Path, kind: stub.Kind | None) -> None:
        self.folder = folder
        self.program = stub.build(folder, kind)

    def capacity(self) -> dict[str, Any]:
        """What the server does for a client that parses nothing."""
        with stub.serve(self.program, self.folder, 0) as server:
            measured = self.start(Plan("socket", server.base_url, CALLS, 64, str(self.folder)))
            cpu = server.stats()["cpu_s"]
        rate = CALLS / measured["wall_s"]
        return {"kind": self.program.kind, "calls_per_s": rate, "cpu_us_per_call": cpu / CALLS * 1e6}

    def measure(self, name: str, load: Load) -> Row | Missing:
        """One contestant against a fresh server, with a fresh folder to write to."""
        if contestants.version(name) is None:
            return Missing(name, CONTESTANTS[name].title)
        print(f"{CONTESTANTS[name].title}: {load.calls:,} calls …", file=sys.stderr)
        with (
            stub.serve(self.program, self.folder, load.latency_ms, stub.text_of(load.words)) as server,
            tempfile.TemporaryDirectory(dir=self.folder) as folder,
        ):
            return self.measure_at(server, name, load, folder)

    def measure_at(self, server: stub.Stub, name: str, load: Load, folder: str) -> Row:
        """One contestant against this server; what it finds in the folder it may use."""
        before, meter = server.stats(), Meter()
        measured = self.start(Plan(name, server.base_url, load.calls, load.connections, folder, load.words))
        stats = server.stats()
        others = meter.others_cores(stats["cpu_s"] - before["cpu_s"])
        rate = load.calls / measured["wall_s"]
        return Row(
            name=name,
            title=CONTESTANTS[name].title,
            version=contestants.version(name) or "unknown",
            calls=load.calls,
            good=measured["good"],
            cached=measured["cached"],
            requests=stats["requests"] - before["requests"],
            most_at_once=stats["most_at_once"],
            wall_s=measured["wall_s"],
            calls_per_s=rate,
            share_of_ideal=rate / load.ideal_rate if load.ideal_rate else None,
            cpu_ms_per_call=measured["cpu_s"] / load.calls * 1000,
            peak_mb=measured["peak_mb"],
            others_cores=others,
        )

    def start(self, plan: Plan) -> dict[str, Any]:
        """The contestant's own measurement, from a new process."""
        command = [sys.executable, contestants.__file__, json.dumps(plan._asdict())]
        # Its own folder, so that no peer reads a settings file or leaves logs in the reader's folder.
        process = subprocess.run(command, cwd=plan.folder, capture_output=True, text=True, check=False)
        if process.returncode:
            raise SystemExit(f"{plan.name} failed:\n{process.stderr[-2000:]}")
        measured: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
        return measured


# -- the comparison ----------------------------------------------------------------------------------------


def compare(arena: Arena, load: Load, names: Sequence[str]) -> dict[str, Any]:
    """All contestants at the same load, with ratios to Mores where it is among them."""
    capacity = arena.capacity()
    rows = [arena.measure(name, load) for name in names]
    mores = next((row for row in rows if isinstance(row, Row) and row.name == "mores"), None)
    return {
        "load": asdict(load) | {"ideal_rate": load.ideal_rate},
        "machine": machine(),
        "server": capacity,
        "rows": [_with_ratios(row, mores) for row in rows],
        "targets": [asdict(target) for target in (_comparison_targets(mores, load) if mores else ())],
    }


def _with_ratios(row: Row | Missing, mores: Row | None) -> dict[str, Any]:
    if isinstance(row, Missing):
        return asdict(row)
    fields = asdict(row) | {"installed": True}
    if mores is None:
        return fields
    ratios = {
        "rate": row.calls_per_s / mores.calls_per_s,
        "cpu": row.cpu_ms_per_call / mores.cpu_ms_per_call,
        "memory": row.peak_mb / mores.peak_mb,
    }
    return fields | {"to_mores": ratios}


def _comparison_targets(row: Row, load: Load) -> list[Target]:
    shows = load == Load(CALLS, CONNECTIONS, LATENCY_MS)
    cpu, share = row.cpu_ms_per_call, row.share_of_ideal or 0.0
    return [
        Target("CPU ms per call", "≤ 0.8", cpu, cpu <= 0.8 if shows else None),
        Target("share of the ideal rate", "≥ 0.9", share, share >= 0.9 if shows else None),
    ]


# -- a million calls ---------------------------------------------------------------------------------------


def run_million(arena: Arena, load: Load) -> dict[str, Any]:
    """The engine alone at no latency, then the same jobs again in a new process."""
    # One server for both: its address is part of the model's identity, and so of every answer's key.
    with (
        stub.serve(arena.program, arena.folder, 0) as server,
        tempfile.TemporaryDirectory(dir=arena.folder) as folder,
    ):
        print(f"Mores: {load.calls:,} calls …", file=sys.stderr)
        first = arena.measure_at(server, "mores", load, folder)
        store_mb = sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e6
        print(f"Mores: the same {load.calls:,} again …", file=sys.stderr)
        resume = arena.measure_at(server, "mores", load, folder)
    return {
        "load": asdict(load),
        "machine": machine(),
        "server": {"kind": arena.program.kind},
        "store_mb": store_mb,
        "first": asdict(first),
        "resume": asdict(resume),
        "targets": [asdict(target) for target in _million_targets(first, resume)],
    }


def _million_targets(first: Row, resume: Row) -> list[Target]:
    shows = first.calls >= MILLION
    peak = max(first.peak_mb, resume.peak_mb)
    skipped = resume.requests == 0 and resume.cached == resume.calls
    return [
        Target("peak MB of a million calls", "< 150", peak, peak < 150 if shows else None),
        Target("seconds to skip a million on resume", "< 30", resume.wall_s, resume.wall_s < 30 if shows else None),
        Target("requests that the server saw on resume", "0", resume.requests, skipped),
    ]


# -- output ------------------------------------------------------------------------------------------------


def machine() -> dict[str, Any]:
    return {"python": platform.python_version(), "system": platform.system(), "cores": os.cpu_count()}


def print_comparison(result: dict[str, Any]) -> None:
    load, server = result["load"], result["server"]
    ideal = f", at best {load['ideal_rate']:,.0f} calls/s" if load["ideal_rate"] else ""
    wait = f"{load['latency_ms']:g} ms"
    print(f"{load['calls']:,} calls, {load['connections']} connections, {wait}, {load['words']} words{ideal}")
    print(
        f"server: {server['kind']}, {server['calls_per_s']:,.0f} calls/s to a raw client"
        f" at {server['cpu_us_per_call']:.0f} µs CPU each\n"
    )
    head = ["", "calls", "wall s", "calls/s", "of ideal", "CPU ms/call", "peak MB", "rate", "CPU", "memory"]
    print_table([head, *(_cells(row) for row in result["rows"])])
    if any("to_mores" in row for row in result["rows"]):
        print("\nThe last three columns are ratios to Mores.")
    warn_if_busy(result["rows"])


def _cells(row: dict[str, Any]) -> list[str]:
    if not row["installed"]:
        return [row["title"], "not installed"]
    calls = f"{row['calls']:,}" if row["good"] == row["calls"] else f"{row['good']:,} of {row['calls']:,}"
    share = "" if row["share_of_ideal"] is None else f"{row['share_of_ideal']:.0%}"
    ratios = [f"{value:.2f}×" for value in row.get("to_mores", {}).values()]
    numbers = [f"{row['wall_s']:.1f}", f"{row['calls_per_s']:,.0f}", share, f"{row['cpu_ms_per_call']:.2f}"]
    return [f"{row['title']} {row['version']}", calls, *numbers, f"{row['peak_mb']:.0f}", *ratios]


def print_million(result: dict[str, Any]) -> None:
    print(f"server: {result['server']['kind']}; the store takes {result['store_mb']:,.0f} MB\n")
    head = ["", "calls", "wall s", "calls/s", "CPU ms/call", "peak MB", "from the store", "requests"]
    lines = [
        [
            name,
            f"{row['calls']:,}",
            f"{row['wall_s']:.1f}",
            f"{row['calls_per_s']:,.0f}",
            f"{row['cpu_ms_per_call']:.3f}",
            f"{row['peak_mb']:.0f}",
            f"{row['cached']:,}",
            f"{row['requests']:,}",
        ]
        for name, row in (("first run", result["first"]), ("again", result["resume"]))
    ]
    print_table([head, *lines])
    warn_if_busy([result["first"], result["resume"]])


def warn_if_busy(rows: Sequence[dict[str, Any]]) -> None:
    """The server and the contestant need a core each; less than that shows in the wall times."""
    spare = max(0.25, (os.cpu_count() or 1) - 2)
    for row in rows:
        if (others := row.get("others_cores") or 0.0) > spare:
            print(f"Other programs used {others:.1f} cores while {row['title']} ran: its times are too long.")


def print_table(lines: Sequence[Sequence[str]]) -> None:
    """Columns as wide as they need; the first to the left, the others to the right."""
    widths = [max(len(line[i]) for line in lines if i < len(line)) for i in range(len(lines[0]))]
    for line in lines:
        cells = [line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]
        print("  ".join(cells).rstrip())


def print_targets(targets: Sequence[dict[str, Any]]) -> None:
    verdicts = {True: "pass", False: "FAIL", None: "not judged at these settings"}
    for target in targets:
        print(f"{target['name']}: {target['value']:.3g}, wanted {target['wanted']}: {verdicts[target['met']]}")


def save(result: dict[str, Any]) -> None:
    """Write the results file of the comparison."""
    rows, load = {row["title"]: row for row in result["rows"] if row["installed"]}, result["load"]
    work = f"Calls alone: {load['calls']:,}, {load['connections']} at once, {load['latency_ms']:g} ms each"
    figures = {
        "calls/s (more is better)": {title: row["calls_per_s"] for title, row in rows.items()},
        "CPU ms per call": {title: row["cpu_ms_per_call"] for title, row in rows.items()},
        "peak MB": {title: row["peak_mb"] for title, row in rows.items()},
    }
    peers.save("calls", work, {title: row["version"] for title, row in rows.items()}, figures)


# -- the command -------------------------------------------------------------------------------------------


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The engine's speed and memory against its peers, on loopback.")
    parser.add_argument("--calls", type=int, default=CALLS, help="calls of each contestant (default: %(default)s)")
    parser.add_argument("--connections", type=int, default=CONNECTIONS, help="calls at once (default: %(default)s)")
    parser.add_argument(
        "--latency-ms", type=float, default=LATENCY_MS, help="how long the server waits (default: %(default)g)"
    )
    parser.add_argument("--words", type=int, default=stub.WORDS, help="of an answer (default: %(default)s)")
    parser.add_argument("--only", default=",".join(CONTESTANTS), help="some of the contestants (default: %(default)s)")
    parser.add_argument(
        "--million",
        type=int,
        nargs="?",
        const=MILLION,
        metavar="N",
        help="the engine alone: N calls (default: a million) at no latency, then all again from the store",
    )
    parser.add_argument("--stub", choices=["c", "asyncio"], help="the server (default: c where it compiles)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--save", action="store_true", help="write the results file and the table of README.md")
    options = parser.parse_args(arguments)
    options.only = options.only.split(",")
    if options.save and (options.million or options.only[0] != "mores"):
        parser.error("--save: it is for comparisons with mores, which comes first; leave --million out")
    if unknown := set(options.only) - set(CONTESTANTS):
        parser.error(f"--only: no contestant {sorted(unknown)[0]!r}; there are {', '.join(CONTESTANTS)}")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when every answer arrived, whatever the times."""
    options = parse(arguments)
    with tempfile.TemporaryDirectory(prefix="mores-benchmark-") as folder:
        arena = Arena(Path(folder), options.stub)
        if options.million:
            result = run_million(arena, Load(options.million, options.connections, 0.0))
            rows = [result["first"], result["resume"]]
        else:
            load = Load(options.calls, options.connections, options.latency_ms, options.words)
            result = compare(arena, load, options.only)
            rows = result["rows"]
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        (print_million if options.million else print_comparison)(result)
        print()
        print_targets(result["targets"])
    if options.save:
        save(result)
    return int(any(row.get("installed", True) and row["good"] < row["calls"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
