"""BLEnD's answers with facts in another language: both languages, answers of other regions, the factory's splits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mores.training.translated import Translated, read_questions

SNACKS = {"Greece": ("τοστ", "toast"), "Iran": ("آجیل", "nuts"), "China": ("薯片", "chips")}
DRINKS = {"Greece": ("καφές", "coffee"), "Iran": ("چای", "tea"), "China": ("茶", "tea")}
QUESTIONS = {"Q1": ("snack", SNACKS), "Q2": ("drink", DRINKS)}


@pytest.fixture
def blend(tmp_path: Path) -> Path:
    """Two questions in three regions; one person in Greece knows chips too."""
    for region in ("Greece", "Iran", "China"):
        rows = {}
        for name, (thing, answers) in QUESTIONS.items():
            native, english = answers[region]
            votes = [{"answers": [native], "en_answers": [english], "count": 3}]
            if region == "Greece" and name == "Q2":
                votes.append({"answers": ["πατατάκια"], "en_answers": ["chips"], "count": 1})
            rows[name] = {"question": f"{thing} {region}؟", "en_question": f"What {thing} in {region}?",
                          "annotations": votes, "idks": {}}  # fmt: skip
        (tmp_path / f"{region}_data.json").write_text(json.dumps(rows), "utf-8")
    return tmp_path


def test_text_and_evidence_are_in_two_languages_and_the_wrong_answer_is_another_regions(blend: Path) -> None:
    asked = read_questions(blend)
    golds = list(Translated(asked, {each.name: "train" for each in asked}).samples("train"))
    greek = [gold for gold in golds if gold.item == "blend/Q1:Greece" and "native english" in gold.sample.id]
    correct, wrong = greek
    assert (correct.sample.text, correct.report.errors) == ("τοστ", ())
    assert correct.sample.language == "el"
    assert wrong.sample.text == "πατατάκια", "what China answers, in the words of a Greek"
    [error] = wrong.report.errors
    [number] = error.evidence
    assert wrong.sample.evidence[number - 1].text == "What snack in Greece? toast"
    assert error.explanation == "The answer should be “toast”, not “πατατάκια”."
    assert correct.sample.evidence == wrong.sample.evidence


def test_an_answer_that_people_of_the_region_give_is_not_wrong(blend: Path) -> None:
    asked = read_questions(blend)
    golds = Translated(asked, {each.name: "train" for each in asked}).samples("train")
    for gold in golds:
        if gold.report.errors and gold.item == "blend/Q2:Iran":
            assert gold.sample.text in ("coffee",), "China drinks tea as well"


def test_every_question_stays_in_the_split_of_the_factory(blend: Path) -> None:
    asked = read_questions(blend)
    translated = Translated(asked, {each.name: "test" if each.question == "Q1" else "train" for each in asked})
    assert {gold.group for gold in translated.samples("train")} <= {"blend/Q2"}
    assert {gold.group for gold in translated.samples("test")} == {"blend/Q1"}
    assert not list(Translated(asked, {}).samples("train")), "what is not in the dataset is left out"
