"""Plans, checked by studies that are simulated and tested by other means: estimators of the library, or by hand."""

from __future__ import annotations

import shutil
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import mores
from mores.benchmark.folder import open_bench_run
from mores.errors import ConfigError
from mores.planning.assumptions import PRESETS, components, item_spread
from mores.planning.records import StudyPlan
from mores.planning.simulation import centre_of, mean_estimates, normal, observe, spread_of
from mores.rating.agreement import alpha_of
from mores.rating.groups import find_groups
from mores.rating.population import measure_points
from mores.rating.ratings import Rating, read_ratings
from mores.report.base.page import render_page
from mores.report.plan import describe
from mores.stats import influence
from mores.stats.agreement import krippendorff_alpha
from mores.stats.paired import mcnemar, paired_difference
from mores.studio.store.campaigns import parse_campaign
from tests.rating.made_up import rating

RUNS = Path(__file__).parents[1] / "fixtures" / "v0_2_0" / "home" / "runs"


def planned(measure: str, **settings: Any) -> float:
    """The power of the only design of a grid."""
    settings = {"simulations": 4000, "pilot": "assumed"} | settings
    [outcome] = mores.plan(measure, **settings).outcomes  # type: ignore[arg-type]
    assert outcome.power.value is not None
    return outcome.power.value


def test_a_mean_over_raters_and_items_is_that_of_sums_by_hand() -> None:
    items, raters = 200, 10
    values = np.rint(np.random.default_rng(3).normal(0.02, 1.2, (8, items, raters)))
    found = mean_estimates(values, np.tile(np.arange(raters), (items, 1)), raters, 0.025)
    rest, n = values - values.mean((1, 2), keepdims=True), items * raters
    sums = (rest.sum(2) ** 2).sum(1) / n**2 * items / (items - 1), (rest.sum(1) ** 2).sum(1) / n**2 * raters / 9
    single = (rest**2).sum((1, 2)) / n / (n - 1)
    variance = np.maximum(sums[0] + sums[1] - single, np.maximum(*sums))
    df = variance**2 / (sums[0] ** 2 / (items - 1) + sums[1] ** 2 / 9 + single**2 / (n - 1))
    low = values.mean((1, 2)) - np.sqrt(variance) * stats.t.isf(0.025, df)
    assert found.low == pytest.approx(low)


def test_draws_are_in_double_precision() -> None:
    """Where a draw is at the edge of being drawn again, single precision may decide otherwise on another processor."""
    assert normal(np.random.default_rng(0), 2.0, 3) == pytest.approx(2 * np.random.default_rng(0).normal(size=3))


@pytest.mark.slow
def test_power_of_ratings_is_that_of_the_librarys_permutation_of_questions() -> None:
    """Raters who differ in their level alone cancel in a difference, so that only questions are drawn anew."""
    given = {"value": 3.0, "rater": 0.6, "slope": 0.0, "item": 0.5, "answer": 0.6, "residual": 0.8}
    power = planned("ratings", difference=0.3, raters=4, items=40, assume=given)
    rng, found = np.random.default_rng(7), []
    spread = spread_of(3.0, sum(given[name] ** 2 for name in list(given)[1:]) ** 0.5, (1.0, 5.0))
    ratio = spread / sum(given[name] ** 2 for name in list(given)[1:]) ** 0.5
    for _ in range(250):
        people, hard = rng.normal(0, 0.6 * ratio, (4, 1)), rng.normal(0, 0.5 * ratio, 40)
        sides = []
        for mean in (3.15, 2.85):
            latent = centre_of(mean, spread, (1.0, 5.0)) + people + hard + rng.normal(0, 0.6 * ratio, 40)
            sides.append(np.clip(np.rint(latent + rng.normal(0, 0.8 * ratio, (4, 40))), 1, 5))
        test = paired_difference(
            *(side.ravel() for side in sides), groups=np.tile(np.arange(40), 4), most=4, permutations=200
        )
        assert test is not None
        found.append(test.difference > 0 and test.p_value <= 0.05)
    assert power == pytest.approx(np.mean(found), abs=0.08)


