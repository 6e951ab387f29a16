"""Files of ratings: our columns, other people's, and what is wrong with a row."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mores.errors import ConfigError, InputError
from mores.rating.ratings import InLanguage, IssueLevel, RatingMark, open_ratings, read_ratings
from mores.types import Severity

ROW: dict[str, Any] = {"question": "What is sadza?", "model": "a", "annotator": 3, "rating": 4}


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "ratings.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_four_columns_are_enough(tmp_path: Path) -> None:
    (rating,) = read_ratings(write(tmp_path, ROW))
    assert (rating.question_id, rating.model, rating.annotator, rating.rating) == ("What is sadza?", "a", "3", 4.0)
    assert (rating.type, rating.language, rating.spans, rating.rank) == (None, None, None, None)


def test_every_column_of_a_csv_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text(
        "question_id,question,answer,model,annotator,language,type,rating,factuality,omissions,language_correct,comment,"
        "rank,reason,spans,at,seconds,position\n"
        'q1,Why?,"Déjà, vu",a,3,Shona,specific,good,minor,Major,partly,fine,2,shorter,'
        '"[{""start"":0,""end"":4,""severity"":""major"",""type"":""fact""}]",2024-05-01T14:30:00Z,12.5,1\n',
        "utf-8",
    )
    (rating,) = read_ratings(path)
    assert (rating.question_id, rating.language, rating.rating) == ("q1", "sn", 4.0)
    assert (rating.factuality, rating.omissions) == (IssueLevel.MINOR, IssueLevel.MAJOR)
    assert rating.language_correct is InLanguage.PARTIALLY
    assert rating.spans == (RatingMark(start=0, end=4, quote="Déjà", severity=Severity.MAJOR, type="fact"),)
    assert (rating.rank, rating.reason, rating.seconds, rating.position) == (2, "shorter", 12.5, 1)
    assert rating.at == datetime(2024, 5, 1, 14, 30, tzinfo=UTC)


def test_parquet_has_the_same_ratings_as_json_lines(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [ROW | {"answer": "a b", "spans": [{"start": 2, "end": 3}]}, ROW | {"model": "b", "answer": "c"}]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "ratings.parquet")
    assert read_ratings(tmp_path / "ratings.parquet") == read_ratings(write(tmp_path, *rows))


def test_another_files_columns_and_values_are_mapped_and_reported(tmp_path: Path) -> None:
    row = {
        "question": "Why?",
        "system": "a",
        "annotator": "x",
        "overall": "A",
        "language": "fi",
        "type": "cult",
        "id": 1,
    }
    file = open_ratings(
        write(tmp_path, row),
        columns={"model": "system", "rating": "overall"},
        languages={"fi": "fj"},
        aliases={"rating": {"A": "5"}},
    )
    (rating,) = file.ratings
    assert (rating.model, rating.rating, rating.language, rating.type) == ("a", 5.0, "fj", "specific")
    assert file.unread == ("id",)
    assert file.replaced == {
        ("rating", "A", "5"): 1, ("language", "fi", "fj"): 1, ("type", "cult", "specific"): 1
    }  # fmt: skip


def test_a_column_is_left_out_on_request(tmp_path: Path) -> None:
    (rating,) = read_ratings(write(tmp_path, ROW | {"type": "specific"}), columns={"type": ""})
    assert rating.type is None


def test_a_rating_that_was_not_given_stays(tmp_path: Path) -> None:
    (rating,) = read_ratings(write(tmp_path, ROW | {"rating": None}))
    assert rating.rating is None


def test_two_answers_of_a_model_to_a_question_are_two_answers(tmp_path: Path) -> None:
    assert len(read_ratings(write(tmp_path, ROW | {"answer": "a"}, ROW | {"answer": "b"}))) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rating": "goood"}, r"ratings.jsonl:2: unknown rating 'goood'; did you mean 'good'\? expected a number"),
        ({"rating": 1e-300}, r"jsonl:2: rating is 1e-300; expected 0, or a number of 1e-09 or more"),
        ({"rating": 1e308}, r"jsonl:2: rating is 1e\+308; expected a number from -1,000,000,000 to 1,000,000,000"),
        ({"seconds": 1e300}, r"jsonl:2: seconds is 1e\+300; expected a number from 0 to 1,000,000,000"),
        ({"factuality": "majr"}, r":2: unknown factuality 'majr'; did you mean 'major'\? expected none, minor, major"),
        ({"language_correct": "maybe"}, r":2: unknown language_correct 'maybe'; expected yes, partially, no, true"),
        ({"language": "Kirundii"}, r":2: unknown language 'Kirundii'; did you mean Kirundi \(rn\)\?"),
        ({"model": " "}, r":2: no model; fill in 'model'"),
        ({"question": ""}, r":2: no question; fill in 'question' or 'question_id'"),
        ({"rank": 1.5}, r":2: unknown rank 1.5; expected a whole number from 1"),
        ({"rank": 0}, r":2: unknown rank '0'; expected a number"),
        ({"at": "yesterday"}, r":2: unknown time 'yesterday' in 'at'"),
        ({"seconds": -1}, r":2: unknown seconds '-1'"),
        ({"comment": ["a"]}, r":2: 'comment' is list, not a text"),
        ({"spans": "[{"}, r":2: 'spans' is not valid JSON"),
        ({"spans": {"start": 0}}, r":2: 'spans' is dict, not a list"),
        ({"spans": [{"start": 0}]}, r":2: spans 1: end: Field required; its fields are start, end, quote"),
        ({"spans": [{"start": 0, "end": 1, "severity": "bad"}]}, r":2: spans 1: severity: Input should be 'minor'"),
        ({"spans": [{"start": 2, "end": 2}]}, r":2: span 1: 2:2 is empty or negative"),
        ({"answer": "abc", "spans": [{"start": 1, "end": 4}]}, r":2: span 1: 1:4 ends after the answer, which has 3"),
        ({"answer": "abc", "spans": [{"start": 1, "end": 2, "quote": "c"}]}, r":2: span 1: .* is 'b', not 'c'"),
        ({"question": "What is sadza?"}, r":2: annotator '3' already rated this answer of 'a' in line 1; keep one"),
    ],
)  # fmt: skip
def test_a_bad_value_is_named_with_its_row(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = write(tmp_path, ROW, ROW | {"question": "Another"} | change)
    with pytest.raises(InputError, match=message):
        read_ratings(path)


@pytest.mark.parametrize(
    ("row", "columns", "message"),
    [
        ({"overall-rating": 3}, {}, r"no field 'rating', but 'overall-rating'; rename it to 'rating'"),
        ({"rating": 3, "omisions": "none"}, {}, r"no field 'omissions', but 'omisions'; rename it"),
        ({"overall": 3}, {"rating": "overal"}, r"no column 'overal' to read as 'rating'; did you mean 'overall'\?"),
    ],
)
def test_a_column_is_never_guessed(tmp_path: Path, row: dict[str, Any], columns: dict[str, str], message: str) -> None:
    rest = {name: value for name, value in ROW.items() if name != "rating"}
    with pytest.raises(InputError, match=message) as caught:
        read_ratings(write(tmp_path, rest | row), columns=columns)
    assert caught.value.setting == "columns"


def test_only_our_columns_can_be_mapped(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no column 'ratings' can be read; did you mean 'rating'\?"):
        read_ratings(write(tmp_path, ROW), columns={"ratings": "overall"})


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("question,model,annotator,rating\n")
    with pytest.raises(InputError, match=r"ratings.csv: it has no ratings"):
        read_ratings(path)
    path.write_text("question,model,annotator,rating,rating\n")
    with pytest.raises(InputError, match=r"ratings.csv:1: two columns 'rating'; rename one"):
        read_ratings(path)
