"""Options that several commands share, and the records that they fill."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from mores.cache import store_path
from mores.cli.progress import Terminal
from mores.engine import Asker, AskOptions, open_asker
from mores.engine.cost import Price
from mores.errors import ConfigError, ModelError
from mores.metric import Metric, Settings, open_metric
from mores.models import PRECISIONS, STYLES, pull
from mores.report.base.figures import require_figures
from mores.types import Severity

F = TypeVar("F", bound=Callable[..., Any])

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
NEW_FOLDER = click.Path(file_okay=False, path_type=Path)
NEW_FILE = click.Path(dir_okay=False, path_type=Path)


class DataType(click.ParamType[str]):
    """A folder or file, or a kind of data with its file, such as `juice:FILE`."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value unchanged, if it exists."""
        kind, colon, file = str(value).partition(":")
        if colon and kind in KINDS_OF_DATA:
            FILE.convert(file, param, ctx)
        else:
            click.Path(exists=True).convert(value, param, ctx)
        return str(value)


KINDS_OF_DATA = ("juice", "ratings", "marks")
DATA = DataType()


class JudgeType(click.ParamType[str]):
    """A file or a run, or a table with the name of a column, `FILE.csv:COLUMN`."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value unchanged, if the file exists."""
        file = str(value).rpartition(":")[0]
        if not (file and Path(file).is_file()):
            click.Path(exists=True).convert(value, param, ctx)
        return str(value)


JUDGE = JudgeType()


def people_options(function: F) -> F:
    """Return how people's ratings, and tables of scores, are read."""
    columns = click.option(
        "--columns",
        multiple=True,
        metavar="OURS=THEIRS",
        help="What people's file calls our columns, for example rating=overall; several with commas, or repeated.",
    )
    alias = click.option(
        "--alias",
        "aliases",
        multiple=True,
        metavar="COLUMN.THEIRS=OURS",
        help="What a file writes for a value, for example model.GPT-4=gpt4 or language.fi=fj (may be repeated).",
    )
    return columns(alias(function))


class NumberType(click.ParamType[float | str | None]):
    """A number, or one of some words with the value of each."""

    name = "text"

    def __init__(self, kind: type[float], words: Mapping[str, str | None]) -> None:
        self._kind, self._words = kind, words

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str | None:
        """Return the value of a word, or the number."""
        if value in self._words:
            return self._words[value]
        try:
            number = self._kind(value)
        except ValueError:
            number = math.nan
        if not -(2**63) <= number < 2**63:  # also not true of nan
            self.fail(f"{value!r}: expected a number or 'none'", param, ctx)
        return number


class _Seconds(click.FloatRange):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        seconds = super().convert(value, param, ctx)
        if not math.isfinite(seconds):
            self.fail(f"{value}: expected a number of seconds", param, ctx)
        return seconds


def read_price(text: str) -> Price:
    """Return the price that a user gives as `IN,OUT`."""
    try:
        price = Price(*(float(part) for part in text.split(",")))
    except (TypeError, ValueError):
        raise ConfigError(
            f"--price {text!r}: expected two numbers, dollars per million prompt and completion tokens,"
            " for example --price 0.40,1.60"
        ) from None
    if not all(0 <= dollars < math.inf for dollars in price):
        raise ConfigError(f"--price {text!r}: a price is a number that is not negative")
    return price


def _ray_address(context: click.Context, option: click.Parameter, address: str | None) -> str | bool | None:
    """True for `--ray` alone; what follows it may be another argument, which is then missed in its place."""
    if address and address not in ("auto", "local") and ":" not in address:
        fix = "if it is an argument, write it before --ray"
        raise click.BadParameter(f"{address!r} is no address, such as HOST:PORT; {fix}", context, option)
    return True if address == "" else address


_MODEL = click.option("--model", default="embedded", show_default=True,
                      help="embedded, embedded:FILE.gguf, openai:NAME, hf:PATH, vllm:PATH or fake:NAME.")  # fmt: skip
