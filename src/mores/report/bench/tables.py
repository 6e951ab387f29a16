"""The tables of benchmarks: the list of them, all figures, ranks, and questions beside their parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mores.benchmark.benchmark import Benchmark
from mores.benchmark.board import Board, Gap, Leaderboard
from mores.benchmark.score import BenchResult
from mores.formatting import (
    NOTHING,
    between,
    left_out,
    number,
    p_value,
    percent,
    points,
    possible,
    share_between,
    show_failures,
    to,
)
from mores.report.base.grid import Cell, Grid, Head, Row, make_grid, number_cell, share_cell
from mores.report.base.names import group_name
from mores.report.bench.findings import finding_tables
from mores.types import MUCH_MISSING, Result

if TYPE_CHECKING:
    from mores.benchmark.contract import BenchmarkCheck

SELECTED = "Accepted questions were selected because people agree on them, so that their rate is high by construction."
PARTS = "statements"
"""What the name of a reference ends with that is about the parts of questions."""


def benchmark_table(benchmarks: Iterable[Benchmark]) -> Grid:
    """Return every benchmark in a row."""
    rows = [(each.name, each.title, each.graded_by, each.licence) for each in benchmarks]
    note = f"{len(rows)} benchmarks; `mores bench info NAME` says more about one"
    return make_grid("", ("name", "what", "graded by", "licence"), rows, note, words=frozenset(range(4)))


def facts_text(facts: Mapping[str, Any]) -> str:
    """Return the facts about a benchmark (`mores.benchmark.contract.list_facts`) as lines, and then its prompts."""
    lines = []
    for name, value in facts.items():
        if name != "prompts":
            value = "; ".join(f"{group} {n:,}" for group, n in value.items()) if isinstance(value, dict) else value
            shown = ", ".join(map(str, value)) if isinstance(value, list) else value
            lines.append(f"{name + ': ':<13}{NOTHING if shown in (None, '') else shown}")
    for name, text in facts["prompts"].items():
        lines += ["", name, *(f"  {line}" for line in text.splitlines())]
    return "\n".join([*lines, ""])


def check_table(name: str, checks: Sequence[BenchmarkCheck]) -> Grid:
    """Return what a benchmark has of what it needs, and what is missing."""
    rows = [(check.name, check.status, "\n".join(check.problems)) for check in checks]
    note = f"{name}: {sum(check.status == 'ok' for check in checks)} of {len(checks)} checks are ok"
    return make_grid(name, ("check", "", "what is missing"), rows, note, words=frozenset(range(3)))


# ---- runs ------------------------------------------------------------------------------------------------------


def headline_of(result: BenchResult) -> Result:
    """Return the first figure."""
    return next(iter(result.figures.values()), Result(name="", value=None))


def references_of(result: BenchResult, of: str = "") -> dict[str, float]:
    """Return what others reach: of a figure or of parts, whose name theirs ends with, or of the headline."""
    if of:
        return {name[: -len(of) - 2]: v for name, v in result.references.items() if name.endswith(f", {of}")}
    others = tuple(f", {name}" for name in (*result.figures, PARTS))
    return {name: value for name, value in result.references.items() if not name.endswith(others)}


def tables(results: Sequence[BenchResult]) -> list[Grid | str]:
    """Return a table for each run, then a line for each: what a reader wants to know comes last."""
    return [*map(result_table, results), *(result.headline for result in results)]


SETTING = ("reasoning", "web", "open")
"""The facts of a setting in CulturALL's Table 2."""
TIERS = ("Easy", "Medium", "Hard")


def setting_tables(runs: Iterable[tuple[BenchResult, Mapping[str, str]]]) -> list[Grid]:
    """Return a table for each benchmark of several runs: each with its reasoning and web search, overall and by tier.

    As CulturALL's Table 2 has them.
    """
    of_benchmark: dict[str, list[tuple[BenchResult, Mapping[str, str]]]] = {}
    for result, facts in runs:
        of_benchmark.setdefault(result.name, []).append((result, facts))
    grids = []
    for several in (entries for entries in of_benchmark.values() if len(entries) > 1):
        names = [name for name in SETTING if any(name in facts for _, facts in several)]
        tiers = [tier for tier in TIERS if any(tier in result.by.get("tier", {}) for result, _ in several)]
        rows: list[Row] = []
        for result, facts in several:
            figure = headline_of(result)
            groups = [result.by.get("tier", {}).get(tier, {}).get(figure.name) for tier in tiers]
            known = (facts.get(name, "no" if name == "web" else NOTHING) for name in names)
            rows.append((result.model, *known, figure_cell(figure), *map(figure_cell, groups)))
        title = f"{several[0][0].title}: {headline_of(several[0][0]).name}"
        words = frozenset(range(len(names) + 1))
        grids.append(make_grid(title, ("setting", *names, "all", *tiers), rows, words=words))
    return grids


