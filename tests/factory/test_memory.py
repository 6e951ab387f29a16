"""A build's memory hardly grows with its items: they and their drafts are in files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mores.factory.items import SourceItem, Task

pytest.importorskip("resource", reason="no measure of memory here")

BUILD = """
import resource, sys
import numpy, scipy.sparse.csgraph
from mores.factory import build as stages
from mores.factory.recipe import BuildRecipe

stages.AUDITORS.clear()  # they read a bounded number of texts
settings = {"sampling": "paper", "compose": 0, "soft": "none", "cap": 10**9}
peaks = [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]
built = stages.build(BuildRecipe(name="many", edition=3, sources=(sys.argv[1],), **settings), None)
peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
print(len(built.golds), (peaks[1] - peaks[0]) / (1 << 20 if sys.platform == "darwin" else 1 << 10))
"""


def put_many(path: Path, count: int) -> None:
    """Questions with their own words, and three wrong answers each."""
    with path.open("w") as file:
        for n in range(count):
            words = f"{n * 7919 % 99991} of {n * 104729 % 99991}"
            answer, *wrong = (f"{food} {words}" for food in ("bread", "tea", "rice", "soup"))
            item = SourceItem(
                source=f"s{n % 3}", id=f"{n:06}", task=Task.FREEFORM, question=f"What do people eat at place {words}?",
                answer=answer, wrong=tuple(wrong), region="KE", language="en",
            )  # fmt: skip
            file.write(item.model_dump_json() + "\n")


@pytest.mark.often("5000")
@pytest.mark.parametrize(("count", "most"), [(5000, 52), (40_000, 130)], ids=["5000", "40000"])
def test_many_items_take_little_memory(count: int, most: int, tmp_path: Path) -> None:
    """At most so many megabytes; as objects they needed twice as many."""
    put_many(path := tmp_path / "many.jsonl", count)
    done = subprocess.run([sys.executable, "-c", BUILD, str(path)], capture_output=True, text=True, check=True)
    samples, megabytes = map(float, done.stdout.split())
    assert samples == 2 * count
    assert megabytes < most
