"""How many calls are let in at once."""

from __future__ import annotations

import asyncio

import pytest

from mores.engine import Limits
from mores.engine.limits import Throttle
from mores.errors import Transient


async def at_once(throttle: Throttle) -> int:
    """How many of ten calls are let in while none has ended; then all end."""
    calls = [asyncio.create_task(throttle.acquire(0)) for _ in range(10)]
    await asyncio.sleep(0.01)
    let_in = sum(call.done() for call in calls)
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    for _ in range(let_in):
        throttle.release()
    return let_in


def test_a_model_that_takes_more_calls_than_before_gets_one_more_with_each_answer() -> None:
    async def follow() -> list[int]:
        throttle = Throttle(Limits(), 4)
        seen = [await at_once(throttle)]
        for most in (2, 4):
            throttle.fit(most)
            seen.append(await at_once(throttle))
        for _ in range(3):
            throttle.succeeded(0)
            seen.append(await at_once(throttle))
        return seen

    assert asyncio.run(follow()) == [4, 2, 2, 3, 4, 4]


@pytest.mark.parametrize("pause", [None, 0.2])
def test_a_call_that_is_withdrawn_when_its_turn_comes_leaves_it_to_the_next(pause: float | None) -> None:
    async def follow() -> None:
        throttle = Throttle(Limits(), 1)
        await throttle.acquire(0)
        first, second = (asyncio.create_task(throttle.acquire(0)) for _ in range(2))
        await asyncio.sleep(0)
        throttle.overloaded(Transient("busy", overload=True, retry_after=pause))
        throttle.release()
        if pause:
            await asyncio.sleep(pause / 2)
        first.cancel()
        async with asyncio.timeout(10):
            await second

    asyncio.run(follow())
