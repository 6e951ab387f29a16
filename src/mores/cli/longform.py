"""`mores longform` and `mores collect`: judge long answers, and make a dataset of candidate questions."""

from __future__ import annotations

from mores.cli.command import command
from mores.cli.result import check_push, print_estimates, push, run_asking, show_run
from mores.errors import ModelError
from mores.longanswer.settings import CollectSettings, LongformSettings
from mores.report.settings import DryRunSettings, OutputSettings, PushSettings


@command(LongformSettings, DryRunSettings, OutputSettings)
def longform(settings: LongformSettings, dry: DryRunSettings, output: OutputSettings) -> None:
    """Judge long ANSWERS: their language, repetition, facts and relevance. No reference is needed.

    ANSWERS is a table (docs/tables.md) with `question`, `answer` and `language` (and `id`, `model`, `kind` where there
    are), or a folder of CaLMQA's release. Without --judge only the surface is looked at; facts need --judge and
    --facts.
    """
    from mores.longanswer.api import open_longform
    from mores.longanswer.summary import unjudged_figures

    with open_longform(settings) as job:
        if dry.dry_run:
            job.announce()
            return
        done = run_asking([job.asker] if settings.judge else [], job.run(settings.out))
    show_run(done, output, [summary.model_dump(mode="json") for summary in done.summaries])
    if unjudged := ", ".join(unjudged_figures(done.summaries)):
        reasons = f"the reasons are in {done.path / 'appraisals.jsonl'}"
        raise ModelError(f"too few answers could be judged to say anything of {unjudged}; {reasons}")


@command(CollectSettings, DryRunSettings, PushSettings, OutputSettings)
def collect(settings: CollectSettings, dry: DryRunSettings, hub: PushSettings, output: OutputSettings) -> None:
    """Filter, translate and label QUESTIONS, with a model as the judge, and say what was dropped and why.

    QUESTIONS is a table (docs/tables.md) with the columns "question" and "language" and, where there are any, "id",
    "translation", "answer" and "source"; - reads JSON lines from standard input. Duplicate questions, and those that
    are not specific to the culture of their language or of poor quality, are dropped; questions that the model leaves
    undecided are neither kept nor dropped. A stopped run continues where it stopped.
    """
    from mores.longanswer.api import open_collect
    from mores.longanswer.collection.numbers import undecided

    check_push(hub)
    job = open_collect(settings)
    if dry.dry_run:
        print_estimates({"": job.estimate()}, output.json)
        return
    done = run_asking([job.collector.asker], job.run(settings.out))
    show_run(done, output, done.collection.model_dump(mode="json"), "collection.html")
    if undecided(done.collection):
        raise ModelError(f"no question could be decided; the reasons are in {done.path / 'unscored.jsonl'}")
    push(hub, done.upload)
