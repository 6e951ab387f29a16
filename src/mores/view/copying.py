"""The view of a page as a command and as Python, to be copied."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

from mores.benchmark.benchmark import LABELS
from mores.report.bench.answers import BY_LABEL, MEASURED
from mores.types import DEFAULT_INSTRUCTION, Sample
from mores.view.index import Filters

CONDITIONS = {
    "errors": "each.report and each.report.errors",
    "clean": "each.score is not None and each.score >= 0",
    "unknown": "each.score is None and not each.failure",
    "failed": "each.failure",
}


def show_command(path: Path) -> dict[str, str]:
    """Return how a run is shown and opened elsewhere."""
    code = f"import mores\n\nrun = mores.open_run({str(path)!r})"
    return {"Command": f"mores show {quote(str(path))}", "Python": code}


def compare_command(first: Path, second: Path) -> dict[str, str]:
    """Return how two runs are compared with tests of significance."""
    code = f"import mores\n\nresult = mores.compare({str(first)!r}, {str(second)!r})"
    return {"Command": f"mores compare {quote(str(first))} {quote(str(second))}", "Python": code}


def filter_code(path: Path, file: str, filters: Filters) -> str:
    """Return the Python that gives the texts of a page."""
    tests = [CONDITIONS[filters.state]] if filters.state in CONDITIONS else []
    if filters.severity:
        tests.append(f"each.report and any(error.severity == {filters.severity!r} for error in each.report.errors)")
    if filters.weak:
        tests.append('any(note.startswith("weak verdict") for note in each.notes)')
    for name, value in filters.cells:
        if name == "type":
            tests.append(f"each.report and any(error.type.casefold() == {value!r} for error in each.report.errors)")
        elif name.startswith("column:"):
            tests.append(f"str(each.metadata.get({name.removeprefix('column:')!r})) == {value!r}")
        else:
            tests.append(f"each.{name} == {value or None!r}")
    tests += [f"{word!r} in f'{{each.instruction}} {{each.text}}'.casefold()" for word in filters.q.casefold().split()]
    if filters.ids is not None:
        tests.append(f"each.sample_id in {set(filters.ids) or '()'}")
    kept = "".join(f"\n    if {test}" for test in tests)
    opened = f"import mores\n\nrun = mores.open_run({str(path)!r})"
    return f"{opened}\ntexts = [\n    each\n    for each in run.records({file!r}, mores.Judgement){kept}\n]"


def answers_code(path: Path, filters: Filters) -> str:
    """Return the Python that gives the answers of a page, each with its question."""
    labels = {state: label and label.value for label, state in BY_LABEL.items()}
    tests = [f"verdict.label == {labels[filters.state]!r}"] if filters.state in labels else []
    if filters.state in (MEASURED, "unscored"):
        measured = "verdict.label is None and not verdict.failure and verdict.values"
        tests = [measured if filters.state == MEASURED else f"verdict.label is None and not ({measured})"]
    for name, value in filters.cells:
        if name == "failure":
            tests.append(f"verdict.failure and verdict.failure.kind == {value!r}")
        elif name.startswith("column:"):
            column = name.removeprefix("column:")
            labelled = f"item.metadata.get({LABELS!r}, {{}}).get({column!r})"
            tests.append(f"str(item.metadata.get({column!r}, {labelled})) == {value!r}")
        else:
            tests.append(f"item.{name} == {value or None!r}")
    tests += [f"{word!r} in f'{{item.prompt}} {{verdict.answer}}'.casefold()" for word in filters.q.casefold().split()]
    if filters.ids is not None:
        several = any(" #" in name for name in filters.ids)
        named = "(f'{item.id} #{verdict.sample + 1}' if verdict.sample else item.id)" if several else "item.id"
        tests.append(f"{named} in {set(filters.ids) or '()'}")
    kept = "".join(f"\n    if {test}" for test in tests)
    opened = f"import mores\n\nrun = mores.open_run({str(path)!r})"
    return f"{opened}\nanswers = [\n    (item, verdict)\n    for item, verdict in run.answers(){kept}\n]"


def try_code(sample: Sample, model: str) -> dict[str, str]:
    """Return how a text is judged elsewhere."""
    fields = sample.model_dump(include={"instruction", "text", "language", "region"}, exclude_none=True)
    if fields["instruction"] == DEFAULT_INSTRUCTION:
        del fields["instruction"]
    code = f"import mores\n\n[judgement] = mores.score([{fields!r}], model={model!r})"
    line = Sample(id="text", **fields).model_dump_json(exclude_none=True, exclude={"id"})
    command = f"printf '%s\\n' {quote(line)} > text.jsonl\nmores score text.jsonl --model {quote(model)}"
    return {"Command": command, "Python": code}