@pytest.mark.slow
def test_power_of_ratings_is_that_of_a_noncentral_t_where_raters_differ() -> None:
    """On a scale so fine that nothing is rounded; the variance of a difference of means is worked out by hand."""
    given = {"value": 500.0, "rater": 30.0, "slope": 15.0, "item": 20.0, "answer": 40.0, "residual": 40.0}
    raters, items = 12, 60
    power = planned(
        "ratings", difference=20, raters=raters, items=items, assume=given, scale=(1, 1000), simulations=2000
    )
    parts = [2 * 15**2 / raters, 2 * 40**2 / items, 2 * 40**2 / (raters * items)]
    degrees = sum(parts) ** 2 / (parts[0] ** 2 / (raters - 1) + parts[1] ** 2 / (items - 1))
    by_hand = stats.nct.sf(stats.t.isf(0.025, degrees), degrees, 20 / sum(parts) ** 0.5)
    assert power == pytest.approx(by_hand, abs=0.04)


def test_power_of_independent_comparisons_is_binomial() -> None:
    power = planned("wins", difference=0.045, raters=1, items=900, assume={"slope": 0, "answer": 0})
    wins = np.arange(901)
    shown = (2 * stats.binom.cdf(900 - wins, 900, 0.5) <= 0.05) & (wins > 450)
    assert power == pytest.approx(stats.binom.pmf(wins, 900, 0.545)[shown].sum(), abs=0.04)


def test_power_of_accuracy_is_that_of_mcnemars_test() -> None:
    power = planned("accuracy", difference=0.05, items=600, assume={"value": 0.7, "item": 1.0})
    rng = np.random.default_rng(3)
    easy = rng.normal(0, 1, (800, 600))
    first, second = (easy + rng.normal(0, 1, easy.shape) > -stats.norm.ppf(p) * 2**0.5 for p in (0.7, 0.65))
    pairs = zip((first & ~second).sum(1), (second & ~first).sum(1), strict=True)
    shown = [b > c and mcnemar(int(b), int(c)) <= 0.05 for b, c in pairs]
    assert power == pytest.approx(np.mean(shown), abs=0.05)
    scaled = planned("scaled-accuracy", difference=0.1, items=600, assume={"value": 0.4, "item": 1.0})
    assert scaled == pytest.approx(power, abs=0.03)


def test_power_of_correlations_is_that_of_the_librarys_comparison() -> None:
    power = planned("correlation", difference=0.15, items=150, raters=3, assume={"value": 0.7})
    rng, shown = np.random.default_rng(5), []
    for _ in range(250):
        truth, common = rng.normal(size=150), rng.normal(0, 0.3**0.5, 150)
        people = truth + rng.normal(0, 3**-0.5, 150)
        judges = [r * truth + (1 - r**2) ** 0.5 * (common + rng.normal(0, 0.7**0.5, 150)) for r in (0.7, 0.55)]
        first, second = (influence.pearson(people, judge) for judge in judges)
        assert first is not None
        assert second is not None
        test = influence.compare(first, second)
        shown.append(first.value > second.value and test.p_value <= 0.05)
    assert power == pytest.approx(np.mean(shown), abs=0.08)


def test_power_of_agreement_is_that_of_a_ratio_of_variances() -> None:
    power = planned("agreement", difference=0.15, items=80, raters=2, assume={"value": 0.6, "rater": 0})
    degrees, odds = (79, 80), [(1 + r) / (1 - r) for r in (0.45, 0.6)]
    assert power == pytest.approx(stats.f.sf(stats.f.isf(0.025, *degrees) * odds[0] / odds[1], *degrees), abs=0.03)
    rng = np.random.default_rng(2)
    values = rng.normal(0, 0.6**0.5, (400, 1)) + rng.normal(0, 0.4**0.5, (400, 3))
    assert krippendorff_alpha(np.round(values, 1).T.tolist(), "interval") == pytest.approx(0.6, abs=0.07)


