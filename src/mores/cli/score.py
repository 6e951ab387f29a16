"""`mores score`: find the cultural errors in texts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from mores.cli.command import command
from mores.cli.result import asking, hint_at_failures, print_estimates, show_document
from mores.engine.loop import run
from mores.errors import ConfigError, GateError, ModelError
from mores.formatting import money
from mores.gate import TextGate
from mores.io import real_path, split_log
from mores.metric.settings import LineSettings, ScoreFileSettings
from mores.report.settings import CISettings, DryRunSettings, TextOutputSettings

if TYPE_CHECKING:
    from mores.metric import Metric
    from mores.metric.texts import Lookup, Texts


@command(ScoreFileSettings, LineSettings, TextGate, CISettings, DryRunSettings, TextOutputSettings)
def score(
    settings: ScoreFileSettings,
    lines: LineSettings,
    gate: TextGate,
    ci: CISettings,
    dry: DryRunSettings,
    output: TextOutputSettings,
) -> None:
    """Find the cultural errors in TEXTS, with a model as the judge.

    TEXTS is a table of instruction-text pairs (the columns "instruction" and "text", docs/tables.md), of chats, or a
    file of plain texts, one per line; - reads standard input. Which column is which is shown first. Each pair gets an
    error report (what is culturally wrong, where, how bad, why) and a score: -1 for each minor and -5 for each major
    error, or the judge's certainty, between 0 and 1, when it finds none. A stopped run continues where it stopped. With
    --from the texts are the answers of a model in another harness; with -t they are the lines of plain files, and their
    scores are printed line by line, as COMET does.

    The default model, embedded, is very small. It judges by facts that come with Mores unless --evidence names another
    search, or none. On texts of a kind that it never saw, its verdicts without evidence are guesses, and marked as
    weak; with evidence, about 74 of 100 are correct in English and 64 in other languages if the text is a sentence or
    two, and hardly more than half if it is longer prose (`make prose`; docs/train.md). With evidence that does not
    cover a text they are near chance too, and marked as weak. `mores meta --data` measures any judge on your own pairs.
    """
    from mores.metric.lines import open_lines
    from mores.metric.opening import make_metric
    from mores.metric.texts import make_lookup, open_texts

    texts = [str(text) for text in (settings.texts if isinstance(settings.texts, tuple) else (settings.texts,))]
    _check_inputs(texts, lines, settings, ci, output)
    metric = make_metric(settings.model, settings, settings.report)
    work = _Work(metric, make_lookup(settings, metric), gate, ci, dry.dry_run, output, lines)
    path, format_ = split_log(lines.log) if lines.log else (texts[0] if texts else "", settings.format)
    systems, failed = (*lines.systems, *texts) if lines.systems else (), []
    for system in systems or (path,):  # refused at once: all of it would otherwise fail only after a run
        given = (system, settings.out, output.html, ci.junit)
        places = [real_path(place) for place in given if place and str(place) != "-"]
        if len(set(places)) < len(places):
            raise ConfigError("the texts, --out, --html and --junit must be different files")
        if lines.systems:
            with open_lines(system, lines.sources, lines.references):
                pass
    if not lines.systems:
        opened = open_texts(path, replace(settings, texts=path, format=format_))
        work.score(opened, "-" if path == "-" and settings.out is None else settings.out)
    for system in systems:
        folder = str(Path(settings.out) / Path(system).name) if settings.out and len(systems) > 1 else settings.out
        try:
            work.score(open_lines(system, lines.sources, lines.references), folder)
        except GateError as error:  # the other systems are judged too
            failed.append(f"{system}: {error}" if len(systems) > 1 else str(error))
    if failed:
        raise GateError("; ".join(failed))


@dataclass(frozen=True)
class _Work:
    """A judge, and what is shown of its judgements."""

    metric: Metric
    lookup: Lookup | None
    gate: TextGate
    ci: CISettings
    dry_run: bool
    output: TextOutputSettings
    lines: LineSettings

    def score(self, opened: AbstractContextManager[Texts], out: str | Path | None) -> None:
        """Judge the texts, and show the result."""
        from mores.metric.api import score_texts
        from mores.metric.texts import check_style
        from mores.report.ci import annotate, write_junit
        from mores.report.score import CountedJudgements, describe, score_lines

        with ExitStack() as stack:
            source = stack.enter_context(opened)
            check_style(self.metric, source, self.lookup)
            counted = CountedJudgements(source.find_columns(self.output.by))  # before anything is sent
            stack.enter_context(asking(self.metric.asker))
            if self.dry_run:
                self._estimate(source)
                return
            piped = str(out) == "-"
            if piped:
                out = Path(stack.enter_context(TemporaryDirectory(prefix="mores-"))) / "run"
            scored = run(score_texts(self.metric, source, self.lookup, out, ["-"] if piped else [], counted.add))
            if not piped:
                click.echo(f"wrote {scored.path}", err=True)
                hint_at_failures(scored.manifest.failures)
            summary, by_line = scored.result, bool(self.lines.systems)
            data = summary.model_dump(mode="json") | {"left_out": source.bad} | counted.data_by(self.output.by)
            show_document(describe(scored, counted=counted), self.output, data, () if by_line else None, stderr=piped)
            if by_line and not self.output.json:
                for line in score_lines(scored, source.count + source.bad, self.lines.only_system):
                    click.echo(f"{Path(source.name).name}\t{line}")
            problems = self.gate.find_problems(scored, source.bad)
            if self.ci.junit:
                write_junit(self.ci.junit, scored, source, self.gate, problems)
            for line in annotate(scored, source, self.gate, problems) if self.ci.annotations else ():
                click.echo(line, err=True)
        if not summary.judged:
            raise ModelError("no text could be judged; the reasons are in the judgements")
        if problems:
            raise GateError("; ".join(problems))

    def _estimate(self, source: Texts) -> None:
        """Print what would be searched, sent and paid."""
        from mores.metric.texts import estimate_texts

        lookup = self.lookup and self.lookup.for_samples(source.samples())
        estimate = run(estimate_texts(self.metric, source, lookup))
        searches, cost = (lookup.searches(source), lookup.cost(source)) if lookup else (0, 0.0)
        if self.output.json:
            searched = {"searches": searches, "search_cost": cost} if lookup else {}
            click.echo(json.dumps(estimate.model_dump(mode="json") | searched, indent=2))
            return
        if lookup:
            paid = f", at most {money(cost, 3)}; results that are stored cost nothing" if cost else ""
            click.echo(f"{searches:,} searches with {lookup.name}{paid}")
        print_estimates({"": estimate})


def _check_inputs(
    texts: Sequence[str], lines: LineSettings, settings: ScoreFileSettings, ci: CISettings, output: TextOutputSettings
) -> None:
    """Refuse texts that are given in no way, or in two."""
    ways = bool(texts and not lines.systems) + bool(lines.log) + bool(lines.systems)
    if ways != 1 or (len(texts) > 1 and not lines.systems):
        raise click.UsageError("give one file of TEXTS, or --from KIND:LOG, or -t FILE")
    if not lines.systems and (lines.sources or lines.references or lines.only_system):
        raise click.UsageError("-s, -r and --only-system go with -t FILE")
    if lines.systems and str(settings.out) == "-":
        raise click.UsageError("--out - goes with TEXTS; with -t the scores are printed")
    if (output.html or ci.junit) and len(lines.systems) + len(texts) > 1:
        shown = "--html" if output.html else "--junit"
        raise click.UsageError(f"{shown} shows one run; give one system, or show each run: mores show RUN --html FILE")
    names = Counter(Path(system).name for system in (*lines.systems, *texts))
    if lines.systems and settings.out and (twice := [name for name, count in names.items() if count > 1]):
        raise click.UsageError(f"two files are called {twice[0]}, and --out has a folder for each name; rename one")
