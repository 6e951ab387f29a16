"""`mores diagnose`: why a model fails. One subcommand for each kind of diagnosis, and one for all."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TypeVar

import click

from mores.cli import options
from mores.cli.bench import asking_options, bench_options, search_options
from mores.cli.figures import write_run_figures
from mores.cli.progress import Terminal
from mores.diagnosis.api import FOLDER, Kind, open_diagnosis, run_diagnosis
from mores.diagnosis.calibrating import FROM
from mores.diagnosis.locality import LANGUAGE
from mores.diagnosis.session import Diagnosis
from mores.engine.loop import run
from mores.errors import ModelError
from mores.io import write_text
from mores.report.base.grid import print_tables
from mores.report.diagnose import run_page, run_tables

F = TypeVar("F", bound=Callable[..., Any])

_out = options.several([
    click.option("--out", type=options.NEW_FOLDER,
                 help="Folder for the page, the figures, and what was asked and answered  "
                      f"[default: {FOLDER}, or {FOLDER}-2, ... if that holds another run]."),
    options.figures_option,
    options.json_option("the tables"),
])  # fmt: skip
_MODEL = click.option("--model", help="embedded, embedded:FILE.gguf, openai:NAME, hf:PATH, vllm:PATH or fake:NAME  "
                      "[default: embedded for a benchmark; for a RUN, no model is asked].")  # fmt: skip
_FORCE = click.option("--force", is_flag=True, help="Compare runs even if their signatures are not comparable.")


def _samples(default: int) -> Callable[[F], F]:
    return click.option("--samples", default=default, show_default=True, type=click.IntRange(1),
                        help="Answers per question in a new run.")  # fmt: skip


def _target(function: F) -> F:
    """Return the targets, and the options of new runs."""
    target = click.argument("names", nargs=-1, required=True, metavar="RUN_OR_BENCH...")
    return target(asking_options(_out(_MODEL(options.judged_options(function)))))


@click.group()
def diagnose() -> None:
    """Explain why a model fails: what it does not know, where it is overconfident, whether search helps.

    A RUN is a folder that `mores bench` wrote. A BENCHMARK is run first, with the same options.
    """  # fmt: skip


@diagnose.command()
@_target
@_samples(1)
@click.option("--from", "sources", metavar="LIST", default="",
              help=f"Sources of confidence: {','.join(FROM)}  [default: all that are available].")  # fmt: skip
def calibration(sources: str, **given: Any) -> None:
    """Compare the model's confidence with how often it is correct.

    Confidence is what the model states (it is asked again: --model), what its log-probabilities show (multiple
    choice), and how many of several answers agree (a RUN with several samples, or --samples).
    """  # fmt: skip
    _diagnose("calibration", given, sources=[source.strip() for source in sources.split(",") if source.strip()])


@diagnose.command()
@_target
@_samples(10)
def stability(**given: Any) -> None:
    """Ask each question several times: what the model always, sometimes and never gets correct.

    A RUN needs several samples. A benchmark with temperature 0 is sampled at 0.7.
    """  # fmt: skip
    _diagnose("stability", given)


@diagnose.command()
@_target
@_samples(1)
@search_options
@_FORCE
def retrieval(force: bool, **given: Any) -> None:
    """Compare the model without and with the results of a search, and explain where evidence fails.

    Give two RUNs, without and with --search, or a BENCHMARK and --search. A rule decides whether the results contain
    the answer, or --judge.
    """  # fmt: skip
    _diagnose("retrieval", given, force=force)


@diagnose.command()
@_target
@_samples(1)
@_FORCE
def translation(force: bool, **given: Any) -> None:
    """Ask the same questions natively and in English, and show what is lost.

    Give two RUNs, without and with --variant, or a BENCHMARK with a variant (english unless --variant names another).
    """  # fmt: skip
    _diagnose("translation", given, force=force)


@diagnose.command()
@_target
@_samples(1)
@click.option("--check", "labelled", type=options.FILE,
              help="Answers whose type people gave (item_id, answer, type), to test the judge.")  # fmt: skip
def errors(labelled: Path | None, **given: Any) -> None:
    """Let a judge classify the wrong answers into the six types of MSQA, with its reasons.

    Several models are also shown side by side.
    """  # fmt: skip
    _diagnose("errors", given, labelled=labelled)


@diagnose.command()
@click.argument("folders", nargs=-1, required=True, metavar="RUN...", type=options.FOLDER)
@click.option("--by", default=LANGUAGE, show_default=True, help="Group questions by this field or label.")
@_FORCE
@_out
def locality(
    folders: tuple[Path, ...], by: str, force: bool, out: Path | None, figures: Path | None, as_json: bool
) -> None:
    """Show where each model is better or worse than overall, and how ranks change between benchmarks.

    A RUN is a folder that `mores bench` wrote, or one that contains several of them.
    """  # fmt: skip
    _run(open_diagnosis("locality", *folders, out=out, by=by, force=force, progress=Terminal()), figures, as_json)


@diagnose.command(name="all")
@_target
@_samples(10)
@search_options
def everything(**given: Any) -> None:
    """Run every diagnosis of a BENCHMARK that the options allow, on one page: the model's cultural health.

    Retrieval needs --search, errors need --judge. The command reports what it skips, with the reason.
    """  # fmt: skip
    _diagnose("all", given)


def _diagnose(kind: Kind, given: dict[str, Any], **more: Any) -> None:
    names, model, out = given.pop("names"), given.pop("model"), given.pop("out")
    figures, as_json = given.pop("figures"), given.pop("as_json")
    _run(open_diagnosis(kind, *names, model=model, out=out, **bench_options(given), **more), figures, as_json)


def _run(diagnosis: Diagnosis, figures: Path | None, as_json: bool) -> None:
    asks = diagnosis.may_ask or diagnosis.session.judges
    with options.run_of(diagnosis.session.asker) if asks else nullcontext():
        done = run(run_diagnosis(diagnosis))
    page = done.path / "diagnose.html"
    write_text(page, run_page(done))
    for name, reason in (entry for part in done.findings for entry in part.left_out.items()):
        click.echo(f"left out: {name}: {reason}", err=True)
    click.echo(f"wrote {done.path}; its page is {page}", err=True)
    if figures:
        write_run_figures(done, figures)
    if as_json:
        dumped = [part.dump() for part in done.findings]
        click.echo(json.dumps(dumped if len(dumped) > 1 else dumped[0], indent=2))
    else:
        print_tables(run_tables(done))
    if not done.measured:
        raise ModelError("nothing could be measured; see the reasons above, and in the files beside every answer")
