"""Languages that share most words, told by their spelling; sentences written for these tests."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.language import detect
from mores.language.model import shipped
from mores.language.score import score
from mores.language.spelling import MARK, PAIRS
from mores.language.text import segments

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


OTHERS = {
    "hr": "Tko je prije tjedan dana vidio to dijete u vlaku?",
    "sr": "Ko je pre nedelju dana video to dete u vozu?",
    "id": "Kantor itu libur karena mobil perusahaan bisa datang hari Kamis",
    "ms": "Pejabat itu cuti kerana kereta syarikat boleh datang hari Khamis",
    "nb": "Jeg vet ikke hvorfor de ble hjemme etter en uke, men det er noe rart med det",
    "nn": "Eg veit ikkje kvifor dei vart heime etter ei veke, men det er noko rart med det",
    "da": "Jeg ved ikke, hvorfor de blev hjemme efter en uge, men der er noget mærkeligt ved det",
    "cs": "Když jsem byl v práci, nebylo tam nic pro děti",
    "sk": "Keď som bol v práci, nebolo tam nič pre deti",
    "hil": "Ngaa indi makakadto ang mga tawo sa amon balay kag ano ang himuon sang bata subong?",
    "fil": "Bakit hindi makapunta ang mga tao sa aming bahay at ano ang gagawin ng bata ngayong araw?",
    "ceb": "Ngano nga dili makaadto ang mga tawo sa among balay ug unsa ang buhaton sa bata karon?",
}


@pytest.mark.parametrize("tag", OTHERS)
def test_a_sentence_in_one_of_the_other_pairs_is_found_and_its_marks_are_of_its_language(tag: str) -> None:
    assert detect([OTHERS[tag]])[0].language == tag
    for pair in PAIRS:
        if tag in pair.languages:
            lead = pair.lead(f" {OTHERS[tag].lower()} ")
            assert lead > 0 if pair.languages[0] == tag else lead < 0


@pytest.mark.parametrize(
    "text",
    [
        " prijatelj nije prijem premijer higijena objekat sjedinjene dobije akcije ",
        " dan kuća grad more ljubav knjiga ",
    ],
)
def test_what_croatian_and_serbian_both_write_is_no_mark(text: str) -> None:
    assert PAIRS[1].languages == ("hr", "sr")
    assert PAIRS[1].lead(text) == 0


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
