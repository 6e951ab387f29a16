"""`mores topics`: sort the questions of a benchmark by topic, with a model."""

from __future__ import annotations

from mores.benchmark.labels import TOPICS
from mores.benchmark.settings import TopicsSettings
from mores.benchmark.topics import label_topics
from mores.cli.command import command
from mores.cli.result import asking, check_output, show_run
from mores.engine import make_asker
from mores.engine.loop import run
from mores.errors import ModelError
from mores.report.settings import OutputSettings


@command(TopicsSettings, OutputSettings)
def topics(settings: TopicsSettings, output: OutputSettings) -> None:
    """Let a model sort the questions of BENCHMARK into topics, so that results can be broken down by them. A stopped
    run continues where it stopped.
    """
    check_output(output)
    asker = make_asker(settings.model, settings)
    with asking(asker):
        done = run(label_topics(settings, asker))
    show_run(done, output)
    if done.counts[""] == done.counts.total():
        raise ModelError(f"no question was sorted; the reasons are in {done.path / TOPICS}")
