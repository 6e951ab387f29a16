"""Calibration: worked examples, where borders fall, and what always holds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from sklearn.metrics import brier_score_loss

from mores.stats.calibration import (
    GAIN,
    Bin,
    confidence_results,
    measure,
    reliability_curve,
)
from mores.stats.classification import auc
from mores.stats.intervals import limits_of, mean_interval, share_interval
from mores.stats.selective import area, make_cells, selective

answers = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40)


def split(pairs: list[tuple[float, bool]]) -> tuple[list[float], list[bool]]:
    return [sure for sure, _ in pairs], [right for _, right in pairs]


def figure(name: str, sure: Any, right: Any) -> float:
    """A figure of answers to different questions."""
    cells = make_cells(np.array(sure), np.array(right, dtype=bool), np.arange(len(sure)))
    return float(measure(cells.unweighted())[name][0])


def test_by_hand() -> None:
    sure, right = [0.95, 0.91, 0.55, 1.0], [True, False, True, True]
    # Last bin: confidence 2.86/3, accuracy 2/3; the one of 0.55: accuracy 1.
    assert figure("ECE", sure, right) == pytest.approx(100 * (0.86 + 0.45) / 4)
    assert figure("Brier", sure, right) == pytest.approx((0.05**2 + 0.91**2 + 0.45**2) / 4)
    curve = reliability_curve(sure, right)
    assert [bin_.n for bin_ in curve] == [0, 0, 0, 0, 0, 1, 0, 0, 0, 3]
    assert curve[9].confidence == pytest.approx(2.86 / 3)
    assert curve[9].accuracy == pytest.approx(2 / 3)
    assert curve[9].interval == share_interval(2, 3)
    assert curve[0] == Bin(0.0, 0.1, 0, None, None, (0.0, 1.0))


def test_errors_of_one_bin_cancel_and_of_two_do_not() -> None:
    assert figure("ECE", [0.5, 0.5], [1, 0]) == 0
    assert figure("ECE", [0.4, 0.6], [1, 0]) == pytest.approx(60)


@pytest.mark.parametrize("bins", [1, 3, 7, 10, 15, 20, 100])
def test_percentages_fall_where_whole_numbers_say(bins: int) -> None:
    for percent in range(101):
        curve = reliability_curve([percent / 100], [1], bins)
        assert [bin_.n for bin_ in curve].index(1) == min(percent * bins // 100, bins - 1)


def test_without_answers() -> None:
    assert [bin_.n for bin_ in reliability_curve([], [], 2)] == [0, 0]


@given(answers)
def test_ece_is_the_weighted_gap_of_the_curve(pairs: list[tuple[float, bool]]) -> None:
    sure, right = split(pairs)
    gaps = (bin_.n * abs((bin_.accuracy or 0) - (bin_.confidence or 0)) for bin_ in reliability_curve(sure, right))
    error = figure("ECE", sure, right)
    assert error == pytest.approx(100 * sum(gaps) / len(pairs), abs=1e-9)
    assert 0 <= error <= 100


@given(answers, st.integers(1, 20))
def test_every_answer_is_in_the_bin_of_its_confidence(pairs: list[tuple[float, bool]], bins: int) -> None:
    curve = reliability_curve(*split(pairs), bins)
    for bin_ in curve[:-1]:
        assert bin_.n == sum(bin_.low <= sure < bin_.high for sure, _ in pairs)
    assert sum(bin_.n for bin_ in curve) == len(pairs)
    for bin_ in curve:
        if bin_.accuracy is not None:
            assert bin_.interval[0] <= bin_.accuracy <= bin_.interval[1]


@given(answers)
def test_brier_is_that_of_scikit_learn(pairs: list[tuple[float, bool]]) -> None:
    sure, right = split(pairs)
    loss = brier_score_loss(right, sure, labels=[False, True])
    assert figure("Brier", sure, right) == pytest.approx(loss, abs=1e-12)


@given(answers)
def test_ece_is_at_most_the_mean_error(pairs: list[tuple[float, bool]]) -> None:
    sure, right = split(pairs)
    worst = float(np.abs(np.array(sure) - np.array(right)).mean())
    assert figure("ECE", sure, right) <= 100 * worst + 1e-9


@pytest.mark.parametrize(
    ("sure", "right", "message"),
    [
        ([95, 80], [1, 0], "confidence 95 is not from 0 to 1; divide percentages by 100"),
        ([-0.1], [1], "not from 0 to 1"),
        ([math.inf], [1], "not from 0 to 1"),
        ([math.nan], [1], "exclude the answers without one"),
        ([None], [1], "exclude the answers without one"),
        ([0.5], [0.5], "neither correct"),
        ([0.5], [math.nan], "neither correct"),
        ([0.5, 0.5], [1], "2 confidences and 1 answers"),
        ([[0.5]], [[1]], "give two lists"),
    ],
)
def test_refuses(sure: Any, right: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        reliability_curve(sure, right)


def test_refuses_no_bins() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        reliability_curve([0.5], [1], bins=0)


def test_answers_of_a_group_are_one_in_the_curve() -> None:
    right = np.repeat([1, 0, 1, 1, 0], 4)
    curve = reliability_curve(np.full(20, 0.75), right, groups=np.repeat(np.arange(5), 4))
    assert curve[7].interval == pytest.approx(mean_interval(right, groups=np.repeat(np.arange(5), 4)))
    assert curve[7].interval[0] < reliability_curve(np.full(20, 0.75), right)[7].interval[0]
    assert curve[0].interval == (0.0, 1.0)


# ---- all figures -----------------------------------------------------------------------------------------------


def test_no_interval_leaves_its_range_or_is_a_point() -> None:
    """25 answers of which the model is wholly sure, and that are all wrong, or all right."""
    for right in (True, False):
        found = confidence_results(make_cells(np.ones(25), np.full(25, right), np.arange(25)), 0)
        for name, one in found.items():
            if one.value is not None and name != "ECE by chance":
                assert one.low is not None
                assert one.high is not None
                ranges = {"ECE": (0, 100), "overconfidence": (-1, 1), GAIN: (-0.5, 0.5)}
                least, most = ranges.get(name, (0, 1))
                assert least <= one.low < one.high <= most, name
                assert one.low <= one.value <= one.high, name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("levels", "less"), [((0.55, 0.75, 0.95), 0.0), pytest.param((0.65, 0.85, 0.95), 0.3, marks=pytest.mark.slow)]
)
def test_the_interval_of_the_calibration_error_holds_it(levels: tuple[float, ...], less: float) -> None:
    """Of an honest model the error is 0, though 20 answers nearly never show that."""
    rng, hits = np.random.default_rng(0), 0
    for _ in range(60):
        sure = rng.choice(levels, 20)
        found = confidence_results(make_cells(sure, rng.random(20) < sure - less, np.arange(20)), 0)["ECE"]
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= 100 * less <= found.high
    assert hits >= 55  # of 60: below that once in 50 times where 95% hold it


@pytest.mark.slow
def test_the_intervals_of_the_error_hold_it_about_as_often_as_they_say() -> None:
    """Confidence 0.8, right with 0.6: the error is 20 points."""
    rng, held = np.random.default_rng(0), 0
    for _ in range(25):
        right = rng.random(150) < 0.6
        found = confidence_results(make_cells(np.full(150, 0.8), right, np.arange(150)), 0)["ECE"]
        held += found.low is not None and found.high is not None and found.low <= 20 <= found.high
    assert held >= 21


def test_four_answers_by_hand() -> None:
    sure, right = np.array([0.95, 0.95, 0.55, 0.15]), np.array([True, False, True, False])
    found = confidence_results(make_cells(sure, right, np.arange(4)), 1)
    assert found["ECE"].value == pytest.approx(37.5)  # |1 - 1.9| + |1 - 0.55| + |0 - 0.15| over 4
    assert found["Brier"].value == pytest.approx(0.2825)
    assert found["AUROC"].value == pytest.approx(0.625)  # ½ + 1 + 0 + 1 of 4 pairs
    assert found["accuracy at half coverage"].value == 0.5
    # One half of the first two answers, then (1 + (t - 2)) / t to 3, then 2 / t to 4.
    by_hand = (0.5 * 2 + 1 - math.log(3 / 2) + 2 * math.log(4 / 3)) / 4
    assert found["area under selective accuracy"].value == pytest.approx(by_hand)
    assert (found["accuracy at 90+"].value, found["accuracy at 90+"].n, found["ECE"].unscored) == (0.5, 2, 1)


def test_means_of_answers_to_different_questions_have_the_intervals_of_means() -> None:
    sure, right = np.array([0.9, 0.95, 0.89, 0.2, 0.9]), np.array([True, True, False, False, False])
    found = confidence_results(make_cells(sure, right, np.arange(5)))
    expected = {
        "Brier": (1.6546 / 5, mean_interval((sure - right) ** 2)),
        "confidence": (0.768, mean_interval(sure)),
        "accuracy": (0.4, share_interval(2, 5)),
        "overconfidence": (0.368, mean_interval(sure - right, least=-1.0)),
        "accuracy at 90+": (2 / 3, share_interval(2, 3)),
    }
    for name, (value, interval) in expected.items():
        assert found[name].value == pytest.approx(value), name
        assert (found[name].low, found[name].high) == pytest.approx(interval), name


def test_the_units_of_figures_that_no_resample_changes() -> None:
    """Three wrong answers below all nine correct ones: as 3 of 3. An area of 20 correct answers: as 10 of 10."""
    right = np.arange(12) < 9
    found = confidence_results(make_cells(np.where(right, 0.9, 0.5), right, np.arange(12)))["AUROC"]
    assert (found.low, found.high) == pytest.approx((0.025 ** (1 / 3), 1), abs=1e-4)
    alike = confidence_results(make_cells(np.full(20, 0.7), np.ones(20, dtype=bool), np.arange(20)))
    area_of = alike["area under selective accuracy"]
    assert (area_of.low, area_of.high) == pytest.approx((0.025 ** (1 / 10), 1), abs=1e-4)
    assert (alike[GAIN].low, alike[GAIN].high) == pytest.approx(mean_interval([0.0] * 20, least=-0.5, most=0.5))


def test_the_noise_of_the_calibration_error_is_taken_off() -> None:
    """Confidence 0.8 and 8 of 10 correct: the error is 0, and that of resamples |k - 8| / 10, with k binomial."""
    found = confidence_results(make_cells(np.full(10, 0.8), np.arange(10) < 8, np.arange(10)))["ECE"]
    variance = 10 * 0.8 * 0.2 - float(binom(10, 0.8).expect(lambda k: abs(k - 8))) ** 2
    assert found.value == pytest.approx(0, abs=1e-9)
    assert found.low == 0
    assert found.high == pytest.approx(100 * limits_of(0.0, variance / 100, 10)[1], abs=0.5)


weighed = st.lists(st.tuples(st.integers(0, 100), st.booleans(), st.integers(0, 4)), min_size=1, max_size=30)


@pytest.mark.slow
@given(weighed)
def test_figures_are_those_of_the_statistics(rows: list[tuple[int, bool, int]]) -> None:
    sure, right = np.array([a / 100 for a, _, _ in rows]), np.array([b for _, b, _ in rows])
    cells = make_cells(sure, right, np.array([c for _, _, c in rows]))
    found = {name: float(own[0]) for name, own in measure(cells.unweighted()).items()}
    assert found["ECE"] == pytest.approx(figure("ECE", sure, right), abs=1e-9)
    assert found["Brier"] == pytest.approx(figure("Brier", sure, right), abs=1e-12)
    known = auc(right, sure)
    assert math.isnan(found["AUROC"]) if known is None else found["AUROC"] == pytest.approx(known)
    covered, correct = cells.unweighted().thresholds()
    grid = (np.arange(4000) + 0.5) / 4000
    assert float(area(covered, correct)[0]) == pytest.approx(
        np.mean([selective(covered, correct, share)[0] for share in grid[::20]]), abs=0.02
    )


@given(weighed, st.lists(st.integers(0, 3), min_size=5, max_size=5))
def test_a_weight_is_so_many_copies(rows: list[tuple[int, bool, int]], times: list[int]) -> None:
    present = sorted({unit for _, _, unit in rows})
    copies = [row for row in rows for _ in range(times[row[2]])]
    if not copies:
        return

    def of(some: list[tuple[int, bool, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return (
            np.array([a / 100 for a, _, _ in some]),
            np.array([b for _, b, _ in some]),
            np.array([c for *_, c in some]),
        )

    weighted = measure(make_cells(*of(rows)).weighted(np.array([[float(times[unit]) for unit in present]])))
    repeated = measure(make_cells(*of(copies)).unweighted())
    for name, own in weighted.items():
        assert own[0] == pytest.approx(repeated[name][0], nan_ok=True), name
