"""`mores topics`: sort the questions of a benchmark by topic, with a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mores.bench import benchmark
from mores.bench.topics import label_topics, read_topics
from mores.cli import options
from mores.engine.loop import run
from mores.errors import ModelError
from mores.report.base.grid import print_tables
from mores.report.bench import topic_tables


@click.command()
@click.argument("name", metavar="BENCHMARK")
@click.option("--topics", "file", type=options.FILE,
              help="TOML file with the names and descriptions of topics  [default: the benchmark's; "
              "only CulturalBench has some].")  # fmt: skip
@options.data_option
@options.limit_option
@click.option("--out", type=options.NEW_FILE, default=Path("topics.jsonl"), show_default=True,
              help="File for the topics, which `mores bench --labels` reads.")  # fmt: skip
@options.price_option
@options.model_options
def topics(name: str, file: Path | None, out: Path, **given: Any) -> None:
    """Let a model sort the questions of BENCHMARK into topics, so that results can be broken down by them."""
    asker = options.served(given)
    known = read_topics(file) if file else None
    with options.run_of(asker):
        counts = run(label_topics(benchmark(name), asker, out, topics=known, **given))
    click.echo(f"wrote {out}", err=True)
    print_tables(topic_tables(name, counts))
    if counts[""] == counts.total():
        raise ModelError(f"no question was sorted; the reasons are in {out}")
