"""Locality: where a model is better or worse than overall, and whether another benchmark ranks models differently.

    result = measure_locality(read_ran([Path("bench")]))    # what `mores bench` wrote for several models and benchmarks

A question's credit is the share of correct answers to it (for long answers, the first measure). All figures use credit,
even if a benchmark has another headline. MSQA, Sections 4.1.1 and 4.1.2.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from mores.benchmark.board import SAME, BoardEntry, read_runs, relate_facts
from mores.benchmark.findings import FactFindings
from mores.benchmark.folder import open_bench_run
from mores.diagnosis.change import language_label
from mores.errors import ConfigError, InputError
from mores.formatting import number, percent, points, to
from mores.stats.classification import Floats
from mores.stats.correlation import kendall_tau_b
from mores.stats.intervals import difference_interval, mean_interval
from mores.stats.missing import decide
from mores.stats.ranks import order, rank_range, significant_order, tau_range
from mores.stats.resampling import adjust_p_values, compare_with_whole
from mores.stats.results import mean_result
from mores.types import Record, Result, Signature

LANGUAGE = "language"
NAMED = 5
"""At most this many groups and models are named in the paragraph."""
SIGNIFICANT = 0.05
"""False discovery rate."""
PERMUTATIONS = 5000
LEAST = 5
"""A group with fewer questions is shown but not tested."""
Verdict = Literal["above", "below", "not significant", "too few"]


@dataclass(frozen=True)
class Ran:
    """One run, with the group of each of its questions."""

    entry: BoardEntry
    groups: Mapping[str, str | None]
    """The group of every question that was asked."""


class Local(Record):
    """A model's credit on one group of questions."""

    group: str
    credit: Result
    difference: Result
    """The difference from the model's credit on all questions."""
    p: float | None
    """The probability that a random group of the same size differs as much."""
    adjusted: float | None
    """After Benjamini and Hochberg, over all models and groups of the benchmark."""
    verdict: Verdict


class LocalityProfile(Record):
    """A model's strengths and weaknesses on a benchmark."""

    model: str
    benchmark: str
    signature: Signature
    overall: Result
    groups: tuple[Local, ...]
    """From the strongest to the weakest."""
    ungrouped: int = 0
    """Questions without a group, which count only overall."""


class Rank(Record):
    """A model's rank among others."""

    rank: int
    """Tied models share it."""
    last: int
    """The last of the ranks that tied models share."""
    low: int
    high: int
    """After all significantly better models, before all significantly worse; 95% of such ranges hold the true rank."""
    credit: float

    @property
    def tied(self) -> bool:
        """True if another model has the same credit."""
        return self.last > self.rank


class Moved(Record):
    """A model's ranks on two benchmarks."""

    model: str
    first: Rank
    second: Rank
    shift: Result
    """The second rank minus the first, with the mean rank of tied models. Positive is worse.

    Its interval contains all differences between the ranks that the model may have on either benchmark.
    """


class LocalityShift(Record):
    """The same models on two benchmarks."""

    first: str
    second: str
    models: tuple[Moved, ...]
    """Ordered by rank on the first benchmark."""
    tau: Result
    """Kendall's tau-b of the credits, with the range that the significant differences allow; n counts models."""
    left_out: tuple[str, ...] = ()
    """Models with a run on only one of the two."""


class Locality(Record):
    """The profiles of all models, and how their ranks change."""

    models: tuple[str, ...]
    benchmarks: tuple[str, ...]
    signatures: dict[str, tuple[Signature, ...]]
    """By benchmark."""
    grouping: str
    figures: dict[str, Result]
    """The credit of each model on each benchmark, and the tau of each pair of benchmarks."""
    profiles: tuple[LocalityProfile, ...]
    shifts: tuple[LocalityShift, ...]
    unpaired: tuple[str, ...] = ()
    """Pairs of benchmarks that share fewer than two models."""
    findings: dict[str, FactFindings] = Field(default_factory=dict, exclude_if=lambda findings: not findings)
    """What the results on each benchmark have to do with the models' sizes, versions and homes."""
    notes: tuple[str, ...] = ()


# ---- reading ---------------------------------------------------------------------------------------------------


