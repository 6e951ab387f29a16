"""`mores score -s -t`: files with one text per line in, a score per line out, as COMET's users know it."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from mores.cli.options import several
from mores.metric.folder import ScoreRun

F = TypeVar("F", bound=Callable[..., Any])

segment_options = several([
    click.option("-s", "--sources", metavar="FILE",
                 help="With -t: what was asked for, one instruction per line  [default: to write a culturally correct "
                      "text]."),
    click.option("-t", "--translations", "systems", multiple=True, metavar="FILE",
                 help="Instead of TEXTS: what a system wrote, one text per line; prints a score for each line and one "
                      "for the system (several: repeat it, or name more files)."),
    click.option("-r", "--references", multiple=True, metavar="FILE",
                 help="With -t: what is known to be correct, one per line; the judge sees it as evidence."),
    click.option("--only-system", is_flag=True, help="With -t: print the scores of the systems alone."),
])  # fmt: skip
"""What COMET's command line has too."""


def print_segments(name: str, run: ScoreRun, lines: int, only_system: bool) -> None:
    """A line for each segment, counted from 0, and one for the system; nan where there is no score."""
    stem = Path(name).name
    if not only_system:
        judgements = {judgement.sample_id: judgement for judgement in run.judgements()}
        for number in range(lines):
            judgement = judgements.get(str(number + 1))
            score = judgement.score if judgement else None
            failure = judgement.failure.reason if judgement and judgement.failure else "the line is empty"
            shown = f"{score:.4f}" if score is not None else f"{math.nan}\t{' '.join(failure.split())}"
            click.echo(f"{stem}\tSegment {number}\tscore: {shown}")
    mean = run.result.mean_score
    click.echo(f"{stem}\tscore: {math.nan if mean is None else mean:.4f}")
