"""A simulated study with known effects: three models, two types, five languages with three people each, of whom one
grows severe and one does not read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from mores.rating.ratings import Rating
from mores.rating.records import RatingStudy
from mores.rating.study import analyse
from tests.stats.raters.simulated import Plan, draw_study

pytestmark = pytest.mark.slow  # the parts of it have quick tests in tests/stats/raters and test_study

PLAN = Plan(annotators=3, questions=10, drift=-4.0, careless="random")
LANGUAGES = {"l1": "de", "l2": "en", "l3": "fj", "l4": "hi", "l5": "rn"}
START = datetime(2025, 3, 4, 9, tzinfo=UTC)


def ratings() -> list[Rating]:
    columns = draw_study(PLAN, np.random.default_rng(0)).columns
    records = []
    for values in zip(*columns.values(), strict=True):
        row: dict[str, Any] = dict(zip(columns, values, strict=True))
        at, language = START + timedelta(minutes=row.pop("order")), LANGUAGES[row.pop("language")]
        records.append(Rating(question_id=row["question"], at=at, language=language, **row))
    return records


@pytest.fixture(scope="module")
def study() -> RatingStudy:
    return analyse(ratings())


def test_differences_between_models_are_within_their_intervals(study: RatingStudy) -> None:
    differences = study.regressions["model"].differences
    assert len(differences) == 3
    for each in differences:
        assert each.low < PLAN.difference(each.first["model"], each.second["model"]) < each.high
        assert each.p < 0.05


def test_the_type_of_question_matters_as_much_as_it_does(study: RatingStudy) -> None:
    (difference,) = study.regressions["type"].differences
    assert (difference.first["type"], difference.second["type"]) == ("specific", "agnostic")
    assert difference.low < PLAN.specific + dict(PLAN.both)["c"] / 3 < difference.high


def test_the_careless_person_is_found_and_nobody_else(study: RatingStudy) -> None:
    assert study.annotators
    assert [person.name for person in study.annotators.people if person.careless] == [PLAN.careless_person]


def test_the_person_who_drifts_is_found_and_nobody_else(study: RatingStudy) -> None:
    assert study.annotators
    drifting = [person for person in study.annotators.people if person.drift_p is not None and person.drift_p < 0.05]
    assert [person.name for person in drifting] == [PLAN.drifting]
    (change,) = (person.drift for person in drifting)
    assert change
    assert change.low is not None
    assert change.high is not None
    assert change.low < PLAN.drift < change.high < 0


def test_everybody_is_analysed(study: RatingStudy) -> None:
    assert study.annotators
    assert len(study.annotators.people) == 15
    assert all(person.severity and person.drift and person.signs for person in study.annotators.people)
    assert study.agreement
    assert study.agreement.shared == 300
    terms = "(1 | language/annotator) + (1 | question) + (1 | answer)"
    terms += " + (1 | language:annotator:model) + (1 | language:annotator:type)"
    assert study.annotators.formula == f"rating ~ model * type + {terms}"


def test_differences_in_points_hold_for_other_raters(study: RatingStudy) -> None:
    points = study.points
    assert points
    assert points.over_raters
    assert points.population == (
        "95% intervals are about other raters and other questions like these 15 raters and 100 questions"
    )
    assert {v.group for v in points.variances} == {
        "annotator", "question", "answer", "annotator:model", "annotator:type", "residual"
    }  # fmt: skip
    assert list(points.differences) == ["model", "type", "model*type"]
    for each in points.differences["model"]:
        assert (each.low * each.high > 0) == (each.p < 0.05)
        assert each.size is not None
        assert abs(each.size) < abs(each.estimate) < 3
