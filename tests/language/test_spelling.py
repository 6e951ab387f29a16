"""Kirundi and Kinyarwanda, which share most words, told by their spelling; sentences written for these tests."""

from __future__ import annotations

import re
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.language import detect
from mores.language.model import shipped
from mores.language.score import score
from mores.language.spelling import MARK, PAIRS, respell
from mores.language.text import segments
from mores.language.train import added_words

PAIR = PAIRS[0]
SENTENCES = {
    "rn": [
        "Abana bafise ibitabu vyinshi mw'ishure ryabo",
        "Uyu mugabo azogenda ejo kugura ivyo kurya",
        "Mbega woba uzi ico umuvyeyi wiwe akora?",
        "Umwana yokora iki kugira ngo amenye ururimi canke igitabu?",
    ],
    "rw": [
        "Abana bafite ibitabo byinshi mu ishuri ryabo",
        "Uyu mugabo azagenda ejo kugura ibyo kurya",
        "Ese waba uzi icyo umubyeyi we akora?",
        "Kera abantu bakoraga imirimo myinshi mu mujyi cyangwa mu rugo",
    ],
}


@pytest.mark.parametrize(("tag", "text"), [(tag, text) for tag, texts in SENTENCES.items() for text in texts])
def test_a_sentence_with_marks_is_found_among_all_languages(tag: str, text: str) -> None:
    assert detect([text])[0].language == tag


@pytest.mark.parametrize(
    ("text", "lead"),
    [
        ("ivyo vyose", 2),
        ("ibyo byose", -2),
        ("harimwo harimo", 0),
        ("wiwe yiwe", 2),
        ("azokora azakora", 0),
        ("bakoraga", -1),
        ("ingwara kurondera urwaruka", 3),
        ("gutangira inshuti umuturage", -3),
        ("kwongera yonyene yonyine", 1),
        ("umurimo imirimo ikiyaga bazanye uzongera umuco", 0),  # both write these
        ("umunsi iminsi indwara kurondereza nyuma hano", 0),
    ],
)
def test_marks_are_counted_for_one_and_against_the_other(text: str, lead: int) -> None:
    assert PAIR.lead(text) == lead


@given(st.lists(st.sampled_from([text for texts in SENTENCES.values() for text in texts]), max_size=5))
def test_the_lead_of_joined_texts_is_the_sum(texts: list[str]) -> None:
    assert PAIR.lead(" ".join(texts).lower()) == sum(PAIR.lead(text.lower()) for text in texts)


def test_marks_move_only_the_two_languages_and_only_where_one_of_them_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [SENTENCES["rn"][0], "My vyvy grandmother bakes bread every morning and sells it at the market."]
    with_marks = next(score(segments(texts), shipped()))
    monkeypatch.setattr("mores.language.score.PAIRS", ())
    without = next(score(segments(texts), shipped()))
    moved = with_marks.nats - without.nats
    columns = [with_marks.languages.index(tag) for tag in PAIR.languages]
    lead = PAIR.lead(texts[0].lower())
    assert moved[0, columns] == pytest.approx([lead * MARK / 2, -lead * MARK / 2])
    assert not np.delete(moved[0], columns).any()
    assert not moved[1].any()


def test_the_old_spelling_of_a_declaration_is_made_new() -> None:
    assert respell("kin", "Muli buli gihugu, cyanga ali politique") == "muri buri gihugu, cyangwa ari politique"
    assert respell("run", "Muli Buli") == "Muli Buli"


def test_words_taken_from_text_have_marks_of_their_language_alone() -> None:
    listed = (files("mores.language") / "close_words.txt").read_text("utf-8").partition("# From here on")[2]
    found = [line.split("\t") for line in listed.splitlines() if "\t" in line]
    leads = {tag: [PAIR.lead(word) for own, words in found if own == tag for word in words.split()] for tag, _ in found}
    assert {tag: len(own) for tag, own in leads.items()} == {"rn": 150, "rw": 150}
    assert min(leads["rn"]) > 0 > max(leads["rw"])


def test_words_of_both_are_given_to_both() -> None:
    shared, own = ({tag: " ".join(added_words()[tag]).split().count(word) for tag in PAIR.languages} for word in
                   ("umuntu", "vyose"))  # fmt: skip
    assert shared["rn"] == shared["rw"] > 0
    assert own["rn"] > own["rw"] == 0
    assert not re.search("vy|mwo ", " ".join(added_words()["rw"]))
