"""What stages look up, lists to choose from, and stages where the organiser decides."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from mores.engine import AskSettings
from mores.search import Query
from mores.studio.campaigns import open_kind
from mores.studio.form import FormError, FormField, StudioForm, read_form
from mores.studio.kind import CampaignKind, SearchTask
from mores.studio.records import CampaignItem, ItemStatus, Person, Role
from mores.studio.store.campaigns import make_campaign, read_settings
from mores.studio.store.database import Database
from mores.studio.store.items import perform, read_item
from mores.studio.web.pages import environment
from mores.studio.worker import AskWorker
from mores.studio.workflow import (
    Adjudicate,
    CampaignStage,
    Create,
    Flow,
    ModelQuestion,
    Refused,
    StageDecision,
    Submit,
    Take,
    act,
)
from tests.studio.play import Play
from tests.studio.rules import fold_events

ORGANISER = Person(id="o", roles=frozenset({Role.ORGANISER}))
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def searching(name: str) -> CampaignKind[Any]:
    """A kind whose one stage looks an item's text up."""
    look = CampaignStage(
        "look",
        "Look up",
        None,
        lambda _: StudioForm(),
        lambda item: StageDecision("next") if any(ask.answer for ask in item.asks) else None,
        questions=lambda _: [ModelQuestion("find", name)],
    )
    lookup: SearchTask[Any] = SearchTask(
        lambda item, *_: Query(item.content["text"]),
        lambda found, *_: {"texts": [e.text for e in found.evidence]},
        lambda _: 3,
    )
    return replace(open_kind("culturalteaming"), stages=lambda _: (look,), tasks={}, lookups={"find": lookup})


@pytest.mark.parametrize(
    ("search", "status", "answer", "failure"),
    [
        ("fake:echo", ItemStatus.ACCEPTED, {"texts": ["tea"]}, ""),
        ("fake:none", ItemStatus.ACCEPTED, {"texts": []}, ""),
        ("fake:fail", ItemStatus.OPEN, None, "The search failed: fake:fail finds nothing on purpose"),
        ("corpus:/nowhere", ItemStatus.OPEN, None, "The search failed: "),
        ("serpent", ItemStatus.OPEN, None, "The search failed: unknown search 'serpent'"),
    ],
)
def test_a_search_answers_or_says_why_not(
    database: Database, monkeypatch: pytest.MonkeyPatch, search: str, status: ItemStatus, answer: object, failure: str
) -> None:
    kind = searching(search)
    monkeypatch.setattr("mores.studio.store.campaigns.open_kind", lambda _: kind)
    campaign = make_campaign(database, kind, read_settings(kind, {"title": "T"}))
    item = perform(database, campaign, ORGANISER, Create("i", {"text": "tea"}, stage="look")).item.id
    asyncio.run(AskWorker(database, "", AskSettings(store=None)).answer_all())
    (ask,) = read_item(database, campaign, item).asks
    assert (read_item(database, campaign, item).status, ask.answer) == (status, answer)
    assert ask.failure.startswith(failure)
    assert bool(ask.failure) == bool(failure)


def test_a_select_is_read_like_a_choice_and_has_headings() -> None:
    fruit = FormField(
        "fruit", "Fruit", "select", options=[("a", "Apple"), ("p", "Plum")], headings=[("a", "Pome"), ("p", "Stone")]
    )
    assert read_form(StudioForm((fruit,)), {"fruit": ["p"]}) == {"fruit": "p"}
    for wrong in (["x"], [""]):
        with pytest.raises(FormError):
            read_form(StudioForm((fruit,)), {"fruit": wrong})
    drawn = environment("en").get_template("forms.html").module.field(fruit, {"fruit": "p"}, {}, "")  # type: ignore[attr-defined]
    assert '<optgroup label="Stone">' in drawn
    assert '<option value="p" selected>Plum</option>' in drawn
    assert drawn.count("</optgroup>") == 2


def test_where_the_stage_is_the_organisers_nobody_takes_it_and_they_decide() -> None:
    last = CampaignStage("accept", "Accept", Role.ORGANISER, lambda _: StudioForm(), lambda _: None)
    flow = Flow("c", (last,))
    item = fold_events(None, act(flow, None, ORGANISER, Create("i", {}, stage="accept"), NOW, "k"))
    assert isinstance(item, CampaignItem)
    with pytest.raises(Refused):
        act(flow, item, ORGANISER, Take(), NOW, "k")
    decided = fold_events(item, act(flow, item, ORGANISER, Adjudicate("next", result={"fine": True}), NOW, "k"))
    assert decided is not None
    assert (decided.status, decided.results) == (ItemStatus.ACCEPTED, {"accept": {"fine": True}})


@pytest.mark.slow
def test_a_change_of_the_language_alone_is_a_new_version(database: Database) -> None:

    play = Play(database, "culturalteaming", languages=["Swahili", "English"])
    author = play.person(Role.AUTHOR)
    author.open("/new")
    author.send("/items", scene="Tea.", language="sw", then="save")
    author.send(f"/items/{author.item}/save", scene="Tea.", language="en", then="save")
    assert play.read(author.item).language == "en"
    person = Person(id=play.read(author.item).author or "", roles=frozenset({Role.AUTHOR}))
    perform(database, play.campaign, person, Submit({"scene": "Tea."}, language="sw"), item=author.item)
    assert play.read(author.item).language == "sw"