def read_ran(folders: Iterable[Path], grouping: str = LANGUAGE) -> list[Ran]:
    """Return every run in these folders and their subfolders; `grouping` is a field of items, or a label."""
    runs = []
    for entry in read_runs(folders):
        folder = open_bench_run(entry.folder)
        benchmark = folder.benchmark()
        groups = {benchmark.unit(item): benchmark.group(item, grouping) for item in reversed(folder.items())}
        runs.append(Ran(entry, groups))
    return runs


def measure_locality(runs: Sequence[Ran], grouping: str = LANGUAGE, *, force: bool = False) -> Locality:
    """Compare models with themselves from group to group, and with each other from benchmark to benchmark."""
    if not runs:
        raise InputError("there is no run; give folders that `mores bench` wrote")
    by_benchmark: dict[str, dict[str, Ran]] = {
        name: runs_by_model(name, [run for run in runs if run.entry.result.name == name], force)
        for name in sorted({run.entry.result.name for run in runs})
    }
    profiles = [profile for name, by_model in by_benchmark.items() for profile in make_profiles(name, by_model)]
    pairs = list(combinations(by_benchmark, 2))
    shifts = [shift for first, second in pairs if (shift := _shift((first, second), by_benchmark))]
    credit = {f"{profile.model} on {profile.benchmark}": profile.overall for profile in profiles}
    taus = {f"tau of {shift.first} and {shift.second}": shift.tau for shift in shifts}
    compared = {(shift.first, shift.second) for shift in shifts}
    related = {
        name: relate_facts({model: run.entry for model, run in by_model.items()})
        for name, by_model in by_benchmark.items()
    }
    unread = dict.fromkeys(note for _, notes in related.values() for note in notes)
    return Locality(
        models=tuple(dict.fromkeys(chain.from_iterable(by_benchmark.values()))), benchmarks=tuple(by_benchmark),
        signatures={
            name: tuple(run.entry.result.signature for run in by_model.values())
            for name, by_model in by_benchmark.items()
        },
        grouping=grouping, figures=credit | taus, profiles=tuple(profiles), shifts=tuple(shifts),
        unpaired=tuple(f"{first} and {second}" for first, second in pairs if (first, second) not in compared),
        notes=(*_notes(by_benchmark, grouping), *unread),
        findings={name: it for name, (it, _) in related.items() if it},
    )  # fmt: skip


def runs_by_model(benchmark: str, runs: Sequence[Ran], force: bool) -> dict[str, Ran]:
    """Return the runs of one benchmark by model, with the folder if a model has several; ConfigError if they differ."""
    for name in SAME:
        values = {run.entry.result.signature.get(name, "none"): run.entry.folder for run in runs}
        if len(values) > 1 and not force:
            (value, here), (other_value, there), *_ = values.items()
            raise ConfigError(
                f"{benchmark}: {name} is {value} in {here} and {other_value} in {there}, so the numbers are not "
                "comparable; run them with the same settings, give only comparable runs, or force the comparison",
                setting="force",
            )
    times = Counter(run.entry.result.model for run in runs)
    models = [(run.entry.result.model, run) for run in runs]
    return {f"{model} ({run.entry.folder})" if times[model] > 1 else model: run for model, run in models}


def _notes(by_benchmark: Mapping[str, Mapping[str, Ran]], grouping: str) -> list[str]:
    notes = []
    for name, by_model in by_benchmark.items():
        entry = next(iter(by_model.values())).entry
        if entry.headline.name not in ("", "accuracy") and not entry.result.measured:
            notes.append(f"{name}: ranks and differences use the share of correct answers, not {entry.headline.name}")
        if len({group for run in by_model.values() for group in run.groups.values() if group}) < 2:
            notes.append(f"{name}: there are fewer than two groups by {grouping}, so it has no profile")
    return notes


# ---- profiles --------------------------------------------------------------------------------------------------


