"""The versions of items: what each one held, who made it and when."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from mores.studio.records import Content, Event, EventKind


class ItemVersion(NamedTuple):
    """An item as it was written or changed at one moment."""

    item: str
    number: int
    at: datetime
    stage: str
    person: str | None
    """None where a stage changed it, for example with a model's labels."""
    region: str
    language: str
    content: Content


def list_versions(events: Iterable[Event]) -> list[ItemVersion]:
    """Return all versions of the items that events are about, in the order in which they were made."""
    last: dict[str, ItemVersion] = {}
    versions: list[ItemVersion] = []
    for event in events:
        if event.kind not in (EventKind.CREATED, EventKind.EDITED):
            continue
        before = last.get(event.item)
        region = event.payload.get("region") or (before.region if before else "")
        language = event.payload.get("language") or (before.language if before else "")
        number = before.number + 1 if before else 1
        content = event.payload["content"]
        last[event.item] = ItemVersion(
            event.item, number, event.at, event.stage, event.person, region, language, content
        )
        versions.append(last[event.item])
    return versions
