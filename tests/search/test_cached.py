"""What was paid for is kept: across runs, across kills, and once for all who ask."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from mores.engine import Counts
from mores.engine.loop import run
from mores.errors import ConfigError, StoreError
from mores.search.base import Evidence, Found, Query, Search
from mores.search.cached import Cached, search_key, searches_path
from mores.search.fake import FakeSearch, fake
from mores.types import Failure, FailureKind
from tests.search.server import KEY, Server


class Slow(FakeSearch):
    """Gives the query back after a while; how many are asked at once is counted."""

    async def find(self, queries: Sequence[Query], k: int) -> list[Found]:
        await asyncio.sleep(0.02)
        return await super().find(queries, k)


def echo(query: Query) -> Found:
    return Found(evidence=(Evidence(text=query.text, title="t", source="s", date="d"),))


def find(search: Search, *batches: Sequence[Query], k: int = 10) -> list[list[Found]]:
    async def ask() -> list[list[Found]]:
        try:
            return list(await asyncio.gather(*(search.find(batch, k) for batch in batches)))
        finally:
            await search.close()

    return run(ask())


def test_the_second_run_asks_nothing(tmp_path: Path) -> None:
    queries, path = [Query(f"q{n}", "en", "GB") for n in range(1200)], tmp_path / "s.db"
    backend, counts = FakeSearch("x", echo), Counts()
    first = find(Cached(backend, path, counts=counts), queries)
    again = find(Cached(backend, path, counts=counts), queries)
    assert first == again
    assert first[0][7] == echo(Query("q7"))
    assert len(backend.asked) == 1200
    assert counts.cached == 1200


def test_nothing_found_is_kept_and_failures_are_not(tmp_path: Path) -> None:
    nothing, failing = fake("none"), fake("fail")
    for search in (nothing, failing):
        find(Cached(search, tmp_path / "s.db"), [Query("tea")])
        find(Cached(search, tmp_path / "s.db"), [Query("tea")])
    assert (len(nothing.asked), len(failing.asked)) == (1, 2)


def test_the_same_query_is_asked_once_however_many_ask_at_once(tmp_path: Path) -> None:
    backend = Slow("x", echo)
    batches = find(Cached(backend, tmp_path / "s.db"), [Query("a"), Query("a"), Query("b")], [Query("b"), Query("a")])
    assert [[result.evidence[0].text for result in batch] for batch in batches] == [["a", "a", "b"], ["b", "a"]]
    assert sorted(backend.asked) == [Query("a"), Query("b")]


def test_another_backend_query_region_language_or_number_is_another_search(tmp_path: Path) -> None:
    assert len({search_key(*arguments) for arguments in (
        ("x", Query("a"), 10), ("y", Query("a"), 10), ("x", Query("b"), 10), ("x", Query("a"), 5),
        ("x", Query("a", "en"), 10), ("x", Query("a", None, "en"), 10),
    )}) == 6  # fmt: skip
    backend = FakeSearch("x", echo)
    find(Cached(backend, tmp_path / "s.db"), [Query("a")], k=5)
    find(Cached(backend, tmp_path / "s.db"), [Query("a")], k=6)
    assert len(backend.asked) == 2


def test_half_an_emoji_is_no_reason_to_stop(tmp_path: Path) -> None:
    ((result, same),) = find(
        Cached(FakeSearch("x", echo), tmp_path / "s.db"), [Query("tea \ud83d"), Query("tea \ud83c")]
    )
    assert result == same == echo(Query("tea \ufffd"))


def test_fresh_asks_again_and_keeps_the_new(tmp_path: Path) -> None:
    old, new = FakeSearch("x", echo), FakeSearch("x", lambda _: Found())
    find(Cached(old, tmp_path / "s.db"), [Query("a")])
    assert find(Cached(new, tmp_path / "s.db", fresh=True), [Query("a")]) == [[Found()]]
    assert find(Cached(old, tmp_path / "s.db"), [Query("a")]) == [[Found()]]


def test_who_gives_up_does_not_take_the_answer_from_others(tmp_path: Path) -> None:
    async def ask() -> list[Found]:
        search = Cached(Slow("x", echo), tmp_path / "s.db")
        first, second = (asyncio.create_task(search.find([Query("a")], 10)) for _ in range(2))
        await asyncio.sleep(0.005)
        first.cancel()
        try:
            return await second
        finally:
            await search.close()

    assert run(ask()) == [echo(Query("a"))]


def test_what_stops_the_run_is_raised_as_it_is_and_what_came_before_is_kept(tmp_path: Path) -> None:
    def refuse(query: Query) -> Found:
        if query.text == "bad":
            raise ConfigError("no key")
        return echo(query)

    with pytest.raises(ConfigError, match="no key"):
        find(Cached(FakeSearch("x", refuse), tmp_path / "s.db"), [Query("good")], [Query("bad"), Query("bad")])
    nothing = FakeSearch("x", lambda _: Found(failure=Failure(kind=FailureKind.MODEL, reason="asked")))
    assert find(Cached(nothing, tmp_path / "s.db"), [Query("good")]) == [[echo(Query("good"))]]


CHILD = """
import asyncio, sys
from pathlib import Path
from mores.search import Options, Query, find_all, open_search

async def main():
    search = open_search("serper", Options(base_url=sys.argv[1], store=Path(sys.argv[2])))
    async for name, found in find_all(search, ((f"q{n}", Query(f"q{n}")) for n in range(400)), 10):
        print(name, len(found.evidence), flush=True)
    await search.close()

asyncio.run(main())
"""


def test_a_killed_run_pays_for_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERPER_API_KEY", KEY)
    with Server(latency=0.02) as server:
        command = [sys.executable, "-c", CHILD, server.url, str(tmp_path / "s.db")]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        seen = [child.stdout.readline().split()[0] for _ in range(100)]
        child.kill()
        child.communicate()
        time.sleep(0.1)
        before = list(server.asked)
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()
        after = server.asked[len(before) :]
    assert seen == [f"q{n}" for n in range(100)]
    assert done == [f"q{n} 3" for n in range(400)]
    assert not set(seen) & set(after)
    assert len(before) < 400
    # What was under way at the kill is at most what runs at once.
    assert len(set(before) & set(after)) <= 32 + 32


def test_the_key_is_not_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERPER_API_KEY", KEY)
    with Server() as server:
        monkeypatch.setattr(sys, "argv", ["-c", server.url, str(tmp_path / "s.db")])
        exec(CHILD, {})
    files = list(tmp_path.iterdir())
    assert files
    assert all(KEY.encode() not in file.read_bytes() for file in files)


def test_files_that_are_not_ours(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("not a database " * 100)
    with pytest.raises(StoreError, match=r"text\.db"):
        Cached(fake("echo"), tmp_path / "text.db")
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE t (x)")
    other.close()
    with pytest.raises(StoreError, match="none with search results"):
        Cached(fake("echo"), tmp_path / "other.db")


def test_a_result_that_cannot_be_kept_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    search = Cached(FakeSearch("x", echo), path)
    with sqlite3.connect(path) as other:
        other.execute("DROP TABLE found")
        other.execute("CREATE TABLE found (key BLOB PRIMARY KEY, query, backend, evidence, at, sum, more)")
    other.close()
    with pytest.raises(StoreError, match="6 values were supplied"):
        find(search, [Query("a"), Query("b")])


def test_the_usual_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "new"))
    find(Cached(fake("echo")), [Query("a")])
    assert searches_path() == tmp_path / "new" / "searches.db"
    assert searches_path().exists()