_SERVING = [
    click.option("--base-url", metavar="URL", help="Address of an OpenAI-compatible server [env: OPENAI_BASE_URL]."),
    click.option("--adapter", metavar="PATH",
                 help="LoRA adapter: a PEFT folder for hf: and vllm:, a GGUF file for embedded; none for none."),
    click.option("--precision", type=click.Choice(PRECISIONS),
                 help="Numbers that hf: and vllm: compute with; float32 is slower for large models, and what is asked "
                      "at once does not change answers  [default: bfloat16 on a GPU, else float32]."),
    click.option("--slots", default=1, show_default=True, type=click.IntRange(1),
                 help="Parallel slots of the embedded server; more than 1 is not reproducible."),
    click.option("--context", default=8192, show_default=True, type=click.IntRange(256),
                 help="Context length of the embedded server in tokens."),
    click.option("--threads", type=click.IntRange(1),
                 help="Threads of the embedded server  [default: all cores that it may use]."),
]  # fmt: skip
_RAY = [
    click.option("--ray", is_flag=False, flag_value="", metavar="[ADDRESS]", callback=_ray_address,
                 help="Run local models on a Ray cluster: the one at ADDRESS, or else the one that runs here, or a new "
                      "one on this machine."),
    click.option("--ray-workers", type=click.IntRange(1),
                 help="Copies of the model on the cluster  [default: as many as fit]."),
    click.option("--ray-gpus", type=click.FloatRange(0),
                 help="GPUs of each copy  [default: 1 for hf and vllm, where there are any]."),
]  # fmt: skip
NONE: Mapping[str, str | None] = {"none": None}
temperature_option = click.option("--temperature", default="0", show_default=True, type=NumberType(float, NONE),
                                  help="Sampling temperature, or 'none' to send none.")  # fmt: skip
seed_option = click.option("--seed", default="0", show_default=True, type=NumberType(int, NONE),
                           help="Seed that is sent, or 'none' to send none.")  # fmt: skip
price_option = click.option("--price", metavar="IN,OUT", type=read_price,
                            help="Dollars per million prompt and completion tokens.")  # fmt: skip
data_option = click.option(
    "--data", type=FOLDER, help="Folder with one folder per dataset  [default: from the Hugging Face Hub]."
)
limit_option = click.option("--limit", type=click.IntRange(1), help="Most questions, spread evenly over the dataset.")
_ASKING = [
    click.option("--style", type=click.Choice(STYLES),
                 help="Prompt: as in the paper, with fences, or with fences and a guide to the report"
                      "  [default: the one that the model was tuned with, or guided]."),
    click.option("--constrain/--no-constrain", default=None,
                 help="Hold the model to the report's JSON schema, and local models to quotes from the text"
                      "  [default: for embedded and tuned models]."),
    click.option("--max-errors", type=click.IntRange(1),
                 help="Most errors in a report under the constraint  [default: 3 for embedded and tuned models]."),
    click.option("--repair", is_flag=True, help="Ask once more, under the constraint, when an answer is no report."),
    click.option("--max-tokens", default=1024, show_default=True, type=click.IntRange(1), help="Longest report."),
    temperature_option,
    seed_option,
    click.option("--max-characters", default=200_000, show_default=True, type=click.IntRange(1),
                 help="Longer samples are not sent."),
]  # fmt: skip
_RUNNING = [
    click.option("--concurrency", type=click.IntRange(1), help="Most calls at once  [default: by the model's kind]."),
    click.option("--rpm", "requests_per_minute", type=click.FloatRange(0, min_open=True),
                 help="Most requests per minute."),
    click.option("--tpm", "tokens_per_minute", type=click.FloatRange(0, min_open=True), help="Most tokens per minute."),
    click.option("--timeout", type=_Seconds(0, min_open=True),
                 help="Seconds for one try  [default: by the model's kind]."),
    click.option("--attempts", default=8, show_default=True, type=click.IntRange(1), help="Tries per request."),
    click.option("--outage", default=600.0, show_default=True, type=_Seconds(0), metavar="SECONDS",
                 help="How long to wait for a server that cannot be reached; tries do not count meanwhile."),
    click.option("--store", metavar="FILE", type=NEW_FILE,
                 help="File that keeps every answer  [default: in the user's cache folder]."),
    click.option("--no-store", is_flag=True, help="Keep nothing, and look nothing up."),
    click.option("--fresh", is_flag=True, help="Ask again what the store already knows."),
]  # fmt: skip


def several(decorators: Sequence[Callable[[Any], Any]]) -> Callable[[F], F]:
    """Return one decorator for several options, which the help lists in this order."""

    def decorate(function: F) -> F:
        for option in reversed(decorators):
            function = option(function)
        return function

    return decorate


