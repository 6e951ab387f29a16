"""What stages ask models: follow-up questions, the campaign's own model, and asking again what failed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from mores.studio.form import StudioForm
from mores.studio.records import Ask, CampaignItem, ItemStatus, Person, Role
from mores.studio.workflow import (
    Action,
    Adjudicate,
    Answered,
    AskAgain,
    CampaignStage,
    Create,
    Flow,
    ModelQuestion,
    Refused,
    StageDecision,
    Submit,
    act,
)
from tests.studio.rules import fold_events

NOW = datetime(2026, 1, 1, tzinfo=UTC)
AUTHOR = Person(id="a", roles=frozenset({Role.AUTHOR}))
ORGANISER = Person(id="o", roles=frozenset({Role.ORGANISER}))


def questions(item: CampaignItem) -> Sequence[ModelQuestion]:
    """Two models answer; the campaign's own judges each answer."""
    answers = [ModelQuestion("answer", model) for model in ("one", "two")]
    judged = [
        ModelQuestion("judge", sample=("one", "two").index(ask.model), data=dict(ask.answer))
        for ask in item.asks_of("answer")
        if ask.answer
    ]
    return [*answers, *judged]


def decide(item: CampaignItem) -> StageDecision | None:
    done = [ask for ask in item.asks_of("judge") if ask.answer]
    return StageDecision("next") if len(done) == 2 or not item.asks_of("answer") else None


def flow(model: str = "own") -> Flow:
    write = CampaignStage(
        "write", "Write", Role.AUTHOR, lambda _: StudioForm(), lambda _: StageDecision("next"), own=True
    )
    return Flow(
        "c",
        (write, CampaignStage("check", "Check", None, lambda _: StudioForm(), decide, questions=questions)),
        model=model,
    )


def do(rules: Flow, item: CampaignItem | None, person: Person | None, action: Action) -> CampaignItem:
    after = fold_events(item, act(rules, item, person, action, NOW, "k"))
    assert after is not None
    return after


def sent(rules: Flow) -> CampaignItem:
    return do(rules, do(rules, None, AUTHOR, Create("i", {"text": "x"})), AUTHOR, Submit({"text": "x"}))


def keys(asks: Sequence[Ask]) -> list[tuple[str, str, int]]:
    return [(ask.task, ask.model, ask.sample) for ask in asks]


def test_an_answer_is_followed_by_the_question_that_needs_it_once() -> None:
    rules = flow()
    item = sent(rules)
    assert keys(item.asks) == [("answer", "one", 0), ("answer", "two", 0)]
    item = do(rules, item, None, Answered("i.1", {"text": "yes"}))
    assert keys(item.asks[2:]) == [("judge", "own", 1)]
    assert item.asks[2].data == {"text": "yes"}
    item = do(rules, item, None, Answered("i.1", {"text": "a second time"}))
    item = do(rules, item, None, Answered("i.0", {"text": "no"}))
    assert keys(item.asks[2:]) == [("judge", "own", 1), ("judge", "own", 0)]
    for ask in ("i.2", "i.3"):
        assert item.status is ItemStatus.OPEN
        item = do(rules, item, None, Answered(ask, {"correct": True}))
    assert item.status is ItemStatus.ACCEPTED


def test_without_a_model_of_its_own_a_campaign_asks_only_the_named_ones() -> None:
    rules = flow(model="")
    item = do(rules, sent(rules), None, Answered("i.0", {"text": "yes"}))
    assert keys(item.asks) == [("answer", "one", 0), ("answer", "two", 0)]


def test_what_failed_is_asked_again_by_the_organiser_alone() -> None:
    rules = flow()
    item = do(rules, sent(rules), None, Answered("i.0", None, "it said nothing"))
    assert [ask.id for ask in item.failed] == ["i.0"]
    assert item.status is ItemStatus.OPEN
    with pytest.raises(Refused, match="Only an organiser"):
        do(rules, item, AUTHOR, AskAgain())
    item = do(rules, item, ORGANISER, AskAgain())
    again = item.asks[-1]
    assert (again.task, again.model, again.attempt, again.person, again.waiting) == ("answer", "one", 1, None, True)
    assert keys(item.asks_of("answer")) == [("answer", "one", 0), ("answer", "two", 0)]
    assert not item.failed
    with pytest.raises(Refused, match="No model has failed"):
        do(rules, item, ORGANISER, AskAgain())
    item = do(rules, item, None, Answered(again.id, {"text": "yes"}))
    assert keys(item.asks[-1:]) == [("judge", "own", 0)]


def test_a_failure_counts_no_more_when_the_organiser_has_decided() -> None:
    rules = flow()
    item = do(rules, sent(rules), None, Answered("i.0", None, "it said nothing"))
    item = do(rules, item, ORGANISER, Adjudicate("back"))
    assert (item.stage, item.failed) == ("write", [])
    item = do(rules, item, AUTHOR, Submit({"text": "another"}))
    assert len(item.asks_of("answer")) == 2, "the new version is asked from the beginning"
