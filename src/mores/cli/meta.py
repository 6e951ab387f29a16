"""`mores meta`: how good metrics are at finding cultural errors."""

from __future__ import annotations

import click

from mores.cli.command import command
from mores.cli.estimate import print_estimates
from mores.cli.result import asking, check_output, show_run
from mores.engine.loop import run
from mores.errors import ModelError
from mores.io import write_text
from mores.metaevaluation.api import open_session, run_session
from mores.metaevaluation.folder import JUDGEMENTS, MetaRun
from mores.metaevaluation.settings import MetaSettings
from mores.report import meta as report
from mores.report.settings import DryRunSettings, GroupSettings, OutputSettings


@command(MetaSettings, GroupSettings, DryRunSettings, OutputSettings)
def meta(settings: MetaSettings, group: GroupSettings, dry: DryRunSettings, output: OutputSettings) -> None:
    """Measure how good metrics are at finding the cultural errors of a dataset, against baselines, with intervals.

    The judgements of each metric are kept in the folder --out, with the tables (tables.md), everything as data
    (meta.json) and one page that shows it (meta.html). {source} in a model or file stands for each source in turn:
    the judge that was trained without it judges its samples. On JuICE, metrics are measured by the errors that people
    and models marked in long answers, beside these people and models. With ratings and marks, they are measured by how
    well they agree with people, beside how well people agree with each other. With a dataset or your own pairs, the
    last lines say for each judge whether it is any good for texts like these.
    """
    check_output(output)
    session = open_session(settings)
    if dry.dry_run:
        estimates = session.estimates()
        print_estimates(estimates, output.json)
        if not estimates and not output.json:
            click.echo("no model would be asked")
        return
    with asking(*session.askers()):
        done = run(run_session(session, settings.data, settings.out))
    tables = None
    if isinstance(done, MetaRun):
        write_text(done.path / "tables.md", report.markdown_tables(done.result))
        tables = report.describe_meta(done.result, group.by or "source").printed
    show_run(done, output, done.result.model_dump(mode="json"), "meta.html", tables)
    if silent := done.result.silent:
        raise ModelError(f"{silent[0]} could score no sample; the reasons are in {done.path / JUDGEMENTS}")
