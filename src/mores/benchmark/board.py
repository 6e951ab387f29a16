"""A leaderboard of runs: which model is better on which benchmark, how significant that is, and how ranks shift.

    board = make_board(read_runs([Path("bench")]))

Two models are compared on the questions that both have a score for, by a paired permutation test of their credit: the
share of correct answers to each question. The p-values of one benchmark are adjusted together.

Where all answers have a score, ranks are by the headline figure. Otherwise one model is above another if the interval
of their paired difference says so on all questions that both were asked, whatever the missing scores are; if not, they
share a rank. A judge that fails on wrong answers would otherwise bring a model to the top.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field, ValidationError

from mores.benchmark.findings import FactFindings, FactModel, Place, find_associations, read_facts
from mores.benchmark.folder import BenchRun, find_bench_runs
from mores.benchmark.kept_board import keep_board
from mores.benchmark.score import BenchResult, credit_of
from mores.errors import ConfigError, suggest
from mores.formatting import SIGNIFICANT
from mores.run import Run
from mores.stats.classification import Floats
from mores.stats.missing import decide
from mores.stats.resampling import adjust_p_values, compare_gaps, paired_gaps
from mores.stats.results import difference_result
from mores.types import Record, Result, Signature
from mores.views import NotebookView

if TYPE_CHECKING:
    from mores.stats.irt import QuestionScale

PERMUTATIONS = 10_000
WORTH_KEEPING = 20_000
"""Questions of all runs together from which a board is kept."""
SAME = ("task", "data")
"""Fields of a signature that must be the same in one table."""
ALIKE = ("judge", "decoding", "search")
"""Fields that should be."""


class Gap(Record):
    """A paired comparison with another model."""

    against: str
    difference: float
    """This model's credit less the other's, on the shared questions."""
    p: float
    adjusted: float
    n: int
    """Shared questions."""
    whole: tuple[float, float] | None = Field(None, exclude_if=lambda ends: ends is None)
    """The 95% interval of the difference on all questions that both were asked, where scores of some are missing."""

    @property
    def significant(self) -> bool:
        """True if neither chance nor missing scores explain the difference."""
        return self.adjusted < SIGNIFICANT and (self.whole is None or self.whole[0] > 0 or self.whole[1] < 0)


class Standing(Record):
    """One model's place in a table."""

    rank: int | None
    """Equal values share a rank, and those between which missing scores could decide; None without a score."""
    model: str
    """Its name, with the folder where two runs have the same."""
    folder: str
    result: Result
    """The headline figure."""
    failures: dict[str, int]
    """Answers that could not be graded, by kind."""
    signature: Signature
    best: Gap | None = None
    """Against the first."""
    next: Gap | None = None
    """Against the one below."""
    facts: dict[str, str] = Field(default_factory=dict)
    """Facts of the model's configuration, such as its provider."""
    ability: Result | None = Field(None, exclude_if=lambda ability: ability is None)
    """By an item response model of all runs on the benchmark, in logits; None where none was asked for or fits."""


class Leaderboard(Record):
    """The table of one benchmark."""

    benchmark: str
    """With the variant, where there is one."""
    title: str
    figure: str
    references: dict[str, float]
    """What others reach, as in a `BenchResult`."""
    people: dict[str, Result] = Field(default_factory=dict, exclude_if=lambda people: not people)
    """How often people are correct, as in a `BenchResult`."""
    standings: tuple[Standing, ...]
    notes: tuple[str, ...] = ()
    """What differs between the models."""
    findings: FactFindings | None = Field(None, exclude_if=lambda findings: findings is None)
    """What the results have to do with the models' sizes, versions and homes."""


class RankShift(Record):
    """Ranks of the same models on several benchmarks (MSQA, Figure 2)."""

    benchmarks: tuple[str, ...]
    ranks: dict[str, tuple[int, ...]]
    """By model, in the order of the benchmarks; among these models only."""
    left_out: tuple[str, ...] = ()
    """Models and benchmarks that are not in it because they were not run together."""


class Board(Record, NotebookView):
    """All tables."""

    leaderboards: tuple[Leaderboard, ...]
    shift: RankShift | None = None
    by: str = ""
    """The fact by which models are grouped."""


