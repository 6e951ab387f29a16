"""Files that people export from surveys and annotation programs, as `mores rate` reads them.

The fixtures are made up; their shapes are those of the programs' documentation.
"""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

from mores.errors import ConfigError, InputError
from mores.rating.participants import keep_participants
from mores.rating.ratings import RatingFile, open_ratings
from mores.rating.scales import read_words, scales, to_number
from tests.test_tables import put_sheet

HERE = Path(__file__).parent / "exports"


def cells(file: RatingFile) -> list[tuple[str, str, str, float | None]]:
    return [(each.question_id, each.model, each.annotator, each.rating) for each in file.ratings]


def test_google_forms_has_a_column_for_each_row_of_a_grid() -> None:
    file = open_ratings(HERE / "google_forms.csv")
    greet, ugali = "How do people in Kenya greet elders?", "What is ugali eaten with?"
    assert cells(file) == [
        (greet, "GPT-4", "person 1", 5.0), (greet, "Aya, 8B", "person 1", 2.0),
        (ugali, "GPT-4", "person 1", 4.0), (ugali, "Aya, 8B", "person 1", 3.0),
        (greet, "GPT-4", "person 2", 4.0), (greet, "Aya, 8B", "person 2", 1.0), (ugali, "Aya, 8B", "person 2", 4.0),
        (greet, "GPT-4", "person 3", 5.0), (greet, "Aya, 8B", "person 3", 3.0),
        (ugali, "GPT-4", "person 3", None), (ugali, "Aya, 8B", "person 3", 2.0),
    ]  # fmt: skip
    told = str(file.report)
    assert "as Google Forms exports it; 4 columns named '{question} [{model}]', such as" in told
    assert "annotator ← Email Address; 1 empty cells are answers that a person was not shown or skipped" in told
    assert "3 annotators are numbered, without their e-mail addresses" in told
    assert "left out, as they tell who people are: 'Email Address'" in told
    assert not any("@" in each.model_dump_json() for each in file.ratings)
    assert file.replaced["rating", "Not applicable", "no value"] == 1
    kept = open_ratings(HERE / "google_forms.csv", columns={"annotator": "Email Address"})
    assert kept.ratings[0].annotator == "amina@example.org"


def test_google_forms_in_spanish_and_as_a_spreadsheet(tmp_path: Path) -> None:
    file = open_ratings(HERE / "google_forms_es.tsv", scale=(1, 5))
    assert [each.rating for each in file.ratings] == [5, 2, 4, 1, 3, 4]
    assert {each.annotator for each in file.ratings} == {"person 1", "person 2", "person 3"}
    rows = [line.split("\t") for line in (HERE / "google_forms_es.tsv").read_text("utf-8").splitlines()]
    sheet = put_sheet(str(tmp_path / "responses.xlsx"), *rows)
    assert cells(open_ratings(sheet, scale=(1, 5))) == cells(file)


def test_qualtrics_has_three_header_rows() -> None:
    file = open_ratings(HERE / "qualtrics.csv")
    assert len(file.ratings) == 11
    first = file.ratings[0]
    assert (first.question, first.model) == ("Who pays for a wedding in Japan?\nRate each answer.", "gpt-4")
    assert (first.annotator, first.rating) == ("60d5f0a1", 5.0)
    assert "left out 1 previews and tests (Status)" in str(file.report)
    assert "annotator ← PROLIFIC_PID" in str(file.report)
    assert not {"IPAddress", "RecipientEmail", "LocationLatitude"} & set(first.metadata)


