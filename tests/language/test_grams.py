"""N-grams and the tags that the model has."""

from __future__ import annotations

import numpy as np
import pytest

from mores.language.model import ORDERS, STEP, DetectionModel, ScoreCalibration, ScriptModel, keys, n_grams, vocabulary
from mores.language.scope import tag_of
from mores.language.score import score
from mores.language.scripts import NUMBERS, SPACE, tables
from mores.language.text import segments


def test_tags() -> None:
    assert [tag_of(code) for code in ("zlm", "pes", "cmn", "run", "pt-BR")] == ["ms", "fa", "zh", "rn", "pt"]


def test_n_grams_stay_in_words_and_have_one_place_each() -> None:
    cut = segments(["ab cd.", "xyz", "q"])
    packed, of = keys(cut, 3)
    numbers = [[int(key) >> shift & 0xFFF for shift in (24, 12, 0)] for key in packed]
    shown = ["".join(" " if number == 1 else chr(number - 16) for number in gram) for gram in numbers]
    assert list(zip(shown, of.tolist(), strict=True)) == [
        (" ab", 0), ("ab ", 0), (" cd", 0), ("cd ", 0), (" xy", 1), ("xyz", 1), ("yz ", 1), (" q ", 2),
    ]  # fmt: skip


def test_the_longest_n_gram_counts_for_all_that_it_begins_with() -> None:
    texts = ["the cat, a hat", "abc x", "zebra"]
    cut = segments(["the cat that has a hat"])
    listed = np.unique(np.concatenate([keys(cut, order)[0] for order in ORDERS]))
    weights = np.random.default_rng(0).integers(0, 256, (len(listed), 2)).astype(np.uint8)
    block = ScriptModel(("en", "de"), listed, weights, np.array([0.0, 0.5]), np.zeros(2))
    scores = next(score(segments(texts), DetectionModel({"Latn": block}, ScoreCalibration(), {})))
    for place, text in enumerate(texts):
        grams = np.concatenate([keys(segments([text]), order)[0] for order in ORDERS])
        rows = block.vocabulary.find(grams)
        rows = rows[rows >= 0]
        expected = weights[rows].astype(float).sum(axis=0) / STEP + len(rows) * block.unseen
        assert scores.nats[place].tolist() == pytest.approx(expected.tolist())
        assert (scores.grams[place], scores.total[place]) == (len(rows), len(grams))


def test_no_two_letters_of_a_script_are_the_same_number() -> None:
    for script in ("Latn", "Cyrl", "Arab", "Deva", "Beng", "Ethi", "Hebr", "Mymr", "Tibt"):
        letters = np.flatnonzero(tables().script == NUMBERS[script]).astype(np.uint32)
        packed, _ = next(n_grams(np.append(letters, np.uint32(SPACE))))
        numbers = (packed >> np.uint64(12)).tolist()
        assert len(set(numbers) | {0, 1}) == len(letters) + 2


def test_a_vocabulary_finds_all_that_it_has_and_nothing_else() -> None:
    rng = np.random.default_rng(0)
    every = np.unique(rng.integers(1, 1 << 60, 30_000, dtype=np.uint64))
    listed, other = every[::2], every[1::2]
    known = vocabulary(listed)
    assert (known.find(listed) == np.arange(len(listed))).all()
    assert (known.find(other) == -1).all()
