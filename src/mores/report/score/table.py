"""The judgements in the terminal: one row per text, and the counts that go under the table.

Everything here is pure: it returns rich renderables, and only the command line prints them. Texts and reports are
hostile input, so `plain` takes out whatever could steer a terminal before rich sees it.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator

from rich.box import SIMPLE_HEAD
from rich.console import JustifyMethod
from rich.table import Table
from rich.text import Text

from mores.formatting import count, show_failures, show_score
from mores.metric.folder import ScoreRun
from mores.metric.summary import ScoreSummary, ScoreTally, State, errors, lacks_certainty, state
from mores.report.base.grid import plain
from mores.types import Error, Judgement, Sample, Severity

Pair = tuple[Sample, Judgement]

ROWS = 40
"""A table longer than this shows only the worst."""
STYLES: dict[State, str] = {"errors": "bold red", "clean": "blue", "failed": "dim"}


def rank(judgement: Judgement) -> tuple[int, float]:
    """Worst first: texts with errors, then those that were not judged, then those without errors."""
    order: dict[State, int] = {"errors": 0, "failed": 1, "clean": 2}
    return order[state(judgement)], judgement.score or 0.0


def worst(pairs: Iterable[Pair], limit: int, tally: ScoreTally) -> list[tuple[int, Sample, Judgement]]:
    """Yield the `limit` worst pairs with their place in the input, worst first; all of them go into `tally`."""

    def counted() -> Iterator[tuple[int, Sample, Judgement]]:
        for place, (sample, judgement) in enumerate(pairs):
            tally.add(judgement)
            yield place, sample, judgement

    return heapq.nsmallest(limit, counted(), key=lambda row: (*rank(row[2]), row[0]))


def table(pairs: Iterable[Pair], *, limit: int = ROWS, tally: ScoreTally | None = None) -> Table:
    """Return one row per text in the order of the input, or the `limit` worst when there are more.

    A `tally` that is given counts every pair on the way, so that one pass gives both table and summary.
    """
    tally = tally or ScoreTally()
    before = tally.summary().n
    rows = worst(pairs, limit, tally)
    n = tally.summary().n - before
    view = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), caption_justify="left")
    cells = [_cells(*row[1:]) for row in (rows if n > limit else sorted(rows, key=lambda row: row[0]))]
    for place, (name, most) in enumerate((("id", 18), ("language", 10), ("region", 8), ("score", 99), ("errors", 99))):
        widest = max([len(name), *(row[place].cell_len for row in cells)])
        justify: JustifyMethod = "right" if name == "score" else "left"
        # Whole words and numbers, broken over lines where they are too long: what is cut off cannot be looked up.
        view.add_column(name, justify=justify, width=min(widest, most), overflow="fold")
    view.add_column("first error", min_width=16)  # its cells are cut (`_first`): the page has all of it
    for row in cells:
        view.add_row(*row)
    if n > limit:
        view.caption = Text(f"the {limit:,} worst of {n:,} texts")
    return view


def run_tables(run: ScoreRun) -> list[Table | Text]:
    """Return what is printed about a run."""
    tally = ScoreTally()
    return [table(run.pairs(), tally=tally), show_summary(tally.summary())]


def _cells(sample: Sample, judgement: Judgement) -> tuple[Text, ...]:
    style = STYLES[state(judgement)]
    return (
        Text(plain(sample.id)),
        Text(plain(sample.language or "")),
        Text(plain(sample.region or "")),
        Text("" if judgement.score is None else show_score(judgement.score), style=style),
        Text(count_errors(judgement)),
        _first(judgement),
    )


def _first(judgement: Judgement) -> Text:
    if judgement.failure is not None:
        cell = Text(f"not judged: {plain(judgement.failure.reason)}", style="dim")
    elif errors_of_text := errors(judgement):
        # What it rests on stands first: a narrow terminal cuts the end.
        rests = f"{cited(errors_of_text[0])} " if errors_of_text[0].evidence else ""
        cell = Text.assemble(f"{rests}“{plain(errors_of_text[0].quote)}” ", (plain(errors_of_text[0].type), "italic"))
    else:
        cell = Text("no certainty p(R)" if lacks_certainty(judgement) else "", style="dim")
    cell.no_wrap, cell.overflow = True, "ellipsis"
    return cell


def count_errors(judgement: Judgement) -> str:
    """For example `1 major, 2 minor`."""
    counts = Counter(error.severity for error in errors(judgement))
    return ", ".join(f"{counts[s]} {s}" for s in (Severity.MAJOR, Severity.MINOR) if counts[s])


def cited(error: Error) -> str:
    """Return the evidence that an error rests on, for example `[1][3]`."""
    return "".join(f"[{number}]" for number in dict.fromkeys(error.evidence))


def show_weak(counts: ScoreSummary) -> list[str]:
    """Return one sentence for each reason for which verdicts say little."""
    return [f"{count(n, 'weak verdict')}: {plain(reason)}" for reason, n in counts.weak.items()]


def show_summary(counts: ScoreSummary) -> Text:
    """Return the lines under the table; the headline is the last."""
    lines = [f"not judged: {show_failures(counts.failed)}"] if counts.failed else []
    if counts.without_certainty:
        lines.append(f"{counts.without_certainty:,} without errors have no certainty p(R)")
    lines += show_weak(counts)
    severities = ", ".join(f"{n:,} {severity}" for severity, n in counts.errors.items())
    lines.append(f"{counts.with_errors:,} with errors ({severities}; {counts.unlocated:,} not found in the text)")
    return Text("\n".join([*lines, counts.headline]))
