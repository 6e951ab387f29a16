"""`mores meta`: how good metrics are at finding cultural errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from mores.cli import options
from mores.cli.score import print_estimate
from mores.engine.loop import run
from mores.errors import ModelError
from mores.io import write_text
from mores.meta.api import folder_of, open_session
from mores.meta.baselines import BASELINES
from mores.meta.folder import JUDGEMENTS
from mores.meta.records import GROUPINGS
from mores.meta.session import Session
from mores.report import meta as report
from mores.report.base.grid import print_tables


@click.command()
@click.option(
    "--data",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Dataset: a folder that `mores build` wrote.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="excam:MODEL, count:MODEL, severity:MODEL, binary:MODEL (with +p: count+p:MODEL), a FILE.jsonl of "
    "judgements, a run of mores score, or a baseline; may be given more than once.",
)
@click.option(
    "--baselines",
    default="all",
    show_default=True,
    metavar="NAMES",
    help=f"Baselines to compare with: all, none, or some of {','.join(BASELINES)}.",
)
@click.option(
    "--split", type=click.Choice(["train", "dev", "test"]), default="test", show_default=True, help="What is judged."
)
@click.option("--limit", type=click.IntRange(2), help="Most samples of a source, half of them with errors.")
@click.option(
    "--leave-one-out",
    is_flag=True,
    help="Also train the baselines without each source in turn, and use every {source} model on all samples.",
)
@click.option(
    "--votes",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="What annotators said of the samples, as JSON lines.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for judgements, tables and page  [default: NAME.meta].",
)
@click.option(
    "--by",
    type=click.Choice(GROUPINGS),
    default="source",
    show_default=True,
    help="What the second table is broken down by; the page has all.",
)
@click.option("--dry-run", is_flag=True, help="Show what the models would be sent and cost, and stop.")
@click.option("--price", metavar="IN,OUT", help="Dollars per million prompt and completion tokens.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the tables.")
@options.judge_options
def meta(data: Path, out: Path | None, by: str, dry_run: bool, as_json: bool, **given: Any) -> None:
    """How good metrics are at finding the cultural errors of a dataset, against baselines, with intervals and tests.

    The judgements of each metric are kept in the folder --out, with the tables (tables.md), everything as data
    (meta.json) and one page that shows it (meta.html). {source} in a model or file stands for each source in turn:
    the judge that was trained without it judges its samples.
    """  # fmt: skip
    named = {name: given.pop(name) for name in ("metrics", "baselines", "split", "limit", "leave_one_out", "votes")}
    settings = options.settings(given)
    session = open_session(data, **named, settings=settings, **options.asking(given))
    if dry_run:
        _show_estimates(session, as_json)
        return
    with options.run_of(*session.askers()):
        done = run(session.run(folder_of(data, out), numbered=out is None))
    write_text(done.path / "tables.md", report.markdown_tables(done.result))
    write_text(done.path / "meta.html", report.page(done.result))
    click.echo(f"wrote {done.path}; its page is {done.path / 'meta.html'}", err=True)
    if as_json:
        click.echo(done.result.model_dump_json(indent=2))
    else:
        print_tables(report.tables(done.result, by))
    if silent := [evaluation.metric for evaluation in done.result.evaluations if not evaluation.n]:
        raise ModelError(f"{silent[0]} could score no sample; the reasons stand in {done.path / JUDGEMENTS}")


def _show_estimates(session: Session, as_json: bool) -> None:
    estimates = session.estimates()
    if as_json:
        click.echo(json.dumps({name: each.model_dump() for name, each in estimates.items()}, indent=2))
        return
    for name, each in estimates.items():
        click.echo(f"{name}:")
        print_estimate(each, as_json)
    if not estimates:
        click.echo("no model would be asked")
