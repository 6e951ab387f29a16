"""`mores score`: find the cultural errors in texts."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from mores.cli import options
from mores.cli.estimate import print_estimate
from mores.cli.segments import print_segments, segment_options
from mores.engine.loop import run
from mores.errors import ConfigError, GateError, InputError, ModelError
from mores.formatting import money
from mores.gate import TextGate
from mores.io import FORMATS, split_log, write_text
from mores.metric import Metric
from mores.metric.api import score_texts
from mores.metric.lines import open_lines
from mores.metric.texts import Lookup, Texts, check_style, estimate_texts, open_texts
from mores.report.base.grid import print_tables
from mores.report.score import run_page, run_tables
from mores.search import search_or_corpus


@click.command()
@click.argument("texts", metavar="[TEXTS]", nargs=-1)
@click.option(
    "--out", metavar="DIR", help="Folder for the run; - writes judgements to stdout only  [default: TEXTS.MODEL.score]."
)
@click.option("--html", metavar="FILE", help="Also write one self-contained page that shows every text and its errors.")
@click.option("--evidence", metavar="SEARCH",
              help="Look each text up first and show the judge what is found: a file or folder of documents, "
                   "fused:PATH if they are in other languages, serper or replay:FILE. Each error then cites what it "
                   "rests on.")  # fmt: skip
@click.option("--passages", default=3, show_default=True, type=click.IntRange(1, 20),
              help="Most pieces of evidence for a text; of several sentences, each has one more.")  # fmt: skip
@click.option("--format", "format_", type=click.Choice(FORMATS), help="Format of TEXTS, where its name does not tell.")
@click.option("--from", "log", metavar="KIND:LOG",
              help="Instead of TEXTS: the answers in a log of another harness, inspect:LOG.eval (or .json) or "
                   "lm-eval:SAMPLES.jsonl.")  # fmt: skip
@segment_options
@click.option("--skip-bad", is_flag=True, help="Leave out rows that cannot be read, instead of stopping.")
@click.option("--dry-run", is_flag=True, help="Show what the run would send and cost, and stop.")
@options.price_option
@options.score_gate_options
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON instead of the table.")
@options.metric_options
def score(texts: tuple[str, ...], format_: str | None, skip_bad: bool, **given: Any) -> None:
    """Find the cultural errors in TEXTS, with a model as the judge.

    TEXTS is a file of instruction-text pairs (JSON lines, CSV or Parquet with the columns "instruction" and
    "text") or of plain texts, one per line; - reads standard input. Each pair gets an error report (what is
    culturally wrong, where, how bad, why) and a score: -1 for each minor and -5 for each major error, or the
    judge's certainty, between 0 and 1, when it finds none. A run that was stopped continues where it stopped.
    With --from the texts are what a model answered in another harness; with -t they are the lines of plain files, and
    their scores are printed line by line, as COMET does.

    The default model, embedded, is very small. On texts of a kind that it never saw, its verdicts without --evidence
    are guesses, and marked as weak; with evidence, about 74 of 100 are correct in English and 64 in other languages if
    the text is a sentence or two, and hardly more than half if it is longer prose (`make prose`; docs/train.md). With
    evidence that does not cover a text they are near chance too, and marked as weak where it has few words of the text.
    `mores meta --data` measures any judge on your own pairs.
    """  # fmt: skip
    out, lines = given.pop("out"), _Lines(**options.take(given, "sources", "systems", "references", "only_system"))
    path, format_ = split_log(given["log"]) if given["log"] else (texts[0] if texts else "", format_)
    _check_inputs(texts, given.pop("log"), lines, out, given["html"])
    evidence, passages = given.pop("evidence"), given.pop("passages")
    lookup = Lookup(search_or_corpus(evidence), passages) if evidence else None
    gate = TextGate(**options.take(given, "fail_on", "fail_under", "max_unjudged"))
    show = options.take(given, "html", "as_json", "dry_run")
    metric = options.metric(given)
    if not lines.systems:
        _check_places(path, out, show["html"])
        opened = open_texts(path, format_, skip_bad=skip_bad, progress=metric.asker.progress)
        _score(metric, opened, lookup, gate, _Output("-" if path == "-" and out is None else out, **show))
        return
    systems, failed = (*lines.systems, *texts), []
    for system in systems:  # all of them, before the first is paid for
        _check_places(system, out, show["html"])
        with open_lines(system, lines.sources, lines.references):
            pass
    for system in systems:
        folder = str(Path(out) / Path(system).name) if out and len(systems) > 1 else out
        opened = open_lines(system, lines.sources, lines.references)
        try:
            _score(metric, opened, lookup, gate, _Output(folder, **show, lines=lines))
        except GateError as error:  # the other systems are judged too
            failed.append(f"{system}: {error}" if len(systems) > 1 else str(error))
    if failed:
        raise GateError("; ".join(failed))


@dataclass(frozen=True)
class _Lines:
    """Files with one text per line."""

    sources: str | None
    systems: tuple[str, ...]
    references: tuple[str, ...]
    only_system: bool


@dataclass(frozen=True)
class _Output:
    """Where the run goes, and what is shown of it."""

    out: str | None
    html: str | None
    as_json: bool
    dry_run: bool
    lines: _Lines | None = None


def _score(
    metric: Metric, opened: AbstractContextManager[Texts], lookup: Lookup | None, gate: TextGate, output: _Output
) -> None:
    """Judge the texts, and show the result."""
    with ExitStack() as stack:
        source = stack.enter_context(opened)
        check_style(metric, source, lookup)
        stack.enter_context(options.run_of(metric.asker))
        if output.dry_run:
            _dry_run(metric, source, lookup, output.as_json)
            return
        piped, out = output.out == "-", output.out
        if piped:
            out = str(Path(stack.enter_context(TemporaryDirectory(prefix="mores-"))) / "run")
        scored = run(score_texts(metric, source, lookup, out, ["-"] if piped else []))
        if output.html:
            write_text(output.html, run_page(scored))
        for path in (None if piped else scored.path, output.html):
            if path:
                click.echo(f"wrote {path}", err=True)
        summary = scored.result
        if output.as_json:
            click.echo(json.dumps(summary.model_dump(mode="json") | {"left_out": source.bad}, indent=2), err=piped)
        elif output.lines:
            print_segments(source.name, scored, source.count + source.bad, output.lines.only_system)
        else:
            print_tables(run_tables(scored), stderr=piped)
    if not summary.judged:
        raise ModelError("no text could be judged; the reasons are in the judgements")
    gate.check(summary, source.bad)


def _check_inputs(texts: tuple[str, ...], log: str | None, lines: _Lines, out: str | None, html: str | None) -> None:
    """Refuse texts that are given in no way, or in two."""
    ways = bool(texts and not lines.systems) + bool(log) + bool(lines.systems)
    if ways != 1 or (len(texts) > 1 and not lines.systems):
        raise click.UsageError("give one file of TEXTS, or --from KIND:LOG, or -t FILE")
    if not lines.systems and (lines.sources or lines.references or lines.only_system):
        raise click.UsageError("-s, -r and --only-system go with -t FILE")
    if lines.systems and out == "-":
        raise click.UsageError("--out - goes with TEXTS; with -t the scores are printed")
    if html and len(lines.systems) + len(texts) > 1:
        raise click.UsageError("--html shows one run; give one system, or show each run: mores show RUN --html FILE")
    names = Counter(Path(system).name for system in (*lines.systems, *texts))
    if lines.systems and out and (twice := [name for name, count in names.items() if count > 1]):
        raise click.UsageError(f"two files are called {twice[0]}, and --out has a folder for each name; rename one")


def _check_places(texts: str, out: str | None, html: str | None) -> None:
    """Refuse at once what would otherwise fail only after the run."""
    places = [Path(place).resolve() for place in (texts, out, html) if place and place != "-"]
    if len(set(places)) < len(places):
        raise ConfigError("the texts, --out and --html must be different files")
    if html and not Path(html).resolve().parent.is_dir():
        raise InputError(f"{html}: no folder {Path(html).parent}; make it first: mkdir -p {Path(html).parent}")


def _dry_run(metric: Metric, source: Texts, lookup: Lookup | None, as_json: bool) -> None:
    """What would be searched, sent and paid."""
    estimate = run(estimate_texts(metric, source, lookup))
    searches, cost = (lookup.searches(source), lookup.cost(source)) if lookup else (0, 0.0)
    if as_json:
        searched = {"searches": searches, "search_cost": cost} if lookup else {}
        click.echo(json.dumps(estimate.model_dump(mode="json") | searched, indent=2))
        return
    if lookup:
        paid = f", at most {money(cost, 3)}; which answers the store has, only they can tell" if cost else ""
        click.echo(f"{searches:,} searches with {lookup.name}{paid}")
    print_estimate(estimate)
