"""BM25: numbers worked out by hand, and against a plain reference."""

from __future__ import annotations

import math
import random
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.search import index as indexing
from mores.search.index import K1, B, Index, PassageScorer, best, build_index, weigh
from mores.search.words import words


def open_index(texts: list[str], folder: Path) -> Index:
    passages = ({"text": text, "n": n} for n, text in enumerate(texts))
    build_index(folder / "index.corpus", passages, lambda passage: str(passage["text"]))
    return Index(folder / "index.corpus")


def hits(index: Index, query: str, k: int) -> list[tuple[int, float]]:
    scores = index.scores(query)
    return [(index.passage(place)["n"], float(scores[place])) for place in best(scores, k)]


def reference(texts: list[str], query: str, k: int) -> list[tuple[int, float]]:
    """As it is written in the books."""
    documents = [text.split() for text in texts]
    mean = sum(map(len, documents)) / len(documents)
    holding = Counter(word for document in documents for word in set(document))
    scores = []
    for n, document in enumerate(documents):
        score = 0.0
        for word in query.split():
            times = document.count(word)
            rarity = math.log(1 + (len(documents) - holding[word] + 0.5) / (holding[word] + 0.5))
            score += rarity * times / (times + K1 * (1 - B + B * len(document) / mean)) if times else 0.0
        scores.append((n, score))
    return sorted((pair for pair in scores if pair[1] > 0), key=lambda pair: (-pair[1], pair[0]))[:k]


def test_scores_by_hand(tmp_path: Path) -> None:
    # Mean length 2. "tea" is in 1 of 2: ln(1 + 1.5/1.5) = ln 2; once in a text of mean length: 1/(1 + 1.5) = 0.4.
    index = open_index(["green tea", "black coffee"], tmp_path)
    ((place, score),) = hits(index, "tea", 5)
    assert place == 0
    assert score == pytest.approx(0.4 * math.log(2), rel=1e-6)


def test_equal_passages_come_in_their_order(tmp_path: Path) -> None:
    index = open_index(["rice and beans"] * 400 + ["rice"] + ["rice and beans"] * 400, tmp_path)
    assert [place for place, _ in hits(index, "rice", 5)] == [400, 0, 1, 2, 3]
    assert [place for place, _ in hits(index, "beans", 3)] == [0, 1, 2]


def test_what_shares_no_word_is_not_found(tmp_path: Path) -> None:
    index = open_index(["green tea", "black coffee"], tmp_path)
    assert hits(index, "kava", 5) == []
    assert hits(index, "", 5) == []
    assert [place for place, _ in hits(index, "TEA, coffee!", 1)] == [0]


@pytest.mark.slow
@given(st.integers(0, 2**32), st.integers(1, 400), st.integers(1, 30))
def test_the_same_as_the_reference(seed: int, size: int, k: int) -> None:
    draw = random.Random(seed)
    letters = [chr(97 + n) * 2 for n in range(26)]
    weights = [1 / (n + 1) for n in range(26)]
    texts = [" ".join(draw.choices(letters, weights, k=draw.randint(1, 12))) for _ in range(size)]
    query = " ".join(draw.choices(letters, weights, k=4))
    with TemporaryDirectory() as folder:
        ours = hits(open_index(texts, Path(folder)), query, k)
    theirs = reference(texts, query, size)
    assert [score for _, score in ours] == pytest.approx([score for _, score in theirs[:k]], rel=1e-5)
    exact = dict(theirs)  # scores that differ only by rounding may change places
    assert [exact[place] for place, _ in ours] == pytest.approx([score for _, score in ours], rel=1e-5)


def test_blocks_give_the_same_numbers_as_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "_BLOCK", 7)
    draw = random.Random(1)
    texts = [" ".join(draw.choices(["tea", "rice", "beans", "日本", "kava", f"w{n}"], k=9)) for n in range(40)] + [""]
    index, whole = open_index(texts, tmp_path), PassageScorer(weigh(map(words, texts)))
    for query in ("tea", "rice beans", "日本 w3 w39", "kava kava", "unknown"):
        assert index.scores(query).tolist() == whole.scores(words(query)).tolist()
        assert index.ceiling(query) == whole.ceiling(words(query))
    assert [index.passage(place)["text"] for place in range(len(index))] == texts


def test_the_file_is_a_zip_whose_arrays_are_aligned(tmp_path: Path) -> None:
    index = open_index(["green tea", "black coffee"], tmp_path)
    with ZipFile(tmp_path / "index.corpus") as archive:
        assert archive.testzip() is None
        assert archive.read("passages.jsonl").splitlines()[1] == b'{"text":"black coffee","n":1}'
    for name, kind in (("starts", "<i8"), ("weights", "<f4")):
        assert index.array(name, kind).flags.aligned
    assert index.about["passages"] == 2


def test_a_file_that_is_cut_or_of_another_format_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_index(["green tea", "black coffee"], tmp_path)
    content = (tmp_path / "index.corpus").read_bytes()
    (tmp_path / "cut.corpus").write_bytes(content[:-100])
    with pytest.raises(ValueError, match="not a zip file"):
        Index(tmp_path / "cut.corpus")
    monkeypatch.setattr(indexing, "FORMAT", 2)
    with pytest.raises(ValueError, match="another version of Mores, in format 1"):
        Index(tmp_path / "index.corpus")