@pytest.mark.slow
def test_power_of_agreement_over_raters_is_that_of_the_librarys_intervals() -> None:
    given = {"value": 0.6, "rater": 1.0, "residual": 1.0}
    power = planned("agreement", difference=0.2, items=60, raters=8, assume=given)
    rng, shown = np.random.default_rng(5), []
    for _ in range(150):
        unit = (0.4 / 2) ** 0.5
        values = rng.normal(0, 0.6**0.5, (60, 1)) + rng.normal(0, unit, 8) + rng.normal(0, unit, (60, 8))
        units = [{f"r{n}": float(value) for n, value in enumerate(row)} for row in np.rint(3 * values)]
        shown.append((alpha_of("rating", units, True).low or 0) > 0.4)
    assert power == pytest.approx(np.mean(shown), abs=0.11)


@pytest.mark.slow
def test_power_of_span_f1_is_that_of_a_permutation_test() -> None:
    given = {"value": 0.55, "item": 0.5, "spans": 1.5}
    power = planned("span-f1", difference=0.08, items=200, assume=given)
    rng, shown = np.random.default_rng(11), []
    for _ in range(100):
        errors, easy = rng.poisson(1.5, 200), rng.normal(0, 0.5, 200)
        counts = []
        for f1 in (0.55, 0.47):
            found = rng.binomial(errors, stats.norm.cdf(stats.norm.ppf(f1) * 1.25**0.5 + easy))
            counts.append((2 * found, found + rng.poisson(1.5 * (1 - f1), 200) + errors))
        swap = rng.random((120, 200)) < 0.5
        above, below = (np.array([side[place] for side in counts]) for place in (0, 1))
        first = [np.where(swap, part[1], part[0]).sum(1) for part in (above, below)]
        second = [part.sum() - one for part, one in zip((above, below), first, strict=True)]
        seen = above[0].sum() / below[0].sum() - above[1].sum() / below[1].sum()
        chance = first[0] / first[1] - second[0] / second[1]
        shown.append(seen > 0 and np.mean(np.abs(chance) >= abs(seen)) <= 0.05)
    assert power == pytest.approx(np.mean(shown), abs=0.11)


@pytest.mark.slow
def test_there_are_few_false_alarms_over_raters_and_items() -> None:
    for measure, raters in (("ratings", 6), ("wins", 6), ("agreement", 2), ("correlation", 3)):
        plan = mores.plan(measure, raters=raters, items=40, simulations=3000)  # type: ignore[arg-type]
        assert plan.false_alarms is not None
        assert plan.false_alarms.value == pytest.approx(0.05, abs=0.025), measure
    strict_and_lenient = mores.plan("agreement", raters=5, items=200, simulations=2000, assume={"rater": 1})
    assert strict_and_lenient.false_alarms is not None
    assert (strict_and_lenient.false_alarms.value or 0) < 0.075


@pytest.mark.slow
def test_a_rounded_scale_has_the_mean_and_the_spread_that_are_assumed() -> None:
    for mean, deviation in ((3.0, 1.0), (4.3, 1.04), (2.6, 1.5)):
        spread = spread_of(mean, deviation, (1.0, 5.0))
        assert observe(centre_of(mean, spread, (1.0, 5.0)), spread, (1.0, 5.0)) == pytest.approx(
            (mean, deviation), abs=1e-3
        )


def test_the_same_seed_gives_the_same_plan_in_any_grid() -> None:
    alone = mores.plan("wins", raters=5, items=100, simulations=200)
    assert mores.plan("wins", raters=[3, 5], items="50,100", simulations=200).outcomes[-1] == alone.outcomes[0]
    assert mores.plan("wins", raters=5, items=100, simulations=200, seed=1).outcomes != alone.outcomes


def test_more_models_need_more_and_cost_more() -> None:
    plan = mores.plan("ratings", difference=0.5, raters=20, items=60, models="2,4", simulations=400, pay=15, price=0.01)
    two, four = plan.outcomes
    assert (two.power.value or 0) > (four.power.value or 0)
    assert (two.ratings, four.ratings, four.answers) == (2400, 4800, 240)
    assert two.hours == 2400 * 600 / 3600
    assert four.cost == pytest.approx(4800 * 600 / 3600 * 15 + 2.40)
    assert "adjusted for all pairs of models (Bonferroni)" in " ".join(plan.notes)


