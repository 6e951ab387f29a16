"""`mores diagnose`: why a model fails. One subcommand for each kind of diagnosis, and one for all."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TypeVar

import click

from mores.bench.benchmark import Benchmark
from mores.bench.folder import find_bench_runs, open_bench_run
from mores.cli import options
from mores.cli.bench import asking_options, open_session, search_options
from mores.cli.diagnose.tables import paragraph, show
from mores.diagnose import kinds
from mores.diagnose.calibrating import FROM
from mores.diagnose.calibration import Calibration
from mores.diagnose.errors import ErrorsResult
from mores.diagnose.locality import LANGUAGE, Locality
from mores.diagnose.retrieval import RetrievalResult
from mores.diagnose.session import Diagnosis, Findings, read_targets
from mores.diagnose.stability import MEAN, Stability
from mores.diagnose.translation import TranslationResult
from mores.engine.loop import run
from mores.errors import ConfigError, ModelError
from mores.io import write_text
from mores.io.private import make_folder
from mores.report.base.grid import plain_console
from mores.stats.calibration import ACCURACY
from mores.types import Record

F = TypeVar("F", bound=Callable[..., Any])

_OUT = [
    click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("diagnose"),
                 show_default=True, help="Folder for the page, the figures, and what was asked and said."),
    click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the tables."),
]  # fmt: skip
_MODEL = click.option("--model", help="embedded, embedded:FILE.gguf, openai:NAME, hf:PATH or fake:NAME  "
                      "[default: embedded for a benchmark; for a RUN, no model is asked].")  # fmt: skip
_FORCE = click.option("--force", is_flag=True, help="Compare also runs whose signatures say that they are not alike.")


def _samples(default: int) -> Callable[[F], F]:
    return click.option("--samples", default=default, show_default=True, type=click.IntRange(1),
                        help="Answers to each question, where a run is made.")  # fmt: skip


_out = options.several(_OUT)


def _made(function: F) -> F:
    """What is diagnosed, and how runs are made where there are none."""
    target = click.argument("names", nargs=-1, required=True, metavar="RUN_OR_BENCH...")
    return target(asking_options(_out(_MODEL(options.judged_options(function)))))


@click.group()
def diagnose() -> None:
    """Say why a model fails: what it does not know, is not sure of, does not find, or is asked in the wrong language.

    A RUN is a folder that `mores bench` wrote. Of a BENCHMARK the runs are made first, in the same way.
    """  # fmt: skip


@diagnose.command()
@_made
@_samples(1)
@click.option("--from", "sources", metavar="LIST",
              help=f"Where confidence is from: {','.join(FROM)}  [default: what can be had].")  # fmt: skip
def calibration(names: tuple[str, ...], sources: str | None, **given: Any) -> None:
    """Compare how sure the model is with how often it is right.

    Confidence is what the model says (it is asked anew: --model), what its log-probabilities say (multiple choice), and
    how many of several answers are the same (a RUN with several samples, or --samples).
    """  # fmt: skip
    wanted = _sources(sources)
    _diagnose(names, given, lambda diagnosis: _single(kinds.calibrations(diagnosis, wanted)))


@diagnose.command()
@_made
@_samples(10)
def stability(names: tuple[str, ...], **given: Any) -> None:
    """Ask each question several times: what the model knows always, sometimes and never.

    A RUN needs several samples. Where a benchmark is asked at temperature 0, its samples are taken at 0.7.
    """  # fmt: skip
    _diagnose(names, given, lambda diagnosis: _single(kinds.stabilities(diagnosis)))


@diagnose.command()
@_made
@_samples(1)
@search_options
@_FORCE
def retrieval(names: tuple[str, ...], force: bool, **given: Any) -> None:
    """Compare the model without and with what a search finds, and say where evidence fails.

    Give two RUNs, without and with --search, or a BENCHMARK and --search. Whether the results have the answer is
    decided by rule, and by --judge where there is one.
    """  # fmt: skip
    _diagnose(names, given, lambda diagnosis: _single(kinds.retrievals(diagnosis, force)))


@diagnose.command()
@_made
@_samples(1)
@_FORCE
def translation(names: tuple[str, ...], force: bool, **given: Any) -> None:
    """Ask the same questions natively and in English, and say what is lost.

    Give two RUNs, without and with --variant, or a BENCHMARK with a variant (english unless --variant says another).
    """  # fmt: skip
    variant, given["variant"] = given["variant"], None
    _diagnose(names, given, lambda diagnosis: _single(kinds.translations(diagnosis, variant, force)))


@diagnose.command()
@_made
@_samples(1)
@click.option("--check", "labelled", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="Answers whose type people gave (item_id, answer, type), to test the judge.")  # fmt: skip
def errors(names: tuple[str, ...], labelled: Path | None, **given: Any) -> None:
    """Let a judge sort the wrong answers into the six types of MSQA, with its reasons.

    Several models are also shown beside each other.
    """  # fmt: skip
    _diagnose(names, given, lambda diagnosis: _single(kinds.errors(diagnosis, diagnosis.targets, labelled)))


@diagnose.command()
@click.argument(
    "folders", nargs=-1, required=True, metavar="RUN...", type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option("--by", default=LANGUAGE, show_default=True, help="What questions are grouped by: a field, or a label.")
@_FORCE
@_out
def locality(folders: tuple[Path, ...], by: str, force: bool, out: Path, as_json: bool) -> None:
    """Say where each model is better and worse than on the whole, and how ranks change from benchmark to benchmark.

    A RUN is a folder that `mores bench` wrote, or one that has several of them.
    """  # fmt: skip
    runs = [run.path for folder in folders for run in find_bench_runs(folder)]
    _tell([kinds.localities(folders, by, force)], runs, out, as_json)


@diagnose.command(name="all")
@_made
@_samples(10)
@search_options
def everything(names: tuple[str, ...], **given: Any) -> None:
    """Do all that the options allow for a BENCHMARK, and make one page: the model's cultural health.

    Retrieval needs --search, errors need --judge. What is left out is said, with the reason.
    """  # fmt: skip
    variant, given["variant"] = given["variant"], None
    _diagnose(names, given, lambda diagnosis: kinds.everything(diagnosis, variant), whole=True)


def _sources(text: str | None) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(one.strip() for one in text.split(","))) if text else ()
    for one in found:
        if one not in FROM:
            raise ConfigError(f"--from {one!r}: no such confidence; there are {', '.join(FROM)}")
    return found


def _diagnose(
    names: tuple[str, ...],
    given: dict[str, Any],
    work: Callable[[Diagnosis], Awaitable[list[Findings]]],
    whole: bool = False,
) -> None:
    out, as_json, targets = given.pop("out"), given.pop("as_json"), read_targets(names)
    asks, judged = any(isinstance(target, Benchmark) for target in targets), next(iter(given["judges"]), None)
    named, given["model"] = given["model"], given["model"] or ("embedded" if asks else judged or "embedded")
    diagnosis = Diagnosis(open_session(given), targets, out, may_ask=bool(named) or asks)
    if whole and diagnosis.runs:
        path = diagnosis.runs[0].folder.path
        raise ConfigError(f"{path}: all needs a benchmark, whose questions it asks anew; name it")
    with options.run_of(diagnosis.session.asker) if named or asks or judged else nullcontext():
        found = run(_awaited(work(diagnosis)))
    runs = [*(target.folder.path for target in diagnosis.runs), *(made.path for made in diagnosis.made.values())]
    _tell(found, runs, out, as_json)


async def _awaited(work: Awaitable[list[Findings]]) -> list[Findings]:
    return await work


async def _single(work: Awaitable[Findings]) -> list[Findings]:
    return [await work]


# ---- what is said ----------------------------------------------------------------------------------------------


def _tell(found: Sequence[Findings], runs: Sequence[Path], out: Path, as_json: bool) -> None:
    from mores.report.base.links import link_runs
    from mores.report.diagnose import page

    make_folder(out)
    told = [_told(one) for one in found]
    results = [result for one in found for result in one.results]
    for kind in told:
        write_text(out / f"{kind['kind']}.json", json.dumps(kind, indent=1, ensure_ascii=False) + "\n")
    made = ((path, open_bench_run(path).result) for path in dict.fromkeys(runs))
    links = link_runs(out / "diagnose.html", ((f"{one.model}, {one.name}", run) for run, one in made))
    write_text(out / "diagnose.html", page(results, links))
    for one in found:
        for what, why in one.left_out.items():
            click.echo(f"left out: {what}: {why}", err=True)
    click.echo(f"wrote {out}; its page is {out / 'diagnose.html'}", err=True)
    if as_json:
        click.echo(json.dumps(told if len(told) > 1 else told[0], indent=2))
    else:
        console = plain_console()
        for result in results:
            show(console, result)
    if not any(map(_counted, results)):
        raise ModelError("nothing could be measured; the reasons stand above, and with every answer in the files")


def _told(one: Findings) -> dict[str, Any]:
    results = [
        {"record": type(result).__name__, "paragraph": paragraph(result), "result": result.model_dump(mode="json")}
        for result in one.results
    ]
    return {"kind": one.kind, "results": results, "left_out": one.left_out}


def _counted(result: Record) -> int:
    """How many answers or questions a result rests on."""
    if isinstance(result, Calibration):
        return result.figures[ACCURACY].n
    if isinstance(result, Stability):
        return result.figures[MEAN].n
    if isinstance(result, RetrievalResult | TranslationResult):
        return result.change.gain.n
    if isinstance(result, Locality):
        return sum(one.overall.n for one in result.profiles)
    return result.wrong - result.unscored if isinstance(result, ErrorsResult) else 0
