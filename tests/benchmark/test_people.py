"""The human row of CulturalBench: every verifier against the others, on accepted and on all submitted questions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mores.benchmark.culturalbench.people import PEOPLE, SUBMITTED, human_row, leave_out
from mores.errors import InputError


def story(number: int | None, *labels: str | None, mode: str = "single") -> str:
    votes = [{"version": 2, "label": label} for label in labels] + [{"version": 1, "label": "D"}]
    return json.dumps({"question_idx": number, "mode": mode, "votes": votes})


@pytest.mark.parametrize(
    ("labels", "credit"),
    [
        (["A"] * 5, [1, 1, 1, 1, 1]),
        (["A", "A", "A", "A", "B"], [1, 1, 1, 1, 0]),
        (["A", "A", "B", "B"], [0, 0, 0, 0]),  # without a voter, the others outvote them
        (["A", "A", "B", "B", "C"], [0.0, 0.0, 0.0, 0.0, 0.0]),
        (["A", "B", "A", None, None], [0.5, 0, 0.5, 0, 0]),
        ([None, None], [0, 0]),
    ],
)
def test_each_is_left_out(labels: list[str | None], credit: list[float]) -> None:
    assert leave_out(labels) == credit


def test_accepted_and_submitted_questions(tmp_path: Path) -> None:
    rows = [
        *[story(n, "A", "A", "A", "A", "A") for n in range(6)],
        *[story(n, "B", "B", "B", "B", "C") for n in range(6, 10)],
        story(10, *["AC"] * 4, "A", mode="multi"),
        *[story(None, "A", "B", "C", "D", None) for _ in range(5)],
    ]
    (tmp_path / "items.jsonl").write_text("\n".join(rows))
    row = human_row(tmp_path / "data")
    people = row[PEOPLE]
    assert people.value == pytest.approx((6 * 5 + 5 * 4) / 55)
    assert {mode: result.value for mode, result in people.by.items()} == {
        "single": pytest.approx(46 / 50),
        "multi": 0.8,
    }
    assert people.low is not None
    assert people.low < 50 / 55
    submitted = row[SUBMITTED]
    # Of four different answers each is beside three others that are tied, and none is their own.
    assert submitted.value == pytest.approx(50 / 80)
    assert (people.n, submitted.n) == (55, 80)
    assert human_row(tmp_path / "elsewhere" / "data") == {}
    (tmp_path / "items.jsonl").write_text("{}")
    with pytest.raises(InputError, match=r"items.jsonl:1: expected a question with votes"):
        human_row(tmp_path)


def test_selection_makes_the_rate_of_accepted_questions_high() -> None:
    """People who are correct in 72% of the cases: where four of five agree, they look like 90%."""
    generator = np.random.default_rng(0)
    answers = np.where(generator.random((3000, 5)) < 0.72, 0, generator.integers(1, 4, (3000, 5)))
    credit = [np.mean(leave_out(list(map(str, row)))) for row in answers.tolist()]
    accepted = [max(np.bincount(row)) >= 4 for row in answers]
    assert 0.5 < np.mean(accepted) < 0.65
    assert np.mean(credit) == pytest.approx(0.68, abs=0.04)
    assert np.mean(np.array(credit)[accepted]) > 0.85
