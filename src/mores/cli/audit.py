"""`mores audit`: test how far a judge can be trusted."""

from __future__ import annotations

import click

from mores.cli.command import command
from mores.cli.result import asking, check_output, show_run
from mores.engine.loop import run
from mores.metric.audit.run import audit_injections
from mores.metric.metric import make_metric
from mores.metric.settings import AuditSettings
from mores.report.settings import OutputSettings


@click.group()
def audit() -> None:
    """Test how far a judge can be trusted."""


@command(AuditSettings, OutputSettings)
def injection(settings: AuditSettings, output: OutputSettings) -> None:
    """Test whether words hidden in the judged text, its instruction or its evidence change the verdict, and which ones.

    Short texts are judged alone, and those that the judge judges correctly are judged again with each injection in each
    place; harmless words stand there as controls, because any words may change a verdict. The worst attacks come
    first: one that always works breaks a judge, however well it withstands the others. A stopped run continues where
    it stopped.
    """
    check_output(output)
    metric = make_metric(settings.model, settings, settings.report)
    with asking(metric.asker):
        done = run(audit_injections(metric, settings.categories, settings.limit, settings.out))
    audited_by = {"model": done.manifest.model, "signature": done.signature}
    show_run(done, output, audited_by | done.result.model_dump(mode="json"))


audit.add_command(injection)
