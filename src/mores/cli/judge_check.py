"""`mores judge-check`: how far a judge can be trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mores.bench import benchmark
from mores.bench.api import check_judge
from mores.cli import options
from mores.engine.loop import run
from mores.errors import ModelError
from mores.report.base.grid import print_tables
from mores.report.bench import judge_tables


@click.command("judge-check")
@click.argument("name", metavar="BENCHMARK")
@options.data_option
@click.option("--pairs", type=options.FILE,
              help="Answers that people graded: JSON lines with item_id, answer and label "
                   "(correct, incorrect, not_attempted).")  # fmt: skip
@click.option("--limit", type=click.IntRange(1), default=100, show_default=True,
              help="Most questions, spread evenly over the dataset.")  # fmt: skip
@click.option("--out", type=options.NEW_FOLDER,
              help="Folder for the answers, what the judge says of each, and the result  "
                   "[default: they are not kept].")  # fmt: skip
@options.price_option
@options.json_option("the tables")
@options.model_options
def judge_check(name: str, out: Path | None, as_json: bool, **given: Any) -> None:
    """Test the judge --model on answers to BENCHMARK whose grade is known: correct and wrong ones, in few words and in
    many, and refusals.
    """  # fmt: skip
    asker = options.served(given)
    with options.run_of(asker):
        check = run(check_judge(benchmark(name), asker, out=out, **given))
    if as_json:
        click.echo(check.model_dump_json(indent=2))
    else:
        print_tables(judge_tables(check))
    if out:
        click.echo(f"wrote {out}", err=True)
    if not check.agreement.n:
        raise ModelError(f"{check.judge} gave no grade at all")
