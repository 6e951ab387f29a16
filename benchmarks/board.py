"""`mores board` over many runs: CPU seconds the first time and again, beside another version of Mores.

    python benchmarks/board.py                            # 200 runs of 2,000 questions; 20 to 30 seconds
    python benchmarks/board.py --against 82bb8a5          # and the same runs with 0.2.0
    python benchmarks/board.py --runs 50 --keep FOLDER    # make the runs in a folder, or use those that are there

The runs are real folders of `mores bench`: one model is asked, and every run has the verdicts of a model of its own
ability. The first time no run has figures kept beside it, as in runs of older versions.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

ROOT = Path(__file__).parents[1]
GOALS = {"first": 3.0, "again": 0.5}
"""CPU seconds for 200 runs of 2,000 questions."""


def make_runs(folder: Path, runs: int, questions: int) -> None:
    """Write the folders of some runs over the same questions."""
    folder.mkdir(parents=True, exist_ok=True)
    table, first = folder / "questions.csv", folder / "run-000"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("question", "answer", "A", "B", "C", "D", "language"))
        regions = ("Japan", "Kenya", "Peru", "Oman")
        writer.writerows(
            (f"What is number {n} in {regions[n % 4]}?", "ABCD"[n % 4], *"wxyz", "en") for n in range(questions)
        )
    script = folder / "answers.jsonl"
    script.write_text(json.dumps({"contains": "number", "answer": "The answer is A."}), "utf-8")
    mores("bench", str(table), "--model", f"fake:{script}", "--out", str(first))
    run = next(first.rglob("verdicts.jsonl")).parent
    verdicts = [json.loads(line) for line in (run / "verdicts.jsonl").read_text("utf-8").splitlines()]
    result, manifest = ((run / name).read_text("utf-8") for name in ("result.json", "run.json"))
    for number in range(1, runs):
        chance, ability = random.Random(number), 0.3 + 0.5 * number / runs
        copy = folder / f"run-{number:03}" / run.name
        copy.mkdir(parents=True)
        labels = ["correct" if chance.random() < ability else "incorrect" for _ in verdicts]
        lines = (json.dumps(verdict | {"label": label}) + "\n" for verdict, label in zip(verdicts, labels, strict=True))
        (copy / "verdicts.jsonl").write_text("".join(lines), "utf-8")
        made = json.loads(result.replace(f"fake:{script}", f"model-{number:03}"))
        made["figures"]["accuracy"]["value"] = labels.count("correct") / len(labels)
        (copy / "result.json").write_text(json.dumps(made), "utf-8")
        (copy / "run.json").write_text(manifest.replace(f"fake:{script}", f"model-{number:03}"), "utf-8")


def mores(*arguments: str, source: Path = ROOT / "src") -> tuple[float, bytes]:
    """Run a command in a process of its own; return its CPU seconds and what it printed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(
        [sys.executable, "-m", "mores", *arguments],
        env=environment | {"PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
    )
    printed = process.stdout.read() if process.stdout else b""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"mores {' '.join(arguments)} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, printed


def measure(folder: Path, runs: int, questions: int, against: str = "") -> dict[str, float]:
    """Return the CPU seconds of a board without and with what is kept of it, and those of another version."""
    made, spent, printed = folder / "runs", dict[str, float](), dict[str, bytes]()
    if not made.exists():
        make_runs(made, runs, questions)
    for kept in made.rglob(".*.figures"):
        kept.unlink()
    if against:
        packed = subprocess.run(["git", "archive", against, "src"], cwd=ROOT, capture_output=True, check=True).stdout
        with tempfile.TemporaryDirectory() as other:
            subprocess.run(["tar", "-x", "-C", other], input=packed, check=True)
            spent["before"], printed["before"] = mores("board", str(made), "--json", source=Path(other) / "src")
    mores("board", str(made / "run-000"), "--json")  # what has to be compiled is compiled
    for name in ("first", "again"):
        spent[name], printed[name] = mores("board", str(made), "--json")
    assert printed["first"] == printed["again"] == printed.get("before", printed["first"]), "other figures"
    return spent


def main() -> None:
    """Make the runs, and rank them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--against", default="", help="a commit of this repository")
    parser.add_argument("--keep", type=Path, help="the folder of the runs; a temporary one by default")
    options = parser.parse_args()
    with nullcontext(options.keep) if options.keep else tempfile.TemporaryDirectory() as folder:
        spent = measure(Path(folder), options.runs, options.questions, options.against)
    for name, seconds in spent.items():
        goal = f", goal at most {GOALS[name]:.1f}" if name in GOALS else ""
        print(f"mores board, {options.runs} runs × {options.questions:,}, {name}: {seconds:.2f} s of CPU{goal}")


if __name__ == "__main__":
    main()
