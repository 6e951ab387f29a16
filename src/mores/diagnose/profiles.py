"""Profiles: where a model is better and worse than on the whole (MSQA, Section 4.1.1)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np

from mores.bench.board import Entry
from mores.stats.classification import Floats
from mores.stats.intervals import difference_interval, mean_interval
from mores.stats.resampling import adjust_p_values, compare_with_whole
from mores.stats.results import mean_result
from mores.types import Record, Result

SIGNIFICANT = 0.05
"""False discovery rate."""
PERMUTATIONS = 5000
LEAST = 5
"""Questions of a group; with fewer it is shown, and not tested."""
Verdict = Literal["above", "below", "not told apart", "too few"]


class Local(Record):
    """A model's credit on one group of questions."""

    group: str
    credit: Result
    difference: Result
    """From the model's credit on all questions."""
    p: float | None
    """That a random group of so many questions differs as much."""
    adjusted: float | None
    """After Benjamini and Hochberg, over all models and groups of the benchmark."""
    verdict: Verdict


class Profile(Record):
    """A model's strengths and weaknesses on a benchmark."""

    model: str
    benchmark: str
    signature: str
    overall: Result
    groups: tuple[Local, ...]
    """From the strongest to the weakest."""
    ungrouped: int = 0
    """Questions without a group: they are in the whole only."""


@dataclass(frozen=True)
class Ran:
    """One run, with the group of each of its questions."""

    entry: Entry
    groups: Mapping[str, str | None]
    """Of every question that was asked."""


def make_profiles(name: str, runs: Mapping[str, Ran]) -> list[Profile]:
    """The profiles of one benchmark, whose p-values are adjusted together."""
    found = [_profile(name, model, run) for model, run in runs.items()]
    tested = [local.p for one in found for local in one.groups if local.p is not None]
    adjusted = iter(adjust_p_values(tested).tolist() if tested else ())
    return [one.model_copy(update={"groups": tuple(_judged(local, adjusted) for local in one.groups)}) for one in found]


def _judged(local: Local, adjusted: Iterator[float]) -> Local:
    if local.p is None:
        return local
    q = next(adjusted)
    above = (local.difference.value or 0.0) > 0
    verdict: Verdict = "not told apart" if q > SIGNIFICANT else "above" if above else "below"
    return local.model_copy(update={"adjusted": q, "verdict": verdict})


def _profile(name: str, model: str, run: Ran) -> Profile:
    credit, unscored = run.entry.credit, Counter[str | None]()
    by_group: dict[str | None, list[float]] = defaultdict(list)
    for unit, group in run.groups.items():
        if unit in credit:
            by_group[group].append(credit[unit])
        else:
            unscored[group] += 1
    loose = by_group.pop(None, [])
    groups = {group: np.array(own) for group, own in sorted(by_group.items(), key=lambda one: str(one[0]))}
    locals_ = _locals(groups, np.array(loose), unscored) if len(groups) > 1 else []
    return Profile(
        model=model, benchmark=name, signature=run.entry.result.signature, ungrouped=len(loose) + unscored[None],
        overall=mean_result("credit", [*loose, *chain(*groups.values())], unscored=unscored.total()),
        groups=tuple(sorted(locals_, key=lambda one: -(one.difference.value or 0.0))),
    )  # fmt: skip


def _locals(groups: Mapping[str | None, Floats], loose: Floats, unscored: Counter[str | None]) -> list[Local]:
    p_values = compare_with_whole(list(groups.values()), loose, permutations=PERMUTATIONS)
    found = []
    for place, (group, own) in enumerate(groups.items()):
        others = np.concatenate([*(values for name, values in groups.items() if name != group), loose])
        found.append(_local(str(group), own, others, p_values[place], unscored[group]))
    return found


def _local(group: str, own: Floats, others: Floats, p: float, unscored: int) -> Local:
    few, rest = len(own) < LEAST, len(others) / (len(own) + len(others))
    # What a group differs from the whole is its share of what it differs from the rest.
    one, two = ((float(values.mean()), mean_interval(values)) for values in (own, others))
    low, high = difference_interval(one, two)
    gap = Result(
        name="difference", value=rest * (one[0] - two[0]), low=None if few else rest * low,
        high=None if few else rest * high, n=len(own), unscored=unscored,
    )  # fmt: skip
    return Local(
        group=group, credit=mean_result("credit", own, unscored=unscored), difference=gap,
        p=None if few else p, adjusted=None, verdict="too few" if few else "not told apart",
    )  # fmt: skip
