"""Small changes of the code, which tests must notice."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tools.mutate import change, find_places, is_noticed

CODE = "def grade(points: int) -> bool:\n    return points >= 50 and points + 1 < 102\n"


def test_each_place_is_changed_once() -> None:
    tree = ast.parse(CODE)
    changes = [change(tree, number) for number in range(len(list(find_places(tree))))]
    assert [what for _, what in changes] == [
        "2: points >= 50 and points + 1 < 102  →  points >= 50 or points + 1 < 102",
        "2: points >= 50  →  points > 50",
        "2: points + 1 < 102  →  points + 1 <= 102",
        "2: 50  →  51",
        "2: points + 1  →  points - 1",
        "2: 102  →  103",
        "2: 1  →  2",
    ]
    assert len({text for text, _ in changes}) == len(changes)


@pytest.mark.slow
def test_a_change_is_noticed_by_a_test_that_looks(tmp_path: Path) -> None:
    test = tmp_path / "test_grade.py"
    test.write_text("from grade import grade\n\ndef test_grade() -> None:\n    assert grade(60)\n")
    trials = [(">= 50", False), ("< 50", True)]
    for operator, noticed in trials:
        (tmp_path / "grade.py").write_text(CODE.replace(">= 50", operator))
        assert is_noticed(tmp_path, [test], 60) is noticed
