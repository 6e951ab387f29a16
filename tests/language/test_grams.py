"""N-grams and the tags that the model has."""

from __future__ import annotations

import numpy as np

from mores.language.model import keys, vocabulary
from mores.language.scope import tag_of
from mores.language.text import segments


def test_tags() -> None:
    assert [tag_of(code) for code in ("zlm", "pes", "cmn", "run", "pt-BR")] == ["ms", "fa", "zh", "rn", "pt"]


def test_n_grams_stay_in_words_and_have_one_place_each() -> None:
    cut = segments(["ab cd.", "xyz", "q"])
    packed, of = keys(cut, 3)
    shown = ["".join(chr(int(key) >> shift & 0xFFFF) for shift in (32, 16, 0)) for key in packed]
    assert list(zip(shown, of.tolist(), strict=True)) == [
        (" ab", 0), ("ab ", 0), (" cd", 0), ("cd ", 0), (" xy", 1), ("xyz", 1), ("yz ", 1), (" q ", 2),
    ]  # fmt: skip


def test_a_vocabulary_finds_all_that_it_has_and_nothing_else() -> None:
    rng = np.random.default_rng(0)
    every = np.unique(rng.integers(1, 1 << 60, 30_000, dtype=np.uint64))
    listed, other = every[::2], every[1::2]
    known = vocabulary(listed)
    assert (known.find(listed) == np.arange(len(listed))).all()
    assert (known.find(other) == -1).all()
