"""The public function `mores.plan`."""

from __future__ import annotations

import asyncio
from itertools import product

import numpy as np
import yaml

from mores.errors import ConfigError
from mores.formatting import count, money, number, percent
from mores.io import write_text
from mores.planning.assumptions import assume
from mores.planning.records import Assumed, DesignOutcome, StudyDesign, StudyPlan, show_power
from mores.planning.settings import PlanSettings
from mores.planning.simulation import MEASURES, Measure, Trial, simulate
from mores.settings import takes
from mores.stats.intervals import share_interval
from mores.types import Result

MOST_RATERS = 25
"""Raters of an item that a campaign of the studio may have."""


@takes(PlanSettings)
async def plan(settings: PlanSettings) -> StudyPlan:
    """Return which designs of a study show a difference, by simulation, and the cheapest of them.

    Nothing is measured: the answer holds as far as the assumptions do, which `StudyPlan.assumed` lists.
    """
    measure = MEASURES[settings.measure]
    assumed = assume(settings.measure, settings.pilot, settings.assume or {})
    difference = settings.difference or measure.difference
    scale = settings.scale or (1.0, 5.0)
    check(settings, measure, assumed, difference, scale)
    outcomes = []
    designs = list(make_designs(settings, measure))
    for design in settings.progress.track("designs", designs, len(designs)):
        trial = Trial(design, assumed, difference, settings.alpha, scale)
        outcomes.append(await asyncio.to_thread(try_design, settings, trial))
    enough = [each for each in outcomes if (each.power.value or 0) >= settings.power]
    chosen = min(enough, key=lambda e: (e.cost or 0, e.ratings, e.answers, e.design.raters), default=None)
    final = chosen or max(outcomes, key=lambda each: each.power.value or 0)
    nothing = Trial(final.design, assumed, 1e-12, settings.alpha, scale)
    alarms = await asyncio.to_thread(simulate, settings.measure, nothing, settings.simulations, settings.seed + 1)
    made = StudyPlan(
        measure=settings.measure,
        difference=difference,
        goal=settings.power,
        alpha=settings.alpha,
        simulations=settings.simulations,
        seed=settings.seed,
        assumed=assumed,
        scale=scale,
        outcomes=tuple(outcomes),
        chosen=chosen,
        false_alarms=share("false alarms", (alarms.low > 0) | (alarms.high < 0)),
        question=measure.words.format(
            difference=difference,
            value=assumed.value,
            other=round(assumed.value - difference, 6),
            win=percent(0.5 + difference),
        ),
        paragraph="",
        notes=tuple(remark(settings, measure, assumed)),
    )
    made = made.model_copy(update={"paragraph": preregister(made, final)})
    if settings.campaign:
        write_text(settings.campaign, write_campaign(made))
    return made


def check(
    settings: PlanSettings, measure: Measure, assumed: Assumed, difference: float, scale: tuple[float, float]
) -> None:
    """Refuse a difference or assumptions that no study can have."""
    low, high = scale if settings.measure == "ratings" else measure.bounds
    half = difference / 2 if settings.measure == "ratings" else 0.0
    ends = [assumed.value - (half or difference), assumed.value + half]
    if settings.measure == "wins":
        ends = [0.5 - difference, 0.5 + difference]
    if not all(low < end < high for end in ends):
        problem = (
            f"{settings.measure} of {number(ends[0], 3)} and {number(ends[1], 3)} are not between {low:g} and {high:g}"
        )
        raise ConfigError(f"{problem}; choose a smaller difference, or assume another value", setting="difference")
    if any(end != int(end) for end in scale):
        raise ConfigError(f"{scale[0]:g}-{scale[1]:g}: a plan needs a scale of whole numbers", setting="scale")
    names = ("rater", "slope", "item", "answer", "residual", "spans")
    if wrong := next((name for name in names if not 0 <= getattr(assumed, name) <= 100), None):
        raise ConfigError(f"{wrong} {getattr(assumed, wrong):g}: expected from 0 to 100", setting="assume")
    if not 0 <= assumed.shared < 1:
        raise ConfigError(f"shared {assumed.shared:g}: expected from 0 to below 1", setting="assume")
    if settings.campaign and not measure.raters:
        raise ConfigError(f"{settings.measure} needs no people, so there is no campaign", setting="campaign")
    if settings.raters and not measure.raters:
        raise ConfigError(f"{settings.measure} needs no raters", setting="raters")


def make_designs(settings: PlanSettings, measure: Measure) -> list[StudyDesign]:
    """Return the designs of the grid."""
    designs = []
    fewest = {"agreement": 2}.get(settings.measure, 1)
    for models, raters, items in product(
        settings.models, settings.raters or measure.raters or (0,), settings.items or measure.items
    ):
        each = min(settings.each or raters, raters)
        if items < 5:
            raise ConfigError(f"{items} items; a study needs at least 5", setting="items")
        if raters and each < fewest:
            raise ConfigError(
                f"agreement needs {fewest} raters of each item", setting="each" if settings.each else "raters"
            )
        if models < 2:
            raise ConfigError("a comparison needs 2 models", setting="models")
        designs.append(StudyDesign(raters=raters, items=items, models=models, each=each))
    return designs


