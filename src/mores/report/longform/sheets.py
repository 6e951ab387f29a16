"""The numbers of the page for long answers, in the forms of CaLMQA: Table 2, the heatmaps, resources and tells.

Shares are shown in per cent without the sign, as the paper shows them. A cell with two numbers has that of the
culturally agnostic questions before that of the specific ones. Everything is escaped where it is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeGuard

from mores.formatting import NOTHING, between, count, left_out, number, percent, possible, shares
from mores.longanswer.records import QuestionKind
from mores.longanswer.stages import STAGES
from mores.longanswer.summary import LEFT_OUT, LongformSummary, resource_level
from mores.longanswer.tells import Tell
from mores.report.base.blocks import Block, Fold, Frame, Heading, Heat, Ramp, Text, key
from mores.report.base.charts import Bars, spoken
from mores.report.base.few import telling
from mores.report.base.names import group_name
from mores.report.base.shapes import Shades
from mores.report.base.sheet import Cell, Head, Sheet
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


class Figure(NamedTuple):
    """One figure of the paper that is a pair of heatmaps."""

    number: int
    key: str
    """As in `LongformSummary.figures`."""
    title: str
    good: bool = True
    """Whether more is better: the colour says so."""
    turned: bool = False
    """Shown as what is missing to 1."""


FIGURES = (
    Figure(2, "S", "Overall score S"),
    Figure(7, "without issues", "Answers without surface issues, %"),
    Figure(8, "precision", "Factual precision, %"),
    Figure(9, "relevance", "Relevant answers, %"),
    Figure(11, "claims", "Mean number of claims in an answer"),
    Figure(12, "wrong language", "Answers in the correct language, %", turned=True),
    Figure(13, "repetition", "Answers with repetitions, %", good=False),
    Figure(15, "english", "Answers in English to questions in other languages, %", good=False),
)


# ---- where a number is -----------------------------------------------------------------------------------------


def ranked(summaries: Sequence[LongformSummary]) -> list[LongformSummary]:
    """Return the best first: by S, or by the answers without issues where there is no S."""
    figure = main_figure(summaries)

    def score(summary: LongformSummary) -> float:
        result = summary.figures.get(figure)
        return result.value if result and result.value is not None else -1.0

    return sorted(summaries, key=score, reverse=True)


def main_figure(summaries: Sequence[LongformSummary]) -> str:
    """S, where anybody has it."""
    return "S" if any(is_known(summary.figures.get("S")) for summary in summaries) else "without issues"


def is_known(result: Result | None) -> TypeGuard[Result]:
    """Return whether there is a value."""
    return result is not None and result.value is not None


def kinds_of(summaries: Sequence[LongformSummary]) -> tuple[str, ...]:
    """Return the kinds of questions that there are, agnostic before specific as in the paper."""
    return tuple(
        kind.value
        for kind in (QuestionKind.AGNOSTIC, QuestionKind.SPECIFIC)
        if any(_of_kind(summary, kind) for summary in summaries)
    )


def _of_kind(summary: LongformSummary, kind: str) -> dict[str, Result] | None:
    return summary.by.get("kind", {}).get(kind)


Place = Callable[[LongformSummary, str | None], dict[str, Result]]
"""The figures of a part of a model's answers, of one kind or, with None, of all kinds."""


def everywhere(summary: LongformSummary, kind: str | None) -> dict[str, Result]:
    """Return all languages."""
    return summary.figures if kind is None else _of_kind(summary, kind) or {}


def in_paper(summary: LongformSummary, kind: str | None) -> dict[str, Result]:
    """Without the languages that the paper leaves out."""
    return summary.by.get("paper", {}).get(kind or "all", {})


def within(grouping: str, group: str) -> Place:
    """Return one language, or the languages of one level of resources."""

    def find(summary: LongformSummary, kind: str | None) -> dict[str, Result]:
        if kind is None:
            return summary.by.get(grouping, {}).get(group, {})
        return summary.by.get(f"{grouping}, kind", {}).get(f"{group}, {kind}", {})

    return find


# ---- single numbers --------------------------------------------------------------------------------------------


def shown(figure: str, result: Result | None) -> str:
    """Return a share in per cent without the sign, a count with one decimal."""
    value = result.value if result else None
    return number(value, 1) if figure == "claims" else percent(value).removesuffix("%")


