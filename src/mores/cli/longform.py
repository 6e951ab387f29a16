"""`mores longform`: long answers that exist, judged on language, repetition, facts and relevance."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from mores.cli import options
from mores.cli.appraise import facts_of, long_options, read_k
from mores.engine.loop import run
from mores.errors import ConfigError, InputError, ModelError
from mores.io import JsonlWriter, write_text
from mores.io.private import make_folder
from mores.longform.answers import read_answers
from mores.longform.appraise import Appraising, announce, counting_of, write_summaries
from mores.longform.evaluate import RESULTS
from mores.longform.summary import Counting, Summary, summarise, unjudged_figures
from mores.report.base.grid import Grid, Row, harmless, plain_console
from mores.report.longform import page
from mores.show import between, count, percent
from mores.types import Result

SHOWN = ("without issues", "wrong language", "repetition", "precision", "F1", "relevance", "S", "english")
"""Figures of the table; the page has all."""


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
@click.option("-k", "--claims", "k", metavar="K",
              help="Claims of a full answer, for recall and F1: a number, or 'median' of this run.")  # fmt: skip
@click.option(
    "--missing-as-issue", is_flag=True, help="Count a missing answer as one with an issue, as the paper does."
)
@click.option(
    "--record", type=click.Path(dir_okay=False, path_type=Path), help="Record all searches here, for replay:."
)
@click.option("--limit", type=click.IntRange(1), help="Only the first so many answers.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("longform"), show_default=True,
              help="Folder for the run.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Say what it would call, search and cost, and stop.")
@click.option("--price", metavar="IN,OUT", help="Dollars per million prompt and completion tokens.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the table.")
@options.judged_options
def longform(answers: Path, judge: str | None, out: Path, as_json: bool, **given: Any) -> None:
    """Judge long ANSWERS: their language, repetition, facts and relevance. No reference is needed.

    ANSWERS is a file with `question`, `answer` and `language` (and `id`, `model`, `kind` where there are), or a folder
    of CaLMQA's release. Without --judge only the surface is looked at; facts need --judge and --facts.
    """  # fmt: skip
    long, k = _appraising(judge, given), read_k(given.pop("k"))
    make_folder(out)
    copy, count = _copy(answers, out / "answers.jsonl", given.pop("limit"))
    dry, counting = given.pop("dry_run"), Counting(missing_as_issue=given.pop("missing_as_issue"), every=long.every)
    asker = options.judged(given, judge)
    job = long.evaluation(copy, out, asker if judge else None)
    if job.judge:
        announce(job, long, asker.progress)
    elif dry:
        click.echo(f"{count:,} answers, their surface alone: no calls, no cost", err=True)
    if dry:
        return
    with options.run_of(asker) if judge else nullcontext():
        run(job.run("longform", count, asker.progress))
    found = summarise(job.appraised(), counting_of(job, counting, k), job.signature())
    write_summaries(found, out)
    write_text(out / "longform.html", page(found, job.appraised(), job.signature()))
    click.echo(f"wrote {out}; its page is {out / 'longform.html'}", err=True)
    if as_json:
        click.echo(json.dumps([one.model_dump(mode="json") for one in found], indent=2))
    else:
        _show(found)
    if unjudged := unjudged_figures(found):
        reasons = f"the reasons are in {out / 'appraisals.jsonl'}"
        raise ModelError(f"too few answers could be judged to say anything of {', '.join(unjudged)}; {reasons}")


def _appraising(judge: str | None, given: dict[str, Any]) -> Appraising:
    """The options of the evaluation, taken out of the others."""
    facts = facts_of(given)
    _check_used(judge, facts, given)
    named = ("lid", "results", "translator", "extractor", "verifier", "translate", "every", "record")
    long = Appraising(facts=facts, **{name: given.pop(name) for name in named})
    long.check(judge)
    return long


def _check_used(judge: str | None, facts: str | None, given: dict[str, Any]) -> None:
    """ConfigError for an option that would do nothing."""
    about_facts = {"--extractor": "extractor", "--verifier": "verifier", "--claims": "k", "--record": "record"}
    idle = [option for option, name in about_facts.items() if given[name] is not None]
    if idle and not facts:
        raise ConfigError(f"{idle[0]} is about facts; add --facts SEARCH or --corpus PATH, and --judge")
    judged = {"--translator": given["translator"], "--every": given["every"], "--no-translate": not given["translate"]}
    idle = [option for option, there in judged.items() if there]
    if idle and not judge:
        raise ConfigError(f"{idle[0]} is about what a model judges; name one with --judge, for example openai:NAME")


def _copy(answers: Path, path: Path, limit: int | None) -> tuple[Path, int]:
    """The answers as the evaluation reads them, and how many there are; bad rows are told of and left out."""
    problems: list[InputError] = []
    count = 0
    with JsonlWriter(path) as writer:
        for one in read_answers(answers, problems.append):
            writer.write(one)
            count += 1
            if count == limit:
                break
    if problems:
        shown = "\n  ".join(map(str, problems[:5])) + (f"\n  and {len(problems) - 5} more" if len(problems) > 5 else "")
        click.echo(f"left out {len(problems)} bad rows:\n  {shown}", err=True)
    if not count:
        raise InputError(f"{answers}: there is no answer in it; {_expected(answers)}")
    return path, count


def _expected(answers: Path) -> str:
    if answers.is_dir():
        return "expected dataset-*.json of the authors' repository, which has the answers of models; the Hub has not"
    return "expected rows with 'question', 'answer' and 'language'"


def _show(found: Sequence[Summary]) -> None:
    console = plain_console()
    for title, models in _tables(found):
        names = [name for name in SHOWN if any(name in figures for _, figures in models)]
        rows: list[Row] = []
        for model, figures in models:
            n = figures["without issues"].n if "without issues" in figures else 0
            rows.append(
                (model or "–", *(_cell(figures[name].value if name in figures else None) for name in names), f"{n:,}")
            )
        console.print(Grid(("model", *names, "n"), [("", rows)], title), "")
    if unscored := sum(one.figures["without issues"].unscored for one in found if "without issues" in one.figures):
        what = count(unscored, "answer")
        console.print(f"in no figure: {what} without a decision on the surface")
    for one in found:
        for line in (*_undecided(one), _headline(one)):
            console.print(harmless(line), soft_wrap=True)


def _headline(one: Summary) -> str:
    """S where facts and relevance were judged, else the share without issues."""
    name = next((name for name in ("S", "without issues") if name in one.figures), None)
    if name is None:
        return f"{one.model or 'answers'}: nothing could be measured"
    result = one.figures[name]
    interval = between(result)
    shown = f"{percent(result.value)} ({interval})" if interval else percent(result.value)
    return f"{one.model or 'answers'}: {name} {shown}, n {result.n:,}, {result.unscored:,} unscored"


def _undecided(one: Summary) -> Iterator[str]:
    """What failed for a model's answers, and what the figures could be, whatever that would have been."""
    name = one.model or "answers"
    judged = {stage: n for stage, n in one.failures.items() if stage != "answer"}
    if not judged:
        return
    stages = ", ".join(f"{stage} for {n:,}" for stage, n in judged.items())
    yield f"{name}: failures: {stages} of {one.answers:,} answers; {one.undecided:,} of {one.claims:,} claims undecided"
    figures = [one.figures[name] for name in ("precision", "F1", "relevance", "S") if name in one.figures]
    ends = [f"{one.name} {_cell(one.bounds[0])}–{_cell(one.bounds[1])}" for one in figures if one.bounds]
    yield f"{name}: bounds, whatever the undecided are: {', '.join(ends)}"


def _tables(found: Sequence[Summary]) -> Iterator[tuple[str, list[tuple[str, dict[str, Result]]]]]:
    yield "all answers", [(one.model, one.figures) for one in found]
    for kind in ("agnostic", "specific"):
        rows = [(one.model, one.by["paper"][kind]) for one in found if kind in one.by.get("paper", {})]
        if rows:
            yield f"culturally {kind}, without Balochi, Hiligaynon, Kirundi and Papiamento", rows


def _cell(value: float | None) -> str:
    return percent(value).removesuffix("%")
