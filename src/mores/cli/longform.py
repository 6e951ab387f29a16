"""`mores longform`: judge the language, repetition, facts and relevance of long answers."""

from __future__ import annotations

from contextlib import nullcontext

from mores.cli.command import command
from mores.cli.result import asking, check_output, show_run
from mores.engine.loop import run
from mores.errors import ModelError
from mores.longanswer.api import open_longform
from mores.longanswer.settings import LongformSettings
from mores.longanswer.summary import unjudged_figures
from mores.report.settings import DryRunSettings, OutputSettings


@command(LongformSettings, DryRunSettings, OutputSettings)
def longform(settings: LongformSettings, dry: DryRunSettings, output: OutputSettings) -> None:
    """Judge long ANSWERS: their language, repetition, facts and relevance. No reference is needed.

    ANSWERS is a table (docs/tables.md) with `question`, `answer` and `language` (and `id`, `model`, `kind` where there
    are), or a folder of CaLMQA's release. Without --judge only the surface is looked at; facts need --judge and
    --facts.
    """
    check_output(output)
    with open_longform(settings) as job:
        if dry.dry_run:
            job.announce()
            return
        with asking(job.asker) if settings.judge else nullcontext():
            done = run(job.run(settings.out))
    show_run(done, output, [summary.model_dump(mode="json") for summary in done.summaries])
    if unjudged := unjudged_figures(done.summaries):
        reasons = f"the reasons are in {done.path / 'appraisals.jsonl'}"
        raise ModelError(f"too few answers could be judged to say anything of {', '.join(unjudged)}; {reasons}")
