"""Linear mixed models agree with R's lme4, lmerTest and emmeans, and their intervals hold the truth.

The constants are printed by this, in this folder (R 4.2.2, lme4 1.1.31, lmerTest 3.1.3, emmeans 1.8.4):

    library(lmerTest); library(emmeans)
    show <- function(f, d, by) {
      m <- lmer(f, d, control = lmerControl(optCtrl = list(xtol_abs = 1e-10, ftol_abs = 1e-12)))
      print(logLik(m)); print(VarCorr(m), comp = "Variance")
      print(summary(pairs(emmeans(m, by, lmer.df = "satterthwaite")), infer = c(TRUE, TRUE)), digits = 7)
    }
    w <- read.csv("wine.csv"); r <- read.csv("ratings.csv")
    r$model <- factor(r$model, levels = c("opus", "turbo", "mix"))
    show(rating ~ model * type + (1 | language) + (1 | language:annotator) + (1 | question), r, ~ model)
    show(rating ~ model + (1 | annotator) + (1 | question) + (1 | question:model), r[r$language == "de", ], ~ model)
    show(rating ~ temp + contact + (1 | judge), w, ~ temp)
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.stats import studentized_range, t

from mores.stats.mixed import Fit, MixedModel, contrasts, fit, fit_linear, means, raw_mean, sums
from mores.stats.mixed.comparison import critical_value, range_tail
from mores.stats.mixed.design import build
from mores.stats.mixed.odds import check_odds
from mores.stats.mixed.sums import Sums
from tests.stats.mixed.test_mixed import ORDER, RATINGS, WINE, Data

GERMAN: Data = {
    name: [value for value, language in zip(values, RATINGS["language"], strict=True) if language == "de"]
    for name, values in RATINGS.items()
}
NESTED = MixedModel("rating", ("model*type",), ("language/annotator", "question"), ORDER)
CROSSED = MixedModel("rating", ("model",), ("annotator", "question", "question:model"), ORDER)
TASTED = MixedModel("rating", ("temp", "contact"), ("judge",))
PRINTED: dict[str, Any] = {
    "nested": (
        NESTED, RATINGS, "model", -935.068553,
        {"language": 0.32738, "language:annotator": 0.14420, "question": 0.05614, "residual": 1.10287},
        [(-0.7337611, 0.1091177, 582.2359, -0.9901572, -0.477365, 6.3e-10),
         (0.9021864, 0.1117990, 582.5113, 0.6394903, 1.164882, 5.1e-10),
         (1.6359475, 0.1097702, 581.6609, 1.3780176, 1.893877, 5.1e-10)],
    ),
    "crossed": (
        CROSSED, GERMAN, "model", -173.400939,
        {"question:model": 0.16450, "question": 0.04661, "annotator": 0.10099, "residual": 0.77355},
        [(-0.9866526, 0.2574308, 20.67435, -1.6362867, -0.3370186, 2.728782e-03),
         (0.9884652, 0.2578056, 20.87971, 0.3383693, 1.6385611, 2.682663e-03),
         (1.9751178, 0.2559923, 20.29037, 1.3281876, 2.6220480, 5.367477e-07)],
    ),
    "tasted": (
        TASTED, WINE, "temp", -86.273843, {"judge": 0.20005, "residual": 0.52459},
        [(-1.166667, 0.1707158, 61, -1.508034, -0.8252993, 4.466224e-09)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PRINTED)
def test_fits_are_those_of_lme4_and_contrasts_those_of_emmeans(name: str) -> None:
    model, data, factor, likelihood, variances, differences = PRINTED[name]
    result = fit_linear(model, data)
    assert result.log_likelihood == pytest.approx(likelihood, abs=1e-5)
    assert {v.group: v.variance for v in result.variances} == pytest.approx(variances, abs=2e-5)
    for contrast, (estimate, se, df, low, high, p) in zip(contrasts(result, (factor,)), differences, strict=True):
        assert (contrast.estimate, contrast.se) == pytest.approx((estimate, se), rel=1e-5)
        assert contrast.df == pytest.approx(df, rel=1e-3)
        assert (contrast.low, contrast.high) == pytest.approx((low, high), abs=2e-4)
        # R integrates the range to 1e-9 only.
        assert contrast.p == pytest.approx(p, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("scores", [(4, 5, 1), (4, 5, 2), (0, 1, 2), (1, 2, 4)])
def test_ratings_that_fixed_effects_fit_perfectly_are_refused(scores: tuple[int, ...]) -> None:
    """Whether rounding leaves a residual of exactly zero depends on the numbers and on the processor."""
    rows = [(score, model, rater) for model, score in zip("abc", scores, strict=True) for rater in "pq" * 3]
    ratings, models, raters = zip(*rows, strict=True)
    with pytest.raises(ValueError, match="no spread beside these effects"):
        fit_linear(MixedModel("rating", ("m",), ("r",)), {"rating": ratings, "m": models, "r": raters})


def test_terms_that_the_fixed_effects_settle_are_left_out() -> None:
    """R's lmer() gives 0.78 for the standard deviation of answers here, and any other would be as likely."""
    rng = np.random.default_rng(0)
    data: Data = {"m": ["a", "b"] * 12, "r": [n // 2 for n in range(24)], "y": rng.normal(size=24).tolist()}
    found, alone = (fit_linear(MixedModel("y", ("m",), terms), data | {"answer": data["m"]})
                    for terms in (("r", "answer"), ("r",)))  # fmt: skip
    assert found.notes[0] == "the variance of answer cannot be told from the fixed effects"
    assert (found.variances, contrasts(found, ("m",))) == (alone.variances, contrasts(alone, ("m",)))


def test_taking_the_system_apart_gives_what_solving_it_at_once_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers in questions, crossed with raters: level by level and whole, and slopes by steps."""
    rng = np.random.default_rng(0)
    codes = np.array([
        (r, q, 3 * q + m) for q in range(60) for m in range(3) for r in rng.choice(8, 2 + (q + m) % 3, replace=False)
    ])  # fmt: skip
    data: Data = {name: [f"{name}{code}" for code in column] for name, column in zip("rqa", codes.T, strict=True)}
    data |= {"model": [str(code % 3) for code in codes[:, 2]], "rating": rng.normal(size=len(codes)).tolist()}
    design = build(MixedModel("rating", ("model",), ("r", "q", "a")), data)
    y, thetas = np.array(data["rating"], dtype=np.float64), np.array([0.5, 0.4, 0.3])
    matrix = np.column_stack([np.ones(len(y)), design.matrix])
    at_once, apart = (Sums(y, matrix, design.groups, apart) for apart in (False, True))
    monkeypatch.setattr(sums, "MOST_CELLS", 0)
    unkept = Sums(y, matrix, design.groups, True)
    assert (at_once.heads, apart.heads, len(apart.counts)) == (0, 2, 3)
    one = at_once.profile(thetas)
    for other in (apart, unkept):
        two = other.profile(thetas)
        assert (one.logs, one.rest) == pytest.approx((two.logs, two.rest))
        for part in ("effects", "covariance", "log_slopes", "rest_slopes"):
            np.testing.assert_allclose(getattr(one, part), getattr(two, part), rtol=1e-7)
    for n in range(3):
        up, down = (apart.deviance(thetas + sign * 1e-5 * (np.arange(3) == n))[0] for sign in (1, -1))
        assert apart.deviance(thetas)[1][n] == pytest.approx((up - down) / 2e-5, rel=1e-5)


@pytest.mark.slow
def test_random_slopes_agree_with_r() -> None:
    """Of ordinal's clmm() and of lmer(); six people see two models of ten questions differently.

    rating ~ model + (1 | annotator) + (1 | question) + (1 | am), with am of annotator and model, as above.
    """
    rows = [(m, q, r) for r in range(1, 7) for q in range(1, 11) for m in (0, 1)]
    taste = {r: ((r * 3 % 5 - 2) * -0.3, (r * 5 % 7 - 3) * 0.4) for r in range(1, 7)}
    latent = [
        3 + (r * 7 % 5 - 2) * 0.3 + (q * 3 % 7 - 3) * 0.3 + taste[r][m] + (n * 37 % 11 - 5) * 0.2
        for n, (m, q, r) in enumerate(rows)
    ]
    data: Data = {
        "rating": np.clip(np.round(latent), 1, 5).tolist(), "model": ["ab"[m] for m, _, _ in rows],
        "annotator": [f"r{r}" for *_, r in rows], "question": [f"q{q}" for _, q, _ in rows],
    }  # fmt: skip
    model = MixedModel("rating", ("model",), ("annotator", "question", "annotator:model"))
    ordinal, linear = fit(model, data), fit_linear(model, data)
    [effect] = ordinal.coefficients
    assert (effect.estimate, effect.se) == pytest.approx((0.74816354, 0.65421185), rel=2e-4)
    assert ordinal.log_likelihood == pytest.approx(-142.5537527, abs=1e-4)
    assert [v.variance for v in ordinal.variances] == pytest.approx([2.7124485, 1.9367668, 0.8755703], rel=2e-3)
    [gap] = contrasts(linear, ("model",))
    assert (gap.estimate, gap.se, gap.low, gap.high) == pytest.approx(
        (-0.25, 0.2473194, -0.8857553, 0.3857553), rel=1e-4
    )
    assert gap.df == pytest.approx(5, abs=0.01)
    assert [v.variance for v in linear.variances] == pytest.approx([0.38601, 0.26111, 0.13896, 0.44537], rel=1e-3)


@pytest.mark.parametrize("df", [2.0, 3.7, 16.1, 45.0, 500.0, np.inf])
def test_the_studentised_range_is_scipys(df: float) -> None:
    for q, size in ((1.0, 3), (3.5, 2), (4.0, 8)):
        assert range_tail(q, size, df) == pytest.approx(studentized_range.sf(q, size, df), abs=2e-7)


def test_intervals_and_p_values_say_the_same() -> None:
    """At the critical value of each adjustment p is 5%; wider families have larger ones."""
    for adjust in ("tukey", "bonferroni", "none"):
        limits = [critical_value(size, size * (size - 1) // 2, adjust, 9.3) for size in (2, 3, 6)]
        assert all(a < b or adjust == "none" for a, b in pairwise(limits))
    for contrast in contrasts(fit_linear(CROSSED, GERMAN), ("model",)):
        assert (contrast.p < 0.05) == (contrast.low * contrast.high > 0)


def test_a_plain_mean_has_the_variance_of_all_its_levels() -> None:
    """By hand: shares of the levels squared, times the variances."""
    result = fit_linear(TASTED, WINE)
    assert result.spread is not None
    cold = np.array([temp == "cold" for temp in WINE["temp"]])
    judge, residual = result.spread.variances
    assert raw_mean(result, cold)[0] == pytest.approx(judge / 9 + residual / 36)
    assert 8 <= raw_mean(result, cold)[1] < 20
    plain = np.array(WINE["rating"], dtype=float)[cold].mean()
    assert means(result, ("temp",))[0].estimate == pytest.approx(plain)


def draw(rng: np.random.Generator, raters: int, sd: float) -> tuple[Fit, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Thirty questions with two models' answers, of which everybody rates all."""
    person, question = rng.normal(0, sd, raters), rng.normal(0, 0.5, 30)
    answer = rng.normal(0, 0.3, (30, 2))
    rows = [(r, q, m) for r in range(raters) for q in range(30) for m in range(2)]
    y = np.array([3 + person[r] + question[q] + answer[q, m] + rng.normal(0, 0.8) for r, q, m in rows])
    data: Data = {
        "r": [f"r{r}" for r, _, _ in rows], "q": [f"q{q}" for _, q, _ in rows], "m": ["ab"[m] for _, _, m in rows],
        "a": [f"{q} {m}" for _, q, m in rows], "rating": y.tolist(),
    }  # fmt: skip
    return fit_linear(MixedModel("rating", ("m",), ("r", "q", "a")), data), y


@pytest.mark.slow
@pytest.mark.parametrize(("raters", "sd"), [(3, 0.5), (3, 0.1), (10, 0.5)])
def test_means_hold_for_other_raters(raters: int, sd: float) -> None:
    """Over questions alone, 55% of the intervals hold the truth with three raters and 69% with ten."""
    rng, held = np.random.default_rng(1), []
    for _ in range(200):
        result, y = draw(rng, raters, sd)
        rows = np.ones(len(y), dtype=bool)
        variance, df = raw_mean(result, rows)
        held.append(abs(y.mean() - 3) <= t.isf(0.025, df) * np.sqrt(variance))
    assert np.mean(held) >= 0.93


def test_odds_that_are_proportional_pass_and_others_do_not() -> None:
    """Twenty studies of 60 questions each way; at most three of the first are false alarms."""
    rng = np.random.default_rng(2)

    def study(bend: float) -> float:
        group, question = np.repeat([0.0, 1.0], 150), np.tile(np.repeat(np.arange(30), 5), 2)
        latent = rng.normal(0, 0.7, 30)[question] + group + rng.logistic(size=300)
        spread = np.where(group > 0, 1 + bend, 1.0)
        check = check_odds(np.digitize(latent * spread, [-1.5, 0.0, 1.5, 3.0]), group[:, None], question)
        assert check
        assert check.slopes.shape == (4, 1)
        return check.p

    assert sum(study(0.0) < 0.05 for _ in range(20)) <= 3
    assert sum(study(2.0) < 0.05 for _ in range(20)) >= 15
    assert check_odds(np.array([0, 1, 2, 0]), np.eye(4)[:, :1], np.arange(4)) is None, "too few"
