"""Items of a CulturalTeaming campaign under the rules, without a store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from mores.studio.campaigns.culturalteaming import KIND, stages
from mores.studio.campaigns.culturalteaming.rule import TeamingSettings
from mores.studio.records import CampaignItem, Content, Person, Role
from mores.studio.workflow import Action, Cast, Create, Flow, Take, act, apply

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BOSS = Person(id="boss", roles=frozenset({Role.ORGANISER}))
QUESTION: Content = {
    "question": "In Kenya, what do guests get first?",
    "options": ["Tea", "Rice", "A song", "Nothing"],
    "correct": ["A"],
}


def settings(**values: Any) -> TeamingSettings:
    return TeamingSettings.model_validate({"title": "Tea"} | values)


def flow_of(chosen: TeamingSettings, skills: Mapping[str, float] | None = None) -> Flow:
    return Flow("c", stages(chosen), model="own", skills=skills or {})


def verifier(name: str) -> Person:
    return Person(id=name, roles=frozenset({Role.VERIFIER}), regions=frozenset({"KE"}))


def do(flow: Flow, item: CampaignItem | None, person: Person | None, action: Action) -> CampaignItem:
    for event in act(flow, item, person, action, NOW, "k"):
        item = apply(item, event)
    assert item is not None
    return item


def waiting(flow: Flow, name: str = "q", content: Content = QUESTION, stage: str = "verify") -> CampaignItem:
    """An item that waits for verifiers."""
    return do(flow, None, BOSS, Create(name, content, "KE", "en", stage=stage))


def vote(flow: Flow, item: CampaignItem, answers: Iterable[str]) -> CampaignItem:
    """Verifiers v0, v1, … answer; an answer is written as `AC`, `none` or `unknown`."""
    for number, answer in enumerate(answers):
        person = verifier(f"v{number}")
        item = do(flow, item, person, Take())
        item = do(flow, item, person, Cast({"answer": chosen(answer)}))
    return item


def chosen(answer: str) -> list[str]:
    return [answer] if answer in ("none", "unknown") else list(answer)


def exported(chosen: TeamingSettings, items: Sequence[CampaignItem]) -> dict[str, bytes]:
    return {file.path: file.read() for file in KIND.export(chosen, items)}
