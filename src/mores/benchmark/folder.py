"""A run of `mores bench`: questions, answers, grades and the result.

| file | what |
| --- | --- |
| `run.json` | the `Manifest`: what the run is, and how far it has come |
| `items.jsonl` | what was asked, one `Item` per line |
| `evidence.jsonl` | what a search found, where there was one |
| `responses.jsonl` | the answers of the model, one `Said` per line |
| `verdicts.jsonl` | the answers with their grades, one `Verdict` per line |
| `result.json` | the `BenchResult` |
| `.verdicts.figures` | what boards need of the verdicts (`io/kept.py`); it may be removed |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from mores.benchmark import benchmark
from mores.benchmark.benchmark import Benchmark, Label, Verdict, group_of
from mores.benchmark.columns import columns_of, find_fields
from mores.benchmark.score import BenchResult, Tallies, VerdictScores, credit_of, measure_of, tally, tally_labels
from mores.errors import ConfigError, InputError
from mores.io import JsonlWriter
from mores.io.kept import kept
from mores.run import Run, find_runs, open_run
from mores.types import Item, Result

if TYPE_CHECKING:
    from mores.metaevaluation.records import GradedQuestion

ITEMS, EVIDENCE, RESPONSES = "items.jsonl", "evidence.jsonl", "responses.jsonl"
VERDICTS, RESULT = "verdicts.jsonl", "result.json"
LONGFORM = "longform"
"""Folder of the judgements of long answers, where the benchmark has them."""
FILES = {ITEMS: "Item", RESPONSES: "Said", VERDICTS: "Verdict", RESULT: "BenchResult"}
"""Record types."""
_LABELS: dict[str | None, Label | None] = {None: None, **{label.value: label for label in Label}}


class BenchRun(Run):
    """A run of a benchmark."""

    @cached_property
    def result(self) -> BenchResult:
        """All figures."""
        return self.record(RESULT, BenchResult)

    @property
    def facts(self) -> dict[str, str]:
        """Facts of the model's configuration, such as its provider and reasoning; empty without a named one."""
        configuration, words = self.manifest.configuration, {True: "yes", False: "no"}
        facts = configuration.get("facts")
        known = dict(facts) if isinstance(facts, dict) else {}
        budget, effort = configuration.get("thinking_budget"), configuration.get("reasoning_effort")
        asked = {
            "reasoning": effort or (f"{budget} tokens" if budget else None),
            "web": configuration.get("web_search"),
        }
        known |= {name: fact for name, fact in asked.items() if fact is not None}
        return {str(name): words[fact] if isinstance(fact, bool) else str(fact) for name, fact in known.items()}

    def benchmark(self) -> Benchmark:
        """Return the benchmark that was run: the one of its name, or in the user's folder that `run.json` names."""
        return benchmark(str(self.manifest.settings.get("benchmark") or self.result.benchmark))

    def items(self) -> list[Item]:
        """Return what was asked."""
        return list(self.records(ITEMS, Item))

    def verdicts(self) -> Iterator[Verdict]:
        """Return each answer with its grade."""
        return self.records(VERDICTS, Verdict)

    def answers(self) -> Iterator[tuple[Item, Verdict]]:
        """Return each question with an answer and its grade."""
        by_id = {item.id: item for item in self.items()}
        return ((by_id[verdict.item_id], verdict) for verdict in self.verdicts())

    def by(self, column: str) -> dict[str, dict[str, Result]]:
        """Return the figures of each group of questions by one of their columns: group, figure.

        Questions without a value in it are the last group, called "".
        """
        return self.result_by([column]).by[find_fields(self.items(), [column])[0]]

    def result_by(self, columns: Sequence[str]) -> BenchResult:
        """Return the result with its figures by these columns of the questions too."""
        result = self.result
        if not columns:
            return result  # without its items, which a run of an older version or of others may lack
        items = self.items()
        wanted = tuple(name for name in find_fields(items, columns) if not _adds_up(result, items, name))
        if not wanted:
            return result
        benchmark = self.benchmark()
        if benchmark.long_answer:
            if all(name in result.by for name in wanted):
                return result
            fix = f"run it again by {' and '.join(columns)}: answers that are there are not asked for again"
            raise ConfigError(f"{self.path}: long answers are measured by a column only while they are run; {fix}")
        scores = VerdictScores(replace(benchmark, groupings=wanted, columns=wanted), items, result.unjudged)
        for verdict in self.verdicts():
            scores.add(verdict)
        scored = scores.result(result.model, result.judge, result.signature)
        return result.model_copy(update={"by": result.by | scored.by})

    def columns(self, names: Sequence[str]) -> dict[str, dict[str, str]]:
        """Return the group of each question that has one, by its id, for each of these columns of the questions."""
        return columns_of(self.items(), names)

    def tallies(self) -> Tallies:
        """Return how many answers to each question are correct, or what was measured of them."""
        result, path = self.result, self.file(VERDICTS)
        figure = next(iter(result.figures), "") if result.measured else None

        def count() -> Tallies:
            if figure is not None:
                return measure_of(self.verdicts(), figure)
            try:
                return tally_labels(_read_labels(path, result.unjudged))
            except (ValueError, LookupError, TypeError):  # not as Mores writes it: the reader says what is wrong
                return tally(self.verdicts(), result.unjudged)

        tallies: Tallies = kept(path, f"tallies-1 {figure or ''} {result.unjudged or ''}", count)
        return tallies

    def graded(self) -> dict[str, GradedQuestion]:
        """Return each question with its first answer, and the share of its answers that are correct."""
        from mores.metaevaluation.records import GradedQuestion

        credit, graded = credit_of(self.tallies()), dict[str, GradedQuestion]()
        for item, verdict in self.answers():
            if verdict.unit not in graded:
                label, share = str(verdict.label or "not graded").replace("_", " "), credit.get(verdict.unit)
                if share is not None and (share not in (0, 1) or verdict.unit != item.id):
                    label = f"{share:.0%} correct"
                graded[verdict.unit] = GradedQuestion(
                    asked=item.prompt, answer=verdict.answer or "", label=label, credit=share
                )
        return graded


