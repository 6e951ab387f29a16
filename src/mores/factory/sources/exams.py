"""EXAMS (Hardalov et al. 2020): school exams in 16 languages, from which part of INCLUDE was made; stands in for it.

Only subjects that depend on where the school is are kept. The exams do not say their country, and a language is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mores.culture import language
from mores.errors import InputError
from mores.factory.items import Source, SourceItem, Task
from mores.factory.sources.files import find, read_all
from mores.factory.sources.rows import OnBad, Row, items

CULTURAL = {
    "Citizenship", "Fine Arts", "Geography", "History", "Islamic Studies", "Literature", "Politics", "Religion",
    "Social", "Sociology", "Tourism",
}  # fmt: skip


def _read(folder: Path, on_bad: OnBad) -> Iterator[SourceItem]:
    rows = read_all(find(folder, "*.jsonl.tar.gz", "*.jsonl", "*.jsonl.gz"))
    yield from items(rows, _item, on_bad)


def _item(row: Row) -> SourceItem | None:
    info = row.having(row.mapping("info"))
    if info.text("subject") not in CULTURAL:
        return None
    question = row.having(row.mapping("question"))
    options = dict(_option(choice) for choice in question.list("choices"))
    key = row.text("answerKey")
    if key not in options:
        raise InputError(f"answerKey {key!r} is none of {', '.join(options)}; correct or remove the row")
    return SourceItem(
        source="exams",
        id=row.text("id"),
        task=Task.QA,
        question=question.text("stem"),
        answer=options[key],
        options=tuple(options.values()),
        wrong=tuple(text for label, text in options.items() if label != key),
        language=language(info.text("language")),
        topic=info.text("subject"),
    )


def _option(choice: Any) -> tuple[str, str]:
    match choice:
        case {"label": str(label), "text": str(text)} if text.strip():
            return label, text.strip()
    raise InputError("a choice without 'label' or 'text'; correct or remove the row")


SOURCE = Source(
    name="exams",
    title="EXAMS: school exams in cultural subjects",
    task=Task.QA,
    licence="CC-BY-SA-4.0",
    commercial=True,
    homepage="https://github.com/mhardalov/exams-qa",
    files="train, dev and test .jsonl.tar.gz of the multilingual data, packed or not",
    stratify="language",
    read=_read,
    stands_in_for="include",
)
