"""`mores export-task`: a benchmark as a task of lm-evaluation-harness or Inspect AI."""

from __future__ import annotations

import click

from mores.benchmark import benchmark
from mores.cli.command import command
from mores.harness.export import write_task
from mores.harness.settings import ExportTaskSettings


@command(ExportTaskSettings)
def export_task(settings: ExportTaskSettings) -> None:
    """Write BENCHMARK as a task of another harness, which gives the same figures for the same answers.

    BENCHMARK is a name of `mores bench list`, or a folder: yours, or one that the studio exported (FOLDER:NAME where it
    has several). The task is a folder with its questions, its code and a README that says how to run it. Where answers
    are letters, or True or False, it needs nothing of Mores; other benchmarks are graded by Mores, which must be
    installed beside the harness, and those with a judge need the judge's name there. Of long answers (calmqa) a task
    measures the surface alone: language and repetition.
    """
    write_task(benchmark(str(settings.benchmark)), settings)
    click.echo(f"wrote {settings.out}; {settings.out / 'README.md'} says how to run it", err=True)
