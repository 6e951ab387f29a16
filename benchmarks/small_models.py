"""Results of real, small models on the benchmarks, from runs of `mores bench`; docs/small-models.md shows them.

    python benchmarks/small_models.py bench           # the table, of all runs in a folder
    python benchmarks/small_models.py bench --save    # also writes results/small_models.jsonl
    python benchmarks/small_models.py                 # the table of what was saved

The commands that make the runs are in docs/small-models.md. A line of the table is a benchmark with its settings: the
headline of each model with its 95% interval, and what is reached without knowledge.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

SAVED = Path(__file__).parent / "results" / "small_models.jsonl"
ORDER = ("culturalbench-easy", "culturalbench-hard", "blend", "normad", "globalopinionqa", "blend-short", "calmqa")


def read(folder: Path) -> list[dict[str, Any]]:
    """Return what is shown of every complete run in a folder."""
    from mores.benchmark.folder import find_bench_runs

    rows = []
    for run in find_bench_runs(folder):
        result = run.result
        figure = next(iter(result.figures.values()))
        rows.append({
            "benchmark": result.benchmark,
            "settings": run.path.parent.name.removeprefix(result.benchmark).strip(".-"),
            "model": result.model,
            "questions": result.questions,
            "result": figure.model_dump(mode="json", exclude={"by", "signature"}),
            "references": result.references,
            "signature": str(result.signature),
        })  # fmt: skip
    return sorted(rows, key=lambda row: (ORDER.index(row["benchmark"]), row["settings"], row["model"]))


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a Markdown table, a line for each benchmark with its settings."""
    from mores.formatting import percent

    models = list(dict.fromkeys(row["model"] for row in rows))
    lines = [f"| benchmark | figure | {' | '.join(f'`{model}`' for model in models)} | without knowledge |"]
    lines.append("| --- " * (len(models) + 3) + "|")
    grouped: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in rows:
        grouped.setdefault((row["benchmark"], row["settings"]), {})[row["model"]] = row
    for (benchmark, settings), by_model in grouped.items():
        first = next(iter(by_model.values()))
        cells = [show(by_model[model]) if model in by_model else "–" for model in models]
        # Other figures' references, such as "all options alike, similarity", belong to those.
        lots = {name: value for name, value in first["references"].items() if ", " not in name}
        name = f"{benchmark}, {settings}" if settings else benchmark
        without = ", ".join(f"{name} {percent(value)}" for name, value in lots.items()) or "–"
        lines.append(f"| {name} | {first['result']['name']} | {' | '.join(cells)} | {without} |")
    return "\n".join(lines)


def show(row: dict[str, Any]) -> str:
    """Return a figure with its interval, and how many answers have no score."""
    from mores.formatting import share_between
    from mores.types import Result

    result = Result.model_validate(row["result"])
    return share_between(result) + (f", {result.unscored} unscored" if result.unscored else "")


def main() -> None:
    """Print the table, and save the rows if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="folder of runs; the saved rows without it")
    parser.add_argument("--save", action="store_true", help=f"write {SAVED.name}")
    arguments = parser.parse_args()
    if arguments.folder:
        rows = read(arguments.folder)
    else:
        rows = [json.loads(line) for line in SAVED.read_text("utf-8").splitlines()]
    if arguments.save:
        SAVED.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    print(table(rows))


if __name__ == "__main__":
    main()
