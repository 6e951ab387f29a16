"""`mores topics`: sort the questions of a benchmark by topic, with a model."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack, aclosing
from pathlib import Path
from typing import Any

import click

from mores.bench import benchmark
from mores.bench.topics import read_topic, read_topics, topic_jobs
from mores.cli import options
from mores.cli.items import read_items
from mores.cli.progress import stage
from mores.engine import Counts, run
from mores.engine.cost import price_of
from mores.engine.store import opened
from mores.errors import ConfigError, ModelError
from mores.io import JsonlWriter
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
def topics(
    name: str, file: Path | None, data: Path | None, limit: int | None, out: Path, price: str | None, **given: Any
) -> None:
    """Let a model sort the questions of BENCHMARK into topics, so that results can be broken down by them."""
    one = benchmark(name)
    known = read_topics(file) if file else one.topics
    if not known:
        raise ConfigError(f"{name} has no list of topics; give one with --topics FILE.toml")
    items = read_items(one, data, limit)
    how, found = options.served(given), Counter[str]()
    with ExitStack() as stack:
        stack.enter_context(options.run_of(how))
        store = stack.enter_context(opened(how.store))

        async def work(counts: Counts) -> None:
            jobs = topic_jobs(one, items, known)
            answers = run(jobs, how.judge_model, store=store, limits=how.limits, counts=counts, fresh=how.fresh)
            with JsonlWriter(out) as writer:
                async with aclosing(answers):
                    async for answer in answers:
                        row = read_topic(answer, known)
                        found[row.labels.get("topic", "")] += 1
                        writer.write(row)

        units = len({one.unit(item) for item in items})
        stage(f"{name}: topics", units, price_of(how.judge_model.name, price), work)
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
