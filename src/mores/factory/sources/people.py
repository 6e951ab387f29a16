"""The rows of a source that are about the life of people where they belong to: neither cats nor other countries."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from mores.culture import mentions_country
from mores.factory.items import SourceItem
from mores.io.values import read_packaged_toml


def only_people(items: Iterable[SourceItem]) -> list[SourceItem]:
    """Return the items without those that are about something else, and without the translations of these."""
    read = list(items)
    others = {(item.region, item.unit) for item in read if not _is_about_people(item)}
    # Statements of one page have one unit, but only translations are in other languages.
    return [
        item for item in read if _is_about_people(item) and (item.is_english or (item.region, item.unit) not in others)
    ]


def _is_about_people(item: SourceItem) -> bool:
    if not item.is_english:
        return True
    text, page = item.answer, item.topic or ""
    if page and item.region and not (mentions_country(text, item.region) or mentions_country(page, item.region)):
        return False
    return bool(_words("life").search(text)) and not _words("other").search(f"{page}\n{text}")


@cache
def _words(kind: str) -> re.Pattern[str]:
    words = read_packaged_toml("mores.factory.sources", "people.toml")[kind].replace("\n", "")
    return re.compile(rf"\b(?:{words})", re.IGNORECASE)
