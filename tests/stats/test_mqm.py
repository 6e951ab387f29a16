"""MQM: the weights by hand, and the published segment scores from the published rows."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.stats.mqm import GOOGLE, Annotation, Weights, segment_score, segment_scores, weigh
from tests.factory.test_sources import REAL

TED = REAL / "wmt_mqm" / "mqm_ted_ende.tsv"
PUBLISHED = REAL / "wmt_mqm" / "mqm_ted_ende.avg_seg_scores.tsv"
real = pytest.mark.skipif(
    not (TED.is_file() and PUBLISHED.is_file()),
    reason="no wmt_mqm in the shared data; set MORES_SHARED_DATA to a folder that has it",
)

Rows = list[tuple[tuple[str, str], Annotation]]


def rows() -> Rows:
    with TED.open(encoding="utf-8", newline="") as file:
        table = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [((r["system"], r["seg_id"]), Annotation(r["rater"], r["severity"], r["category"])) for r in table]


def published() -> dict[tuple[str, str], float]:
    """Segments without a score are marked None there, and are left out; the reference has another name."""
    lines = PUBLISHED.read_text("utf-8").splitlines()[1:]
    fields = [line.split() for line in lines]
    return {(system.replace("ref-A", "ref"), n): float(score) for system, score, n in fields if score != "None"}


@pytest.mark.parametrize(
    ("severity", "category", "weight"),
    [
        ("Major", "Accuracy/Mistranslation", 5),
        ("major", "Fluency/Punctuation", 5),
        ("Major", "Non-translation!", 25),
        ("minor", "Non-translation", 1),
        ("Minor", "Style/Awkward", 1),
        ("Minor", "Fluency/Punctuation", 0.1),
        ("Minor", "Fluency/Grammar", 1),
        ("Neutral", "Style/Awkward", 0),
        ("No-error", "No-error", 0),
    ],
)
def test_weights(severity: str, category: str, weight: float) -> None:
    assert weigh(Annotation("r", severity, category)) == weight


def test_raters_are_averaged_and_errors_of_one_added_up() -> None:
    first = [Annotation("r1", "major"), Annotation("r1", "minor", "Fluency/Punctuation")]
    assert segment_score([*first, Annotation("r2", "minor"), Annotation("r3", "no-error")]) == pytest.approx(-6.1 / 3)


def test_segments_without_errors_and_without_raters() -> None:
    score = segment_score([Annotation("r", "no-error")])
    assert score == 0
    assert math.copysign(1, score) == 1  # not minus zero
    assert segment_score([]) is None


def test_segments_keep_apart() -> None:
    marked = [("b", Annotation("r", "minor")), ("a", Annotation("r", "major")), ("b", Annotation("r", "minor"))]
    assert list(segment_scores(marked).items()) == [("b", -2), ("a", -5)]


def test_other_weights() -> None:
    assert segment_score([Annotation("r", "major")], Weights(major=10)) == -10


@pytest.mark.parametrize("severity", ["critical", "", "Major!"])
def test_refuses_an_unknown_severity(severity: str) -> None:
    with pytest.raises(ValueError, match=f"unknown severity '{severity}'; expected major"):
        segment_scores([("a", Annotation("r", severity))])


@given(st.lists(st.sampled_from(["major", "minor", "no-error"]), min_size=1), st.integers(1, 4))
def test_the_same_rater_again_changes_nothing(severities: list[str], raters: int) -> None:
    one = segment_score(Annotation("r", severity) for severity in severities)
    many = segment_score(Annotation(str(n), severity) for severity in severities for n in range(raters))
    assert many == pytest.approx(one)
    assert one is not None
    assert one <= 0


@real
def test_published_scores_come_out_of_the_published_rows() -> None:
    ours, theirs = segment_scores(rows()), published()
    assert len(theirs) == 7406
    assert ours.keys() == theirs.keys()
    assert max(abs((ours[segment] or 0) - theirs[segment]) for segment in theirs) < 1e-6
    assert len(set(theirs.values())) > 30


@real
def test_the_published_scores_have_these_weights() -> None:
    """Least squares finds the weights from the counts of each kind of error, without knowing them."""
    theirs = published()
    place = {segment: n for n, segment in enumerate(theirs)}
    kinds = {GOOGLE.major: 0, GOOGLE.minor: 1, GOOGLE.punctuation: 2}
    counts = np.zeros((len(place), len(kinds)))
    for segment, annotation in rows():
        if annotation.severity != "No-error":
            counts[place[segment], kinds[weigh(annotation)]] += 1
    found, residual, *_ = np.linalg.lstsq(counts, -np.array(list(theirs.values())), rcond=None)
    assert found == pytest.approx([5, 1, 0.1], abs=1e-6)
    assert residual[0] < 1e-6
