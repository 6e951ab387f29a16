"""`mores collect`: from candidate questions to a cultural dataset, and what was dropped on the way."""

from __future__ import annotations

import click

from mores.cli.command import command
from mores.cli.estimate import print_estimate
from mores.cli.push import check_push, push
from mores.cli.result import asking, check_output, show_run
from mores.engine.loop import run
from mores.errors import ModelError
from mores.longanswer.api import open_collect
from mores.longanswer.collection.numbers import undecided
from mores.longanswer.settings import CollectSettings
from mores.report.settings import DryRunSettings, OutputSettings, PushSettings


@command(CollectSettings, DryRunSettings, PushSettings, OutputSettings)
def collect(settings: CollectSettings, dry: DryRunSettings, hub: PushSettings, output: OutputSettings) -> None:
    """Filter, translate and label QUESTIONS, with a model as the judge, and say what was dropped and why.

    QUESTIONS is a table (docs/tables.md) with the columns "question" and "language" and, where there are any, "id",
    "translation", "answer" and "source"; - reads JSON lines from standard input. Duplicate questions, and those that
    are not specific to the culture of their language or of poor quality, are dropped; questions that the model leaves
    undecided are neither kept nor dropped. A stopped run continues where it stopped.
    """
    check_push(hub)
    check_output(output)
    job = open_collect(settings)
    if dry.dry_run:
        estimate = job.estimate()
        if output.json:
            click.echo(estimate.model_dump_json(indent=2))
        else:
            print_estimate(estimate)
        return
    with asking(job.collector.asker):
        done = run(job.run(settings.out))
    show_run(done, output, done.collection.model_dump(mode="json"), "collection.html")
    if undecided(done.collection):
        raise ModelError(f"no question could be decided; the reasons are in {done.path / 'unscored.jsonl'}")
    push(hub, done.upload)
