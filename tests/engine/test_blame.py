"""Whose fault a failure is: the text's, the moment's or the set-up's."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mores.engine import Answer, Counts, Limits, RunOptions, Store, run
from mores.engine.loop import run as run_loop
from mores.errors import ConfigError, ModelError, Transient
from mores.models.base import Completion, Request
from mores.models.fake import FakeModel
from mores.models.openai import OpenAIModel
from mores.types import Blame
from tests.engine.test_runner import ask, collect, echo

LIMITS = Limits(concurrency=4, attempts=2, backoff=0.001, longest_wait=0.01, outage=30, confirm_every=0.05)
TEXTS = 30


class Fickle(FakeModel):
    """Answers `bad` texts with an exception, and everything once `gone` is set."""

    def __init__(self, problem: Callable[[], Exception], after: int | None = None) -> None:
        self.asked: list[str] = []
        self.problem, self.after = problem, after
        super().__init__("fickle", self.answer)

    def answer(self, request: Request) -> Completion:
        text = request.messages[-1].content
        self.asked.append(text)
        if text.startswith("bad") or (self.after is not None and len(self.asked) > self.after):
            raise self.problem()
        return echo(request)


def failures(answers: list[Answer]) -> dict[str, Blame]:
    return {answer.job.id: answer.failure.blame for answer in answers if answer.failure}


PROBLEMS: dict[str, tuple[Callable[[], Exception], Blame]] = {
    "a refused key": (lambda: ModelError("HTTP 401"), Blame.TEXT),
    "no credit": (lambda: ModelError("HTTP 402", account=True), Blame.MOMENT),
    "a reset": (lambda: Transient("reset", down=True, of_text=True), Blame.TEXT),
    "an unreadable answer": (lambda: Transient("no JSON", of_text=True), Blame.TEXT),
    "a broken server": (lambda: Transient("HTTP 500"), Blame.MOMENT),
    "a bug": (lambda: ZeroDivisionError("secret"), Blame.TEXT),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("place", [0, 15, TEXTS - 1])
def test_one_bad_text_fails_alone(tmp_path: Path, name: str, place: int) -> None:
    problem, blame = PROBLEMS[name]
    model = Fickle(problem)
    jobs = [ask("bad" if n == place else f"q{n}") for n in range(TEXTS)]
    started = time.monotonic()
    with Store(tmp_path / "s.db") as store:
        answers = collect(jobs, model, store, LIMITS)
        assert failures(answers) == {"bad": blame}
        asked = len(model.asked)
        assert failures(collect(jobs, model, store, LIMITS)) == {"bad": blame}
        again = model.asked[asked:]
        assert (not again) == (blame is Blame.TEXT)  # what is the text's fault is known; a moment may have passed
        model.problem = lambda: AssertionError("it is well now")
        model.answer = model._answer = echo  # type: ignore[method-assign]
        assert not failures(collect(jobs, model, store, LIMITS, retry_failed=True))
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("name", ["a refused key", "a bug"])
def test_the_first_of_few_texts_may_be_bad(name: str) -> None:
    """All wait for the model to be opened, and the first fails at once."""
    problem, blame = PROBLEMS[name]
    assert failures(collect([ask("bad"), ask("good")], Fickle(problem), None, LIMITS)) == {"bad": blame}


@pytest.mark.parametrize(
    "answer",
    [
        Completion("half a \ud800"),
        Completion("", thoughts="\ud800"),
        None,
        "text",
        Completion("a", prompt_tokens=1 << 63),
    ],
)
def test_an_answer_that_none_can_be_is_the_fault_of_its_text(tmp_path: Path, answer: object) -> None:
    def complete(request: Request) -> Completion:
        return answer if request.messages[-1].content == "bad" else echo(request)  # type: ignore[return-value]

    jobs = [ask("bad" if n == 15 else f"q{n}") for n in range(TEXTS)]
    with Store(tmp_path / "s.db") as store:
        assert failures(collect(jobs, FakeModel("own", complete), store, LIMITS)) == {"bad": Blame.TEXT}
        assert len(store) == TEXTS - 1


def test_a_key_that_is_revoked_stops_the_run_before_the_rest_is_spent(tmp_path: Path) -> None:
    model = Fickle(lambda: ModelError("HTTP 401: revoked"), after=10)
    jobs = [ask(f"q{n}") for n in range(500)]
    with Store(tmp_path / "s.db") as store:
        with pytest.raises(ModelError, match="revoked"):
            collect(jobs, model, store, LIMITS)
        assert len(model.asked) < 30
        model.after = None
        assert not failures(collect(jobs, model, store, LIMITS))  # none of those in flight was kept


def test_while_nothing_works_a_few_failures_stop_the_run() -> None:
    model = Fickle(lambda: ModelError("HTTP 404: no such model"), after=0)
    with pytest.raises(ModelError, match="no such model"):
        collect([ask(f"q{n}") for n in range(500)], model, None, Limits(concurrency=1))
    assert len(model.asked) == 3


def test_what_is_asked_again_to_decide_is_rare_and_cheap() -> None:
    counts = Counts()
    model = Fickle(lambda: ModelError("HTTP 403"))
    jobs = [ask(f"bad {n}" if 5 < n < 14 else f"q{n}") for n in range(TEXTS)]
    answers = collect(jobs, model, None, Limits(concurrency=1), counts=counts)
    assert set(failures(answers).values()) == {Blame.TEXT}
    assert len(failures(answers)) == 8
    assert len(model.asked) == TEXTS + 1
    assert counts.calls == TEXTS - 8 + 1  # it is part of the cost


def test_a_port_that_none_has_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match="base URL"):
        OpenAIModel("x", "http://127.0.0.1:99999/v1")


@pytest.mark.slow
def test_the_last_failure_is_decided_while_no_more_jobs_may_come() -> None:
    """So many answers wait for the first one, which fails after all of them, that the other jobs are not read yet."""

    others = 0

    class Slow(FakeModel):
        async def complete(self, request: Request) -> Completion:
            nonlocal others
            if request.messages[-1].content == "bad":
                before = -1
                while before != others:  # until no other may be asked
                    before = others
                    await asyncio.sleep(0.2)
                raise Transient("no JSON", of_text=True)
            others += 1
            return echo(request)

    async def gather() -> list[Answer]:
        jobs = [ask("bad" if n == 0 else f"q{n}") for n in range(1200)]
        options = RunOptions(limits=Limits(concurrency=2, attempts=1))
        async with asyncio.timeout(10):
            return [answer async for answer in run(jobs, Slow("slow", echo), options)]

    answers = run_loop(gather())
    assert len(answers) == 1200
    assert failures(answers) == {"bad": Blame.TEXT}
