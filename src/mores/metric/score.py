"""Eq. 1 of ExCAM: from an error report to a number. The score is computed, never taken from a model."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mores.models.base import Calibration, are_logprobs
from mores.types import ErrorReport

_LEAST = 1e-9


def certainty(logprobs: Sequence[float] | None) -> float | None:
    """Return p(R): the probability of the whole report, normalised by length: exp(mean token log-probability).

    None without log-probabilities, or if one of the numbers cannot be one: some servers send values above 0.
    """
    if logprobs is None or not are_logprobs(logprobs):
        return None
    return min(1.0, math.exp(math.fsum(logprobs) / len(logprobs)))


def score(report: ErrorReport) -> float | None:
    """Return the sum of the severities (minor -1, major -5); without errors p(R), or 0 if p(R) is unknown.

    None where claims were judged without a result, as `ErrorReport.undecided` says.
    """
    if report.undecided:
        return None
    total = sum(error.severity.weight for error in report.errors)
    return float(total) if total < 0 else (report.certainty or 0.0)


def confidence(error: float, calibration: Calibration, *, found: bool) -> float:
    """Return the probability that a verdict is correct, by a judge's probability that there is an error."""
    odds = math.log(max(error, _LEAST)) - math.log(max(1 - error, _LEAST))
    probability = 1 / (1 + math.exp(-(calibration.slope * odds + calibration.offset)))
    return probability if found else 1 - probability
