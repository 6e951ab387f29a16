"""Rows that are read as samples per second, beside another version of Mores, as ratios in one run.

    python benchmarks/tables.py                           # beside 0.2.0, from this repository's history
    python benchmarks/tables.py --against COMMIT --rows 100000 --rounds 3
    python benchmarks/tables.py … --save                  # and adds a line to results/tables.jsonl

Both versions read the same files, each time in a process of its own and in turn; the shortest CPU time of each counts.
Formats that the other version cannot read have no ratio.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

from mores import __version__

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "tables.jsonl"
RELEASED = "82bb8a5"
"""The commit of 0.2.0."""
TEXT = "They eat rice with {} chopsticks and drink tea, every day of the week, all year. "
READ = """
import sys, time
from mores.io import read_samples
start = time.process_time()
count = sum(1 for _ in read_samples(sys.argv[1]))
print(count, time.process_time() - start)
"""


def write_tables(folder: Path, rows: int) -> dict[str, Path]:
    """Write the same texts in every format."""
    samples = [
        {
            "id": f"t{n}",
            "instruction": f"What do people in place {n} eat?",
            "text": 3 * TEXT.format(n),
            "language": "en",
            "region": "JP",
        }
        for n in range(rows)
    ]
    paths = {name: folder / f"texts.{name}" for name in ("csv", "jsonl", "parquet", "json", "feather")}
    with paths["csv"].open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(samples[0]))
        writer.writeheader()
        writer.writerows(samples)
    paths["jsonl"].write_text("".join(json.dumps(sample) + "\n" for sample in samples), "utf-8")
    paths["json"].write_text(json.dumps(samples), "utf-8")
    table = pa.Table.from_pylist(samples)
    pq.write_table(table, paths["parquet"])
    feather.write_feather(table, str(paths["feather"]))
    return paths


def seconds(source: Path, path: Path, rows: int) -> float | None:
    """Return the CPU seconds that a version needs for a file; None where it cannot read it."""
    command = [sys.executable, "-c", READ, str(path)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(source)}, capture_output=True, text=True)
    if done.returncode:
        return None
    count, spent = done.stdout.split()
    assert int(count) == rows
    return float(spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", default=RELEASED, help="a commit of this repository")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    load, results = os.getloadavg()[0], []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        archive = subprocess.run(["git", "archive", options.against, "src"], cwd=ROOT, capture_output=True, check=True)
        subprocess.run(["tar", "-x", "-C", made], input=archive.stdout, check=True)
        versions = {"before": folder / "src", "now": ROOT / "src"}
        for name, path in write_tables(folder, options.rows).items():
            spent: dict[str, list[float | None]] = {version: [] for version in versions}
            for _ in range(options.rounds):
                for version, source in versions.items():
                    spent[version].append(seconds(source, path, options.rows))
            best = {version: min((s for s in times if s), default=None) for version, times in spent.items()}
            per_second = {version: time_ and round(options.rows / time_) for version, time_ in best.items()}
            before, now = best["before"], best["now"]
            ratio = round(before / now, 2) if before and now else None
            results.append({"format": name, **per_second, "ratio": ratio})
            print(
                f"{name:8} before {per_second['before'] or '-':>9} now {per_second['now'] or '-':>9} rows/s, {ratio}×"
            )
    if options.save:
        line: dict[str, Any] = {
            "command": f"python benchmarks/tables.py --rows {options.rows} --rounds {options.rounds} --save",
            "date": time.strftime("%Y-%m-%d"),
            "machine": {
                "system": platform.system(),
                "architecture": platform.machine(),
                "cores": os.cpu_count(),
            },
            "load_before": round(load, 2),
            "load_after": round(os.getloadavg()[0], 2),
            "versions": {"mores": __version__, "before": options.against, "pyarrow": pa.__version__},
            "results": results,
        }
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
