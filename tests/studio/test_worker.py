"""Questions to models: a surprise in one concerns that one alone, and no model waits for another."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from mores.engine import AskSettings
from mores.engine.ask import Asker
from mores.engine.limits import Limits
from mores.models import Completion, Message, Request
from mores.models.fake import FakeModel
from mores.studio.kind import ModelTask
from mores.studio.records import Person, Role
from mores.studio.store import campaigns
from mores.studio.store.database import Database, open_database
from mores.studio.store.items import now, perform
from mores.studio.store.tables import asks
from mores.studio.worker import CLAIM, AskWorker, claim_asks
from mores.studio.workflow import AskModel, Create
from tests.studio.play import Play

AUTHOR = Person(id="author", roles=frozenset({Role.AUTHOR}), regions=frozenset({"KE"}))


@pytest.mark.parametrize("broken", ["request", "read"])
def test_a_kind_that_breaks_on_one_item_still_answers_the_others(
    database: Database, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    play = Play(database, "culturalteaming", regions=["Kenya"], model="fake:broken")
    draft = play.campaign.kind.tasks["draft"]

    def break_down(part: str, item: Any, result: Any) -> Any:
        if part == broken and item.content["scene"] == "break":
            raise KeyError("surprise")
        return result

    task: ModelTask[Any] = replace(
        draft,
        request=lambda item, *_: break_down("request", item, Request(())),
        read=lambda _, item, *__: break_down("read", item, {"question": "Q?"}),
    )
    kind = replace(play.campaign.kind, tasks={**play.campaign.kind.tasks, "draft": task})
    monkeypatch.setattr(campaigns, "open_kind", lambda _name: kind)
    for name in ("break", "good"):
        perform(database, play.campaign, AUTHOR, Create(name, {"scene": name}, "KE", "en"))
        perform(database, play.campaign, AUTHOR, AskModel(f"{name}.0", "draft"), item=name)
    asyncio.run(AskWorker(database, "fake:broken", AskSettings(store=None)).answer_all())
    assert "unexpected KeyError" in play.read("break").asks[0].failure
    assert play.read("good").asks[0].answer == {"question": "Q?"}


class Gate(FakeModel):
    """A model that answers at once, except to what it is told to keep back."""

    def __init__(self, name: str, kept_back: Callable[[str], bool]) -> None:
        super().__init__(name, lambda _: Completion("ok", None, "stop", 1, 1))
        self.kept_back = kept_back
        self.at_once = self.most_at_once = 0

    async def complete(self, request: Request) -> Completion:
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        try:
            while self.kept_back(request.messages[-1].content):  # noqa: ASYNC110 - a test decides at any time
                await asyncio.sleep(0.01)
            return await super().complete(request)
        finally:
            self.at_once -= 1


class Questions:
    """Campaigns of one kind with different models, and what they ask."""

    def __init__(self, database: Database, monkeypatch: pytest.MonkeyPatch, *models: Gate) -> None:
        self.database = database
        play = Play(database, "culturalteaming", regions=["Kenya"], model="none")
        task: ModelTask[Any] = replace(
            play.campaign.kind.tasks["draft"],
            request=lambda item, *_: Request((Message("user", item.id),)),
            read=lambda completion, *_: {"question": completion.text},
        )
        kind = replace(play.campaign.kind, tasks={**play.campaign.kind.tasks, "draft": task})
        monkeypatch.setattr(campaigns, "open_kind", lambda _name: kind)
        named = {model.name: model for model in models}
        limits = Limits(concurrency=3)
        monkeypatch.setattr("mores.studio.worker.make_asker", lambda name, *_: Asker(named[name], None, limits))
        settings = {"title": "T", "regions": ["Kenya"]}
        self.campaigns = {
            name: campaigns.make_campaign(database, kind, campaigns.read_settings(kind, settings | {"model": name}))
            for name in named
        }

    def ask(self, model: Gate, *names: str) -> None:
        for name in names:
            perform(self.database, self.campaigns[model.name], AUTHOR, Create(name, {"scene": name}, "KE", "en"))
            perform(self.database, self.campaigns[model.name], AUTHOR, AskModel(f"{name}.0", "draft"), item=name)

    def waiting(self) -> set[str]:
        return {row.item for row in self.database.fetch(select(asks.c.item).where(asks.c.waiting))}

    async def until(self, *waiting: str) -> None:
        """Wait until these questions are the only ones without an answer."""
        async with asyncio.timeout(30):
            while self.waiting() != set(waiting):  # noqa: ASYNC110 - the database tells nobody
                await asyncio.sleep(0.02)


@pytest.mark.slow
def test_a_model_that_does_not_answer_delays_no_other(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    dead, quick = Gate("dead", lambda _: True), Gate("quick", lambda _: False)
    questions = Questions(database, monkeypatch, dead, quick)
    monkeypatch.setattr("mores.studio.worker.FULL", 4)
    names = [f"dead-{number}" for number in range(25)]  # more than are claimed at once, and older than all others
    questions.ask(dead, *names)

    async def play() -> None:
        async with AskWorker(database, "", AskSettings(store=None)):
            questions.ask(quick, "first")
            await questions.until(*names)
            questions.ask(quick, "second", "third")
            await questions.until(*names)
            assert dead.most_at_once == 3

    asyncio.run(play())
    assert claimed(database) == Counter({None: 25})  # given back, so that the next process asks them at once


def test_a_slow_answer_delays_no_other_of_its_model(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    open_now = set[str]()
    model = Gate("uneven", lambda prompt: prompt.startswith("slow") and prompt not in open_now)
    questions = Questions(database, monkeypatch, model)

    async def play() -> None:
        async with AskWorker(database, "", AskSettings(store=None)):
            questions.ask(model, "slow-1", "slow-2", "quick-1", "quick-2", "quick-3")
            await questions.until("slow-1", "slow-2")
            open_now.add("slow-2")
            await questions.until("slow-1")
            questions.ask(model, "quick-4")
            await questions.until("slow-1")
        async with AskWorker(database, "", AskSettings(store=None)):  # a new process
            open_now.add("slow-1")
            await questions.until()

    asyncio.run(play())
    assert model.most_at_once <= 3


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_question_is_claimed_by_one_process_until_it_says_nothing_more(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    if kind == "sqlite":
        database: Database = request.getfixturevalue("database")
    else:
        database = open_database(request.getfixturevalue("postgres"))
        request.addfinalizer(database.close)
    model = Gate("m", lambda _: False)
    questions = Questions(database, monkeypatch, model)
    questions.ask(model, "a", "b")
    assert [place.item for place in claim_asks(database, limit=1)] == ["a"]
    assert claim_asks(database, full=[model.name]) == []
    assert [place.item for place in claim_asks(database)] == ["b"]
    assert claim_asks(database) == []
    with database.write() as connection:
        long_ago = now() - CLAIM - timedelta(seconds=1)
        connection.execute(update(asks).where(asks.c.item == "a").values(claimed=long_ago))
    assert [place.item for place in claim_asks(database)] == ["a"]
    campaigns.set_open(database, questions.campaigns[model.name], is_open=False)
    with database.write() as connection:
        connection.execute(update(asks).values(claimed=None))
    assert claim_asks(database) == []


def claimed(database: Database) -> Counter[object]:
    return Counter(row.claimed for row in database.fetch(select(asks.c.claimed).where(asks.c.waiting)))