def make_profiles(name: str, runs: Mapping[str, Ran]) -> list[LocalityProfile]:
    """Return the profiles of one benchmark, whose p-values are adjusted together."""
    profiles = [_profile(name, model, run) for model, run in runs.items()]
    tested = [local.p for profile in profiles for local in profile.groups if local.p is not None]
    adjusted = iter(adjust_p_values(tested).tolist() if tested else ())

    def settle(local: Local) -> Local:
        if local.p is None:
            return local
        q, above = next(adjusted), (local.difference.value or 0.0) > 0
        explained = q > SIGNIFICANT or (local.difference.whole is not None and not decide(local.difference))
        verdict: Verdict = "not significant" if explained else "above" if above else "below"
        return local.model_copy(update={"adjusted": q, "verdict": verdict})

    return [profile.model_copy(update={"groups": tuple(map(settle, profile.groups))}) for profile in profiles]


def _profile(name: str, model: str, run: Ran) -> LocalityProfile:
    credit, unscored = run.entry.credit, Counter[str | None]()
    by_group: dict[str | None, list[float]] = defaultdict(list)
    for unit, group in run.groups.items():
        if unit in credit:
            by_group[group].append(credit[unit])
        else:
            unscored[group] += 1
    loose = np.array(by_group.pop(None, []))
    groups = {
        str(group): np.array(values) for group, values in sorted(by_group.items(), key=lambda entry: str(entry[0]))
    }
    group_results = []
    if len(groups) > 1:
        p_values = compare_with_whole(list(groups.values()), loose, permutations=PERMUTATIONS)
        for (group, values), p in zip(groups.items(), p_values, strict=True):
            others = np.concatenate([*(remaining for key, remaining in groups.items() if key != group), loose])
            missing = unscored[group], unscored.total() - unscored[group]
            group_results.append(_local(group, values, others, p, missing))
    return LocalityProfile(
        model=model, benchmark=name, signature=run.entry.result.signature, ungrouped=len(loose) + unscored[None],
        overall=mean_result("credit", [*loose, *chain(*groups.values())], unscored=unscored.total()),
        groups=tuple(sorted(group_results, key=lambda local: -(local.difference.value or 0.0))),
    )  # fmt: skip


def _local(group: str, values: Floats, others: Floats, p: float, unscored: tuple[int, int]) -> Local:
    too_few, weight = len(values) < LEAST, len(others) / (len(values) + len(others))
    # The difference from the whole is the difference from the other questions, times the share of those.
    first, second = ((float(part.mean()), mean_interval(part)) for part in (values, others))
    low, high = difference_interval(first, second)
    parts = zip((values, others), unscored, strict=True)
    credit, rest = (mean_result("credit", part, unscored=missing) for part, missing in parts)
    bounds = whole = None
    if any(unscored) and not too_few and credit.interval and rest.interval:
        (least, most), (others_least, others_most) = (
            each.bounds or (each.value or 0.0, each.value or 0.0) for each in (credit, rest)
        )
        lowest, _ = difference_interval((least, credit.interval), (others_most, rest.interval))
        _, highest = difference_interval((most, credit.interval), (others_least, rest.interval))
        bounds = weight * (least - others_most), weight * (most - others_least)
        whole = weight * lowest, weight * highest
    gap = Result(
        name="difference", value=weight * (first[0] - second[0]), low=None if too_few else weight * low,
        high=None if too_few else weight * high, n=len(values), unscored=unscored[0],
        bounds=bounds, whole=whole,
    )  # fmt: skip
    return Local(
        group=group, credit=credit, difference=gap, p=None if too_few else p, adjusted=None,
        verdict="too few" if too_few else "not significant",
    )  # fmt: skip


# ---- ranks -----------------------------------------------------------------------------------------------------


