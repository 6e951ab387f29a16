"""Runs of benchmarks in the browser: one HTML file with every number, its interval, and what the model got wrong.

`mores bench` writes it for its runs, `mores board` for a leaderboard. The texts in it are hostile: the template escapes
all of them, the only script hides and shows cards, and the page's policy forbids any other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from statistics import fmean
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from mores.bench.board import Board, League, Shift
from mores.bench.score import BenchResult
from mores.report.bench_answers import SURROGATES, BenchRun, examples
from mores.report.bench_charts import (
    Row,
    bars,
    bump,
    dots,
    radar,
    spoken,
)
from mores.report.bench_map import Shades, ramp, shades, world
from mores.report.bench_sheets import figure_sheet, headline_of, references_of, standing_sheet, statement_sheet
from mores.report.charts import Cell, Head, Series, heatmap, table
from mores.report.few import few_count, telling
from mores.report.links import RunLinks
from mores.report.meta_sheets import Sheet, group_name
from mores.report.page import TEMPLATES, asset, hash_of, stylesheet
from mores.show import between, left_out, name_failure, percent, possible, show_failures
from mores.types import Result

SMALL = 4
"""So many groups are bars; more are dots or a heatmap."""
OPEN = 4
"""Maps and radars that are shown at once; the others are folded away."""
OVERLAID = 5
"""So many models share one radar; with more, each has its own."""
AXES = range(3, 17)
"""How many axes a radar can have."""
TITLES = {"region": "Regions", "subregion": "Parts of countries", "language": "Languages", "topic": "Topics",
          "area": "Areas", "mode": "Modes", "tier": "Tiers", "dimension": "Dimensions"}  # fmt: skip
ORDER = ("easy", "medium", "moderate", "hard")
"""Tiers from the easiest."""
PROFILES = ("language", "area", "dimension")
"""Groupings that are drawn as radars."""


def bench_page(runs: Sequence[BenchRun], links: Sequence[RunLinks] = ()) -> str:
    """The whole page; of the answers it holds some hundreds, the wrong and the unscored first."""
    return _page(_parts([run.result for run in runs]), [run.result for run in runs], examples(runs), None, links)


def board_page(board: Board, results: Sequence[BenchResult], links: Sequence[RunLinks] = ()) -> str:
    """The page of a leaderboard; `results` are those of its runs."""
    return _page(_parts(results, board.leagues, links), results, None, board.shift, links)


def _page(
    parts: list[dict[str, Any]],
    results: Sequence[BenchResult],
    examples: dict[str, Any] | None,
    shift: Shift | None,
    links: Sequence[RunLinks],
) -> str:
    style = stylesheet("score.css", "charts.css", "meta.css", "bench.css")
    script = asset("bench.js")
    html = template("bench.html.j2").render(
        kind="leaderboard" if examples is None else "benchmark",
        title=parts[0]["title"] if len(parts) == 1 else f"{len(parts)} benchmarks",
        facts=_facts(results),
        parts=parts,
        shift=_shift_chart(shift) if shift else None,
        examples=examples,
        results=results,
        runs=links,
        style=style,
        script=script,
        style_hash=hash_of(style),
        script_hash=hash_of(script),
    )
    return SURROGATES.sub("\N{REPLACEMENT CHARACTER}", html)


@cache
def template(name: str) -> Template:
    """A template that knows how sheets are shown."""
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined)
    environment.filters.update(table=_table, heat=_heat, thousands="{:,}".format)
    environment.filters.update(name_failure=name_failure, show_failures=show_failures)
    return environment.get_template(name)


def _table(sheet: Sheet) -> Markup:
    return table(sheet.rows, sheet.columns, sheet.cells, title=sheet.title)


def _heat(sheet: Sheet) -> Markup:
    return heatmap(sheet.rows, sheet.columns, sheet.cells, title=sheet.title)


def _facts(results: Sequence[BenchResult]) -> dict[str, str]:
    models, judges = (
        dict.fromkeys(filter(None, names)) for names in ([r.model for r in results], [r.judge for r in results])
    )
    facts = {"Model": ", ".join(models) if len(models) < 4 else f"{len(models)} models"}
    if judges:
        facts["Judge"] = ", ".join(judges)
    if most := max((r.samples for r in results), default=0):
        facts["Answers to each question"] = f"{most:,}"
    return facts


# ---- the part of one benchmark ---------------------------------------------------------------------------------


def _parts(
    results: Sequence[BenchResult], leagues: Sequence[League] = (), links: Sequence[RunLinks] = ()
) -> list[dict[str, Any]]:
    by_league: dict[str, list[BenchResult]] = defaultdict(list)
    for result in results:
        by_league[result.name].append(result)
    known = {league.benchmark: league for league in leagues}
    begin = {run.folder: next(iter(run.files.values()), "") for run in links}
    return [_part(name, own, known.get(name), begin) for name, own in by_league.items()]


def _part(name: str, results: Sequence[BenchResult], league: League | None, begin: Mapping[str, str]) -> dict[str, Any]:
    named = _named(results)
    first = results[0]
    variant = name.removeprefix(first.benchmark).removeprefix(".")
    return {
        "name": name,
        "title": f"{first.title} ({variant})" if variant else first.title,
        "figure": next(iter(first.figures), ""),
        "hero": _hero(first) if len(results) == 1 else None,
        "chart": _headline_chart(named),
        "failures": {model: result.failures for model, result in named.items() if result.failures},
        "figures": figure_sheet(named),
        "standings": standing_sheet(league, begin) if league and len(league.standings) > 1 else None,
        "notes": league.notes if league else (),
        "statements": statement_sheet(named),
        "profiles": _profiles(named),
        "maps": _maps(named),
        "groupings": [_grouping(named, one) for one in _groupings(results) if len(_groups(results, one)) > SMALL],
    }


def _named(results: Sequence[BenchResult]) -> dict[str, BenchResult]:
    """By model, the best first; a second run of the same model has a number."""
    ranked = sorted(results, key=lambda r: -(headline_of(r).value or 0.0))
    seen: Counter[str] = Counter()
    named = {}
    for result in ranked:
        seen[result.model] += 1
        again = seen[result.model] > 1
        named[f"{result.model} #{seen[result.model]}" if again else result.model] = result
    return named


def _hero(result: BenchResult) -> dict[str, Any]:
    """The headline of a single run, and what it is worth."""
    found, known = headline_of(result), references_of(result)
    near = [name for name, value in known.items() if found.low is not None and found.low <= value]
    return {
        "model": result.model,
        "value": percent(found.value),
        "interval": between(found),
        "counts": _counts(result),
        "warning": f"This is not clearly above “{near[0]}”, which needs no knowledge." if near else "",
    }


def _counts(result: BenchResult) -> str:
    """How many questions a headline rests on, and what became of the others, by kind."""
    found = headline_of(result)
    kinds = show_failures(result.failures)
    unit = "questions" if result.samples < 2 else "answers"
    counts = f"{found.n:,} {unit} scored, {found.unscored:,} unscored"
    ungraded = f"not graded: {kinds}" if kinds else ""
    return "; ".join(filter(None, (counts, possible(found), ungraded)))


def _headline_chart(named: Mapping[str, BenchResult]) -> Markup:
    first = next(iter(named.values()))
    figure = next(iter(first.figures), "score")
    rows = [
        Row(model, headline_of(result), _counts(result) if len(named) > 1 else "") for model, result in named.items()
    ]
    return dots(rows, references_of(first), title=f"{figure.capitalize()} with 95% intervals")


# ---- groups ----------------------------------------------------------------------------------------------------


def _groupings(results: Sequence[BenchResult]) -> list[str]:
    found = list(dict.fromkeys(grouping for result in results for grouping in result.by))
    return [grouping for grouping in found if len(_groups(results, grouping)) > 1]


def _groups(results: Iterable[BenchResult], grouping: str) -> list[str]:
    """Tiers from the easiest, a few as they come, others from the weakest."""
    results = list(results)
    found = list(dict.fromkeys(group for result in results for group in result.by.get(grouping, {})))
    if all(group.casefold() in ORDER for group in found):
        return sorted(found, key=lambda group: ORDER.index(group.casefold()))
    if len(found) <= SMALL:
        return found
    return sorted(found, key=lambda group: _mean(_of(r, grouping, group) for r in results))


def _mean(found: Iterable[Result | None]) -> float:
    values = [one.value for one in found if one and one.value is not None]
    return fmean(values) if values else 2.0  # what nobody has a score for comes last


def _of(result: BenchResult, grouping: str, group: str) -> Result | None:
    """The headline figure of a group."""
    return next(iter(result.by.get(grouping, {}).get(group, {}).values()), None)


def _grouping(named: Mapping[str, BenchResult], grouping: str) -> dict[str, Any]:
    """Dots of a single model with their intervals, or a heatmap of several."""
    results = list(named.values())
    groups, body = _groups(results, grouping), {"name": TITLES.get(grouping, grouping.capitalize())}
    if len(named) == 1:
        rows = [_group_row(results[0], grouping, group) for group in groups]
        chart = dots(rows, references_of(results[0]), title=f"By {grouping}, the weakest first")
        return body | {"chart": chart, "tall": len(groups) > 12}
    scale = shades(telling(_of(r, grouping, g) for r in results for g in groups))
    return body | {"sheet": _group_sheet(named, grouping, groups, scale), "ramp": ramp(scale)}


def _bars(named: Mapping[str, BenchResult], grouping: str) -> Markup:
    results = list(named.values())
    groups = _groups(results, grouping)
    rows = {model: [_of(result, grouping, group) for group in groups] for model, result in named.items()}
    heads = [f"{group_name(grouping, group)} (n {_size(results, grouping, group):,})" for group in groups]
    return bars(heads, rows, title=f"By {grouping}")


def _size(results: Sequence[BenchResult], grouping: str, group: str) -> int:
    return max((found.n + found.unscored for r in results if (found := _of(r, grouping, group))), default=0)


def _group_row(result: BenchResult, grouping: str, group: str) -> Row:
    found = _of(result, grouping, group)
    n = found.n if found else 0
    return Row(group_name(grouping, group), found, f"n {n:,}")


def _group_sheet(named: Mapping[str, BenchResult], grouping: str, groups: Sequence[str], scale: Shades) -> Sheet:
    columns = [Head(model) for model in named]
    results = list(named.values())
    rows = [Head(group_name(grouping, g), f"n {_size(results, grouping, g):,}") for g in groups]
    cells = [
        [_heat_cell(f"{model}, {head.label}", _of(result, grouping, group), scale) for model, result in named.items()]
        for head, group in zip(rows, groups, strict=True)
    ]
    sheet = Sheet(f"Score by {grouping}", rows, columns, cells)
    return sheet if len(groups) > 12 else sheet.turned()


def _heat_cell(name: str, found: Result | None, scale: Shades) -> Cell:
    value = found.value if found else None
    out = left_out(found.unscored) if found else ""
    return Cell(
        percent(value, 0).removesuffix("%"),
        scale.at(value),
        small=out,
        hint=spoken(name, found),
        n=found.n if found else None,
    )


def _profiles(named: Mapping[str, BenchResult]) -> dict[str, list[Markup]] | None:
    """Bars of groupings with few groups, and radars of those that make a profile (MSQA, Figures 4 and 5)."""
    few = [g for g in _groupings(list(named.values())) if len(_groups(named.values(), g)) <= SMALL]
    charts: list[Markup] = []
    for grouping in PROFILES:
        groups = [
            g for g in sorted(_groups(named.values(), grouping), key=lambda g: group_name(grouping, g))
            if all((found := _of(r, grouping, g)) and found.value is not None for r in named.values())
        ]  # fmt: skip
        if len(groups) in AXES:
            charts += _radars(named, grouping, groups)
    beside, below = [_bars(named, grouping) for grouping in few], list[Markup]()
    if len(named) > OVERLAID:  # too many rows to stand beside a radar
        beside, below = below, beside
    drawn = {"first": charts[:OPEN] + beside, "rest": charts[OPEN:], "below": below}
    return drawn if charts or few else None


def _radars(named: Mapping[str, BenchResult], grouping: str, groups: Sequence[str]) -> list[Markup]:
    sizes = {g: min(found.n for r in named.values() if (found := _of(r, grouping, g))) for g in groups}
    axes = [group_name(grouping, g) + (f" ({few_count(sizes[g])})" if few_count(sizes[g]) else "") for g in groups]
    title = f"By {grouping}"
    series = [
        Series(
            model,
            (),
            [(found.value or 0.0) if (found := _of(r, grouping, g)) else 0.0 for g in groups],
            [found.n if (found := _of(r, grouping, g)) else 0 for g in groups],
        )
        for model, r in named.items()
    ]
    top = shades([0.0, *(value for one in series for value in one.y)]).high
    if len(series) <= OVERLAID:
        return [radar(axes, series, title=title, top=top)]
    mean = Series("mean of all models", (), [fmean(one.y[i] for one in series) for i in range(len(axes))])
    return [radar(axes, [one], title=f"{one.label}, by {grouping}", top=top, faint=mean) for one in series]


def _maps(named: Mapping[str, BenchResult]) -> dict[str, Any] | None:
    scores = {
        model: {code: next(iter(figures.values())) for code, figures in result.by.get("region", {}).items() if figures}
        for model, result in named.items()
    }
    if not any(len(own) > 1 for own in scores.values()):
        return None
    scale = shades(telling(found for own in scores.values() for found in own.values()))
    drawn = [world(own, scale, title=model) for model, own in scores.items()]
    return {"first": drawn[:OPEN], "rest": drawn[OPEN:], "ramp": ramp(scale)}


def _shift_chart(shift: Shift) -> dict[str, Any]:
    title = "Rank on each benchmark, the best on top"
    return {"chart": bump(shift.benchmarks, shift.ranks, title=title), "left_out": shift.left_out}