def interval(figure: str, result: Result | None) -> str:
    """Return the 95% interval in the same unit; nothing where there is none."""
    if figure != "claims":
        return between(result).removesuffix("%")
    if result is None or result.low is None or result.high is None:
        return ""
    return f"{number(result.low, 1)}–{number(result.high, 1)}"


def bounds(result: Result | None) -> str:
    """Return what a share could be in per cent, whatever the undecided are; nothing where all is decided."""
    return shares(*result.bounds).removesuffix("%") if result and result.bounds else ""


def in_words(name: str, figure: str, result: Result | None) -> str:
    """Return a number in words, for those who point at it or have it read to them."""
    if figure != "claims" or result is None or result.value is None:
        only = f"; {possible(result)}" if result and result.value is None and result.bounds else ""
        return spoken(name, result) + only
    ends = interval(figure, result)
    inside = f" (95% interval {ends})" if ends else ""
    return f"{name}: {shown(figure, result)}{inside}, n {result.n:,}, {result.unscored:,} unscored"


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


# ---- tables ----------------------------------------------------------------------------------------------------


def table_2(summaries: Sequence[LongformSummary], place: Place, title: str) -> Sheet | None:
    """Models by figures; None where nobody has one of them."""
    rows = [(summary, place, _counts(summary) if place is everywhere else "") for summary in summaries]
    return _sheet(rows, TABLE_2, kinds_of(summaries), title)


def level_table(summaries: Sequence[LongformSummary]) -> Sheet | None:
    """Return the same for languages with more and with fewer resources, one below the other."""
    levels = _levels(summaries)
    if len(levels) < 2:
        return None
    rows = [(summary, within("resources", level), LEVELS[level].lower()) for summary in summaries for level in levels]
    return _sheet(rows, TABLE_2, kinds_of(summaries), "By level of resources")


def more_table(summaries: Sequence[LongformSummary]) -> Sheet | None:
    """Claims, recall, F1 and English."""
    ks = {summary.k for summary in summaries if summary.k is not None}
    at = f" at K = {ks.pop()}" if len(ks) == 1 else ""
    names = {key: f"{name}{at}, %" if key in ("recall", "F1") else name for key, name in MORE.items()}
    return _sheet([(summary, everywhere, "") for summary in summaries], names, kinds_of(summaries), "Other figures")


def tell_table(summaries: Sequence[LongformSummary]) -> Sheet | None:
    """Return the share of answers with each tell."""
    names = {f"tell: {tell.value}": name for tell, name in TELLS.items()}
    rows = [(summary, everywhere, "") for summary in summaries]
    return _sheet(rows, names, kinds_of(summaries), "Answers with each tell, %")


def _sheet(
    rows: Sequence[tuple[LongformSummary, Place, str]], names: dict[str, str], kinds: Sequence[str], title: str
) -> Sheet | None:
    """Return only the figures that are there."""
    where = [
        ({kind: place(summary, kind) for kind in kinds} or {"": place(summary, None)}) for summary, place, _ in rows
    ]
    there = [key for key in names if any(key in figures for by_kind in where for figures in by_kind.values())]
    if not there:
        return None
    cells = [
        [
            _cell(f"{summary.model}, {key}", key, [(kind, figures.get(key)) for kind, figures in by_kind.items()])
            for key in there
        ]
        for (summary, *_), by_kind in zip(rows, where, strict=True)
    ]
    heads = [Head(summary.model or "no name", note) for summary, _, note in rows]
    return Sheet(title, heads, [Head(names[key]) for key in there], cells)


def _counts(summary: LongformSummary) -> str:
    counts = [count(summary.answers, "answer")]
    counts += [f"{summary.missing:,} not given"] if summary.missing else []
    counts += [f"{summary.undecided:,} of {summary.claims:,} claims undecided"] if summary.undecided else []
    return ", ".join(counts)


# ---- heatmaps --------------------------------------------------------------------------------------------------


def _heat(summaries: Sequence[LongformSummary], figure: Figure, kind: str | None, top: float) -> Sheet | None:
    """Languages by models; a line for all languages of a level is above them."""
    rows, cells = [], []
    for head, place in _lines(summaries):
        results = [_turned(place(summary, kind).get(figure.key), figure) for summary in summaries]
        if any(is_known(result) for result in results):
            rows.append(head)
            names = [f"{summary.model}, {head.label}" for summary in summaries]
            together = head.label in LEVELS.values()
            pairs = zip(names, results, strict=True)
            cells.append([_heat_cell(name, figure, result, top)._replace(outlined=together) for name, result in pairs])
    title = f"{figure.title}: culturally {kind} questions" if kind else figure.title
    return Sheet(title, rows, [Head(summary.model or "no name") for summary in summaries], cells) if rows else None