def try_design(settings: PlanSettings, trial: Trial) -> DesignOutcome:
    """Simulate a design."""
    design = trial.design
    found = simulate(settings.measure, trial, settings.simulations, settings.seed)
    answers = (
        design.items * design.models if settings.measure in ("ratings", "wins", "accuracy", "scaled-accuracy") else 0
    )
    pairs = design.models * (design.models - 1) // 2
    per_item = {"ratings": design.models, "wins": pairs}.get(settings.measure, 1)
    ratings = design.items * design.each * per_item
    hours = ratings * trial.assumed.seconds / 3600 if trial.assumed.seconds and ratings else None
    paid = None if settings.pay is None or hours is None else hours * settings.pay
    cost = (paid or 0) + answers * settings.price if paid is not None or (settings.price and answers) else None
    return DesignOutcome(
        design=design,
        power=share("power", found.low > 0),
        width=float(np.mean(found.high - found.low)),
        ratings=ratings,
        answers=answers,
        hours=hours,
        cost=cost,
    )


def share(name: str, hits: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Result:
    """Return how often something happened, with the error of the simulation."""
    low, high = share_interval(int(hits.sum()), len(hits))
    return Result(name=name, value=float(hits.mean()), low=low, high=high, n=len(hits))


def remark(settings: PlanSettings, measure: Measure, assumed: Assumed) -> list[str]:
    """Return what a reader must know about the numbers."""
    notes = [f"variances: {assumed.origin}"]
    raters = settings.raters or measure.raters
    crossed = settings.measure in ("ratings", "wins")
    if crossed and min(raters, default=9) < 3:
        few = "with one rater, results hold for that rater alone"
        notes.append(f"{few}; with two, hardly any difference can be shown for other raters")
    if settings.measure == "span-f1":
        notes.append(
            "raters mark the reference, which the simulation takes as true: their number changes only the cost"
        )
    if max(settings.models) > 2:
        notes.append("intervals and tests are adjusted for all pairs of models (Bonferroni)")
    if measure.raters and assumed.seconds is None:
        notes.append("no hours: assume how long a rating takes (seconds)")
    return notes


def preregister(made: StudyPlan, final: DesignOutcome) -> str:
    """Return a paragraph for a preregistration."""
    design, assumed = final.design, made.assumed
    spreads = ", ".join(
        f"{name} {getattr(assumed, name):g}" for name in USED[made.measure] if getattr(assumed, name) is not None
    )
    people = f"{count(design.raters, 'rater')}, " if design.raters else ""
    rated = f", each rated by {design.each:,} of them" if design.raters and design.each < design.raters else ""
    alarms = made.false_alarms.value if made.false_alarms else None
    size = f"{final.ratings:,} ratings" if final.ratings else f"{final.answers:,} answers"
    reach = "reaches" if made.chosen else "does not reach"
    pairs = f", adjusted for {design.models * (design.models - 1) // 2} pairs of models" if design.models > 2 else ""
    sentences = [
        f"The study is to show {made.question} with a two-sided test at {made.alpha:g}{pairs}.",
        f"We will have {people}{design.items:,} items{rated} and {count(design.models, 'model')} ({size}).",
        f"In {made.simulations:,} simulated studies (Mores, seed {made.seed}) this design {reach} the power of",
        f"{percent(made.goal, 0)} that we want: {show_power(final)}, with a mean width of the interval of",
        f"{number(final.width, 3)} and {percent(alarms)} false alarms where there is no difference.",
        f"Assumptions ({assumed.origin}): {spreads}.",
    ]
    return " ".join(sentences)


USED = {
    "ratings": ("value", "rater", "slope", "item", "answer", "residual"),
    "wins": ("slope", "answer"),
    "accuracy": ("value", "item"),
    "scaled-accuracy": ("value", "item"),
    "correlation": ("value", "item", "residual", "shared"),
    "agreement": ("value", "rater", "residual"),
    "span-f1": ("value", "item", "spans"),
}
"""What is assumed for each measure."""


def write_campaign(made: StudyPlan) -> str:
    """Return the chosen design as a campaign: `mores studio new FILE` makes it, and imports bring the items."""
    alone = made.outcomes[0] if len(made.outcomes) == 1 else None
    final = made.chosen or alone
    if final is None:
        raise ConfigError(f"{made.headline}; no campaign is written: try more, or only this design", setting="campaign")
    design = final.design
    if design.each > MOST_RATERS:
        problem = f"{design.each} raters of each item; the studio takes at most {MOST_RATERS}"
        raise ConfigError(f"{problem}: say how many rate each item", setting="each")
    settings: dict[str, object] = {"kind": "rating", "title": f"Study of {made.measure}", "raters": design.each}
    if made.measure == "span-f1":
        settings = {"kind": "marking", "title": "Study of marked errors", "markers": design.each, "begin": "blank"}
    elif made.measure != "wins":
        settings |= {"marking": False, "comments": False, "reasons": False}
    if final.cost is not None and final.ratings:
        settings["pay"] = f"{money(final.cost)} for {final.ratings:,} ratings, by the plan"
    about = f"{made.paragraph} Import {design.items:,} items; invite {design.raters:,} people."
    return "".join(f"# {line}\n" for line in about.split(". ")) + str(yaml.safe_dump(settings, sort_keys=False))
