"""`mores export-task`: a benchmark as a task of lm-evaluation-harness or Inspect AI."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mores.benchmark import benchmark
from mores.benchmark.session import Asking
from mores.cli.options import NEW_FOLDER, data_option, limit_option
from mores.cli.progress import Terminal
from mores.harness.export import HARNESSES, write_task


@click.command("export-task")
@click.argument("name", metavar="BENCHMARK")
@click.option("--to", required=True, type=click.Choice(list(HARNESSES)), help="The harness.")
@click.option("--out", required=True, type=NEW_FOLDER, help="The folder to write: a new one.")
@data_option
@limit_option
@click.option("--variant", help="Another way to ask, where the benchmark has one, for example english.")
def export_task(name: str, to: str, out: Path, **asked: Any) -> None:
    """Write BENCHMARK as a task of another harness, which gives the same figures for the same answers.

    BENCHMARK is a name of `mores bench list`, or a folder: yours, or one that the studio exported (FOLDER:NAME where it
    has several). The task is a folder with its questions, its code and a README that says how to run it. Where answers
    are letters, or True or False, it needs nothing of Mores; other benchmarks are graded by Mores, which must be
    installed beside the harness, and those with a judge need the judge's name there. Of long answers (calmqa) a task
    measures the surface alone: language and repetition.
    """
    write_task(benchmark(name), to, out, Asking(**asked), Terminal())
    click.echo(f"wrote {out}; {out / 'README.md'} says how to run it", err=True)
