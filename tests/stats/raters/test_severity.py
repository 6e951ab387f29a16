"""Severity and drift: against R's ordinal, by hand where nothing is known, and on simulated studies."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mores.stats.mixed import Fit, MixedModel, fit
from mores.stats.raters import annotator_drift, annotator_severity
from mores.stats.raters.drift import person_slopes
from mores.stats.raters.joint import join
from tests.stats.mixed.test_mixed import ORDER, RATINGS, Data, r_name
from tests.stats.raters.simulated import Plan, draw_study

GOLDEN = json.loads((Path(__file__).parent / "golden.json").read_text())
PEOPLE: Data = {
    **RATINGS,
    "person": [f"{language} {who}" for language, who in zip(RATINGS["language"], RATINGS["annotator"], strict=True)],
}
ROWS = range(len(PEOPLE["rating"]))
UNUSED: Data = {key: [values[n] for n in ROWS if PEOPLE["rating"][n] != 3] for key, values in PEOPLE.items()}


@pytest.fixture(scope="module")
def crossed() -> Fit:
    return fit(MixedModel("rating", ("model*type",), ("person", "question"), ORDER), PEOPLE)


@pytest.mark.parametrize("name", ["crossed", "unused"])
def test_crossed_people_and_questions_agree_with_r(name: str, crossed: Fit) -> None:
    """Also where a category of the scale is never used."""
    result = crossed
    if name == "unused":
        result = fit(
            MixedModel("rating", ("model", "type"), ("person", "question"), {**ORDER, "rating": range(1, 6)}), UNUSED
        )
        assert [threshold.name for threshold in result.thresholds] == ["1|2", "2|4", "4|5"]
    golden = GOLDEN[name]
    assert result.converged
    assert result.log_likelihood == pytest.approx(golden["log_likelihood"], abs=1e-4)
    for c in (*result.thresholds, *result.coefficients):
        assert [c.estimate, c.se] == pytest.approx(golden["coefficients"][r_name(c.name)], abs=1e-3)
    assert {v.group: v.variance for v in result.variances} == pytest.approx(golden["variances"], abs=1e-3)


@pytest.mark.parametrize("term", ["person", "question"])
def test_conditional_variances_agree_with_r(term: str, crossed: Fit) -> None:
    """Given thresholds and effects, the intercepts' covariance is the inverse of their block of the information."""
    joint = join(crossed)
    intercepts = slice(joint.cuts + joint.effects, None)
    inverse = np.linalg.inv(joint.information(joint.point)[intercepts, intercepts])
    place, start = joint.intercepts(term), joint.cuts + joint.effects
    sd = next(v.sd for v in crossed.variances if v.group == term)
    variances = sd**2 * np.diag(inverse)[place.start - start : place.stop - start]
    levels = next(g.levels for g in crossed.design.groups if g.name == term)
    assert dict(zip(levels, variances, strict=True)) == pytest.approx(
        GOLDEN["crossed"]["conditional_variances"][term], rel=1e-3
    )


def progress(people: list[object]) -> list[float]:
    """Each person's rows in the order of the file, from -1/2 to 1/2."""
    counts = {person: people.count(person) for person in people}
    seen: dict[object, int] = {}
    values = []
    for person in people:
        values.append(seen.get(person, 0) / (counts[person] - 1) - 0.5)
        seen[person] = seen.get(person, 0) + 1
    return values


@pytest.mark.parametrize(("name", "column"), [("everybody", "progress"), ("first", "first")])
def test_slopes_agree_with_r(name: str, column: str, crossed: Fit) -> None:
    """R estimates the variances again with the slope beside them, here they stay."""
    values = np.array(progress(PEOPLE["person"]))
    columns = np.zeros(len(values), dtype=np.intp)
    if name == "first":
        columns[[person != "de a1" for person in PEOPLE["person"]]] = -1
    slopes = person_slopes(crossed, columns, values)
    estimate, se = GOLDEN[name]["coefficients"][column]
    assert slopes.estimates[0] == pytest.approx(estimate, abs=0.05 * se)
    assert slopes.errors[0] == pytest.approx(se, rel=0.05)


