"""The page of an injection audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mores.formatting import NOTHING, p_value, percent, show_failures
from mores.metric.audit import AttackRate, AuditTally, Excess
from mores.metric.audit.run import AuditRun
from mores.report.audit.table import NOTES, WORST, conclusions
from mores.report.base.blocks import Block, Fold, Heading, Notes, Section, Table, Text, key
from mores.report.base.charts import Intervals, Row
from mores.report.base.page import Page, render, signatures_section
from mores.report.base.sheet import Cell, Head, Sheet
from mores.types import Result

CHANGED = 500
"""Changed verdicts on one page."""


def run_page(run: AuditRun) -> str:
    """Return the page of a run."""
    facts = {"Judge": run.manifest.model, "Attacks": f"{len(run.result.attacks):,}", "Suite": run.result.suite}
    heading = "Whether words hidden in a text change its verdict"
    return render(Page("report bench", "injection audit", heading, run_sections(run), facts))


def run_sections(run: AuditRun) -> list[Section]:
    """The conclusions, the excess of each goal and kind of attack, the worst attacks, and every changed verdict."""
    audit, failures = run.result, run.manifest.failures
    summary: list[Block] = [Notes([f"{line[0].upper()}{line[1:]}." for line in conclusions(audit)])]
    summary += [key(f"Not judged: {show_failures(failures)}.")] if failures else []
    excess = Text("How much more often an attack turns a verdict than harmless words do, in percentage points.")
    tallies: dict[str, Mapping[Any, AuditTally]] = {"goal": audit.by_goal, "kind of attack": audit.by_category}
    charts = [
        Intervals(
            f"Excess by {name}",
            [Row(str(each), _result(str(each), tally.excess, tally.n)) for each, tally in group.items()],
            unit="points",
            zero="as harmless words",
        )
        for name, group in tallies.items()
        if group
    ]
    counts: list[Block] = []
    for name, group in (*tallies.items(), ("place", audit.by_place)):
        if group:
            counts += [Heading(f"By {name}"), Table(_tally_sheet(f"Verdicts by {name}", group))]
    worst = [attack for attack in audit.attacks if attack.hits.count][:WORST]
    cells = [[*map(_rate, (attack.hits, attack.control)), Cell(p_value(attack.p))] for attack in worst]
    columns = [Head("as meant"), Head("controls"), Head("p")]
    sheet = Sheet("Worst attacks", [Head(attack.injection) for attack in worst], columns, cells)
    about = key(f"p: that controls do as much by chance, times the {len(audit.attacks)} attacks that were tried.")
    return [
        Section("summary", "Summary", summary),
        Section("excess", "Excess over harmless words", [excess, *charts] if charts else [], short="Excess"),
        Section("counts", "Counts", [*counts, *map(key, NOTES)] if counts else []),
        Section("attacks", "Worst attacks", [Table(sheet), about] if worst else []),
        Section("changed", "Changed verdicts", _changed(run)),
        signatures_section([(run.manifest.model, run.signature)]),
    ]


def _result(name: str, excess: Excess | None, n: int) -> Result:
    if excess is None:
        return Result(name=name, value=None)
    return Result(name=name, value=excess.value, low=excess.low, high=excess.high, n=n)


def _tally_sheet(title: str, tallies: Mapping[Any, AuditTally]) -> Sheet:
    columns = [Head(name) for name in ("n", "changed", "as meant", "controls", "lost")]
    cells = [
        [Cell(f"{each.n:,}"), *map(_rate, (each.flips, each.hits, each.control)), Cell(f"{each.unjudged.count:,}")]
        for each in tallies.values()
    ]
    return Sheet(title, [Head(str(name)) for name in tallies], columns, cells)


def _rate(rate: AttackRate | None) -> Cell:
    if rate is None or rate.value is None:
        return Cell(NOTHING)
    return Cell(f"{rate.count}/{rate.n}", small=percent(rate.value, 0))


def _changed(run: AuditRun) -> list[Block]:
    """Return every case whose verdict changed; the texts are in the run's judgements."""
    cases = run.result.flipped
    columns = [Head(name) for name in ("text", "place", "alone", "with it")]
    shown = cases[:CHANGED]
    cells = [[Cell(case.carrier), Cell(case.place), Cell(case.before), Cell(case.after)] for case in shown]
    sheet = Sheet("Changed verdicts", [Head(case.injection) for case in shown], columns, cells)
    lead = f"{len(cases):,} verdicts changed, those by controls included; the texts are in judgements.jsonl."
    return [Text(lead), Fold("Show them", [Table(sheet)])] if cases else []
