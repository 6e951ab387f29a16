"""Benchmarks of long answers: `mores.longform` appraises the answers, and its measures are the verdicts."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from mores.benchmark.benchmark import Verdict
from mores.benchmark.folder import LONGFORM, RESPONSES, VERDICTS
from mores.benchmark.run import BenchJob, Said
from mores.benchmark.score import BenchResult
from mores.engine import Asker, Progress
from mores.io import JsonlWriter, read_records
from mores.io.private import make_folder
from mores.longanswer.appraise import Appraising, announce, counting_of, write_summaries
from mores.longanswer.evaluate import ANSWERS, LongformEvaluation
from mores.longanswer.records import Appraisal, LongAnswer
from mores.longanswer.summary import Counting, Parts, figures, measure_answer, parts_of, summarise
from mores.metric.groups import order_groups
from mores.signature import sign

MEASURES = ("S", "without issues", "wrong language", "repetition", "precision", "relevance", "english")
"""The shares among the figures; the first of them that is measured is the headline."""
AGAIN = "#"
"""Parts an item's id from the number of the sample, for every sample after the first."""


async def appraise(
    job: BenchJob, folder: Path, how: Appraising, judge: Asker | None, progress: Progress
) -> tuple[LongformEvaluation, Counting]:
    """Judge the responses in a run's folder and write the verdicts; `longform` in it gets all that is known of each."""
    long_answer, by_id, responses = job.benchmark.long_answer, {item.id: item for item in job.items}, folder / RESPONSES
    assert long_answer is not None
    make_folder(inner := folder / LONGFORM)
    with JsonlWriter(inner / ANSWERS) as writer:
        for row in read_records(responses, Said):
            answer = long_answer(by_id[row.response.item_id], row.response)
            writer.write(answer.model_copy(update={"id": f"{answer.id}{AGAIN}{row.sample}"}) if row.sample else answer)
    evaluation = how.evaluation(inner / ANSWERS, inner, judge)
    if judge:
        announce(evaluation, how, progress)
    await evaluation.run(job.benchmark.name, job.answers, progress)
    counting = counting_of(evaluation, Counting())
    with JsonlWriter(folder / VERDICTS) as writer:
        for row, (answer, appraisal) in zip(read_records(responses, Said), evaluation.appraised(), strict=True):
            writer.write(_verdict(row, answer, appraisal, counting))
    return evaluation, counting


def _verdict(row: Said, answer: LongAnswer, appraisal: Appraisal, counting: Counting) -> Verdict:
    """Return the measures; the first failure where one of them could not be taken."""
    item, every = row.response.item_id, measure_answer(answer, appraisal, counting)
    measures = {name: every[name] for name in MEASURES if name in every}
    failure = next(iter(appraisal.failures.values()), None) if None in measures.values() else None
    return Verdict(
        item_id=item, sample=row.sample, unit=item, answer=answer.answer, values=measures,
        thoughts=row.response.thoughts,
        read=appraisal.language and appraisal.language.detected, reason=appraisal.relevance_reason, failure=failure,
    )  # fmt: skip


def measure(
    job: BenchJob, folder: Path, evaluation: LongformEvaluation, counting: Counting, judge: Asker | None
) -> BenchResult:
    """Return the result with the figures of `mores.longform`, which a failing judge does not move, and write these."""
    benchmark, by_id = job.benchmark, {item.id: item for item in job.items}
    every: list[tuple[str, Parts]] = []
    groups: dict[str, dict[str, list[tuple[str, Parts]]]] = {name: defaultdict(list) for name in benchmark.breakdowns}
    for answer, appraisal in evaluation.appraised():
        item = by_id[answer.id.rpartition(AGAIN)[0] if answer.id not in by_id else answer.id]
        parts = parts_of(answer, appraisal, counting)
        row = item.id, {name: parts[name] for name in MEASURES if name in parts}
        every.append(row)
        for name, rows_of in groups.items():
            if (group := benchmark.group(item, name)) is not None:
                rows_of[group].append(row)
    by = {
        name: {group: figures(rows_of[group]) for group in order_groups(rows_of)}
        for name, rows_of in groups.items()
        if rows_of
    }
    appraised = evaluation.signature()
    write_summaries(summarise(evaluation.appraised(), counting, appraised), folder / LONGFORM)
    # How the answers were appraised stands in place of the judge.
    kept = {name: value for name, value in job.signature().items() if name != "judge"}
    signature = sign(kept | {name: value for name, value in appraised.items() if name not in ("task", "data")})
    more = {"judge": judge.model.name if judge else None, "signature": signature}
    return job.score(folder / VERDICTS).model_copy(update={"figures": figures(every), "by": by} | more)
