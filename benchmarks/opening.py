"""How fast a corpus is ready, and what memory it takes: documents, documents indexed before, and a corpus file.

    python benchmarks/opening.py                     # 100,000 passages
    python benchmarks/opening.py --passages 20000

Each way runs in a process of its own: it opens the search and answers one query. `first` builds the index of a table
and keeps it in the cache folder, `again` uses that, and `file` opens what `mores corpus` wrote.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

OPEN = """
import resource, sys, time
from mores.engine.loop import run
from mores.search import Query, open_search
started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
search = open_search("corpus:" + sys.argv[1])
opened = time.perf_counter()
found = run(search.find([Query("the tea that guests drink at a wedding in w17")], 3))
assert found[0].evidence
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(opened - started, time.perf_counter() - opened, peak / 1024)
"""


def write_table(path: Path, passages: int) -> None:
    """Write passages of 60 words, which are as unevenly frequent as those of a language."""
    draw = random.Random(0)
    words = [f"w{number}" for number in range(50_000)] + ["tea", "guests", "wedding", "drink"]
    weights = [1 / (number + 2) for number in range(len(words))]
    with path.open("w") as file:
        for _ in range(passages):
            file.write(json.dumps({"text": " ".join(draw.choices(words, weights, k=60))}) + "\n")


def main() -> None:
    """Print a line for each way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=100_000)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        table, made = Path(folder) / "t.jsonl", Path(folder) / "t.corpus"
        environment = os.environ | {"MORES_CACHE": str(Path(folder) / "cache")}
        write_table(table, options.passages)
        for way, path in (("first", table), ("again", table), ("file", made)):
            if way == "file":
                command = [sys.executable, "-m", "mores", "corpus", str(table), "--out", str(made)]
                subprocess.run(command, check=True, env=environment, capture_output=True)
            command = [sys.executable, "-c", OPEN, str(path)]
            output = subprocess.run(command, check=True, env=environment, capture_output=True, text=True).stdout
            opened, query, memory = map(float, output.split())
            print(
                json.dumps(
                    {
                        "way": way,
                        "passages": options.passages,
                        "open_s": round(opened, 3),
                        "query_s": round(query, 3),
                        "more_memory_mb": round(memory),
                    }
                )
            )


if __name__ == "__main__":
    main()
