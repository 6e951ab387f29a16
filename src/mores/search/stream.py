"""Many searches at once: in the order of the queries, in bounded memory, however many there are.

async for claim, found in find_all(search, ((claim, Query(claim.text)) for claim in claims), k=10): ...
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Coroutine, Iterable
from itertools import islice
from typing import Any, TypeVar

from mores.engine.counts import Counts
from mores.search.base import Found, Query, Search

T = TypeVar("T")
R = TypeVar("R")

_CHUNK = 32
"""Queries that a backend gets together."""


async def find_all(
    search: Search, wanted: Iterable[tuple[T, Query]], k: int, *, counts: Counts | None = None, ahead: int = 256
) -> AsyncGenerator[tuple[T, Found], None]:
    """Search for every query and give it back with what it belongs to, in order.

    `ahead` is how many queries are read before the oldest open one is answered. How many searches run at once is the
    backend's business. The search is not closed.
    """
    counts = counts or Counts()
    rest = iter(wanted)
    chunks = iter(lambda: list(islice(rest, _CHUNK)), [])
    open_chunks: deque[tuple[list[tuple[T, Query]], asyncio.Task[list[Found]]]] = deque()
    try:
        while True:
            for chunk in islice(chunks, max(1, ahead // _CHUNK) - len(open_chunks)):
                open_chunks.append((chunk, asyncio.create_task(search.find([query for _, query in chunk], k))))
            if not open_chunks:
                return
            chunk, task = open_chunks[0]
            results = await task
            open_chunks.popleft()
            for (what, _), result in zip(chunk, results, strict=True):
                counts.done += 1
                counts.fail(result.failure)
                yield what, result
    finally:
        await _stop([task for _, task in open_chunks])


async def together(work: Iterable[Coroutine[Any, Any, R]]) -> list[R]:
    """Return the results of all, in order; the first exception stops the others and is raised unchanged."""
    tasks = [asyncio.create_task(coroutine) for coroutine in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        await _stop(tasks)


async def _stop(tasks: list[asyncio.Task[R]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
