"""`mores judge-check`: how far a judge can be trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mores.benchmark import benchmark
from mores.benchmark.api import check_judge
from mores.cli import options
from mores.cli.figures import write_run_figures
from mores.engine.loop import run
from mores.errors import ModelError
from mores.io import write_text
from mores.report.base.grid import print_tables
from mores.report.judge_check import run_page, run_tables


@click.command("judge-check")
@click.argument("name", metavar="BENCHMARK")
@options.data_option
@click.option("--pairs", type=options.FILE,
              help="Answers that people graded: JSON lines with item_id, answer and label "
                   "(correct, incorrect, not_attempted).")  # fmt: skip
@click.option("--limit", type=click.IntRange(1), default=100, show_default=True,
              help="Most questions, spread evenly over the dataset.")  # fmt: skip
@click.option("--out", type=options.NEW_FOLDER,
              help="Folder for the run  [default: judge-check, or judge-check-2, … for other settings].")  # fmt: skip
@options.price_option
@options.figures_option
@options.json_option("the tables")
@options.model_options
def judge_check(name: str, out: Path | None, figures: Path | None, as_json: bool, **given: Any) -> None:
    """Test the judge --model on answers to BENCHMARK whose grade is known: correct and wrong ones, in few words and in
    many, and refusals. A run that was stopped continues where it stopped.
    """  # fmt: skip
    asker = options.served(given)
    with options.run_of(asker):
        done = run(check_judge(benchmark(name), asker, out=out, **given))
    page = done.path / "judge-check.html"
    write_text(page, run_page(done))
    click.echo(f"wrote {done.path}; its page is {page}", err=True)
    if figures:
        write_run_figures(done, figures)
    if as_json:
        click.echo(done.result.model_dump_json(indent=2))
    else:
        print_tables(run_tables(done))
    if not done.result.agreement.n:
        raise ModelError(f"{done.result.judge} gave no grade at all")
