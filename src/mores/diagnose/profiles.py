"""Profiles: where a model is better and worse than on the whole (MSQA, Section 4.1.1)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mores.bench.board import Entry
from mores.diagnose.draws import bounds, draw_counts
from mores.stats.classification import Floats
from mores.stats.intervals import newcombe, wilson
from mores.stats.resampling import adjust_p_values
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
    """From the model's credit on all questions; questions are drawn within their groups."""
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
        overall=_mean("credit", np.array([*loose, *(v for own in groups.values() for v in own)]), unscored.total()),
        groups=tuple(sorted(locals_, key=lambda one: -(one.difference.value or 0.0))),
    )  # fmt: skip


def _locals(groups: Mapping[str | None, Floats], loose: Floats, unscored: Counter[str | None]) -> list[Local]:
    whole = np.concatenate([*groups.values(), loose])
    drawn = _drawn([*groups.values(), loose])
    sizes = np.array([*map(len, groups.values()), len(loose)])
    overall = (drawn * sizes).sum(axis=1) / sizes.sum()
    p_values = _permuted(groups, whole)
    return [
        _local(str(group), own, whole, drawn[:, place] - overall, p_values[place], unscored[group])
        for place, (group, own) in enumerate(groups.items())
    ]


def _local(group: str, own: Floats, whole: Floats, drawn: Floats, p: float, unscored: int) -> Local:
    few = len(own) < LEAST
    low, high = (None, None) if few else _interval(own, whole, drawn)
    value = float(own.mean() - whole.mean())
    gap = Result(name="difference", value=value, low=low, high=high, n=len(own), unscored=unscored)
    return Local(
        group=group, credit=_mean("credit", own, unscored), difference=gap, p=None if few else p, adjusted=None,
        verdict="too few" if few else "not told apart",
    )  # fmt: skip


def _interval(own: Floats, whole: Floats, drawn: Floats) -> tuple[float | None, float | None]:
    """Of shares Newcombe's, which knows that a group without any right answer may have one; else drawn.

    What a group differs from the whole is its share of what it differs from the rest.
    """
    if not is_sharp(whole):
        return bounds(drawn)
    rest = 1 - len(own) / len(whole)
    hits, others = int(own.sum()), int(whole.sum() - own.sum())
    low, high = newcombe(hits, len(own), others, len(whole) - len(own))
    return rest * low, rest * high


def _drawn(groups: Sequence[Floats]) -> Floats:
    """Resamples × groups: the mean of each, its own questions drawn; 0 for a group without any."""
    columns: list[Floats] = []
    for seed, own in enumerate(groups):
        blocks = [times @ own / len(own) for times in draw_counts(len(own), seed=seed)] if len(own) else None
        columns.append(np.concatenate(blocks) if blocks else np.zeros_like(columns[0]))
    return np.stack(columns, axis=1)


def _permuted(groups: Mapping[str | None, Floats], whole: Floats) -> list[float]:
    """For each group the share of random groups of its size whose mean is at least as far from that of the whole."""
    rng, sizes = np.random.default_rng(0), np.array([len(own) for own in groups.values()])
    starts = np.cumsum(sizes) - sizes
    observed = np.array([abs(own.mean() - whole.mean()) for own in groups.values()]) - 1e-12
    step, extreme = max(1, 1_000_000 // len(whole)), np.zeros(len(sizes))
    for start in range(0, PERMUTATIONS, step):
        rows = min(step, PERMUTATIONS - start)
        mixed = rng.permuted(np.tile(whole, (rows, 1)), axis=1)[:, : sizes.sum()]
        means = np.add.reduceat(mixed, starts, axis=1) / sizes
        extreme += (np.abs(means - whole.mean()) >= observed).sum(axis=0)
    return [float(one) for one in (1 + extreme) / (1 + PERMUTATIONS)]


def _mean(name: str, values: Floats, unscored: int) -> Result:
    """Wilson's interval where questions are right or wrong, else questions are drawn."""
    if not len(values):
        return Result(name=name, value=None, unscored=unscored)
    drawn = np.concatenate([times @ values / len(values) for times in draw_counts(len(values))])
    low, high = wilson(int(values.sum()), len(values)) if is_sharp(values) else bounds(drawn)
    return Result(name=name, value=float(values.mean()), low=low, high=high, n=len(values), unscored=unscored)


def is_sharp(values: Floats) -> bool:
    """Whether every question is right or wrong, and none between."""
    return bool(((values == 0) | (values == 1)).all())