def _adds_up(result: BenchResult, items: Iterable[Item], column: str) -> bool:
    """Return whether every question is in a group of the column; a benchmark's own groupings leave some out."""
    groups = result.by.get(column)
    return groups is not None and ("" in groups or all(group_of(item, column) is not None for item in items))


def _read_labels(path: Path, unjudged: Label | None) -> Iterator[tuple[str, int, Label | None]]:
    """Yield the unit, sample and label of each verdict without making records of them, which is slow."""
    get = itemgetter("unit", "sample", "label", "answer")
    with path.open("rb") as file:
        while lines := file.readlines(1 << 20):
            for unit, sample, word, answer in map(get, orjson.loads(b"[%b]" % b",".join(lines))):
                if type(unit) is not str or type(sample) is not int:
                    raise TypeError("not a verdict")
                label = _LABELS[word]
                yield unit, sample, unjudged if label is None and answer is not None and unjudged else label


def write_items(items: Iterable[Item], folder: Path) -> None:
    """Write the questions to their file."""
    with JsonlWriter(folder / ITEMS) as writer:
        for item in items:
            writer.write(item)


def open_bench_run(path: Path | str) -> BenchRun:
    """Return the run of a benchmark in a folder."""
    run = open_run(path)
    if not isinstance(run, BenchRun):
        raise InputError(f"{path}: it is a run of mores {run.kind}; give one of mores bench")
    return run


def find_bench_runs(folder: Path | str) -> list[BenchRun]:
    """Return all runs of benchmarks in a folder and below that have a result; InputError where there is none."""
    runs = [run for run in find_runs(folder, "bench") if isinstance(run, BenchRun) and (run.path / RESULT).is_file()]
    if not runs:
        raise InputError(f"{folder}: no run of a benchmark in it has a result; give a folder of mores bench")
    return runs
