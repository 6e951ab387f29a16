"""Sections for each benchmark, with its figures, profiles, maps and groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from mores.benchmark.board import Board, Leaderboard
from mores.benchmark.score import BenchResult
from mores.formatting import headline_interval, left_out, percent, possible, show_failures
from mores.report.base.blocks import (
    Caution,
    Fold,
    Frame,
    Heading,
    Hero,
    Notes,
    PageBlock,
    Paragraph,
    RunLinks,
    Section,
    few_count,
    key,
    telling,
)
from mores.report.base.charts import GroupedBars, IntervalRow, Intervals, spoken
from mores.report.base.grid import Cell, Grid, Head, Heat, make_grid
from mores.report.base.names import group_name, numbered
from mores.report.base.shapes import Radar, RadarProfile, Ranks, Shades, World, shades
from mores.report.bench.findings import finding_blocks
from mores.report.bench.tables import (
    figure_table,
    headline_of,
    people_words,
    references_of,
    result_table,
    standing_table,
    statement_table,
)
from mores.types import MUCH_MISSING, Result

SMALL = 4
"""So many groups are bars; more are dots or a heatmap."""
OPEN = 4
"""Maps and radars that are shown at once; the others are folded away."""
OVERLAID = 5
"""So many models share one radar; with more, each has its own."""
AXES = range(3, 17)
"""How many axes a radar can have."""
TALL = 12
"""More rows stand closer together."""
TITLES = {"region": "Regions", "subregion": "Parts of countries", "language": "Languages", "topic": "Topics",
          "area": "Areas", "mode": "Modes", "tier": "Tiers", "dimension": "Dimensions"}  # fmt: skip
ORDER = ("easy", "medium", "moderate", "hard")
"""Tiers from the easiest."""
PROFILES = ("language", "area", "dimension")
"""Groupings that are drawn as radars."""
FLATTERS = (
    "A question counts only when all its statements are judged correctly. Single statements are easier to guess, so "
    "their share makes a model look better than it is."
)


# ---- one section for each benchmark ----------------------------------------------------------------------------


def sections(
    results: Sequence[BenchResult],
    leaderboards: Sequence[Leaderboard] = (),
    links: Sequence[RunLinks] = (),
    by: str = "",
) -> list[Section]:
    """Return what the results say, one section for each benchmark and way to ask; ranks are grouped `by` a fact."""
    by_name: dict[str, list[BenchResult]] = defaultdict(list)
    for result in results:
        by_name[result.name].append(result)
    by_benchmark = {leaderboard.benchmark: leaderboard for leaderboard in leaderboards}
    begin = {run.folder: next(iter(run.files.values()), "") for run in links}
    return [
        _section(f"b{place}", name, results, by_benchmark.get(name), begin, by)
        for place, (name, results) in enumerate(by_name.items(), 1)
    ]


def board_sections(board: Board, results: Sequence[BenchResult], links: Sequence[RunLinks] = ()) -> list[Section]:
    """Return the ranks on all benchmarks, then every benchmark with its standings."""
    ranks: list[PageBlock] = []
    if board.shift:
        lead = (
            "Being good on one benchmark does not mean being good on another. Ranks are among the models that were run "
            "on all of these."
        )
        title = "Rank on each benchmark, the best on top"
        ranks = [Paragraph(lead), Ranks(title, board.shift.benchmarks, board.shift.ranks)]
        if board.shift.left_out:
            ranks.append(key(f"Left out, as not run together with the others: {', '.join(board.shift.left_out)}."))
    return [Section("ranks", "Ranks", ranks), *sections(results, board.leaderboards, links, board.by)]


def _section(
    id_: str,
    name: str,
    results: Sequence[BenchResult],
    leaderboard: Leaderboard | None,
    begin: Mapping[str, str],
    by: str,
) -> Section:
    named, first = _named(results), results[0]
    variant = name.removeprefix(first.benchmark).removeprefix(".")
    body: list[PageBlock] = [_hero(first)] if len(results) == 1 else []
    if leaderboard and len(leaderboard.standings) > 1:
        text = (
            "Differences in points on the questions that both have a score for; * adjusted p < 0.05, paired "
            "permutation test. “Next” is the one below."
        )
        body += [standing_table(leaderboard, begin, by), key(text)]
    body += finding_blocks(leaderboard.findings if leaderboard else None)
    if leaderboard and leaderboard.notes:
        body.append(Notes(leaderboard.notes, "warning notes"))
    text = (
        "Dashed lines are reached without knowledge. “✕3”: three more questions could not be scored; they are in no "
        "number."
    )
    best = next(iter(named.values()))
    title = f"{next(iter(best.figures), 'score').capitalize()} with 95% intervals"
    rows = [IntervalRow(model, headline_of(r), _counts(r) if len(named) > 1 else "") for model, r in named.items()]
    rows += [IntervalRow(name, result, f"n {result.n:,}", baseline=True) for name, result in best.people.items()]
    body += [Intervals(title, rows, references=references_of(best)), key(text)]
    if best.people:
        body.append(key(people_words(best.people)))
    if len(named) == 1:
        body.append(Fold("All figures", [result_table(best)]))
    elif figures := figure_table(named):
        body += [Heading("All figures"), figures]
    if statements := statement_table(named):
        body += [Heading("Statements alone"), Caution("Flatters", FLATTERS), statements]
    body += _profiles(named) + _maps(named)
    for grouping in _groupings(results):
        if len(_groups(results, grouping)) > SMALL:
            body += _grouping(named, grouping)
    return Section(id_, f"{first.title} ({variant})" if variant else first.title, body, short=name)


def _named(results: Sequence[BenchResult]) -> dict[str, BenchResult]:
    """Return the results by model, the best first; a second run of the same model has a number."""
    ranked = sorted(results, key=lambda r: -(headline_of(r).value or 0.0))
    return dict(zip(numbered(result.model for result in ranked), ranked, strict=True))


def _hero(result: BenchResult) -> Hero:
    """Return the headline of a single run, and what it is worth."""
    headline, references = headline_of(result), references_of(result)
    lowest = headline.whole[0] if headline.whole else headline.low
    near = [name for name, value in references.items() if lowest is not None and lowest <= value]
    interval = headline_interval(headline)
    return Hero(
        percent(headline.value),
        f"95%: {interval}" if interval else "",
        result.model,
        f", {next(iter(result.figures), '')}.",
        _counts(result),
        f"This is not clearly above “{near[0]}”, which needs no knowledge." if near else "",
    )


def _counts(result: BenchResult) -> str:
    """Return how many questions a headline rests on, and what became of the others, by kind."""
    headline, kinds = headline_of(result), show_failures(result.failures)
    unit = "questions" if result.samples < 2 else "answers"
    counts = f"{headline.n:,} {unit} scored, {headline.unscored:,} unscored"
    covering = "" if headline.whole and headline.missing > MUCH_MISSING else possible(headline)
    return "; ".join(filter(None, (counts, covering, f"not graded: {kinds}" if kinds else "")))


# ---- groups ----------------------------------------------------------------------------------------------------


def _groupings(results: Sequence[BenchResult]) -> list[str]:
    names = dict.fromkeys(grouping for result in results for grouping in result.by)
    return [grouping for grouping in names if len(_groups(results, grouping)) > 1]


def _groups(results: Iterable[BenchResult], grouping: str) -> list[str]:
    """Return tiers from the easiest, a few as they come, others from the weakest; questions without a value last."""
    results = list(results)
    every = list(dict.fromkeys(group for result in results for group in result.by.get(grouping, {})))
    groups, not_given = [group for group in every if group], [group for group in every if not group]
    if all(group.casefold() in ORDER for group in groups):
        groups.sort(key=lambda group: ORDER.index(group.casefold()))
    elif len(every) > SMALL:
        groups.sort(key=lambda group: _mean(_figure_of(r, grouping, group) for r in results))
    return groups + not_given


def _mean(results: Iterable[Result | None]) -> float:
    values = [result.value for result in results if result and result.value is not None]
    return fmean(values) if values else 2.0  # groups without any score come last


def _figure_of(result: BenchResult, grouping: str, group: str) -> Result | None:
    """Return the headline figure of a group."""
    return next(iter(result.by.get(grouping, {}).get(group, {}).values()), None)


def _grouping(named: Mapping[str, BenchResult], grouping: str) -> list[PageBlock]:
    """Return dots of a single model with their intervals, or a heatmap of several."""
    results = list(named.values())
    groups, title = _groups(results, grouping), Heading(TITLES.get(grouping, grouping.capitalize()))
    if len(named) == 1:
        rows = []
        for group in groups:
            result = _figure_of(results[0], grouping, group)
            rows.append(IntervalRow(group_name(grouping, group), result, f"n {result.n if result else 0:,}"))
        chart = Intervals(f"By {grouping}, the weakest first", rows, references=references_of(results[0]))
        return [title, Frame([chart], "tall") if len(groups) > TALL else chart]
    scale = shades(telling(_figure_of(r, grouping, g) for r in results for g in groups))
    text = "Per cent. Point at a cell for its interval and n."
    return [title, _group_table(named, grouping, groups, scale), key(text, scale.ramp())]


def _size(results: Sequence[BenchResult], grouping: str, group: str) -> int:
    return max((result.n + result.unscored for r in results if (result := _figure_of(r, grouping, group))), default=0)


def _group_table(named: Mapping[str, BenchResult], grouping: str, groups: Sequence[str], scale: Shades) -> Grid:
    rows = []
    for group in groups:
        name, n = group_name(grouping, group), _size(list(named.values()), grouping, group)
        cells = (_heat_cell(f"{model}, {name}", _figure_of(r, grouping, group), scale) for model, r in named.items())
        rows.append((Head(name, f"n {n:,}"), *cells))
    table = make_grid(f"Score by {grouping}", (grouping, *named), rows, kind=Heat)
    return table if len(groups) > TALL else table.turn("model")


def _heat_cell(name: str, result: Result | None, scale: Shades) -> Cell:
    value = result.value if result else None
    return Cell(
        percent(value, 0).removesuffix("%"),
        scale.at(value),
        small=left_out(result.unscored) if result else "",
        hint=spoken(name, result),
        n=result.n if result else None,
    )


# ---- profiles and maps -----------------------------------------------------------------------------------------


def _folded(charts: Sequence[PageBlock], beside: Sequence[PageBlock], what: str, kind: str) -> list[PageBlock]:
    """Return some charts at once, with those `beside` them, and the others folded away."""
    rest = charts[OPEN:]
    shown: list[PageBlock] = [Frame([*charts[:OPEN], *beside], kind)]
    return [*shown, Fold(f"{len(rest)} more {what}", [Frame(rest, kind)])] if rest else shown


def _profiles(named: Mapping[str, BenchResult]) -> list[PageBlock]:
    """Return bars of groupings with few groups, and radars of those that make a profile (MSQA, Figures 4 and 5)."""
    results = list(named.values())
    radars: list[PageBlock] = []
    for grouping in PROFILES:
        groups = [
            g for g in sorted(_groups(results, grouping), key=lambda g: group_name(grouping, g))
            if all((result := _figure_of(r, grouping, g)) and result.value is not None for r in results)
        ]  # fmt: skip
        if len(groups) in AXES:
            radars += _radars(named, grouping, groups)
    bars = [_bars(named, g) for g in _groupings(results) if len(_groups(results, g)) <= SMALL]
    if not radars and not bars:
        return []
    aside = len(named) > OVERLAID  # too many rows to stand beside a radar
    below: list[PageBlock] = [Frame([chart], "below") for chart in bars] if aside else []
    return [Heading("Profiles"), *_folded(radars, [] if aside else bars, "profiles", "many wide"), *below]


def _bars(named: Mapping[str, BenchResult], grouping: str) -> GroupedBars:
    results = list(named.values())
    groups = _groups(results, grouping)
    heads = [f"{group_name(grouping, group)} (n {_size(results, grouping, group):,})" for group in groups]
    rows = {model: [_figure_of(result, grouping, group) for group in groups] for model, result in named.items()}
    return GroupedBars(f"By {grouping}", heads, rows)


def _radars(named: Mapping[str, BenchResult], grouping: str, groups: Sequence[str]) -> list[PageBlock]:
    results = [[_figure_of(r, grouping, g) for g in groups] for r in named.values()]
    few = [few_count(min(result.n for result in column if result)) for column in zip(*results, strict=True)]
    axes = [group_name(grouping, g) + (f" ({count})" if count else "") for g, count in zip(groups, few, strict=True)]
    profiles = [
        RadarProfile(
            model,
            [(result.value or 0.0) if result else 0.0 for result in row],
            [result.n if result else 0 for result in row],
        )
        for model, row in zip(named, results, strict=True)
    ]
    top = shades([0.0, *(score for profile in profiles for score in profile.scores)]).high
    if len(profiles) <= OVERLAID:
        return [Radar(f"By {grouping}", axes, profiles, top)]
    mean = RadarProfile(
        "mean of all models", [fmean(scores) for scores in zip(*(profile.scores for profile in profiles), strict=True)]
    )
    return [Radar(f"{profile.label}, by {grouping}", axes, [profile], top, mean) for profile in profiles]


def _maps(named: Mapping[str, BenchResult]) -> list[PageBlock]:
    scores = {
        model: {code: next(iter(figures.values())) for code, figures in result.by.get("region", {}).items() if figures}
        for model, result in named.items()
    }
    if not any(len(regions) > 1 for regions in scores.values()):
        return []
    scale = shades(telling(result for regions in scores.values() for result in regions.values()))
    maps = [World(model, regions, scale) for model, regions in scores.items()]
    text = "Pale: no data. Point at a square for the country, its interval and n."
    kind = "maps single" if len(maps) == 1 else "maps"
    return [Heading("Map"), *_folded(maps, [], "maps", kind), key(text, scale.ramp())]
