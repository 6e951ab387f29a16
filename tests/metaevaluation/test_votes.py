"""Votes of annotators: the tables of the paper from votes with its counts, and votes that are wrong."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mores.errors import InputError
from mores.factory.gold import Gold
from mores.factory.validation import SampleVote
from mores.io import JsonlWriter
from mores.metaevaluation.records import AnnotationTable
from mores.metaevaluation.votes import read_votes, vote_tables
from mores.stats.agreement import krippendorff_alpha
from mores.types import Severity
from tests.metaevaluation.golds import error, gold

TEXT = "They eat bread."
PEOPLE = ("ann", "ben", "cem")
ENGLISH, OTHERS = 80, {"ja": 6, "zh": 6, "de": 8}
LANGUAGES = ["en"] * ENGLISH + [language for language, count in OTHERS.items() for _ in range(count)]
GOLDS = [
    gold(f"s{i}", error(TEXT, "bread", Severity.MINOR if i < 60 else Severity.MAJOR), text=TEXT, language=language)
    for i, language in enumerate(LANGUAGES)
]
"""The paper's 100 samples: 80 English ones, and 60 with a minor error."""


def ballot(criterion: str, sample: int, values: list[str]) -> list[SampleVote]:
    """One value of each annotator."""
    people = PEOPLE[: len(values)]
    return [
        SampleVote(sample_id=f"s{sample}", annotator=person, criterion=criterion, value=value)
        for person, value in zip(people, values, strict=True)
    ]


def spread(criterion: str, counts: Mapping[Any, int], start: int = 0) -> list[SampleVote]:
    """So many samples with each ballot, one after the other."""
    ballots = [list(values) for values, count in counts.items() for _ in range(count)]
    return [vote for i, values in enumerate(ballots, start) for vote in ballot(criterion, i, values)]


def tables(votes: list[SampleVote], golds: list[Gold] = GOLDS) -> dict[str, AnnotationTable]:
    drawn = vote_tables(votes, golds)
    for table in drawn:
        assert all(len(row) == len(table.columns) for row in table.rows.values())
    return {table.title: table for table in drawn}


V, P, N, Y = "valid", "partial", "invalid", "yes"
CULTURE = {(Y, Y, Y): 70, (Y, Y, "no"): 8, (Y, "no", "no"): 2}


def test_table_3() -> None:
    # 49, 18, 9 and 4 samples with 3, 2, 1 and 0 strict votes; 75 with three that are at least partial, 5 with two.
    error_votes = {(V, V, V): 49, (V, V, P): 18, (V, P, P): 8, (V, P, N): 1, (P, P, N): 4}
    explanation = {(V, V, V): 63, (V, V, P): 10, (V, V, N): 5, (V, P, N): 1, (N, N, N): 1}
    votes = spread("culture", CULTURE) + spread("error", error_votes) + spread("explanation", explanation)
    table = tables(votes)["Vote distributions"]
    assert table.columns == ("3/3", "2/3", "1/3", "0/3")
    assert table.rows["Culture rel."] == ("87.5", "10.0", "2.5", "0.0")
    assert table.rows["Error valid (strict)"] == ("61.2", "22.5", "11.2", "5.0")
    assert table.rows["Error valid (partial)"] == ("93.8", "6.2", "0.0", "0.0")
    assert table.rows["Expl. valid (strict)"] == ("78.8", "18.8", "1.2", "1.2")
    assert table.rows["Expl. valid (partial)"] == ("91.2", "7.5", "0.0", "1.2")
    assert "N=80" in table.note


def test_table_3_leaves_out_samples_that_fewer_judged() -> None:
    votes = spread("culture", {(Y, Y, Y): 1, ("no", "no"): 5})
    assert tables(votes)["Vote distributions"].rows == {"Culture rel.": ("100.0", "0.0", "0.0", "0.0")}


def test_table_12() -> None:
    both, one, none = (Y, Y), (Y, "no"), ("no", "no")
    votes = spread("culture", {(Y, Y, "no"): 80, both: 5, one: 1}) + spread("culture", {both: 5, none: 1}, 86)
    votes += spread("culture", {both: 8}, 92)
    votes += spread("explanation", {(V, V): 5, (P, P): 1}, 80) + spread("explanation", {(V, V): 3, (V, P): 3}, 86)
    votes += spread("explanation", {(V, V): 4, (V, N): 4}, 92)
    votes += spread("error", {(V, V): 3, (V, P): 2, (V, N): 1}, 80)
    votes += spread("error", {(P, P): 4, (P, N): 1, (N, N): 1}, 86) + spread("error", {(V, P): 8}, 92)
    table = tables(votes)["Majority votes by language"]
    assert table.columns == ("German", "Japanese", "Chinese")
    assert table.rows == {
        "N": ("8", "6", "6"),
        "Culture rel.": ("100.0", "83.3", "83.3"),
        "Error valid": ("100.0", "83.3", "66.7"),
        "Expl. valid": ("50.0", "83.3", "50.0"),
    }


