"""CulturalBench (Chiu et al. 2025): questions about 45 regions, each verified by five people.

Items come from the Hard format alone, because it labels every option as true or false: 86 questions of the first
release have several true options, which the Easy format hides behind choices such as "i, ii". One true option is the
answer, the other true ones also count as correct, and only false ones are offered as wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mores.culture import region
from mores.errors import InputError
from mores.factory.items import Source, SourceItem, Task
from mores.factory.sources.files import find, read_all
from mores.factory.sources.options import needs_options, without_full_stops
from mores.factory.sources.rows import OnBad, SourceRow, collect, items


@dataclass(frozen=True)
class LabelledOption:
    """One option of a question and whether it is true."""

    row: SourceRow
    question_id: str
    question: str
    option: str
    true: bool


def read_statements(folder: Path, on_bad: OnBad) -> dict[str, list[LabelledOption]]:
    """Return the statements of each question."""
    paths = find(folder, "hard_true_false.json", "CulturalBench-Hard*.csv", "*Hard*.parquet", "*Hard*/*.parquet")
    by_question: dict[str, list[LabelledOption]] = {}
    for statement in collect(read_all(paths, depth=2), _statement, on_bad):
        by_question.setdefault(statement.question_id, []).append(statement)
    return by_question


def _read(folder: Path, on_bad: OnBad) -> Iterator[SourceItem]:
    by_question = read_statements(folder, on_bad)
    first = (statements[0].row for statements in by_question.values())
    yield from items(first, lambda row: _item(by_question[row.text("question_id", "question_idx")]), on_bad)


def _statement(row: SourceRow) -> LabelledOption:
    truth = str(row.values.get("output", row.values.get("answer"))).strip().lower()
    if truth not in {"true", "false", "1", "0"}:
        raise InputError(f"{truth!r} is neither True nor False; expected the Hard format")
    if question := row.maybe("prompt_question"):
        option = row.text("prompt_option")
    else:
        question, _, option = row.text("input").partition(" Question: ")[2].partition(" Answer: ")
        if not question or not option.strip():
            raise InputError("no question and answer in 'input'; expected '… Question: … Answer: …'")
    name = row.text("question_id", "question_idx")
    return LabelledOption(row, name, question.strip(), option.strip(), truth in {"true", "1"})


def _item(statements: list[LabelledOption]) -> SourceItem:
    row = statements[0].row
    if len({statement.question for statement in statements}) > 1:
        raise InputError(f"two questions with the id {statements[0].question_id}; give each question its own id")
    bare = without_full_stops(statement.option for statement in statements)
    true = [option for option, statement in zip(bare, statements, strict=True) if statement.true]
    false = [option for option, statement in zip(bare, statements, strict=True) if not statement.true]
    if not true:
        raise InputError(f"question {statements[0].question_id} has no true option; correct or remove it")
    return SourceItem(
        source="culturalbench",
        id=statements[0].question_id,
        task=Task.QA,
        question=statements[0].question,
        answer=true[0],
        options=tuple(option for option in bare if option not in true[1:]),
        wrong=tuple(false),
        also_correct=tuple(true[1:]),
        region=region(row.text("country")),
        language="en",
        stands_alone=not needs_options(statements[0].question, bare, "en"),
    )


SOURCE = Source(
    name="culturalbench",
    title="CulturalBench: cultural knowledge, verified by five people",
    task=Task.QA,
    licence="CC-BY-4.0",
    commercial=True,
    homepage="https://huggingface.co/datasets/kellycyy/CulturalBench",
    files="the Hard format: CulturalBench-Hard.csv or hard_true_false.json",
    stratify="region",
    read=_read,
    hub="kellycyy/CulturalBench",
)
