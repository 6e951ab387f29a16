"""Results of real, small models on the benchmarks, from runs of `mores`; docs/small-models.md shows them.

    python benchmarks/small_models.py runs            # the tables, of all runs in a folder
    python benchmarks/small_models.py runs --save     # also writes results/small_models.jsonl, and the page
    python benchmarks/small_models.py runs --paths    # the runs in the tables, for `mores board` and `mores diagnose`
    python benchmarks/small_models.py                 # the tables of what was saved

The commands that make the runs are in docs/small-models.md. Where a model has several runs of a benchmark with the same
settings, the one with the most questions counts that every model has a run of.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mores.benchmark.folder import BenchRun
    from mores.run import Run

Row = dict[str, Any]
SAVED = Path(__file__).parent / "results" / "small_models.jsonl"
PAGE = Path(__file__).parents[1] / "docs" / "small-models.md"
ORDER = (
    "culturalbench-easy", "culturalbench-hard", "blend", "blend-short", "normad", "globalopinionqa", "exams", "calmqa",
    "simpleqa", "chinese-simpleqa",
)  # fmt: skip


def settings_of(run: BenchRun) -> str:
    """Return how a run was asked, besides what is usual for its benchmark."""
    words = run.path.parent.name.removeprefix(run.result.benchmark).strip(".-").split(".")
    if (samples := run.manifest.settings.get("samples", 1)) != 1:
        words.append(f"{samples} answers")
    return ", ".join(filter(None, words))


def same(run: Run) -> tuple[str, ...]:
    """Return what two runs have in common that differ in their questions or their model."""
    from mores.benchmark.folder import BenchRun

    if isinstance(run, BenchRun):
        return ("bench", run.result.benchmark, settings_of(run))
    settings = run.manifest.settings
    return (run.kind, run.manifest.name, *(str(settings.get(name)) for name in ("kind", "by", "sources")))


def chosen(folder: Path) -> list[Run]:
    """Return of the runs that were made in the same way those with the most questions that all models have."""
    from mores.run.folder import find_runs

    runs = [run for run in find_runs(folder) if run.manifest.status == "complete"]
    diagnoses = [run.path for run in runs if run.kind == "diagnose"]
    runs = [run for run in runs if not any(path in run.path.parents for path in diagnoses)]
    groups: dict[tuple[str, ...], dict[str, dict[str, Run]]] = defaultdict(lambda: defaultdict(dict))
    for run in runs:
        data = re.search(r"data:([^|]+)", str(run.signature))
        groups[same(run)][data[1] if data else ""][run.manifest.model] = run
    kept: list[Run] = []
    for by_data in groups.values():
        widest = max(len(by_model) for by_model in by_data.values())
        shared = [data for data, by_model in by_data.items() if len(by_model) == widest]
        kept += by_data[max(shared, key=questions)].values()
    return kept


def questions(data: str) -> int:
    """Return the number at the end of a hash of questions."""
    return int(data.rpartition(".")[2] or 0)


def read(folder: Path) -> list[Row]:
    """Return what is shown of every chosen run in a folder."""
    reading: dict[str, Callable[[Any], Iterable[Row]]] = {
        "bench": read_bench, "diagnose": read_diagnosis, "judge-check": read_check
    }  # fmt: skip
    rows = [row for run in chosen(folder) if run.kind in reading for row in reading[run.kind](run)]
    return sorted(rows, key=lambda row: (row["kind"], place(row["benchmark"]), row["settings"], row["model"]))


def place(benchmark: str) -> tuple[int, str]:
    """Return where a benchmark stands in the tables."""
    return (ORDER.index(benchmark) if benchmark in ORDER else len(ORDER), benchmark)


def read_bench(run: BenchRun) -> Iterable[Row]:
    """Yield the headline of a run of a benchmark."""
    result = run.result
    figure = next(iter(result.figures.values()))
    yield {
        "kind": "bench",
        "benchmark": result.benchmark,
        "settings": settings_of(run),
        "model": result.model,
        "questions": result.questions,
        "result": figure.model_dump(mode="json", exclude={"by", "signature"}),
        "references": result.references,
        "signature": str(result.signature),
    }


def read_diagnosis(run: Any) -> Iterable[Row]:
    """Yield the words of every result of a diagnosis."""
    from mores.diagnosis.folder import Findings, headline_of, paragraph

    for findings in run.findings:
        for result in findings.results:
            text = paragraph(result)
            if not text:
                continue
            yield {
                "kind": "diagnose",
                "benchmark": str(getattr(result, "benchmark", "")),
                "settings": headline_of([Findings(findings.kind, [result])]).partition(":")[0] or findings.kind,
                "model": str(getattr(result, "model", "")),
                "headline": headline_of([Findings(findings.kind, [result])]).partition(": ")[2],
                "text": text,
                "signature": str(run.signature),
            }


def read_check(run: Any) -> Iterable[Row]:
    """Yield how well a model grades answers whose grade is known."""
    yield {
        "kind": "judge-check",
        "benchmark": run.manifest.name,
        "settings": "",
        "model": run.result.judge,
        "headline": run.result.headline,
        "signature": str(run.signature),
    }


def tables(rows: list[Row]) -> dict[str, str]:
    """Return every generated part of the page, by name."""
    parts = {"results": results_table([row for row in rows if row["kind"] == "bench"])}
    checked = [row for row in rows if row["kind"] == "judge-check"]
    checks = [f"- `mores judge-check {row['benchmark']}`: {row['headline']}." for row in checked]
    parts["judge"] = "\n".join(checks) or "No judge was checked."
    found = [row for row in rows if row["kind"] == "diagnose"]
    lines = [
        f"- **{row['settings'].capitalize()}{', ' + row['benchmark'] if row['benchmark'] else ''}.** {row['text']}"
        for row in sorted(found, key=lambda row: (row["settings"], place(row["benchmark"]), row["model"]))
    ]
    parts["diagnoses"] = "\n".join(lines) or "No diagnosis was made."
    return parts


def results_table(rows: list[Row]) -> str:
    """Return the results as a Markdown table, a line for each benchmark with its settings."""
    from mores.formatting import count, percent

    models = list(dict.fromkeys(row["model"] for row in rows))
    lines = [f"| benchmark | questions | figure | {' | '.join(f'`{model}`' for model in models)} | without knowledge |"]
    lines.append("| --- | ---: " + "| --- " * (len(models) + 2) + "|")
    grouped: dict[tuple[str, str], dict[str, Row]] = defaultdict(dict)
    for row in rows:
        grouped[row["benchmark"], row["settings"]][row["model"]] = row
    for (benchmark, settings), by_model in grouped.items():
        first = next(iter(by_model.values()))
        cells = [show(by_model[model]) if model in by_model else "–" for model in models]
        # Other figures' references, such as "all options alike, similarity", belong to those.
        lots = {name: value for name, value in first["references"].items() if ", " not in name}
        name = f"{benchmark}, {settings}" if settings else benchmark
        without = ", ".join(f"{name} {percent(value)}" for name, value in lots.items()) or "–"
        numbers = sorted({row["questions"] for row in by_model.values()})
        asked = "–".join(count(number) for number in (numbers[0], numbers[-1])[: len(numbers)])
        lines.append(f"| {name} | {asked} | {first['result']['name']} | {' | '.join(cells)} | {without} |")
    return "\n".join(lines)


def show(row: Row) -> str:
    """Return a figure with its interval, and how many answers have no score."""
    from mores.formatting import share_between
    from mores.types import Result

    result = Result.model_validate(row["result"])
    return share_between(result) + (f", {result.unscored:,} unscored" if result.unscored else "")


def write_page(parts: dict[str, str]) -> None:
    """Put the generated parts between their marks."""
    page = PAGE.read_text("utf-8")
    for name, text in parts.items():
        start, end = f"<!-- {name}: python benchmarks/small_models.py -->\n", f"\n<!-- /{name} -->"
        before, _, rest = page.partition(start)
        page = before + start + text + end + rest.partition(end)[2]
    PAGE.write_text(page, "utf-8")


def main() -> None:
    """Print the tables, and save the rows if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="folder of runs; the saved rows without it")
    parser.add_argument("--save", action="store_true", help=f"write {SAVED.name}, and the tables into {PAGE.name}")
    parser.add_argument("--paths", action="store_true", help="print the folders of the runs of benchmarks alone")
    arguments = parser.parse_args()
    if arguments.paths:
        print("\n".join(str(run.path) for run in chosen(arguments.folder) if run.kind == "bench"))
        return
    if arguments.folder:
        rows = read(arguments.folder)
    else:
        rows = [json.loads(line) for line in SAVED.read_text("utf-8").splitlines()]
    parts = tables(rows)
    if arguments.save:
        SAVED.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
        write_page(parts)
    for name, text in parts.items():
        print(f"## {name}\n\n{text}\n")


if __name__ == "__main__":
    main()
