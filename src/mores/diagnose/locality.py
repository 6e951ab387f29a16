"""Locality: where a model is better and worse than on the whole, and whether other questions rank models otherwise.

    result = locality(read_ran([Path("bench")]))      # what `mores bench` wrote for several models and benchmarks

A question's credit is the share of correct answers to it (of long answers, the first measure); all is in credit, also
where a benchmark has another headline. MSQA, Sections 4.1.1 and 4.1.2.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path
from typing import Literal

import numpy as np

from mores.bench.board import SAME, Entry, read_runs
from mores.bench.folder import open_bench_run
from mores.diagnose.change import spoken
from mores.errors import ConfigError, InputError
from mores.show import number, percent, points, to
from mores.stats.classification import Floats
from mores.stats.correlation import kendall_tau_b
from mores.stats.intervals import difference_interval, mean_interval
from mores.stats.ranks import order, rank_range, sure_order, tau_range
from mores.stats.resampling import adjust_p_values, compare_with_whole
from mores.stats.results import mean_result
from mores.types import Record, Result, Signature

LANGUAGE = "language"
NAMED = 5
"""Groups and models that the paragraph names, at most."""
SIGNIFICANT = 0.05
"""False discovery rate."""
PERMUTATIONS = 5000
LEAST = 5
"""Questions of a group; with fewer it is shown, and not tested."""
Verdict = Literal["above", "below", "not told apart", "too few"]


@dataclass(frozen=True)
class Ran:
    """One run, with the group of each of its questions."""

    entry: Entry
    groups: Mapping[str, str | None]
    """Of every question that was asked."""


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
    signature: Signature
    overall: Result
    groups: tuple[Local, ...]
    """From the strongest to the weakest."""
    ungrouped: int = 0
    """Questions without a group: they are in the whole only."""


class Rank(Record):
    """A place among models."""

    rank: int
    """Equal ones share it."""
    last: int
    """The last of the places that equal ones share."""
    low: int
    high: int
    """Behind all that are surely better, ahead of all that are surely worse; 95% of such ranges hold the true place."""
    credit: float

    @property
    def tied(self) -> bool:
        """Whether another model has the same credit."""
        return self.last > self.rank


class Moved(Record):
    """A model's places on two benchmarks."""

    model: str
    first: Rank
    second: Rank
    shift: Result
    """The second place less the first; those of tied models are the mean of theirs. Positive is worse.

    Its interval has every difference of a place that the model may have on the one and on the other.
    """


class Shift(Record):
    """The same models on two benchmarks."""

    first: str
    second: str
    models: tuple[Moved, ...]
    """In the order of the first."""
    tau: Result
    """Kendall's tau-b of the credits, from the least to the greatest that what is sure leaves; n counts models."""
    left_out: tuple[str, ...] = ()
    """Models that are on one of the two only."""


class Locality(Record):
    """Profiles of all models, and how their ranks change."""

    models: tuple[str, ...]
    benchmarks: tuple[str, ...]
    signatures: dict[str, tuple[Signature, ...]]
    """By benchmark."""
    grouping: str
    figures: dict[str, Result]
    """Credit of each model on each benchmark, and tau of each pair."""
    profiles: tuple[Profile, ...]
    shifts: tuple[Shift, ...]
    unpaired: tuple[str, ...] = ()
    """Pairs of benchmarks that share fewer than two models."""
    notes: tuple[str, ...] = ()


# ---- reading ---------------------------------------------------------------------------------------------------


def read_ran(folders: Iterable[Path], grouping: str = LANGUAGE) -> list[Ran]:
    """Every run in these folders, and in those inside them; `grouping` is a field of items, or a label."""
    return [Ran(entry, _groups(entry, grouping)) for entry in read_runs(folders)]


def _groups(entry: Entry, grouping: str) -> dict[str, str | None]:
    folder = open_bench_run(entry.folder)
    one = folder.benchmark()
    return {one.unit(item): one.group(item, grouping) for item in reversed(folder.items())}


def locality(runs: Sequence[Ran], grouping: str = LANGUAGE, *, force: bool = False) -> Locality:
    """Compare models with themselves from group to group, and with each other from benchmark to benchmark."""
    if not runs:
        raise InputError("there is no run to look at; give folders that `mores bench` wrote")
    leagues: dict[str, dict[str, Ran]] = {
        name: _named(name, [run for run in runs if run.entry.result.name == name], force)
        for name in sorted({run.entry.result.name for run in runs})
    }
    profiles = [one for name, own in leagues.items() for one in make_profiles(name, own)]
    pairs = list(combinations(leagues, 2))
    shifts = [shift for first, second in pairs if (shift := _shift((first, second), leagues))]
    made = {(shift.first, shift.second) for shift in shifts}
    return Locality(
        models=tuple(dict.fromkeys(model for own in leagues.values() for model in own)), benchmarks=tuple(leagues),
        signatures={name: tuple(run.entry.result.signature for run in own.values()) for name, own in leagues.items()},
        grouping=grouping, figures=_figures(profiles, shifts), profiles=tuple(profiles), shifts=tuple(shifts),
        unpaired=tuple(f"{first} and {second}" for first, second in pairs if (first, second) not in made),
        notes=tuple(_notes(leagues, grouping)),
    )  # fmt: skip


