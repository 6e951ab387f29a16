"""Careless people in simulated studies are found and honest ones hardly ever flagged; signs by hand where possible."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_ind

from mores.stats.mixed import Fit, MixedModel, contrasts, fit
from mores.stats.raters import Conduct, Suspicion, annotator_drift, find_careless
from mores.stats.raters.careless import judge_speed, longest_runs, predict
from tests.stats.raters.simulated import Careless, Plan, Study, draw_study

NESTED = MixedModel("rating", ("model*type",), ("language/annotator", "question"))


def conduct(study: Study) -> Conduct:
    return Conduct(study.numbers("order"), study.numbers("seconds"), study.numbers("position"))


def search(study: Study, model: MixedModel = NESTED) -> dict[object, Suspicion]:
    suspicions = find_careless(fit(model, study.columns), study.columns["annotator"], conduct(study), draws=500)
    return {suspicion.annotator: suspicion for suspicion in suspicions}


@pytest.mark.often("random-random", "first-position")
@pytest.mark.parametrize(
    ("careless", "sign"),
    [
        ("random", "random"),
        ("first", "position"),
        ("straight", "straight"),
        ("hasty", "fast"),
    ],
)
def test_each_kind_of_careless_person_is_found_for_its_reason(careless: Careless, sign: str) -> None:
    """Six people in two languages, 120 ratings each."""
    study = draw_study(Plan(languages=2, questions=20, careless=careless), np.random.default_rng(0))
    people = search(study)
    assert [name for name, person in people.items() if person.flagged] == [study.plan.careless_person]
    person = people[study.plan.careless_person]
    assert sign in [reason.kind for reason in person.reasons]
    if careless == "random":
        assert (person.posterior or 0) > 0.9
        assert 0.5 < (person.power or 0) < 0.9, "among four signs and six people"
        assert person.reasons[0].value < person.reasons[0].expected / 2


@pytest.mark.slow
def test_the_whole_study_is_recovered() -> None:
    """Three models, two types, five languages, nested people, drift and one careless person, who is set aside."""
    plan = Plan(annotators=2, questions=20, drift=-4.0, careless="random")
    study = draw_study(plan, np.random.default_rng(2))
    flagged = {str(name) for name, person in search(study).items() if person.flagged}
    assert flagged == {plan.careless_person}
    columns = study.without(flagged)
    result = fit(NESTED, columns)
    for contrast in contrasts(result, ("model",)):
        truth = plan.difference(str(contrast.first["model"]), str(contrast.second["model"]))
        assert abs(contrast.estimate - truth) < 1.96 * contrast.se
    (types,) = contrasts(result, ("type",))
    assert abs(types.estimate - (-plan.specific - dict(plan.both)["c"] / 3)) < 1.96 * types.se
    drifts = annotator_drift(result, columns["annotator"], np.array(columns["order"], dtype=np.float64))
    assert [d.annotator for d in drifts.people if (d.adjusted_p or 1) < 0.05] == [plan.drifting]


@pytest.mark.slow
def test_people_of_one_language_each_are_judged_by_models_and_types() -> None:
    """As in the study of CaLMQA, where nobody else rated the same answers."""
    model = MixedModel("rating", ("model*type",), ("language/annotator",))
    study = draw_study(Plan(annotators=1, questions=40, careless="random"), np.random.default_rng(0))
    people = search(study, model)
    assert [name for name, person in people.items() if person.flagged] == [study.plan.careless_person]


def test_predictions_leave_out_the_persons_own_ratings(honest: tuple[Study, Fit]) -> None:
    """Whatever somebody says, what they are compared with stays the same."""
    study, result = honest
    is_mine = np.array([name == "l1p1" for name in study.columns["annotator"]])
    mine = np.flatnonzero(is_mine)
    changed = result.design.response.codes.copy()
    changed[mine] = 0
    response = replace(result.design.response, codes=changed)
    before = predict(result, is_mine, mine)
    after = predict(replace(result, design=replace(result.design, response=response)), is_mine, mine)
    assert all((first == second).all() for first, second in zip(before.means, after.means, strict=True))
    names = [variance.group for variance in result.variances]
    person = names.index("language:annotator")
    assert before.means[person] == pytest.approx(0)  # nothing is known about the person's own severity
    assert (before.sds[names.index("question")] < result.variances[names.index("question")].sd).all()


@pytest.fixture(scope="module")
def honest() -> tuple[Study, Fit]:
    study = draw_study(Plan(languages=2, questions=5), np.random.default_rng(4))
    return study, fit(NESTED, study.columns)


def test_too_little_to_judge_is_said(honest: tuple[Study, Fit]) -> None:
    study, result = honest
    few = ["rare" if n < 3 else "other" if n < 90 else "third" for n in range(len(study.columns["rating"]))]
    people = {s.annotator: s for s in find_careless(result, few, draws=50)}
    assert people["rare"].signs == ()
    assert (people["rare"].p, people["rare"].flagged, people["rare"].posterior) == (None, False, None)
    assert {sign.kind for sign in people["other"].signs} == {"random", "straight"}
    two = ["a" if n % 2 else "b" for n in range(len(few))]
    assert all(s.signs == () and not s.flagged for s in find_careless(result, two))


def test_columns_of_other_lengths_are_refused(honest: tuple[Study, Fit]) -> None:
    study, result = honest
    names = study.columns["annotator"]
    with pytest.raises(ValueError, match="annotators; expected one for each"):
        find_careless(result, names[:-1])
    with pytest.raises(ValueError, match="seconds has the shape"):
        find_careless(result, names, Conduct(seconds=[1.0, 2.0]))


def test_the_same_seed_gives_the_same_answer(honest: tuple[Study, Fit]) -> None:
    study, result = honest
    first, second = (find_careless(result, study.columns["annotator"], draws=100, seed=3) for _ in range(2))
    assert first == second


def test_longest_runs_by_hand() -> None:
    codes = np.array([[1, 1, 2, 2, 2, 1], [0, 1, 0, 1, 0, 1], [3, 3, 3, 3, 3, 3]])
    assert longest_runs(codes).tolist() == [3, 1, 6]
    assert longest_runs(np.array([[4]])).tolist() == [1]


def test_speed_is_a_t_test_of_one_against_the_others() -> None:
    """Equal times within people, so that only the people's means vary; nobody is timed with fewer than eight."""
    means = [3.0, 3.2, 2.9, 3.1, 1.0]
    codes = np.repeat(np.arange(6), [8, 8, 8, 8, 8, 2])
    seconds = np.exp(np.repeat([*means, 3.0], [8, 8, 8, 8, 8, 2]))
    signs = judge_speed(codes, seconds, np.bincount(codes))
    assert set(signs) == {0, 1, 2, 3, 4}
    expected = ttest_ind([1.0], means[:4], alternative="less").pvalue
    assert signs[4].p == pytest.approx(expected)
    assert signs[4].value == pytest.approx(np.exp(1.0))
    assert signs[4].expected == pytest.approx(np.exp(np.mean(means[:4])))
    assert judge_speed(codes, np.full(len(codes), np.nan), np.bincount(codes)) == {}
    instant = judge_speed(codes, np.where(codes == 4, 0.0, seconds), np.bincount(codes))
    assert instant[4].p < signs[4].p


@pytest.mark.slow
def test_honest_people_are_hardly_ever_flagged_and_effects_are_covered() -> None:
    """15 studies with one random answerer: whether honest ones are flagged, and whether intervals hold the effects."""
    plan = Plan(annotators=2, questions=20, careless="random")
    wrong, caught, held = [], [], []
    for seed in range(15):
        study = draw_study(plan, np.random.default_rng(seed))
        flagged = {str(name) for name, person in search(study).items() if person.flagged}
        caught.append(plan.careless_person in flagged)
        wrong.append(bool(flagged - {plan.careless_person}))
        result = fit(NESTED, study.without(flagged))
        for contrast in contrasts(result, ("model",), adjust="none"):
            truth = plan.difference(str(contrast.first["model"]), str(contrast.second["model"]))
            held.append(abs(contrast.estimate - truth) < 1.96 * contrast.se)
    assert np.mean(wrong) <= 0.16  # 5%, and two standard deviations of 15 studies
    assert np.mean(caught) >= 0.5
    assert np.mean(held) >= 0.85
