"""How hard an item is: by how many of the settings that were tried solve it (CulturALL, Section 2.5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from mores.bench.benchmark import Label, Verdict
from mores.io import read_records

SETTINGS = 15
"""Models and ways to run them in the paper."""


def tiers(solved: Mapping[str, int], settings: int) -> dict[str, str]:
    """The tier of each item: Hard below a third of the settings, Medium below two thirds, Easy below all.

    Of 15 settings these are 0-4, 5-9 and 10-14, as in the paper. What all of them solve has no tier: the paper leaves
    it out.
    """
    for item, count in solved.items():
        if not 0 <= count <= settings:
            raise ValueError(f"{item}: solved by {count} of {settings} settings; expected 0 to {settings}")
    return {item: _tier(count, settings) for item, count in solved.items() if count < settings}


def _tier(count: int, settings: int) -> str:
    return "Easy" if 3 * count >= 2 * settings else "Medium" if 3 * count >= settings else "Hard"


def count_solved(runs: Iterable[Path]) -> dict[str, int]:
    """How many runs, each a `verdicts.jsonl`, solve each item with their first answer; no grade is not solved."""
    solved: Counter[str] = Counter()
    for run in runs:
        for verdict in read_records(run, Verdict):
            if verdict.sample == 0:
                solved[verdict.item_id] += verdict.label is Label.CORRECT
    return dict(solved)
