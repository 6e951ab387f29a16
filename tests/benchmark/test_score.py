"""From verdicts to numbers, worked out by hand."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.benchmark.benchmark import ACCURACY, Benchmark, Figure, Label, Verdict
from mores.benchmark.choice import grade_truth
from mores.benchmark.msqa import FIGURES
from mores.benchmark.msqa.judge import JUDGE
from mores.benchmark.score import BenchResult, VerdictScores
from mores.stats.classification import ratios
from mores.types import Failure, FailureKind, Item, Result, Signature

RIGHT, WRONG, NONE = Label.CORRECT, Label.INCORRECT, Label.NOT_ATTEMPTED
BENCH = Benchmark(
    name="x", title="X", version="1", licence="-", homepage="-", files="-", source="x", read=lambda *_: iter(()),
    grade=grade_truth, groupings=("region", "mode"),
)  # fmt: skip


def every(result: BenchResult) -> Iterator[tuple[str, str, str, Result]]:
    """Grouping, group, figure and result of everything in a result; the overall ones have no grouping."""
    for name, figure in result.figures.items():
        yield "", "", name, figure
    for grouping, groups in result.by.items():
        for group, figures in groups.items():
            for name, figure in figures.items():
                yield grouping, group, name, figure


def item(unit: str, part: int = 0, region: str | None = "DE", **metadata: str) -> Item:
    return Item(id=f"{unit}.{part}", prompt="?", region=region, metadata={"unit": unit, **metadata})


def verdict(of: Item, label: Label | None, sample: int = 0) -> Verdict:
    failure = None if label else Failure(kind=FailureKind.PARSE, reason="?")
    return Verdict(item_id=of.id, sample=sample, unit=of.metadata["unit"], label=label, failure=failure)


def score(questions: Sequence[tuple[Item, Sequence[Label | None]]], bench: Benchmark = BENCH) -> BenchResult:
    """Questions of one part, each with a label for each sample."""
    scores = VerdictScores(bench, [question for question, _ in questions])
    for question, labels in questions:
        for sample, label in enumerate(labels):
            scores.add(verdict(question, label, sample))
    return scores.result("m", None, Signature())


def test_a_part_of_a_country_counts_once_under_it_and_once_beside_it() -> None:
    regions = ["ES", "ES-CT", "ES-CT", "XX-KURDISTAN", "Atlantis"]
    result = score([(item(str(n), region=code), [RIGHT if n % 2 else WRONG]) for n, code in enumerate(regions)])
    counts = {
        grouping: {g: figures["accuracy"].n for g, figures in groups.items()} for grouping, groups in result.by.items()
    }
    assert counts == {"region": {"Atlantis": 1, "ES": 3, "XX-KURDISTAN": 1}, "subregion": {"ES-CT": 2}}
    assert result.by["region"]["ES"]["accuracy"].value == pytest.approx(1 / 3)
    assert result.by["subregion"]["ES-CT"]["accuracy"].value == 0.5


def test_answers_that_the_judge_failed_to_grade_may_count_as_wrong() -> None:
    items = [item("a"), item("b"), item("c")]
    failure = Failure(kind=FailureKind.PARSE, reason="?")
    verdicts = [
        verdict(items[0], RIGHT),
        Verdict(item_id="b.0", unit="b", answer="said", failure=failure),  # the judge failed
        Verdict(item_id="c.0", unit="c", failure=failure),  # the model did
    ]

    judged = replace(BENCH, grade=None, judging=JUDGE)

    def result(unjudged: Label | None, bench: Benchmark = judged) -> BenchResult:
        scores = VerdictScores(bench, items, unjudged)
        for each in verdicts:
            scores.add(each)
        return scores.result("m", None, Signature())

    kept, theirs = result(None).figures["accuracy"], result(WRONG).figures["accuracy"]
    assert (kept.value, kept.n, kept.unscored) == (1, 1, 2)
    assert (theirs.value, theirs.n, theirs.unscored) == (0.5, 2, 1)
    assert result(WRONG).failures == {"parse": 2}
    ruled = result(WRONG, BENCH).figures["accuracy"]  # what a rule cannot read is no failure of a judge
    assert (ruled.value, ruled.n, ruled.unscored) == (1, 1, 2)


def test_measures_are_averaged_where_they_apply() -> None:
    items = [item("a"), item("b"), item("c", region="FR")]
    scores = VerdictScores(replace(BENCH, figures={}), items)
    for part, values in zip(items, ({"S": 0.5, "precision": 0.4}, {"S": None}, {"S": 0.0}), strict=True):
        scores.add(Verdict(item_id=part.id, unit=part.metadata["unit"], answer="x", values=values))
    result = scores.result("m", None, Signature())
    overall = result.figures["S"]
    assert (overall.value, overall.n, overall.unscored) == (0.25, 2, 1)
    assert overall.bounds == (0.5 / 3, 1.5 / 3)  # the third may have anything from 0 to 1
    assert overall.low is not None
    assert overall.high is not None
    assert 0 < overall.low < 0.25
    assert 0.7 < overall.high < 1  # two answers say little
    assert (result.figures["precision"].value, result.figures["precision"].n, result.figures["precision"].unscored) == (
        0.4,
        1,
        0,
    )
    assert result.by["region"]["FR"]["precision"].value is None
    assert result.failures == {}


def together(*labels: Label | None) -> BenchResult:
    """One question of several parts."""
    parts = [item("q", number) for number in range(len(labels))]
    scores = VerdictScores(BENCH, parts)
    for part, label in zip(parts, labels, strict=True):
        scores.add(verdict(part, label))
    return scores.result("m", None, Signature())


@pytest.mark.parametrize(
    ("labels", "value", "unscored"),
    [
        ((RIGHT, RIGHT, RIGHT, RIGHT), 1.0, 0),
        ((RIGHT, RIGHT, RIGHT, WRONG), 0.0, 0),
        ((RIGHT, RIGHT, RIGHT, None), None, 1),
        ((WRONG, RIGHT, RIGHT, None), None, 1),  # as above, so that unread parts take no side
        ((None, None, None, None), None, 1),
        ((RIGHT, NONE, RIGHT, RIGHT), 0.0, 0),
    ],
)
def test_a_question_is_right_when_all_its_parts_are(
    labels: tuple[Label | None, ...], value: float | None, unscored: int
) -> None:
    result = together(*labels)
    assert result.questions == 1
    assert (result.figures["accuracy"].value, result.figures["accuracy"].unscored) == (value, unscored)
    assert result.rows is not None
    graded = [label for label in labels if label]
    assert result.rows.n == len(graded)
    assert result.rows.value == (graded.count(RIGHT) / len(graded) if graded else None)
    assert result.failures == ({"parse": labels.count(None)} if None in labels else {})


@pytest.mark.slow
def test_unread_parts_do_not_make_a_model_look_worse() -> None:
    """Three of four questions are correct, and one statement in 25 cannot be read, whatever it says."""
    chance = random.Random(5)
    scores = VerdictScores(BENCH, [item(str(n), part) for n in range(3000) for part in range(4)])
    for n in range(3000):
        labels = [RIGHT] * 4 if n % 4 else [RIGHT, WRONG, RIGHT, WRONG]
        for part, label in enumerate(labels):
            scores.add(verdict(item(str(n), part), None if chance.random() < 0.04 else label))
    result = scores.result("m", None, Signature())
    overall = result.figures["accuracy"]
    assert overall.unscored == pytest.approx(3000 * (1 - 0.96**4), abs=80)
    assert overall.low is not None
    assert overall.high is not None
    assert overall.low < 0.75 < overall.high  # counting "wrong and unread" as wrong gives 0.724, far below
    assert overall.bounds is not None
    assert overall.bounds[0] < 0.75 < overall.bounds[1]


def test_bounds_say_what_the_unscored_could_be() -> None:
    labels = [RIGHT, RIGHT, RIGHT, WRONG, RIGHT, None, WRONG, None, None, None]
    items = [item(str(n), place) for n in range(5) for place in range(2)]
    scores = VerdictScores(BENCH, items)
    for part, label in zip(items, labels, strict=True):
        scores.add(verdict(part, label))
    result = scores.result("m", None, Signature())
    overall = result.figures["accuracy"]
    assert (overall.value, overall.n, overall.unscored) == (0.5, 2, 3)
    assert overall.bounds == (1 / 5, 4 / 5)  # all three wrong, or all correct
    assert result.rows is not None
    assert (result.rows.n, result.rows.unscored, result.rows.bounds) == (6, 4, (4 / 10, 8 / 10))
    assert result.by["region"]["DE"]["accuracy"].bounds == overall.bounds
    assert together(RIGHT, RIGHT).figures["accuracy"].bounds is None


def test_bounds_of_ratios() -> None:
    """Two correct, one incorrect, one not attempted, and two that nobody knows: F = 2c/(n + c + w)."""
    labels = [RIGHT, RIGHT, WRONG, NONE, None, None]
    scored = score([(item(str(n)), [label]) for n, label in enumerate(labels)], replace(BENCH, figures=FIGURES))
    bounds = {name: result.bounds for name, result in scored.figures.items()}
    assert bounds == {
        "F": (4 / 11, 8 / 11),
        "CO": (2 / 6, 4 / 6),
        "NA": (1 / 6, 3 / 6),
        "IN": (1 / 6, 3 / 6),
        "CGA": (2 / 5, 4 / 5),
    }


def test_what_cannot_be_graded_is_counted_and_in_no_mean() -> None:
    labels = [RIGHT] * 3 + [WRONG] * 5 + [NONE] * 2 + [None] * 4
    scored = score([(item(str(n)), [label]) for n, label in enumerate(labels)])
    result = scored.figures["accuracy"]
    assert (result.value, result.n, result.unscored) == (0.3, 10, 4)
    assert [result.low, result.high] == pytest.approx([0.06674, 0.65245], abs=1e-5)  # Clopper-Pearson of 3 of 10
    assert scored.rows is None  # there are no questions of several parts
    assert scored.failures == {"parse": 4}


def test_nothing_graded_is_no_number() -> None:
    scored = score([(item("q"), [None])])
    result = scored.figures["accuracy"]
    assert (result.value, result.low, result.high, result.n, result.unscored) == (None, None, None, 0, 1)


def test_groups_by_field_and_by_metadata() -> None:
    result = score(
        [
            (item("a", region="DE", mode="single"), [RIGHT]),
            (item("b", region="DE", mode="multi"), [WRONG]),
            (item("c", region="JP", mode="single"), [RIGHT]),
            (item("d", region=None), [WRONG]),
        ]
    )
    values = {
        grouping: {group: (figures["accuracy"].value, figures["accuracy"].n) for group, figures in groups.items()}
        for grouping, groups in result.by.items()
    }
    assert values == {"region": {"DE": (0.5, 2), "JP": (1.0, 1)}, "mode": {"multi": (0.0, 1), "single": (1.0, 2)}}
    assert [place[:3] for place in every(result)][:2] == [("", "", "accuracy"), ("region", "DE", "accuracy")]


def test_a_grouping_without_groups_is_left_out() -> None:
    assert set(score([(item("a"), [RIGHT])]).by) == {"region"}


def test_samples_of_one_question_go_together() -> None:
    """All-or-nothing questions: the interval is that of 20 answers, not of 200."""
    scored = score([(item(str(n)), [RIGHT if n < 10 else WRONG] * 10) for n in range(20)])
    result = scored.figures["accuracy"]
    assert (scored.samples, result.n, result.value) == (10, 200, 0.5)
    single = score([(item(str(n)), [RIGHT if n < 10 else WRONG]) for n in range(20)]).figures["accuracy"]
    assert (result.low, result.high) == pytest.approx((single.low, single.high))
    assert (result.low, result.high) == pytest.approx((0.2720, 0.7280), abs=5e-5)  # Clopper-Pearson of 10 of 20
    mixed = score([(item(str(n)), [RIGHT, WRONG] * 5) for n in range(20)]).figures["accuracy"]
    assert mixed.low is not None
    assert mixed.high is not None
    assert 0.3 < mixed.low < 0.45 < 0.55 < mixed.high < 0.7  # every question is half right, and another may not be


@pytest.mark.parametrize("label", [RIGHT, WRONG, NONE])
@pytest.mark.parametrize("samples", [1, 5])
def test_answers_that_are_all_alike_are_no_reason_for_certainty(label: Label, samples: int) -> None:
    """88 questions without a single refusal may have 4% of them; that each is asked five times does not change it."""
    bench = replace(BENCH, figures=FIGURES)
    result = score([(item(str(n)), [label] * samples) for n in range(88)], bench).figures
    for name in ("CO", "NA", "IN"):
        ends = (0.9589, 1.0) if result[name].value else (0.0, 0.0411)  # 1 - 0.025 ** (1 / 88)
        assert (result[name].low, result[name].high) == pytest.approx(ends, abs=5e-5)


def test_parts_of_one_question_go_together() -> None:
    """Right parts are counted one by one, but four parts of a question are not four questions."""
    parts = [item(str(n), place) for n in range(20) for place in range(4)]
    scores = VerdictScores(BENCH, parts)
    for part in parts:
        scores.add(verdict(part, RIGHT))
    rows = scores.result("m", None, Signature()).rows
    assert rows is not None
    assert (rows.n, rows.value, rows.high) == (80, 1.0, 1.0)
    assert rows.low == pytest.approx(0.8316, abs=5e-5)  # of 20, not of 80, for which it is 0.9549


def test_the_same_verdicts_give_the_same_interval() -> None:
    questions = [(item(str(n)), [RIGHT if n % 3 else WRONG, RIGHT]) for n in range(30)]
    assert score(questions) == score(questions)


def test_other_figures_are_made_of_the_counts() -> None:
    bench = replace(BENCH, figures={"of attempted": Figure((1, 0, 0), (1, 1, 0)), **ACCURACY})
    labels = [RIGHT] * 6 + [WRONG] * 2 + [NONE] * 2
    result = score([(item(str(n)), [label]) for n, label in enumerate(labels)], bench)
    assert list(result.figures) == ["of attempted", "accuracy"]
    assert (result.figures["of attempted"].value, result.figures["accuracy"].value) == (0.75, 0.6)
    ends = result.figures["of attempted"].low, result.figures["of attempted"].high
    assert ends == pytest.approx((0.3491, 0.9681), abs=5e-5)  # Clopper-Pearson of 6 of 8
    nothing = score([(item("q"), [NONE])], bench)
    assert nothing.figures["of attempted"].value is None
    assert nothing.figures["accuracy"].value == 0.0


def test_several_answers_to_one_question_say_little_of_others() -> None:
    alone = score([(item("q"), [RIGHT, RIGHT, WRONG])]).figures["accuracy"]
    assert alone.value == 2 / 3
    assert alone.low is not None
    assert alone.high is not None
    assert alone.low < 0.1
    assert alone.high > 0.95


def test_no_division_by_zero() -> None:
    result = ratios(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    assert result[0] == 0.5
    assert np.isnan(result[1])


@pytest.mark.slow
@given(st.lists(st.lists(st.sampled_from([RIGHT, WRONG, NONE, None]), min_size=3, max_size=3), min_size=1, max_size=12))
def test_every_verdict_is_counted_once_and_values_lie_in_their_intervals(answers: list[list[Label | None]]) -> None:
    scored = score([(item(str(n), region="DE" if n % 2 else "JP"), labels) for n, labels in enumerate(answers)])
    for _, _, _, result in every(scored):
        if result.low is not None and result.high is not None:
            assert result.value is not None
            assert 0 <= result.low <= result.value + 1e-9
            assert result.value - 1e-9 <= result.high <= 1
        if result.bounds and result.value is not None:
            assert 0 <= result.bounds[0] <= result.value <= result.bounds[1] <= 1
    overall = scored.figures["accuracy"]
    assert (overall.bounds is None) == (overall.unscored == 0)
    assert overall.n + overall.unscored == 3 * len(answers)
    assert sum(scored.by["region"][group]["accuracy"].n for group in scored.by["region"]) == overall.n


def test_results_are_written_and_read(tmp_path: Path) -> None:
    result = score([(item("a"), [RIGHT])])
    path = tmp_path / "result.json"
    path.write_text(result.model_dump_json())
    assert BenchResult.model_validate_json(path.read_bytes()) == result
