"""The quality of each person's votes."""

from __future__ import annotations

import numpy as np
import pytest

from mores.stats.annotators import annotator_quality, table_votes
from mores.stats.intervals import share_interval
from tests.stats.annotators.simulated import draw_crowd

VOTES = [
    *[("x", who, vote) for who, vote in (("ann", "a"), ("bo", "a"), ("cy", "b"))],
    *[("y", who, vote) for who, vote in (("ann", "a"), ("bo", "a"), ("cy", "a"), ("dee", "b"))],
    ("z", "ann", "a"),
    *[("check", who, vote) for who, vote in (("ann", "b"), ("cy", "a"))],
]


def test_by_hand() -> None:
    quality = annotator_quality(table_votes(VOTES), known={"check": "b"})
    # x: without ann the others are tied, without bo too; without cy they say a.
    ann, bo, cy, dee = (quality[name] for name in ("ann", "bo", "cy", "dee"))
    assert (ann.votes, ann.alone, ann.tied, ann.compared) == (4, 1, 1, 1)
    assert ann.agreement == (1, 1, 1.0, *share_interval(1, 1))
    assert ann.known == (1, 1, 1.0, *share_interval(1, 1))
    assert bo.agreement == (1, 1, 1.0, *share_interval(1, 1))
    assert bo.known is None
    assert cy.agreement == (1, 2, 0.5, *share_interval(1, 2))
    assert cy.known == (0, 1, 0.0, *share_interval(0, 1))
    assert dee.agreement == (0, 1, 0.0, *share_interval(0, 1))


def test_without_others_there_is_nothing_to_agree_with() -> None:
    quality = annotator_quality(table_votes([("x", "ann", "a"), ("y", "ann", "b")]))
    assert quality["ann"].agreement is None
    assert (quality["ann"].alone, quality["ann"].compared) == (2, 0)
    assert annotator_quality(table_votes([], labels=["a", "b"])) == {}


def test_a_guesser_stands_out() -> None:
    crowd = draw_crowd(400, 12, 4, np.random.default_rng(0), accuracy=(0.8, 0.95))
    table = crowd.table(4)
    rng = np.random.default_rng(1)
    votes = [(f"q{i}", f"p{k}", int(vote)) for i, k, vote in zip(table.item, table.annotator, table.label, strict=True)]
    votes += [(f"q{i}", "guesser", int(rng.integers(4))) for i in range(100)]
    quality = annotator_quality(table_votes(votes))
    guesser = quality.pop("guesser").agreement
    assert guesser
    assert guesser.low < 0.25 < guesser.high
    assert all(one.agreement and one.agreement.low > guesser.high for one in quality.values())


def test_a_person_does_not_count_for_their_own_consensus() -> None:
    """Three people who guess among two labels agree with the majority of all three much more often than by chance."""
    rng = np.random.default_rng(2)
    table = table_votes([(i, k, int(rng.integers(2))) for i in range(2000) for k in range(3)])
    with_self = table.counts[np.arange(2000), table.label[::3]] >= 2
    assert np.mean(with_self) == pytest.approx(0.75, abs=0.03)
    agreement = annotator_quality(table)[0].agreement
    assert agreement
    assert agreement.value == pytest.approx(0.5, abs=0.05)


def test_repeated_votes_are_refused() -> None:
    with pytest.raises(ValueError, match="labelled an item more than once"):
        annotator_quality(table_votes([("x", 1, "a"), ("x", 1, "b")], repeats=True))
