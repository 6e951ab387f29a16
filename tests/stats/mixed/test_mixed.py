"""Cumulative link mixed models agree with R's ordinal, emmeans and performance (golden.R makes golden.json).

Estimates agree to 1e-3, standard errors and variances to 1e-2, log-likelihoods to 1e-3, or nearer.
"""

from __future__ import annotations

import csv
import json
from math import isnan, log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mores.stats.mixed import Fit, MixedModel, contrasts, fit, means, r_squared
from mores.stats.mixed import likelihood as likelihoods
from mores.stats.mixed.comparison import Adjustment, adjusted
from mores.stats.mixed.estimation import evaluate, prepare
from mores.stats.mixed.likelihood import Likelihood, Rows, RowThresholds

HERE = Path(__file__).parent
GOLDEN = json.loads((HERE / "golden.json").read_text())
ORDER = {"model": ("opus", "turbo", "mix")}
Data = dict[str, list[object]]


def read(name: str) -> Data:
    with (HERE / name).open(newline="") as file:
        rows = list(csv.DictReader(file))
    data: Data = {key: [row[key] for row in rows] for key in rows[0]}
    for key in {"rating", "length"} & set(data):
        data[key] = [int(str(value)) for value in data[key]]
    return data


WINE, RATINGS = read("wine.csv"), read("ratings.csv")
ALIKE: Data = {
    key: [value for value, who in zip(values, RATINGS["annotator"], strict=True) if who == "a1"]
    for key, values in RATINGS.items()
}
MODELS = {
    "wine_clm": (MixedModel("rating", ("temp", "contact")), WINE),
    "wine_judge": (MixedModel("rating", ("temp", "contact"), ("judge",)), WINE),
    "wine_interaction": (MixedModel("rating", ("temp*contact",), ("judge", "bottle")), WINE),
    "wine_null": (MixedModel("rating", (), ("judge",)), WINE),
    "nested": (MixedModel("rating", ("model*type", "length"), ("language/annotator",), ORDER), RATINGS),
    "crossed": (MixedModel("rating", ("model", "type"), ("language/annotator", "question"), ORDER), RATINGS),
    "alike": (MixedModel("rating", ("model",), ("language/annotator",), ORDER), ALIKE),
    "nested_clm": (MixedModel("rating", ("model", "type", "model:type", "length"), (), ORDER), RATINGS),
}
FITS: dict[str, Fit] = {}


def fitted(name: str) -> Fit:
    if name not in FITS:
        model, data = MODELS[name]
        FITS[name] = fit(model, data)
    return FITS[name]


def r_name(name: str) -> str:
    """R's name of a coefficient: tempwarm for temp[warm]."""
    return name.replace("[", "").replace("]", "")


def r_group(name: str) -> str:
    """R's name of a nested term: annotator:language for annotators within languages."""
    return ":".join(reversed(name.split(":")))


@pytest.mark.parametrize("name", MODELS)
def test_estimates_agree_with_r(name: str) -> None:
    result, golden = fitted(name), GOLDEN["fits"][name]
    found = {r_name(c.name): c for c in (*result.thresholds, *result.coefficients)}
    assert list(found) == list(golden["coefficients"])
    assert result.problems == ()
    for key, (estimate, se, z, p) in golden["coefficients"].items():
        assert found[key].estimate == pytest.approx(estimate, abs=1e-3, rel=1e-3)
        if se == "NaN":  # R has no standard errors for terms that group alike
            continue
        assert found[key].se == pytest.approx(se, rel=1e-3)
        assert found[key].z == pytest.approx(z, abs=1e-3, rel=1e-3)
        assert found[key].p == pytest.approx(p, abs=1e-4, rel=1e-2)


