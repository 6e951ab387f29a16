"""How many calls are let in at once."""

from __future__ import annotations

import asyncio

from mores.engine import Limits
from mores.engine.limits import Throttle


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
