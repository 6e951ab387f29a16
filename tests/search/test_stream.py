"""Many searches: order, bounded reading, counts, errors, stopping early."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import aclosing

import pytest

from mores.engine import Counts
from mores.engine.loop import run
from mores.errors import ModelError
from mores.search.base import Found, Query, Search
from mores.search.fake import FakeSearch, fake
from mores.search.stream import find_all


class Uneven(FakeSearch):
    """Later batches may be faster than earlier ones."""

    async def find(self, queries: Sequence[Query], k: int) -> list[Found]:
        await asyncio.sleep(0.01 if int(queries[0].text) % 64 == 0 else 0)
        return await super().find(queries, k)


def numbers(count: int) -> Iterator[tuple[int, Query]]:
    return ((n, Query(str(n))) for n in range(count))


def collect(search: Search, count: int, counts: Counts | None = None) -> list[tuple[int, Found]]:
    async def ask() -> list[tuple[int, Found]]:
        return [pair async for pair in find_all(search, numbers(count), 10, counts=counts)]

    return run(ask())


@pytest.mark.parametrize("count", [0, 1, 31, 32, 33, 1000])
def test_answers_come_in_order_with_what_they_belong_to(count: int) -> None:
    pairs = collect(Uneven("x", fake("echo")._answer), count)
    assert [(n, result.evidence[0].text) for n, result in pairs] == [(n, str(n)) for n in range(count)]


def test_counts() -> None:
    counts = Counts()
    collect(fake("fail"), 40, counts)
    collect(fake("echo"), 5, counts)
    assert (counts.done, counts.failed) == (45, 40)


def test_endless_queries_are_read_only_as_far_as_needed() -> None:
    read = []

    def endless() -> Iterator[tuple[int, Query]]:
        n = 0
        while True:
            read.append(n)
            yield n, Query(str(n))
            n += 1

    async def ask() -> None:
        async with aclosing(find_all(fake("echo"), endless(), 10, ahead=64)) as result:
            async for n, _ in result:
                assert len(read) - n <= 64 + 32
                if n == 500:
                    return

    run(ask())
    assert len(read) < 600


def test_an_error_stops_the_rest_and_leaves_no_task() -> None:
    def refuse(query: Query) -> Found:
        if query.text == "70":
            raise ModelError("enough")
        return Found()

    async def ask() -> int:
        counts = Counts()
        pairs = find_all(FakeSearch("x", refuse), numbers(1000), 10, counts=counts)
        with pytest.raises(ModelError, match="enough"):
            _ = [pair async for pair in pairs]
        assert len(asyncio.all_tasks()) == 1
        return counts.done

    assert run(ask()) == 64
