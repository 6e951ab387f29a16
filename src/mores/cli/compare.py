"""`mores compare`: whether two judges, or two models' texts, really differ."""

from __future__ import annotations

from pathlib import Path

import click

from mores.cli.options import FOLDER, json_option
from mores.engine.loop import run
from mores.factory.split import SPLITS
from mores.meta.api import compare as compare_judgements
from mores.meta.records import GROUPINGS
from mores.report.base.grid import print_tables
from mores.report.meta import versus_tables


@click.command()
@click.argument("first", metavar="A", type=click.Path(exists=True))
@click.argument("second", metavar="B", type=click.Path(exists=True))
@click.option("--data", type=FOLDER, help="The dataset that A and B judge: compare how well they find its errors.")
@click.option("--split", type=click.Choice(SPLITS), default="test", show_default=True,
              help="The split of it that they judge.")  # fmt: skip
@click.option("--by", type=click.Choice(GROUPINGS), default="source", show_default=True,
              help="What the second table is broken down by, with --data.")  # fmt: skip
@click.option("--force", is_flag=True, help="Compare also what the signatures say is not comparable.")
@json_option("the tables")
def compare(first: str, second: str, data: Path | None, split: str, by: str, force: bool, as_json: bool) -> None:
    """Test whether A and B differ: two runs of `mores score`, or two files of judgements.

    With --data, they are two judges of the same samples: which one finds the errors better?
    Without it, they are one judge's scores of the same texts in two versions, for example by two models.
    A difference is A's value less B's, with its 95% interval and a paired test.
    """  # fmt: skip
    versus = run(compare_judgements(first, second, data=data, split=split, force=force))
    if as_json:
        click.echo(versus.model_dump_json(indent=2))
    else:
        print_tables(versus_tables(versus, by))
