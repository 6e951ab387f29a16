"""`mores score`: find the cultural errors in texts."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from mores.cli.command import command
from mores.cli.estimate import print_estimate
from mores.cli.result import asking, check_output, write_document_figures
from mores.engine.loop import run
from mores.errors import ConfigError, GateError, ModelError
from mores.formatting import money
from mores.gate import TextGate
from mores.io import split_log, write_text
from mores.metric import Metric
from mores.metric.api import score_texts
from mores.metric.folder import ScoreRun
from mores.metric.lines import open_lines
from mores.metric.metric import make_metric
from mores.metric.settings import ScoreFileSettings
from mores.metric.texts import Lookup, Texts, check_style, estimate_texts, make_lookup, open_texts
from mores.report.base.grid import print_tables
from mores.report.base.page import render_page
from mores.report.score import describe
from mores.report.settings import DryRunSettings, OutputSettings
from mores.settings import Settings, setting
from mores.settings.values import Names


class LineSettings(Settings):
    """Files with one text per line, as COMET reads them, and logs of other harnesses."""

    log: str | None = setting(
        default=None,
        option="--from",
        metavar="KIND:LOG",
        help="Instead of TEXTS: the answers in a log of another harness, inspect:LOG.eval (or .json) or "
        "lm-eval:SAMPLES.jsonl.",
    )
    sources: str | None = setting(
        default=None,
        option="-s,--sources",
        metavar="FILE",
        help="With -t: instructions, one per line.",
        default_text="to write a culturally correct text",
    )
    systems: Names = setting(
        default=(),
        option="-t,--translations",
        metavar="FILE",
        help="Instead of TEXTS: what a system wrote, one text per line; prints a score for each line and one for the "
        "system (several: repeat it, or name more files).",
    )
    references: Names = setting(
        default=(),
        option="-r,--references",
        metavar="FILE",
        help="With -t: what is known to be correct, one per line; the judge sees it as evidence.",
    )
    only_system: bool = setting(default=False, help="With -t: print the scores of the systems alone.")


@command(ScoreFileSettings, LineSettings, TextGate, DryRunSettings, OutputSettings)
def score(
    settings: ScoreFileSettings, lines: LineSettings, gate: TextGate, dry: DryRunSettings, output: OutputSettings
) -> None:
    """Find the cultural errors in TEXTS, with a model as the judge.

    TEXTS is a table of instruction-text pairs (the columns "instruction" and "text", docs/tables.md) or a file of plain
    texts, one per line; - reads standard input. Each pair gets an error report (what is culturally wrong, where, how
    bad, why) and a score: -1 for each minor and -5 for each major error, or the judge's certainty, between 0 and 1,
    when it finds none. A stopped run continues where it stopped. With --from the texts are the answers of a model in
    another harness; with -t they are the lines of plain files, and their scores are printed line by line, as COMET
    does.

    The default model, embedded, is very small. On texts of a kind that it never saw, its verdicts without --evidence
    are guesses, and marked as weak; with evidence, about 74 of 100 are correct in English and 64 in other languages if
    the text is a sentence or two, and hardly more than half if it is longer prose (`make prose`; docs/train.md). With
    evidence that does not cover a text they are near chance too, and marked as weak where it has few words of the text.
    `mores meta --data` measures any judge on your own pairs.
    """
    given = settings.texts if isinstance(settings.texts, tuple) else (settings.texts,)
    texts = [str(text) for text in given]
    _check_inputs(texts, lines, settings, output)
    metric = make_metric(settings.model, settings, settings.report)
    work = _Work(metric, make_lookup(settings), gate, dry.dry_run, output, lines)
    if not lines.systems:
        path, format_ = split_log(lines.log) if lines.log else (texts[0], settings.format)
        _check_places(path, settings.out, output)
        opened = open_texts(path, replace(settings, texts=path, format=format_))
        work.score(opened, "-" if path == "-" and settings.out is None else settings.out)
        return
    systems, failed = (*lines.systems, *texts), []
    for system in systems:  # all of them, before the first is paid for
        _check_places(system, settings.out, output)
        with open_lines(system, lines.sources, lines.references):
            pass
    for system in systems:
        folder = str(Path(settings.out) / Path(system).name) if settings.out and len(systems) > 1 else settings.out
        try:
            work.score(open_lines(system, lines.sources, lines.references), folder)
        except GateError as error:  # the other systems are judged too
            failed.append(f"{system}: {error}" if len(systems) > 1 else str(error))
    if failed:
        raise GateError("; ".join(failed))


class _Work:
    """A judge, and what is shown of its judgements."""

    def __init__(
        self,
        metric: Metric,
        lookup: Lookup | None,
        gate: TextGate,
        dry_run: bool,
        output: OutputSettings,
        lines: LineSettings,
    ) -> None:
        self.metric, self.lookup, self.gate, self.dry_run = metric, lookup, gate, dry_run
        self.output, self.lines = output, lines

    def score(self, opened: AbstractContextManager[Texts], out: str | Path | None) -> None:
        """Judge the texts, and show the result."""
        output = self.output
        with ExitStack() as stack:
            source = stack.enter_context(opened)
            check_style(self.metric, source, self.lookup)
            stack.enter_context(asking(self.metric.asker))
            if self.dry_run:
                self._estimate(source)
                return
            piped = str(out) == "-"
            if piped:
                out = Path(stack.enter_context(TemporaryDirectory(prefix="mores-"))) / "run"
            scored = run(score_texts(self.metric, source, self.lookup, out, ["-"] if piped else []))
            document = describe(scored)
            if output.html:
                write_text(output.html, render_page(document))
            for path in (None if piped else scored.path, output.html):
                if path:
                    click.echo(f"wrote {path}", err=True)
            write_document_figures(document, output)
            summary = scored.result
            if output.json:
                click.echo(json.dumps(summary.model_dump(mode="json") | {"left_out": source.bad}, indent=2), err=piped)
            elif self.lines.systems:
                _print_segments(source.name, scored, source.count + source.bad, self.lines.only_system)
            else:
                print_tables(document.printed, stderr=piped)
        if not summary.judged:
            raise ModelError("no text could be judged; the reasons are in the judgements")
        self.gate.check(summary, source.bad)

    def _estimate(self, source: Texts) -> None:
        """Print what would be searched, sent and paid."""
        lookup = self.lookup
        estimate = run(estimate_texts(self.metric, source, lookup))
        searches, cost = (lookup.searches(source), lookup.cost(source)) if lookup else (0, 0.0)
        if self.output.json:
            searched = {"searches": searches, "search_cost": cost} if lookup else {}
            click.echo(json.dumps(estimate.model_dump(mode="json") | searched, indent=2))
            return
        if lookup:
            paid = f", at most {money(cost, 3)}; results that are stored cost nothing" if cost else ""
            click.echo(f"{searches:,} searches with {lookup.name}{paid}")
        print_estimate(estimate)


def _print_segments(name: str, run: ScoreRun, lines: int, only_system: bool) -> None:
    """Print a line for each segment, counted from 0, and one for the system; nan where there is no score."""
    stem = Path(name).name
    if not only_system:
        judgements = {judgement.sample_id: judgement for judgement in run.judgements()}
        for number in range(lines):
            judgement = judgements.get(str(number + 1))
            score = judgement.score if judgement else None
            failure = judgement.failure.reason if judgement and judgement.failure else "the line is empty"
            shown = f"{score:.4f}" if score is not None else f"{math.nan}\t{' '.join(failure.split())}"
            click.echo(f"{stem}\tSegment {number}\tscore: {shown}")
    mean = run.result.mean_score
    click.echo(f"{stem}\tscore: {math.nan if mean is None else mean:.4f}")


def _check_inputs(
    texts: Sequence[str], lines: LineSettings, settings: ScoreFileSettings, output: OutputSettings
) -> None:
    """Refuse texts that are given in no way, or in two."""
    ways = bool(texts and not lines.systems) + bool(lines.log) + bool(lines.systems)
    if ways != 1 or (len(texts) > 1 and not lines.systems):
        raise click.UsageError("give one file of TEXTS, or --from KIND:LOG, or -t FILE")
    if not lines.systems and (lines.sources or lines.references or lines.only_system):
        raise click.UsageError("-s, -r and --only-system go with -t FILE")
    if lines.systems and str(settings.out) == "-":
        raise click.UsageError("--out - goes with TEXTS; with -t the scores are printed")
    if output.html and len(lines.systems) + len(texts) > 1:
        raise click.UsageError("--html shows one run; give one system, or show each run: mores show RUN --html FILE")
    names = Counter(Path(system).name for system in (*lines.systems, *texts))
    if lines.systems and settings.out and (twice := [name for name, count in names.items() if count > 1]):
        raise click.UsageError(f"two files are called {twice[0]}, and --out has a folder for each name; rename one")


def _check_places(texts: str, out: str | Path | None, output: OutputSettings) -> None:
    """Refuse at once what would otherwise fail only after the run."""
    check_output(output)
    places = [Path(place).resolve() for place in (texts, out, output.html) if place and str(place) != "-"]
    if len(set(places)) < len(places):
        raise ConfigError("the texts, --out and --html must be different files")
