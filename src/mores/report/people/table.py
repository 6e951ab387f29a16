"""Judges against people in the terminal."""

from __future__ import annotations

from dataclasses import replace

from mores.metaevaluation.people.session import PeopleRun, headline
from mores.report.base.grid import Grid
from mores.report.people.sheets import (
    beside_sheet,
    comparison_sheet,
    correlation_sheet,
    group_sheet,
    notes,
    span_sheet,
    worth_sheet,
)


def run_tables(run: PeopleRun) -> list[Grid | str]:
    """Groups, differences, marks, worth, agreement, and the judge that agrees best."""
    people = run.result
    sheets = [
        *(group_sheet(judge) for judge in people.judges if judge.by),
        comparison_sheet(people.comparisons),
        span_sheet(people),
        beside_sheet(people),
        worth_sheet(people),
    ]
    grids = [sheet.grid("group" if "by group" in sheet.title else "judge") for sheet in sheets if sheet]
    whole = replace(correlation_sheet(people).grid("judge"), notes=list(notes(people)))
    return [*grids, whole, headline(people)]
