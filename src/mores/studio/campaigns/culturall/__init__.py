"""CulturALL (Lin et al. 2026, Section 2): grounded items, measured by models, completed by a model, reviewed by peers.

create (author) → measure (three models) ⇄ elevate (author) → complete (a model) → review (a peer)
"""

from __future__ import annotations

from typing import Any

from mores.studio.campaigns.culturall.forms import ENGLISH, PARTS, WORDS, is_english, present
from mores.studio.campaigns.culturall.results import describe, export, label, summarise
from mores.studio.campaigns.culturall.settings import FOLDER, CulturallSettings
from mores.studio.campaigns.culturall.stages import stages
from mores.studio.campaigns.culturall.tasks import TASKS
from mores.studio.kind import CampaignKind
from mores.studio.records import CampaignItem, Content

NAMING = ("question", "scenario", "excerpt", "theme")
"""What names an item in lists: the first of these that it has."""


def inspire(settings: CulturallSettings, item: CampaignItem) -> Content | None:
    """Return an item as authors of other languages see it: in English, without anything else about it."""
    shown = present(item)
    source = PARTS if is_english(item) else ENGLISH
    texts = {name: shown.get(field, "") for name, field in zip(PARTS, source, strict=True)}
    if not settings.inspiration or not texts["scenario"] or not texts["question"]:
        return None
    return {"region": shown["region"], "topic": shown["topic"], **texts}


KIND: CampaignKind[Any] = CampaignKind(
    name="culturall",
    title="CulturALL",
    summary="Authors write questions in real situations; models measure them; a peer reviews each.",
    folder=FOLDER,
    settings=CulturallSettings,
    stages=stages,
    export=export,
    label=label,
    tasks=TASKS,
    headline=lambda item: str(next(filter(None, map(item.content.get, NAMING)), item.id)),
    models=lambda settings: [*settings.models, *([settings.judge] if settings.judge else [])],
    summarise=summarise,
    method=describe,
    inspire=inspire,
    words=WORDS,
)
