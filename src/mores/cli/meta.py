"""`mores meta`: how good metrics are at finding cultural errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mores.cli import options
from mores.cli.estimate import print_estimates
from mores.cli.figures import write_run_figures
from mores.cli.rate import read_aliases, read_columns
from mores.engine.loop import run
from mores.errors import ModelError
from mores.factory.split import SPLITS
from mores.io import write_text
from mores.metaevaluation.api import open_session, run_session
from mores.metaevaluation.baselines import BASELINES
from mores.metaevaluation.folder import JUDGEMENTS, MetaRun
from mores.metaevaluation.juice.records import THRESHOLD
from mores.metaevaluation.records import GROUPINGS
from mores.report import meta as report
from mores.report import runs as reports
from mores.report.base.grid import print_tables


@click.command()
@click.option(
    "--data",
    required=True,
    type=options.DATA,
    metavar="DIR|FILE|KIND:FILE",
    help="Dataset: a folder that `mores build` wrote, a file of your own pairs (texts, each with correct: true or "
    "false), juice:FILE (the JSON file of JuICE), ratings:FILE (people's "
    "ratings of answers) or marks:FILE (errors that people marked, as judgements or MQM TSV).",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="excam:MODEL, count:MODEL, severity:MODEL, binary:MODEL (with +p: count+p:MODEL), a FILE.jsonl of "
    "judgements, a run of mores score, or a baseline; with ratings also a table of scores, FILE.csv:COLUMN; may be "
    "given more than once.",
)
@click.option(
    "--baselines",
    default="all",
    show_default=True,
    metavar="NAMES",
    help=f"Baselines to compare with: all (without similarity-*), none, or some of {','.join(BASELINES)}.",
)
@click.option("--split", type=click.Choice(SPLITS), default="test", show_default=True, help="What is judged.")
@click.option("--limit", type=click.IntRange(2), help="Most samples of a source, half of them with errors.")
@click.option(
    "--leave-one-out",
    is_flag=True,
    help="Also train the baselines without each source in turn, and use every {source} model on all samples.",
)
@click.option("--votes", type=options.FILE, help="Votes of annotators on the samples, as JSON lines.")
@click.option(
    "--iou",
    type=click.FloatRange(0, 1),
    default=THRESHOLD,
    show_default=True,
    help="JuICE: the intersection over union from which on a marked span finds an error; 0 for any overlap.",
)
@options.people_options
@click.option("--out", type=options.NEW_FOLDER, help="Folder for judgements, tables and page  [default: NAME.meta].")
@click.option("--by", type=click.Choice(GROUPINGS), default="source", show_default=True,
              help="What the second table is broken down by; the page has all.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Show what the models would be sent and cost, and stop.")
@options.price_option
@options.figures_option
@options.json_option("the tables")
@options.judge_options
def meta(
    data: str, out: Path | None, by: str, dry_run: bool, figures: Path | None, as_json: bool, **given: Any
) -> None:
    """How good metrics are at finding the cultural errors of a dataset, against baselines, with intervals and tests.

    The judgements of each metric are kept in the folder --out, with the tables (tables.md), everything as data
    (meta.json) and one page that shows it (meta.html). {source} in a model or file stands for each source in turn:
    the judge that was trained without it judges its samples. On JuICE, metrics are measured by the errors that people
    and models marked in long answers, beside these people and models. With ratings and marks, they are measured by how
    well they agree with people, beside how well people agree with each other. With a dataset or your own pairs, the
    last lines say for each judge whether it is any good for texts like these.
    """  # fmt: skip
    settings, asking = options.settings(given), options.asking(given)
    given |= {"columns": read_columns(given["columns"]), "aliases": read_aliases(given["aliases"])}
    session = open_session(data, settings=settings, **asking, **given)
    if dry_run:
        estimates = session.estimates()
        print_estimates(estimates, as_json)
        if not estimates and not as_json:
            click.echo("no model would be asked")
        return
    with options.run_of(*session.askers()):
        done = run(run_session(session, data, out))
    if isinstance(done, MetaRun):
        write_text(done.path / "tables.md", report.markdown_tables(done.result))
    write_text(done.path / "meta.html", reports.page(done))
    click.echo(f"wrote {done.path}; its page is {done.path / 'meta.html'}", err=True)
    if figures:
        write_run_figures(done, figures)
    if as_json:
        click.echo(done.result.model_dump_json(indent=2))
    else:
        print_tables(report.tables(done.result, by) if isinstance(done, MetaRun) else reports.tables(done))
    if silent := done.result.silent:
        raise ModelError(f"{silent[0]} could score no sample; the reasons are in {done.path / JUDGEMENTS}")