@dataclass(frozen=True)
class BoardEntry:
    """One run, with the credit of each scored question."""

    folder: str
    result: BenchResult
    credit: Mapping[str, float]
    facts: Mapping[str, str] = field(default_factory=dict)
    """Facts of the model's configuration."""
    missing: Mapping[str, float] = field(default_factory=dict)
    """By question, the share of its answers that have no score, where some have none."""
    places: Mapping[str, Place] = field(default_factory=dict)
    """The region and the language of each question, of a model whose home is known."""

    @property
    def headline(self) -> Result:
        """The first figure."""
        return next(iter(self.result.figures.values()), Result(name="", value=None))

    def filled(self, value: float) -> dict[str, float]:
        """Return the credit of every question that was asked, where each missing score is this one."""
        filled = {
            unit: self.credit.get(unit, 0.0) * (1 - share) + value * share for unit, share in self.missing.items()
        }
        return {**self.credit, **filled}


# ---- reading ---------------------------------------------------------------------------------------------------


def read_runs(folders: Iterable[Path]) -> list[BoardEntry]:
    """Return every run in these folders, and in those inside them."""
    return [read_entry(run) for run in _find_all(folders)]


def _find_all(folders: Iterable[Path]) -> list[BenchRun]:
    runs = [run for folder in folders for run in find_bench_runs(folder)]
    return list({run.path.resolve(): run for run in reversed(runs)}.values())[::-1]


def read_entry(run: BenchRun) -> BoardEntry:
    """Return a run with the credit of each of its questions."""
    tallies, result = run.tallies(), run.result
    missing = {unit: 1 - scored / asked for unit, (_, scored, asked) in tallies.items() if scored < asked}
    facts, places = run.facts, dict[str, Place]()
    if facts.get("home") or facts.get("country"):
        unit = run.benchmark().unit
        places = {unit(item): (item.region, item.language) for item in reversed(run.items())}
    return BoardEntry(str(run.path), result, credit_of(tallies), facts, missing, places)


def rank_runs(
    given: Iterable[Run | Path | str], *, force: bool = False, by: str | None = None, ability: bool = False
) -> tuple[Board, list[BenchRun]]:
    """Return `make_board` of the runs in these folders, and the runs; a large one is kept in the first folder."""
    folders = [run.path if isinstance(run, Run) else Path(run) for run in given]
    runs = _find_all(folders)

    def rank() -> Board:
        return make_board([read_entry(run) for run in runs], force=force, by=by, ability=ability)

    if sum(run.result.questions for run in runs) < WORTH_KEEPING:
        return rank(), runs
    found = keep_board(folders, (force, by, ability), lambda: rank().model_dump(mode="json"))
    with suppress(ValidationError):
        return Board.model_validate(found), runs
    return rank(), runs  # it has a number that JSON has not


# ---- tables ----------------------------------------------------------------------------------------------------


def make_board(
    entries: Sequence[BoardEntry], *, force: bool = False, by: str | None = None, ability: bool = False
) -> Board:
    """Return one table for each benchmark; runs of another version or other data are refused unless `force`.

    `by` is a fact of the models' configurations, by which they are grouped. With `ability`, an item response model of
    each benchmark with enough models says how able each is.
    """
    known = sorted({fact for entry in entries for fact in entry.facts})
    if by and by not in known:
        fix = f"there are {', '.join(known)}" if known else "no run has facts: name its model in a settings file"
        raise ConfigError(f"unknown fact {by!r}; {suggest(by, known)}{fix}", setting="by")
    by_name: dict[str, list[BoardEntry]] = defaultdict(list)
    for entry in entries:
        by_name[entry.result.name].append(entry)
    leaderboards = tuple(_leaderboard(name, members, force, ability) for name, members in sorted(by_name.items()))
    return Board(leaderboards=leaderboards, shift=_shift(leaderboards), by=by or "")


