"""Benchmarks of long answers: `mores.longform` appraises the answers, and its measures are the verdicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mores.benchmark.benchmark import Benchmark, Verdict
from mores.benchmark.run import BenchJob, Said
from mores.engine import Asker, Progress
from mores.io import JsonlWriter, read_records
from mores.io.private import make_folder
from mores.longanswer.appraise import Appraising, announce, counting_of
from mores.longanswer.evaluate import ANSWERS, LongformEvaluation
from mores.longanswer.records import Appraisal, LongAnswer
from mores.longanswer.summary import Counting, Parts, figures, measure_answer, parts_of
from mores.signature import sign
from mores.types import Item, Signature

MEASURES = ("S", "without issues", "wrong language", "repetition", "precision", "relevance", "english")
"""The shares among the figures; the first of them that is measured is the headline."""
AGAIN = "#"
"""Parts an item's id from the number of the sample, for every sample after the first."""


async def appraise(
    job: BenchJob,
    responses: Path,
    verdicts: Path,
    folder: Path,
    how: Appraising,
    judge: Asker | None,
    progress: Progress,
) -> tuple[LongformEvaluation, Counting]:
    """Judge the responses of a run and write the verdicts; the folder gets all that is known about each answer."""
    make_folder(folder)
    _write_answers(job.benchmark, job.items, responses, folder / ANSWERS)
    evaluation = how.evaluation(folder / ANSWERS, folder, judge)
    if judge:
        announce(evaluation, how, progress)
    await evaluation.run(job.benchmark.name, job.answers, progress)
    counting = counting_of(evaluation, Counting())
    _write_verdicts(responses, evaluation.appraised(), counting, verdicts)
    return evaluation, counting


def _write_answers(benchmark: Benchmark, items: Iterable[Item], responses: Path, path: Path) -> None:
    """Write the answers of a model to a file that `mores longform` reads."""
    assert benchmark.long_answer is not None
    by_id = {item.id: item for item in items}
    with JsonlWriter(path) as writer:
        for row in read_records(responses, Said):
            answer = benchmark.long_answer(by_id[row.response.item_id], row.response)
            writer.write(answer.model_copy(update={"id": f"{answer.id}{AGAIN}{row.sample}"}) if row.sample else answer)


def _write_verdicts(
    responses: Path, appraised: Iterable[tuple[LongAnswer, Appraisal]], counting: Counting, path: Path
) -> None:
    """Write the measures of every answer to a file."""
    rows = zip(read_records(responses, Said), appraised, strict=True)
    with JsonlWriter(path) as writer:
        for row, (answer, appraisal) in rows:
            writer.write(_verdict(row, answer, appraisal, counting))


def _verdict(row: Said, answer: LongAnswer, appraisal: Appraisal, counting: Counting) -> Verdict:
    """Return the measures; the first failure where one of them could not be taken."""
    item, every = row.response.item_id, measure_answer(answer, appraisal, counting)
    measures = {name: every[name] for name in MEASURES if name in every}
    failure = next(iter(appraisal.failures.values()), None) if None in measures.values() else None
    return Verdict(
        item_id=item, sample=row.sample, unit=item, answer=answer.answer, values=measures,
        read=appraisal.language and appraisal.language.detected, reason=appraisal.relevance_reason, failure=failure,
    )  # fmt: skip


def measure(
    benchmark: Benchmark, items: Iterable[Item], appraised: Iterable[tuple[LongAnswer, Appraisal]], counting: Counting
) -> dict[str, Any]:
    """Return the figures, overall and by group: those of `mores.longform`, which a failing judge does not move."""
    by_id = {item.id: item for item in items}
    every: list[tuple[str, Parts]] = []
    groups: dict[str, dict[str, list[tuple[str, Parts]]]] = {name: defaultdict(list) for name in benchmark.breakdowns}
    for answer, appraisal in appraised:
        item = by_id[answer.id.rpartition(AGAIN)[0] if answer.id not in by_id else answer.id]
        parts = parts_of(answer, appraisal, counting)
        row = item.id, {name: parts[name] for name in MEASURES if name in parts}
        every.append(row)
        for name, rows_of in groups.items():
            if (group := benchmark.group(item, name)) is not None:
                rows_of[group].append(row)
    by = {
        name: {group: figures(rows) for group, rows in sorted(rows_of.items())}
        for name, rows_of in groups.items()
        if rows_of
    }
    return {"figures": figures(every), "by": by}


def join_signatures(run: Signature, evaluation: Signature) -> Signature:
    """Return that of the run, with how its answers were appraised in place of the judge."""
    fields = {name: value for name, value in run.items() if name != "judge"}
    return sign(fields | {name: value for name, value in evaluation.items() if name not in ("task", "data")})
