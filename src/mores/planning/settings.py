"""The settings of a plan: what is to be seen, in which designs, and what is assumed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from mores.engine.progress import SILENT
from mores.errors import ConfigError
from mores.rating.settings import read_scale
from mores.settings import Settings, setting
from mores.settings.names import read_names
from mores.settings.values import Names, OptionalPath, Sizes

if TYPE_CHECKING:
    from mores.engine.progress import Progress

LARGEST = 100_000


def read_sizes(given: int | str | Iterable[int | str]) -> tuple[int, ...]:
    """Return the sizes of a grid, from a text such as `5,10,20` or from numbers."""
    texts = [given] if isinstance(given, int | str) else given
    parts = [part for text in texts for part in read_names(str(text))]
    try:
        sizes = tuple(sorted({int(part) for part in parts}))
    except ValueError as error:
        raise ConfigError(f"{', '.join(parts)!r}: expected whole numbers such as 5,10,20") from error
    if any(not 1 <= size <= LARGEST for size in sizes):
        raise ConfigError(f"{', '.join(parts)}: expected numbers from 1 to {LARGEST:,}")
    return sizes


def read_values(given: str | Iterable[str] | Mapping[str, float]) -> dict[str, float]:
    """Return assumptions by name, from texts such as `rater=0.5,item=0.6`."""
    if isinstance(given, Mapping):
        return dict(given)
    parts = [part.partition("=") for part in read_names(given)]
    try:
        return {name.strip(): float(value) for name, _, value in parts}
    except ValueError as error:
        wrong = ", ".join("".join(part) for part in parts)
        raise ConfigError(f"{wrong!r}: expected numbers such as rater=0.5,item=0.6", setting="assume") from error


class PlanSettings(Settings, table="plan"):
    """A study before there are data."""

    measure: Literal["ratings", "wins", "accuracy", "scaled-accuracy", "correlation", "agreement", "span-f1"] = setting(
        kw_only=False, metavar="MEASURE", help="What the study measures.", result=True
    )
    difference: float | None = setting(
        default=None,
        above=0,
        at_most=100,
        help="Difference that the study must show: points of a rating, a share of wins above one half, or a difference "
        "of accuracies, correlations, agreements or F1.",
        default_text="0.2 for ratings, 0.03 for accuracy, 0.06 for scaled accuracy, 0.05 for F1, otherwise 0.1",
        result=True,
    )
    raters: Sizes = setting(
        default=(),
        metavar="NUMBERS",
        parse=read_sizes,
        help="Numbers of raters to try, for example 5,10,20.",
        default_text="by the measure",
        result=True,
    )
    items: Sizes = setting(
        default=(),
        metavar="NUMBERS",
        parse=read_sizes,
        help="Numbers of items (questions, texts) to try.",
        default_text="by the measure",
        result=True,
    )
    models: Sizes = setting(
        default=(2,),
        metavar="NUMBERS",
        parse=read_sizes,
        help="Numbers of models to try; all pairs of them are compared.",
        result=True,
    )
    each: int | None = setting(
        default=None, at_least=1, help="Raters of each item.", default_text="all raters", result=True
    )
    pilot: Names = setting(
        default=(),
        metavar="NAME|RUN",
        help="Where variances are from: calmqa, excam, culturalbench, assumed, or a run of mores rate or bench; two "
        "runs of bench tell how far items differ (may be repeated).",
        default_text="the paper that has the measure",
        result=True,
    )
    assume: Mapping[str, float] | None = setting(
        default=None,
        metavar="NAME=NUMBER",
        parse=read_values,
        help="Assumptions instead of the pilot's, for example value=0.7,rater=0.5,seconds=90 (docs/plan.md).",
        result=True,
    )
    scale: tuple[float, float] | None = setting(
        default=None,
        metavar="LOW-HIGH",
        parse=read_scale,
        help="Lowest and highest rating, whole numbers.",
        default_text="1-5",
        result=True,
    )
    power: float = setting(default=0.8, above=0.05, at_most=0.999, help="Power that is wanted.", result=True)
    alpha: float = setting(
        default=0.05, above=0, at_most=0.5, help="Share of false alarms that is accepted.", result=True
    )
    simulations: int = setting(
        default=1000, at_least=100, at_most=100_000, help="Studies that are simulated for each design.", result=True
    )
    seed: int = setting(default=0, at_least=0, help="Seed of the simulations.", result=True)
    pay: float | None = setting(default=None, at_least=0, help="Pay of a rater for an hour, in dollars.")
    price: float = setting(default=0.0, at_least=0, help="Price of one answer by a model, in dollars.")
    campaign: OptionalPath = setting(
        default=None,
        place="new file",
        help="Write the chosen design as a campaign for mores studio, a YAML file.",
    )
    progress: Progress = setting(default=SILENT, command=False, help="Shows the progress of the simulations.")