@pytest.mark.slow
def test_variances_of_a_pilot_are_found() -> None:
    rng = np.random.default_rng(4)
    spreads = {"rater": 0.6, "slope": 0.4, "item": 0.5, "answer": 0.7, "residual": 0.8}
    raters, items, models = 60, 60, 3
    effects = [
        rng.normal(0, spreads["rater"], (raters, 1, 1)), rng.normal(0, spreads["slope"], (raters, 1, models)),
        rng.normal(0, spreads["item"], (1, items, 1)), rng.normal(0, spreads["answer"], (1, items, models)),
        rng.normal(0, spreads["residual"], (raters, items, models)),
    ]  # fmt: skip
    values = 3 + effects[0] + effects[1] + effects[2] + effects[3] + effects[4]
    ratings = [
        rating(question=f"q{i}", model=f"m{m}", annotator=f"r{r}", rating=float(values[r, i, m]), seconds=30.0)
        for r, i, m in product(range(raters), range(items), range(models))
    ]
    found = components(ratings)
    assert found.seconds == 30.0
    assert found.found == pytest.approx(spreads, abs=0.11)
    level = stats.norm.ppf(0.6) * (1 + 0.8**2) ** 0.5
    easy = rng.normal(0, 0.8, 200_000)
    correct = [easy + rng.normal(size=200_000) > -level for _ in range(2)]
    assert item_spread(0.6, 0.6, float(np.mean(correct[0] & correct[1]))) == pytest.approx(0.8, abs=0.03)


def test_runs_of_rate_and_bench_are_pilots(tmp_path: Path) -> None:
    runs = shutil.copytree(RUNS, tmp_path / "runs")  # what is computed of a run is kept beside it
    rated = str(runs / "rate")
    plan = mores.plan("ratings", pilot=rated, raters=5, items=30, simulations=100)
    assert plan.assumed.origin == f"pilot {rated}: variances by moments"
    assert 1 < plan.assumed.value < 5
    assert plan.assumed.residual > 0
    given = mores.plan(
        "agreement", pilot=rated, raters=3, items=50, simulations=100, assume={"seconds": 10, "value": 0.5}
    )
    assert given.assumed.value == 0.5
    assert given.outcomes[0].hours == pytest.approx(150 * 10 / 3600)
    asked = [str(runs / "diagnose" / "bench" / name / "fake_model.jsonl") for name in ("culturall", "culturall.search")]
    credit = [question.credit for question in open_bench_run(asked[0]).graded().values() if question.credit is not None]
    paired = mores.plan("accuracy", pilot=asked, difference=0.01, items=500, simulations=100)
    assert paired.assumed.value >= np.mean(credit)
    assert paired.assumed.origin == f"pilot {', '.join(asked)}"
    with pytest.raises(ConfigError, match="a plan of accuracy takes runs of mores bench"):
        mores.plan("accuracy", pilot=rated)


CALMQA = Path(__file__).parents[3] / "shared" / "data" / "calmqa_ratings" / "human_ratings.csv"


@pytest.mark.skipif(not CALMQA.exists(), reason="CaLMQA's ratings are not here")
def test_the_preset_has_the_variances_of_calmqas_study() -> None:
    found, preset = components(read_ratings(CALMQA)), PRESETS["calmqa"]["ratings"]
    assert found.mean == pytest.approx(preset.value, abs=0.01)
    for name, value in found.found.items():
        assert value == pytest.approx(getattr(preset, name), abs=0.01), name


