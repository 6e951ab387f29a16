"""One metric against gold reports: by hand, against the plain functions, and where nothing is defined."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from mores.factory.gold import Gold
from mores.factory.items import Task
from mores.metaevaluation.evaluate import (
    COUNTED,
    Scored,
    count,
    evaluate,
    influences,
    join,
    label_groups,
    measure_reports,
)
from mores.metaevaluation.records import STATISTICS, MetricEvaluation
from mores.stats import classification, correlation, ties
from mores.types import Error, ErrorReport, FailureKind, JudgedClaim, Judgement, Result, Severity, Signature
from tests.metaevaluation.golds import error, gold, labelled, says, scores

WITHOUT_REPORTS = [name for name in STATISTICS if not name.startswith(("span", "explanation"))]


def evaluated(golds: list[Gold], values: list[float | None], **given: Any) -> MetricEvaluation:
    return evaluate("m", golds, join(golds, scores(golds, values)), **given)


def random_golds(count: int, seed: int, size: int = 1) -> tuple[list[Gold], list[float | None]]:
    """Samples with a metric that is right about three of four, `size` of each in a group that it treats alike."""
    draw = random.Random(seed)
    golds, values = [], []
    for group in range(count // size):
        wrong, right = draw.random() < 0.4, draw.random() < 0.75
        for i in range(size):
            golds.append(labelled(f"{group}-{i}", wrong, group=f"g{group}"))
            values.append(-float(draw.randint(1, 5)) if wrong == right else draw.random())
    return golds, list(values)


# Counts


def test_four_counts_by_hand() -> None:
    # 3 true positives, 1 false positive, 2 false negatives, 4 true negatives.
    wrong = [True] * 5 + [False] * 5
    values: list[float | None] = [-1, -5, -2, 0, 0.9, -1, 0.5, 0, 1, 0.2]
    found = evaluated([labelled(str(i), label) for i, label in enumerate(wrong)], values)
    expected = {
        "scaled_accuracy": 2 * 7 / 10 - 1,
        "balanced_accuracy": (3 / 5 + 4 / 5) / 2,
        "f1": 6 / 9,
        "mcc": (3 * 4 - 1 * 2) / (4 * 5 * 5 * 6) ** 0.5,
        "correct_passed": 4 / 5,
        "errors_found": 3 / 5,
    }
    assert {name: found.scores[name].value for name in expected} == pytest.approx(expected)
    assert (found.n, found.unscored, found.failures) == (10, 0, {})


@pytest.mark.slow
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=12))
def test_the_counted_statistics_are_the_plain_ones(rows: list[tuple[bool, bool]]) -> None:
    wrong, found = np.array(rows).T
    cells = np.array([[wrong & found], [~wrong & found], [wrong & ~found], [~wrong & ~found]]).sum(axis=2)
    plain = {
        "scaled_accuracy": 2 * metrics.accuracy_score(wrong, found) - 1,
        "balanced_accuracy": metrics.balanced_accuracy_score(wrong, found) if len(set(wrong)) == 2 else None,
        "f1": metrics.f1_score(wrong, found) if (wrong | found).any() else None,
        "mcc": metrics.matthews_corrcoef(wrong, found) if len({*wrong, *found}) == 2 else 0.0,
        "correct_passed": metrics.recall_score(~wrong, ~found) if not wrong.all() else None,
        "errors_found": metrics.recall_score(wrong, found) if wrong.any() else None,
    }
    assert plain.keys() == COUNTED.keys()
    for name, expected in plain.items():
        value = float(COUNTED[name](cells.astype(np.float64))[0])
        assert (None if np.isnan(value) else value) == (None if expected is None else pytest.approx(expected)), name


def test_the_other_statistics_are_the_plain_ones() -> None:
    golds, values = random_golds(60, 3)
    found = evaluated(golds, values).scores
    truth, said = Scored(golds, []).gold, np.array(values, dtype=np.float64)
    calibrated = ties.calibrate_ties(truth, said)
    assert calibrated is not None
    assert found["kendall"].value == pytest.approx(correlation.kendall_tau_b(truth, said))
    assert found["kendall_c"].value == pytest.approx(correlation.kendall_tau_c(truth, said))
    assert found["tie_accuracy"].value == pytest.approx(calibrated.accuracy)
    assert found["auc"].value == pytest.approx(classification.auc(truth < 0, -said))
    assert set(found) == set(WITHOUT_REPORTS)
    assert {name: result.name for name, result in found.items()} == {name: name for name in found}


def test_a_gold_score_is_the_sum_of_the_severities() -> None:
    text = "They eat bread."
    one = gold("a", error(text, "They"), error(text, "eat", Severity.MINOR), error(text, "bread", Severity.MINOR))
    assert Scored([one, gold("b")], []).gold.tolist() == [-7, 0]


def test_a_perfect_metric_and_one_that_is_always_wrong() -> None:
    golds = [labelled(str(i), i % 2 == 0) for i in range(20)]
    perfect, opposite = (
        evaluated(golds, [sign * (-1.0 if i % 2 == 0 else 1.0) for i in range(20)]) for sign in (1, -1)
    )
    for name in ("scaled_accuracy", "balanced_accuracy", "f1", "mcc", "auc", "kendall", "tie_accuracy"):
        assert perfect.scores[name].value == pytest.approx(1)
        least = 0.0 if name in ("balanced_accuracy", "f1", "auc", "tie_accuracy") else -1.0
        low = perfect.scores[name].low
        assert low is not None
        assert (1 + least) / 2 < low < 0.9  # of 20 samples; never a point
        assert perfect.scores[name].high == 1
    assert opposite.scores["scaled_accuracy"].value == -1
    assert opposite.scores["auc"].value == 0
    assert opposite.scores["kendall"].value == pytest.approx(-1)


# What has no score


def test_what_has_no_score_is_counted_and_left_out() -> None:
    golds = [labelled(str(i), i % 2 == 0) for i in range(8)]
    judgements = scores(golds[:4], [-1, 1, -1, 1])
    judgements |= {"4": says("4", None), "5": says("5", None), "6": says("6", None, FailureKind.MODEL)}
    judgements["of another dataset"] = says("of another dataset", -1)
    scored = join(golds, judgements)
    assert [one.sample.id for one in scored.golds] == ["0", "1", "2", "3"]
    assert (scored.unscored, scored.failures) == (4, {"parse": 2, "model": 1, "missing": 1})
    found = evaluate("m", golds, scored)
    assert (found.n, found.unscored, found.failures) == (4, 4, {"parse": 2, "model": 1, "missing": 1})
    assert found.scores["scaled_accuracy"].value == 1
    assert {(result.n, result.unscored) for result in found.scores.values()} == {(4, 4)}
    assert (found.by["source"]["made-up"]["scaled_accuracy"].unscored, found.by["source"]["made-up"]["kendall"].n) == (
        4,
        4,
    )


@pytest.mark.parametrize(
    ("wrong", "values", "defined"),
    [
        ([True, False], [None, None], set()),
        ([], [], set()),
        ([True], [-1.0], {"scaled_accuracy", "f1", "mcc", "errors_found"}),
        ([False], [0.5], {"scaled_accuracy", "mcc", "correct_passed"}),
        ([True] * 3, [-1.0, -2.0, 0.0], {"scaled_accuracy", "f1", "mcc", "errors_found", "tie_accuracy"}),
        ([False] * 3, [0.0, -2.0, 0.0], {"scaled_accuracy", "f1", "mcc", "correct_passed", "tie_accuracy"}),
        ([True, False] * 2, [0.0] * 4,
         set(WITHOUT_REPORTS) - {"kendall", "kendall_c"}),
    ],
    ids=["all failed", "no samples", "one wrong", "one right", "only wrong", "only right", "all tied"],
)  # fmt: skip
def test_what_is_undefined_has_no_value(wrong: list[bool], values: list[float | None], defined: set[str]) -> None:
    golds = [labelled(str(i), label) for i, label in enumerate(wrong)]
    found = evaluated(golds, values)
    assert {name for name, result in found.scores.items() if result.value is not None} == defined
    assert set(found.scores) == set(WITHOUT_REPORTS)
    for result in found.scores.values():
        if result.value is None:
            assert result.low is result.high is None
    assert MetricEvaluation.model_validate_json(found.model_dump_json()) == found
    assert (found.roc is None) == ("auc" not in defined)
    if not any(value is not None for value in values):
        assert (found.distribution, found.tie_epsilon, found.signature) == (None, None, Signature())


# Intervals


@pytest.mark.parametrize("seed", range(5))
def test_intervals_hold_the_value(seed: int) -> None:
    found = evaluated(*random_golds(80, seed))
    for name, result in found.scores.items():
        if name != "kendall_c":
            assert result.value is not None
            assert result.low is not None
            assert result.high is not None
            assert -1 <= result.low < result.value < result.high <= 1


def width(result: Result) -> float:
    assert result.low is not None
    assert result.high is not None
    return result.high - result.low


@pytest.mark.parametrize(
    "name", ["scaled_accuracy", "balanced_accuracy", "f1", "mcc", "kendall", "tie_accuracy", "auc"]
)
def test_samples_of_one_item_are_worth_less_than_those_of_many(name: str) -> None:
    golds, values = random_golds(120, 1, size=6)
    apart = [one.model_copy(update={"group": ""}) for one in golds]
    clustered, independent = (evaluated(own, values).scores[name] for own in (golds, apart))
    assert clustered.value == independent.value
    assert width(clustered) > 1.4 * width(independent)
    if name != "tie_accuracy":
        once, repeated = evaluated(golds[::6], values[::6]).scores[name], width(clustered)
        assert repeated == pytest.approx(width(once), rel=0.5)


def test_influences_that_are_known_are_used() -> None:
    golds, values = random_golds(30, 2)
    scored = join(golds, scores(golds, values))
    assert evaluate("m", golds, scored, influences(scored)) == evaluate("m", golds, scored)


# Groups


def test_groups_and_the_correct_samples_of_the_same_sources() -> None:
    golds = [
        labelled("a1", True, source="a", language="de", region="DE"),
        labelled("a2", False, source="a", language="de", region="AT"),
        labelled("b1", True, source="b", language="ja", kind="soft", task=Task.QA),
        labelled("b2", False, source="b", language=None, region=None),
        labelled("c1", True, source="c", kind="soft"),
        labelled("c2", True, source="c"),
        labelled("c3", False, source="c"),
        labelled("d", False, source="d"),
    ]
    assert count(label_groups(golds))["kind"] == {"hard": 4, "soft": 4}
    of_kind = [{group for grouping, group in own if grouping == "kind"} for own in label_groups(golds)]
    assert of_kind == [{"hard"}, {"hard"}, {"soft"}, {"soft"}, {"soft"}, {"hard"}, {"hard", "soft"}, set()]
    assert count(label_groups(golds))["source"] == {"c": 3, "a": 2, "b": 2, "d": 1}
    assert count(label_groups(golds))["language"] == {"en": 4, "de": 2, "ja": 1, "unknown": 1}
    assert count(label_groups(golds))["region"]["unknown"] == 1
    assert count(label_groups(golds))["task"] == {"freeform": 7, "qa": 1}
    found = evaluated(golds, [-1, 1, 1, 1, None, -1, -1, 0]).by
    assert found["source"]["a"]["scaled_accuracy"].value == 1
    assert found["source"]["b"]["scaled_accuracy"].value == 0
    assert found["kind"]["hard"]["scaled_accuracy"].value == 2 * 3 / 4 - 1
    assert found["kind"]["soft"]["scaled_accuracy"].value == pytest.approx(2 * 1 / 3 - 1)
    assert (found["kind"]["soft"]["kendall"].n, found["kind"]["soft"]["kendall"].unscored) == (3, 1)
    assert found["source"]["a"]["kendall"].value == 1
    assert found["source"]["d"]["kendall"].value is None
    assert {grouping: list(groups) for grouping, groups in found.items()} == {
        grouping: list(groups) for grouping, groups in count(label_groups(golds)).items()
    }


def test_parts_of_a_country_count_under_it_and_beside_it() -> None:
    golds = [
        labelled(str(n), bool(n % 2), region=code) for n, code in enumerate(["ES", "ES-CT", "ES-CT", "XX-KURDISTAN"])
    ]
    assert count(label_groups(golds))["region"] == {"ES": 3, "XX-KURDISTAN": 1}
    assert count(label_groups(golds))["subregion"] == {"ES-CT": 2}


def test_a_group_without_any_score() -> None:
    golds = [labelled("a", True, source="a"), labelled("b", False, source="b")]
    found = evaluated(golds, [-1, None]).by["source"]["b"]["scaled_accuracy"]
    assert (found.value, found.low, found.n, found.unscored) == (None, None, 0, 1)


# Drawings and signatures


def test_curves_are_thinned_and_whole() -> None:
    draw = random.Random(1)
    golds = [labelled(str(i), i % 3 == 0) for i in range(1000)]
    found = evaluated(golds, [draw.random() - 0.5 for _ in golds])
    assert found.roc is not None
    assert found.pr is not None
    assert len(found.roc.x) == 200
    assert (found.roc.x[0], found.roc.y[0], found.roc.x[-1], found.roc.y[-1]) == (0, 0, 1, 1)
    assert (found.pr.x[0], found.pr.x[-1]) == (0, 1)
    assert found.distribution is not None
    assert {kind: sum(bars) for kind, bars in found.distribution.counts.items()} == {"correct": 666, "hard": 334}
    assert len(found.distribution.edges) == len(found.distribution.counts["hard"]) + 1


def test_precision_of_a_metric_that_tells_nothing_is_the_share_of_errors() -> None:
    found = evaluated([labelled(str(i), i % 4 == 0) for i in range(40)], [-1.0] * 40).pr
    assert found is not None
    assert (found.x, found.y) == ((0, 1), (0.25, 0.25))


def test_the_signature_is_that_of_all_judgements() -> None:
    golds = [labelled("a", True), labelled("b", False)]

    def signed(*signatures: Signature) -> Signature:
        own = {one.sample.id: says(one.sample.id, 0, signature=s) for one, s in zip(golds, signatures, strict=True)}
        return evaluate("m", golds, join(golds, own)).signature

    x, y = Signature(metric="x", mores="1"), Signature(metric="y", mores="1")
    assert signed(x, x) == x
    assert signed(x, y) == {"metric": "several", "mores": "1"}
    assert signed(Signature(metric="x"), x) == {"metric": "x", "mores": "several"}


# Reports


TEXT = "Germans eat sushi every morning."


def reported(*errors: Error, explanation: str = "") -> Judgement:
    report = ErrorReport(errors=errors, explanation=explanation, certainty=0.9)
    return says("a", float(sum(e.severity.weight for e in errors)) or 0.9, report=report)


def found_quality(golds: list[Gold], judgements: list[Judgement]) -> dict[str, float | None]:
    return {result.name: result.value for result in measure_reports(golds, judgements)}


def test_span_f1_by_hand() -> None:
    gold_error = error(TEXT, "sushi")  # 5 characters, 1 word
    one = gold("a", gold_error, text=TEXT, instruction="What is eaten?")
    same = found_quality([one], [reported(gold_error)])
    assert same == {"span_f1": 1, "span_f1_tokens": 1, "span_f1_severity": 1}
    wider = found_quality([one], [reported(error(TEXT, "eat sushi"))])  # 9 characters, of which 5; 2 words, of which 1
    assert wider == pytest.approx({"span_f1": 10 / 14, "span_f1_tokens": 2 / 3, "span_f1_severity": 10 / 14})
    milder = found_quality([one], [reported(error(TEXT, "sushi", Severity.MINOR))])
    assert milder == {"span_f1": 1, "span_f1_tokens": 1, "span_f1_severity": 0.5}
    other_side = found_quality([one], [reported(error("What is eaten?", "What", side="instruction"))])
    assert set(other_side.values()) == {0.0}


def test_span_f1_is_over_all_samples_and_both_sides() -> None:
    golds = [gold("a", error(TEXT, "sushi"), text=TEXT), gold("b", text=TEXT, instruction="Say hi")]
    clean, noisy = reported(), reported(error("Say hi", "Say", side="instruction"))
    assert found_quality(golds, [reported(error(TEXT, "sushi")), noisy])["span_f1"] == pytest.approx(10 / 13)
    assert found_quality(golds, [clean, clean])["span_f1"] == 0
    unlocated = Error(side="text", quote="pizza", severity=Severity.MAJOR, type="t")
    assert found_quality(golds[:1], [reported(unlocated)])["span_f1"] == 0


def test_explanations_that_name_the_right_answer() -> None:
    golds = [gold(str(i), error(TEXT, "sushi"), text=TEXT, answer="Bread rolls") for i in range(5)]
    golds.append(gold("soft", error(TEXT, "sushi"), text=TEXT))
    judgements = [
        reported(error(TEXT, "sushi", why="They eat Bread rolls.")),
        reported(error(TEXT, "sushi"), explanation="Rather: bread  rolls!"),
        reported(error(TEXT, "sushi", why="They eat cheese.")),
        reported(explanation="Bread rolls"),  # no error found: not counted
        says("4", -1),  # no report: not counted
        reported(error(TEXT, "sushi", why="Bread rolls")),  # no right answer known: not counted
    ]
    found = {result.name: result for result in measure_reports(golds, judgements)}
    assert found["explanation_verbatim"].value == pytest.approx(1 / 3)
    assert found["explanation"].value == pytest.approx(2 / 3)
    assert found["explanation_verbatim"].n == found["explanation"].n == 3
    assert found["explanation"].low is not None
    assert found["explanation"].low < 2 / 3
    assert found["span_f1"].n == 5


def test_a_metric_without_reports_has_no_quality() -> None:
    assert list(measure_reports([gold("a")], [says("a", 1)])) == []
    assert list(measure_reports([], [])) == []
    clean = found_quality([gold("a")], [reported()])
    assert clean == {"span_f1": 1, "span_f1_tokens": 1, "span_f1_severity": 1}


def test_confidence_is_measured_where_a_metric_states_it() -> None:
    golds = [labelled(str(n), wrong=n % 2 == 0) for n in range(40)]
    own = {}
    for n, one in enumerate(golds):
        is_correct = n % 5 > 0  # 32 of 40 verdicts, each stated with 0.9
        score = -5.0 if (n % 2 == 0) == is_correct else 0.5
        own[one.sample.id] = says(one.sample.id, score, report=ErrorReport(confidence=0.9))
    undecided = ErrorReport(claims=(JudgedClaim(start=0, end=1, decision="unknown"),))
    own["0"] = Judgement(sample_id="0", judge="j", score=None, report=undecided)
    found = evaluate("m", golds, join(golds, own))
    assert found.failures == {"not known": 1}
    assert found.calibration["accuracy"].value == pytest.approx(32 / 39)
    assert found.calibration["ECE"].value == pytest.approx(100 * (0.9 - 32 / 39))
    assert found.calibration["ECE"].unscored == 1
    assert evaluated(golds, [0.5] * 40).calibration == {}
