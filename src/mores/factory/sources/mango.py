"""Mango (Nguyen et al. 2024): assertions about concepts in thousands of cultures, checked by people.

`topic` is the culture, by which the paper stratifies; some cultures are also a region. The fields are `concept`,
`culture` and `assertion`, the terms of the paper: no description of the file names them, so the names in other releases
of the same authors are accepted as well.
"""

from __future__ import annotations

from mores.factory.items import Source, SourceItem, Task
from mores.factory.sources.files import read_tables
from mores.factory.sources.rows import SourceRow, digest, region_or_none


def _item(row: SourceRow) -> SourceItem:
    culture, concept = row.text("culture", "subject"), row.text("concept")
    assertion = row.text("assertion", "statement", "text")
    return SourceItem(
        source="mango",
        id=digest(culture, concept, assertion),
        task=Task.GENERATION,
        question=f"{concept} in {culture}{'' if culture.lower().endswith('culture') else ' culture'}",
        answer=assertion,
        region=region_or_none(culture),
        language="en",
        topic=culture,
        unit=digest(culture, concept),
    )


SOURCE = Source(
    name="mango",
    title="Mango: cultural commonsense assertions",
    task=Task.GENERATION,
    licence="CC-BY-4.0",
    commercial=True,
    homepage="https://mango.mpi-inf.mpg.de/download",
    files="mango_dataset_v1.jsonl, zipped or not",
    stratify="topic",
    read=read_tables(_item, "mango*.jsonl", "mango*.jsonl.zip", "mango*.csv"),
    soft=True,
)
