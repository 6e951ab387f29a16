"""`mores export-task`: a benchmark as a task of another harness, which gives the same score for the same answers.

Where answers are letters, or True or False, the task has a copy of the code that reads them and needs nothing of Mores;
other benchmarks are graded by Mores itself (`grading.py`, `inspect.py`). Of long answers a task measures the surface,
which needs no judge.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from mores import __version__, reading
from mores.benchmark import names
from mores.benchmark.appraise import MEASURES
from mores.benchmark.benchmark import Benchmark
from mores.benchmark.choice import grade_last_letter, grade_letter, grade_truth
from mores.benchmark.run import check_shots, check_variant, data_hash
from mores.benchmark.session import read_items, spread
from mores.benchmark.shots import with_examples
from mores.canary import FILE as CANARY
from mores.canary import make_canary, tell_canary
from mores.errors import ConfigError, InputError
from mores.extras import source_command
from mores.formatting import count
from mores.harness import figures
from mores.harness.settings import ExportTaskSettings
from mores.io import write_text
from mores.io.private import make_folder
from mores.longanswer.summary import JUDGED
from mores.reading import chosen_letter, chosen_truth, last_letter
from mores.types import Item

SURFACE = tuple(name for name in MEASURES if name not in JUDGED)
"""The figures of long answers that need no judge; the first is the headline, and of the others less is better."""
_TEMPLATES = Path(__file__).parent / "templates"
_CODE = "benchmark"
"""Folder of the exported task with the code of a user's benchmark, for Mores to grade with."""


@dataclass(frozen=True)
class Harness:
    """Another harness: the files that a task of it consists of, and how it is run."""

    title: str
    files: dict[str, tuple[str, str]]
    """By name: the template, and what the file is."""
    command: str
    judge: str


HARNESSES: dict[str, Harness] = {
    "lm-eval": Harness(
        "lm-evaluation-harness",
        {"{task}.yaml": ("lm_eval.yaml.j2", "the task"), "utils.py": ("lm_eval.py.j2", "its grading and figures")},
        "lm_eval run --tasks {task} --include_path {out} --model local-chat-completions --apply_chat_template "
        "--model_args model=NAME,base_url=http://localhost:8000/v1/chat/completions "
        "--log_samples --output_path results",
        "The judge is named in the environment: `MORES_JUDGE=openai:NAME`.",
    ),
    "inspect": Harness(
        "Inspect AI",
        {"{task}.py": ("inspect.py.j2", "the task, its grading and figures")},
        "inspect eval {out}/{task}.py@{task} --model openai/NAME",
        "The judge is the model of the role `grader`: `--model-role grader=openai/NAME`.",
    ),
}


def write_task(chosen: Benchmark, settings: ExportTaskSettings) -> None:
    """Write a benchmark as a task of another harness into a new folder."""
    to, folder = settings.to, settings.out
    check_variant(chosen, settings.variant)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: is there already; give a new folder, or remove it", setting="out")
    check_shots(chosen, settings.shots)
    items = read_items(chosen, settings.data, None if settings.shots else settings.limit, settings.progress)
    if settings.shots:
        items = with_examples(chosen, items, settings.shots)
        items = items if settings.limit is None else spread(chosen, items, settings.limit)
    make_folder(folder)
    try:
        _write_rows(chosen, items, settings.variant, folder / "data.jsonl")
        if reading_of(chosen) is None and chosen.name not in names():
            if chosen.folder is None:
                raise ConfigError(f"{chosen.name}: its folder is not known; load it with mores.benchmark.benchmark")
            without_data = shutil.ignore_patterns("data", "sample", "__pycache__", ".*")  # the task has the data
            shutil.copytree(chosen.folder, folder / _CODE, ignore=without_data)
        _write_task(chosen, items, HARNESSES[to], folder)
    except BaseException:
        shutil.rmtree(folder)  # half a task is none
        raise


def reading_of(benchmark: Benchmark) -> str | None:
    """Return the function of `mores.reading` that reads the answers, where a task can grade them without Mores."""
    known = ((grade_letter, chosen_letter), (grade_last_letter, last_letter), (grade_truth, chosen_truth))
    return next((read.__name__ for grade, read in known if benchmark.grade is grade), None)


def _write_rows(benchmark: Benchmark, items: Sequence[Item], variant: str | None, path: Path) -> None:
    """Write a line for each item: as it is asked, its question, and how many parts that has."""
    parts = Counter(map(benchmark.unit, items))
    lines = []
    for item in items:
        *_, message = benchmark.messages(item, variant)
        asked = benchmark.asked(item, variant).model_copy(update={"prompt": message.content})
        unit = benchmark.unit(item)
        row = {
            "unit": unit,
            "parts": parts[unit],
            "system": benchmark.system or "",
            "item": asked.model_dump(mode="json"),
        }
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    write_text(path, "".join(lines))


def _write_task(benchmark: Benchmark, items: Sequence[Item], harness: Harness, folder: Path) -> None:
    task = "mores_" + re.sub(r"\W", "_", benchmark.name)
    ours, long = benchmark.name in names(), benchmark.long_answer is not None
    better = SURFACE[:1] if long else [name for name, figure in benchmark.figures.items() if figure.above[0]]
    named = {name.format(task=task): template for name, template in harness.files.items()}
    copied = f'f"{{HERE}}/{_CODE}:{benchmark.name}"'
    values = {
        "task": task,
        "name": benchmark.name,
        "title": " ".join(benchmark.title.split()).replace("\\", "").replace('"', "'"),
        "version": __version__,
        "benchmark_version": benchmark.version,
        "homepage": benchmark.homepage,
        "licence": benchmark.licence,
        "data": f"{data_hash(items)}.{len(items)}",
        "canary": make_canary("task", benchmark.name, data_hash(items)),
        "tell_canary": tell_canary,
        "questions": count(len({benchmark.unit(item) for item in items}), "question"),
        "figures": SURFACE if long else benchmark.figures,
        "better": better,
        "long": long,
        "max_tokens": benchmark.max_tokens,
        "temperature": benchmark.temperature,
        "reading": reading_of(benchmark),
        "judged": benchmark.judging is not None,
        "reference": repr(benchmark.name) if ours else copied,
        "install": source_command("longform" if long else ""),
        "figure_code": _code_of(figures),
        "reading_code": _code_of(reading),
        "harness": harness.title,
        "command": harness.command.format(task=task, out=folder),
        "judge": harness.judge,
        "files": {name: what for name, (_, what) in named.items()},
    }
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    for name, (template, _) in {**named, "README.md": ("README.md.j2", "")}.items():
        write_text(folder / name, environment.get_template(template).render(values))
    write_text(folder / CANARY, f"{values['canary']}\n")


def _code_of(module: ModuleType) -> str:
    """Return the code of a module, without its docstring and imports."""
    source = Path(str(module.__file__)).read_text("utf-8")
    last = max(node.end_lineno or 0 for node in ast.parse(source).body if isinstance(node, ast.Import | ast.ImportFrom))
    return "\n".join(source.splitlines()[last:]).strip() + "\n"
