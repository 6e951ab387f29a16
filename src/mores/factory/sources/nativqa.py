"""MultiNativQA (Hasan et al. 2025): questions of native speakers in seven languages, answers verified by people.

The name of a file contains its language and region, `NativQA_<language>_<variety>_<region>_<split>`; the columns are
data_id, category, input_query, question, answer.
"""

from __future__ import annotations

import re

from mores.culture import language, region
from mores.errors import InputError
from mores.factory.items import Source, SourceItem, Task
from mores.factory.sources.files import read_tables
from mores.factory.sources.rows import SourceRow, digest

_NAME = re.compile(r"NativQA_(?P<language>[a-z]+)_\w+?_(?P<region>[a-z]{2})_(train|dev|test)\b", re.IGNORECASE)


def _item(row: SourceRow) -> SourceItem:
    name = _NAME.match(row.file.name)
    if name is None:
        raise InputError("no language and region in the file's name; name it as it was published")
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
    read=read_tables(_item, "NativQA_*.json", "NativQA_*.jsonl", "NativQA_*.tsv"),
    hub="QCRI/MultiNativQA",
    soft=True,
)