def _leaderboard(name: str, entries: list[BoardEntry], force: bool, ability: bool) -> Leaderboard:
    notes = [note for field in SAME if (note := _differing(name, field, entries))]
    if notes and not force:
        raise ConfigError(f"{notes[0]}; run them alike, give only runs of one kind, or force it", setting="force")
    notes += [note for field in ALIKE if (note := _differing(name, field, entries))]
    table = _Table(entries)
    places = table.rank()

    def key(i: int) -> tuple[int, float, int, str]:
        headline = entries[i].headline
        return places[i] or len(entries) + 1, -_least(headline), headline.unscored, entries[i].result.model

    order = sorted(range(len(entries)), key=key)
    ranked = [entries[i] for i in order]
    first, times = ranked[0].result, Counter(entry.result.model for entry in ranked)
    names = [e.result.model if times[e.result.model] == 1 else f"{e.result.model} ({e.folder})" for e in ranked]
    figure = next(iter(first.figures), "")
    if figure not in ("", "accuracy") and not first.measured:
        notes.append(f"ranks are by {figure}, p compares the shares of correct answers")
    if any(entry.missing for entry in entries):
        notes.append("models share a rank where missing scores, or chance, could decide which is better")
    # Each against the first and against the one below; a pair that is both is tested once.
    pairs = sorted({(0, i) for i in range(1, len(ranked))} | {(i, i + 1) for i in range(len(ranked) - 1)})
    compared = table.compare([(order[i], order[j]) for i, j in pairs])
    gaps = {
        (i, j): gap.model_copy(update={"against": names[j]})
        for (i, j), gap in zip(pairs, compared, strict=True)
        if gap is not None
    }
    adjusted = adjust_p_values([gap.p for gap in gaps.values()]) if gaps else np.empty(0)
    for ((upper, lower), gap), q in zip(list(gaps.items()), adjusted.tolist(), strict=True):
        gaps[upper, lower] = gap.model_copy(update={"adjusted": q})
        whole = gap.whole and (-gap.whole[1], -gap.whole[0])
        turned = {"against": names[upper], "difference": -gap.difference, "adjusted": q, "whole": whole}
        gaps[lower, upper] = gap.model_copy(update=turned)
    abilities = measure_abilities(ranked) if ability else []
    if ability and not abilities:
        from mores.stats.irt import LEAST_MODELS

        notes.append(f"no abilities: fewer than {LEAST_MODELS} models have both correct and incorrect answers")
    findings, unread = relate_facts(dict(zip(names, ranked, strict=True)))
    standings = [
        Standing(
            rank=places[order[i]], model=names[i], folder=entry.folder, result=entry.headline,
            failures=entry.result.failures, signature=entry.result.signature, best=gaps.get((i, 0)),
            next=gaps.get((i, i + 1)), facts=dict(entry.facts), ability=abilities[i] if abilities else None,
        )
        for i, entry in enumerate(ranked)
    ]  # fmt: skip
    return Leaderboard(
        benchmark=name,
        title=f"{first.title} ({first.variation})" if first.variation else first.title,
        figure=figure,
        references=first.references,
        people=first.people,
        standings=tuple(standings),
        notes=(*notes, *unread),
        findings=findings,
    )


def relate_facts(entries: Mapping[str, BoardEntry]) -> tuple[FactFindings | None, list[str]]:
    """Return what results of runs on one benchmark, by model, have to do with facts of the models; and unread facts."""
    if len(entries) < 2:
        return None, []
    facts = {name: read_facts(entry.facts) for name, entry in entries.items()}
    models = [
        FactModel(name=name, facts=facts[name][0], result=entry.headline, credit=dict(entry.credit))
        for name, entry in entries.items()
    ]
    places = {unit: place for entry in entries.values() for unit, place in entry.places.items()}
    notes = [f"{name}: {problem}" for name, (_, problems) in facts.items() for problem in problems]
    return find_associations(models, places), notes


def measure_abilities(entries: Sequence[BoardEntry]) -> list[Result]:
    """Return the ability of every model by the 1PL (`stats.irt`); empty where there are too few, or no scale."""
    from mores.stats.irt import LEAST_MODELS, fit_questions  # scipy, which boards without abilities do not need

    _, table = credit_table(entries)
    if len(entries) < LEAST_MODELS or entries[0].result.measured:
        return []
    try:
        return ability_results(fit_questions(table), table)
    except ValueError:
        return []


def credit_table(entries: Sequence[BoardEntry]) -> tuple[list[str], Floats]:
    """Return the questions that some model has a score for, and questions × models with their credit, or nan."""
    units = sorted({unit for entry in entries for unit in entry.credit})
    cells = [[entry.credit.get(unit, np.nan) for entry in entries] for unit in units]
    return units, np.array(cells, dtype=np.float64).reshape(len(units), len(entries))


def ability_results(scale: QuestionScale, table: Floats) -> list[Result]:
    """Return the ability of every model with its interval."""
    n = (~np.isnan(table)).sum(axis=0).tolist()
    return [
        Result(name="ability", value=None, n=scored)
        if np.isnan(value)
        else Result(name="ability", value=value, low=value - 1.96 * error, high=value + 1.96 * error, n=scored)
        for value, error, scored in zip(scale.ability.tolist(), scale.errors.tolist(), n, strict=True)
    ]


def _differing(name: str, field: str, entries: Sequence[BoardEntry]) -> str:
    folders: dict[str, str] = {}
    for entry in entries:
        folders.setdefault(entry.result.signature.get(field, "none"), entry.folder)
    if len(folders) < 2:
        return ""
    (value, here), (other_value, there), *_ = folders.items()
    return f"{name}: {field} is {value} in {here} and {other_value} in {there}, so the numbers are not comparable"