@pytest.mark.parametrize("name", MODELS)
def test_likelihoods_and_variances_agree_with_r(name: str) -> None:
    result, golden = fitted(name), GOLDEN["fits"][name]
    assert result.log_likelihood == pytest.approx(golden["log_likelihood"], abs=1e-4)
    # R counts the two variances of terms that group alike, of which one is estimated.
    assert result.aic == pytest.approx(golden["aic"] - 2 * (name == "alike"), abs=1e-3)
    assert {r_group(v.group): v.variance for v in result.variances} == pytest.approx(
        golden.get("variances", {}), abs=1e-3
    )
    assert all(v.sd == pytest.approx(sqrt(v.variance)) for v in result.variances)


@pytest.mark.parametrize("name", [name for name, golden in GOLDEN["fits"].items() if "modes" in golden])
def test_conditional_modes_agree_with_r(name: str) -> None:
    result, golden = fitted(name), GOLDEN["fits"][name]["modes"]
    for term, modes in result.modes.items():
        found = {level if isinstance(level, str) else ":".join(reversed(level)): v for level, v in modes.items()}  # type: ignore[call-overload]
        assert found == pytest.approx(golden[r_group(term)], abs=2e-3)


@pytest.mark.parametrize("name", [name for name, golden in GOLDEN["fits"].items() if "r2_formula" in golden])
@pytest.mark.parametrize("kind", ["r2_formula", "r2_performance"])
def test_r_squared_agrees_with_r(name: str, kind: str) -> None:
    golden = GOLDEN["fits"][name].get(kind)
    if golden is None:
        assert (name, kind) == ("wine_interaction", "r2_performance")
        return
    found = r_squared(fitted(name))
    assert [found.marginal, found.conditional] == pytest.approx(golden, abs=1e-4)


MEANS: list[tuple[str, str, tuple[str, ...], tuple[str, ...]]] = [
    ("wine_temp", "wine_judge", ("temp",), ()),
    ("nested_model", "nested", ("model",), ()),
    ("nested_simple", "nested", ("model",), ("type",)),
    ("nested_cells", "nested", ("type", "model"), ()),
    ("crossed_model", "crossed", ("model",), ()),
    ("clm_model", "nested_clm", ("model",), ()),
]


@pytest.mark.parametrize(("key", "name", "factors", "by"), MEANS)
def test_means_agree_with_r(key: str, name: str, factors: tuple[str, ...], by: tuple[str, ...]) -> None:
    golden = GOLDEN["means"][key]["means"]
    found = means(fitted(name), factors, by)
    assert [m.levels for m in found] == [{f: row[f] for f in (*factors, *by)} for row in golden]
    for m, row in zip(found, golden, strict=True):
        expected = [row["emmean"], row["SE"], row["asymp.LCL"], row["asymp.UCL"]]
        assert [m.estimate, m.se, m.low, m.high] == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("adjust", ["none", "tukey", "bonferroni"])
@pytest.mark.parametrize(("key", "name", "factors", "by"), MEANS)
def test_contrasts_agree_with_r(
    key: str, name: str, factors: tuple[str, ...], by: tuple[str, ...], adjust: Adjustment
) -> None:
    golden = GOLDEN["means"][key][adjust]
    found = contrasts(fitted(name), factors, by, adjust)
    labels = [" - ".join(" ".join(map(str, side.values())) for side in (c.first, c.second)) for c in found]
    assert labels == [row["contrast"] for row in golden]
    for c, row in zip(found, golden, strict=True):
        assert c.within == {f: row[f] for f in by}
        assert [c.estimate, c.se, c.z] == pytest.approx([row["estimate"], row["SE"], row["z.ratio"]], abs=1e-3)
        assert c.p == pytest.approx(row["p.value"], abs=1e-9, rel=1e-2)


