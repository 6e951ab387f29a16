"""SimpleQA (Wei et al. 2024) and Chinese SimpleQA (He et al. 2024), asked and graded as MSQA is (its Section 4.1.2)."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from mores.benchmark.msqa import MSQA, read_items
from mores.errors import InputError
from mores.factory.sources.files import find, read_all
from mores.factory.sources.rows import SourceRow, digest
from mores.types import Item


def _problem(row: SourceRow) -> Item:
    question, about = row.text("problem"), _metadata(row.text("metadata"))
    return Item(
        id=digest(question),
        prompt=question,
        target=(row.text("answer"),),
        language="en",
        topic=about["topic"],
        metadata={"answer_type": about["answer_type"]},
    )


def _metadata(text: str) -> dict[str, str]:
    """Return topic and type of answer in the published cell, a Python literal."""
    try:
        values: Any = ast.literal_eval(text)
        return {name: str(values[name]) for name in ("topic", "answer_type")}
    except (ValueError, SyntaxError, TypeError, KeyError, RecursionError, MemoryError) as error:
        raise InputError("'metadata' has no topic and answer_type; expected the published columns") from error


def _question(row: SourceRow) -> Item:
    return Item(
        id=row.text("id"),
        prompt=row.text("question"),
        target=(row.text("answer"),),
        language="zh",
        topic=row.text("primary_category"),
        metadata={"subtopic": row.text("secondary_category")},
    )


SIMPLEQA = replace(
    MSQA,
    name="simpleqa",
    title="SimpleQA: short questions of fact in English",
    licence="MIT",
    homepage="https://huggingface.co/datasets/basicv8vc/SimpleQA",
    files="simple_qa_test_set.csv",
    read=lambda folder, on_bad: read_items(
        read_all(find(folder, "simple_qa*.csv", "*.csv", "*.parquet")), _problem, on_bad
    ),
    source="simpleqa",
    groupings=("topic", "answer_type"),
    hub="basicv8vc/SimpleQA",
)
CHINESE = replace(
    MSQA,
    name="chinese-simpleqa",
    title="Chinese SimpleQA: short questions of fact in Chinese",
    licence="CC-BY-NC-SA-4.0",
    homepage="https://huggingface.co/datasets/OpenStellarTeam/Chinese-SimpleQA",
    files="chinese_simpleqa.jsonl",
    read=lambda folder, on_bad: read_items(
        read_all(find(folder, "chinese_simpleqa*.jsonl", "*.jsonl", "*.parquet")), _question, on_bad
    ),
    source="chinese_simpleqa",
    groupings=("topic",),
    hub="OpenStellarTeam/Chinese-SimpleQA",
)
