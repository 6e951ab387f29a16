"""How many more are needed: by hand and by simulated studies."""

from __future__ import annotations

import numpy as np
import pytest

from mores.stats.mixed import Fit, MeanContrast, MixedModel, contrasts, fit
from mores.stats.power import contrast_power, critical_value

THRESHOLDS = (-1.5, -0.5, 0.7, 2.0)


def draw(rng: np.random.Generator, questions: int, difference: float) -> dict[str, list[object]]:
    """Two models' answers to the same questions in three languages, each with one annotator."""
    columns: dict[str, list[object]] = {"rating": [], "model": [], "language": []}
    for language, level in enumerate((-0.6, 0.1, 0.5)):
        latent = level + np.repeat([0.0, difference], questions) + rng.logistic(size=2 * questions)
        columns["rating"] += (1 + np.searchsorted(THRESHOLDS, latent)).tolist()
        columns["model"] += ["a"] * questions + ["b"] * questions
        columns["language"] += [f"l{language}"] * (2 * questions)
    return columns


def fitted(questions: int, seed: int = 0, difference: float = 0.5) -> tuple[Fit, MeanContrast]:
    result = fit(
        MixedModel("rating", ("model",), ("language",)), draw(np.random.default_rng(seed), questions, difference)
    )
    return result, contrasts(result, ("model",))[0]


def test_contrast_by_hand() -> None:
    """1.96 + 0.8416 = 2.8016 standard errors are needed; where there are d / se, the ratings grow by the square."""
    result, contrast = fitted(20)
    need = contrast_power(result, contrast)
    growth = (2.801585 * contrast.se / contrast.estimate) ** 2
    assert contrast.p > 0.05
    assert need.n == (60, 60)
    assert need.more == (int(np.ceil(60 * (growth - 1))),) * 2
    assert need.total == 2 * need.more[0]
    assert need.detectable == pytest.approx(2.801585 * contrast.se, rel=1e-5)
    assert need.p == pytest.approx(contrast.p)
    exact = contrast_power(result, contrast, difference=need.detectable)
    assert exact.more == (0, 0)
    assert exact.power == pytest.approx(0.8, abs=1e-3)


def test_what_is_significant_needs_no_more() -> None:
    result, contrast = fitted(60, difference=1.2)
    need = contrast_power(result, contrast)
    assert need.p < 0.05
    assert need.more == (0, 0)
    planned = contrast_power(result, contrast, difference=0.1)
    assert planned.total is not None
    assert planned.total > 1000
    assert contrast_power(result, contrast, difference=0.001).more is None
    assert contrast_power(result, contrast, difference=0.0).total is None


def test_cells_of_simple_effects_are_counted() -> None:
    data = draw(np.random.default_rng(0), 20, 0.3)
    data["type"] = ["x" if n % 4 else "y" for n in range(len(data["rating"]))]
    result = fit(MixedModel("rating", ("model*type",), ("language",)), data)
    needs = {c.within["type"]: contrast_power(result, c).n for c in contrasts(result, ("model",), by=("type",))}
    assert needs == {"x": (45, 45), "y": (15, 15)}


def test_adjusted_critical_values() -> None:
    """Tukey's range of three means at 5% is 3.314, so that |z| is 3.314 / √2; Bonferroni's is 2.394."""
    assert critical_value(2, "tukey") == pytest.approx(1.95996, abs=1e-4)
    assert critical_value(3, "tukey") == pytest.approx(3.314 / np.sqrt(2), abs=1e-3)
    assert critical_value(3, "bonferroni") == pytest.approx(2.394, abs=1e-3)
    assert critical_value(3, "none") == pytest.approx(1.95996, abs=1e-4)
    result, contrast = fitted(20)
    totals = [contrast_power(result, contrast, size=3, adjust=a).total for a in ("none", "tukey", "bonferroni")]
    assert totals == sorted(totals)  # type: ignore[type-var]
    with pytest.raises(ValueError, match="at least two"):
        critical_value(1, "none")


@pytest.mark.slow
def test_analytic_power_is_that_of_simulated_studies() -> None:
    """A true difference of 0.5 is planned with one study's standard error; 120 larger studies mostly find it."""
    result, contrast = fitted(30, seed=5)
    need = contrast_power(result, contrast, difference=0.5)
    assert need.more is not None
    questions = (need.n[0] + need.more[0]) // 3
    shown = [fitted(questions, seed)[1].p <= 0.05 for seed in range(100, 220)]
    assert questions > 40
    assert np.mean(shown) == pytest.approx(0.8, abs=0.09)
    present = [fitted(30, seed)[1].p <= 0.05 for seed in range(400, 520)]
    assert np.mean(present) == pytest.approx(need.power, abs=0.11)
