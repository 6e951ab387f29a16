"""`mores score` with a judge that answers at once: texts per second, and what is left to do after the last call.

    python benchmarks/score.py                            # 30,000 texts; 300000 for the figure of the docs
    python benchmarks/score.py --texts 300000 --against 82bb8a5

Every version judges the same file in a process of its own, with a new store; seconds are of the CPU.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
GOAL = 3000
"""Texts per CPU second."""
SCORE = """
import atexit, json, sys, time
from mores.models.fake import FakeModel
last, asked = [0.0], FakeModel.complete
async def complete(self, request):
    answer = await asked(self, request)
    last[0] = time.process_time()
    return answer
FakeModel.complete = complete
from mores.cli import main
try:
    main(["score", sys.argv[1], "--model", "fake:first-word", "--out", sys.argv[2], "--html", sys.argv[2] + ".html"])
except SystemExit as ended:
    assert not ended.code, ended.code
now = time.process_time()
print(json.dumps({"cpu": now, "after": now - last[0]}))
"""


def measure(source: Path, texts: Path, folder: Path) -> dict[str, float]:
    """Return the CPU seconds of a version, and those after its last call."""
    environment = os.environ | {"PYTHONPATH": str(source), "MORES_CACHE": str(folder / "cache"), "COLUMNS": "100"}
    command = [sys.executable, "-c", SCORE, str(texts), str(folder / "run")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    spent: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return spent


def write_texts(path: Path, count: int) -> None:
    """Write a table of texts that all differ."""
    with path.open("w", encoding="utf-8") as file:
        for n in range(count):
            text = f"People in place {n} eat rice with {n % 7 + 1} chopsticks and drink tea every day."
            row = {"id": f"t{n}", "instruction": f"What do people in place {n} eat?", "text": text, "language": "en"}
            file.write(json.dumps(row) + "\n")


def main() -> None:
    """Write the texts and judge them with each version."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=30_000)
    parser.add_argument("--against", help="a commit of this repository")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder, versions = Path(made), {"now": ROOT / "src"}
        if options.against:
            archive = ["git", "archive", options.against, "src"]
            packed = subprocess.run(archive, cwd=ROOT, capture_output=True, check=True).stdout
            subprocess.run(["tar", "-x", "-C", made], input=packed, check=True)
            versions = {"before": folder / "src", **versions}
        write_texts(folder / "texts.jsonl", options.texts)
        for name, source in versions.items():
            (folder / name).mkdir()
            spent = measure(source, folder / "texts.jsonl", folder / name)
            rate = f"{options.texts / spent['cpu']:,.0f} texts per CPU second (goal {GOAL:,})"
            after = f"{spent['after']:.1f} s of {spent['cpu']:.1f} after the last call"
            print(f"mores score, {options.texts:,} texts, {name}: {rate}, {after}")


if __name__ == "__main__":
    main()