def _named(league: str, runs: Sequence[Ran], force: bool) -> dict[str, Ran]:
    """The runs of one benchmark by model, with the folder where a model has several; all of the same questions."""
    for name in SAME:
        found = {run.entry.result.signature.get(name, "none"): run.entry.folder for run in runs}
        if len(found) > 1 and not force:
            (one, here), (other, there), *_ = found.items()
            raise ConfigError(
                f"{league}: {name} is {one} in {here} and {other} in {there}, so the numbers are not of the same "
                "thing; run them alike, give only runs of one kind, or force the comparison",
                setting="force",
            )
    times = Counter(run.entry.result.model for run in runs)
    return {_name(run.entry, times[run.entry.result.model] > 1): run for run in runs}


def _name(entry: Entry, several: bool) -> str:
    return f"{entry.result.model} ({entry.folder})" if several else entry.result.model


def _figures(profiles: Sequence[Profile], shifts: Sequence[Shift]) -> dict[str, Result]:
    credit = {f"{one.model} on {one.benchmark}": one.overall for one in profiles}
    return credit | {f"tau of {one.first} and {one.second}": one.tau for one in shifts}


def _notes(leagues: Mapping[str, Mapping[str, Ran]], grouping: str) -> list[str]:
    found = []
    for name, own in leagues.items():
        entry = next(iter(own.values())).entry
        if entry.headline.name not in ("", "accuracy") and not entry.result.measured:
            found.append(f"{name}: ranks and differences are of the share of right answers, not {entry.headline.name}")
        if len({group for run in own.values() for group in run.groups.values() if group}) < 2:
            found.append(f"{name}: there are no two groups by {grouping}, so it has no profile")
    return found


# ---- profiles --------------------------------------------------------------------------------------------------


def make_profiles(name: str, runs: Mapping[str, Ran]) -> list[Profile]:
    """The profiles of one benchmark, whose p-values are adjusted together."""
    profiles = [_profile(name, model, run) for model, run in runs.items()]
    tested = [local.p for profile in profiles for local in profile.groups if local.p is not None]
    adjusted = iter(adjust_p_values(tested).tolist() if tested else ())
    return [
        profile.model_copy(update={"groups": tuple(_judged(local, adjusted) for local in profile.groups)})
        for profile in profiles
    ]


def _judged(local: Local, adjusted: Iterator[float]) -> Local:
    if local.p is None:
        return local
    q, above = next(adjusted), (local.difference.value or 0.0) > 0
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
    loose = np.array(by_group.pop(None, []))
    groups = {str(group): np.array(values) for group, values in sorted(by_group.items(), key=lambda one: str(one[0]))}
    found = []
    if len(groups) > 1:
        p_values = compare_with_whole(list(groups.values()), loose, permutations=PERMUTATIONS)
        for (group, values), p in zip(groups.items(), p_values, strict=True):
            others = np.concatenate([*(rest for other, rest in groups.items() if other != group), loose])
            found.append(_local(group, values, others, p, unscored[group]))
    return Profile(
        model=model, benchmark=name, signature=run.entry.result.signature, ungrouped=len(loose) + unscored[None],
        overall=mean_result("credit", [*loose, *chain(*groups.values())], unscored=unscored.total()),
        groups=tuple(sorted(found, key=lambda local: -(local.difference.value or 0.0))),
    )  # fmt: skip


def _local(group: str, values: Floats, others: Floats, p: float, unscored: int) -> Local:
    few, rest = len(values) < LEAST, len(others) / (len(values) + len(others))
    # What a group differs from the whole is its share of what it differs from the rest.
    first, second = ((float(some.mean()), mean_interval(some)) for some in (values, others))
    low, high = difference_interval(first, second)
    gap = Result(
        name="difference", value=rest * (first[0] - second[0]), low=None if few else rest * low,
        high=None if few else rest * high, n=len(values), unscored=unscored,
    )  # fmt: skip
    return Local(
        group=group, credit=mean_result("credit", values, unscored=unscored), difference=gap,
        p=None if few else p, adjusted=None, verdict="too few" if few else "not told apart",
    )  # fmt: skip


# ---- ranks -----------------------------------------------------------------------------------------------------


