"""The table of intervals in the docs: it is that of the stored simulations, and none of them breaks its promise."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
SCRIPT = runpy.run_path(str(ROOT / "benchmarks" / "intervals.py"))
LINES = [json.loads(line) for line in (ROOT / "benchmarks/results/intervals.jsonl").read_text("utf-8").splitlines()]


def test_every_kind_of_interval_is_measured_and_holds() -> None:
    assert {line["family"] for line in LINES} == set(SCRIPT["FAMILIES"])
    assert [line["figure"] for line in LINES if line["fails"] or line["coverage"] < SCRIPT["PROMISE"]] == []
    assert [line["figure"] for line in LINES if line["wider"] and not line["reason"]] == []


def test_the_docs_have_the_measured_table() -> None:
    text = (ROOT / "docs/meta.md").read_text("utf-8")
    assert text.split("<!-- benchmarks/intervals.py -->")[1].split("<!-- end of")[0].strip() == SCRIPT["tabulate"](
        LINES
    )


def test_the_alternative_is_the_narrowest_that_holds() -> None:
    ends = np.linspace(-0.1, 0.1, 41)

    def around(half: float) -> list[tuple[float, float]]:
        return [(end - half, end + half) for end in ends.tolist()]

    others = {"too narrow": around(0.05), "narrow": around(0.12), "wide": around(0.3)}
    setting, measure = SCRIPT["Setting"], SCRIPT["measure"]
    line = measure(setting("a figure", "ours", "questions", 0.0, around(0.2), others, "because"))
    assert (line["coverage"], line["alternative"], line["alternative_coverage"]) == (1.0, "narrow", 1.0)
    assert (line["fails"], line["wider"], line["reason"]) == (False, True, "because")
    assert measure(setting("a figure", "ours", "questions", 0.0, around(0.05), others))["fails"]