def people_words(people: Mapping[str, Result]) -> str:
    """Return how often people are correct, and what that means."""
    if not people:
        return ""
    parts = []
    for name, result in people.items():
        modes = ", ".join(f"{mode} {percent(each.value)}" for mode, each in result.by.items())
        parts.append(f"{name} {percent(result.value)} ({between(result)}{f'; {modes}' if modes else ''})")
    return f"{'; '.join(parts)}. {SELECTED}"


def result_table(result: BenchResult) -> Grid:
    """Return all figures, overall and by group, with what a reader needs beside them."""

    def line(name: str | Head, figures: Mapping[str, Result]) -> Row:
        first = next(iter(figures.values()))
        return [name, *(share_cell(figures.get(each)) for each in result.figures), first.n, first.unscored]

    groups = [
        (
            f"by {grouping}",
            [line(Head(group_name(grouping, group), short=group or None), of) for group, of in by.items()],
        )
        for grouping, by in result.by.items()
    ]
    compared = [f"{name} {percent(value)}" for name, value in result.references.items()]
    if result.rows and result.rows.value is not None:
        compared.insert(0, f"statements alone {percent(result.rows.value)}")
    agreement = result.agreement
    name, first = next(iter(result.figures.items()), ("", None))
    bounds = possible(first)
    notes = [
        f"{name} {bounds}" if bounds else "",
        f"could not be graded: {show_failures(result.failures)}" if result.failures else "",
        f"graded, but incomplete: {show_failures(result.incomplete)}" if result.incomplete else "",
        "" if agreement is None else f"agreement of the judges: Krippendorff's α {number(agreement, 3)}",
        f"for comparison: {', '.join(compared)}" if compared else "",
        people_words(result.people),
    ]
    sections = [("", [line("all", result.figures)]), *groups]
    return Grid(("", *result.figures, "n", "unscored"), sections, f"{result.title}: {result.model}", notes)


def figure_table(named: Mapping[str, BenchResult]) -> Grid | None:
    """Return every figure of several models, where there are more than the headline."""
    figures = list(dict.fromkeys(name for result in named.values() for name in result.figures))
    if len(figures) < 2:
        return None
    others = {name: references_of(next(iter(named.values())), name) for name in figures}
    lines = list(dict.fromkeys(line for references in others.values() for line in references))
    rows: list[Row] = [
        (model, *(figure_cell(result.figures.get(name)) for name in figures)) for model, result in named.items()
    ]
    rows += [(f"“{line}”", *(percent(others[name].get(line)) for name in figures)) for line in lines]
    return make_grid("All figures", ("model", *figures), rows)


def figure_cell(result: Result | None) -> Cell:
    """Return a figure with its interval and how many are left out."""
    small = " ".join(filter(None, (between(result), left_out(result.unscored)))) if result else ""
    return Cell(percent(result.value if result else None), small=small, hint=possible(result))


def statement_table(named: Mapping[str, BenchResult]) -> Grid | None:
    """Return questions beside their parts alone, which flatter (CulturalBench, Section 4)."""
    in_parts = {model: result for model, result in named.items() if result.rows}
    if not in_parts:
        return None
    names = list(dict.fromkeys(name for result in in_parts.values() for name in references_of(result, PARTS)))
    rows = [
        (
            model,
            figure_cell(headline_of(result)),
            figure_cell(result.rows),
            *(percent(references_of(result, PARTS).get(name)) for name in names),
        )
        for model, result in in_parts.items()
    ]
    columns = ("model", "whole questions", "statements alone", *(f"“{name}”, statements" for name in names))
    return make_grid("Questions and statements", columns, rows)


# ---- facts of models -------------------------------------------------------------------------------------------


