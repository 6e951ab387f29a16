"""Item response models: published estimates of R's ltm, simulated models and questions, and short forms."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import expit

from mores.stats.irt import choose_questions, fit, fit_discrimination, fit_questions, predict_credit

Floats = npt.NDArray[np.float64]
LSAT = "3 6 2 11 1 1 3 4 1 8 0 16 0 3 2 15 10 29 14 81 3 28 15 80 16 56 21 173 11 61 28 298"
"""Law School Admission Test, section 6 (Bock and Lieberman 1970): people with each pattern, 00000 to 11111."""


@pytest.fixture(scope="module")
def lsat() -> Floats:
    patterns = np.array([[number >> place & 1 for place in range(4, -1, -1)] for number in range(32)], dtype=float)
    return np.repeat(patterns, [int(people) for people in LSAT.split()], axis=0)


def draw(models: Floats, questions: Floats, seed: int = 0, slopes: float | Floats = 1.0) -> Floats:
    """Questions × models."""
    p = expit(np.reshape(slopes, (-1, 1)) * (models - questions[:, None]))
    return np.asarray(np.random.default_rng(seed).random(p.shape) < p, dtype=np.float64)


@pytest.mark.slow
def test_the_1pl_of_ltm(lsat: Floats) -> None:
    """`rasch(LSAT)` of ltm 1.2: log-likelihood, discrimination, difficulties."""
    model = fit(lsat)
    assert model.log_likelihood == pytest.approx(-2466.938, abs=0.001)
    assert model.slopes == pytest.approx([0.7551] * 5, abs=0.001)
    assert -model.intercepts / model.slopes == pytest.approx([-3.6153, -1.3224, -0.3176, -1.7301, -2.7802], abs=0.002)


def test_the_2pl_of_ltm(lsat: Floats) -> None:
    """`ltm(LSAT ~ z1)` of ltm 1.2, and its factor scores of the patterns 00000, 01111 and 11111."""
    model = fit(lsat, own_slopes=True)
    assert model.log_likelihood == pytest.approx(-2466.653, abs=0.001)
    assert model.slopes == pytest.approx([0.8254, 0.7229, 0.8905, 0.6886, 0.6575], abs=0.002)
    assert -model.intercepts / model.slopes == pytest.approx([-3.3597, -1.3696, -0.2799, -1.8659, -3.1236], abs=0.005)
    # ltm gives posterior modes with their curvature, which are near the means and deviations.
    assert [model.means[0], model.means[-1]] == pytest.approx([-1.895, 0.606], abs=0.06)
    assert [model.deviations[0], model.deviations[-1]] == pytest.approx([0.795, 0.855], abs=0.03)


@pytest.mark.slow
def test_standard_errors_are_those_of_repeated_draws() -> None:
    models, questions = np.array([-1.0, 0.0, 0.5, 1.5]), np.random.default_rng(1).normal(0, 1.2, (30, 200))
    scales = [fit_questions(draw(models, row, seed)) for seed, row in enumerate(questions)]
    abilities = np.array([scale.ability for scale in scales])
    assert abilities.mean(axis=0) == pytest.approx(models, abs=0.08)
    ratio = abilities.std(axis=0, ddof=1) / np.mean([scale.errors for scale in scales], axis=0)
    assert ratio == pytest.approx(np.ones(4), abs=0.35)
    assert np.mean([scale.spread for scale in scales]) == pytest.approx(1.2, abs=0.08)


@pytest.mark.slow
def test_abilities_allow_for_missing_answers() -> None:
    """Two equal models, of whom one was asked the easier half: its share is higher, its ability hardly is."""
    questions = np.sort(np.random.default_rng(0).normal(0, 1.5, 800))
    table = draw(np.concatenate([[0.0, 0.0], np.linspace(-1, 1, 40)]), questions)
    table[400:, 0] = np.nan
    scale = fit_questions(table)
    assert np.nanmean(table[:, 0]) > np.nanmean(table[:, 1]) + 0.2
    assert abs(scale.ability[0] - scale.ability[1]) < 0.2
    assert scale.errors[0] > scale.errors[1]


def test_a_question_that_all_models_answer_has_a_finite_difficulty_and_a_perfect_model_no_ability() -> None:
    table = draw(np.linspace(-1, 1, 6), np.random.default_rng(0).normal(0, 1, 100))
    table[0], table[1], table[:, 5] = 1.0, 0.0, 1.0
    scale = fit_questions(table)
    assert np.isnan(scale.ability).tolist() == [False] * 5 + [True]
    assert np.isfinite(scale.difficulty).all()
    assert scale.difficulty[0] < 0 < scale.difficulty[1]
    with pytest.raises(ValueError, match="fewer than two models"):
        fit_questions(np.ones((10, 3)))


def test_discriminations_and_a_wrong_key() -> None:
    generator = np.random.default_rng(3)
    models, questions = generator.normal(0, 1, 120), generator.normal(0, 1, 80)
    slopes = np.exp(generator.normal(0, 0.4, 80))
    table = draw(models, questions, slopes=slopes)
    table[7] = 1 - table[7]
    discrimination = fit_discrimination(table)
    others = np.arange(80) != 7
    assert np.corrcoef(discrimination[others], slopes[others])[0, 1] > 0.7
    assert discrimination[7] < -0.2
    assert (discrimination[others] > -0.2).all()


def test_a_short_form_is_of_questions_that_separate_models() -> None:
    """Half of the questions are answered by all or none: a short form has none of them, and predicts a new model."""
    questions = np.concatenate([np.random.default_rng(0).normal(0, 1, 100), np.full(50, -8.0), np.full(50, 8.0)])
    table = draw(np.linspace(-1.5, 1.5, 13), questions)
    scale = fit_questions(table[:, 1:])
    asked = choose_questions(scale, 40)
    assert len(set(asked.tolist())) == 40
    assert asked.max() < 100
    assert predict_credit(scale, table[asked, 0], asked) == pytest.approx(table[:, 0].mean(), abs=0.06)
