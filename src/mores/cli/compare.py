"""`mores compare`: whether two judges, or two models' texts, really differ."""

from __future__ import annotations

from typing import Any

import click

from mores.cli.options import DATA, JUDGE, json_option, people_options
from mores.cli.rate import read_aliases, read_columns
from mores.engine.loop import run
from mores.factory.split import SPLITS
from mores.metaevaluation.api import compare as compare_judgements
from mores.metaevaluation.records import GROUPINGS
from mores.report.base.grid import print_tables
from mores.report.meta import versus_tables


@click.command()
@click.argument("first", metavar="A", type=JUDGE)
@click.argument("second", metavar="B", type=JUDGE)
@click.option("--data", type=DATA, metavar="DIR|KIND:FILE",
              help="The dataset that A and B judge: compare how well they find its errors. With ratings:FILE or "
                   "marks:FILE, how well they agree with people.")  # fmt: skip
@click.option("--split", type=click.Choice(SPLITS), default="test", show_default=True,
              help="The split of it that they judge.")  # fmt: skip
@click.option("--by", type=click.Choice([*GROUPINGS, "model", "type"]),
              help="What the second table is broken down by, with --data  [default: source; with people, "
                   "model].")  # fmt: skip
@click.option("--force", is_flag=True, help="Compare also what the signatures say is not comparable.")
@people_options
@json_option("the tables")
def compare(first: str, second: str, by: str | None, as_json: bool, **given: Any) -> None:
    """Test whether A and B differ: two runs of `mores score`, or two files of judgements.

    With --data, they are two judges of the same samples: which one finds the errors better, or agrees better with
    people? Then each may also be a table of scores, FILE.csv:COLUMN.
    Without it, they are one judge's scores of the same texts in two versions, for example by two models.
    A difference is A's value less B's, with its 95% interval and a paired test.
    """  # fmt: skip
    given |= {"columns": read_columns(given["columns"]), "aliases": read_aliases(given["aliases"])}
    versus = run(compare_judgements(first, second, **given))
    if as_json:
        click.echo(versus.model_dump_json(indent=2))
    else:
        print_tables(versus_tables(versus, by or next(iter(versus.by), "source")))