@pytest.mark.slow
def test_crossed_people_are_compared_with_everybody(crossed: Fit) -> None:
    severities = annotator_severity(crossed, PEOPLE, "person")
    modes = GOLDEN["crossed"]["modes"]["person"]
    middle = np.mean(list(modes.values()))
    assert {s.annotator: s.severity for s in severities.people} == pytest.approx(
        {name: middle - mode for name, mode in modes.items()}, abs=2e-3
    )
    assert severities.sd == pytest.approx(GOLDEN["crossed"]["variances"]["person"] ** 0.5, abs=1e-3)
    assert severities.p is not None
    assert severities.p < 1e-6
    strict = max(severities.people, key=lambda s: s.severity or 0)
    assert strict.annotator == "de a3"
    assert strict.points is not None
    assert strict.points_low is not None
    assert 0 < strict.points_low < strict.points < 4


@pytest.mark.slow
def test_nested_people_are_compared_within_their_language(crossed: Fit) -> None:
    result = fit(MixedModel("rating", ("model", "type"), ("language/annotator",), ORDER), PEOPLE)
    severities = annotator_severity(result, PEOPLE, "language:annotator")
    for language in ("de", "fj"):
        within = [s.severity for s in severities.people if s.annotator[0] == language]  # type: ignore[index]
        assert sum(value for value in within if value is not None) == pytest.approx(0, abs=1e-9)
    beside = annotator_severity(crossed, PEOPLE, "person", {"language": PEOPLE["language"]})
    german = [s.severity for s in beside.people if str(s.annotator).startswith("de")]
    assert sum(value for value in german if value is not None) == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
def test_the_only_annotator_of_a_language_cannot_be_told_from_it() -> None:
    keep = [n for n in ROWS if PEOPLE["language"][n] != "de" or PEOPLE["annotator"][n] == "a1"]
    data: Data = {key: [values[n] for n in keep] for key, values in PEOPLE.items()}
    result = fit(MixedModel("rating", ("model",), ("language/annotator",), ORDER), data)
    severities = {s.annotator: s for s in annotator_severity(result, data, "language:annotator").people}
    german = severities["de", "a1"]
    assert (german.severity, german.low, german.high, german.points) == (None, None, None, None)
    assert german.confounded == "language de"
    assert severities["fj", "a1"].severity is not None
    assert severities["fj", "a1"].confounded == ""


def test_one_annotator_for_each_language_has_no_severities_at_all() -> None:
    """As in the study of CaLMQA."""
    keep = [n for n in ROWS if PEOPLE["annotator"][n] == "a1"]
    data: Data = {key: [values[n] for n in keep] for key, values in PEOPLE.items()}
    result = fit(MixedModel("rating", ("model",), ("language/annotator",), ORDER), data)
    severities = annotator_severity(result, data, "language:annotator")
    assert [s.confounded for s in severities.people] == [f"language {code}" for code in ("de", "fj", "hi", "ki", "yo")]
    assert severities.p is None


def test_people_who_do_not_differ_have_no_severity() -> None:
    """All give the same ratings, so that their variance is estimated as zero: an interval of 0 to 0 would be wrong."""
    data: Data = {
        "rating": [1, 2, 3, 2, 4, 3, 1, 4] * 6,
        "model": ["a", "b"] * 24,
        "person": [f"p{n // 8}" for n in range(48)],
    }
    result = fit(MixedModel("rating", ("model",), ("person",)), data)
    severities = annotator_severity(result, data, "person")
    assert all(s.severity is None and s.low is None and s.confounded == "" for s in severities.people)
    assert severities.p == 1.0


def test_drift_without_random_terms_or_times() -> None:
    """Ratings that are the same forwards and backwards do not drift; and at one time nobody can."""
    data: Data = {"rating": [1, 2, 3, 3, 2, 1] * 4, "model": ["a", "b", "a", "a", "b", "a"] * 4}
    result = fit(MixedModel("rating", ("model",)), data)
    drifts = annotator_drift(result, ["ann"] * 24, np.arange(24.0))
    assert [drifts.people[0].change, drifts.everybody.change] == pytest.approx([0, 0], abs=1e-6)
    still = annotator_drift(result, ["ann"] * 24, np.ones(24))
    assert (still.everybody.change, still.people[0].change) == (None, None)