def _lines(summaries: Sequence[LongformSummary]) -> list[tuple[Head, Place]]:
    """Languages by level of resources and name."""
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


def _turned(result: Result | None, figure: Figure) -> Result | None:
    if result is None or not figure.turned:
        return result
    value, low, high = (None if v is None else 1 - v for v in (result.value, result.low, result.high))
    bounds = result.bounds and (1 - result.bounds[1], 1 - result.bounds[0])
    return result.model_copy(update={"value": value, "low": high, "high": low, "bounds": bounds})


def _heat_cell(name: str, figure: Figure, result: Result | None, top: float) -> Cell:
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


def _top(summaries: Sequence[LongformSummary], figure: Figure) -> float:
    """Shares have one scale from 0 to 100%, so that figures can be compared; claims go up to the most there are."""
    if figure.key != "claims":
        return 1.0
    groups = (figures for summary in summaries for figures in summary.by.get("language", {}).values())
    return max(telling(figures.get(figure.key) for figures in groups), default=1.0) or 1.0


def _ramp(figure: Figure, top: float) -> Ramp:
    return Ramp("0", number(top, 1) if figure.key == "claims" else "100", "up" if figure.good else "down")


def heat_maps(summaries: Sequence[LongformSummary]) -> list[Block]:
    """Return the heatmaps of every figure that has a value, one for each kind of question; the first is open."""
    kinds: Sequence[str | None] = kinds_of(summaries) or (None,)
    folds: list[Block] = []
    for figure in FIGURES:
        top = _top(summaries, figure)
        sheets = [sheet for kind in kinds if (sheet := _heat(summaries, figure, kind, top))]
        if sheets:
            maps = [
                Frame([Heading(s.title.partition(": ")[2].capitalize() or "All questions", level=4), Heat(s)], "map")
                for s in sheets
            ]
            body = [Frame(maps, "heats"), key("", _ramp(figure, top))]
            folds.append(Fold(figure.title, body, not folds, f"\N{NO-BREAK SPACE}Figure {figure.number}"))
    lead = (
        "Languages with many or some resources come first, then those with few; the outlined lines are all languages "
        "of such a level together. The paper leaves out languages with fewer than 10 answers. "
        "Point at a cell for its interval and n."
    )
    return [Text(lead), *folds] if folds else []


# ---- resources -------------------------------------------------------------------------------------------------


def level_bars(summaries: Sequence[LongformSummary]) -> list[Bars]:
    """Return the main figure in languages with more and with fewer resources, one chart for each kind."""
    levels, figure = _levels(summaries), main_figure(summaries)
    if len(levels) < 2:
        return []
    name = "Overall score S" if figure == "S" else "Answers without surface issues"
    kinds: Sequence[str | None] = kinds_of(summaries) or (None,)
    titles = {kind: f"{name}: culturally {kind} questions" if kind else name for kind in kinds}
    return [
        Bars(title, [LEVELS[level] for level in levels], _level_rows(summaries, levels, figure, kind))
        for kind, title in titles.items()
    ]


def _level_rows(
    summaries: Sequence[LongformSummary], levels: Sequence[str], key: str, kind: str | None
) -> dict[str, list[Result | None]]:
    return {
        summary.model or "no name": [within("resources", level)(summary, kind).get(key) for level in levels]
        for summary in summaries
    }


def failure_sheet(failures: Mapping[str, Mapping[str, int]]) -> Sheet | None:
    """Return how many answers have a failure, by model and stage."""
    seen = dict.fromkeys(stage for counts in failures.values() for stage in counts)
    stages = [*(stage for stage in STAGES if stage in seen), *(stage for stage in seen if stage not in STAGES)]
    if not stages:
        return None
    cells = [
        [Cell(f"{counts[stage]:,}" if counts.get(stage) else NOTHING) for stage in stages]
        for counts in failures.values()
    ]
    heads = [Head(model or "no name") for model in failures]
    return Sheet("Answers with a failure, by stage", heads, [Head(stage.capitalize()) for stage in stages], cells)
