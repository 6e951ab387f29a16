"""CulturALL (Lin et al. 2026, Section 2): grounded items, measured by models, completed by a model, reviewed by peers.

create (author) → measure (three models) ⇄ elevate (author) → complete (a model) → review (a peer)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from mores.studio.campaigns.culturall import forms
from mores.studio.campaigns.culturall.results import CulturallTally, export, label, summarise
from mores.studio.campaigns.culturall.tasks import TASKS
from mores.studio.campaigns.culturall.topics import read_topics
from mores.studio.form import StudioForm
from mores.studio.kind import CampaignKind
from mores.studio.phrase import Phrase
from mores.studio.records import Ask, CampaignItem, Content, Role
from mores.studio.workflow import CampaignStage, ModelQuestion, StageDecision


def stages(settings: forms.CulturallSettings) -> tuple[CampaignStage, ...]:
    """Return the stages of a campaign.

    `elevate` stands before `measure`, so that an item that is measured goes on to `complete` or back to `elevate`, also
    where the organiser decides.
    """
    return (
        CampaignStage(
            "create",
            "Write an item",
            Role.AUTHOR,
            partial(forms.create_form, settings),
            lambda _item: StageDecision("next", to="measure"),
            own=True,
            tasks=frozenset({"data", "document"}),
        ),
        CampaignStage(
            "elevate", "Make it harder", Role.AUTHOR, forms.elevate_form, partial(_elevated, settings), own=True
        ),
        CampaignStage(
            "measure",
            "Measure difficulty",
            None,
            lambda _item: StudioForm(),
            partial(_measured, settings),
            questions=partial(_ask_models, settings),
            back="elevate",
        ),
        CampaignStage("complete", "Complete", None, lambda _item: StudioForm(), _completed, questions=_ask_labels),
        CampaignStage(
            "review",
            "Review",
            Role(settings.reviewer),
            partial(forms.review_form, settings),
            _reviewed,
            regional=settings.same_region,
            speaking=settings.same_language,
            hold=settings.hold,
        ),
        *([_cross_check(settings)] if settings.cross_check else []),
    )


def _cross_check(settings: forms.CulturallSettings) -> CampaignStage:
    """Return the stage at which someone else checks a sample of the final items by the same criteria (2.4.3)."""
    return CampaignStage(
        forms.CROSS_CHECK,
        "Cross-check",
        Role(settings.reviewer),
        forms.cross_check_form,
        _cross_checked,
        regional=settings.same_region,
        speaking=settings.same_language,
        hold=settings.hold,
        sample=settings.cross_check,
        back="review",
    )


def _elevated(settings: forms.CulturallSettings, item: CampaignItem) -> StageDecision:
    if not item.content.get("leave"):
        return StageDecision("next", result={"strategies": item.content.get("strategies", [])})
    if not settings.keep_easy:
        note = Phrase("It is too easy for the models, and its author could not make it harder.")
        return StageDecision("rejected", note, {"left": True})
    return StageDecision("next", result={"left": True}, to="complete")


def _ask_models(settings: forms.CulturallSettings, item: CampaignItem) -> Sequence[ModelQuestion]:
    """Ask every model for an answer and the judge about each; `sample` is the model's place in the settings."""
    answers = [ModelQuestion("answer", model, sample) for sample, model in enumerate(settings.models)]
    judged = [
        ModelQuestion("judge", settings.judge, ask.sample, {"prediction": ask.answer["text"]})
        for ask in item.asks_of("answer")
        if ask.answer is not None
    ]
    return [*answers, *judged]


def _measured(settings: forms.CulturallSettings, item: CampaignItem) -> StageDecision | None:
    """Decide whether the item is challenging: few models are correct. It waits while one of them has no grade."""
    answers, judged = item.asks_of("answer"), item.asks_of("judge")
    if any(ask.answer is None for ask in answers):
        return None
    if not answers or not judged:
        return StageDecision(
            "next", result={"measured": False, "reason": forms.NO_JUDGE if answers else forms.NO_MODELS}
        )
    grades = {ask.sample: ask.answer["correct"] for ask in judged if ask.answer is not None}
    if len(grades) < len(answers):
        return None
    correct = sum(grades.values())
    challenging = correct <= settings.most_correct
    result = {
        "measured": True,
        "challenging": challenging,
        "correct": correct,
        "models": len(answers),
        "answers": [
            {"text": ask.answer["text"], "correct": grades[ask.sample]} for ask in answers if ask.answer is not None
        ],
    }
    if challenging:
        return StageDecision("next", result=result)
    template = "It is easy: {correct} of {models} models answered correctly. Please make it harder, or leave it."
    note = Phrase(template, correct=correct, models=len(answers))
    return StageDecision("back", note, result)


