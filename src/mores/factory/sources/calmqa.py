"""CaLMQA (Arora et al. 2025): long questions and answers in 23 languages; the answers of people to cultural questions.

Questions that are the same in every culture are left out, and so are those that only models have answered.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mores.culture import language
from mores.errors import InputError
from mores.factory.items import Source, SourceItem, Task
from mores.factory.sources.files import find, read
from mores.factory.sources.rows import OnBad, Row, digest, items

LANGUAGES = [
    "Afar", "Arabic", "Balochi", "Chinese", "English", "Faroese", "Fijian", "German", "Hebrew", "Hiligaynon", "Hindi",
    "Hungarian", "Japanese", "Kirundi", "Korean", "Papiamento", "Pashto", "Russian", "Samoan", "Spanish", "Tongan",
    "Tswana", "Wolof",
]  # fmt: skip
"""The Hub writes a language as its place in this list."""
SPECIFIC = {"1", "culturally specific"}


def _read(folder: Path, on_bad: OnBad) -> Iterator[SourceItem]:
    paths = find(folder, "dataset-specific-*.json*", "*.parquet")
    rows = (row for path in paths for row in read(path, depth=2))
    yield from items(rows, _item, on_bad)


def _item(row: Row) -> SourceItem | None:
    return _released(row) if "question_type" in row.values else _researched(row)


def _released(row: Row) -> SourceItem | None:
    """A row as on the Hub."""
    answer = row.maybe("answer")
    if row.text("question_type") not in SPECIFIC or answer is None:
        return None
    name = row.text("language")
    if name.isdecimal():
        if int(name) >= len(LANGUAGES):
            raise InputError(f"language {name} is none of 0 to {len(LANGUAGES) - 1}; correct or remove the row")
        name = LANGUAGES[int(name)]
    question = row.text("question")
    return _made(digest(name, question), name, question, answer, None)


def _researched(row: Row) -> SourceItem | None:
    """An entry of the authors' repository, with the answers of people and models in one list."""
    asked = row.having(row.mapping("question"))
    name = asked.text("language")
    answer = next((_text(given, name) for given in row.list("answers") if _by_person(given)), None)
    if answer is None:
        return None
    question = _text(asked.values, name)
    if question is None:
        raise InputError(f"the question is not there in {name}; expected it in 'translations'")
    return _made(asked.text("name"), name, question, answer, asked.maybe("category"))


def _by_person(answer: Any) -> bool:
    match answer:
        case {"prompting_state": {"model_name": "Human"}}:
            return True
    return False


def _text(of: Any, name: str) -> str | None:
    match of:
        case {"translations": dict(texts)}:
            text = texts.get(name, {}).get("text")
            return str(text).strip() or None if text else None
    return None


def _made(name: str, spoken: str, question: str, answer: str, category: str | None) -> SourceItem:
    return SourceItem(
        source="calmqa",
        id=name,
        task=Task.FREEFORM,
        question=question,
        answer=answer,
        language=language(spoken),
        topic=category,
    )


SOURCE = Source(
    name="calmqa",
    title="CaLMQA: culturally specific long questions",
    task=Task.FREEFORM,
    licence="MIT",
    commercial=True,
    homepage="https://huggingface.co/datasets/shanearora/CaLMQA",
    files="data/train-*.parquet as on the Hub, or dataset-specific-<language>.json(.gz) of the authors' repository",
    stratify="language",
    read=_read,
    hub="shanearora/CaLMQA",
    soft=True,
)
