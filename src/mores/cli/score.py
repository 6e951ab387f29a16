"""`mores score`: find the cultural errors in texts."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import click

from mores.cli import options
from mores.engine.estimate import Estimate, estimate
from mores.engine.loop import run
from mores.errors import ConfigError, InputError, ModelError
from mores.gate import TextGate
from mores.io import FORMATS, read_records, write_text
from mores.metric import Metric
from mores.metric.api import score_texts
from mores.metric.folder import JUDGEMENTS
from mores.metric.summary import Summary, Tally
from mores.metric.texts import Lookup, Texts, check_style, judge_texts, open_texts
from mores.report.base.grid import plain_console
from mores.report.score import page, show_summary, table
from mores.search import search_or_corpus
from mores.search.ground import CHARACTERS
from mores.show import money
from mores.types import Evidence, Judgement, Sample


@click.command()
@click.argument("texts", metavar="TEXTS")
@click.option(
    "--out", metavar="DIR", help="Folder for the run; - writes judgements to stdout only  [default: TEXTS.MODEL.score]."
)
@click.option("--html", metavar="FILE", help="Also write one self-contained page that shows every text and its errors.")
@click.option(
    "--evidence",
    metavar="SEARCH",
    help="Look each text up first and show the judge what is found: a file or folder of documents, serper or "
    "replay:FILE. Each error then cites what it rests on.",
)
@click.option(
    "--passages",
    default=3,
    show_default=True,
    type=click.IntRange(1, 20),
    help="Most pieces of evidence for each text.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    help="Format of TEXTS, where its name does not tell.",
)
@click.option("--skip-bad", is_flag=True, help="Leave out rows that cannot be read, instead of stopping.")
@click.option("--dry-run", is_flag=True, help="Show what the run would send and cost, and stop.")
@click.option("--price", metavar="IN,OUT", help="Dollars per million prompt and completion tokens.")
@options.score_gate_options
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON instead of the table.")
@options.metric_options
def score(texts: str, format_: str | None, skip_bad: bool, dry_run: bool, as_json: bool, **given: Any) -> None:
    """Find the cultural errors in TEXTS, with a model as the judge.

    TEXTS is a file of instruction-text pairs (JSON lines, CSV or Parquet with the columns "instruction" and
    "text") or of plain texts, one per line; - reads standard input. Each pair gets an error report (what is
    culturally wrong, where, how bad, why) and a score: -1 for each minor and -5 for each major error, or the
    judge's certainty, between 0 and 1, when it finds none. A run that was stopped continues where it stopped.
    """  # fmt: skip
    out, html = given.pop("out"), given.pop("html")
    evidence, passages = given.pop("evidence"), given.pop("passages")
    gate = TextGate(**options.take(given, "fail_on", "fail_under", "max_unjudged"))
    lookup = Lookup(search_or_corpus(evidence), passages) if evidence else None
    metric = options.metric(given)
    out = "-" if texts == "-" and out is None else out
    _check_places(texts, out, html)
    with ExitStack() as stack:
        source = stack.enter_context(open_texts(texts, format_, skip_bad=skip_bad, progress=metric.asker.progress))
        check_style(metric, source, lookup)
        stack.enter_context(options.run_of(metric.asker))
        if dry_run:
            _dry_run(stack, metric, source, lookup, as_json)
            return
        if out == "-":
            kept = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mores-"))) / JUDGEMENTS
            run(_pipe(metric, source, lookup, kept))
        else:
            kept = run(score_texts(metric, source, lookup, out)).path / JUDGEMENTS
        summary = _show(metric, source, lookup, kept, html, out == "-", as_json)
    if not summary.judged:
        raise ModelError("no text could be judged; the reasons are in the judgements")
    gate.check(summary, source.bad)


def _check_places(texts: str, out: str | None, html: str | None) -> None:
    """Refuse at once what would only be found out after the run."""
    places = [Path(place).resolve() for place in (texts, out, html) if place and place != "-"]
    if len(set(places)) < len(places):
        raise ConfigError("the texts, --out and --html must be different files")
    if html and not Path(html).resolve().parent.is_dir():
        raise InputError(f"{html}: no folder {Path(html).parent}; make it first: mkdir -p {Path(html).parent}")


async def _pipe(metric: Metric, source: Texts, lookup: Lookup | None, kept: Path) -> None:
    """Judgements on standard output, and in a file for the table: what went into a pipe cannot be read again."""
    async with lookup.open(metric) if lookup else nullcontext() as grounding:
        await judge_texts(metric, source, [kept, "-"], grounding)


def _show(
    metric: Metric, source: Texts, lookup: Lookup | None, kept: Path, html: str | None, piped: bool, as_json: bool
) -> Summary:
    def pairs() -> Iterator[tuple[Sample, Judgement]]:
        return zip(source.samples(), read_records(kept, Judgement), strict=True)

    console = plain_console(stderr=piped)
    tally = Tally()
    view = table(pairs(), tally=tally)
    summary = tally.summary()
    if html:
        facts = {"Texts": source.name, "Model": metric.model.name, "Evidence": str(lookup or "")}
        write_text(html, page(pairs(), title="Cultural errors", summary=facts, warning=metric.model.warning))
    for path in (None if piped else str(kept.parent), html):
        if path:
            click.echo(f"wrote {path}", err=True)
    if as_json:
        click.echo(json.dumps(summary.model_dump(mode="json") | {"left_out": source.bad}, indent=2), err=piped)
    else:
        console.print(view)
        console.print(show_summary(summary))
    return summary


def _dry_run(stack: ExitStack, metric: Metric, source: Texts, lookup: Lookup | None, as_json: bool) -> None:
    """What would be searched, sent and paid. A search that costs nothing is made, so that the counts are true."""
    searches, cost = (lookup.searches(source), lookup.cost(source)) if lookup else (0, 0.0)
    if lookup and not cost:
        path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mores-"))) / "samples.jsonl"
        source = run(_ground(metric, source, lookup, path))
    samples = _with_blanks(source, lookup.k) if lookup and cost else source.samples()
    found = estimate(metric.asker, metric.jobs(samples), metric.settings.max_tokens)
    if lookup and as_json:
        click.echo(json.dumps(found.model_dump(mode="json") | {"searches": searches, "search_cost": cost}, indent=2))
        return
    if lookup:
        paid = f", at most {money(cost, 3)}; which answers the store has, only they can tell" if cost else ""
        click.echo(f"{searches:,} searches with {lookup.name}{paid}")
    print_estimate(found, as_json)


async def _ground(metric: Metric, source: Texts, lookup: Lookup, path: Path) -> Texts:
    async with lookup.open(metric) as grounding:
        return await grounding.ground(metric, source, path)


def _with_blanks(source: Texts, k: int) -> Iterator[Sample]:
    """The texts with as much evidence as a search may find, to count its tokens."""
    blank = Evidence(text="word " * (CHARACTERS // 5))
    for sample in source.samples():
        yield sample if sample.evidence else sample.model_copy(update={"evidence": (blank,) * k})


def print_estimate(found: Estimate, as_json: bool) -> None:
    """What a run would send and cost."""
    if as_json:
        click.echo(found.model_dump_json(indent=2))
        return
    click.echo(f"{found.calls:,} calls would be sent; {found.known:,} answers are in the store already")
    if found.unsendable:
        click.echo(f"{found.unsendable:,} samples are too long to be sent (see --max-characters)")
    click.echo(f"about {found.prompt_tokens:,} prompt tokens and {found.completion_tokens:,} for the reports")
    if found.cost is None or found.most is None:
        click.echo("the price of this model is not known: give it with --price IN,OUT")
    else:
        click.echo(f"about {money(found.cost)}, at most {money(found.most)}")