def _shift(names: tuple[str, str], by_benchmark: Mapping[str, Mapping[str, Ran]]) -> LocalityShift | None:
    """Return the models that both benchmarks have, ranked on each; None with fewer than two."""
    first, second = (by_benchmark[name] for name in names)
    models = [model for model in first if model in second and first[model].entry.credit and second[model].entry.credit]
    if len(models) < 2:
        return None
    tables = []
    for runs in (first, second):  # questions × models; nan where a model has no grade
        credit = [runs[model].entry.credit for model in models]
        units = sorted({unit for of_model in credit for unit in of_model})
        tables.append(np.array([[of_model.get(unit, np.nan) for of_model in credit] for unit in units]))
    n, rows = len(models), []
    for model, before, after in zip(models, *map(_ranks, tables), strict=True):
        value = (after.rank + after.last - before.rank - before.last) / 2
        shift = Result(name="shift", value=value, low=after.low - before.high, high=after.high - before.low, n=n)
        rows.append(Moved(model=model, first=before, second=after, shift=shift))
    tau = Result(name="tau", n=n, value=kendall_tau_b([row.first.rank for row in rows], [r.second.rank for r in rows]))
    if tau.value is not None:
        low, high = tau_range(*(significant_order(table, n * (n - 1) // 2) for table in tables))
        tau = tau.model_copy(update={"low": low, "high": high})
    out = sorted({*first, *second} - set(models))
    ranked = sorted(rows, key=lambda row: (row.first.rank, row.model))
    return LocalityShift(first=names[0], second=names[1], models=tuple(ranked), tau=tau, left_out=tuple(out))


def _ranks(table: Floats) -> list[Rank]:
    means = np.nanmean(table, axis=0)
    first, last = rank_range(order(means))
    low, high = rank_range(significant_order(table, len(means) - 1))
    return [
        Rank(rank=rank, last=end, low=least, high=most, credit=credit)
        for rank, end, least, most, credit in zip(
            *(column.tolist() for column in (first, last, low, high, means)), strict=True
        )
    ]


# ---- in words --------------------------------------------------------------------------------------------------


def paragraph(result: Locality) -> str:
    """Return the result in plain words."""
    parts = [_profile_words(profile, result.grouping) for profile in result.profiles if profile.groups]
    shifts = [_shift_words(shift) for shift in result.shifts]
    if not parts and not shifts:
        parts = ["There are not enough groups of questions, models or benchmarks to compare."]
    notes = [f"{note[0].upper()}{note[1:]}." for note in result.notes]
    return " ".join([*parts, *shifts, *notes])


def _profile_words(profile: LocalityProfile, grouping: str) -> str:
    overall = "no credit" if profile.overall.value is None else percent(profile.overall.value)
    opening = f"{profile.model} answers {overall} of {profile.benchmark} correctly."
    differences = [_named_gaps(profile, verdict, grouping) for verdict in ("above", "below")]
    small = sum(local.verdict == "too few" for local in profile.groups)
    remark = f" {small} groups have fewer than {LEAST} questions and were not tested." if small else ""
    if not any(differences):
        if not (tested := len(profile.groups) - small):
            return f"{opening} No group by {grouping} has the {LEAST} questions that a test needs."
        same = f"None of its {tested} tested groups by {grouping} differs significantly from the overall result."
        return f"{opening} {same}{remark}"
    return f"{opening} It is {' and '.join(filter(None, differences))}.{remark}"


def _named_gaps(profile: LocalityProfile, verdict: str, grouping: str) -> str:
    groups = [local for local in profile.groups if local.verdict == verdict]
    groups = groups if verdict == "above" else groups[::-1]
    if not groups:
        return ""
    label = language_label if grouping == LANGUAGE else str
    gaps = ((local.group, local.difference) for local in groups[:NAMED])
    named = ", ".join(f"{label(group)} ({points(gap.value)} points, {to(gap.low, gap.high)})" for group, gap in gaps)
    more = f" and {len(groups) - NAMED} more" if len(groups) > NAMED else ""
    return f"{'better' if verdict == 'above' else 'worse'} than overall in {named}{more}"


def _shift_words(shift: LocalityShift) -> str:
    tau = shift.tau
    if tau.value is None or tau.low is None or tau.high is None:
        agreement = "Kendall's tau is undefined, because all models are equal on one of them"
    else:
        agreement = f"Kendall's tau is {number(tau.value)} (95% interval {to(tau.low, tau.high, number)})"
    moved = [
        row for row in shift.models if row.shift.low is not None and (row.shift.low > 0 or (row.shift.high or 0) < 0)
    ]
    moves = "; ".join(f"{row.model} from rank {_place(row.first)} to {_place(row.second)}" for row in moved[:NAMED])
    more = f" and {len(moved) - NAMED} more" if len(moved) > NAMED else ""
    conclusion = f"Significant changes: {moves}{more}." if moved else "No model's rank changes significantly."
    return f"Agreement of {shift.first} and {shift.second} on the ranks of {tau.n} models: {agreement}. {conclusion}"


def _place(rank: Rank) -> str:
    return f"{rank.rank} ({rank.low}–{rank.high})"