def fact_lines(known: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return the facts of models for the header of a page, those of several together."""
    values: dict[str, dict[str, None]] = {}
    for facts in known:
        for name, value in facts.items():
            values.setdefault(name, {})[value] = None
    return {
        name.capitalize(): ", ".join(distinct) if len(distinct) < 4 else f"{len(distinct)} different ones"
        for name, distinct in values.items()
    }


def fact_table(models: Mapping[str, Mapping[str, str]]) -> Grid | None:
    """Return the facts of each model that is compared; None if there is one model only, or no fact."""
    names = list(dict.fromkeys(name for facts in models.values() for name in facts))
    if len(models) < 2 or not names:
        return None
    rows = [(model, *(facts.get(name, NOTHING) for name in names)) for model, facts in models.items()]
    return make_grid("Models", ("model", *names), rows, words=frozenset(range(len(names) + 1)))


# ---- a leaderboard ---------------------------------------------------------------------------------------------


def standing_table(leaderboard: Leaderboard, begin: Mapping[str, str], by: str = "") -> Grid:
    """Return ranks with differences; `begin` says where the page of a run's folder is, or its first file.

    Models are grouped `by` a fact, and have the others in columns.
    """
    known = [
        Head(name, hidden=True)
        for name in dict.fromkeys(name for each in leaderboard.standings for name in each.facts if name != by)
    ]
    groups: dict[str, list[Row]] = {}
    able = any(each.ability for each in leaderboard.standings)
    for each in leaderboard.standings:
        head = Head(f"{each.rank or NOTHING}. {each.model}", link=begin.get(each.folder, ""))
        facts, gaps = (each.facts.get(name.label, NOTHING) for name in known), (_gap(each.best), _gap(each.next))
        value, interval = share_cell(each.result)
        figure = Cell(value, small=interval, hint=possible(each.result))
        group = f"{by}: {each.facts.get(by, 'not known')}" if by else ""
        ability = [number_cell(each.ability)] if able else []
        groups.setdefault(group, []).append(
            (head, *facts, figure, *ability, *gaps, each.result.n, each.result.unscored)
        )
    columns: list[str | Head] = [
        "model",
        *known,
        leaderboard.figure,
        *(["ability"] if able else []),
        "against the best",
        "against the next",
        "n",
        "unscored",
    ]
    words = frozenset(range(len(known) + 1))
    return Grid(columns, list(groups.items()), f"{leaderboard.title}: ranks", words=words)


def _gap(gap: Gap | None) -> Cell:
    if gap is None:
        return Cell(NOTHING)
    hint = f"against {gap.against}: difference {points(gap.difference)} points on {gap.n:,} shared questions"
    hint += f"; {to(*gap.whole)} on all, whatever the unscored are" if gap.whole else ""
    small = f"p {p_value(gap.adjusted)}, n {gap.n:,}".replace("p <", "p < ")
    return Cell(number(100 * gap.difference, 1), small=small, hint=hint, star=gap.significant)


def board_tables(board: Board) -> list[Grid | str]:
    """Return a table for each benchmark, how ranks shift between them, and who is first on each."""
    ranks = []
    if shift := board.shift:
        title = "Ranks among the models that were run on all of these"
        rows = [(model, *map(str, places)) for model, places in shift.ranks.items()]
        ranks = [make_grid(title, ("model", *shift.benchmarks), rows)]
    tables = [replace(standing_table(each, {}, board.by), notes=_standing_notes(each)) for each in board.leaderboards]
    found = [table for each in board.leaderboards for table in finding_tables(each.findings, each.title)]
    return [*tables, *found, *ranks, *map(_leaderboard_headline, board.leaderboards)]


def _standing_notes(leaderboard: Leaderboard) -> list[str]:
    """Return what the page shows by itself: references, what could not be graded, and remarks."""
    references = ", ".join(f"{name} {percent(value)}" for name, value in leaderboard.references.items())
    ungraded = [  # by kind; a question may have several answers, so they are not those in the table
        f"{each.model}: " + "; ".join(filter(None, (show_failures(each.failures), possible(each.result))))
        for each in leaderboard.standings
        if each.failures
    ]
    compared = [f"for comparison: {references}"] if references else []
    people = [words] if (words := people_words(leaderboard.people)) else []
    return [*compared, *people, "differences in points; * adjusted p < 0.05", *ungraded, *leaderboard.notes]


def _leaderboard_headline(leaderboard: Leaderboard) -> str:
    """Return who is first, and whether the next one is really behind."""
    ranked = [each for each in leaderboard.standings if each.rank is not None]
    if not ranked:
        return f"{leaderboard.title}: no model has a score"
    first = [each for each in ranked if each.rank == 1]
    names = " and ".join(each.model for each in first)
    if len({each.result.value for each in first}) > 1:
        return f"{leaderboard.title}: {names} share the first rank; missing scores or chance could decide between them"
    result, verb = first[0].result, "is" if len(first) == 1 else "are"
    figure = share_between(result) if result.missing > MUCH_MISSING else percent(result.value)
    text = f"{leaderboard.title}: {names} {verb} first with {figure}"
    if len(first) > 1 or not first[0].next or len(ranked) == 1:
        return text
    gap = first[0].next
    ahead = "significantly" if gap.significant else "not significantly"
    return f"{text}, {ahead} ahead of {ranked[1].model} (adjusted p {p_value(gap.adjusted)})"