def test_table_13() -> None:
    # English samples 0 to 79 have three votes, the others two, of which both must be yes.
    votes = spread("severity", {(Y, Y, Y): 20, (Y, Y, "no"): 11, (Y, "no", "no"): 29})
    votes += spread("severity", {(Y, Y, "no"): 19, ("no", "no", "no"): 1, (Y, Y): 19, (Y, "no"): 1}, 60)
    votes += spread("type", {(Y, Y, "no"): 79, ("no", "no", Y): 1, (Y, Y): 17, (Y, "no"): 3})
    votes += spread("changed", {(Y, Y, "no"): 3, ("no", "no", Y): 77, (Y, Y): 1, ("no", Y): 19})
    table = tables(votes)["Auxiliary results"]
    assert table.columns == ("Yes", "N", "%")
    assert table.rows == {
        "Severity OK (minor)": ("31", "60", "51.7"),
        "Severity OK (major)": ("38", "40", "95.0"),
        "Type OK": ("96", "100", "96.0"),
        "Changed mind": ("4", "100", "4.0"),
    }


def test_a_sample_with_both_severities_counts_for_both() -> None:
    both = gold("s0", error(TEXT, "eat", Severity.MINOR), error(TEXT, "bread"), text=TEXT)
    rows = tables(ballot("severity", 0, [Y]), [both])["Auxiliary results"].rows
    assert set(rows) == {"Severity OK (minor)", "Severity OK (major)"}


def test_agreement_of_the_annotators() -> None:
    votes = spread("culture", {(Y, Y): 3, ("no", "no"): 2}) + spread("severity", {(Y, "no"): 2, ("no", Y): 2})
    table = tables(votes)["Agreement of the annotators"]
    assert table.rows["culture"] == ("1.000", "5", "2")
    assert table.rows["severity"][0] == "−0.750"  # by hand: 1 - 1 / (2 * 4 * 4 / (8 * 7))
    of_errors = tables(spread("error", {(V, V): 3, (P, P): 3, (N, N): 2, (V, P): 1, (P, N): 1, (V, N): 1}))
    ratings = [[0, 0, 0, 1, 1, 1, 2, 2, 0, 1, 0], [0, 0, 0, 1, 1, 1, 2, 2, 1, 2, 2]]
    ordinal, nominal = (krippendorff_alpha(ratings, level) for level in ("ordinal", "nominal"))
    assert of_errors["Agreement of the annotators"].rows["error"] == (f"{ordinal:.3f}", "11", "2")
    assert f"{ordinal:.3f}" != f"{nominal:.3f}"


def test_ratings_of_explanations() -> None:
    votes = spread("similarity:words+p", {("1", "2"): 1, ("3", "4"): 1}) + spread("similarity:other", {("5",): 1})
    table = tables(votes)["Explanations, 1 to 5"]
    assert table.rows == {"words+p": ("2.50", "1.29", "2.5", "4", "2"), "other": ("5.00", "–", "5", "1", "1")}


def test_more_people_for_explanations_leave_the_vote_distributions_as_they_are() -> None:
    alone = spread("culture", {(Y, "no"): 2})
    more = spread("similarity:m", {("1", "2", "3"): 2})
    assert tables(alone + more)["Vote distributions"] == tables(alone)["Vote distributions"]


def test_a_rating_may_be_a_number(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    path.write_text('{"sample_id": "s1", "annotator": "ann", "criterion": "similarity:m", "value": 4}\n')
    assert [vote.value for vote in read_votes(path, GOLDS)] == ["4"]


def test_tables_without_votes_are_absent() -> None:
    assert vote_tables([], GOLDS) == []
    assert set(tables(ballot("culture", 0, [Y]))) == {"Vote distributions"}


# The file


def test_votes_from_a_file(tmp_path: Path) -> None:
    votes = spread("culture", CULTURE)
    with JsonlWriter(tmp_path / "votes.jsonl") as writer:
        for vote in votes:
            writer.write(vote)
    assert read_votes(tmp_path / "votes.jsonl", GOLDS) == votes


@pytest.mark.parametrize(
    ("vote", "words"),
    [
        (("s1", "ann", "culture", "no"), "vote 2, ann on culture of s1, is a duplicate"),
        (("x9", "ann", "culture", "yes"), "vote 2, ann on culture of x9, is on a sample that is not in the dataset"),
        (("s2", "ann", "culture", "maybe"), "vote 2, ann on culture of s2, is 'maybe'; expected one of yes, no"),
        (("s2", "ann", "error", "yes"), "is 'yes'; expected one of valid, partial, invalid"),
        (("s2", "ann", "similarity:m", "6"), "is '6'; expected one of 1, 2, 3, 4, 5"),
        (("s2", "ann", "similarity:m", "4.5"), "is '4.5'; expected one of"),
        (("s2", "ann", "colour", "red"), "has an unknown criterion; known are culture, error, .*similarity:METRIC"),
    ],
)  # fmt: skip
def test_wrong_votes_name_the_file_and_the_vote(tmp_path: Path, vote: tuple[str, ...], words: str) -> None:
    path = tmp_path / "votes.jsonl"
    with JsonlWriter(path) as writer:
        writer.write(SampleVote(sample_id="s1", annotator="ann", criterion="culture", value="yes"))
        writer.write(SampleVote(**dict(zip(SampleVote.model_fields, vote, strict=True))))
    with pytest.raises(InputError, match=f"votes.jsonl: .*{words}"):
        read_votes(path, GOLDS)


def test_a_line_that_is_no_vote(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    path.write_text('{"sample_id": "s1", "annotator": "ann", "criterion": "culture"}\n')
    with pytest.raises(InputError, match=r"votes.jsonl:1: value: Field required; expected a SampleVote"):
        read_votes(path, GOLDS)
