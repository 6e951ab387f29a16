"""CultureAtlas (Fung et al. 2024): statements about countries from Wikipedia; stands in for Mango.

Its wrong statements are not used: most are equal to the correct ones, and of the others some are true. What does not
end like a sentence, such as a list of links, is left out; the same statement twice is taken once. Many rows have the
region of another page ("Smoking in South Korea" of North Korea): what names another country and not its region is left
out. What shares a page of Wikipedia stays in one split.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mores.culture import mentions, mentions_country, region, region_name
from mores.factory.items import Source, SourceItem, Task
from mores.factory.sources.files import find, read_all
from mores.factory.sources.rows import OnBad, SourceRow, digest, items

_ENDS = re.compile(r"[.!?][\"'”’)\]]*$")


def _read(folder: Path, on_bad: OnBad) -> Iterator[SourceItem]:
    rows = read_all(find(folder, "cultureatlas*.json", "cultureatlas*.jsonl"))
    yield from items(rows, _item, on_bad, repeated=True)


def _item(row: SourceRow) -> SourceItem | None:
    statement = " ".join(row.text("positive_sample").split())
    country, keyword = region(row.text("country")), row.text("keyword")
    if not _ENDS.search(statement) or _is_elsewhere(country, keyword, statement):
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


def _is_elsewhere(country: str, keyword: str, statement: str) -> bool:
    """Return whether a page or a statement is about another country than its row says.

    A page about a language or a people may be about any country that its statement names; in a statement they alone
    say little about where it holds.
    """
    if mentions_country(keyword, country):
        return False
    of_page = list(mentions(keyword))
    if any(mention.is_name for mention in of_page):
        return True
    if mentions_country(statement, country):
        return False
    return bool(of_page) or any(mention.is_name for mention in mentions(statement))


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
