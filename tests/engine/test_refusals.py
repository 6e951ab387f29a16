"""Requests that a server refuses for good, and answers that are empty: the run ends, and can be run again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from aiohttp import web

from mores.engine import Answer, Counts, Limits, Store
from mores.errors import ModelError, Transient
from mores.models.base import Completion, Request
from mores.models.fake import FakeModel
from tests.engine.server import Server
from tests.engine.test_runner import QUICK, ask, collect, echo, served


async def picky(server: Server, request: web.Request) -> web.StreamResponse:
    """Refuses every prompt that begins with `bad`, at once; answers the others slowly."""
    prompt = (await request.json())["messages"][-1]["content"]
    if prompt.startswith("bad"):
        return web.json_response({"error": {"message": "content policy", "code": "content_filter"}}, status=400)
    return server.proper(prompt)


JOBS = [ask(f"bad{i}") for i in range(12)] + [ask(f"q{i}") for i in range(5)]


def outcomes(answers: list[Answer]) -> list[str]:
    return ["answer" if a.completion else a.failure.reason if a.failure else "" for a in answers]


def test_a_finished_run_with_many_refusals_is_run_again_from_the_store(tmp_path: Path) -> None:
    with Server({picky: 1.0}) as server, Store(tmp_path / "s.db") as store:
        model = served(server)
        first = collect(reversed(JOBS), model, store)
        asked = len(server.asked)
        again = collect(JOBS, model, store)
        assert len(server.asked) == asked == 17
        assert all(a.cached for a in again)
        assert outcomes(again) == outcomes(first[::-1])
        assert outcomes(again)[0].endswith("HTTP 400: content policy")
        assert len(store) == 5
        # Other questions to the same model: what it refuses there does not end the run either.
        more = [ask(f"bad again {i}") for i in range(20)]
        assert sum(a.completion is not None for a in collect([*more, *JOBS], model, store)) == 5
        assert len(server.asked) == asked + 20
        collect(JOBS, model, store, fresh=True)
        assert len(server.asked) == asked + 20 + 17


@pytest.mark.slow
def test_refusals_that_come_before_the_first_answer_do_not_end_the_run(tmp_path: Path) -> None:
    async def slow(server: Server, request: web.Request) -> web.StreamResponse:
        prompt = (await request.json())["messages"][-1]["content"]
        await asyncio.sleep(0.0 if prompt.startswith("bad") else 0.2)
        return await picky(server, request)

    with Server({slow: 1.0}) as server, Store(tmp_path / "s.db") as store:
        first = collect([ask("q"), *JOBS], served(server), store)
        assert sum(a.completion is not None for a in first) == 6
        collect([ask("q"), *JOBS], served(server), store)
    assert len(server.asked) == 18


def test_while_nothing_works_no_refusal_is_kept(tmp_path: Path) -> None:
    """The address or a setting may be wrong: once that is put right, every question is asked."""
    with Store(tmp_path / "s.db") as store:
        jobs = [ask(f"bad{i}") for i in range(100)]
        with Server({picky: 1.0}) as server:
            with pytest.raises(ModelError, match="every request so far was refused"):
                collect(jobs, served(server), store, Limits(concurrency=4))
            assert 10 <= len(server.asked) < 20
            server.faults = {}
            assert all(a.completion for a in collect(jobs, served(server), store))


def test_an_answer_takes_the_place_of_a_refusal(tmp_path: Path) -> None:
    with Server({picky: 1.0}) as server, Store(tmp_path / "s.db") as store:
        model = served(server)
        collect([ask("q"), ask("bad")], model, store, Limits(concurrency=1))
        server.faults = {}
        assert collect([ask("bad")], model, store)[0].failure
        assert collect([ask("bad")], model, store, fresh=True)[0].completion
        assert collect([ask("bad")], model, store)[0].completion


def test_a_few_questions_that_always_fail_do_not_end_a_run_for_good(tmp_path: Path) -> None:
    def answer(request: Request) -> Completion:
        if request.messages[-1].content.startswith("bad"):
            raise Transient("HTTP 500")
        return echo(request)

    limits = Limits(concurrency=4, attempts=2, backoff=0.001)
    jobs = [ask(f"q{i}") for i in range(300)] + [ask(f"bad{i}") for i in range(13)]
    with Store(tmp_path / "s.db") as store:
        for _ in range(2):
            assert sum(a.failure is not None for a in collect(jobs, FakeModel("x", answer), store, limits)) == 13


def test_an_empty_answer_is_asked_for_once_more_and_then_counts(tmp_path: Path) -> None:
    counts = Counts()
    with Server(answer=lambda prompt: "" if prompt.startswith("mute") else "words") as server:
        jobs = [ask(f"mute{i}") for i in range(13)] + [ask("q")]
        with Store(tmp_path / "s.db") as store:
            first = collect(jobs, served(server), store, QUICK, counts=counts)
            again = collect(jobs, served(server), store)
    assert [a.completion.text for a in first if a.completion] == [""] * 13 + ["words"]
    assert [a.completion for a in again] == [a.completion for a in first]
    assert (len(server.asked), counts.retries) == (27, 13)


def test_one_empty_answer_may_be_an_accident() -> None:
    texts = iter(["", "words"])
    with Server(answer=lambda _: next(texts)) as server:
        [answer] = collect([ask("q")], served(server))
    assert answer.completion is not None
    assert answer.completion.text == "words"
