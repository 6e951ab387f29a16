"""Judgements of texts (`mores score`, `mores show`): every text with its errors marked, and counts by group."""

from __future__ import annotations

import heapq
import math
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mores.culture import language_name, region_name
from mores.formatting import count, number, points, show_failures, show_score, span, to
from mores.metric.folder import ScoreRun
from mores.metric.groups import PLACE_NAMES, ColumnResult, ColumnTally, PairedGroups
from mores.metric.summary import Kind, ScoreSummary, ScoreTally, State, doubt, errors, lacks_certainty, state
from mores.report.base.blocks import Caution, Fold, PageBlock
from mores.report.base.charts import Amounts, IntervalRow, Intervals, Stack, StackPart, Stacks
from mores.report.base.document import ResultDocument
from mores.report.base.grid import Cell, Grid, ListGrid, Row, count_cell, make_grid, number_cell, share_cell
from mores.report.base.marks import MarkedSample, mark
from mores.report.base.names import group_name, is_web_address, look_up
from mores.report.base.page import draw, writable
from mores.report.base.text import plain
from mores.search.ground import cut, shorten
from mores.types import DEFAULT_INSTRUCTION, Blame, Error, Judgement, Sample, Severity, Signature

Pair = tuple[Sample, Judgement]
LIMIT = 2000
"""How many texts one page can hold and still open at once on a phone."""
ROWS = 40
"""A table in the terminal that would be longer shows only the worst."""
TAIL = 11
"""Scores of -11 and below share one bar."""
PASSAGE = 2000
"""Code points of a piece of evidence that are shown."""
SEVERITIES = (Severity.MAJOR, Severity.MINOR)
_ADDRESS = re.compile(r"^https?://\S+: ")
"""A server's, before what it said; a narrow terminal would show nothing else."""
STYLES: dict[State, str] = {"errors": "bold red", "clean": "blue", "unknown": "yellow", "failed": "dim"}


def describe(run: ScoreRun, by: Sequence[str] = (), counted: CountedJudgements | None = None) -> ResultDocument:
    """Return the document of a run, also by columns of its texts; `counted` has seen its judgements already."""
    settings = {name: str(run.manifest.settings.get(name) or "") for name in ("evidence", "warning", "table")}
    facts = {"Texts": run.manifest.name, "Columns": settings["table"], "Model": run.manifest.model}
    facts |= {"Evidence": settings["evidence"]}
    counted = counted or count_judgements(run.pairs(), by=run.find_columns(by))
    return counted.document("Cultural errors", facts, warning=settings["warning"] or None)


def score_lines(run: ScoreRun, lines: int, only_system: bool) -> Iterator[str]:
    """Yield the score of each line, counted from 0, and that of the system, as COMET prints them; nan for none."""
    if not only_system:
        judgements = {judgement.sample_id: judgement for judgement in run.judgements()}
        for place in range(lines):
            judgement = judgements.get(str(place + 1))
            score = judgement.score if judgement else None
            failure = judgement.failure.reason if judgement and judgement.failure else "the line is empty"
            shown = f"{score:.4f}" if score is not None else f"{math.nan}\t{' '.join(failure.split())}"
            yield f"Segment {place}\tscore: {shown}"
    mean = run.result.mean_score
    yield f"score: {math.nan if mean is None else mean:.4f}"


def describe_judgements(
    pairs: Iterable[Pair],
    title: str,
    facts: Mapping[str, str] | None = None,
    *,
    warning: str | None = None,
    limit: int = LIMIT,
    by: Sequence[str] = (),
) -> ResultDocument:
    """Return the worst texts, the distribution of scores, and errors by severity, type, language, region and `by`.

    With more than `limit` texts, the page says how many it leaves out. `facts` are those of the header in their
    order; the judge and the signature are added from the judgements unless they are given.
    """
    return count_judgements(pairs, by, limit).document(title, facts or {}, warning=warning)


_ORDER: dict[State, int] = {"errors": 0, "failed": 1, "unknown": 2, "clean": 3}


def rank(judgement: Judgement) -> tuple[int, float]:
    """Return what texts are sorted by: those with errors first, then those without a score, then the others."""
    return _ORDER[state(judgement)], judgement.score or 0.0


# ---- counts ----------------------------------------------------------------------------------------------------


