"""CulturalTeaming (CulturalBench, Method): authors and a model write hard questions, five people verify each.

write (author, with an AI helper) → duel (author against an AI verifier) → verify (five people from the region)

`forms.py` has what people fill in, `asking.py` what the AI is asked, `rule.py` the settings and the verification,
`results.py` the files and the organiser's figures.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mores.studio.campaigns.culturalteaming import asking
from mores.studio.campaigns.culturalteaming.forms import WORDS, duel_form, verify_form, write_form
from mores.studio.campaigns.culturalteaming.results import Tally, export, summarise
from mores.studio.campaigns.culturalteaming.rule import STAGE, TeamingSettings, adjudged, label, people, verified
from mores.studio.kind import CampaignKind, ModelTask
from mores.studio.records import Role
from mores.studio.workflow import CampaignStage, StageDecision

QUESTION = ("question", "options", "correct")


def stages(settings: TeamingSettings) -> tuple[CampaignStage, ...]:
    """Return the stages of a campaign."""
    return (
        CampaignStage(
            "write",
            "Write a question",
            Role.AUTHOR,
            write_form,
            lambda _item: StageDecision("next"),
            own=True,
            send="Play it against the AI",
            tasks=frozenset({"draft"}),
        ),
        CampaignStage(
            "duel",
            "Play against the AI",
            Role.AUTHOR,
            duel_form,
            lambda _item: StageDecision("next"),
            own=True,
            send="Send it to the verifiers",
            tasks=frozenset({"answer", "hints"}),
            opening="answer",
        ),
        CampaignStage(
            STAGE,
            "Verify",
            Role.VERIFIER,
            lambda item: verify_form(item, ask_others=settings.ask_others),
            lambda item: verified(settings, item),
            people=lambda item: people(settings, item),
            regional=True,
            hold=settings.hold,
            back="duel",
            adjudge=adjudged,
        ),
    )


KIND: CampaignKind[Any] = CampaignKind(
    name="culturalteaming",
    title="CulturalTeaming",
    goal="Questions that AI gets wrong",
    summary="Authors play questions about their culture against a model; five people from the region verify each.",
    folder=Path(__file__).parent,
    settings=TeamingSettings,
    stages=stages,
    export=export,
    label=label,
    tasks={
        "draft": ModelTask(
            asking.ask_draft, asking.read_draft, "Let the AI draft the question", keeps=("scene",), fills=QUESTION
        ),
        "answer": ModelTask(
            asking.ask_answer, asking.read_answer, "Play it against the AI", keeps=QUESTION, whole=True
        ),
        "hints": ModelTask(asking.ask_hints, asking.read_hints, "Ask the AI for hints", keeps=QUESTION, whole=True),
    },
    headline=lambda item: str(item.content.get("question") or item.content.get("scene") or item.id),
    skilled=lambda settings: settings.adaptive,
    summarise=summarise,
    count=Tally,
    words=WORDS,
)
