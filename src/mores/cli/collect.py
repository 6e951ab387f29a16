"""`mores collect`: from candidate questions to a cultural dataset, and what was dropped on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mores.cli import options
from mores.cli.estimate import print_estimate
from mores.cli.figures import write_run_figures
from mores.cli.push import push_options, take_push
from mores.engine.loop import run
from mores.errors import ModelError
from mores.io import write_text
from mores.longanswer.api import open_collect
from mores.longanswer.collection import Stage, undecided
from mores.report.base.grid import print_tables
from mores.report.collect import run_page, run_tables


@click.command()
@click.argument("questions", metavar="QUESTIONS")
@click.option(
    "--without",
    multiple=True,
    type=click.Choice([str(stage) for stage in Stage]),
    help="Leave out a stage; may be given several times.",
)
@click.option("--out", type=options.NEW_FOLDER,
              help="Folder for the run  [default: collection, or collection-2, … for other settings].")  # fmt: skip
@click.option("--skip-bad", is_flag=True, help="Leave out rows that cannot be read, instead of stopping.")
@click.option("--max-tokens", default=1024, show_default=True, type=click.IntRange(1), help="Longest answer.")
@options.temperature_option
@options.seed_option
@click.option("--dry-run", is_flag=True, help="Show what the run would send and cost if nothing is dropped, and stop.")
@options.price_option
@options.figures_option
@push_options
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON instead of the tables.")
@options.model_options
def collect(questions: str, out: Path | None, dry_run: bool, figures: Path | None, as_json: bool, **given: Any) -> None:
    """Filter, translate and label QUESTIONS, with a model as the judge, and say what was dropped and why.

    QUESTIONS is a file (JSON lines, CSV or Parquet) with the columns "question" and "language" and, where there are
    any, "id", "translation", "answer" and "source"; - reads JSON lines from standard input. Questions that are there
    twice, are not specific to the culture of their language, or are of poor quality are dropped; what the model
    leaves undecided is neither kept nor dropped. A run that was stopped continues where it stopped.
    """  # fmt: skip
    push = take_push(given)
    asking = options.asking(given)
    job = open_collect(questions, **asking, **given)
    if dry_run:
        estimate = job.estimate()
        if as_json:
            click.echo(estimate.model_dump_json(indent=2))
        else:
            print_estimate(estimate)
        return
    with options.run_of(job.collector.asker):
        done = run(job.run(out))
    page = done.path / "collection.html"
    write_text(page, run_page(done))
    click.echo(f"wrote {done.path}; its page is {page}", err=True)
    if figures:
        write_run_figures(done, figures)
    if as_json:
        click.echo(done.collection.model_dump_json(indent=2))
    else:
        print_tables(run_tables(done))
    if undecided(done.collection):
        raise ModelError(f"no question could be decided; the reasons are in {done.path / 'unscored.jsonl'}")
    push(done.upload)
