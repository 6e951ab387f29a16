"""Error marking (MQM, JuICE): people mark what is wrong in texts, others check the marks, and equal errors are joined.

mark (several people) → validate (another person) → group (by overlap, or the organiser)

`forms.py` has the settings and what people fill in, `errors.py` what their marks add up to, `imports.py` what comes in,
`results.py` the files and the organiser's figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mores.studio.campaigns.marking.errors import GROUP, MARK, VALIDATE, agreed, found_in, group
from mores.studio.campaigns.marking.forms import WORDS, MarkingSettings, group_form, grouped, mark_form, validate_form
from mores.studio.campaigns.marking.imports import COLUMNS, IGNORED, admit, join
from mores.studio.campaigns.marking.results import export, label, method, summarise
from mores.studio.form import StudioForm
from mores.studio.kind import CampaignKind
from mores.studio.records import CampaignItem, Role
from mores.studio.workflow import CampaignStage, StageDecision


def stages(settings: MarkingSettings) -> tuple[CampaignStage, ...]:
    """Return the stages of a campaign."""

    def end_marking(item: CampaignItem) -> StageDecision | None:
        votes = item.votes_at(MARK)
        marks = sum(len(vote.answer["marks"]) for vote in votes)
        return StageDecision("next", result={"marked": marks}) if len(votes) >= settings.markers else None

    def end_validation(item: CampaignItem) -> StageDecision | None:
        """Go on when somebody has answered, or where there is nothing to ask about."""
        everything = found_in(item)
        if everything and not item.votes_at(VALIDATE):
            return None
        return StageDecision("next", result={"valid": sum(found.stands for found in everything), "of": len(everything)})

    def end_grouping(item: CampaignItem) -> StageDecision | None:
        """Group by the rule; where the organiser decides, only what they could not change."""
        groups = group(item)
        wait = settings.grouping == "organiser" and sum(map(len, groups)) > 1
        return None if wait else StageDecision("next", result={"groups": groups})

    shared: dict[str, Any] = {"speaking": True, "regional": settings.regional, "hold": settings.hold}
    mark = CampaignStage(
        MARK,
        "Mark the errors",
        Role.ANNOTATOR,
        lambda item: mark_form(settings, item),
        end_marking,
        people=lambda _item: settings.markers,
        **shared,
    )
    validate = CampaignStage(
        VALIDATE,
        "Check the marks",
        Role.VERIFIER,
        lambda item: validate_form(settings, item),
        end_validation,
        others=True,
        back=MARK,
        **shared,
    )
    by_hand = settings.grouping == "organiser"
    join_marks = CampaignStage(
        GROUP,
        "Join equal errors",
        Role.ORGANISER if by_hand else None,
        group_form if by_hand else lambda _item: StudioForm(),
        end_grouping,
        back=MARK,
        adjudge=grouped if by_hand else None,
    )
    return (mark, validate, join_marks) if settings.validated else (mark, join_marks)


def shown(_settings: MarkingSettings, item: CampaignItem) -> Mapping[str, Any]:
    """Return the marks of all people, each with the field that asks about it; and the errors that stand in the end."""
    field = {VALIDATE: "verdict", GROUP: "group"}.get(item.stage, "")
    marks = [
        found.mark | ({"field": f"{field}_{place}"} if field else {}) for place, found in enumerate(found_in(item))
    ]
    return {"marks": marks, "errors": list(agreed(item)) if item.results.get(GROUP) else []}


KIND: CampaignKind[Any] = CampaignKind(
    name="marking",
    title="Error marking",
    goal="Mark errors in texts",
    summary="People mark what is culturally wrong in texts, as in MQM and JuICE; another person checks each mark.",
    folder=Path(__file__).parent,
    settings=MarkingSettings,
    stages=stages,
    export=export,
    label=label,
    runs=False,
    admit=admit,
    join=join,
    columns=COLUMNS,
    also=(*sorted(IGNORED), "tgt", "item_id"),
    headline=lambda item: str(item.content.get("instruction") or item.content.get("text") or item.id),
    summarise=summarise,
    method=method,
    words=WORDS,
    shown=shown,
)