ray_options = several(_RAY)
"""How local models run on a cluster."""
judge_options = several(_SERVING + _ASKING + _RUNNING + _RAY)
"""All options that `metric` reads, but for the model."""
metric_options = several([_MODEL, judge_options])
"""All of them."""
judged_options = several(_SERVING + _RUNNING + _RAY)
"""What `asking` reads: how a model is reached, where another option names it."""
model_options = several([_MODEL, judged_options])
"""All options that `served` reads: the model, and how it is reached."""
_UNJUDGED = click.option("--max-unjudged", metavar="N|SHARE",
                         help="Exit with code 3 when more cannot be judged, for example 3 or 5%.")  # fmt: skip
score_gate_options = several([
    click.option("--fail-on", type=click.Choice([str(Severity.MAJOR), str(Severity.MINOR)]),
                 help="Exit with code 3 when a text has an error that is at least so bad."),
    click.option("--fail-under", type=float, metavar="SCORE", help="Exit with code 3 when the mean score is lower."),
    _UNJUDGED,
])  # fmt: skip
"""What `mores.gate.TextGate` takes."""
bench_gate_options = several([
    click.option("--fail-under", metavar="SHARE",
                 help="Exit with code 3 when the first figure of a benchmark is lower, for example 0.6 or 60%."),
    click.option("--baseline", type=FOLDER, metavar="RUN",
                 help="Folder of an earlier run: exit with code 3 when this one is significantly worse."),
    _UNJUDGED,
])  # fmt: skip
"""What `mores.gate.BenchGate` takes."""


def _check_figures(_context: click.Context, _option: click.Parameter, folder: Path | None) -> Path | None:
    if folder:  # before any work
        require_figures()
    return folder


def json_option(replaced: str) -> Callable[[F], F]:
    """`--json`, and what is not printed then."""
    return click.option("--json", "as_json", is_flag=True, help=f"Print JSON instead of {replaced}.")


figures_option = click.option(
    "--figures",
    type=NEW_FOLDER,
    callback=_check_figures,
    help="Write the page's charts as SVG and PDF, and its tables as LaTeX and CSV, into this folder.",
)
"""What `mores.report.base.figures.write_figures` gets."""


def take(given: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return some of the options, taken out of `given`."""
    return {name: given.pop(name) for name in names if name in given}


def metric(given: dict[str, Any]) -> Metric:
    """Return the metric that the options describe; they are taken out of `given`."""
    chosen = settings(given)
    return open_metric(given.pop("model"), chosen, **asking(given))


def settings(given: dict[str, Any]) -> Settings:
    """Return how a model is asked for reports; taken out of `given`."""
    return Settings(**take(given, *Settings.__dataclass_fields__))


def served(given: dict[str, Any]) -> Asker:
    """Return the model as it is, not as the metric, as the options say; they are taken out of `given`."""
    return open_asker(given.pop("model"), **asking(given))


def asking(given: dict[str, Any]) -> AskOptions:
    """Return how a model is asked; taken out of `given`."""
    store, no_store = given.pop("store"), given.pop("no_store")
    named = take(given, *AskOptions.__annotations__)
    store = None if no_store else store or store_path()
    return cast("AskOptions", {**named, "store": store, "progress": Terminal()})


def print_warnings(*askers: Asker) -> None:
    """What a person must know about the models before they are used."""
    for warning in dict.fromkeys(asker.model.warning for asker in askers if asker.model.warning):
        click.echo(f"note: {warning}", err=True)
    if any(asker.model.name == "embedded" for asker in askers) and not pull.default_path().exists():
        click.echo(pull.announcement(), err=True)


@contextmanager
def run_of(*askers: Asker) -> Iterator[None]:
    """Print warnings about the models before a run and, if it stops early, what is kept of it."""
    print_warnings(*askers)
    try:
        yield
    except (KeyboardInterrupt, ModelError):  # a store that fails says its own fix
        if not askers:
            raise
        if askers[0].store is None:
            hint = "nothing of the run is kept, because of --no-store"
        else:
            again = "the same command, without --fresh," if askers[0].fresh else "the same command"
            hint = f"what was answered is kept: run {again} again to go on"
        click.echo(hint, err=True)
        raise
