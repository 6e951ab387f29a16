"""`mores topics`: sort the questions of a benchmark by topic, with a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from mores.benchmark import benchmark
from mores.benchmark.labels import TOPICS
from mores.benchmark.topics import label_topics, read_topics
from mores.cli import options
from mores.cli.figures import write_run_figures
from mores.engine.loop import run
from mores.errors import ModelError
from mores.io import write_text
from mores.report.base.grid import print_tables
from mores.report.runs import as_data
from mores.report.topics import run_page, run_tables


@click.command()
@click.argument("name", metavar="BENCHMARK")
@click.option("--topics", "file", type=options.FILE,
              help="TOML file with the names and descriptions of topics  [default: the benchmark's; "
              "only CulturalBench has some].")  # fmt: skip
@options.data_option
@options.limit_option
@click.option("--out", type=options.NEW_FOLDER,
              help="Folder for the run, which `mores bench --labels` reads  "
                   "[default: topics, or topics-2, … for other settings].")  # fmt: skip
@options.price_option
@options.figures_option
@options.json_option("the table")
@options.model_options
def topics(name: str, file: Path | None, out: Path | None, figures: Path | None, as_json: bool, **given: Any) -> None:
    """Let a model sort the questions of BENCHMARK into topics, so that results can be broken down by them. A run that
    was stopped continues where it stopped.
    """  # fmt: skip
    asker = options.served(given)
    known = read_topics(file) if file else None
    with options.run_of(asker):
        done = run(label_topics(benchmark(name), asker, out, topics=known, **given))
    page = done.path / "topics.html"
    write_text(page, run_page(done))
    click.echo(f"wrote {done.path}; its page is {page}", err=True)
    if figures:
        write_run_figures(done, figures)
    if as_json:
        click.echo(json.dumps(as_data(done), indent=2))
    else:
        print_tables(run_tables(done))
    if done.counts[""] == done.counts.total():
        raise ModelError(f"no question was sorted; the reasons are in {done.path / TOPICS}")