class _Table:
    """The credit of every model and question as arrays, and what each is at least and at most where some is missing."""

    def __init__(self, entries: Sequence[BoardEntry]) -> None:
        self.entries = entries
        units = sorted({unit for entry in entries for unit in (*entry.credit, *entry.missing)})
        place = {unit: i for i, unit in enumerate(units)}
        self.credit, share = np.full((len(entries), len(units)), np.nan), np.zeros((len(entries), len(units)))
        for row, entry in enumerate(entries):
            for cells, values in ((self.credit, entry.credit), (share, entry.missing)):
                cells[row, [place[unit] for unit in values]] = list(values.values())
        known = np.nan_to_num(self.credit)
        self.scored, self.missing = ~np.isnan(self.credit), share > 0
        self.asked = self.scored | self.missing
        self.ends = tuple(np.where(self.missing, known * (1 - share) + value * share, known) for value in (0.0, 1.0))

    def rank(self) -> list[int | None]:
        """Return one more than the number of models above each; None without a score."""
        values = [entry.headline.value for entry in self.entries]
        places: list[int | None] = []
        for i, value in enumerate(values):
            above = (j for j, other in enumerate(values) if value is not None and other is not None)
            places.append(None if value is None else 1 + sum(self._is_above(j, i, values) for j in above))
        return places

    def _is_above(self, i: int, j: int, values: Sequence[float | None]) -> bool:
        """Return whether a model is better than another, whatever the missing scores are."""
        value, other = values[i], values[j]
        gap = self.difference(i, j)
        return decide(gap) > 0 if gap else value is not None and other is not None and value > other

    def compare(self, pairs: Sequence[tuple[int, int]]) -> list[Gap | None]:
        """Return each difference of credit on the questions that both have a score for, with its test."""
        scored = [self.scored[i] & self.scored[j] for i, j in pairs]
        gaps = [
            paired_gaps(self.credit[i, both], self.credit[j, both]) for (i, j), both in zip(pairs, scored, strict=True)
        ]
        tests = iter(compare_gaps([gap for gap in gaps if gap.samples], permutations=PERMUTATIONS))
        compared: list[Gap | None] = []
        for (i, j), gap in zip(pairs, gaps, strict=True):
            if not gap.samples:
                compared.append(None)
                continue
            test, missing, against = next(tests), self.difference(i, j), self.entries[j].folder
            whole, p = missing.whole if missing else None, test.p_value
            compared.append(
                Gap(against=against, difference=test.difference, p=p, adjusted=p, n=gap.samples, whole=whole)
            )
        return compared

    def difference(self, i: int, j: int) -> Result | None:
        """Return the difference of credit on all questions that both were asked; None where no score is missing."""
        if not (self.entries[i].missing or self.entries[j].missing):
            return None
        asked = self.asked[i] & self.asked[j]
        if not (self.missing[i] | self.missing[j])[asked].any():
            return None
        first, second = ((self.ends[0][k, asked], self.ends[1][k, asked]) for k in (i, j))
        return difference_result("difference", self.credit[i, asked], self.credit[j, asked], ends=(first, second))


def _least(result: Result) -> float:
    return result.bounds[0] if result.bounds else result.value or 0.0


def compare_runs(run: BoardEntry, other: BoardEntry) -> Gap | None:
    """Return a run against another of the same benchmark; None where no question has a score in both."""
    if note := next(filter(None, (_differing(run.result.name, field, (run, other)) for field in SAME)), ""):
        raise ConfigError(f"{note}; run them alike")
    return _Table((run, other)).compare([(0, 1)])[0]


# ---- ranks -----------------------------------------------------------------------------------------------------


def _shift(leaderboards: Sequence[Leaderboard]) -> RankShift | None:
    """Return ranks on the benchmarks that at least two models share; that with the fewest models is dropped first."""
    values = {
        leaderboard.benchmark: {s.model: s.rank for s in leaderboard.standings if s.rank is not None}
        for leaderboard in leaderboards
    }
    included = sorted(values, key=lambda name: -len(values[name]))
    while len(included) > 1:
        models = [model for model in values[included[0]] if all(model in values[name] for name in included)]
        if len(models) > 1:
            break
        included.pop()
    else:
        return None
    names = [name for name in values if name in included]
    columns = [[values[name][model] for model in models] for name in names]
    ranks = {
        m: tuple(1 + sum(place < column[i] for place in column) for column in columns) for i, m in enumerate(models)
    }
    every = {model for values_of in values.values() for model in values_of}
    out = (*(name for name in values if name not in included), *sorted(every - set(models)))
    return RankShift(benchmarks=tuple(names), ranks=ranks, left_out=out)
