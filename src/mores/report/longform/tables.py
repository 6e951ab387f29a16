"""The numbers of the page for long answers, in the forms of CaLMQA: Table 2, the heatmaps, resources and tells.

Shares are shown in per cent without the sign, as the paper shows them. A cell with two numbers has that of the
culturally agnostic questions before that of the specific ones. Everything is escaped where it is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from mores.formatting import NOTHING, count, left_out, number, percent, points, to
from mores.longanswer.stages import STAGES
from mores.longanswer.summary import LEFT_OUT, LongformSummary, best_of, resource_level
from mores.longanswer.tells import Tell, Word
from mores.metric.groups import FEWEST, order_groups
from mores.report.base.blocks import Fold, Frame, Heading, PageBlock, Paragraph, Ramp, key, telling
from mores.report.base.charts import GroupedBars
from mores.report.base.grid import Cell, Grid, Head, Heat, Row, make_grid
from mores.report.base.names import group_name
from mores.report.base.shapes import Shades
from mores.report.longform.numbers import (
    Place,
    bounds,
    everywhere,
    in_words,
    interval,
    is_known,
    kinds_of,
    main_figure,
    shown,
    within,
)
from mores.types import Result

BETWEEN = " / "
LEVELS = {"high and mid": "High and mid resources", "low": "Low resources", None: "Other languages"}
"""Languages stand in this order."""
TABLE_2 = {
    "wrong language": "Wrong language\N{NO-BREAK SPACE}↓",
    "repetition": "Repetition\N{NO-BREAK SPACE}↓",
    "without issues": "Without issues\N{NO-BREAK SPACE}↑",
    "precision": "Factual precision\N{NO-BREAK SPACE}↑",
    "relevance": "Relevance\N{NO-BREAK SPACE}↑",
    "S": "S\N{NO-BREAK SPACE}↑",
}
MORE = {"claims": "Claims per answer", "recall": "Recall", "F1": "F1", "english": "In English, %"}
"""Figures that Table 2 does not have."""
TELLS = {
    Tell.APOLOGY: "Apology or “I cannot”",
    Tell.TRANSLATION: "Mentions a translation",
    Tell.NAMES_LANGUAGE: "Names the language",
    Tell.EMOJI: "Emoji",
    Tell.ENGLISH: "In English instead",
}
WORDS = {
    Word.APOLOGY: "“sorry”, “apologize” or “understand”",
    Word.TRANSLATION: "“translate” or “translation”",
    Word.LANGUAGE: "the language's name",
}


class HeatFigure(NamedTuple):
    """One figure of the paper that is a pair of heatmaps."""

    number: int
    key: str
    """As in `Summary.figures`."""
    title: str
    good: bool = True
    """Whether more is better: the colour says so."""
    turned: bool = False
    """Shown as what is missing to 1."""


FIGURES = (
    HeatFigure(2, "S", "Overall score S"),
    HeatFigure(7, "without issues", "Answers without surface issues, %"),
    HeatFigure(8, "precision", "Factual precision, %"),
    HeatFigure(9, "relevance", "Relevant answers, %"),
    HeatFigure(11, "claims", "Mean number of claims in an answer"),
    HeatFigure(12, "wrong language", "Answers in the correct language, %", turned=True),
    HeatFigure(13, "repetition", "Answers with repetitions, %", good=False),
    HeatFigure(15, "english", "Answers in English to questions in other languages, %", good=False),
)


# ---- tables ----------------------------------------------------------------------------------------------------


def _cell(name: str, figure: str, pairs: Sequence[tuple[str, Result | None]]) -> Cell:
    """Return one number for each kind, with its interval, n and what could not be scored in small print."""
    results = [result for _, result in pairs]
    hint = "; ".join(in_words(f"{name}, {kind}" if kind else name, figure, result) for kind, result in pairs)
    lines = []
    if any(is_known(result) for result in results):
        lines.append(BETWEEN.join(interval(figure, result) or NOTHING for result in results))
        lines.append(f"n {BETWEEN.join(f'{result.n if result else 0:,}' for result in results)}")
    if any(result and result.unscored for result in results):
        lines.append(f"✕ {BETWEEN.join(f'{result.unscored if result else 0:,}' for result in results)}")
    if any(bounds(result) for result in results):
        lines.append(f"within {BETWEEN.join(bounds(result) or NOTHING for result in results)}")
    scored = any(is_known(result) for result in results)
    text = BETWEEN.join(shown(figure, result) for result in results) if scored else NOTHING
    return Cell(text, small="\n".join(lines), hint=hint)


def table_2(summaries: Sequence[LongformSummary], place: Place, title: str) -> Grid | None:
    """Return models by figures; None where nobody has one of them."""
    rows = []
    for summary in summaries:
        counts = [count(summary.answers, "answer")]
        counts += [f"{summary.missing:,} not given"] if summary.missing else []
        counts += [f"{summary.undecided:,} of {summary.claims:,} claims undecided"] if summary.undecided else []
        rows.append((summary, place, ", ".join(counts) if place is everywhere else ""))
    return _table(rows, TABLE_2, kinds_of(summaries), title)


def level_table(summaries: Sequence[LongformSummary]) -> Grid | None:
    """Return the same for languages with more and with fewer resources, one below the other."""
    levels = _levels(summaries)
    if len(levels) < 2:
        return None
    rows = [(summary, within("resources", level), LEVELS[level].lower()) for summary in summaries for level in levels]
    return _table(rows, TABLE_2, kinds_of(summaries), "By level of resources")


def more_table(summaries: Sequence[LongformSummary]) -> Grid | None:
    """Return claims, recall, F1 and English."""
    ks = {summary.k for summary in summaries if summary.k is not None}
    at = f" at K = {ks.pop()}" if len(ks) == 1 else ""
    names = {key: f"{name}{at}, %" if key in ("recall", "F1") else name for key, name in MORE.items()}
    return _table([(summary, everywhere, "") for summary in summaries], names, kinds_of(summaries), "Other figures")


def tell_table(summaries: Sequence[LongformSummary]) -> Grid | None:
    """Return the share of answers with each tell."""
    names = {f"tell: {tell.value}": name for tell, name in TELLS.items()}
    rows = [(summary, everywhere, "") for summary in summaries]
    return _table(rows, names, kinds_of(summaries), "Answers with each tell, %")


def word_table(summaries: Sequence[LongformSummary]) -> Grid | None:
    """Return the share of answers with each word that the paper counts, by level of resources too."""
    names = {f"word: {word.value}": name for word, name in WORDS.items()}
    rows: list[tuple[LongformSummary, Place, str]] = [(summary, everywhere, "") for summary in summaries]
    levels = _levels(summaries)
    if len(levels) > 1:
        rows += [
            (summary, within("resources", level), LEVELS[level].lower()) for summary in summaries for level in levels
        ]
    return _table(rows, names, kinds_of(summaries), "Answers with each word anywhere, %")


def column_table(summaries: Sequence[LongformSummary], column: str) -> Grid:
    """Return the main figures of each model in every group of a column, and how far it is behind the best, with
    intervals."""
    groups = {group for summary in summaries for group in summary.by.get(column, {})}
    parts = [
        (group, summary, summary.by.get(column, {}).get(group))
        for group in order_groups(groups)
        for summary in summaries
    ]
    there = [name for name in PRINTED if any(name in figures for _, _, figures in parts if figures)]
    compared, best = any(summary.behind_by.get(column) for summary in summaries), best_of(summaries)
    figure = best.main.name if best.main else ""
    rows: list[Row] = []
    for group, summary, figures in parts:
        if figures:
            results = {name: figures.get(name) for name in there}
            cells = (Cell(shown(name, each), small=interval(name, each)) for name, each in results.items())
            gap, n = summary.behind_by.get(column, {}).get(group), max(result.n for result in figures.values())
            behind = [Cell(points(gap.value), small=to(gap.low, gap.high)) if gap else NOTHING] * compared
            rows.append((group_name(column, group), summary.model or NOTHING, *cells, *behind, n))
    note = f"behind: {figure} of {best.model} less the model's on shared questions, from {FEWEST} on" * compared
    return make_grid(f"By {column}, %", (column, "model", *there, *["behind"] * compared, "n"), rows, note)


def length_table(summaries: Sequence[LongformSummary]) -> Grid | None:
    """Return the tokens of all answers and of those without surface issues (Table 16)."""
    names = {"all": "all", "without issues": "correct language, no repetitions"}
    rows: list[Row] = []
    for summary in summaries:
        for name, lengths in summary.lengths.items():
            shown = (number(value, 1) for value in (lengths.mean, lengths.median, lengths.std))
            rows.append((summary.model or "no name", names[name], *shown, lengths.answers))
    return make_grid("Tokens in an answer", ("model", "answers", "mean", "median", "std", "n"), rows) if rows else None


def specific_table(summaries: Sequence[LongformSummary]) -> Grid | None:
    """Return how much higher each figure is for culturally specific than for agnostic questions, in points."""
    there = [name for name in TABLE_2 if any(name in summary.specific for summary in summaries)]
    rows: list[Row] = []
    for summary in summaries:
        found = (summary.specific.get(name) for name in there)
        cells = (
            Cell(points(result.value), small=to(result.low, result.high)) if result else NOTHING for result in found
        )
        rows.append((summary.model or "no name", *cells))
    return make_grid("Specific − agnostic questions", ("model", *there), rows) if there else None


def _table(
    lines: Sequence[tuple[LongformSummary, Place, str]], names: Mapping[str, str], kinds: Sequence[str], title: str
) -> Grid | None:
    """Return only the figures that are there."""
    where = [
        ({kind: place(summary, kind) for kind in kinds} or {"": place(summary, None)}) for summary, place, _ in lines
    ]
    there = [key for key in names if any(key in figures for by_kind in where for figures in by_kind.values())]
    if not there:
        return None
    rows: list[Row] = []
    for (summary, _, note), by_kind in zip(lines, where, strict=True):
        cells = (
            _cell(f"{summary.model}, {key}", key, [(kind, figures.get(key)) for kind, figures in by_kind.items()])
            for key in there
        )
        rows.append((Head(summary.model or "no name", note), *cells))
    return make_grid(title, ("model", *(names[key] for key in there)), rows)


# ---- heatmaps --------------------------------------------------------------------------------------------------


def _heat(summaries: Sequence[LongformSummary], figure: HeatFigure, kind: str | None, top: float) -> Grid | None:
    """Return languages by models; a line for all languages of a level is above them."""
    rows: list[Row] = []
    for head, place in _lines(summaries):
        results = [_turn(place(summary, kind).get(figure.key), figure) for summary in summaries]
        if any(is_known(result) for result in results):
            names = [f"{summary.model}, {head.label}" for summary in summaries]
            cells = (_heat_cell(name, figure, result, top) for name, result in zip(names, results, strict=True))
            rows.append((head, *(cell._replace(outlined=head.label in LEVELS.values()) for cell in cells)))
    title = f"{figure.title}: culturally {kind} questions" if kind else figure.title
    columns = ("language", *(summary.model or "no name" for summary in summaries))
    return make_grid(title, columns, rows, kind=Heat) if rows else None


def _lines(summaries: Sequence[LongformSummary]) -> list[tuple[Head, Place]]:
    """Return languages by level of resources and name."""
    languages = {language for summary in summaries for language in summary.by.get("language", {})}
    lines: list[tuple[Head, Place]] = []
    for level, title in LEVELS.items():
        of_level = sorted((group_name("language", tag), tag) for tag in languages if resource_level(tag) == level)
        if level and len(of_level) > 1:
            lines.append((Head(title, f"{len(of_level)} languages"), within("resources", level)))
        lines += [(Head(name, "left out in the paper" if tag in LEFT_OUT else ""), within("language", tag))
                  for name, tag in of_level]  # fmt: skip
    return lines


def _levels(summaries: Sequence[LongformSummary]) -> list[str]:
    return [
        level for level in LEVELS if level and any(level in summary.by.get("resources", {}) for summary in summaries)
    ]


def _turn(result: Result | None, figure: HeatFigure) -> Result | None:
    if result is None or not figure.turned:
        return result
    value, low, high = (None if v is None else 1 - v for v in (result.value, result.low, result.high))
    bounds, whole = (ends and (1 - ends[1], 1 - ends[0]) for ends in (result.bounds, result.whole))
    return result.model_copy(update={"value": value, "low": high, "high": low, "bounds": bounds, "whole": whole})


def _heat_cell(name: str, figure: HeatFigure, result: Result | None, top: float) -> Cell:
    if result is None or result.value is None:
        return Cell(NOTHING, hint=in_words(name, figure.key, result))
    strength = Shades(0.0, top).at(result.value)
    return Cell(
        shown(figure.key, result),
        strength if strength is None or figure.good else -strength,
        small=left_out(result.unscored),
        hint=in_words(name, figure.key, result),
        n=result.n,
    )


def heat_maps(summaries: Sequence[LongformSummary]) -> list[PageBlock]:
    """Return the heatmaps of every figure that has a value, one for each kind of question; the first is open."""
    kinds: Sequence[str | None] = kinds_of(summaries) or (None,)
    folds: list[PageBlock] = []
    for figure in FIGURES:
        top = 1.0  # 100% for shares, so that figures can be compared; the most that occurs for claims
        if figure.key == "claims":
            groups = (figures for summary in summaries for figures in summary.by.get("language", {}).values())
            top = max(telling(figures.get(figure.key) for figures in groups), default=1.0) or 1.0
        tables = [table for kind in kinds if (table := _heat(summaries, figure, kind, top))]
        if tables:
            maps = [
                Frame([Heading(t.title.partition(": ")[2].capitalize() or "All questions", level=4), t], "map")
                for t in tables
            ]
            most = number(top, 1) if figure.key == "claims" else "100"
            body = [Frame(maps, "heats"), key("", Ramp("0", most, "up" if figure.good else "down"))]
            folds.append(Fold(figure.title, body, not folds, f"\N{NO-BREAK SPACE}Figure {figure.number}"))
    lead = (
        "Languages with many or some resources come first, then those with few; the outlined lines are all languages "
        "of such a level together. The paper leaves out languages with fewer than 10 answers. "
        "Point at a cell for its interval and n."
    )
    return [Paragraph(lead), *folds] if folds else []


# ---- resources -------------------------------------------------------------------------------------------------


def level_bars(summaries: Sequence[LongformSummary]) -> list[GroupedBars]:
    """Return the main figure in languages with more and with fewer resources, one chart for each kind."""
    levels, figure = _levels(summaries), main_figure(summaries)
    if len(levels) < 2:
        return []
    name = "Overall score S" if figure == "S" else "Answers without surface issues"
    charts = []
    for kind in kinds_of(summaries) or (None,):
        rows = {
            summary.model or "no name": [within("resources", level)(summary, kind).get(figure) for level in levels]
            for summary in summaries
        }
        title = f"{name}: culturally {kind} questions" if kind else name
        charts.append(GroupedBars(title, [LEVELS[level] for level in levels], rows))
    return charts


def failure_table(failures: Mapping[str, Mapping[str, int]]) -> Grid | None:
    """Return how many answers have a failure, by model and stage."""
    seen = dict.fromkeys(stage for counts in failures.values() for stage in counts)
    stages = [*(stage for stage in STAGES if stage in seen), *(stage for stage in seen if stage not in STAGES)]
    rows = [
        (model or "no name", *(counts.get(stage) or None for stage in stages)) for model, counts in failures.items()
    ]
    columns = ("model", *(stage.capitalize() for stage in stages))
    return make_grid("Answers with a failure, by stage", columns, rows) if stages else None


# ---- the terminal ----------------------------------------------------------------------------------------------

PRINTED = ("without issues", "wrong language", "repetition", "precision", "F1", "relevance", "S", "english")
"""Figures of the terminal's tables; the page has all."""


