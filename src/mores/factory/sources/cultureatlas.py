"""CultureAtlas (Fung et al. 2024): statements about countries from Wikipedia; stands in for Mango.

Its wrong statements are not used: most equal the correct ones, and some of the others are true. Rows that do not end
like a sentence, such as lists of links, are left out, and so are duplicates. Many rows have the region of another page
("Smoking in South Korea" of North Korea): rows that name another country and not their region are left out. Statements
of the same page of Wikipedia stay in one split.
"""

from __future__ import annotations

import re

from mores.culture import mentions, mentions_country, region, region_name
from mores.factory.items import Source, SourceItem, Task
from mores.factory.sources.files import read_tables
from mores.factory.sources.rows import SourceRow, digest

_ENDS = re.compile(r"[.!?][\"'”’)\]]*$")


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

    A page about a language or a people may be about any country that its statement names; in a statement alone, they
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
    read=read_tables(_item, "cultureatlas*.json", "cultureatlas*.jsonl", repeated=True),
    soft=True,
    about_anything=True,
    stands_in_for="mango",
)
