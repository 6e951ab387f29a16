"""Questions to models: a surprise in one concerns that one alone."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from mores.models import Request
from mores.studio.kind import Task
from mores.studio.records import Person, Role
from mores.studio.store import campaigns
from mores.studio.store.database import Database
from mores.studio.store.items import do
from mores.studio.worker import Worker
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

    task: Task[Any] = replace(
        draft,
        request=lambda item, *_: break_down("request", item, Request(())),
        read=lambda _, item, *__: break_down("read", item, {"question": "Q?"}),
    )
    kind = replace(play.campaign.kind, tasks={**play.campaign.kind.tasks, "draft": task})
    monkeypatch.setattr(campaigns, "open_kind", lambda _name: kind)
    for name in ("break", "good"):
        do(database, play.campaign, AUTHOR, Create(name, {"scene": name}, "KE", "en"))
        do(database, play.campaign, AUTHOR, AskModel(f"{name}.0", "draft"), item=name)
    asyncio.run(Worker(database, "fake:broken", {"store": None}).answer_all())
    assert "unexpected KeyError" in play.read("break").asks[0].failure
    assert play.read("good").asks[0].answer == {"question": "Q?"}
