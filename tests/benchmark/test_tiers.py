"""How hard questions are, from runs; and labels on questions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.benchmark import benchmark
from mores.benchmark.benchmark import Label, Verdict, thirds
from mores.benchmark.labels import label, read_labels, sort_questions
from mores.benchmark.msqa import fifths
from mores.benchmark.run import data_hash
from mores.errors import InputError
from mores.types import Item

RIGHT, WRONG = Label.CORRECT, Label.INCORRECT


@pytest.mark.parametrize("solved", range(16))
def test_thirds_are_the_tiers_of_culturall(solved: int) -> None:
    tier = (
        dict.fromkeys(range(5), "Hard") | dict.fromkeys(range(5, 10), "Medium") | dict.fromkeys(range(10, 15), "Easy")
    )
    assert thirds(solved, 15) == tier.get(solved)


@given(st.integers(1, 60))
def test_no_tier_is_easier_than_that_of_a_question_solved_more_often(settings: int) -> None:
    tiers = [tier for n in range(settings + 1) if (tier := thirds(n, settings))]
    assert tiers == sorted(tiers, key=["Hard", "Medium", "Easy"].index)
    assert len(tiers) == settings
    if settings % 3 == 0:
        assert tiers.count("Hard") == tiers.count("Medium") == tiers.count("Easy") == settings // 3


def test_fifths_are_the_tiers_of_msqa() -> None:
    assert [fifths(n, 5) for n in range(6)] == ["Hard", "Medium", "Medium", "Medium", "Easy", "Easy"]
    assert fifths(2, 3) == "Easy"


def test_runs_are_added_up_and_answers_without_a_grade_do_not_count() -> None:
    def run(**questions: list[Label | None]) -> list[Verdict]:
        return [
            Verdict(item_id=unit, unit=unit, sample=n, label=label)
            for unit, labels in questions.items()
            for n, label in enumerate(labels)
        ]

    runs = [
        run(a=[RIGHT, RIGHT], b=[WRONG, None], c=[None, None], d=[RIGHT, RIGHT]),
        run(a=[RIGHT, WRONG], b=[None, RIGHT], c=[None, None], d=[RIGHT, RIGHT]),
    ]
    assert sort_questions(runs, thirds) == {"a": "Easy", "b": "Medium"}


def test_a_question_of_several_parts_is_right_when_all_are() -> None:
    verdicts = [Verdict(item_id=f"q.{n}", unit="q", label=label) for n, label in enumerate([RIGHT, RIGHT, WRONG])]
    assert sort_questions([verdicts], thirds) == {"q": "Hard"}


def test_labels_are_groups_and_leave_the_data_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    rows = [{"id": "1", "labels": {"tier": "Hard"}}, {"id": "2", "failure": {"kind": "parse", "reason": "?"}}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    items = [Item(id=name, prompt="?", metadata={"tier": "Easy"}) for name in "12"]
    labelled_benchmark, labelled_items = label(benchmark("normad"), items, read_labels([path]))
    assert labelled_benchmark.groupings[-1] == "tier"
    assert [labelled_benchmark.group(item, "tier") for item in labelled_items] == ["Hard", "Easy"]
    assert data_hash(labelled_items) == data_hash(items)


def test_labels_of_other_questions_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text('{"id": "x", "labels": {"tier": "Hard"}}\n')
    with pytest.raises(InputError, match="no label is of a question of normad; expected ids such as '1'"):
        label(benchmark("normad"), [Item(id="1", prompt="?")], read_labels([path]))
    with pytest.raises(InputError, match="x has the label 'tier' twice"):
        read_labels([path, path])
