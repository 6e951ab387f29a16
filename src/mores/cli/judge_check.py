"""`mores judge-check`: how far a judge can be trusted."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from mores.bench import benchmark
from mores.bench.benchmark import Verdict
from mores.bench.folder import RESPONSES, VERDICTS
from mores.bench.judge_check import Labelled, check, write_probes
from mores.bench.run import Run
from mores.bench.session import read_items, spread
from mores.cli import options
from mores.engine.loop import run
from mores.errors import ConfigError, InputError, ModelError
from mores.io import read_records, write_text
from mores.io.private import make_folder
from mores.report.base.grid import print_tables
from mores.report.bench import judge_tables


@click.command("judge-check")
@click.argument("name", metavar="BENCHMARK")
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder with one folder per dataset  [default: from the Hugging Face Hub].",
)
@click.option(
    "--pairs",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Answers that people graded: JSON lines with item_id, answer and label (correct, incorrect, not_attempted).",
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    help="Most questions, spread evenly over the dataset.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the answers, what the judge says of each, and the result  [default: they are not kept].",
)
@click.option("--price", metavar="IN,OUT", help="Dollars per million prompt and completion tokens.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the tables.")
@options.model_options
def judge_check(name: str, data: Path | None, pairs: Path | None, limit: int, **given: Any) -> None:
    """Test the judge --model on answers to BENCHMARK whose grade is known: correct and wrong ones, in few words and in
    many, and refusals.
    """  # fmt: skip
    one, out, as_json = benchmark(name), given.pop("out"), given.pop("as_json")
    if one.judging is None:
        raise ConfigError(f"{name} is graded by rule; give a benchmark that has a judge")
    asker = options.served(given)
    known, labelled = read_items(one, data, None, asker.progress), list(read_records(pairs, Labelled)) if pairs else []
    if pairs and not labelled:
        raise InputError(f"{pairs}: there is no answer in it; expected rows with item_id, answer and label")
    items, graded = spread(one, known, limit), {row.item_id for row in labelled}
    asked = [*items, *(item for item in known if item.id in graded - {item.id for item in items})]
    with ExitStack() as stack:
        stack.enter_context(options.run_of(asker))
        folder = out or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mores-")))
        make_folder(folder)
        job = Run(one, asked, asker, (asker,))
        said, path = folder / RESPONSES, folder / VERDICTS
        write_probes(items, labelled, known, said)
        run(job.grade(said, path))
        verdicts = read_records(path, Verdict)
        found = check(asked, labelled, verdicts, one.judging, asker.model.name, job.signature())
        write_text(folder / "judge-check.json", found.model_dump_json(indent=1) + "\n")
    if as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        print_tables(judge_tables(found))
    if out:
        click.echo(f"wrote {out}", err=True)
    if not found.agreement.n:
        raise ModelError(f"{found.judge} gave no grade at all")
