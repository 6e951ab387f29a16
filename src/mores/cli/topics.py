"""`mores topics`: sort the questions of a benchmark by topic, with a model."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import click

from mores.bench import benchmark
from mores.bench.labels import QuestionLabels
from mores.bench.session import read_items
from mores.bench.topics import read_topic, read_topics, topic_jobs
from mores.cli import options
from mores.engine import Answer
from mores.engine.loop import run
from mores.errors import ConfigError, ModelError
from mores.report.base.grid import Grid, harmless, plain_console
from mores.show import percent


@click.command()
@click.argument("name", metavar="BENCHMARK")
@click.option("--topics", "file", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="TOML file with the names and descriptions of topics  [default: the benchmark's; "
              "only CulturalBench has some].")  # fmt: skip
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder with one folder per dataset  [default: from the Hugging Face Hub].",
)
@click.option("--limit", type=click.IntRange(1), help="Most questions, spread evenly over the dataset.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), default=Path("topics.jsonl"), show_default=True,
              help="File for the topics, which `mores bench --labels` reads.")  # fmt: skip
@click.option("--price", metavar="IN,OUT", help="Dollars per million prompt and completion tokens.")
@options.model_options
def topics(name: str, file: Path | None, data: Path | None, limit: int | None, out: Path, **given: Any) -> None:
    """Let a model sort the questions of BENCHMARK into topics, so that results can be broken down by them."""
    one = benchmark(name)
    known = read_topics(file) if file else one.topics
    if not known:
        raise ConfigError(f"{name} has no list of topics; give one with --topics FILE.toml")
    asker = options.served(given)
    items = read_items(one, data, limit, asker.progress)
    found = Counter[str]()

    def read(answer: Answer) -> QuestionLabels:
        row = read_topic(answer, known)
        found[row.labels.get("topic", "")] += 1
        return row

    units = len({one.unit(item) for item in items})
    with options.run_of(asker):
        run(asker.write(out, topic_jobs(one, items, known), read, stage=f"{name}: topics", total=units))
    click.echo(f"wrote {out}", err=True)
    _show(name, found, list(known))
    if not any(topic for topic in found if topic):
        raise ModelError(f"no question was sorted; the reasons stand in {out}")


def _show(name: str, found: Counter[str], known: list[str]) -> None:
    total = found.total()
    counts = {topic: found[topic] for topic in sorted(known, key=lambda topic: -found[topic])}
    counts["not sorted"] = found[""]
    rows = [(topic, f"{count:,}", percent(count / total)) for topic, count in counts.items()]
    console = plain_console()
    console.print(Grid(("topic", "questions", "share"), [("", rows)]), "")
    line = f"{name}: {total - found['']:,} of {total:,} questions sorted"
    console.print(harmless(line), soft_wrap=True)