def count_judgements(pairs: Iterable[Pair], by: Sequence[str] = (), limit: int = LIMIT) -> CountedJudgements:
    """Return the counts of judged texts, also by some columns, with the worst of them."""
    counted = CountedJudgements(by, limit)
    for sample, judgement in pairs:
        counted.add(sample, judgement)
    return counted


class CountedJudgements:
    """Counts judgements one by one, in all and by group, and keeps the worst; memory does not grow with the texts."""

    def __init__(self, by: Sequence[str] = (), limit: int = LIMIT) -> None:
        self.given, self.asked, self.limit = by, tuple(dict.fromkeys(by)), limit
        self.tally = ScoreTally()
        self._worst: list[tuple[int, float, int, Sample, Judgement]] = []
        """A heap, the least bad first: its rank, score and place with the opposite sign."""
        self.bars: Counter[str] = Counter()
        self.types: Counter[tuple[str, Severity]] = Counter()
        names = dict.fromkeys((*self.asked, *PLACE_NAMES))
        self.by = {name: ColumnTally(name, paired=name in self.asked) for name in names}
        self._n = self.without_instruction = 0
        self.doubtful = 0
        self._judges, self._signatures = set[str](), set[Signature]()
        self._ids = array("q")
        """A hash of each text's id: 8 bytes, however long the text."""

    def add(self, sample: Sample, judgement: Judgement, kind: Kind | None = None) -> None:
        """Count one text."""
        place, self._n = self._n, self._n + 1
        kind = kind or Kind.of(judgement)
        self.tally.add(judgement, kind)
        self.bars[_bar(judgement)] += 1
        for error in errors(judgement):
            self.types[error.type, error.severity] += 1
        self.without_instruction += sample.instruction == DEFAULT_INSTRUCTION
        self.doubtful += kind.state == "clean" and bool(doubt(judgement))
        for column in self.by.values():
            column.add(sample, judgement, kind)
        self._judges.add(judgement.judge)
        self._ids.append(hash(sample.id))
        self._signatures.add(judgement.signature)
        row = (-_ORDER[kind.state], -(judgement.score or 0.0), -place, sample, judgement)
        if len(self._worst) < self.limit:
            heapq.heappush(self._worst, row)
        elif self._worst and row > self._worst[0]:
            heapq.heapreplace(self._worst, row)

    def repeated(self) -> list[str]:
        """Return what is said where a text has several judgements, of several people for example; else nothing."""
        texts = len(np.unique(self._ids))
        said = f"{count(self._n, 'judgement')} of {count(texts, 'text')}: each is counted as a text"
        return [f"{said}, so that the intervals may be too narrow"] if texts < self._n else []

    def data_by(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the results by the columns that were asked for, under the names that a person gave them, for JSON."""
        results = {name: self.by[column].result() for name, column in zip(names, self.given, strict=True)}
        return {"by": {name: result.model_dump(mode="json") for name, result in results.items()}} if names else {}

    def document(self, title: str, facts: Mapping[str, str], *, warning: str | None = None) -> ResultDocument:
        """Return what was counted as a document."""
        rows = [(-place, sample, judgement) for _, _, place, sample, judgement in sorted(self._worst, reverse=True)]
        summary = self.tally.summary()
        asked = [(result, column_tables(result)) for result in (self.by[column].result() for column in self.asked)]
        printed = [*_turns(rows), *(table for _, tables in asked for table in tables)]
        distribution = [ScoreDistribution(_zones(summary, self.bars, self.doubtful))] if summary.judged else []
        return ResultDocument(
            "cultural error report",
            title,
            [
                _list(rows, summary.n),
                *([""] if printed else []),
                *printed,
                *self.repeated(),
                *show_summary(summary, self.doubtful),
            ],
            details=lambda: [JudgedTexts(summary.n, [text_card(*row) for row in rows])],
            opening=[
                Tiles(summary, self.doubtful),
                *distribution,
                *(Fold(table.title, [table]) for table in _turns(rows)),
                *_folds(self, asked),
            ],
            facts=self.facts(facts),
            warning=warning,
            cautions=[
                *(Caution("Several judgements", f"{sentence}.") for sentence in self.repeated()),
                *(Caution("Weak", f"{sentence}.") for sentence in _weak(summary)),
            ],
            look="score",
            script=True,
            name=title,
        )

    def facts(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the facts that are given, then the judge and the signature that all judgements share."""
        if self.without_instruction:
            told = f"“{DEFAULT_INSTRUCTION}” for {count(self.without_instruction, 'text')} that had none"
            given = {**given, "Instruction": told}
        names = {name.casefold() for name in given}
        shared = {
            name: f"{len(values)} different ones, see each text" if len(values) > 1 else "".join(values)
            for name, values in (("Judge", self._judges), ("Signature", set(map(str, self._signatures))))
            if name.casefold() not in names and (name != "Judge" or "model" not in names)
        }
        return {name: value for name, value in {**given, **shared}.items() if value}


def column_tables(result: ColumnResult) -> list[Grid]:
    """Return the texts by a column, and the differences of its groups where texts are paired."""
    rows: list[Row] = [
        (
            group_name(result.column, group.name),
            group.counts.n,
            group.counts.judged,
            share_cell(group.with_errors),
            *(group.counts.errors[severity] for severity in SEVERITIES),
            number_cell(group.score, 3),
        )
        for group in result.groups
    ]
    columns = (result.column, "texts", "judged", "with errors", *(s.value for s in SEVERITIES), "mean score")
    tables = [make_grid(f"Texts by {result.column}", columns, rows, most=ROWS)]
    if result.differences:
        columns = ("compared", "pairs", "with errors, in points", "mean score")
        differences = [
            (
                _compared(result, each),
                count_cell(each.with_errors.n, each.with_errors.unscored),
                Cell(points(each.with_errors.value), small=to(each.with_errors.low, each.with_errors.high)),
                number_cell(each.score, 3, signed=True),
            )
            for each in result.differences
        ]
        note = "on the instructions that both have texts for"
        tables.append(make_grid(f"Paired differences by {result.column}", columns, differences, note, most=ROWS))
    return tables


def _compared(result: ColumnResult, difference: PairedGroups) -> str:
    return " less ".join(group_name(result.column, name) for name in (difference.first, difference.second))


def _folds(counted: CountedJudgements, asked: Sequence[tuple[ColumnResult, list[Grid]]]) -> Iterator[PageBlock]:
    """Yield the charts and tables of the groups; those that were asked for come first, and are open."""
    for result, tables in asked:
        body = [*_charts(result), tables[0], *_difference_chart(result), *tables[1:]]
        yield Fold(tables[0].title, body, opened=True)
    names = Counter[str]()
    for (name, _), n in counted.types.items():
        names[name] += n
    if types := [(name, *(counted.types[name, s] for s in SEVERITIES), n) for name, n in names.most_common()]:
        table = make_grid("Errors by type", ("type", *(s.value for s in SEVERITIES), "errors"), types)
        severities = {severity.value: counted.tally.summary().errors[severity] for severity in SEVERITIES}
        yield Fold(table.title, [Amounts("Errors by severity", severities), table])
    for column in counted.by.values():
        if not column.paired and len((result := column.result()).groups) > 1:
            table = column_tables(result)[0]
            yield Fold(table.title, [*_charts(result)[:1], table])


def _charts(result: ColumnResult) -> list[PageBlock]:
    """Return the charts of a column: texts with errors, mean scores, and errors by severity."""
    column, groups = result.column, result.groups[:ROWS]
    names = [group_name(column, group.name) for group in groups]
    shares = [IntervalRow(name, group.with_errors) for name, group in zip(names, groups, strict=True)]
    means = [IntervalRow(name, group.score) for name, group in zip(names, groups, strict=True)]
    charts: list[PageBlock] = [Intervals(f"Texts with errors, by {column}", shares)]
    charts.append(Intervals(f"Mean score, by {column}", means, "number"))
    counts = [
        Stack(name, [group.counts.errors[s] for s in SEVERITIES]) for name, group in zip(names, groups, strict=True)
    ]
    if any(map(sum, (stack.counts for stack in counts))):
        parts = [StackPart(f"{severity.value} errors", place) for place, severity in enumerate(SEVERITIES)]
        charts.append(Stacks(f"Errors by severity, by {column}", counts, parts))
    return charts


def _difference_chart(result: ColumnResult) -> list[PageBlock]:
    rows = [IntervalRow(_compared(result, each), each.with_errors) for each in result.differences[:ROWS]]
    title = f"Differences of texts with errors, by {result.column}"
    return [Intervals(title, rows, "points", zero="no difference")] if rows else []


# ---- the terminal ----------------------------------------------------------------------------------------------


def _list(rows: Sequence[tuple[int, Sample, Judgement]], n: int) -> Grid:
    """Return a row for each text in the order of the input, or the worst when there are more."""
    shown = rows[:ROWS] if n > ROWS else sorted(rows, key=lambda row: row[0])
    lines: list[Row] = []
    for _, sample, judgement in shown:
        style = "yellow" if doubt(judgement) else STYLES[state(judgement)]
        score = Cell("" if judgement.score is None else show_score(judgement.score), style=style)
        names = (sample.id, sample.language or "", sample.region or "")
        lines.append((*names, score, count_errors(judgement), _first(judgement)))
    columns = ("id", "language", "region", "score", "errors", "first error")
    note = f"the {ROWS:,} worst of {n:,} texts" if n > ROWS else ""
    limits = {"words": frozenset({0, 1, 2, 4, 5}), "limits": (18, 10, 8, 99, 99)}
    return make_grid("", columns, lines, note, kind=ListGrid, **limits)


def _turns(rows: Sequence[tuple[int, Sample, Judgement]]) -> list[Grid]:
    """Return the errors of conversations with their places, where there are any."""
    lines: list[Row] = [
        (
            sample.id,
            error.turn.number,
            plain(error.turn.speaker),
            f"{error.turn.start}:{error.turn.end}",
            error.severity.value,
            f"“{plain(error.quote)}” {plain(error.type)}",
        )
        for _, sample, judgement in rows
        for error in sorted(errors(judgement), key=lambda error: error.start or 0)
        if error.turn
    ]
    columns = ("id", "turn", "speaker", "characters", "severity", "error")
    words = {"words": frozenset({0, 2, 3, 4, 5}), "limits": (18, 99, 14, 99, 99)}
    note = "characters are counted in the words of the turn"
    return [make_grid("Errors by turn", columns, lines, note, kind=ListGrid, most=ROWS, **words)] if lines else []


def _first(judgement: Judgement) -> Cell:
    if judgement.failure is not None:
        at = {Blame.TEXT: "", Blame.MOMENT: " at that moment", Blame.SETUP: " because of the set-up"}
        reason = _ADDRESS.sub("", judgement.failure.reason)
        return Cell(f"not judged{at[judgement.failure.blame]}: {reason}", style="dim")
    if of_text := errors(judgement):
        # What it rests on stands first: a narrow terminal cuts the end.
        rests = f"{cite(of_text[0])} " if of_text[0].evidence else ""
        weak = "weak: " if doubt(judgement) else ""
        turn = f"turn {of_text[0].turn.number}: " if of_text[0].turn else ""
        return Cell(f"{weak}{rests}{turn}“{plain(of_text[0].quote)}” {plain(of_text[0].type)}")
    if reason := doubt(judgement):
        return Cell(f"not known: {reason}", style="yellow")
    return Cell("no certainty p(R)" if lacks_certainty(judgement) else "", style="dim")


def count_errors(judgement: Judgement) -> str:
    """Return for example `1 major, 2 minor`."""
    counts = Counter(error.severity for error in errors(judgement))
    return ", ".join(f"{counts[s]} {s}" for s in SEVERITIES if counts[s])


def cite(error: Error) -> str:
    """Return the evidence that an error rests on, for example `[1][3]`."""
    return "".join(f"[{number}]" for number in dict.fromkeys(error.evidence))


def _weak(counts: ScoreSummary) -> list[str]:
    """Return one sentence for each reason for which verdicts say little."""
    return [f"{count(n, 'weak verdict')}: {plain(reason)}" for reason, n in counts.weak.items()]


def show_summary(counts: ScoreSummary, doubtful: int = 0) -> list[str]:
    """Return the lines under the table, the headline last; `doubtful` texts without errors have weak verdicts."""
    lines = [f"not judged: {show_failures(counts.failed)}"] if counts.failed else []
    if counts.without_certainty:
        lines.append(f"no certainty p(R) for {count(counts.without_certainty, 'text')} without errors")
    severities = ", ".join(f"{n:,} {severity}" for severity, n in counts.errors.items())
    found = f"{counts.with_errors:,} with errors ({severities}; {counts.unlocated:,} not found in the text)"
    if (agreed := counts.agreement) and agreed.value is not None:
        alpha = f"Krippendorff's α {number(agreed.value)} {span(agreed.low, agreed.high)}"
        lines.append(f"agreement of the judges about which texts have errors: {alpha}, n {agreed.n:,}")
    weak = f"no errors found in {count(doubtful, 'text')} with a weak verdict: whether they are correct is not known"
    return [*lines, *_weak(counts), found, *([weak] if doubtful else []), counts.headline]


# ---- the page --------------------------------------------------------------------------------------------------


class Tiles(PageBlock, template="cards/score.html.j2"):
    """The counts at the top of the page."""

    counts: ScoreSummary
    doubtful: int
    """How many texts without errors have a weak verdict."""


class ScoreDistribution(PageBlock, template="cards/score.html.j2"):
    """The two halves of the distribution of scores; a press on a bar shows only its texts."""

    zones: Sequence[Mapping[str, Any]]


class JudgedTexts(PageBlock, template="cards/score.html.j2"):
    """The texts with their errors marked, and what they are searched and filtered by."""

    n: int
    """How many there are in all."""
    cards: Sequence[Mapping[str, Any]]


def _bar(judgement: Judgement) -> str:
    """Return the bar of the distribution in which a judgement is counted: e1 … e11, p0 … p9, or unknown."""
    score = judgement.score
    if score is None:
        return ""
    if score < 0:
        return f"e{min(TAIL, math.ceil(-score))}"
    return "unknown" if lacks_certainty(judgement) else f"p{min(9, int(score * 10))}"


def _zones(counts: ScoreSummary, bars: Counter[str], doubtful: int) -> list[dict[str, Any]]:
    """Return the two halves of the distribution, on one scale of heights: sums of severities, and certainties."""
    wrong = [(f"e{TAIL}", f"score −{TAIL} or less", f"≤−{TAIL}")]
    wrong += [(f"e{n}", f"score −{n}", f"−{n}") for n in range(TAIL - 1, 0, -1)]
    right = [(f"p{n}", f"p(R) {number(n / 10, 1)} to {number((n + 1) / 10, 1)}", "") for n in range(10)]
    if counts.without_certainty:
        right.append(("unknown", "no errors, p(R) unknown", "no p(R)"))
    top = max((count for key, count in bars.items() if key), default=1)

    def drawn(keys: list[tuple[str, str, str]]) -> list[dict[str, Any]]:
        step = 100 / (len(keys) + (keys[-1][0] == "unknown"))  # that bar stands apart, at the right end
        return [
            {"key": key, "label": label, "tick": tick, "count": bars[key], "share": bars[key] / top}
            | {"left": 100 - step if key == "unknown" else place * step, "width": step}
            for place, (key, label, tick) in enumerate(keys)
        ]

    return [
        {"name": "errors", "n": counts.with_errors, "bars": drawn(wrong), "doubtful": 0},
        {"name": "clean", "n": counts.judged - counts.with_errors, "bars": drawn(right), "doubtful": doubtful},
    ]


def text_card(place: int, sample: Sample, judgement: Judgement) -> dict[str, Any]:
    """Return one text as the template shows it; an explanation that only repeats those of its errors is left out."""
    explanation = judgement.report.explanation if judgement.report else ""
    evidence = [
        shorten(piece, PASSAGE).model_dump(mode="json")
        | {"title": cut(piece.title, PASSAGE), "link": is_web_address(piece.source)}  # which a page may link to
        for piece in judgement.evidence or sample.evidence
    ]
    marked = mark(place, sample, errors(judgement), evidence)
    cited = {
        number: [error["number"] for error in marked.errors if number in error["error"].evidence]
        for number in range(1, len(evidence) + 1)
    }
    shown = "doubtful" if state(judgement) == "clean" and doubt(judgement) else state(judgement)
    return {
        "marked": marked,
        "judgement": judgement,
        "language": look_up(language_name, sample.language) or sample.language,
        "region": look_up(region_name, sample.region) or sample.region,
        "state": shown,
        "bar": _bar(judgement),
        "counts": count_errors(judgement),
        "doubt": doubt(judgement),
        "bare": shown == "clean" and not evidence and "model" in judgement.signature,
        "summary": "" if explanation == " ".join(error.explanation for error in errors(judgement)) else explanation,
        "evidence": evidence,
        "cited": cited,
    }


class JudgementView(PageBlock, template="cards/judgement.html.j2"):
    """A judgement in a notebook."""

    judgement: Judgement
    marked: MarkedSample
    counts: str
    doubt: str


def judgement_html(judgement: Judgement) -> str:
    """Return the judgement with its text, where it repeats that, for notebooks."""
    sample = judgement.sample or Sample(id=judgement.sample_id, text="")
    marked = mark(0, sample, errors(judgement))
    return writable(draw(JudgementView(judgement, marked, count_errors(judgement), doubt(judgement))))
