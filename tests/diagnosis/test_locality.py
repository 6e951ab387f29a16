"""Locality: differences from the whole, which of them are sure, and how ranks shift from benchmark to benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from mores.benchmark.benchmark import Label, Verdict
from mores.benchmark.board import BoardEntry
from mores.benchmark.folder import VERDICTS, write_items
from mores.benchmark.score import BenchResult
from mores.diagnosis.locality import Locality, LocalityProfile, Ran, measure_locality, paragraph, read_ran
from mores.errors import ConfigError, InputError
from mores.io import JsonlWriter
from mores.stats.resampling import adjust_p_values
from mores.types import Item, Result, Signature
from tests.diagnosis.runs import finish


def result(model: str, bench: str, figure: str = "accuracy", **changes: str) -> BenchResult:
    fields = {"task": f"{bench}.1", "data": "d.4", "model": model} | changes
    return BenchResult(
        benchmark=bench, title=bench, model=model, judge=None, questions=4, samples=1, by={},
        signature=Signature(fields),
        figures={figure: Result(name=figure, value=0.5, n=4)},
    )  # fmt: skip


def ran(
    model: str, bench: str, credit: Mapping[str, Sequence[float | None]], figure: str = "accuracy", **changes: str
) -> Ran:
    """A run with the credits of each group; None is a question without a grade, and the group "" is none."""
    rows = [(f"{group}{i}", group, one) for group, own in credit.items() for i, one in enumerate(own)]
    entry = BoardEntry(
        f"{bench}/{model}", result(model, bench, figure, **changes), {unit: c for unit, _, c in rows if c is not None}
    )
    return Ran(entry, {unit: group or None for unit, group, _ in rows})


def one_profile(credit: Mapping[str, Sequence[float | None]]) -> LocalityProfile:
    [found] = measure_locality([ran("m", "b", credit)]).profiles
    return found


# ---- profiles --------------------------------------------------------------------------------------------------


def test_a_language_above_and_one_below() -> None:
    """90%, 50% and 10% of 60 questions each: the whole is 50%."""
    shares = {"fr": 54, "th": 30, "zh": 6}
    found = one_profile({group: [1.0] * hits + [0.0] * (60 - hits) for group, hits in shares.items()})
    assert (found.overall.value, found.overall.n) == (0.5, 180)
    assert [local.group for local in found.groups] == ["fr", "th", "zh"]
    assert [local.verdict for local in found.groups] == ["above", "not significant", "below"]
    assert [local.difference.value for local in found.groups] == [pytest.approx(d) for d in (0.4, 0.0, -0.4)]
    first = found.groups[0]
    assert first.p is not None
    assert first.adjusted is not None
    assert first.p < 0.001
    assert first.p <= first.adjusted < 0.01
    assert found.groups[1].p == pytest.approx(1.0)
    low, high = first.difference.low, first.difference.high
    assert low is not None
    assert high is not None
    assert 0.28 < low < 0.4 < high < 0.47


def test_adjusted_p_values_are_of_all_models_and_groups_of_a_benchmark() -> None:
    rng = np.random.default_rng(0)
    runs = [ran(m, "b", {g: (rng.random(30) < 0.5).astype(float).tolist() for g in "xyz"}) for m in ("m1", "m2", "m3")]
    found = [local for one in measure_locality(runs, "topic").profiles for local in one.groups]
    p = [local.p for local in found if local.p is not None]
    assert len(p) == 9
    assert [local.adjusted for local in found] == pytest.approx(adjust_p_values(p).tolist())


@pytest.mark.slow
def test_equal_languages_are_rarely_called_different() -> None:
    """Twenty models that know all languages alike: a false call is made for at most a few of them."""
    rng = np.random.default_rng(4)
    calls = 0
    for _ in range(20):
        found = one_profile({g: (rng.random(40) < 0.4).astype(float).tolist() for g in ("en", "th", "fr", "de")})
        calls += any(local.verdict != "not significant" for local in found.groups)
        assert all(local.difference.low is not None for local in found.groups)
    assert calls <= 3


@pytest.mark.slow
def test_intervals_of_differences_hold_the_truth() -> None:
    """Chances 0.8 and 0.4, half of the questions each: the first is 0.2 above the whole."""
    rng, held = np.random.default_rng(5), 0
    for _ in range(30):
        found = one_profile({g: (rng.random(50) < p).astype(float).tolist() for g, p in (("en", 0.8), ("th", 0.4))})
        gap = next(local.difference for local in found.groups if local.group == "en")
        held += gap.low is not None and gap.high is not None and gap.low <= 0.2 <= gap.high
    assert held >= 26


def test_credit_between_0_and_1_is_drawn() -> None:
    rng = np.random.default_rng(6)
    found = one_profile({g: (rng.integers(0, 6, 50) / 5 * p).tolist() for g, p in (("en", 1.0), ("th", 0.2))})
    first = found.groups[0]
    assert first.group == "en"
    assert first.difference.low is not None
    assert first.difference.low > 0.1
    assert first.verdict == "above"
    assert first.difference.value == pytest.approx((first.credit.value or 0) - (found.overall.value or 0))


def test_no_group_is_large_enough_to_be_tested() -> None:
    told = paragraph(measure_locality([ran("m", "b", {"en": [1.0] * 4, "th": [0.0]})]))
    assert told == "m answers 80.0% of b correctly. No group by language has the 5 questions that a test needs."


def test_small_and_unscored_groups_are_shown_and_counted() -> None:
    found = one_profile({"en": [1.0] * 20, "th": [0.0, None], "": [0.0, None, 1.0]})
    large, small = found.groups
    assert (large.group, large.verdict, small.group, small.verdict) == ("en", "above", "th", "too few")
    # Both wrong answers are among the three others in 3 of 253 ways to choose two places of 23.
    assert large.p == pytest.approx(3 / 253, abs=0.006)
    assert (small.p, small.difference.low, small.credit.n, small.credit.unscored) == (None, None, 1, 1)
    assert (found.ungrouped, found.overall.n, found.overall.unscored) == (3, 23, 2)
    assert found.overall.value == pytest.approx(21 / 23)
    assert "1 groups have fewer than 5 questions" in paragraph(
        measure_locality([ran("m", "b", {"en": [1.0] * 9, "th": [0.0]})])
    )


def test_a_language_whose_wrong_answers_have_no_grade_is_not_above() -> None:
    """Both languages are correct half the time; in one, most wrong answers could not be graded."""
    half = [1.0, 0.0] * 50
    assert {local.verdict for local in one_profile({"en": half, "th": half}).groups} == {"not significant"}
    failed: list[float | None] = [1.0] * 50 + [None] * 40 + [0.0] * 10
    found = {local.group: local for local in one_profile({"en": failed, "th": half}).groups}
    assert found["en"].adjusted is not None
    assert found["en"].adjusted < 0.01
    for local in found.values():
        assert local.verdict == "not significant"
        assert local.difference.whole is not None
        assert local.difference.whole[0] < 0 < local.difference.whole[1]
    few: list[float | None] = [1.0] * 98 + [None] * 2
    assert [local.verdict for local in one_profile({"en": few, "th": half}).groups] == ["above", "below"]


def test_a_group_without_any_right_answer_is_not_certain() -> None:
    found = one_profile({"en": [1.0] * 5 + [0.0] * 5, "th": [0.0] * 6})
    gap = found.groups[1].difference
    assert gap.low is not None
    assert gap.high is not None
    assert gap.high - gap.low > 0.1


def test_one_language_has_no_profile() -> None:
    found = measure_locality([ran("m", "b", {"en": [1.0, 0.0]})])
    assert found.profiles[0].groups == ()
    assert found.notes == ("b: there are fewer than two groups by language, so it has no profile",)
    assert "not enough groups" in paragraph(found)


# ---- ranks -----------------------------------------------------------------------------------------------------


def halves(hits: int, of: int = 100) -> dict[str, list[float | None]]:
    return {"en": [1.0 if i < hits else 0.0 for i in range(of)]}


def shifting(first: Mapping[str, int], second: Mapping[str, int]) -> Locality:
    return measure_locality(
        [ran(m, "a", halves(hits)) for m, hits in first.items()]
        + [ran(m, "b", halves(hits)) for m, hits in second.items()]
    )


def test_a_model_that_surely_falls_and_two_that_change_places_by_chance() -> None:
    found = shifting({"x": 95, "y": 60, "z": 58, "w": 20}, {"x": 5, "y": 60, "z": 62, "w": 30})
    [shift] = found.shifts
    assert (shift.first, shift.second) == ("a", "b")
    assert [(row.model, row.first.rank, row.second.rank) for row in shift.models] == [
        ("x", 1, 4), ("y", 2, 2), ("z", 3, 1), ("w", 4, 3)
    ]  # fmt: skip
    x, _, z, _ = shift.models
    assert (x.first.low, x.first.high, x.second.low, x.second.high) == (1, 1, 4, 4)
    assert (z.first.low, z.first.high) == (2, 3)
    assert (x.shift.value, x.shift.low, x.shift.high) == (3.0, 3.0, 3.0)
    assert z.shift.low is not None
    assert z.shift.high is not None
    assert z.shift.low <= z.shift.value <= z.shift.high  # type: ignore[operator]
    assert shift.tau.value == pytest.approx((2 - 4) / 6)
    assert (shift.tau.n, found.figures["tau of a and b"]) == (4, shift.tau)
    said = paragraph(found)
    assert "x from rank 1 (1–1) to 4 (4–4)" in said
    assert "Kendall's tau is −0.33" in said


def test_models_are_compared_on_the_same_questions() -> None:
    """One model is right wherever the other is and ten times more: paired, its place is sure; not so unpaired."""
    base: list[float | None] = [1.0, 0.0] * 50
    better = [1.0] * 20 + base[20:]
    runs = [ran(m, bench, {"en": own}) for bench in "ab" for m, own in (("x", better), ("y", base))]
    [shift] = measure_locality(runs).shifts
    assert (shift.models[0].model, shift.models[0].first.high) == ("x", 1)


def test_equal_models_share_a_place_and_have_no_tau() -> None:
    [shift] = shifting({"x": 50, "y": 50}, {"x": 50, "y": 20}).shifts
    assert [(row.first.rank, row.first.tied) for row in shift.models] == [(1, True), (1, True)]
    assert (shift.models[0].first.low, shift.models[0].first.high) == (1, 2)
    assert (shift.tau.value, shift.tau.low) == (None, None)
    assert "undefined" in paragraph(shifting({"x": 50, "y": 50}, {"x": 50, "y": 20}))


def test_the_same_order_has_tau_1_within_its_interval() -> None:
    """Each model is right on questions of its own, so that other questions can change the order."""
    rng = np.random.default_rng(0)

    def mixed(hits: int) -> dict[str, list[float | None]]:
        return {"en": rng.permutation([1.0] * hits + [0.0] * (100 - hits)).tolist()}

    hits = {"x": 60, "y": 50, "z": 40}
    found = measure_locality([ran(m, bench, mixed(own)) for bench in "ab" for m, own in hits.items()])
    [shift] = found.shifts
    assert (shift.tau.value, shift.tau.high) == (1.0, 1.0)
    assert shift.tau.low is not None
    assert shift.tau.low < 0.5
    assert [row.shift.value for row in shift.models] == [0.0, 0.0, 0.0]
    assert (shift.models[1].first.low, shift.models[1].first.high) == (1, 3)
    assert "No model's rank" in paragraph(found)


def test_models_on_one_benchmark_only_are_left_out_and_named() -> None:
    found = shifting({"x": 60, "y": 50, "only": 40}, {"x": 60, "y": 50, "other": 1})
    [shift] = found.shifts
    assert (len(shift.models), shift.left_out) == (2, ("only", "other"))
    alone = shifting({"x": 60}, {"x": 50, "y": 50})
    assert (alone.shifts, alone.unpaired) == ((), ("a and b",))


def test_a_model_without_any_score_is_not_ranked() -> None:
    runs = [ran(m, bench, halves(50)) for bench in "ab" for m in "xy"] + [ran("z", b, {"en": [None]}) for b in "ab"]
    [shift] = measure_locality(runs).shifts
    assert (len(shift.models), shift.left_out) == (2, ("z",))


# ---- reading ---------------------------------------------------------------------------------------------------


def test_other_data_are_refused_unless_forced() -> None:
    runs = [ran("x", "a", halves(5)), ran("y", "a", halves(5), data="other.3")]
    with pytest.raises(ConfigError, match=r"a: data is d\.4 in a/x and other\.3 in a/y.*force the comparison"):
        measure_locality(runs)
    assert len(measure_locality(runs, force=True).profiles) == 2


def test_two_runs_of_one_model_are_told_apart() -> None:
    again = ran("x", "a", halves(5))
    other = Ran(BoardEntry("elsewhere", again.entry.result, again.entry.credit), again.groups)
    assert measure_locality([again, other]).models == ("x (a/x)", "x (elsewhere)")


def test_another_headline_is_told() -> None:
    found = measure_locality([ran("x", "a", {"en": [1.0] * 9, "th": [0.0] * 9}, "F")])
    assert found.notes == ("a: ranks and differences use the share of correct answers, not F",)
    assert "x answers 50.0% of a correctly. It is better than overall in English (+50.0 points" in paragraph(found)
    assert "worse than overall in Thai (−50.0 points" in paragraph(found)


def test_no_runs() -> None:
    with pytest.raises(InputError, match="there is no run"):
        measure_locality([])


def test_runs_are_read_from_folders(tmp_path: Path) -> None:
    for model, right in (("m1", 6), ("m2", 2)):
        folder = tmp_path / model
        folder.mkdir()
        languages = ("en", "th")
        own = [Item(id=f"q{i}", prompt="?", target=("x",), language=languages[i % 2], topic="t") for i in range(12)]
        write_items(own, folder)
        with JsonlWriter(folder / VERDICTS) as writer:
            for i, item in enumerate(own):
                label = Label.CORRECT if i < right else Label.INCORRECT
                writer.write(Verdict(item_id=item.id, unit=item.id, label=label, answer="x"))
        finish(folder, result(model, "msqa", "F"))
    found = measure_locality(read_ran([tmp_path]))
    assert [(one.model, one.overall.value) for one in found.profiles] == [("m1", 0.5), ("m2", pytest.approx(1 / 6))]
    assert {local.group: local.credit.value for local in found.profiles[0].groups} == {"en": 0.5, "th": 0.5}
    assert found.signatures == {"msqa": tuple(result(m, "msqa").signature for m in ("m1", "m2"))}
    [by_topic, _] = measure_locality(read_ran([tmp_path], "topic"), "topic").profiles
    assert by_topic.groups == ()
