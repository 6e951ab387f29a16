"""Texts per CPU second of the language check in this checkout and in another, turn by turn in one run.

    git worktree add ../before v0.2.0
    python benchmarks/language_speed.py ../before FOLDER     # a folder of sentences, one file such as sw.txt a language

Each round starts a process for each checkout, which detects the same texts of 50 and 200 characters three times after a
warm-up; the figures are the best of all rounds, in CPU seconds of one process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

SIZES = (50, 200)
EACH = 4000
"""Characters of each language, for each size."""
ROUNDS = 8

WORK = """
import json, sys, time
from mores.language import detect
rates = []
for texts in json.load(sys.stdin):
    detect(texts[:200])
    times = []
    for _ in range(3):
        start = time.process_time()
        detect(texts)
        times.append(time.process_time() - start)
    rates.append(len(texts) / min(times))
print(json.dumps(rates))
"""


def texts_of(folder: Path, size: int) -> list[str]:
    """Texts of so many characters, from the beginning of each file."""
    joined = [" ".join(path.read_text("utf-8").split())[:EACH] for path in sorted(folder.glob("*.txt"))]
    return [text[first : first + size] for text in joined for first in range(0, len(text), size)]


def main() -> None:
    """Parse, measure in turn, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="the checkout to compare with")
    parser.add_argument("folder", type=Path, help="a folder of sentences")
    options = parser.parse_args()
    texts = [texts_of(options.folder, size) for size in SIZES]
    rates: dict[Path, list[list[float]]] = {options.before: [], Path(__file__).parents[1]: []}
    for _ in range(ROUNDS):
        for checkout, measured in rates.items():
            done = subprocess.run(
                [sys.executable, "-c", WORK],
                input=json.dumps(texts),
                env=os.environ | {"PYTHONPATH": str(checkout / "src")},
                capture_output=True,
                text=True,
                check=True,
            )
            measured.append(json.loads(done.stdout))
    before, now = ([max(column) for column in zip(*measured, strict=True)] for measured in rates.values())
    print("| characters | texts | before/s | now/s | ratio |\n| ---: | ---: | ---: | ---: | ---: |")
    for size, part, old, new in zip(SIZES, texts, before, now, strict=True):
        print(f"| {size} | {len(part):,} | {old:,.0f} | {new:,.0f} | {new / old:.2f} |")


if __name__ == "__main__":
    main()
