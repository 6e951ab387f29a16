"""CaLMQA (Section 2.2, Appendices A.1 to A.3): people collect questions that need long answers.

write (an author) → check (somebody else); the control set of agnostic questions: translate (an author) → check
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from mores.errors import InputError
from mores.studio.campaigns.questions import forms
from mores.studio.campaigns.questions.results import describe, export, summarise
from mores.studio.kind import CampaignKind
from mores.studio.records import CampaignItem, Content, Role
from mores.studio.workflow import CampaignStage, StageDecision

if TYPE_CHECKING:
    from mores.studio.data.incoming import Incoming


def stages(settings: forms.LongQuestionSettings) -> tuple[CampaignStage, ...]:
    """Return the stages of a campaign: somebody sends an item, and somebody else checks it."""
    is_translation = settings.source == "translation"
    first = (
        CampaignStage(
            "translate",
            "Translate",
            Role.AUTHOR,
            forms.translate_form,
            _translated,
            speaking=True,
            hold=settings.hold,
        )
        if is_translation
        else CampaignStage(
            "write",
            "Name a website" if settings.source == "survey" else "Write a question",
            Role.AUTHOR,
            partial(forms.write_form, settings),
            lambda _item: StageDecision("next"),
            own=True,
        )
    )
    check = CampaignStage(
        "check",
        "Check",
        Role(settings.reviewer),
        partial(forms.check_form, settings),
        _checked,
        speaking=settings.same_language or is_translation,
        others=is_translation,
        hold=settings.hold,
    )
    return (first, check)


def _translated(item: CampaignItem) -> StageDecision | None:
    """Keep the translation as a result: the item stays the same version, so that its translator does not check it."""
    votes = item.votes_at("translate")
    return StageDecision("next", result={"question": votes[-1].answer["question"]}) if votes else None


def _checked(item: CampaignItem) -> StageDecision | None:
    """Follow the check; a translation is kept as the checker corrected it."""
    votes = item.votes_at("check")
    if not votes:
        return None
    answer = votes[-1].answer
    result = {"verdict": answer["verdict"], "problems": answer["problems"]}
    if answer["verdict"] == forms.RETURN:
        return StageDecision("back", answer["note"], result)
    if answer["verdict"] != forms.ACCEPT:
        return StageDecision("rejected", answer["note"], result)
    corrected = {"question": answer["question"]} if "question" in answer else {}
    return StageDecision("next", result=result, content=item.content | corrected if corrected else None)


def spread(rows: Sequence[Incoming]) -> list[Incoming]:
    """Return one item for each language of a row that names several in the column `languages`."""
    items: list[Incoming] = []
    for row in rows:
        names = str(row.content.get("languages") or "").replace(";", ",").split(",")
        content = {name: value for name, value in row.content.items() if name != "languages"}
        wanted = [name.strip() for name in names if name.strip()] or [row.language]
        items += [row._replace(content=content, language=language) for language in wanted]
    return items


def admit(settings: forms.LongQuestionSettings, content: Content) -> Content:
    """Return an English question that is to be translated."""
    english = str(content.get("english") or content.get("question") or "").strip()
    if settings.source != "translation" or not english:
        raise InputError("no English question; expected a column 'english', and 'language' or 'languages'")
    return {"english": english} | {name: content[name] for name in ("id", "source") if content.get(name)}


KIND: CampaignKind[Any] = CampaignKind(
    name="questions",
    title="Long questions",
    goal="Questions people really ask",
    summary="Native speakers write questions that need long answers, or take them from websites; others check them.",
    folder=forms.FOLDER,
    settings=forms.LongQuestionSettings,
    stages=stages,
    export=export,
    label=lambda stage, answer: answer.get("verdict") if stage == "check" else None,
    admit=admit,
    join=spread,
    columns=("id", "english", "languages", "source"),
    also=("question",),
    headline=lambda item: str(
        next(filter(None, map(item.content.get, ("question", "english", "website"))), None) or item.id
    ),
    summarise=summarise,
    method=describe,
    words=forms.WORDS,
    earned=forms.earned,
)
