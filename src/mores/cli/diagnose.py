"""`mores diagnose`: why a model fails. One subcommand for each kind of diagnosis, and one for all."""

from __future__ import annotations

import click

from mores.cli.command import command
from mores.cli.result import run_asking, show_run
from mores.diagnosis.settings import DiagnoseSettings, Diagnosis
from mores.errors import ModelError
from mores.report.settings import OutputSettings

KINDS: dict[Diagnosis, str] = {
    "calibration": """Compare the model's confidence with how often it is correct.

    Confidence is what the model states (it is asked again: --model), what its log-probabilities show (multiple
    choice), and how many of several answers agree (a RUN with several samples, or --samples).
    """,
    "stability": """Ask each question several times: what the model always, sometimes and never gets correct.

    A RUN needs several samples. A benchmark with temperature 0 is sampled at 0.7.
    """,
    "retrieval": """Compare the model without and with the results of a search, and explain where evidence fails.

    Give two RUNs, without and with --search, or a BENCHMARK and --search. A rule decides whether the results contain
    the answer, or --judge.
    """,
    "translation": """Ask the same questions natively and in English, and show what is lost.

    Give two RUNs, without and with --variant, or a BENCHMARK with a variant (english unless --variant names another).
    """,
    "errors": "Let a judge classify the wrong answers into the six types of MSQA; several models side by side.",
    "locality": "Show where each model of RUNs is better or worse than overall, and how ranks change by benchmark.",
    "contamination": "Test whether the model has seen the questions of a BENCHMARK; --judge paraphrases them.",
    "items": "Put the questions and three or more models of RUNs on one scale, and find a short form of a benchmark.",
    "all": """Run every diagnosis of a BENCHMARK that the options allow, on one page: the model's cultural health.

    Retrieval needs --search, errors need --judge. The command reports what it skips, with the reason.
    """,
}
"""Every kind of diagnosis with its help."""


def _diagnose(settings: DiagnoseSettings, output: OutputSettings) -> None:
    from mores.diagnosis.api import open_diagnosis, run_diagnosis

    diagnosis = open_diagnosis(settings)
    asks = diagnosis.may_ask or diagnosis.session.judges
    done = run_asking([diagnosis.session.asker] if asks else [], run_diagnosis(diagnosis))
    for name, reason in (entry for part in done.findings for entry in part.left_out.items()):
        click.echo(f"left out: {name}: {reason}", err=True)
    dumped = [part.dump() for part in done.findings]
    show_run(done, output, dumped if len(dumped) > 1 else dumped[0])
    if empty := done.unmeasured:
        raise ModelError(f"{empty[0]}: nothing could be measured; the reasons are above, and beside every answer")


ABOUT = """Explain why a model fails: what it does not know, where it is overconfident, whether search helps.

A RUN is a folder that `mores bench` wrote. A BENCHMARK is run first, with the same options.
"""
diagnose = click.Group("diagnose", help=ABOUT)
for _kind, _help in KINDS.items():
    diagnose.add_command(command(DiagnoseSettings, OutputSettings, name=_kind, text=_help, kind=_kind)(_diagnose))
