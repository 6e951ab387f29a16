"""Scores against gold labels: by hand, against scikit-learn, and on hostile input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from mores.stats import classification as c

scored = st.lists(st.tuples(st.booleans(), st.integers(-3, 3) | st.floats(-1, 1)), min_size=1, max_size=60)
both_classes = scored.filter(lambda rows: len({gold for gold, _ in rows}) == 2)


def test_auc_by_hand_counts_ties_one_half() -> None:
    # Pairs of an error with another: 3>2, 3>1, 2=2, 2>1, of 4: three and a half.
    assert c.auc([True, True, False, False], [3, 2, 2, 1]) == 3.5 / 4
    assert c.auc([False, True], [0.1, 0.9]) == 1.0
    assert c.auc([True, False], [0.1, 0.9]) == 0.0
    assert c.auc([True, False, True], [-np.inf, 0, np.inf]) == 0.5


def test_curves_by_hand() -> None:
    gold, scores = [True, False, True, False], [0.9, 0.5, 0.5, 0.1]
    roc, pr = c.roc_curve(gold, scores), c.pr_curve(gold, scores)
    assert roc is not None
    assert pr is not None
    assert roc.thresholds.tolist() == pr.thresholds.tolist() == [np.inf, 0.9, 0.5, 0.1]
    assert roc.false_positive_rate.tolist() == [0, 0, 0.5, 1]
    assert roc.true_positive_rate.tolist() == pr.recall.tolist() == [0, 0.5, 1, 1]
    assert pr.precision.tolist() == [1, 1, 2 / 3, 0.5]


@given(both_classes)
def test_scores_agree_with_scikit_learn(rows: list[tuple[bool, float]]) -> None:
    gold, scores = zip(*rows, strict=True)
    assert c.auc(gold, scores) == pytest.approx(metrics.roc_auc_score(gold, scores), abs=1e-12)
    roc, pr = c.roc_curve(gold, scores), c.pr_curve(gold, scores)
    assert roc is not None
    assert pr is not None
    false, true, thresholds = metrics.roc_curve(gold, scores, drop_intermediate=False)
    np.testing.assert_allclose(roc.false_positive_rate, false)
    np.testing.assert_allclose(roc.true_positive_rate, true)
    np.testing.assert_array_equal(roc.thresholds, thresholds)
    precision, recall, _ = metrics.precision_recall_curve(gold, scores)
    np.testing.assert_allclose(pr.precision, precision[::-1])
    np.testing.assert_allclose(pr.recall, recall[::-1])


@given(both_classes)
def test_auc_is_the_area_under_the_curve_and_turns_with_the_scores(rows: list[tuple[bool, float]]) -> None:
    gold, scores = (np.array(part) for part in zip(*rows, strict=True))
    area, roc = c.auc(gold, scores), c.roc_curve(gold, scores)
    assert roc is not None
    assert area is not None
    assert area == pytest.approx(np.trapezoid(roc.true_positive_rate, roc.false_positive_rate))
    assert c.auc(gold, -scores) == pytest.approx(1 - area)


EVERY: list[Callable[[Any, Any], Any]] = [c.auc, c.roc_curve, c.pr_curve]
every = pytest.mark.parametrize("statistic", EVERY, ids=lambda one: str(one.__name__))


@every
def test_nothing_is_undefined(statistic: Callable[[Any, Any], Any]) -> None:
    assert statistic([], []) is None


@pytest.mark.parametrize(
    ("gold", "undefined"),
    [
        ([True, True], {"auc", "roc_curve"}),
        ([False, False], {"auc", "roc_curve", "pr_curve"}),
    ],
)
def test_one_class_only(gold: list[bool], undefined: set[str]) -> None:
    assert {one.__name__ for one in EVERY if one(gold, [True, False]) is None} == undefined


@every
def test_refuses_lengths_that_differ(statistic: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(ValueError, match=r"lengths differ: gold has 2, scores has 1"):
        statistic([True, False], [True])


@every
def test_refuses_missing_values_and_says_where(statistic: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(ValueError, match=r"^scores\[2\] is nan; exclude that sample"):
        statistic([True, False, True], [1, 0, None])
    with pytest.raises(ValueError, match=r"^gold\[1\] is nan"):
        statistic([1, np.nan], [1, 0])


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        ([1, 2], r"gold\[1\] is 2; expected True or False"),
        ([[True, False]], r"gold: expected one dimension, found shape \(1, 2\)"),
        (["yes", "no"], "gold: expected numbers in one dimension"),
    ],
)
def test_refuses_what_is_no_label(gold: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        c.auc(gold, [True, False])
