"""ExCAM's validation (Section 4, Appendix G): people judge errors that were put into texts, and how they are explained.

validate: three people for the main language, two for others, in three steps
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mores.metaevaluation.votes import ERROR_PARTLY, holds
from mores.studio.campaigns.validation.compare import compare
from mores.studio.campaigns.validation.export import export, method, summarise
from mores.studio.campaigns.validation.forms import MARKS, SEVERITIES, WORDS, validate_form
from mores.studio.campaigns.validation.judged import STAGE, to_judged
from mores.studio.campaigns.validation.rows import KEPT, OPTIONAL, REQUIRED, SIDES, admit, join
from mores.studio.campaigns.validation.settings import ValidationSettings
from mores.studio.kind import CampaignKind
from mores.studio.records import CampaignItem, Content, Role
from mores.studio.workflow import CampaignStage, StageDecision


def _decide(settings: ValidationSettings, item: CampaignItem) -> StageDecision | None:
    """Accept an item where a majority finds a cultural error in it, also a partly valid one."""
    ballot = to_judged(settings, item).ballot("error")
    if len(ballot) < settings.needed(item.language):
        return None
    result = {"votes": len(ballot), "found": sum(error in ERROR_PARTLY.values for error in ballot)}
    if holds(ballot, ERROR_PARTLY):
        return StageDecision("next", result=result)
    return StageDecision("rejected", "No majority finds a cultural error in it.", result)


def stages(settings: ValidationSettings) -> tuple[CampaignStage, ...]:
    """Return the only stage of a campaign."""
    return (
        CampaignStage(
            STAGE,
            "Validate an error",
            Role.ANNOTATOR,
            validate_form,
            lambda item: _decide(settings, item),
            people=lambda item: settings.needed(item.language),
            speaking=True,
            hold=settings.hold,
        ),
    )


def label(_stage: str, answer: Content) -> str | None:
    """Return what a person says about the error."""
    return str(answer["error"]) if answer.get("error") else None


def shown(_settings: ValidationSettings, item: CampaignItem) -> Mapping[str, Any]:
    """Return what the templates show: each side beside its original; no name of a metric."""
    content = item.content
    comparisons = {}
    for side, original in SIDES.items():
        marks = [(mark["start"], mark["end"]) for mark in content.get(MARKS, []) if mark["part"] == side]
        comparisons[side] = compare(content.get(original, ""), content.get(side, ""), marks)
    return {"sides": comparisons, "severity": SEVERITIES.get(content.get("severity", ""), "")}


KIND: CampaignKind[Any] = CampaignKind(
    name="validation",
    title="ExCAM validation",
    summary="People judge errors that were put into texts, their explanations, and those of metrics.",
    folder=Path(__file__).parent,
    settings=ValidationSettings,
    stages=stages,
    export=export,
    label=label,
    runs=False,
    admit=lambda _settings, content: admit(content),
    join=join,
    columns=(*REQUIRED, *(name for name in OPTIONAL if name not in KEPT)),
    headline=lambda item: str(item.content.get("text") or item.id)[:160],
    summarise=summarise,
    method=method,
    words=WORDS,
    shown=shown,
)
