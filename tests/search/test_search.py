"""The registry: names, options, cost, and one contract for every kind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mores.engine import Counts, Limits
from mores.engine.loop import run
from mores.errors import ConfigError
from mores.search import KINDS, READS_FILES, Found, Options, Query, Search, open_search, search_cost, search_or_corpus
from mores.search.providers import PROVIDERS
from tests.search.concepts import Concepts
from tests.search.server import KEY, Server
from tests.search.test_providers import serve


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))
    for variable in ("SERPER_API_KEY", "BRAVE_API_KEY", "TAVILY_API_KEY"):
        monkeypatch.setenv(variable, KEY)
    monkeypatch.setattr("mores.search.dense.open_encoder", lambda _: Concepts())
    (tmp_path / "c.txt").write_text("Kava is drunk in Fiji.")
    (tmp_path / "f.jsonl").write_text('{"text": "Kava is drunk.", "source": "blend/1", "region": "FJ"}')
    monkeypatch.setattr("mores.search.shipped.FACTS", tmp_path / "f.jsonl")
    (tmp_path / "r.jsonl").write_text('{"query": "kava", "evidence": [{"text": "Kava is drunk."}]}')


def find(search: Search, queries: list[Query], k: int) -> list[Found]:
    async def ask() -> list[Found]:
        try:
            return await search.find(queries, k)
        finally:
            await search.close()

    return run(ask())


NAMES = {
    "serper": "serper",
    "brave": "brave",
    "tavily": "tavily",
    "searxng": "searxng",
    "corpus": "corpus:{}/c.txt",
    "dense": "dense:{}/c.txt",
    "fused": "fused:{}/c.txt",
    "mores": "mores",
    "replay": "replay:{}/r.jsonl",
    "fake": "fake:echo",
}


def test_every_kind_is_in_the_contract() -> None:
    assert set(NAMES) == set(KINDS)


@pytest.mark.parametrize("kind", NAMES)
def test_every_kind_keeps_the_contract(kind: str, tmp_path: Path) -> None:
    name = NAMES[kind].format(tmp_path)
    with serve(kind) if kind in PROVIDERS else Server() as server:
        options = Options(base_url=server.url)
        search, again = open_search(name, options), open_search(name, options)
        assert search.name == name
        assert search.identity == again.identity != ""
        results = find(search, [Query("kava"), Query("kava", "en", "FJ"), Query("kava")], 1)
        assert [len(result.evidence) for result in results] == [1, 1, 1]
        assert results[0] == results[2]
        assert all("kava" in result.evidence[0].text.lower() for result in results)
        assert find(again, [], 1) == []


def test_paid_results_are_cached_and_counted(tmp_path: Path) -> None:
    counts = Counts()
    with Server() as server:
        options = Options(base_url=server.url, store=tmp_path / "s.db", counts=counts, limits=Limits(concurrency=2))
        for _ in range(2):
            find(open_search("serper", options), [Query("kava"), Query("tea")], 10)
        assert len(server.asked) == 2
        find(open_search("serper:boxes", options), [Query("kava")], 10)
        assert len(server.asked) == 3
    assert (counts.calls, counts.cached) == (3, 2)


def test_any_search_can_be_recorded(tmp_path: Path) -> None:
    queries = [Query("kava"), Query("zzz")]
    first = find(open_search(f"corpus:{tmp_path}/c.txt", Options(record=tmp_path / "new.jsonl")), queries, 3)
    assert find(open_search(f"replay:{tmp_path}/new.jsonl"), queries, 3) == first


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("serpr", "did you mean 'serper'"),
        ("corpsu:x", "did you mean 'corpus:x'"),
        ("", "there are serper"),
        ("serper:box", "serper:boxes"),
        ("fake:x", "fake:echo"),
        ("corpus:", "corpus:documents.jsonl"),
        ("corpus", "corpus:documents.jsonl"),
        ("fused:", "fused:documents.jsonl"),
        ("dense", "dense:documents.jsonl"),
        ("replay", "replay:searches.jsonl"),
    ],
)
def test_wrong_names_get_a_hint(name: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=hint):
        open_search(name)


def test_kinds_that_read_files_are_known_to_those_who_must_refuse_them(tmp_path: Path) -> None:
    """A kind whose name contains a path must be listed: the studio refuses these in the browser."""
    assert {kind for kind, name in NAMES.items() if name.format(tmp_path) != name} == set(READS_FILES)


def test_cost() -> None:
    assert search_cost("serper", 1000, 10) == pytest.approx(1.0)
    assert search_cost("serper:boxes", 1000, 20) == pytest.approx(2.0)
    assert search_cost("serper", 1000, 10, price=0.0003) == pytest.approx(0.3)
    assert search_cost("corpus:x", 1000, 10) == 0.0


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("documents.jsonl", "corpus:documents.jsonl"),
        ("some/folder", "corpus:some/folder"),
        ("corpus:documents.jsonl", "corpus:documents.jsonl"),
        ("fused:documents.jsonl", "fused:documents.jsonl"),
        ("serper", "serper"),
        ("serper:boxes", "serper:boxes"),
        ("replay:searches.jsonl", "replay:searches.jsonl"),
        ("C:\\documents", "corpus:C:\\documents"),
        ("replay", "corpus:replay"),
    ],
)
def test_a_path_means_a_corpus(name: str, meant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("replay").mkdir()  # a folder of that name is what a person means
    assert search_or_corpus(name) == meant


@pytest.mark.slow
def test_the_package_loads_no_backend() -> None:
    code = "import sys, mores.search; print([m for m in sys.modules if m.startswith('mores.search.')])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    names = ("base", "words", "content", "stream", "ground")
    assert loaded.strip() == str([f"mores.search.{name}" for name in names])
