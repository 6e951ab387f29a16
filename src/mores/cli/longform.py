"""`mores longform`: judge the language, repetition, facts and relevance of long answers."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from mores.cli import options
from mores.cli.appraise import facts_of, long_options, read_k
from mores.cli.figures import write_run_figures
from mores.engine.loop import run
from mores.errors import ModelError
from mores.io import write_text
from mores.longanswer.api import open_longform
from mores.longanswer.evaluate import RESULTS
from mores.longanswer.summary import unjudged_figures
from mores.report.base.grid import print_tables
from mores.report.longform import run_page, run_tables


@click.command()
@click.argument("answers", metavar="ANSWERS", type=click.Path(exists=True, path_type=Path))
@click.option("--judge", metavar="MODEL", help="Model that judges facts and relevance; without one, only the surface.")
@long_options
@click.option("--results", default=RESULTS, show_default=True, type=click.IntRange(1), help="Results per claim.")
@click.option("--translator", metavar="MODEL", help="Model that translates into English  [default: the judge].")
@click.option("--extractor", metavar="MODEL", help="Model that finds the claims  [default: the judge].")
@click.option("--verifier", metavar="MODEL", help="Model that checks the claims  [default: the judge].")
@click.option(
    "--translate/--no-translate", default=True, show_default=True, help="Judge in English, as the paper does."
)
@click.option("--every", is_flag=True, help="Judge facts and relevance also of answers with surface issues.")
@click.option("-k", "--claims", metavar="K",
              help="Claims of a full answer, for recall and F1: a number, or 'median' of this run.")  # fmt: skip
@click.option(
    "--missing-as-issue", is_flag=True, help="Count a missing answer as one with an issue, as the paper does."
)
@click.option("--record", type=options.NEW_FILE, help="Record all searches here, for replay:.")
@click.option("--limit", type=click.IntRange(1), help="Only the first so many answers.")
@click.option("--out", type=options.NEW_FOLDER,
              help="Folder for the run  [default: longform, or longform-2, … for other settings].")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Say what it would call, search and cost, and stop.")
@options.price_option
@options.figures_option
@options.json_option("the table")
@options.judged_options
def longform(
    answers: Path, judge: str | None, out: Path | None, figures: Path | None, as_json: bool, dry_run: bool, **given: Any
) -> None:
    """Judge long ANSWERS: their language, repetition, facts and relevance. No reference is needed.

    ANSWERS is a file with `question`, `answer` and `language` (and `id`, `model`, `kind` where there are), or a folder
    of CaLMQA's release. Without --judge only the surface is looked at; facts need --judge and --facts.
    """  # fmt: skip
    asking, facts, claims = options.asking(given), facts_of(given), read_k(given.pop("claims"))
    with open_longform(answers, judge, facts=facts, claims=claims, **asking, **given) as job:
        if dry_run:
            job.announce()
            return
        with options.run_of(job.asker) if judge else nullcontext():
            done = run(job.run(out))
    page = done.path / "longform.html"
    write_text(page, run_page(done))
    click.echo(f"wrote {done.path}; its page is {page}", err=True)
    if figures:
        write_run_figures(done, figures)
    if as_json:
        click.echo(json.dumps([summary.model_dump(mode="json") for summary in done.summaries], indent=2))
    else:
        print_tables(run_tables(done))
    if unjudged := unjudged_figures(done.summaries):
        reasons = f"the reasons are in {done.path / 'appraisals.jsonl'}"
        raise ModelError(f"too few answers could be judged to say anything of {', '.join(unjudged)}; {reasons}")
