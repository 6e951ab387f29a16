"""How long `mores rate` takes on a large file of ratings, and how much memory.

    python benchmarks/ratings.py --json benchmarks/results/ratings.json       # 200,000 ratings
    python benchmarks/ratings.py --questions 250

Forty raters and eight models; each answer is rated by ten people. The command runs in a process of its own, on at most
two threads; further processes are sent SIGTERM after some seconds, while they read, compare and fit, and `stopped` is
how long each took to end.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

RATERS, MODELS, EACH = 40, 8, 10


def write(path: Path, questions: int) -> int:
    """Write a table of made-up ratings and return how many there are."""
    rng = np.random.default_rng(0)
    severity, hard = rng.normal(0, 0.4, RATERS), rng.normal(0, 0.5, questions)
    taste, quality = rng.normal(0, 0.15, (RATERS, MODELS)), np.linspace(0, 0.5, MODELS)
    rows = 0
    with path.open("w", encoding="utf-8") as file:
        file.write("question_id,model,annotator,type,rating\n")
        for question in range(questions):
            for model in range(MODELS):
                answer = 3 + hard[question] + quality[model] + rng.normal(0, 0.4)
                for rater in rng.choice(RATERS, EACH, replace=False).tolist():
                    value = answer + severity[rater] + taste[rater, model] + rng.normal(0, 0.8)
                    kind = "specific" if question % 2 else "agnostic"
                    file.write(f"q{question},m{model},r{rater},{kind},{int(np.clip(round(value), 1, 5))}\n")
                    rows += 1
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=2500)
    parser.add_argument(
        "--stop", type=float, nargs="*", default=[8.0, 40.0, 80.0], help="seconds after which processes are stopped"
    )
    parser.add_argument("--json", type=Path, help="file for the result")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ratings.csv"
        rows = write(file, given.questions)
        command = [sys.executable, "-m", "mores", "rate", str(file), "--out"]
        environment = os.environ | {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
        started = time.perf_counter()
        done = subprocess.run([*command, f"{folder}/run"], env=environment, check=True, capture_output=True, text=True)
        seconds = time.perf_counter() - started
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        stopped, codes = [], []
        for seconds_until in given.stop:
            child = subprocess.Popen(
                [*command, f"{folder}/stopped"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            time.sleep(seconds_until)
            child.send_signal(signal.SIGTERM)
            asked = time.perf_counter()
            codes.append(child.wait())
            stopped.append(round(time.perf_counter() - asked, 2))
        result = {
            "ratings": rows, "raters": RATERS, "models": MODELS, "questions": given.questions,
            "seconds": round(seconds, 1), "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 1),
            "peak_mb": round(usage.ru_maxrss / 1024), "headline": done.stdout.strip().splitlines()[-1],
            "stopped": stopped, "exit": codes, "load": round(os.getloadavg()[0], 1),
        }  # fmt: skip
    print(json.dumps(result, indent=1, ensure_ascii=False))
    if given.json:
        given.json.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