def test_the_chosen_design_is_a_campaign_of_the_studio(tmp_path: Path) -> None:
    file = tmp_path / "campaign.yaml"
    plan = mores.plan("ratings", difference=0.6, raters="10,20", items="50,100", simulations=300, campaign=file)
    assert plan.chosen is not None
    kind, settings = parse_campaign(file.read_text("utf-8"), str(file))
    assert (kind.name, settings.raters) == ("rating", plan.chosen.design.each)  # type: ignore[attr-defined]
    mores.plan("span-f1", difference=0.2, items=400, simulations=100, campaign=file)
    kind, settings = parse_campaign(file.read_text("utf-8"), str(file))
    assert (kind.name, settings.markers, settings.begin) == ("marking", 2, "blank")  # type: ignore[attr-defined]
    with pytest.raises(ConfigError, match="no design of the grid has a power of 80%; the best is"):
        mores.plan("ratings", difference=0.05, raters=3, items="25,50", simulations=100, campaign=file)
    with pytest.raises(ConfigError, match="30 raters of each item; the studio takes at most 25"):
        mores.plan("ratings", difference=0.9, raters=30, items=50, simulations=100, campaign=file)


@pytest.mark.parametrize(
    ("measure", "settings", "message"),
    [
        ("wins", {"difference": 0.6}, "wins of −0.100 and 1.100 are not between 0 and 1"),
        ("ratings", {"assume": {"rate": 1}}, "nothing is assumed about 'rate'; choose from value, rater"),
        ("ratings", {"pilot": "excam"}, "excam has no values for ratings; choose calmqa, assumed, or a run"),
        ("ratings", {"pilot": "nothere"}, "'nothere' is neither a run nor one of calmqa, excam"),
        ("ratings", {"scale": (1, 4.5)}, "a plan needs a scale of whole numbers"),
        ("ratings", {"items": "4"}, "4 items; a study needs at least 5"),
        ("accuracy", {"raters": 3}, "accuracy needs no raters"),
        ("accuracy", {"campaign": "c.yaml"}, "accuracy needs no people"),
        ("agreement", {"raters": 1}, "agreement needs 2 raters of each item"),
        ("ratings", {"items": "many"}, "'many': expected whole numbers such as 5,10,20"),
        ("ratings", {"models": 1}, "a comparison needs 2 models"),
    ],
)
def test_what_no_study_can_have_is_refused(measure: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        mores.plan(measure, simulations=100, **settings)


def test_a_plan_has_a_page_a_table_and_a_paragraph() -> None:
    plan = mores.plan("ratings", difference=0.5, raters="10,20", items="50,100", simulations=200, pay=12)
    assert StudyPlan.model_validate_json(plan.model_dump_json()) == plan
    document = describe(plan)
    assert document.printed[-1] == plan.headline
    assert "In 200 simulated studies (Mores, seed 0) this design" in plan.paragraph
    page = render_page(document)
    assert "Power to show a difference of 0.5 points of a rating" in page
    assert "<svg" in page


@pytest.mark.slow
def test_a_planned_study_finds_the_difference_as_often_as_planned() -> None:
    """The linear model of `mores rate` in 100 studies of the planned size, with CaLMQA's variances."""
    given = PRESETS["calmqa"]["ratings"]
    power = planned("ratings", difference=0.5, raters=10, items=30, pilot="calmqa")
    names = ("rater", "slope", "item", "answer", "residual")
    total = sum(getattr(given, name) ** 2 for name in names) ** 0.5
    spread = spread_of(given.value, total, (1.0, 5.0))
    rater, slope, item, answer, residual = (getattr(given, name) * spread / total for name in names)
    rng, shown = np.random.default_rng(1), []
    for _ in range(100):
        people, hard, ratings = rng.normal(0, rater, 10), rng.normal(0, item, (30, 1)), list[Rating]()
        for model, half in (("a", 0.25), ("b", -0.25)):
            level = centre_of(given.value + half, spread, (1.0, 5.0)) + people + rng.normal(0, slope, 10)
            values = level + hard + rng.normal(0, answer, (30, 1)) + rng.normal(0, residual, (30, 10))
            ratings += [
                rating(question=f"q{i}", model=model, annotator=f"r{r}", rating=float(value))
                for (i, r), value in np.ndenumerate(np.clip(np.rint(values), 1, 5))
            ]
        points, _ = measure_points(ratings, find_groups(ratings))
        [difference] = points.differences["model"]
        shown.append(difference.low > 0)
    assert power == pytest.approx(np.mean(shown), abs=0.13)
