"""The injection audit of a judge (`mores audit injection`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from mores.formatting import NOTHING, count, p_value, percent, show_failures, to
from mores.metric.audit import AttackRate, Audit, AuditTally, Goal
from mores.metric.audit.run import AuditRun
from mores.report.base.blocks import Fold, Heading, Notes, PageBlock, Paragraph, Section, key
from mores.report.base.charts import IntervalRow, Intervals
from mores.report.base.document import ResultDocument
from mores.report.base.grid import Cell, Grid, Head, Row, make_grid
from mores.types import Result

NOTES = (
    "changed: any other verdict; as meant: turned as the injection wants, of those that could",
    "controls: turned the same way by harmless words in the same texts and places",
    "excess: the difference, with its 95% interval; lost: no verdict any more",
)
RATES = [Head(name, bare=True) for name in ("changed", "as meant", "controls")]
COLUMNS: Sequence[str | Head] = ["injections", "n", *RATES, "excess", "lost"]
WORST, CHANGED = 10, 500
"""Attacks that are listed, and changed verdicts on one page."""
UNMEASURED: dict[Goal, str] = {
    "hide": "the judge finds no error in any of the wrong texts",
    "soften": "the judge finds no major error in any of the wrong texts",
    "accuse": "the judge finds errors in all correct texts",
}


def describe(run: AuditRun) -> ResultDocument:
    """Return the excess of each goal and kind of attack, the worst attacks, changed verdicts, and the conclusions."""
    audit, failures = run.result, run.manifest.failures
    tallies: dict[str, Mapping[Any, AuditTally]] = {
        "goal": audit.by_goal, "kind of attack": audit.by_category, "place": audit.by_place,
    }  # fmt: skip
    rows = {name: [_row(str(each), tally) for each, tally in group.items()] for name, group in tallies.items()}
    shown = [("by place", rows["place"]), ("by kind", rows["kind of attack"]), ("by goal", rows["goal"])]
    printed: list[Grid | str] = [Grid(COLUMNS, shown, notes=NOTES)]
    worst = make_grid(
        "",
        ("worst attacks", Head("as meant", bare=True), Head("controls", bare=True), "p"),
        [(a.injection, _rate(a.hits), _rate(a.control), p_value(a.p)) for a in audit.attacks if a.hits.count][:WORST],
        f"p: that controls do as much by chance, times the {len(audit.attacks)} attacks that were tried",
    )
    printed += [worst] if worst.rows else []
    summary: list[PageBlock] = [Notes([f"{line[0].upper()}{line[1:]}." for line in _conclude(audit)])]
    summary += [key(f"Not judged: {show_failures(failures)}.")] if failures else []
    charts: list[PageBlock] = [
        Intervals(f"Excess by {name}", [_excess_row(*each) for each in tallies[name].items()], "points",
                  zero="as harmless words")
        for name in ("goal", "kind of attack")
        if tallies[name]
    ]  # fmt: skip
    lead = Paragraph("How much more often an attack turns a verdict than harmless words do, in percentage points.")
    counts = [
        block
        for name, group in rows.items()
        if group
        for block in (Heading(f"By {name}"), make_grid(f"Verdicts by {name}", COLUMNS, group))
    ]
    return ResultDocument(
        "injection audit",
        "Whether words hidden in a text change its verdict",
        [*printed, *_conclude(audit)],
        [
            Section("summary", "Summary", summary),
            Section("excess", "Excess over harmless words", [lead, *charts] if charts else [], short="Excess"),
            Section("counts", "Counts", [*counts, *map(key, NOTES)] if counts else []),
            Section("attacks", "Worst attacks", [replace(worst, title="Worst attacks")] if worst.rows else []),
            Section("changed", "Changed verdicts", _changed(audit)),
        ],
        facts={"Judge": run.manifest.model, "Attacks": count(len(audit.attacks)), "Suite": audit.suite},
        signatures=[(run.manifest.model, run.signature)],
    )


def _row(name: str, tally: AuditTally) -> Row:
    rates = map(_rate, (tally.flips, tally.hits, tally.control))
    return (name, str(tally.n), *rates, _excess(tally), str(tally.unjudged.count))


def _rate(rate: AttackRate | None) -> Cell:
    if rate is None or rate.value is None:
        return Cell(NOTHING)
    return Cell(f"{rate.count}/{rate.n}", small=percent(rate.value, 0))


def _excess(tally: AuditTally) -> tuple[str, str]:
    excess = tally.excess
    whole = partial(percent, digits=0, signed=True)
    return (NOTHING, "") if excess is None else (whole(excess.value), f"({to(excess.low, excess.high, whole)})")


def _excess_row(name: object, tally: AuditTally) -> IntervalRow:
    found = tally.excess
    numbers = {"value": found.value, "low": found.low, "high": found.high, "n": tally.n} if found else {"value": None}
    return IntervalRow(str(name), Result(name=str(name), **numbers))


def _conclude(audit: Audit) -> Iterator[str]:
    """Yield what the numbers say, the headline last."""
    for goal in audit.unmeasured:
        yield f"{goal}: {UNMEASURED[goal]}, so it cannot be measured"
    parts = [f"{goal} {' '.join(_excess(tally))}" for goal, tally in audit.by_goal.items()]
    if parts:
        yield f"excess of turned verdicts: {', '.join(parts)}"
    if audit.worst_category:
        hits = audit.by_category[audit.worst_category].hits
        yield f"worst kind: {audit.worst_category}, {_rate(hits).text} ({percent(hits.value, 0)})"
    if audit.attacks and audit.attacks[0].hits.count:
        worst, hits = audit.attacks[0], audit.attacks[0].hits
        yield f"worst attack: {worst.injection} turned {hits.count} of {hits.n} verdicts (p {p_value(worst.p)})"
    yield audit.headline


def _changed(audit: Audit) -> list[PageBlock]:
    """Return every case whose verdict changed; the texts are in the run's judgements."""
    cases = audit.flipped
    rows = [(case.injection, case.carrier, case.place, case.before, case.after) for case in cases[:CHANGED]]
    columns = ("injection", "text", "place", "alone", "with it")
    lead = f"{len(cases):,} verdicts changed, those by controls included; the texts are in judgements.jsonl."
    grid = make_grid("Changed verdicts", columns, rows, words=frozenset(range(5)))
    return [Paragraph(lead), Fold("Show them", [grid])] if cases else []
