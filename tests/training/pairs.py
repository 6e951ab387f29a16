"""Made-up claims with a passage each, for the tests."""

from __future__ import annotations

from typing import Any

from mores.training.pairs import ClaimPair


def pair(number: int, label: Any = "supported", **changes: Any) -> ClaimPair:
    fields = {
        "id": str(number),
        "claim": f"Festival number {number} takes place in month {number + 100} of the year.",
        "evidence": (f"People say that festival number {number} takes place in month {number + 100}.",),
        "label": label,
        "language": "en",
        "source": "made-up",
    }
    return ClaimPair.model_validate(fields | changes)