def test_unknown_terms_and_lengths_are_named(crossed: Fit) -> None:
    with pytest.raises(ValueError, match="no random term 'annotator'; its terms are person, question"):
        annotator_severity(crossed, PEOPLE, "annotator")
    with pytest.raises(ValueError, match="column 'region' has 1 rows"):
        annotator_severity(crossed, PEOPLE, "person", {"region": ["x"]})
    with pytest.raises(ValueError, match="expected one of each"):
        annotator_drift(crossed, PEOPLE["person"], [1.0])


def test_few_ratings_have_no_drift(crossed: Fit) -> None:
    """Somebody with three ratings, and somebody whose ratings all have the same time."""
    names = ["rare" if n < 3 else "at once" if n < 30 else "usual" for n in ROWS]
    times = [5.0 if name == "at once" else float(n) for n, name in enumerate(names)]
    rare, at_once, usual = annotator_drift(crossed, names, times).people
    assert (rare.ratings, rare.change, rare.p, rare.points) == (3, None, None, None)
    assert at_once.change is None
    assert usual.change is not None


def test_drift_depends_on_the_order_alone(crossed: Fit) -> None:
    times = np.arange(len(ROWS), dtype=np.float64)
    first, second = (annotator_drift(crossed, PEOPLE["person"], order) for order in (times, np.exp(times / 100)))
    assert first == second
    back = annotator_drift(crossed, PEOPLE["person"], -times)
    assert [d.change for d in back.people] == pytest.approx([-(d.change or 0) for d in first.people], abs=1e-6)


def test_ratings_that_time_settles_have_a_drift_and_equal_ones_have_none() -> None:
    """Somebody gives 5 to the first half and 1 to the second, and somebody else 5 to everything."""
    study = draw_study(Plan(languages=2, questions=5), np.random.default_rng(0))
    data = {name: list(values) for name, values in study.columns.items()}
    for n, (person, order) in enumerate(zip(data["annotator"], study.numbers("order"), strict=True)):
        if person in ("l1p1", "l2p2"):
            data["rating"][n] = 1 if person == "l1p1" and order > 15 else 5
    result = fit(MixedModel("rating", ("model*type",), ("annotator",)), data)
    drifts = {d.annotator: d for d in annotator_drift(result, data["annotator"], study.numbers("order")).people}
    halved, constant = drifts["l1p1"], drifts["l2p2"]
    assert halved.adjusted_p is not None
    assert halved.adjusted_p < 0.01
    assert halved.points == pytest.approx(-4, abs=0.1)
    assert constant.p is not None
    assert constant.p > 0.5
    assert constant.points == pytest.approx(0, abs=0.1)


def test_a_drifting_person_is_found() -> None:
    study = draw_study(Plan(languages=2, questions=20, drift=-4.0), np.random.default_rng(1))
    result = fit(MixedModel("rating", ("model*type",), ("annotator",)), study.columns)
    drifts = annotator_drift(result, study.columns["annotator"], study.numbers("order"))
    flagged = [d for d in drifts.people if d.adjusted_p is not None and d.adjusted_p < 0.05]
    assert [d.annotator for d in flagged] == [study.plan.drifting]
    (drift,) = flagged
    assert drift.low is not None
    assert drift.high is not None
    assert drift.low <= -4.0 <= drift.high < 0
    assert drift.points is not None
    assert -4 < drift.points < -1


@pytest.mark.slow
def test_intervals_hold_true_severities_and_no_drift_is_none() -> None:
    """30 studies of 15 people: 95% of the severities are within, and 5% of people who do not drift have p < 0.05."""
    within, drifting = [], []
    for seed in range(30):
        study = draw_study(Plan(), np.random.default_rng(seed))
        result = fit(MixedModel("rating", ("model*type",), ("language/annotator", "question")), study.columns)
        for s in annotator_severity(result, study.columns, "language:annotator").people:
            name = str(s.annotator[1])  # type: ignore[index]
            others = [value for person, value in study.severity.items() if person[:2] == name[:2]]
            assert s.low is not None
            assert s.high is not None
            within.append(s.low <= study.severity[name] - np.mean(others) <= s.high)
        drifts = annotator_drift(result, study.columns["annotator"], study.numbers("order"))
        drifting += [d.p < 0.05 for d in drifts.people if d.p is not None]
    assert np.mean(within) >= 0.92
    assert 0.02 <= np.mean(drifting) <= 0.09
