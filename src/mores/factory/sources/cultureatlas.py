"""CultureAtlas (Fung et al. 2024): statements about countries from Wikipedia; stands in for Mango.

Its wrong statements are not used: most are equal to the correct ones, and of the others some are true. What does not
end like a sentence, such as a list of links, is left out; the same statement twice is taken once. What shares a page of
Wikipedia stays in one split.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mores.culture import region, region_name
from mores.factory.items import Source, SourceItem, Task
from mores.factory.sources.files import find, read_all
from mores.factory.sources.rows import OnBad, Row, digest, items

_ENDS = re.compile(r"[.!?][\"'”’)\]]*$")


def _read(folder: Path, on_bad: OnBad) -> Iterator[SourceItem]:
    rows = read_all(find(folder, "cultureatlas*.json", "cultureatlas*.jsonl"))
    yield from items(rows, _item, on_bad, repeated=True)


def _item(row: Row) -> SourceItem | None:
    statement = " ".join(row.text("positive_sample").split())
    country, keyword = region(row.text("country")), row.text("keyword")
    if not _ENDS.search(statement):
        return None
    name = region_name(country)
    return SourceItem(
        source="cultureatlas",
        id=digest(country, keyword, statement),
        task=Task.GENERATION,
        question=keyword if name.casefold() in keyword.casefold() else f"{keyword} ({name})",
        answer=statement,
        region=country,
        language="en",
        topic=keyword,
        unit=digest(keyword),
    )


SOURCE = Source(
    name="cultureatlas",
    title="CultureAtlas: statements about countries",
    task=Task.GENERATION,
    licence="CC-BY-NC-SA-4.0",
    commercial=False,
    homepage="https://github.com/yrf1/LLM-MassiveMulticultureNormsKnowledge-NCLB",
    files="cultureatlas*.json with country, keyword, positive_sample",
    stratify="region",
    read=_read,
    soft=True,
    stands_in_for="mango",
)