def test_names_of_qualtrics_columns_may_have_the_question_and_the_model(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text(
        "StartDate,ResponseId,w1_gpt_rating,w1_gpt_comment,w1_aya_rating,w1_aya_comment\n"
        "2024-05-01,R_1,4,good,2,\n2024-05-01,R_2,5,,1,bad\n"
    )
    file = open_ratings(path, wide="{question_id}_{model}_{column}")
    assert cells(file) == [
        ("w1", "gpt", "R_1", 4.0), ("w1", "aya", "R_1", 2.0), ("w1", "gpt", "R_2", 5.0), ("w1", "aya", "R_2", 1.0)
    ]  # fmt: skip
    assert [each.comment for each in file.ratings] == ["good", None, None, "bad"]
    with pytest.raises(InputError, match=r"q.csv:1: 'w1_gpt_rating' fits '\{question_id\}_\{model\}' in two ways") as e:
        open_ratings(path, wide="{question_id}_{model}")
    assert e.value.setting == "wide"
    with pytest.raises(InputError, match=r"q.csv:1: no column is named '\{question\} - \{model\}'; say how") as e:
        open_ratings(path)
    assert e.value.setting == "wide"
    with pytest.raises(ConfigError, match=r"expected names of our columns in braces, each once"):
        open_ratings(path, wide="{quality}")


def test_questions_of_the_same_words_are_refused(tmp_path: Path) -> None:
    """Only the last of them was read."""
    forms, qualtrics = tmp_path / "forms.csv", tmp_path / "qualtrics.csv"
    forms.write_text("Timestamp,Rate [a],Rate [b],Rate [a],Rate [b],Why?,Why?\n2024/05/01,5,2,4,3,x,y\n")
    with pytest.raises(InputError, match=r"forms.csv:1: two columns 'Rate \[a\]'; reword the question of one of them"):
        open_ratings(forms)
    forms.write_text("Timestamp,Rate [a],Rate [b],Why?,Why?\n2024/05/01,5,2,x,y\n")
    assert len(open_ratings(forms).ratings) == 2
    texts = "Start Date,Response ID,Rate - a,Rate - b,Rate - a,Rate - b"
    qualtrics.write_text(f"StartDate,ResponseId,Q1_1,Q1_2,Q2_1,Q2_2\n{texts}\n2024-05-01,R_1,5,2,4,3\n")
    with pytest.raises(InputError, match="columns 'Q1_1' and 'Q2_1' are both question 'Rate' and model 'a'; reword"):
        open_ratings(qualtrics)


def test_people_whose_submission_does_not_count_are_left_out() -> None:
    file, note = keep_participants(open_ratings(HERE / "qualtrics.csv"), HERE / "prolific.csv")
    assert {each.annotator for each in file.ratings} == {"60d5f0a1", "60d5f0b2"}
    assert note.endswith("submissions of 3 people who rated; left out 1 of them (timed-out 1) with 4 ratings")
    with pytest.raises(InputError, match=r"no submission of 'person 1', 'person 2', 'person 3'; remove their ratings"):
        keep_participants(open_ratings(HERE / "google_forms.csv"), HERE / "prolific.csv")
    with pytest.raises(InputError, match=r"prolific.csv: Prolific's export of submissions has no ratings"):
        open_ratings(HERE / "prolific.csv")


def test_label_studio_has_a_rating_and_marks_for_each_annotation() -> None:
    file = open_ratings(HERE / "label_studio.json")
    assert cells(file) == [
        ("q1", "gpt-4", "3", 5.0), ("q1", "gpt-4", "4", 4.0), ("q1", "aya", "3", 1.0), ("q1", "aya", "4", 2.0)
    ]  # fmt: skip
    first, second, third, _ = file.ratings
    assert first.spans
    assert (first.spans[0].quote, first.spans[0].severity) == ("of", "minor")
    assert third.spans
    assert third.spans[0].quote == "drum"
    assert second.spans == ()  # marked nothing, where others marked
    assert (first.seconds, second.comment) == (21.5, "Fine.")
    assert first.at
    assert first.at.minute == 1
    with pytest.raises(InputError, match="no column 'overall' to read as 'rating'"):
        open_ratings(HERE / "label_studio.json", columns={"rating": "overall"})
    assert len(open_ratings(HERE / "label_studio_min.json").ratings) == 4


@pytest.mark.parametrize("name", ["argilla.json", "argilla_flat.jsonl"])
def test_argilla_has_the_answers_of_each_user(name: str) -> None:
    file = open_ratings(HERE / name)
    ratings = [(each.question, each.model, each.annotator[:4], each.rating) for each in file.ratings]
    whole = [
        ("Who pays?", "gpt-4", "59f7", 5.0),
        ("Who pays?", "gpt-4", "0c5e", 4.0),
        ("Who pays?", "aya", "59f7", 2.0),
    ]
    assert ratings == (whole if name == "argilla.json" else [*whole, ("Who pays?", "aya", "0c5e", 3.0)])  # discarded
    assert "rating ← quality, the only question" in str(file.report)


def test_potato_has_its_annotators_in_folders_or_in_a_column() -> None:
    split = {"id": "{question_id}__{model}"}
    file = open_ratings(HERE / "alice" / "annotated_instances.jsonl", split=split)
    assert cells(file) == [("q1", "gpt-4", "alice", 4.0), ("q1", "aya", "alice", 2.0)]
    assert [each.seconds for each in file.ratings] == [65.0, 65.0]
    assert file.ratings[1].spans
    assert file.ratings[1].spans[0].quote == "Answer"
    table = open_ratings(HERE / "potato.tsv", split={"instance_id": "{question_id}__{model}"})
    assert cells(table) == [
        ("q1", "gpt-4", "person 1", 4.0), ("q1", "aya", "person 1", 2.0), ("q1", "gpt-4", "bob", 5.0),
        ("q1", "aya", "bob", 4.0),
    ]  # fmt: skip
    with pytest.raises(
        InputError, match=r":1: 'id' is 'q1__gpt-4', which does not fit '\{question_id\}/\{model\}'"
    ) as e:
        open_ratings(HERE / "alice" / "annotated_instances.jsonl", split={"id": "{question_id}/{model}"})
    assert e.value.setting == "split"


def test_doccano_has_a_file_for_each_person_in_a_zip_file(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        for path in sorted(HERE.glob("doccano_*.jsonl")):
            archive.write(path, path.stem.removeprefix("doccano_") + ".jsonl")
    file = open_ratings(tmp_path / "export.zip")
    assert cells(file) == [
        ("q1", "gpt-4", "alice", 4.0), ("q1", "aya", "alice", 1.0), ("q1", "gpt-4", "bob", 5.0),
        ("q1", "aya", "bob", 3.0), ("q1", "gpt-4", "carol", 4.0), ("q1", "aya", "carol", 2.0),
    ]  # fmt: skip
    assert file.ratings[1].comment == "odd"
    shutil.copy(HERE / "doccano_alice.jsonl", tmp_path / "all.jsonl")
    with pytest.raises(InputError, match="no field 'annotator'"):
        open_ratings(tmp_path / "all.jsonl")


def test_semicolons_and_decimal_commas() -> None:
    file = open_ratings(HERE / "semicolons.csv")
    assert [each.rating for each in file.ratings] == [4.5, 3.0, None, 2.5]
    assert [each.seconds for each in file.ratings] == [12.25, 8.5, 10.0, 1234.5]
    assert "rating 'N/A' was read as missing (1)" in str(file.report)
    assert "delimiter ';'" in str(file.report)
    assert (to_number("1,234.5"), to_number("-2,5"), to_number("1e3")) == (1234.5, -2.5, 1000.0)
    with pytest.raises(InputError, match=r"'1,234' may be 1.234 or 1234"):
        to_number("1,234")


def test_a_word_may_be_read_as_no_value(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(
        '{"question": "q", "model": "a", "annotator": "x", "rating": "Skip"}\n'
        '{"question": "q", "model": "b", "annotator": "x", "rating": 4}\n'
        '{"question": "q", "model": "c", "annotator": "x", "rating": "N/A"}\n'
    )
    with pytest.raises(InputError, match=r"r.jsonl:1: unknown rating 'Skip'"):
        open_ratings(path)
    file = open_ratings(path, aliases={"rating": {"Skip": ""}})
    assert [each.rating for each in file.ratings] == [None, 4.0, None]
    assert file.replaced == {("rating", "Skip", "no value"): 1, ("rating", "N/A", "no value"): 1}


def test_words_are_read_only_where_one_scale_has_them() -> None:
    five = {"Strongly disagree", "Disagree", "Neutral", "agree ", "STRONGLY AGREE"}
    assert read_words(five, None) == {
        "Strongly disagree": "1", "Disagree": "2", "Neutral": "3", "agree ": "4", "STRONGLY AGREE": "5"
    }  # fmt: skip
    assert read_words({"Somewhat agree", "Agree"}, None) == {"Somewhat agree": "5", "Agree": "6"}
    assert read_words({"أوافق بشدة", "同意", "polo"}, (1, 5)) == {}  # a word that no scale has: the reader names it
    assert read_words({"أوافق بشدة", "同意", "तटस्थ", "en desacuerdo"}, (0, 4))["同意"] == "3"
    assert read_words({"5 - Great", "Bad (1)", "3"}, None) == {"5 - Great": "5", "Bad (1)": "1"}
    with pytest.raises(InputError, match=r"'Agree' may be agreement in 5 points .* say its bounds") as e:
        read_words({"Agree"}, None)
    assert e.value.setting == "scale"
    with pytest.raises(InputError, match=r"; or quality in 5 points .*; say the number of each word") as e:
        read_words({"poor", "fair", "good"}, (1, 5))
    assert e.value.setting == "alias"


def test_no_scale_has_a_word_in_two_places() -> None:
    for scale in scales()[0]:
        assert sum(map(len, scale.points)) == len(scale.places), scale.name
        assert len({len(scale.points)}) == 1
