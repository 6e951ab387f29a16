"""`mores collect`: from candidate questions to a cultural dataset, and what was dropped on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mores.cli import options
from mores.cli.progress import stage as run_stage
from mores.cli.score import print_estimate
from mores.engine import Counts
from mores.engine.estimate import estimate
from mores.errors import InputError, ModelError
from mores.io import JsonlWriter, spool, write_text
from mores.io.private import make_folder
from mores.longform.collection import (
    Candidate,
    Collected,
    Collection,
    Collector,
    Fate,
    Stage,
    add_up,
    mark_near,
    read_candidates,
    undecided,
)
from mores.longform.collection.numbers import Size
from mores.report.base.grid import Grid, Row, harmless, plain_console
from mores.report.collect import page
from mores.show import NOTHING, number

PROBLEMS = 20
"""Bad rows that are named."""
DOING = {
    Stage.SPECIFICITY: "cultural specificity",
    Stage.QUALITY: "quality",
    Stage.TRANSLATION: "translating",
    Stage.TOPIC: "topics",
}


@click.command()
@click.argument("questions", metavar="QUESTIONS")
@click.option(
    "--without",
    multiple=True,
    type=click.Choice([str(stage) for stage in Stage]),
    help="Leave out a stage; may be given several times.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("collection"),
    show_default=True,
    help="Folder for what is kept, dropped and undecided, the numbers and the page.",
)
@click.option("--skip-bad", is_flag=True, help="Leave out rows that cannot be read, instead of stopping.")
@click.option("--max-tokens", default=1024, show_default=True, type=click.IntRange(1), help="Longest answer.")
@click.option("--temperature", default="0", show_default=True, help="Sampling temperature, or 'none' to send none.")
@click.option("--seed", default="0", show_default=True, help="Seed that is sent, or 'none' to send none.")
@click.option("--dry-run", is_flag=True, help="Show what the run would send and cost if nothing is dropped, and stop.")
@click.option("--price", metavar="IN,OUT", help="Dollars per million prompt and completion tokens.")
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON instead of the tables.")
@options.model_options
def collect(questions: str, out: Path, skip_bad: bool, dry_run: bool, as_json: bool, **given: Any) -> None:
    """Filter, translate and label QUESTIONS, with a model as the judge, and say what was dropped and why.

    QUESTIONS is a file (JSON lines, CSV or Parquet) with the columns "question" and "language" and, where there are
    any, "id", "translation", "answer" and "source"; - reads JSON lines from standard input. Questions that are there
    twice, are not specific to the culture of their language, or are of poor quality are dropped; what the model
    leaves undecided is neither kept nor dropped. A run that was stopped goes on where it was.
    """  # fmt: skip
    heat, seed = given.pop("temperature"), given.pop("seed")
    without, tokens = frozenset(map(Stage, given.pop("without"))), given.pop("max_tokens")
    asker = options.served(given)
    candidates = _read(questions, skip_bad)
    collector = Collector(
        asker, without, tokens, options.number("temperature", heat, float), options.number("seed", seed, int)
    )
    if dry_run:
        print_estimate(estimate(asker, collector.most_jobs(candidates), tokens), as_json)
        return
    found = _collect(collector, candidates, out)
    click.echo(f"wrote {out}; its page is {out / 'collection.html'}", err=True)
    if as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        _show(found)
    if undecided(found):
        raise ModelError(f"no question could be decided; the reasons stand in {out / 'unscored.jsonl'}")


def _read(questions: str, skip_bad: bool) -> list[Candidate]:
    """Read everything before anything is sent."""
    problems: list[InputError] = []
    with spool(questions) as path:
        found = list(read_candidates(path, problems.append, questions))
    if problems:
        shown = "\n  ".join(map(str, problems[:PROBLEMS]))
        more = f"\n  and {len(problems) - PROBLEMS} more" if len(problems) > PROBLEMS else ""
        if not skip_bad:
            fix = "so nothing was sent; mend that, or use --skip-bad"
            raise InputError(f"{questions} has bad rows, {fix}:\n  {shown}{more}")
        click.echo(f"left out {len(problems)} bad rows:\n  {shown}{more}", err=True)
    if not found:
        raise InputError(f"{questions}: there is no question in it; expected rows with 'question' and 'language'")
    return found


def _collect(collector: Collector, candidates: list[Candidate], out: Path) -> Collection:
    with options.run_of(collector.asker):
        every = collector.begin(candidates)
        for stage in collector.stages:
            every = _step(collector, stage, every)
    every = mark_near(every)
    ran = [stage for stage in Stage if stage not in collector.without]
    found = add_up(every, ran, collector.model.name, collector.signature(candidates))
    _write(out, every, found, collector.model.warning)
    return found


def _step(collector: Collector, stage: Stage, every: list[Collected]) -> list[Collected]:
    total = sum(collector.concerns(stage, one) for one in every)
    done: list[Collected] = every

    async def work(counts: Counts) -> None:
        nonlocal done
        done = await collector.step(stage, every, counts)

    if total:
        run_stage(DOING[stage], total, collector.asker.price, work)
    return done


def _write(out: Path, every: list[Collected], found: Collection, warning: str | None) -> None:
    make_folder(out)
    for fate in Fate:
        with JsonlWriter(out / f"{fate}.jsonl") as writer:
            for one in every:
                if one.fate is fate:
                    writer.write(one)
    write_text(out / "collection.json", found.model_dump_json(indent=1) + "\n")
    write_text(out / "collection.html", page(found, every, warning))


def _show(found: Collection) -> None:
    stages: list[Row] = [
        (one.stage, *(f"{n:,}" for n in (one.asked, one.passed, one.dropped, one.unscored))) for one in found.stages
    ]
    fates: list[Row] = []
    sizes: list[Row] = []
    for own in (*found.languages.values(), found.total):
        topic = max(own.categories, key=own.categories.__getitem__, default="–")
        fates.append((own.name, *(f"{n:,}" for n in (own.candidates, own.kept, own.dropped, own.unscored)), topic))
        sizes.append(
            (own.name, *(cell for size in (own.questions, own.answers) for cell in (f"{size.n:,}", _size(size))))
        )
    columns = ("", "candidates", "kept", "dropped", "unscored", "most frequent topic")
    console = plain_console()
    for view in (
        Grid(("stage", "asked", "passed", "dropped", "unscored"), [("", stages)], f"Collection: {found.model}"),
        Grid(columns, [("", fates)], "By language", words=frozenset({0, 5})),
        Grid(("", "questions", "bytes", "answers", "bytes"), [("", sizes)], "What is kept, bytes as mean (sd)"),
    ):
        console.print(view, "")
    for note in found.notes:
        console.print(f"note: {harmless(note)}")
    total = found.total
    undecided = f", {total.unscored:,} undecided" if total.unscored else ""
    console.print(f"{total.kept:,} of {total.candidates:,} questions kept, {total.dropped:,} dropped{undecided}")


def _size(size: Size) -> str:
    return NOTHING if size.mean is None else f"{number(size.mean, 1)} ({number(size.sd, 1)})"