def tables(summaries: Sequence[LongformSummary], columns: Sequence[str] = ()) -> list[Grid | str]:
    """Return tables of all answers, each kind and column, differences, lengths, what is undecided, the headlines."""
    shown: list[Grid | str] = [_main_table("all answers", [(each.model, each.figures) for each in summaries])]
    for kind in ("agnostic", "specific"):
        models = [(each.model, each.by["paper"][kind]) for each in summaries if kind in each.by.get("paper", {})]
        if models:
            shown.append(_main_table(f"culturally {kind}, without Balochi, Hiligaynon, Kirundi and Papiamento", models))
    shown += [column_table(summaries, column) for column in columns]
    shown += [table for table in (specific_table(summaries), length_table(summaries)) if table]
    figures = [each.figures["without issues"] for each in summaries if "without issues" in each.figures]
    if unscored := sum(figure.unscored for figure in figures):
        shown.append(f"in no figure: {count(unscored, 'answer')} without a decision on the surface")
    for summary in summaries:
        shown += [*_undecided(summary), summary.headline]
    return shown


def _main_table(title: str, models: Sequence[tuple[str, dict[str, Result]]]) -> Grid:
    names = [name for name in PRINTED if any(name in figures for _, figures in models)]
    rows: list[Row] = []
    for model, figures in models:
        n = figures["without issues"].n if "without issues" in figures else 0
        cells = (_share(figures[name].value if name in figures else None) for name in names)
        rows.append((model or NOTHING, *cells, n))
    return make_grid(title, ("model", *names, "n"), rows)


def _undecided(summary: LongformSummary) -> Iterator[str]:
    """Yield what failed for a model's answers, and the bounds of the figures, whatever the undecided are."""
    name = summary.model or "answers"
    judged = {stage: n for stage, n in summary.failures.items() if stage != "answer"}
    if not judged:
        return
    stages = ", ".join(f"{stage} for {n:,}" for stage, n in judged.items())
    undecided = f"{summary.undecided:,} of {summary.claims:,} claims undecided"
    yield f"{name}: failures: {stages} of {summary.answers:,} answers; {undecided}"
    figures = [summary.figures[each] for each in ("precision", "F1", "relevance", "S") if each in summary.figures]
    ends = [f"{figure.name} {bounds(figure)}" for figure in figures if figure.bounds]
    yield f"{name}: 95% intervals, whatever the undecided are: {', '.join(ends)}"


def _share(value: float | None) -> str:
    return percent(value).removesuffix("%")
