"""`mores compare`: whether two judges, or two models' texts, really differ."""

from __future__ import annotations

import click

from mores.cli.command import command
from mores.engine.loop import run
from mores.metaevaluation.api import compare as compare_judgements
from mores.metaevaluation.settings import CompareSettings
from mores.report.base.grid import print_tables
from mores.report.meta import versus_tables
from mores.report.settings import GroupSettings, JsonSettings
from mores.settings import apply


@command(CompareSettings, GroupSettings, JsonSettings)
def compare(settings: CompareSettings, group: GroupSettings, output: JsonSettings) -> None:
    """Test whether A and B differ: two runs of `mores score`, or two files of judgements.

    With --data, they are two judges of the same samples: which one finds the errors better, or agrees better with
    people? Then each may also be a table of scores, FILE.csv:COLUMN.
    Without it, they are one judge's scores of the same texts in two versions, for example by two models.
    A difference is A's value less B's, with its 95% interval and a paired test.
    """
    versus = run(apply(compare_judgements, settings))
    if output.json:
        click.echo(versus.model_dump_json(indent=2))
    else:
        print_tables(versus_tables(versus, group.by or next(iter(versus.by), "source")))
