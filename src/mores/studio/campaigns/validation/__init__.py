"""ExCAM's validation (Section 4, Appendix G): people judge errors that were put into texts, and how they are explained.

validate: three people for the main language, two for others, in three steps
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from mores.factory.errors.model import blocks
from mores.language.units import Unit, units
from mores.metaevaluation.votes import ERROR_PARTLY, holds
from mores.studio.campaigns.validation.export import STAGE, export, method, summarise, to_judged
from mores.studio.campaigns.validation.forms import MARKS, SEVERITIES, WORDS, ValidationSettings, validate_form
from mores.studio.campaigns.validation.rows import ALSO, OPTIONAL, REQUIRED, SIDES, admit, join
from mores.studio.kind import CampaignKind
from mores.studio.marks import as_shown
from mores.studio.records import CampaignItem, Content, Role
from mores.studio.workflow import CampaignStage, StageDecision

Span = tuple[int, int]


class TextPiece(NamedTuple):
    """A stretch of one version; `text[start:end]` of it."""

    text: str
    changed: bool
    """Not in the other version."""
    marked: bool = False
    """Part of an error, by the gold report."""


class WordChange(NamedTuple):
    """Words that were replaced; one of the two is empty where words were only added or removed."""

    removed: str
    added: str


class TextComparison(NamedTuple):
    """An original beside what became of it."""

    before: Sequence[TextPiece]
    after: Sequence[TextPiece]
    changes: Sequence[WordChange]


def compare(original: str, modified: str, marked: Iterable[Span] = ()) -> TextComparison:
    """Return the pieces of both versions, and the changes in the order of the text."""
    old, new = units(original), units(modified)
    removed, added, changes = [], [], []
    for block in blocks(old, new):
        before, after = _span(old, block.start, block.end), _span(new, block.new_start, block.new_end)
        removed += [before] if before else []
        added += [after] if after else []
        changes.append(WordChange(_cut(original, before), _cut(modified, after)))
    return TextComparison(_pieces(original, removed, ()), _pieces(modified, added, marked), changes)


def _span(words: Sequence[Unit], start: int, end: int) -> Span | None:
    return (words[start].start, words[end - 1].end) if end > start else None


def _cut(text: str, span: Span | None) -> str:
    return text[slice(*span)] if span else ""


def _pieces(text: str, changed: Iterable[Span], marked: Iterable[Span]) -> list[TextPiece]:
    """Return the text cut at every beginning and end of a span."""
    spans, errors = list(changed), list(marked)
    cuts = sorted({0, len(text), *(place for span in (*spans, *errors) for place in span)})
    return [TextPiece(text[start:end], _inside(start, spans), _inside(start, errors)) for start, end in pairwise(cuts)]


def _inside(place: int, spans: Iterable[Span]) -> bool:
    return any(start <= place < end for start, end in spans)


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
        comparisons[side] = compare(as_shown(content.get(original, "")), as_shown(content.get(side, "")), marks)
    return {"sides": comparisons, "severity": SEVERITIES.get(content.get("severity", ""), "")}


KIND: CampaignKind[Any] = CampaignKind(
    name="validation",
    title="ExCAM validation",
    goal="Check a metric",
    summary="People judge errors that were put into texts, their explanations, and those of metrics.",
    folder=Path(__file__).parent,
    settings=ValidationSettings,
    stages=stages,
    export=export,
    label=label,
    runs=False,
    admit=lambda _settings, content: admit(content),
    join=join,
    columns=(*REQUIRED, *OPTIONAL),
    also=ALSO,
    headline=lambda item: str(item.content.get("text") or item.id)[:160],
    summarise=summarise,
    method=method,
    words=WORDS,
    shown=shown,
)