def _shift(names: tuple[str, str], leagues: Mapping[str, Mapping[str, Ran]]) -> Shift | None:
    """The models that both benchmarks have, ranked on each; None with fewer than two."""
    first, second = (leagues[name] for name in names)
    models = [model for model in first if model in second and first[model].entry.credit and second[model].entry.credit]
    if len(models) < 2:
        return None
    tables = [_credits([runs[model] for model in models]) for runs in (first, second)]
    rows = [
        Moved(model=model, first=one, second=two, shift=_moved(one, two, len(models)))
        for model, one, two in zip(models, *map(_ranks, tables), strict=True)
    ]
    out = sorted({*first, *second} - set(models))
    ranked = sorted(rows, key=lambda row: (row.first.rank, row.model))
    return Shift(first=names[0], second=names[1], models=tuple(ranked), tau=_tau(rows, tables), left_out=tuple(out))


def _credits(runs: Sequence[Ran]) -> Floats:
    """Questions × models; nan where a model has no grade."""
    units = sorted({unit for run in runs for unit in run.entry.credit})
    return np.array([[run.entry.credit.get(unit, np.nan) for run in runs] for unit in units])


def _ranks(table: Floats) -> list[Rank]:
    means = np.nanmean(table, axis=0)
    first, last = rank_range(order(means))
    low, high = rank_range(sure_order(table, len(means) - 1))
    return [
        Rank(rank=rank, last=end, low=least, high=most, credit=credit)
        for rank, end, least, most, credit in zip(
            *(own.tolist() for own in (first, last, low, high, means)), strict=True
        )
    ]


def _moved(first: Rank, second: Rank, models: int) -> Result:
    value = (second.rank + second.last - first.rank - first.last) / 2
    return Result(name="shift", value=value, low=second.low - first.high, high=second.high - first.low, n=models)


def _tau(rows: Sequence[Moved], tables: Sequence[Floats]) -> Result:
    n, value = len(rows), kendall_tau_b([row.first.rank for row in rows], [row.second.rank for row in rows])
    if value is None:
        return Result(name="tau", value=None, n=n)
    low, high = tau_range(*(sure_order(table, n * (n - 1) // 2) for table in tables))
    return Result(name="tau", value=value, low=low, high=high, n=n)


# ---- in words --------------------------------------------------------------------------------------------------


def paragraph(result: Locality) -> str:
    """The result in plain words."""
    told = [_profile_told(one, result.grouping) for one in result.profiles if one.groups]
    shifts = [_shift_told(one) for one in result.shifts]
    if not told and not shifts:
        told = ["There are neither several groups of questions nor several models and benchmarks to compare."]
    notes = [f"{note[0].upper()}{note[1:]}." for note in result.notes]
    return " ".join([*told, *shifts, *notes])


def _profile_told(one: Profile, grouping: str) -> str:
    whole = "no credit" if one.overall.value is None else percent(one.overall.value)
    opening = f"{one.model} gets {whole} of {one.benchmark} right."
    sure = [_named_gaps(one, verdict, grouping) for verdict in ("above", "below")]
    few = sum(local.verdict == "too few" for local in one.groups)
    rest = f" {few} groups have fewer than {LEAST} questions and were not tested." if few else ""
    if not any(sure):
        tested = len(one.groups) - few
        return f"{opening} None of its {tested} tested groups by {grouping} can be told from the whole.{rest}"
    return f"{opening} It is {' and '.join(filter(None, sure))}.{rest}"


def _named_gaps(one: Profile, verdict: str, grouping: str) -> str:
    found = [local for local in one.groups if local.verdict == verdict]
    found = found if verdict == "above" else found[::-1]
    if not found:
        return ""
    told = ", ".join(f"{_group_name(local.group, grouping)} ({_points(local.difference)})" for local in found[:NAMED])
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return f"{'better' if verdict == 'above' else 'worse'} than on the whole in {told}{more}"


def _group_name(group: str, grouping: str) -> str:
    return spoken(group) if grouping == LANGUAGE else group


def _points(one: Result) -> str:
    return f"{points(one.value)} points, {to(one.low, one.high)}"


def _shift_told(one: Shift) -> str:
    tau = one.tau
    if tau.value is None or tau.low is None or tau.high is None:
        like = "Kendall's tau is not defined, for all models are equal on one of them"
    else:
        like = f"Kendall's tau is {number(tau.value)} (95% interval {to(tau.low, tau.high, number)})"
    sure = [row for row in one.models if row.shift.low is not None and (row.shift.low > 0 or (row.shift.high or 0) < 0)]
    moves = "; ".join(f"{row.model} from place {_place(row.first)} to {_place(row.second)}" for row in sure[:NAMED])
    more = f" and {len(sure) - NAMED} more" if len(sure) > NAMED else ""
    told = f"Surely moved: {moves}{more}." if sure else "No single model's place can be said to differ."
    return f"How alike {one.first} and {one.second} rank {tau.n} models: {like}. {told}"


def _place(one: Rank) -> str:
    return f"{one.rank} ({one.low}–{one.high})"
