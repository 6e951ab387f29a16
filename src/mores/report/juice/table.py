"""Judges on JuICE in the terminal."""

from __future__ import annotations

from mores.metaevaluation.juice.session import JuiceRun, headline
from mores.report.base.grid import Grid
from mores.report.juice.sheets import data_notes, recall_sheet, score_sheet


def run_tables(run: JuiceRun) -> list[Grid | str]:
    """Recall by kind of error, the figures of every judge, and the best one."""
    juice = run.result
    scores = score_sheet(juice).grid("judge")
    notes = [*scores.notes, *data_notes(juice)]
    whole = Grid(scores.columns, scores.sections, scores.title, notes)
    return [recall_sheet(juice).grid("kind of error"), whole, headline(juice)]