def _ask_labels(item: CampaignItem) -> Sequence[ModelQuestion]:
    texts = [] if forms.is_english(item) else [name for name in forms.PARTS if item.content.get(name)]
    translations = [ModelQuestion("translate", sample=forms.PARTS.index(name), data={"field": name}) for name in texts]
    return [ModelQuestion("region"), ModelQuestion("topic"), *translations]


def _completed(item: CampaignItem) -> StageDecision | None:
    """Add region, topic and translation as soon as the model has given them all; it waits while one is missing."""
    asked: list[Ask] = [ask for task in ("region", "topic", "translate") for ask in item.asks_of(task)]
    if not asked:
        return StageDecision("next", result={"completed": False, "reason": forms.NOT_COMPLETED})
    if any(ask.answer is None for ask in asked):
        return None
    added = {name: value for ask in asked for name, value in (ask.answer or {}).items()}
    content = {name: value for name, value in item.content.items() if name not in forms.ENGLISH}
    return StageDecision("next", result={"completed": True}, content=content | added)


def _cross_checked(item: CampaignItem) -> StageDecision | None:
    """Reject what does not meet the criteria, unless the organiser decides otherwise."""
    votes = item.votes_at(forms.CROSS_CHECK)
    if not votes:
        return None
    answer = votes[-1].answer
    result = {name: answer[name] for name in forms.CRITERIA if name in answer}
    if forms.meets_criteria(answer):
        return StageDecision("next", result=result | {"meets_criteria": True})
    return StageDecision("rejected", answer["note"], result | {"meets_criteria": False})


def _reviewed(item: CampaignItem) -> StageDecision | None:
    """Follow the first review; what the reviewer wrote becomes the item."""
    votes = item.votes_at("review")
    if not votes:
        return None
    answer = votes[-1].answer
    result = {name: answer[name] for name in ("verdict", *forms.CRITERIA) if name in answer}
    if answer["verdict"] == "reject":
        return StageDecision("rejected", answer["note"], result)
    changed = forms.changes(item, answer)
    final = forms.present(item) | changed
    return StageDecision(
        "next",
        answer.get("note", ""),
        result | {"changed": sorted(changed)},
        content=item.content | final if item.content != item.content | final else None,
        region=final["region"],
    )


NAMING = ("question", "scenario", "excerpt", "theme")
"""What names an item in lists: the first of these that it has."""


def inspire(settings: forms.CulturallSettings, item: CampaignItem) -> Content | None:
    """Return an item as authors of other languages see it: in English, without anything else about it."""
    shown = forms.present(item)
    source = forms.PARTS if forms.is_english(item) else forms.ENGLISH
    texts = {name: shown.get(field, "") for name, field in zip(forms.PARTS, source, strict=True)}
    if not settings.inspiration or not texts["scenario"] or not texts["question"]:
        return None
    return {"region": shown["region"], "topic": shown["topic"], **texts}


KIND: CampaignKind[Any] = CampaignKind(
    name="culturall",
    title="CulturALL",
    goal="Everyday tasks",
    summary="Authors write questions in real situations; models measure them; a peer reviews each.",
    folder=forms.FOLDER,
    settings=forms.CulturallSettings,
    stages=stages,
    export=export,
    label=label,
    tasks=TASKS,
    headline=lambda item: str(next(filter(None, map(item.content.get, NAMING)), item.id)),
    models=lambda settings: [*settings.models, *([settings.judge] if settings.judge else [])],
    summarise=summarise,
    count=CulturallTally,
    read_files=read_topics,
    topic=lambda item: forms.present(item)["topic"],
    inspire=inspire,
    words=forms.WORDS,
)
