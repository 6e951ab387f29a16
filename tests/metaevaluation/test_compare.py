"""Comparisons of metrics, of judges and of texts."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from mores.errors import ConfigError, InputError
from mores.factory.gold import Gold
from mores.formatting import span
from mores.metaevaluation.compare import (
    compare_all,
    compare_groups,
    compare_judges,
    compare_texts,
    shared,
)
from mores.metaevaluation.evaluate import Scored, influences, join
from mores.metaevaluation.records import JudgementComparison, MetricComparison
from mores.metric.groups import FEWEST
from mores.report.meta import describe_versus
from mores.types import Judgement, Signature
from tests.metaevaluation.golds import labelled, says, scores

GOLDS = [labelled(str(i), i % 2 == 0, source="ab"[i % 4 // 2]) for i in range(200)]
SIGNED = Signature(metric="x.1", model="m", mores="1", data="d")


def judge(skill: float, seed: int, golds: list[Gold] = GOLDS) -> list[float | None]:
    """Scores of a judge that is right with this probability."""
    draw = random.Random(seed)
    right = [draw.random() < skill for _ in golds]
    return [
        -draw.randint(1, 5) if bool(gold.report.errors) == hit else draw.random()
        for gold, hit in zip(golds, right, strict=True)
    ]


def scored(values: list[float | None], golds: list[Gold] = GOLDS) -> Scored:
    return join(golds, scores(golds, values))


def all_of(metrics: dict[str, Scored]) -> dict[tuple[str, str, str], MetricComparison]:
    found = compare_all(metrics, {name: influences(one) for name, one in metrics.items()})
    return {(one.statistic, one.first, one.second): one for one in found}


def two_judges() -> JudgementComparison:
    return compare_judges(("A", "B"), scores(GOLDS, judge(0.9, 1)), scores(GOLDS, judge(0.7, 2)), GOLDS)


# Metrics


def test_better_metrics_are_significantly_better_and_equal_ones_are_not() -> None:
    metrics = {
        "good": scored(judge(0.95, 1)), "fair": scored(judge(0.7, 2)), "as fair": scored(judge(0.7, 3)),
        "fair again": scored(judge(0.7, 2)),
    }  # fmt: skip
    found = all_of(metrics)
    assert len(found) == 6 * 4
    for statistic in ("scaled_accuracy", "kendall", "tie_accuracy", "auc"):
        for other in ("fair", "as fair", "fair again"):
            one = found[statistic, "good", other]
            assert one.difference > 0
            assert one.adjusted < 0.01
            assert one.low is not None
            assert one.low > 0
        assert found[statistic, "fair", "as fair"].p > 0.05
        same = found[statistic, "fair", "fair again"]
        assert (same.difference, same.p, same.adjusted) == (0, 1, 1)
    assert all(one.p <= one.adjusted <= 1 for one in found.values())
    assert any(one.p < one.adjusted for one in found.values())
    assert found["scaled_accuracy", "good", "fair"].p == pytest.approx(1 / 1001)


def test_the_difference_is_that_of_the_statistics() -> None:
    one, two = scored(judge(0.9, 1)), scored(judge(0.6, 2))
    moved = influences(one), influences(two)
    metrics = {"one": one, "two": two}
    found = {c.statistic: c for c in compare_all(metrics, dict(zip(metrics, moved, strict=True)))}
    accuracies = [2 * float((own.reported == own.wrong).mean()) - 1 for own in (one, two)]
    assert found["scaled_accuracy"].difference == pytest.approx(accuracies[0] - accuracies[1])
    for statistic in ("kendall", "tie_accuracy", "auc"):
        first, second = (own[statistic] for own in moved)
        assert first is not None
        assert second is not None
        assert found[statistic].difference == pytest.approx(first.value - second.value)
    for c in found.values():
        assert c.low is not None
        assert c.high is not None
        assert c.low < c.difference < c.high
        assert c.n == 200


def test_a_comparison_turned_around_is_the_same() -> None:
    metrics = {"one": scored(judge(0.9, 1)), "two": scored(judge(0.8, 2))}
    there, back = all_of(metrics), all_of(dict(reversed(metrics.items())))
    for (statistic, first, second), one in there.items():
        other = back[statistic, second, first]
        assert one.n == other.n
        assert one.p == pytest.approx(other.p)
        assert (one.difference, one.low, one.high) == pytest.approx(
            (-other.difference, -(other.high or 0), -(other.low or 0))
        )


def test_only_samples_that_both_scored_are_compared() -> None:
    values, others = judge(0.9, 1), judge(0.9, 1)
    values[:50] = [None] * 50
    others[150:] = [None] * 50
    one, two = shared(scored(values), scored(others))
    assert [g.sample.id for g in one.golds] == [g.sample.id for g in two.golds] == [str(i) for i in range(50, 150)]
    found = all_of({"one": scored(values), "two": scored(others)})
    assert {(c.n, c.difference, c.p) for c in found.values()} == {(100, 0, 1)}


def test_a_judge_that_is_silent_on_what_it_would_get_wrong_is_not_better() -> None:
    """It is right on 70% and the other on 65%; on what it scored, it is significantly better."""
    fair = judge(0.7, 1)
    hits = [bool(gold.report.errors) == ((score or 0) < 0) for gold, score in zip(GOLDS, fair, strict=True)]
    silent = [score if hit or i % 4 == 0 else None for i, (score, hit) in enumerate(zip(fair, hits, strict=True))]
    found = all_of({"fair": scored(judge(0.65, 2)), "silent": scored(silent)})
    accuracy = found["scaled_accuracy", "fair", "silent"]
    assert accuracy.adjusted < 0.01
    assert accuracy.missing == silent.count(None) == 200 - accuracy.n
    assert accuracy.whole is not None
    assert accuracy.whole[0] < 0 < accuracy.whole[1]
    assert not any(one.significant for one in found.values())  # statistics over pairs have no bounds, so no verdict
    versus = compare_judges(("a", "b"), scores(GOLDS, silent), scores(GOLDS, judge(0.65, 2)), GOLDS)
    assert versus.overall[0].missing == accuracy.missing
    [*_, headline] = describe_versus(versus).printed
    assert isinstance(headline, str)
    assert headline.startswith(
        f"cannot tell which has the better S.Acc., as {accuracy.missing} samples lack a score: +"
    )
    [first, *rest] = versus.overall
    alone = versus.model_copy(update={"overall": (first.model_copy(update={"missing": 1}), *rest)})
    assert ", as 1 sample lacks a score: " in str(describe_versus(alone).printed[-1])
    low, high = versus.overall[0].whole or (None, None)
    assert headline.endswith(f"{span(low, high, 3, signed=True)} whatever they are")


def test_a_much_better_judge_is_better_whatever_is_missing() -> None:
    good = judge(0.99, 1)
    good[:20] = [None] * 20
    accuracy = all_of({"good": scored(good), "poor": scored(judge(0.5, 2))})["scaled_accuracy", "good", "poor"]
    assert accuracy.missing == 20
    assert accuracy.significant
    assert accuracy.whole is not None
    assert accuracy.low is not None
    assert 0 < accuracy.whole[0] < accuracy.low


def test_samples_in_another_order_are_matched() -> None:
    one, two = scored(judge(0.9, 1)), scored(judge(0.9, 1)[::-1], GOLDS[::-1])
    first, second = shared(one, two)
    assert [j.sample_id for j in first.judgements] == [j.sample_id for j in second.judgements]
    assert second.golds == first.golds
    assert shared(one, one) == (one, one)


def test_metrics_that_share_nothing_are_not_compared() -> None:
    half: list[float | None] = [None] * 100
    assert all_of({"one": scored(half + judge(0.9, 1)[100:]), "two": scored(judge(0.9, 1)[:100] + half)}) == {}
    assert all_of({"one": scored(judge(0.9, 1))}) == {}
    assert all_of({}) == {}


def test_what_is_undefined_for_one_is_not_compared() -> None:
    found = all_of({"one": scored(judge(0.9, 1)), "constant": scored([0.0] * 200)})
    assert {statistic for statistic, _, _ in found} == {"scaled_accuracy", "tie_accuracy", "auc"}


def test_samples_of_one_item_are_no_proof() -> None:
    """Four items with fifty samples each: only sixteen swaps."""
    clustered = [gold.model_copy(update={"group": str(i // 50)}) for i, gold in enumerate(GOLDS)]
    found = all_of({"good": scored(judge(0.95, 1), clustered), "poor": scored(judge(0.6, 2), clustered)})
    assert {one.p >= 2 / 16 for one in found.values()} == {True}


def test_p_values_are_adjusted_within_a_statistic() -> None:
    found = all_of({str(i): scored(judge(0.6 + 0.05 * i, i)) for i in range(5)})
    for statistic in ("scaled_accuracy", "kendall"):
        own = sorted((c for (name, _, _), c in found.items() if name == statistic), key=lambda c: c.p)
        assert len(own) == 10
        assert own[-1].adjusted == pytest.approx(own[-1].p)
        assert own[0].adjusted == pytest.approx(min(c.p * 10 / rank for rank, c in enumerate(own, 1)))
        assert all(a.adjusted <= b.adjusted for a, b in pairwise(own))


def test_in_every_group_the_best_is_compared_with_the_others() -> None:
    good_on_a = [value if gold.sample.source == "a" else 0.0 for gold, value in zip(GOLDS, judge(0.95, 1), strict=True)]
    metrics = {"a": scored(good_on_a), "b": scored(judge(0.8, 2)), "none": scored([0.0] * 200)}
    found = [one for one in compare_groups(metrics, GOLDS) if one.grouping == "source"]
    best = {one.group: one.first for one in found}
    assert best == {"a": "a", "b": "b"}
    assert [(one.group, one.second) for one in found] == [("a", "b"), ("a", "none"), ("b", "a"), ("b", "none")]
    assert all(one.difference >= 0 and one.p <= one.adjusted and one.n == 100 for one in found)
    assert {one.statistic for one in found} == {"scaled_accuracy"}


def test_small_groups_and_metrics_with_few_scores_are_not_compared() -> None:
    lucky: list[float | None] = [-1.0, *([None] * 199)]  # right about the one sample that it scored
    metrics = {"good": scored(judge(0.9, 1)), "poor": scored(judge(0.6, 2)), "lucky": scored(lucky)}
    found = compare_groups(metrics, GOLDS)
    assert {(one.first, one.second) for one in found} == {("good", "poor")}
    assert {one.grouping for one in found} == {"source", "language", "region", "task", "kind"}
    assert compare_groups(metrics, GOLDS[: FEWEST - 1]) == []
    assert compare_groups({}, GOLDS) == []


# Judges


def signed(values: list[float | None], signature: Signature = SIGNED) -> dict[str, Judgement]:
    found = scores(GOLDS, values)
    return {name: one.model_copy(update={"signature": signature}) for name, one in found.items()}


NAMES = ("A.jsonl", "B.jsonl")


def test_two_judges_of_a_dataset() -> None:
    good, poor = judge(0.95, 1), judge(0.6, 2)
    good[0] = poor[1] = None
    found = compare_judges(NAMES, signed(good), signed(poor, Signature(SIGNED | {"model": "n"})), GOLDS)
    assert (found.first, found.second, found.n, found.left_out) == (*NAMES, 198, 2)
    assert [one.statistic for one in found.overall] == ["scaled_accuracy", "kendall", "tie_accuracy", "auc"]
    assert all(one.difference > 0 and one.p < 0.01 for one in found.overall)
    assert set(found.by["source"]) == {"a", "b"}
    assert sum(one.n for one in found.by["source"].values()) == 198
    assert all(one.p <= one.adjusted for groups in found.by.values() for one in groups.values())


def test_small_groups_are_not_tested() -> None:
    golds = [g.model_copy(update={"sample": g.sample.model_copy(update={"language": "yo"})}) for g in GOLDS[:FEWEST]]
    golds += [g.model_copy(update={"sample": g.sample.model_copy(update={"region": "PE"})}) for g in GOLDS[50:59]]
    golds += GOLDS[100:]
    found = compare_judges(NAMES, signed(judge(0.9, 1)), signed(judge(0.8, 2)), golds)
    assert set(found.by["language"]) == {"yo", "en"}
    assert set(found.by["region"]) == {"DE"}
    assert found.by["language"]["yo"].n == FEWEST


def test_judges_of_other_data_are_refused_unless_forced() -> None:
    one, two = signed(judge(0.9, 1)), signed(judge(0.9, 1), Signature(SIGNED | {"data": "e"}))
    with pytest.raises(ConfigError, match=r"(?s)A.jsonl and B.jsonl differ:.*data: d and e"):
        compare_judges(NAMES, one, two, GOLDS)
    assert compare_judges(NAMES, one, two, GOLDS, force=True).n == 200
    with pytest.raises(ConfigError, match="mores: 1 and 2"):
        compare_judges(NAMES, one, signed(judge(0.9, 1), Signature(SIGNED | {"mores": "2"})), GOLDS)
    people = signed(judge(0.9, 1), Signature(metric="people"))  # who say nothing of the data, nor of Mores
    assert compare_judges(NAMES, one, people, GOLDS).n == 200


def test_judges_without_a_sample_in_common() -> None:
    one, two = signed(judge(0.9, 1)), signed(judge(0.9, 1))
    with pytest.raises(InputError, match="no sample of the dataset in common"):
        compare_judges(NAMES, dict(list(one.items())[:9]), dict(list(two.items())[9:]), GOLDS)
    with pytest.raises(InputError, match="no sample of the dataset in common"):
        compare_judges(NAMES, one, two, [labelled("of another dataset", True)])


# Texts


def test_texts_of_two_models_by_hand() -> None:
    one = {str(i): says(str(i), score, signature=SIGNED) for i, score in enumerate([0.5, 0.5, -1, 0, None])}
    two = {str(i): says(str(i), score, signature=SIGNED) for i, score in enumerate([-5, -1, -1, -1, 0.5])}
    two["more"] = says("more", 1, signature=SIGNED)
    found = compare_texts(NAMES, one, two)
    assert (found.n, found.left_out, found.by) == (4, 2, {})
    score, free = found.overall
    assert (score.statistic, score.n) == ("score", 4)
    assert score.difference == pytest.approx(8 / 4)
    assert score.p == 4 / 16  # 5.5, 1.5, 0 and 1: all signs the same, and either sign of 0
    assert (free.statistic, free.difference) == ("error_free", 0.75)
    assert free.low is not None
    assert free.high is not None
    assert -1 <= free.low < 0.75 < free.high <= 1  # four texts say little


def test_texts_by_a_column() -> None:
    def judged(wrong: str, lost: str = "") -> dict[str, Judgement]:
        """24 texts from Japan and India by two authors; those of an author, or from a country, are wrong."""
        texts = {}
        for number in range(24):
            about = {"region": ("JP", "IN")[number % 2], "metadata": {"Author": ("Ann", "Bo")[number < 12]}}
            score = -5 if wrong in (about["region"], about["metadata"]["Author"]) else 0.5  # type: ignore[index]
            verdict = says(str(number), None if str(number) == lost else score, signature=SIGNED)
            texts[str(number)] = verdict.model_copy(update={"text": "A text.", "instruction": "Write.", **about})
        return texts

    found = compare_texts(NAMES, judged(""), judged("Ann", lost="20"), by=["Author"])
    assert list(found.by) == ["Author", "region"]  # what was asked for first; the language is not known of any
    author = found.by["Author"]
    assert {name: (test.n, test.difference, test.missing) for name, test in author.items()} == {
        "Ann": (11, 5.5, 1), "Bo": (12, 0.0, 0)
    }  # fmt: skip
    assert author["Ann"].p < author["Ann"].adjusted < 0.05
    assert found.by["region"]["IN"].difference == pytest.approx(5.5 / 2)
    few = compare_texts(NAMES, dict([*judged("").items()][:FEWEST]), judged("Ann"), by=["Author"])
    assert list(few.by) == ["Author"]
    assert list(few.by["Author"]) == ["Bo"]
    nothing = compare_texts(NAMES, dict([*judged("").items()][:5]), judged("Ann"), by=["Author"])
    assert describe_versus(nothing).printed[0] == "by Author: no group has ten samples that both scored"


def test_texts_are_judged_by_one_judge_on_any_data() -> None:
    one, two = signed(judge(0.9, 1)), signed(judge(0.9, 1), Signature(SIGNED | {"data": "e"}))
    assert compare_texts(NAMES, one, two).overall[0].p == 1
    for field, other in (("model", "n"), ("metric", "x.2"), ("mores", "2")):
        two = signed(judge(0.9, 1), Signature(SIGNED | {field: other}))
        with pytest.raises(ConfigError, match=rf"differ:\n  {field}: .*\n.*only from the same judge"):
            compare_texts(NAMES, one, two)
        assert compare_texts(NAMES, one, two, force=True).n == 200


def test_signatures_of_failures_do_not_matter() -> None:
    one, two = signed(judge(0.9, 1)), signed(judge(0.9, 1))
    two["0"] = says("0", None, signature=Signature(metric="y", mores="3"))
    assert compare_texts(NAMES, one, two).n == 199


def test_texts_without_an_id_in_common() -> None:
    with pytest.raises(InputError, match="no scored text in common; texts are paired by their ids"):
        compare_texts(NAMES, {"a": says("a", 1)}, {"b": says("b", 1)})
    with pytest.raises(InputError, match="no scored text in common"):
        compare_texts(NAMES, {"a": says("a", None)}, {"a": says("a", 1)})
