"""MultiNativQA (Hasan et al. 2025): questions of native speakers in seven languages, answers verified by people.

The name of a file says its language and region, `NativQA_<language>_<variety>_<region>_<split>`; the columns are
data_id, category, input_query, question, answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mores.culture import language, region
from mores.errors import InputError
from mores.factory.items import Source, SourceItem, Task
from mores.factory.sources.files import find, read_all
from mores.factory.sources.rows import OnBad, SourceRow, digest, items

_NAME = re.compile(r"NativQA_(?P<language>[a-z]+)_\w+?_(?P<region>[a-z]{2})_(train|dev|test)\b", re.IGNORECASE)


def _read(folder: Path, on_bad: OnBad) -> Iterator[SourceItem]:
    rows = read_all(find(folder, "NativQA_*.json", "NativQA_*.jsonl", "NativQA_*.tsv"))
    yield from items(rows, _item, on_bad)


def _item(row: SourceRow) -> SourceItem:
    name = _NAME.match(row.file.name)
    if name is None:
        raise InputError("the file's name says no language and region; name it as it was published")
    question = row.text("question", "input_query")
    return SourceItem(
        source="nativqa",
        id=f"{name['language']}_{name['region']}:{row.text('data_id')}",
        task=Task.FREEFORM,
        question=question,
        answer=row.text("answer"),
        region=region(name["region"]),
        language=language(name["language"]),
        topic=row.maybe("category"),
        unit=digest(name["language"], name["region"], question),
    )


SOURCE = Source(
    name="nativqa",
    title="MultiNativQA: questions of native speakers",
    task=Task.FREEFORM,
    licence="CC-BY-NC-SA-4.0",
    commercial=False,
    homepage="https://huggingface.co/datasets/QCRI/MultiNativQA",
    files="<language>_<region>/NativQA_<language>_<variety>_<region>_<split>.json",
    stratify="region",
    read=_read,
    hub="QCRI/MultiNativQA",
    soft=True,
)
