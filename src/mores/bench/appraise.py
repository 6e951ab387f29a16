"""Benchmarks of long answers: what the model said is appraised by `mores.longform`, whose measures are the verdicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mores.bench.benchmark import Benchmark, Verdict
from mores.bench.run import Said
from mores.io import JsonlWriter, read_records
from mores.longform.records import Appraisal, LongAnswer
from mores.longform.summary import Counting, Parts, figures, parts_of, values
from mores.signature import sign
from mores.types import Item, Signature

MEASURES = ("S", "without issues", "wrong language", "repetition", "precision", "relevance", "english")
"""The shares among the figures; the first that there is, is the headline."""
AGAIN = "#"
"""Parts an item's id from the number of the sample, for every sample after the first."""


def write_answers(one: Benchmark, items: Iterable[Item], said: Path, path: Path) -> None:
    """Put what a model said into a file that `mores longform` reads."""
    assert one.long_answer is not None
    by_id = {item.id: item for item in items}
    with JsonlWriter(path) as writer:
        for row in read_records(said, Said):
            answer = one.long_answer(by_id[row.response.item_id], row.response)
            writer.write(answer.model_copy(update={"id": f"{answer.id}{AGAIN}{row.sample}"}) if row.sample else answer)


def write_verdicts(
    said: Path, appraised: Iterable[tuple[LongAnswer, Appraisal]], counting: Counting, path: Path
) -> None:
    """Put the measures of every answer into a file."""
    rows = zip(read_records(said, Said), appraised, strict=True)
    with JsonlWriter(path) as writer:
        for row, (answer, found) in rows:
            writer.write(_verdict(row, answer, found, counting))


def _verdict(row: Said, answer: LongAnswer, found: Appraisal, counting: Counting) -> Verdict:
    """The measures; the first failure where one of them could not be taken."""
    item, every = row.response.item_id, values(answer, found, counting)
    measures = {name: every[name] for name in MEASURES if name in every}
    failure = next(iter(found.failures.values()), None) if None in measures.values() else None
    return Verdict(
        item_id=item, sample=row.sample, unit=item, answer=answer.answer, read=found.language and found.language.found,
        values=measures, reason=found.relevance_reason, failure=failure,
    )  # fmt: skip


def measure(
    benchmark: Benchmark, items: Iterable[Item], appraised: Iterable[tuple[LongAnswer, Appraisal]], counting: Counting
) -> dict[str, Any]:
    """The figures of a result, overall and by group: those of `mores.longform`, which a failing judge does not move."""
    by_id = {item.id: item for item in items}
    every: list[tuple[str, Parts]] = []
    groups: dict[str, dict[str, list[tuple[str, Parts]]]] = {name: defaultdict(list) for name in benchmark.breakdowns}
    for answer, found in appraised:
        item = by_id[answer.id.rpartition(AGAIN)[0] if answer.id not in by_id else answer.id]
        parts = parts_of(answer, found, counting)
        row = item.id, {name: parts[name] for name in MEASURES if name in parts}
        every.append(row)
        for name, own in groups.items():
            if (group := benchmark.group(item, name)) is not None:
                own[group].append(row)
    by = {name: {group: figures(rows) for group, rows in sorted(own.items())} for name, own in groups.items() if own}
    return {"figures": figures(every), "by": by}


def join_signatures(run: Signature, evaluation: Signature) -> Signature:
    """That of the run, with how its answers were appraised in place of the judge."""
    asked = {name: value for name, value in run.items() if name != "judge"}
    return sign(asked | {name: value for name, value in evaluation.items() if name not in ("task", "data")})
