"""`mores score`: find the cultural errors in texts."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, aclosing
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import click

from mores.cli import options
from mores.cli.gate import TextGate, score_gate_options
from mores.cli.progress import Bar, stage
from mores.engine import Counts
from mores.engine.estimate import Estimate, estimate
from mores.engine.loop import run
from mores.errors import ConfigError, InputError, ModelError
from mores.io import FORMATS, JsonlWriter, check_samples, file_name, read_records, read_samples, spool, write_text
from mores.metric import Metric
from mores.metric.prompt import NO_PLACE
from mores.report.base.grid import plain, plain_console
from mores.report.score import Summary, Tally, page, show_summary, table
from mores.search import Options as SearchOptions
from mores.search import Search, ground, open_search, search_cost, search_or_corpus
from mores.search.ground import CHARACTERS
from mores.show import money
from mores.types import Evidence, Judgement, Sample


@dataclass(frozen=True)
class _Input:
    """The texts: read once to check and count them, then again to judge them and to show them."""

    name: str
    path: Path
    format: str | None
    count: int
    bad: int
    grounded: Path | None = None
    """The same texts with what was looked up about them."""
    evidence: str = ""
    """Where it was looked up."""

    def samples(self) -> Iterator[Sample]:
        """The texts that were there at the check, also when the file has grown since."""
        if self.grounded:
            return read_records(self.grounded, Sample)
        on_bad = (lambda _: None) if self.bad else None
        return islice(read_samples(self.path, format=self.format, on_bad=on_bad), self.count)


@dataclass(frozen=True)
class _Lookup:
    """Where evidence for the texts is looked up, and how much of it."""

    name: str
    k: int

    def cost(self, source: _Input) -> float:
        """US dollars at most: what is kept of earlier searches costs nothing."""
        return search_cost(self.name, self.searches(source), self.k)

    def searches(self, source: _Input) -> int:
        """One for each text that brings no evidence of its own."""
        return sum(not sample.evidence for sample in source.samples())


@click.command()
@click.argument("texts", metavar="TEXTS")
@click.option(
    "--out", metavar="FILE", help="Judgements as JSON lines; - for stdout  [default: TEXTS.MODEL.judgements.jsonl]."
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
@score_gate_options
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON instead of the table.")
@options.metric_options
def score(texts: str, format_: str | None, skip_bad: bool, dry_run: bool, as_json: bool, **given: Any) -> None:
    """Find the cultural errors in TEXTS, with a model as the judge.

    TEXTS is a file of instruction-text pairs (JSON lines, CSV or Parquet with the columns "instruction" and
    "text") or of plain texts, one per line; - reads standard input. Each pair gets an error report (what is
    culturally wrong, where, how bad, why) and a score: -1 for each minor and -5 for each major error, or the
    judge's certainty, between 0 and 1, when it finds none. A run that was stopped goes on where it was.
    """  # fmt: skip
    out, html = given.pop("out"), given.pop("html")
    evidence, passages = given.pop("evidence"), given.pop("passages")
    gate = TextGate(*(given.pop(name) for name in ("fail_on", "fail_under", "max_unjudged")))
    lookup = _Lookup(search_or_corpus(evidence), passages) if evidence else None
    metric = options.metric(given)
    target = out or ("-" if texts == "-" else _default_name(texts, metric.model.name))
    _check_places(texts, target, html)
    with ExitStack() as stack:
        source = _check(stack, texts, format_, skip_bad)
        _check_style(metric, source, lookup)
        stack.enter_context(options.run_of(metric.asker))
        if dry_run:
            _dry_run(stack, metric, source, lookup, as_json)
            return
        if lookup:
            source = _look_up(stack, metric, source, lookup, target)
        else:
            _check_target(metric, source, target)
        kept = _judge(stack, metric, source, target)
        summary = _show(metric, source, kept, html, target, as_json)
    if not summary.judged:
        raise ModelError("no text could be judged; the reasons stand in the output")
    gate.check(summary, source.bad)


def _check_places(texts: str, target: str, html: str | None) -> None:
    """Refuse at once what would only be found out after the run."""
    places = [Path(place).resolve() for place in (texts, target, html) if place and place != "-"]
    if len(set(places)) < len(places):
        raise ConfigError("the texts, --out and --html must be different files")
    if html and not Path(html).resolve().parent.is_dir():
        raise InputError(f"{html}: no folder {Path(html).parent}; make it first: mkdir -p {Path(html).parent}")


def _default_name(texts: str, model: str) -> str:
    """One file for each file of texts and each model, for example `texts.csv.openai_x.judgements.jsonl`."""
    return f"{Path(texts).name}.{file_name(model)[-80:]}.judgements.jsonl"


def _check_target(metric: Metric, source: _Input, target: str) -> None:
    """Refuse to write over what another run made; the same judge may judge the same texts again."""
    path = Path(target)
    if target == "-" or not path.is_file() or not path.stat().st_size:
        return
    fix = "name another file with --out, or move that one away"
    try:
        judgements = read_records(path, Judgement)
        first = next(judgements)
    except (InputError, StopIteration) as error:
        raise ConfigError(f"{target} is there already, and is not a file of judgements; {fix}") from error
    ways = {metric.signature(certain, evidence) for certain in (True, False) for evidence in (True, False)}
    if first.signature not in ways:
        raise ConfigError(f"{target} holds the judgements of {first.judge} with other settings; {fix}")
    pairs = zip(source.samples(), chain([first], judgements), strict=False)
    if not any((one.id, one.text) == (kept.sample_id, kept.text) for one, kept in pairs):
        raise ConfigError(f"{target} holds the judgements of other texts; {fix}")


def _check(stack: ExitStack, texts: str, format_: str | None, skip_bad: bool) -> _Input:
    """Read everything once, so that a bad row is found before anything is sent."""
    path = stack.enter_context(spool(texts))
    found = check_samples(path, format=format_)
    if wrong := found.bad + found.repeated:
        lines = "\n  ".join(found.problems)
        more = f"\n  and {wrong - len(found.problems)} more" if wrong > len(found.problems) else ""
        if found.repeated or not skip_bad:
            fix = "give every text an id of its own" if found.repeated else "mend that, or use --skip-bad"
            raise InputError(f"{texts} has bad rows, so nothing was sent; {fix}:\n  {lines}{more}")
        click.echo(f"left out {wrong} bad rows:\n  {lines}{more}", err=True)
    if not found.count:
        raise InputError(f"{texts}: there is no text in it")
    return _Input("standard input" if texts == "-" else texts, path, format_, found.count, found.bad)


def _check_style(metric: Metric, source: _Input, lookup: _Lookup | None) -> None:
    """Find out before anything is paid for that the prompt cannot show evidence."""
    if metric.style == "paper" and (lookup or any(sample.evidence for sample in source.samples())):
        raise ConfigError(NO_PLACE)


def _look_up(stack: ExitStack, metric: Metric, source: _Input, lookup: _Lookup, target: str) -> _Input:
    """The texts with what a search finds about them; those for which it failed are not judged."""
    counts = Counts()
    search = open_search(
        lookup.name, SearchOptions(limits=metric.asker.limits, fresh=metric.asker.fresh, counts=counts)
    )
    metric.settings = replace(metric.settings, evidence=f"{search.identity}.k{lookup.k}.c{CHARACTERS}")
    try:  # before the first search, which may cost money, but after the signature says where evidence is from
        _check_target(metric, source, target)
    except ConfigError:
        run(search.close())
        raise
    if cost := lookup.cost(source):
        click.echo(f"{lookup.searches(source):,} searches, at most {money(cost, 3)}", err=True)
    path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mores-"))) / "samples.jsonl"
    stage("searching", source.count, None, partial(_ground, metric, source, search, lookup.k, path), counts)
    if metric.unsearched:
        first = plain(next(iter(metric.unsearched.values())).reason)
        what = f"the search failed for {len(metric.unsearched):,} of {source.count:,} texts, which are not judged"
        click.echo(f"{what}; run the same command again to search again. The first: {first}", err=True)
    return replace(source, grounded=path, evidence=f"{lookup.name}, at most {lookup.k} passages")


async def _ground(metric: Metric, source: _Input, search: Search, k: int, path: Path, counts: Counts) -> None:
    try:
        with JsonlWriter(path) as writer:
            async with aclosing(ground(source.samples(), search, k, counts=counts)) as found:
                async for sample, failure in found:
                    writer.write(sample)
                    if failure:
                        metric.unsearched[sample.id] = failure
    finally:
        await search.close()


def _judge(stack: ExitStack, metric: Metric, source: _Input, target: str) -> Path:
    """Judge all texts, and return a file of the judgements in their order."""
    kept = Path(target)
    if target == "-" or (kept.exists() and not kept.is_file()):  # what goes into a pipe cannot be read again
        kept = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mores-"))) / "judgements.jsonl"
    counts = Counts()
    with ExitStack() as writing, Bar("judging", source.count, counts, metric.asker.price) as bar:
        writers = [writing.enter_context(JsonlWriter(path)) for path in sorted({str(kept), target})]
        run(_stream(metric, source, writers, counts, bar))
    return kept


async def _stream(metric: Metric, source: _Input, writers: list[JsonlWriter], counts: Counts, bar: Bar) -> None:
    async with bar.ticking(), aclosing(metric.stream(source.samples(), counts)) as judgements:
        async for _, judgement in judgements:
            for writer in writers:
                writer.write(judgement)


def _show(metric: Metric, source: _Input, kept: Path, html: str | None, target: str, as_json: bool) -> Summary:
    def pairs() -> Iterator[tuple[Sample, Judgement]]:
        return zip(source.samples(), read_records(kept, Judgement), strict=True)

    console = plain_console(stderr=target == "-")
    tally = Tally()
    view = table(pairs(), tally=tally)
    summary = tally.summary()
    if html:
        facts = {"Texts": source.name, "Model": metric.model.name, "Evidence": source.evidence}
        write_text(html, page(pairs(), title="Cultural errors", summary=facts, warning=metric.model.warning))
    for path in (target, html):
        if path and path != "-":
            click.echo(f"wrote {path}", err=True)
    if as_json:
        click.echo(json.dumps(summary.model_dump(mode="json") | {"left_out": source.bad}, indent=2), err=target == "-")
    else:
        console.print(view)
        console.print(show_summary(summary))
    return summary


def _dry_run(stack: ExitStack, metric: Metric, source: _Input, lookup: _Lookup | None, as_json: bool) -> None:
    """What would be searched, sent and paid. A search that costs nothing is made, so that the counts are true."""
    searches, cost = (lookup.searches(source), lookup.cost(source)) if lookup else (0, 0.0)
    if lookup and not cost:
        source = _look_up(stack, metric, source, lookup, "-")
    samples = _with_blanks(source, lookup.k) if lookup and cost else source.samples()
    found = estimate(metric.asker, metric.jobs(samples), metric.settings.max_tokens)
    if lookup and as_json:
        click.echo(json.dumps(found.model_dump(mode="json") | {"searches": searches, "search_cost": cost}, indent=2))
        return
    if lookup:
        paid = f", at most {money(cost, 3)}; which answers the store has, only they can tell" if cost else ""
        click.echo(f"{searches:,} searches with {lookup.name}{paid}")
    print_estimate(found, as_json)


def _with_blanks(source: _Input, k: int) -> Iterator[Sample]:
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
