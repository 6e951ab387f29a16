"""Labels that users add to questions, such as tiers and topics: results are broken down by them.

A file has one `QuestionLabels` per line: `{"id": "q17", "labels": {"tier": "Hard"}}`; a run of `mores topics` has one.
`mores tiers RUN... --out tiers.jsonl` writes one by how hard a question is: how many of its graded answers, in any set
of runs, are correct. Labels change no answer and no score, so they are no part of the signature.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from pydantic import Field

from mores.benchmark.benchmark import LABELS, Benchmark, Verdict, thirds
from mores.benchmark.folder import find_bench_runs
from mores.benchmark.msqa import fifths
from mores.benchmark.score import tally
from mores.errors import ConfigError, InputError
from mores.io import JsonlWriter, read_records
from mores.io.values import load_toml
from mores.run import open_run
from mores.types import Failure, Item, Record

TOPICS = "topics.jsonl"
"""The labels in a run of `mores topics`."""


class QuestionLabels(Record):
    """The labels of one question, or why it has none."""

    id: str
    """The question's, or that of one of its parts."""
    labels: dict[str, str] = Field(default_factory=dict)
    failure: Failure | None = None


def read_labels(paths: Iterable[Path]) -> dict[str, dict[str, str]]:
    """Return the labels of each question in these files, or in these runs of `mores topics`."""
    labels: dict[str, dict[str, str]] = {}
    for path in paths:
        if path.is_dir():
            run = open_run(path)
            if run.kind != "topics":
                fix = "give one of mores topics, or a file of labels"
                raise InputError(f"{path}: it is a run of mores {run.kind}; {fix}")
            path = run.file(TOPICS)
        for row in read_records(path, QuestionLabels):
            labels_of_question = labels.setdefault(row.id, {})
            if twice := labels_of_question.keys() & row.labels.keys():
                raise InputError(f"{path}: {row.id} has the label {min(twice)!r} twice; remove one")
            labels_of_question.update(row.labels)
    return labels


def label(
    benchmark: Benchmark, items: Iterable[Item], labels: dict[str, dict[str, str]]
) -> tuple[Benchmark, list[Item]]:
    """Return the items with their labels, and the benchmark that breaks its results down by them too."""
    labelled = []
    for item in items:
        own = labels.get(benchmark.unit(item), {}) | labels.get(item.id, {})
        labelled.append(item.model_copy(update={"metadata": item.metadata | {LABELS: own}}) if own else item)
    if not any(LABELS in item.metadata for item in labelled):
        raise InputError(
            f"no label is of a question of {benchmark.name}; expected ids such as {benchmark.unit(labelled[0])!r}"
        )
    return with_labels(benchmark, labelled), labelled


def with_labels(benchmark: Benchmark, items: Iterable[Item]) -> Benchmark:
    """Return the benchmark that breaks its results down by the labels of these items too."""
    names = dict.fromkeys(name for item in items for name in item.metadata.get(LABELS, {}))
    return replace(benchmark, groupings=tuple(dict.fromkeys((*benchmark.groupings, *names))))


def read_topics(path: Path) -> dict[str, str]:
    """Read names and descriptions of topics from a TOML file: `"Food" = "dishes, drinks"`."""
    try:
        topics = load_toml(path.read_bytes())
    except ValueError as error:
        raise InputError(f'{path}: {error}; expected lines such as "Food" = "dishes, drinks"') from error
    if len(topics) < 2 or not all(isinstance(text, str) for text in topics.values()):
        raise InputError(f'{path}: expected at least two lines such as "Food" = "dishes, drinks"')
    return topics


Rule = Callable[[int, int], str | None]
"""The tier of a question from how many answers are correct, and how many have a grade."""


RULES: Mapping[str, Rule] = {"thirds": thirds, "fifths": fifths}


def sort_questions(runs: Iterable[Iterable[Verdict]], rule: Rule) -> dict[str, str]:
    """Return the tier of each question that has one; answers without a grade do not count."""
    correct: Counter[str] = Counter()
    graded: Counter[str] = Counter()
    for run in runs:
        for unit, (hits, total, _) in tally(run).items():
            correct[unit] += int(hits)
            graded[unit] += total
    return {unit: tier for unit, total in graded.items() if total and (tier := rule(correct[unit], total))}


class Tiers(Record):
    """The number of questions of each tier."""

    counts: dict[str, int]
    without: int
    """Questions that no answer of which has a grade, or that the rule gives none."""
    answers: int
    """Answers to each question."""


def label_tiers(folders: Iterable[Path], out: Path, rule: str | None = None) -> Tiers:
    """Sort the questions of one benchmark by runs of it, in a file of labels; the rule is the benchmark's or named."""
    runs = list({run.path.resolve(): run for folder in folders for run in find_bench_runs(folder)}.values())
    results = [run.result for run in runs]
    names = sorted({result.benchmark for result in results})
    if len(names) > 1:
        raise ConfigError(f"these are runs of {', '.join(names)}; give runs of one benchmark")
    tiers = sort_questions((run.verdicts() for run in runs), RULES[rule] if rule else runs[0].benchmark().tier)
    with JsonlWriter(out) as writer:
        for unit, tier in tiers.items():
            writer.write(QuestionLabels(id=unit, labels={"tier": tier}))
    counts = Counter(tiers.values())
    return Tiers(
        counts={tier: counts[tier] for tier in ("Easy", "Medium", "Hard")},
        without=max(result.questions for result in results) - len(tiers),
        answers=sum(result.samples for result in results),
    )
