"""`mores topics`, `tiers`, `export-task`, `judge-check` and `audit`: work on benchmarks and their judges."""

from __future__ import annotations

import click

from mores.benchmark import benchmark
from mores.benchmark.api import check_judge, folders_of
from mores.benchmark.labels import TOPICS, label_tiers
from mores.benchmark.settings import JudgeCheckSettings, TiersSettings, TopicsSettings
from mores.benchmark.topics import label_topics
from mores.cli.command import command
from mores.cli.result import run_asking, show_document, show_run
from mores.engine import make_asker
from mores.errors import ModelError
from mores.harness.export import write_task
from mores.harness.settings import ExportTaskSettings
from mores.metric.audit.run import audit_injections
from mores.metric.opening import make_metric
from mores.metric.settings import AuditSettings
from mores.report.settings import OutputSettings


@command(TopicsSettings, OutputSettings)
def topics(settings: TopicsSettings, output: OutputSettings) -> None:
    """Let a model sort the questions of BENCHMARK into topics, so that results can be broken down by them. A stopped
    run continues where it stopped.
    """
    asker = make_asker(settings.model, settings)
    done = run_asking([asker], label_topics(settings, asker))
    show_run(done, output)
    if done.counts[""] == done.counts.total():
        raise ModelError(f"no question was sorted; the reasons are in {done.path / TOPICS}")


@command(TiersSettings, OutputSettings)
def tiers(settings: TiersSettings, output: OutputSettings) -> None:
    """Sort the questions of one benchmark into Easy, Medium and Hard by how many answers in RUN... are correct.

    A RUN is what `mores bench --out` wrote for a model, or a folder with several. Use runs of other models than the one
    that you want to measure: a model's own mistakes make its hard questions.
    """
    from mores.report.topics import describe_tiers

    tiered = label_tiers(folders_of(settings.runs), settings.out, settings.rule)
    show_document(describe_tiers(tiered), output, tiered)
    click.echo(f"wrote {settings.out}", err=True)


@command(ExportTaskSettings)
def export_task(settings: ExportTaskSettings) -> None:
    """Write BENCHMARK as a task of another harness, which gives the same figures for the same answers.

    BENCHMARK is a name of `mores bench list`, or a folder: yours, or one that the studio exported (FOLDER:NAME where it
    has several). The task is a folder with its questions, its code and a README that says how to run it. Where answers
    are letters, or True or False, it needs nothing of Mores; other benchmarks are graded by Mores, which must be
    installed beside the harness, and those with a judge need the judge's name there. Of long answers (calmqa) a task
    measures the surface alone: language and repetition.
    """
    write_task(benchmark(str(settings.benchmark)), settings)
    click.echo(f"wrote {settings.out}; {settings.out / 'README.md'} says how to run it", err=True)


@command(AuditSettings, OutputSettings)
def injection(settings: AuditSettings, output: OutputSettings) -> None:
    """Test whether words hidden in the judged text, its instruction or its evidence change the verdict, and which ones.

    Short texts are judged alone, and those that the judge judges correctly are judged again with each injection in each
    place; harmless words stand there as controls, because any words may change a verdict. The worst attacks come
    first: one that always works breaks a judge, however well it withstands the others. A stopped run continues where
    it stopped.
    """
    metric = make_metric(settings.model, settings, settings.report)
    done = run_asking([metric.asker], audit_injections(metric, settings.categories, settings.limit, settings.out))
    audited_by = {"model": done.manifest.model, "signature": done.signature}
    show_run(done, output, audited_by | done.result.model_dump(mode="json"))


audit = click.Group("audit", commands=[injection], help="Test how far a judge can be trusted.")


@command(JudgeCheckSettings, OutputSettings)
def judge_check(settings: JudgeCheckSettings, output: OutputSettings) -> None:
    """Test the judge --model on answers to BENCHMARK whose grades are known: correct and wrong ones, short and long,
    and refusals. A stopped run continues where it stopped.
    """
    asker = make_asker(settings.model, settings)
    done = run_asking([asker], check_judge(settings, asker))
    show_run(done, output, done.result.model_dump(mode="json"))
    if not done.result.agreement.n:
        raise ModelError(f"{done.result.judge} gave no grade at all")
