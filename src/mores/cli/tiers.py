"""`mores tiers`: how hard the questions of a benchmark are, from runs of it."""

from __future__ import annotations

import click

from mores.benchmark.api import folders_of
from mores.benchmark.labels import label_tiers
from mores.benchmark.settings import TiersSettings
from mores.cli.command import command


@command(TiersSettings)
def tiers(settings: TiersSettings) -> None:
    """Sort the questions of one benchmark into Easy, Medium and Hard by how many answers in RUN... are correct.

    A RUN is what `mores bench --out` wrote for a model, or a folder with several. Use runs of other models than the one
    that you want to measure: a model's own mistakes make its hard questions.
    """
    sorted_questions = label_tiers(folders_of(settings.runs), settings.out, settings.rule)
    shown = ", ".join(f"{number:,} {tier}" for tier, number in sorted_questions.counts.items())
    answers = f"from {sorted_questions.answers} answers to each question"
    click.echo(f"{shown}; {sorted_questions.without:,} without a tier; {answers}")
    click.echo(f"wrote {settings.out}", err=True)
