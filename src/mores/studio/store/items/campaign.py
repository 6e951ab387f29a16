"""A campaign as the store knows it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from mores.studio.kind import CampaignKind
from mores.studio.records import CampaignItem, Content
from mores.studio.workflow import Flow


def now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Campaign:
    """A campaign that is open in the store: who it is, its kind and its rules."""

    id: str
    kind: CampaignKind[Any]
    settings: Any
    flow: Flow
    title: str
    demo: bool = False

    def blank(self, stage: str, content: Content, *, author: str | None = None, **place: str) -> CampaignItem:
        """Return an item that is not in the store, for its form; `place` may have its id, region and language."""
        place = {"id": "new", "campaign": self.id, "stage": stage} | place
        return CampaignItem(author=author, content=content, created=now(), updated=now(), **place)
