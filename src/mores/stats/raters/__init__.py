"""People who rate: how severe they are, how they drift, and who does not read what they rate.

    result = fit(Model("rating", ("model*type",), ("language/annotator",)), data)
    annotator_severity(result, data, "language:annotator").people
    annotator_drift(result, data["annotator"], order).people
    [person for person in find_careless(result, data["annotator"], Conduct(order=order)) if person.flagged]

`joint` has all unknowns of a fitted model together.
"""

from mores.stats.raters.careless import Conduct, Suspicion, SuspicionSign, find_careless
from mores.stats.raters.drift import Drift, Drifts, annotator_drift
from mores.stats.raters.severity import RaterSeverity, Severities, annotator_severity

__all__ = [
    "Conduct",
    "Drift",
    "Drifts",
    "RaterSeverity",
    "Severities",
    "Suspicion",
    "SuspicionSign",
    "annotator_drift",
    "annotator_severity",
    "find_careless",
]
