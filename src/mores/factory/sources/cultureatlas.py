"""CultureAtlas (Fung et al. 2024): statements about countries, each with one that is wrong; stands in for Mango.

Pairs of two equal statements are left out (most of the release: nothing was changed there), and so are those whose
wrong statement is part of a correct one about the country. What shares a page of Wikipedia stays in one split.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from mores.culture import region, region_name
from mores.factory.items import Source, SourceItem, Task
from mores.factory.sources.files import find, read_all
from mores.factory.sources.rows import OnBad, Row, digest, fold, items


def _read(folder: Path, on_bad: OnBad) -> Iterator[SourceItem]:
    rows = list(read_all(find(folder, "cultureatlas*.json", "cultureatlas*.jsonl")))
    correct: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if isinstance(row, Row):
            correct[str(row.values.get("country"))].add(fold(str(row.values.get("positive_sample"))))
    yield from items(rows, lambda row: _item(row, correct[str(row.values.get("country"))]), on_bad)


def _item(row: Row, correct: set[str]) -> SourceItem | None:
    statement, wrong = row.text("positive_sample"), row.text("negative_sample")
    if any(fold(wrong) in text for text in correct):
        return None
    country, keyword = region(row.text("country")), row.text("keyword")
    name = region_name(country)
    return SourceItem(
        source="cultureatlas",
        id=digest(country, keyword, statement),
        task=Task.GENERATION,
        question=keyword if name.casefold() in keyword.casefold() else f"{keyword} ({name})",
        answer=statement,
        wrong=(wrong,),
        region=country,
        language="en",
        topic=keyword,
        unit=digest(keyword),
    )


SOURCE = Source(
    name="cultureatlas",
    title="CultureAtlas: right and wrong statements about countries",
    task=Task.GENERATION,
    licence="CC-BY-NC-SA-4.0",
    commercial=False,
    homepage="https://github.com/yrf1/LLM-MassiveMulticultureNormsKnowledge-NCLB",
    files="cultureatlas*.json with country, keyword, positive_sample, negative_sample",
    stratify="region",
    read=_read,
    stands_in_for="mango",
)
