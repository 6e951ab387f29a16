"""The answer that is more popular than people predict: surprisingly popular answers.

Each person votes and predicts what share of the others will give each answer. People who know better than the majority
also know what the majority believes, so a correct answer that few know has more votes than people predict.
D. Prelec, H. S. Seung and J. McCoy, A solution to the single-question crowd wisdom problem, Nature 541 (2017), 532-535.
With more than two answers this is the largest difference of shares, not the paper's prediction-normalised votes, which
need many votes for every answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isclose

import numpy as np

from mores.stats.classification import Bools, Floats
from mores.stats.intervals import Interval, drawn_interval
from mores.stats.resampling import RESAMPLES, draw_counts


@dataclass(frozen=True)
class Popularity:
    """One answer."""

    share: float
    """Of the votes."""
    predicted: float
    """The mean prediction of that share."""
    surprise: float
    """The share less what was predicted."""
    interval: Interval
    """95%, of the surprise."""
    support: float
    """The share of resamples of the voters in which this answer is the most surprising; ties are divided."""


@dataclass(frozen=True)
class SurprisinglyPopular:
    """The votes on one question, seen against what was predicted."""

    winners: tuple[str, ...]
    """The answer with the largest surprise; several where they tie."""
    answers: dict[str, Popularity]
    voters: int
    predictions: int
    """How many of the voters predicted."""


def surprisingly_popular(
    voters: Iterable[tuple[str, Mapping[str, float] | None]],
    labels: Sequence[str],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> SurprisinglyPopular | None:
    """Find the surprisingly popular answer to one question; None when nobody voted or nobody predicted.

    A prediction names each answer's share of the votes, all together 1; answers that it leaves out have 0. So a person
    who only says what most others will answer predicts {answer: 1.0}. None is a person who predicted nothing: the vote
    counts. The same seed gives the same intervals and support.
    """
    given = list(voters)
    places = {label: place for place, label in enumerate(labels)}
    votes, predictions = np.zeros((2, len(given), len(labels)))
    for row, (answer, predicted) in enumerate(given):
        for label in (answer, *(predicted or ())):
            if label not in places:
                raise ValueError(f"voter {row + 1}: {label!r} is none of the answers {list(labels)}")
        votes[row, places[answer]] = 1
        if predicted is None:
            continue
        shares = list(predicted.values())
        if min(shares, default=-1) < 0 or not isclose(sum(shares), 1.0, abs_tol=1e-6):
            raise ValueError(f"voter {row + 1} predicts {dict(predicted)}; expected shares from 0 that add up to 1")
        for label, share in predicted.items():
            predictions[row, places[label]] = share
    told = predictions.sum(axis=1) > 0
    if not told.any():
        return None
    drawn = np.concatenate(
        [
            _surprise(counts, votes, predictions, told)
            for counts in draw_counts(len(given), resamples=resamples, seed=seed)
        ]
    )
    surprise = _surprise(np.ones((1, len(given))), votes, predictions, told)[0]
    support = _divide(drawn[~np.isnan(drawn).any(axis=1)]).mean(axis=0)
    answers = {
        label: Popularity(
            share=float(votes[:, n].mean()),
            predicted=float(predictions[told, n].mean()),
            surprise=float(surprise[n]),
            interval=drawn_interval(float(surprise[n]), drawn[:, n], float(told.sum()), least=-1.0),
            support=float(support[n]),
        )
        for n, label in enumerate(labels)
    }
    winners = tuple(label for label, wins in zip(labels, _divide(surprise[None])[0], strict=True) if wins)
    return SurprisinglyPopular(winners, answers, len(given), int(told.sum()))


def _surprise(counts: Floats, votes: Floats, predictions: Floats, told: Bools) -> Floats:
    """Return resamples × answers, by how often each voter is drawn (resamples × voters); nan where nobody predicts."""
    shares, told_by = counts @ votes / counts.sum(axis=1, keepdims=True), (counts @ told)[:, None]
    return np.asarray(shares - counts @ predictions / np.where(told_by, told_by, np.nan), dtype=np.float64)


def _divide(surprise: Floats) -> Floats:
    """Return one win for each row, divided among those that tie, up to rounding."""
    wins = surprise >= surprise.max(axis=1, keepdims=True) - 1e-12
    found: Floats = wins / wins.sum(axis=1, keepdims=True)
    return found
