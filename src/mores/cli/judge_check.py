"""`mores judge-check`: how far a judge can be trusted."""

from __future__ import annotations

from mores.benchmark.api import check_judge
from mores.benchmark.settings import JudgeCheckSettings
from mores.cli.command import command
from mores.cli.result import asking, check_output, show_run
from mores.engine import make_asker
from mores.engine.loop import run
from mores.errors import ModelError
from mores.report.settings import OutputSettings


@command(JudgeCheckSettings, OutputSettings)
def judge_check(settings: JudgeCheckSettings, output: OutputSettings) -> None:
    """Test the judge --model on answers to BENCHMARK whose grades are known: correct and wrong ones, short and long,
    and refusals. A stopped run continues where it stopped.
    """
    check_output(output)
    asker = make_asker(settings.model, settings)
    with asking(asker):
        done = run(check_judge(settings, asker))
    show_run(done, output, done.result.model_dump(mode="json"))
    if not done.result.agreement.n:
        raise ModelError(f"{done.result.judge} gave no grade at all")
