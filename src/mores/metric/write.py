"""The report as a model should write it: what it is trained on."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

from mores.metric.spans import find
from mores.types import Error, ErrorReport, Sample


def write_report(report: ErrorReport, sample: Sample, *, summary: bool = True) -> str:
    """Return a report in JSON, without blanks, as the schema constraint of the embedded model has it.

    `parse_text` and `align` make the same report of it again, but for its summary.
    """
    written: dict[str, Any] = {"errors": [_written(error, sample) for error in report.errors]}
    if summary:
        written["explanation"] = report.explanation
    return json.dumps(written, ensure_ascii=False, separators=(",", ":"))


def _written(error: Error, sample: Sample) -> dict[str, Any]:
    fields: dict[str, Any] = {"side": error.side, "quote": error.quote, "severity": error.severity.value}
    fields |= {"type": error.type} | ({"evidence": error.evidence} if sample.evidence else {})
    fields |= {"explanation": error.explanation} | ({"correction": error.correction} if error.correction else {})
    nth = _occurrence(error, sample.side(error.side))
    return fields if nth is None else fields | {"occurrence": nth}


def _occurrence(error: Error, text: str) -> int | None:
    """Return which of several places is meant; None for the first, and for a quote that is not there."""
    expected = (error.start, error.end)
    for nth in count(1):
        span = find(error.quote, text, nth)
        if span is None or span == expected:
            return nth if span and nth > 1 else None
    raise AssertionError
