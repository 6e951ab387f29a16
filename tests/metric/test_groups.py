"""Results by a column: counts and means by hand, which texts are paired, and which column a person means."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mores
from mores.errors import ConfigError
from mores.metric.groups import find_column, results_by
from mores.stats.intervals import mean_interval, share_interval
from mores.types import DEFAULT_INSTRUCTION, Error, ErrorReport, Failure, FailureKind, Judgement, Sample, Severity

Pair = tuple[Sample, Judgement]


def judged(number: int, model: str | None, score: float | None, instruction: str, region: str | None = None) -> Pair:
    """A text whose score is a sum of minor errors, a certainty, or missing."""
    metadata = {"Model": model} if model else {}
    sample = Sample(id=str(number), text="x y", instruction=instruction, region=region, metadata=metadata)
    error = Error(side="text", quote="z", severity=Severity.MINOR, type="t")
    report = ErrorReport(errors=(error,) * int(-score) if score is not None and score < 0 else ())
    failure = Failure(kind=FailureKind.EMPTY, reason="nothing") if score is None else None
    return sample, Judgement.of(sample, judge="j", score=score, report=None if failure else report, failure=failure)


PAIRS = [
    judged(1, "A", -2.0, "q1"),
    judged(2, "A", 0.5, "q2"),
    judged(3, "A", None, "q3"),
    judged(4, "A", 1.0, DEFAULT_INSTRUCTION),
    judged(5, "B", 0.5, "q1"),
    judged(6, "B", 1.0, "q2"),
    judged(7, "B", -1.0, "q3"),
    judged(8, None, -1.0, "q4"),
]


def test_groups_by_hand() -> None:
    result = results_by(PAIRS, "Model")
    first, second, none = result.groups
    assert [(group.name, group.counts.n, group.counts.judged) for group in result.groups] == [
        ("A", 4, 3),
        ("B", 3, 3),
        ("", 1, 1),
    ]
    assert (first.with_errors.value, first.with_errors.low, first.with_errors.high) == (1 / 3, *share_interval(1, 3))
    assert first.with_errors.unscored == first.score.unscored == 1
    assert first.score.value == pytest.approx((-2.0 + 0.5 + 1.0) / 3)
    interval = mean_interval([-2.0, 0.5, 1.0], least=-5.0)
    assert (first.score.low, first.score.high) == pytest.approx(interval)
    assert first.counts.errors == {Severity.MAJOR: 0, Severity.MINOR: 2}
    assert none.score.value == -1.0
    assert second.score.value == pytest.approx(0.5 / 3)


def test_differences_are_of_the_same_instructions() -> None:
    (difference,) = results_by(PAIRS, "Model").differences
    assert (difference.first, difference.second) == ("A", "B")
    assert (difference.with_errors.n, difference.with_errors.unscored) == (2, 1)  # q1 and q2; q3 was not judged
    assert difference.with_errors.value == pytest.approx((1 + 0) / 2)
    assert difference.score.value == pytest.approx((-2.5 - 0.5) / 2)
    assert difference.with_errors.bounds == pytest.approx((0.0, 1 / 3))


def test_texts_about_other_regions_are_not_paired_unless_by_region() -> None:
    pairs = [
        judged(n, model, -float(n % 2), f"q{n // 4}", region)
        for n, (model, region) in enumerate([("A", "JP"), ("B", "JP"), ("A", "KE"), ("B", "DE")] * 3)
    ]
    (by_model,) = results_by(pairs, "Model").differences
    assert by_model.with_errors.n == 3  # JP only
    assert by_model.with_errors.value == -1.0
    by_region = {(each.first, each.second): each.with_errors for each in results_by(pairs, "region").differences}
    assert set(by_region) == {("JP", "DE"), ("JP", "KE"), ("DE", "KE")}
    assert by_region["JP", "KE"].value == 0.5  # texts for the same instruction count as their mean


def test_pairs_for_one_instruction_depend_on_each_other() -> None:
    def pairs(instructions: int) -> list[Pair]:
        places = [f"JP-{n:02}" for n in range(1, 25)]
        scores = np.random.default_rng(1).integers(0, 2, (2, 24))
        return [
            judged(n, model, -float(score), f"q{n % instructions}", places[n])
            for model, row in zip("AB", scores, strict=True)
            for n, score in enumerate(row)
        ]

    wide, narrow = (results_by(pairs(n), "Model").differences[0].with_errors for n in (3, 24))
    assert (wide.value, wide.n) == (narrow.value, narrow.n)
    assert wide.high is not None
    assert narrow.high is not None
    assert wide.high > narrow.high


def test_of_many_groups_each_is_compared_with_the_largest() -> None:
    pairs = [judged(n, f"m{n % 5}", 1.0, f"q{n // 5}") for n in range(10)]
    pairs.append(judged(10, "m3", 1.0, "q9"))
    differences = results_by(pairs, "Model").differences
    assert [(each.first, each.second) for each in differences] == [("m3", f"m{n}") for n in (0, 1, 2, 4)]


def test_nothing_judged_has_no_figures() -> None:
    pairs = [judged(n, f"m{n % 2}", None, f"q{n // 2}") for n in range(4)]
    result = results_by(pairs, "Model")
    assert [group.score.value for group in result.groups] == [None, None]
    assert result.differences[0].score.value is None
    assert result.differences[0].with_errors.bounds == (-1.0, 1.0)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("Model", "Model"),
        ("model", "Model"),
        ("rated by", "Rated-by"),
        ("region", "region"),
        ("Country", "region"),
        ("Land", "region"),
        ("LANG", "language"),
    ],
)
def test_the_column_that_a_person_means(name: str, column: str) -> None:
    assert find_column(name, ("Model", "Rated-by"), {"region": "Land", "text": "Answer"}) == column


def test_a_column_that_is_not_there() -> None:
    with pytest.raises(ConfigError, match="no column 'Modell' to group by; did you mean 'Model'") as caught:
        find_column("Modell", ("Model",), {})
    assert caught.value.setting == "by"


def test_a_run_by_a_column(tmp_path: Path) -> None:
    table = tmp_path / "weddings.csv"
    table.write_text("Answer,Country,Rater\nOne x.,Japan,a\nTwo x.,Kenya,b\nThree x.,Japan,\n", "utf-8")
    run = mores.score_file(table, "fake:first-word", out=tmp_path / "run", store=None)
    assert {group.name: group.counts.n for group in run.by("Country").groups} == {"JP": 2, "KE": 1}
    assert {group.name: group.counts.n for group in run.by("rater").groups} == {"": 1, "a": 1, "b": 1}
    document = mores.show(run, by=("Rater",))
    assert "Texts by Rater" in [getattr(table, "title", "") for table in document.printed]
