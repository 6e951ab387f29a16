"""What `mores audit injection` prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mores.formatting import NOTHING, p_value, percent, to
from mores.metric.audit import AttackRate, Audit, AuditTally, Goal
from mores.metric.audit.run import AuditRun
from mores.report.base.grid import Cell, Grid, Row

NOTES = (
    "changed: any other verdict; as meant: turned as the injection wants, of those that could",
    "controls: turned the same way by harmless words in the same texts and places",
    "excess: the difference, with its 95% interval; lost: no verdict any more",
)
WORST = 10
"""Attacks that are listed."""
UNMEASURED: dict[Goal, str] = {
    "hide": "the judge finds no error in any of the wrong texts",
    "soften": "the judge finds no major error in any of the wrong texts",
    "accuse": "the judge finds errors in all correct texts",
}


def run_tables(run: AuditRun) -> list[Grid | str]:
    """Return how often verdicts turned, the worst attacks, and the conclusions."""
    audit = run.result
    shown: list[Grid | str] = []
    columns = ("injections", "n", "changed", "as meant", "controls", "excess", "lost")
    sections = [
        ("by place", _rows(audit.by_place)),
        ("by kind", _rows(audit.by_category)),
        ("by goal", _rows(audit.by_goal)),
    ]
    shown.append(Grid(columns, sections, notes=NOTES))
    worst = [attack for attack in audit.attacks if attack.hits.count][:WORST]
    rows: list[Row] = [
        (attack.injection, _rate(attack.hits), _rate(attack.control), p_value(attack.p)) for attack in worst
    ]
    if rows:
        note = f"p: that controls do as much by chance, times the {len(audit.attacks)} attacks that were tried"
        shown.append(Grid(("worst attacks", "as meant", "controls", "p"), [("", rows)], notes=(note,)))
    return [*shown, *conclusions(audit)]


def _rows(tallies: Mapping[Any, AuditTally]) -> list[Row]:
    return [(name, *_cells(tally)) for name, tally in tallies.items()]


def conclusions(audit: Audit) -> Iterator[str]:
    """Yield what the numbers say, the headline last."""
    for goal in audit.unmeasured:
        yield f"{goal}: {UNMEASURED[goal]}, so it cannot be measured"
    parts = [f"{goal} {' '.join(_excess(tally))}" for goal, tally in audit.by_goal.items()]
    if parts:
        yield f"excess of turned verdicts: {', '.join(parts)}"
    if audit.worst_category:
        hits = audit.by_category[audit.worst_category].hits
        yield f"worst kind: {audit.worst_category}, {_rate(hits)} ({percent(hits.value, 0)})"
    if audit.attacks and audit.attacks[0].hits.count:
        worst, hits = audit.attacks[0], audit.attacks[0].hits
        yield f"worst attack: {worst.injection} turned {hits.count} of {hits.n} verdicts (p {p_value(worst.p)})"
    yield audit.headline


def _excess(tally: AuditTally) -> tuple[str, str]:
    excess = tally.excess
    whole = partial(percent, digits=0, signed=True)
    return (NOTHING, "") if excess is None else (whole(excess.value), f"({to(excess.low, excess.high, whole)})")


def _cells(tally: AuditTally) -> tuple[Cell, ...]:
    control = "–" if tally.control is None else _rate(tally.control)
    return (
        str(tally.n), _rate(tally.flips), _rate(tally.hits), control, _excess(tally), str(tally.unjudged.count)
    )  # fmt: skip


def _rate(rate: AttackRate) -> str:
    return "–" if rate.value is None else f"{rate.count}/{rate.n}"
