"""How the data factory's time and memory grow with the number of items.

    python benchmarks/factory.py                       # 10,000 and 100,000 made-up items
    python benchmarks/factory.py --sizes 10000,100000,1000000
    python benchmarks/factory.py --edition 3           # which balances single words too
    python benchmarks/factory.py --save                # and writes results/peers/factory.json

Each size is built and written in a separate process, uncapped, with rules for soft errors and the shortcut-free
sampling. A quarter of the items are of each task: multiple choice, short questions with a label prior, texts, roles.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import peers

import mores
from mores.factory.build import build
from mores.factory.items import SourceItem, Task
from mores.factory.output import write
from mores.factory.recipe import BuildRecipe

REGIONS = ["BR", "CN", "DE", "EG", "ID", "IN", "JP", "KE", "MX", "NG", "PE", "TR"]
WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("lan", "mi", "ro", "tek", "su")]


def items(count: int) -> Iterator[SourceItem]:
    """Made-up items of the four tasks, the same for the same count."""
    draw = random.Random(count)
    makers = {Task.QA: _choice, Task.FREEFORM: _short, Task.GENERATION: _text, Task.IMPERSONATION: _role}
    for number in range(count):
        task = list(Task)[number % 4]
        fields = makers[task](draw, number)
        yield SourceItem(
            source=f"made-{task}", id=f"{number:08d}", task=task, region=draw.choice(REGIONS), language="en", **fields
        )


def _choice(draw: random.Random, number: int) -> dict[str, object]:
    options = tuple(" ".join(draw.sample(WORDS, 4)) for _ in range(4))
    return {"question": f"What is number {number}?", "answer": options[0], "wrong": options[1:], "options": options}


def _short(draw: random.Random, number: int) -> dict[str, object]:
    answer, wrong = draw.sample(WORDS[:50], 2)
    return {"question": f"Which word goes with {number}?", "answer": answer, "wrong": (wrong,)}


def _text(draw: random.Random, number: int) -> dict[str, object]:
    words = " ".join(draw.sample(WORDS, 12))
    return {"question": "customs", "answer": f"In {1900 + number % 120} many people often {words}."}


def _role(draw: random.Random, number: int) -> dict[str, object]:
    answer, wrong = ("Yes", "No") if draw.random() < 0.7 else ("No", "Yes")
    return {"question": f"Is practice {number} fine?", "answer": answer, "wrong": (wrong,), "role": (("Country", "X"),)}


def measure(count: int, edition: Literal[2, 3]) -> dict[str, float]:
    """Build once, in this process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "items.jsonl"
        with path.open("w") as file:
            file.writelines(item.model_dump_json() + "\n" for item in items(count))
        started, cpu = time.monotonic(), time.process_time()
        recipe = BuildRecipe(name="bench", sources=(str(path),), cap=count, edition=edition)
        built = build(recipe, None)
        write(built, recipe, Path(folder) / "out")
        seconds, cpu = time.monotonic() - started, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"items": count, "samples": len(built.golds), "seconds": seconds, "cpu": cpu, "peak_mb": peak}


def main() -> None:
    """Measure each size in a fresh process and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--save", action="store_true", help="write the results file and the table of README.md")
    parser.add_argument("--edition", type=int, choices=(2, 3), default=2)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options.edition)))
        return
    rows = []
    print(f"{'items':>10} {'samples':>10} {'seconds':>9} {'ms/item':>8} {'peak MB':>8}")
    for size in map(int, options.sizes.split(",")):
        one = [sys.executable, __file__, "--edition", str(options.edition), "--one", str(size)]
        process = subprocess.run(one, stdout=subprocess.PIPE, text=True, check=True)
        row = json.loads(process.stdout)
        rows.append(row)
        each = 1000 * row["seconds"] / size
        print(
            f"{size:>10,} {row['samples']:>10,} {row['seconds']:>9.1f} {each:>8.2f} {row['peak_mb']:>8,.0f}", flush=True
        )
    if options.save:
        save(rows)


def save(rows: list[dict[str, float]]) -> None:
    """Write the results file: how more items compare with fewer."""
    names = ["Mores", *(f"{row['items']:,} items" for row in rows[1:])]
    figures = {
        "ms per item": {name: 1000 * row["seconds"] / row["items"] for name, row in zip(names, rows, strict=True)},
        "peak MB": {name: row["peak_mb"] for name, row in zip(names, rows, strict=True)},
    }
    work = f"Data factory: {rows[0]['items']:,} items; the same with more"
    peers.save("factory", work, {"Mores": mores.__version__}, figures)


if __name__ == "__main__":
    main()
