"""MSQA (Section 3.2, Appendix C): hard questions from native sources, checked by models and by people.

source → write (author) → check (models) → inspect (an expert) → validate (native speakers) → accept (organiser)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mores.registry import split_name
from mores.search import READS_FILES
from mores.studio.campaigns.msqa import forms
from mores.studio.campaigns.msqa.checks import TRANSLATE, ModelCheck, State, all_checks, decide, questions
from mores.studio.campaigns.msqa.export import export, method, summarise
from mores.studio.campaigns.msqa.tasks import LOOKUPS, PRETEST, TASKS
from mores.studio.form import StudioForm
from mores.studio.kind import CampaignKind
from mores.studio.records import CampaignItem, Content, Role
from mores.studio.workflow import CampaignStage, StageDecision


def _submitted(_item: CampaignItem) -> StageDecision:
    return StageDecision("next")


def _inspected(item: CampaignItem) -> StageDecision | None:
    """Send an item on, with the inspector's sources, or back with the notes."""
    votes = item.votes_at("inspect")
    if not votes:
        return None
    answer = votes[-1].answer
    if answer["verdict"] == forms.RETURN:
        return StageDecision("back", answer["note"])
    sources = [
        {"url": answer[f"source_{number}"], "desc": answer[f"source_{number}_desc"]}
        for number in "12"
        if answer[f"source_{number}"]
    ]
    tier = {"tier": answer["tier"]} if answer.get("tier") else {}
    return StageDecision("next", result={"sources": sources} | tier)


def _validated(settings: forms.MsqaSettings, item: CampaignItem) -> StageDecision | None:
    """Send an item back after a round with too many objections, and on after the last round."""
    votes = item.votes_at("validate")
    ended = len(votes) // settings.validators
    for start in range(0, ended * settings.validators, settings.validators):
        answers = [vote.answer for vote in votes[start : start + settings.validators]]
        against = [answer for answer in answers if any(answer[name] == "no" for name in forms.QUESTIONS)]
        disrespectful = any(answer["respectful"] == "no" for answer in answers)
        if disrespectful or len(against) > settings.objections:
            note = "\n".join(answer["note"] for answer in against)
            return StageDecision("back", note, {"votes": len(votes), "objections": len(against)})
    if ended < settings.rounds:
        return None
    objections = sum(any(vote.answer[name] == "no" for name in forms.QUESTIONS) for vote in votes)
    return StageDecision("next", result={"votes": len(votes), "objections": objections})


def stages(settings: forms.MsqaSettings) -> tuple[CampaignStage, ...]:
    """Return the stages of a campaign."""

    def inspection(item: CampaignItem) -> StudioForm:
        open_checks = [check for check in all_checks(settings, item) if check.state is not State.PASSED]
        return forms.inspect_form(item, [(check.name, check.by_hand) for check in open_checks])

    def count_people(item: CampaignItem) -> int:
        """Return the people of the rounds that have begun: a round begins when the one before has ended."""
        ended = len(item.votes_at("validate")) // settings.validators
        return settings.validators * min(ended + 1, settings.rounds)

    return (
        CampaignStage(
            "source",
            "Find a source",
            Role.AUTHOR,
            forms.source_form,
            _submitted,
            own=True,
            send="Go on to the question",
        ),
        CampaignStage(
            "write",
            "Write the question",
            Role.AUTHOR,
            lambda item: forms.write_form(item, settings.cutoff),
            _submitted,
            own=True,
            tasks=frozenset({PRETEST, TRANSLATE}),
        ),
        CampaignStage(
            "check",
            "Checks by models",
            None,
            lambda _item: StudioForm(),
            lambda item: decide(settings, item),
            questions=lambda item: tuple(questions(settings, item)),
            back="write",
        ),
        CampaignStage(
            "inspect",
            "Inspect",
            Role.INSPECTOR,
            inspection,
            _inspected,
            speaking=True,
            hold=settings.hold,
            back="write",
        ),
        CampaignStage(
            "validate",
            "Validate",
            Role.VERIFIER,
            forms.validate_form,
            lambda item: _validated(settings, item),
            people=count_people,
            speaking=True,
            regional=settings.regional,
            hold=settings.hold,
            back="write",
        ),
        CampaignStage("accept", "Accept", Role.ORGANISER, forms.accept_form, lambda _item: None, back="write"),
    )


def label(stage: str, answer: Content) -> str | None:
    """Return whether a validator objects; inspectors work alone, so there is nothing to agree on."""
    if stage != "validate":
        return None
    return "objection" if any(answer[name] == "no" for name in forms.QUESTIONS) else "valid"


def shown(settings: forms.MsqaSettings, item: CampaignItem) -> Mapping[str, Any]:
    """Return what the templates of this kind show besides the item's own texts."""
    content, past = item.content, item.stage not in ("source", "write")
    dimension, part = forms.CATEGORIES.get(content.get("category", ""), ("", ""))
    sources = [{"url": content.get("source_url", ""), "desc": content.get("source_desc", "")}]
    checks: Sequence[ModelCheck] = all_checks(settings, item) if past or item.returns else ()
    translations = [ask.answer for ask in item.asks_of(TRANSLATE) if ask.answer]
    return {
        "dimension": dimension,
        "part": part,
        "source_kind": forms.SOURCES.get(content.get("source_kind", ""), ""),
        "sources": sources,
        "further": item.results.get("inspect", {}).get("sources", []),
        "checks": checks,
        "translation": translations[-1] if translations else None,
        "criteria": forms.CRITERIA,
    }


KIND: CampaignKind[Any] = CampaignKind(
    name="msqa",
    title="MSQA",
    goal="Short factual questions",
    summary="Hard questions from native sources: models check them, an expert and native speakers confirm them.",
    folder=Path(__file__).parent,
    settings=forms.MsqaSettings,
    stages=stages,
    export=export,
    label=label,
    tasks=TASKS,
    lookups=LOOKUPS,
    headline=lambda item: str(item.content.get("question") or item.content.get("source_url") or item.id),
    models=lambda settings: [
        name for name in dict.fromkeys((settings.checker, *settings.models, settings.judge)) if name
    ],
    on_server=lambda settings: {"search": settings.search} if split_name(settings.search)[0] in READS_FILES else {},
    summarise=summarise,
    method=method,
    topic=lambda item: forms.CATEGORIES.get(item.content.get("category", ""), ("", ""))[0],
    shown=shown,
    words=forms.WORDS,
)