@pytest.mark.parametrize(
    ("z", "size", "adjust", "p"),
    [
        (-2.993, 3, "tukey", 0.0078),
        (-3.428, 6, "bonferroni", 0.0091),
        (-3.020, 6, "bonferroni", 0.0380),
        (2.835, 6, "bonferroni", 0.0687),
        (0.457, 6, "bonferroni", 1.0),
    ],
)
def test_adjusted_p_values_are_those_of_calmqa(z: float, size: int, adjust: Adjustment, p: float) -> None:
    """CaLMQA, tables 18 and 21."""
    assert adjusted(z, size, size * (size - 1) // 2, adjust) == pytest.approx(p, abs=2e-4)


def test_two_levels_and_a_factor_are_a_two_by_two_table() -> None:
    """By hand: 3 of 10 and 6 of 8 high; the effect is the log odds ratio, its variance the sum of 1/counts."""
    data: dict[str, list[Any]] = {"high": [0] * 7 + [1] * 3 + [0] * 2 + [1] * 6, "arm": ["a"] * 10 + ["b"] * 8}
    result = fit(MixedModel("high", ("arm",)), data)
    (threshold,), (effect,) = result.thresholds, result.coefficients
    assert (threshold.name, effect.name) == ("0|1", "arm[b]")
    assert threshold.estimate == pytest.approx(log(7 / 3), abs=1e-6)
    assert effect.estimate == pytest.approx(log(6 / 2 * 7 / 3), abs=1e-6)
    assert effect.se == pytest.approx(sqrt(1 / 7 + 1 / 3 + 1 / 2 + 1 / 6), rel=1e-5)
    expected = 7 * log(0.7) + 3 * log(0.3) + 2 * log(0.25) + 6 * log(0.75)
    assert result.log_likelihood == pytest.approx(expected, abs=1e-9)


def test_probabilities_sum_to_one_and_keep_their_digits_in_the_tails() -> None:
    thresholds, codes = np.array([-1.0, 0.5, 2.0]), np.arange(4)
    for m in (-40.0, 0.0, 40.0):
        log_p = [Rows(RowThresholds.of(thresholds, code), np.array([m])).log_p() for code in codes.reshape(4, 1)]
        assert np.exp(log_p).sum() == pytest.approx(1)
        assert np.isfinite(log_p).all()
    # At m = 40 the second category has p = e^-39.5 - e^-41, to all digits; at 1,000 it is smaller than any number.
    for m in (40.0, 1000.0):
        rows = Rows(RowThresholds.of(thresholds, np.array([1])), np.array([m]))
        assert rows.log_p() == pytest.approx(0.5 - m + log(1 - np.exp(-1.5)), rel=1e-14)


@pytest.mark.parametrize("name", ["wine_judge", "crossed", "nested"])
def test_gradient_is_that_of_the_likelihood(name: str) -> None:
    model, data = MODELS[name]
    likelihood = prepare(model, data).likelihood
    size = likelihood.cuts + likelihood.matrix.shape[1] + len(likelihood.groups)
    point = np.linspace(-0.7, 0.9, size)
    expected = [
        (evaluate(point + step, likelihood)[0] - evaluate(point - step, likelihood)[0]) / 2e-4
        for step in np.eye(size) * 1e-4
    ]
    assert evaluate(point, likelihood)[1] == pytest.approx(expected, abs=1e-4)


def test_levels_within_levels_are_eliminated_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in large studies: the same likelihood, gradient and variances of intercepts as with all but one at once."""
    whole = prepare(*MODELS["crossed"]).likelihood
    monkeypatch.setattr(likelihoods, "MOST_CELLS", 0)
    nested = prepare(*MODELS["crossed"]).likelihood
    assert (whole.nested, nested.nested) == (False, True)
    point = np.linspace(-0.7, 0.9, whole.cuts + whole.matrix.shape[1] + len(whole.groups))
    for one, two in zip(evaluate(point, whole), evaluate(point, nested), strict=True):
        assert one == pytest.approx(two, abs=1e-8)
    thresholds, sds = np.array([-1.0, 0.0, 1.0, 2.0]), np.array([0.5, 0.9, 0.7])
    variances = [
        each.by_term(each.find_modes(thresholds, np.zeros(len(each.codes)), sds[each.order])[1].inverse_diagonal())
        for each in (whole, nested)
    ]
    for one, two in zip(*variances, strict=True):
        assert one == pytest.approx(two)


@pytest.mark.slow
def test_a_search_from_some_of_the_rows_ends_at_the_same_maximum() -> None:
    model, data = MODELS["crossed"]
    plain = fit(model, data)
    some: Data = {name: values[: len(values) * 2 // 3] for name, values in data.items()}
    near = fit(model, data, fit(model, some))
    assert near.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-6)
    for one, two in zip(plain.coefficients, near.coefficients, strict=True):
        assert one.estimate == pytest.approx(two.estimate, abs=1e-3)
        assert one.se == pytest.approx(two.se, rel=0.03)  # without the bend of log|H|


def test_no_variance_is_the_model_without_random_terms() -> None:
    task = prepare(*MODELS["crossed"])
    plain = Likelihood(task.design.response, task.scaling.matrix, ())
    thresholds, effects = np.array([-1.0, 0.0, 1.0, 2.0]), np.array([0.5, -0.5, 0.2])
    value, gradient = task.likelihood.value_and_gradient(thresholds, effects, np.zeros(3))
    expected, slope = plain.value_and_gradient(thresholds, effects, np.empty(0))
    assert value == pytest.approx(expected, abs=1e-9)
    assert gradient == pytest.approx([*slope, 0, 0, 0], abs=1e-9)


def test_variance_estimated_as_zero_is_noted_and_changes_nothing_else() -> None:
    with_bottle, without = fitted("wine_interaction"), fit(MixedModel("rating", ("temp*contact",), ("judge",)), WINE)
    assert with_bottle.notes == ("the variance of bottle is estimated as zero",)
    assert with_bottle.log_likelihood == pytest.approx(without.log_likelihood, abs=1e-6)
    assert [c.se for c in with_bottle.coefficients] == pytest.approx([c.se for c in without.coefficients], rel=1e-4)


def test_terms_that_group_alike_share_a_variance() -> None:
    twice, once = fitted("alike"), fit(MixedModel("rating", ("model",), ("language",), ORDER), ALIKE)
    assert "group the rows alike" in twice.notes[0]
    assert sum(v.variance for v in twice.variances) == pytest.approx(once.variances[0].variance)
    assert [c.se for c in twice.coefficients] == pytest.approx([c.se for c in once.coefficients])
    assert twice.aic == pytest.approx(once.aic)


@settings(max_examples=3)
@given(names=st.permutations([f"judge {n}" for n in range(1, 10)]), order=st.permutations(range(72)))
def test_labels_of_groups_and_order_of_rows_do_not_matter(names: list[str], order: list[int]) -> None:
    data: Data = {**WINE, "judge": [names[int(str(judge)) - 1] for judge in WINE["judge"]]}
    shuffled: Data = {key: [values[n] for n in order] for key, values in data.items()}
    result = fit(MODELS["wine_judge"][0], shuffled)
    assert result.log_likelihood == pytest.approx(fitted("wine_judge").log_likelihood, abs=1e-7)
    assert [c.estimate for c in result.coefficients] == pytest.approx(
        [c.estimate for c in fitted("wine_judge").coefficients], abs=1e-5
    )


@pytest.mark.parametrize("order", [["opus", "turbo", "mix"], ["turbo", "mix", "opus"]])
def test_reference_level_changes_neither_likelihood_nor_contrasts(order: list[str]) -> None:
    result = fit(MixedModel("rating", ("model", "type"), ("language",), {"model": order}), RATINGS)
    base = fit(MixedModel("rating", ("model", "type"), ("language",)), RATINGS)
    assert result.log_likelihood == pytest.approx(base.log_likelihood, abs=1e-6)
    found = {frozenset([c.first["model"], c.second["model"]]): (abs(c.z), c.p) for c in contrasts(result, ("model",))}
    for c in contrasts(base, ("model",)):
        assert found[frozenset([c.first["model"], c.second["model"]])] == pytest.approx((abs(c.z), c.p), rel=1e-3)


def test_reversed_ratings_turn_the_signs() -> None:
    model, data = MODELS["wine_judge"]
    result = fit(MixedModel(model.response, model.fixed, model.random, {"rating": (5, 4, 3, 2, 1, 0)}), data)
    base = fitted("wine_judge")
    assert [t.name for t in result.thresholds] == ["5|4", "4|3", "3|2", "2|1"]
    assert result.log_likelihood == pytest.approx(base.log_likelihood, abs=1e-6)
    assert [c.estimate for c in result.coefficients] == pytest.approx(
        [-c.estimate for c in base.coefficients], abs=1e-4
    )


@pytest.mark.often("1000000.0-0.0")
@pytest.mark.parametrize(("factor", "shift"), [(1e6, 0.0), (1e-6, 0.0), (1.0, 1e5)])
def test_unit_of_a_covariate_does_not_matter(factor: float, shift: float) -> None:
    data: Data = {**RATINGS, "length": [float(str(v)) * factor + shift for v in RATINGS["length"]]}
    result, base = fit(MODELS["nested"][0], data), fitted("nested")
    assert result.converged
    assert [c.z for c in result.coefficients] == pytest.approx([c.z for c in base.coefficients], abs=1e-3)
    pairs = zip(means(result, ("model",)), means(base, ("model",)), strict=True)
    assert all(a.estimate == pytest.approx(b.estimate, abs=1e-3) for a, b in pairs)


SMALL: Data = {
    "rating": [1, 2, 3, 2, 1, 3, 2, 2],
    "arm": ["a", "b", "a", "b", "a", "b", "b", "a"],
    "same": ["c", "d", "c", "d", "c", "d", "d", "c"],
    "one": ["x"] * 8,
    "each": [f"row {n}" for n in range(8)],
    "words": ["low", "mid", "high", "mid", "low", "high", "mid", "mid"],
    "empty": ["a", None, "b", "a", "b", "a", "b", "a"],
    "void": [1.0, 2.0, 3.0, float("nan"), 1.0, 2.0, 3.0, 1.0],
    "kinds": ["a", 1, "a", 1, "a", 1, "a", 1],
    "lists": [["a"]] * 8,
    "short": ["a", "b"],
    "constant": [2.5] * 8,
    "cell": ["a", "a", "b", "a", "b", "a", "a", "b"],
}


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (MixedModel("ratng", ("arm",)), "no column 'ratng'; did you mean 'rating'?"),
        (MixedModel("rating", ("nothing_at_all",)), "no column 'nothing_at_all'; the columns are arm, "),
        (MixedModel("rating", ("empty",)), "column 'empty', row 2: None"),
        (MixedModel("rating", ("void",)), "column 'void', row 4: nan"),
        (MixedModel("rating", ("arm",), ("lists",)), "column 'lists', row 1: ['a']; expected a text"),
        (MixedModel("rating", ("short",)), "different lengths: rating 8, short 2"),
        (MixedModel("one", ("arm",), levels={"one": ("x", "y")}), "needs at least two levels; every row is 'x'"),
        (MixedModel("words", ("arm",)), "give their order in levels={'words'"),
        (MixedModel("words", ("arm",), levels={"words": ("low", "high")}), "row 2: 'mid' is not among its levels"),
        (MixedModel("rating", ("arm",), levels={"arm": ("a", "b", "a")}), "level twice"),
        (MixedModel("rating", ("arm",), levels={"amr": ("a", "b")}), "levels of 'amr', which is not in the model"),
        (MixedModel("rating", ("one",)), "factor 'one' has one level only, 'x'"),
        (MixedModel("rating", ("kinds",)), "column 'kinds' mixes kinds of values"),
        (
            MixedModel("rating", ("arm", "same")),
            "aliased columns, constant or a combination of those before them: same[d]",
        ),
        (
            MixedModel("rating", ("constant",)),
            "aliased columns, constant or a combination of those before them: constant",
        ),
        (MixedModel("rating", ("arm:cell",)), "arm:cell without arm; write arm*cell"),
        (MixedModel("rating", ("rating",)), "is the response and also a predictor"),
        (MixedModel("rating", ("arm + same",)), "cannot read the term 'arm + same'"),
        (MixedModel("rating", ("arm:arm",)), "cannot read the term 'arm:arm'"),
        (MixedModel("rating", "arm"), "fixed is a tuple of terms; write ('arm',)"),  # type: ignore[arg-type]
        (MixedModel("rating", (), "arm"), "random is a tuple of terms; write ('arm',)"),  # type: ignore[arg-type]
        (MixedModel("rating", ("arm",), ("one",)), "random term 'one' has one level only"),
        (MixedModel("rating", ("arm",), ("arm/each",)), "random term 'arm:each' has a level for every row"),
    ],
)
def test_bad_input_is_named_with_its_fix(model: MixedModel, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        fit(model, SMALL)
    assert message in str(caught.value)


def test_empty_columns_are_refused() -> None:
    with pytest.raises(ValueError, match="there are no rows"):
        fit(MixedModel("rating", ("arm",)), {"rating": [], "arm": []})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((("judge",),), "unknown factor 'judge'; the fixed effects have model, type"),
        ((("length",),), "unknown factor 'length'"),
        ((("model",), ("model",)), "each once"),
        (((),), "at least one factor"),
        (("model",), "tuples of names"),
        ((("model",), (), "holm"), "unknown adjustment 'holm'; expected tukey, bonferroni, none"),
    ],
)
def test_bad_contrasts_are_named_with_their_fix(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        contrasts(fitted("nested"), *arguments)
    assert message in str(caught.value)


SEPARATED: Data = {
    "rating": [1, 1, 2, 2, 3, 3] * 4,
    "arm": ["a", "a", "a", "a", "b", "b"] * 4,
    "score": [value + n / 100 for n, value in enumerate([1, 1, 2, 2, 3, 3] * 4)],
    "judge": [f"judge {n % 4}" for n in range(24)],
    "rater": [f"rater {value}" for value in [1, 1, 2, 2, 3, 3] * 4],
    "noise": [n * 7 % 5 for n in range(24)],
}


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        (MixedModel("rating", ("arm",)), "separation: no finite estimate of arm[b]"),
        (MixedModel("rating", ("arm", "noise")), "separation: no finite estimate of arm[b]"),
        (MixedModel("rating", ("score",)), "separation: no finite estimate of score"),
        (MixedModel("rating", ("arm",), ("judge",)), "separation: no finite estimate of arm[b]"),
        (MixedModel("rating", ("noise",), ("rater",)), "the variance of rater grows without bound"),
    ],
)
def test_estimates_without_a_maximum_are_reported_and_not_used(model: MixedModel, problem: str) -> None:
    result = fit(model, SEPARATED)
    assert not result.converged
    assert problem in result.problems[0]
    assert all(isnan(c.se) and isnan(c.p) for c in (*result.thresholds, *result.coefficients))
    with pytest.raises(ValueError, match="was not fitted"):
        r_squared(result)
    with pytest.raises(ValueError, match="was not fitted"):
        means(result, ("arm",))


def test_search_cut_short_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mores.stats.mixed.estimation.climb", lambda _, point: point)
    monkeypatch.setattr("mores.stats.mixed.estimation.improve", lambda _, optimum: optimum)
    result = fit(*MODELS["wine_clm"])
    assert "the search ended before the maximum" in result.problems[0]
