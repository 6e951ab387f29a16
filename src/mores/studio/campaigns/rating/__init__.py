"""Rating and ranking (CaLMQA, Section 4 and Appendix D): people compare the blind answers of several models.

rate (annotators who know the language): each answer by itself, then a ranking with a reason
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mores.studio.campaigns.rating.content import COLUMNS, FIELDS, IGNORED, LONG, admit, join
from mores.studio.campaigns.rating.forms import RatingSettings, rate_form
from mores.studio.campaigns.rating.results import STAGE, export, method, shown, summarise
from mores.studio.kind import CampaignKind
from mores.studio.records import CampaignItem, Content, Role
from mores.studio.workflow import CampaignStage, StageDecision


def stages(settings: RatingSettings) -> tuple[CampaignStage, ...]:
    """Return the one stage of a campaign."""

    def decide(item: CampaignItem) -> StageDecision | None:
        return StageDecision("next") if len(item.votes_at(STAGE)) >= settings.raters else None

    return (
        CampaignStage(
            STAGE,
            "Rate the answers",
            Role.ANNOTATOR,
            lambda item: rate_form(settings, item),
            decide,
            people=lambda _item: settings.raters,
            speaking=True,
            regional=settings.regional,
            hold=settings.hold,
        ),
    )


def label(_stage: str, answer: Content) -> str | None:
    """Return the letters of the best answers, or the rating where there is only one answer."""
    places = {name.removeprefix("rank_"): int(place) for name, place in answer.items() if name.startswith("rank_")}
    if not places:
        return str(answer["rating_a"]) if answer.get("rating_a") else None
    best = min(places.values())
    return "=".join(sorted(letter for letter, place in places.items() if place == best))


def headline(item: CampaignItem) -> str:
    """Return the question in one line."""
    return " ".join(str(item.content.get("question") or item.id).split())


WORDS = {
    "question": "Question",
    "reference": "Reference answer",
    "type": "Type of question",
    "answers": "Answers",
    "letter": "Letter",
    "model": "Model",
    "text": "Text",
    "failed": "Without an answer",
}
"""What an item's content is called in its life."""

KIND: CampaignKind[Any] = CampaignKind(
    name="rating",
    title="Rating",
    goal="Rate answers",
    summary="People rate and rank the answers of several models without knowing whose they are.",
    folder=Path(__file__).parent,
    settings=RatingSettings,
    stages=stages,
    export=export,
    label=label,
    runs=False,
    admit=admit,
    join=join,
    columns=COLUMNS,
    also=(*FIELDS, *sorted(LONG | IGNORED)),
    headline=headline,
    summarise=summarise,
    method=method,
    shown=shown,
    words=WORDS,
)
