"""The time limit of calls: each has its own seconds, and a task that somebody else cancels is not late."""

from __future__ import annotations

import asyncio
import time

import pytest

from mores.engine.blame import attempt
from mores.engine.deadline import Deadlines, Expiry
from mores.engine.loop import run
from mores.errors import ModelError, Transient
from mores.models.base import Completion, Message, Request
from mores.models.fake import FakeModel


class Sleepy(FakeModel):
    """Answers after as many seconds as it is asked for."""

    def __init__(self) -> None:
        super().__init__("sleepy", lambda request: Completion(request.messages[0].content))

    async def complete(self, request: Request) -> Completion:
        await asyncio.sleep(float(request.messages[0].content))
        return await super().complete(request)


def ask(seconds: float) -> Request:
    return Request((Message("user", str(seconds)),))


def test_each_call_has_its_own_seconds() -> None:
    deadlines = Deadlines(0.2)

    async def later(wait: float, seconds: float) -> tuple[Completion | ModelError, float]:
        await asyncio.sleep(wait)
        start = time.monotonic()
        return await attempt(Sleepy(), ask(seconds), deadlines), time.monotonic() - start

    async def all_() -> list[tuple[Completion | ModelError, float]]:
        return list(
            await asyncio.gather(later(0, 0.02), later(0.1, 30), later(0.15, 0.02), later(0.15, 0.12), later(0.2, 9))
        )

    outcomes = run(all_())
    assert [isinstance(outcome, Transient) for outcome, _ in outcomes] == [False, True, False, False, True]
    assert str(outcomes[1][0]) == "no answer within 0.2 s"
    assert all(0.19 < outcomes[place][1] < 5 for place in (1, 4))


def test_after_one_that_was_late_the_same_task_may_ask_again() -> None:
    async def thrice() -> list[type]:
        deadlines = Deadlines(0.05)
        return [type(await attempt(Sleepy(), ask(seconds), deadlines)) for seconds in (30, 0, 30)]

    assert run(thrice()) == [Transient, Completion, Transient]


def test_a_task_that_is_cancelled_is_cancelled() -> None:
    async def cancel() -> None:
        task = asyncio.create_task(attempt(Sleepy(), ask(30), Deadlines(10)))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(cancel())


def test_cancelled_also_when_it_is_late_at_the_same_moment() -> None:
    async def cancel() -> None:
        deadlines = Deadlines(10)
        task = asyncio.create_task(attempt(Sleepy(), ask(30), deadlines))
        await asyncio.sleep(0)
        deadlines.update(dict.fromkeys(deadlines, 0.0))
        deadlines._look()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(cancel())


def test_the_others_have_their_time_where_something_is_wrong_with_one() -> None:
    async def check() -> None:
        ended: list[str] = []
        problems: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, about: problems.append(about["exception"]))

        def expire(key: str) -> None:
            if key == "a":
                raise ValueError("wrong")
            ended.append(key)

        expiry = Expiry[str](0.02, expire)
        for key in "ab":
            expiry.add(key)
        await asyncio.sleep(0.1)
        expiry.add("c")
        await asyncio.sleep(0.1)
        assert (ended, list(map(str, problems))) == (["b", "c"], ["wrong"])

    run(check())


def test_a_key_that_is_gone_does_not_end_and_after_the_close_none_does() -> None:
    """Here the end of the first is also that of the second."""

    async def check() -> None:
        ended: list[str] = []

        def expire(key: str) -> None:
            ended.append(key)
            expiry.pop("b", None)

        expiry = Expiry[str](0.02, expire)
        for key in "abc":
            expiry.add(key)
        await asyncio.sleep(0.1)
        assert ended == ["a", "c"]
        expiry.close()
        for key in "de":
            expiry.add(key)
        expiry.close()
        await asyncio.sleep(0.1)
        assert ended == ["a", "c"]
        expiry.add("f")
        await asyncio.sleep(0.1)
        assert "".join(ended) == "acdef"

    run(check())
