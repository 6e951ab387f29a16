"""Recordings: what one run found, another finds again, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.engine.loop import run
from mores.errors import ConfigError, InputError, StoreError
from mores.search.base import Evidence, Found, Query, Search
from mores.search.clean import writable
from mores.search.fake import FakeSearch, fake
from mores.search.replay import Recording, Replay


def many(query: Query) -> Found:
    text = writable(query).text  # searches give clean evidence, whatever they are asked
    return Found(evidence=tuple(Evidence(text=f"{text} {n}", source=f"s{n}") for n in range(8)))


def find(search: Search, queries: Sequence[Query], k: int = 5) -> list[Found]:
    async def ask() -> list[Found]:
        try:
            return await search.find(queries, k)
        finally:
            await search.close()

    return run(ask())


TEXTS = st.text(st.characters() | st.just("\ud83d"), max_size=20)
QUERIES = st.lists(st.builds(Query, TEXTS, st.sampled_from([None, "en", "zh-TW"]), st.sampled_from([None, "FJ"])))


@pytest.mark.slow
@given(QUERIES, st.integers(1, 10))
def test_a_round_trip(queries: list[Query], k: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "r.jsonl"
        results = find(Recording(FakeSearch("x", many), path), queries, k)
        assert find(Replay(path), queries, k) == results
        assert len(path.read_bytes().splitlines()) == len(set(map(writable, queries)))


def test_what_is_not_there_is_a_failure_that_says_so(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    find(Recording(FakeSearch("x", many), path), [Query("tea", "en")])
    other, same_words = find(Replay(path), [Query("coffee"), Query("tea", "fr")])
    assert other.failure is not None
    assert "'coffee' is not in the recording" in other.failure.reason
    assert same_words.failure is not None


def test_fewer_results_can_be_asked_for_but_not_more(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    find(Recording(FakeSearch("x", many), path), [Query("tea")], k=5)
    assert [len(result.evidence) for result in find(Replay(path), [Query("tea")], k=2)] == [2]
    (more,) = find(Replay(path), [Query("tea")], k=6)
    assert more.failure is not None
    assert "recorded with 5 results" in more.failure.reason
    find(Recording(FakeSearch("x", many), path), [Query("tea")], k=20)  # all there are: 8
    assert [len(result.evidence) for result in find(Replay(path), [Query("tea")], k=50)] == [8]


def test_failures_are_not_recorded(tmp_path: Path) -> None:
    find(Recording(fake("fail"), tmp_path / "r.jsonl"), [Query("tea")])
    assert (tmp_path / "r.jsonl").read_bytes() == b""


def test_a_file_by_hand_is_for_anybody(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"query": "tea", "evidence": [{"text": "Tea is drunk."}]}')
    results = find(Replay(path), [Query("tea", "en", "GB")], k=10)
    assert results == [Found(evidence=(Evidence(text="Tea is drunk."),))]
    find(Recording(fake("echo"), path), [Query("kava")])  # goes on after a last line without its end
    assert len(find(Replay(path), [Query("tea")])[0].evidence) == 1


def test_a_recording_goes_on_after_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    find(Recording(FakeSearch("x", many), path), [Query("a"), Query("b")])
    whole = path.read_bytes()
    for cut in (1, 5, 30, len(whole) // 2 - 1):
        path.write_bytes(whole[:-cut])
        with_b = find(Recording(FakeSearch("x", many), path), [Query("a"), Query("b")])
        assert path.read_bytes() == whole
        assert find(Replay(path), [Query("a"), Query("b")]) == with_b


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("first\nmy notes")
    with pytest.raises(InputError, match=r"notes\.txt:1"):
        Recording(fake("echo"), path)
    assert path.read_text() == "first\nmy notes"


def test_bad_files_say_where(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"query": "tea", "evidence": []}\n{"query": "tea"}\n')
    with pytest.raises(InputError, match=r"r\.jsonl:2: evidence"):
        Replay(path)
    with pytest.raises(InputError, match="no such file"):
        Replay(tmp_path / "none.jsonl")
    with pytest.raises(ConfigError, match="needs a file"):
        Replay("")
    with pytest.raises(StoreError, match="choose another name"):
        Recording(fake("echo"), tmp_path / "none" / "r.jsonl")


def test_the_identity_is_that_of_the_contents(tmp_path: Path) -> None:
    first, second = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    for path in (first, second):
        path.write_text('{"query": "tea", "evidence": []}\n')
    assert Replay(first).identity == Replay(second).identity
    second.write_text('{"query": "tee", "evidence": []}\n')
    assert Replay(first).identity != Replay(second).identity
