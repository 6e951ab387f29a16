"""The records of a plan of a study."""

from __future__ import annotations

from mores.formatting import count, money, number, percent
from mores.types import Record, Result


class Assumed(Record):
    """The assumptions of a simulation; standard deviations are on the scale of the measure."""

    value: float
    """The better model's value: its accuracy, win rate, correlation or F1; of ratings the mean of both, and of
    agreement its value."""
    rater: float = 0.0
    """How far raters differ in their level."""
    slope: float = 0.0
    """How far raters differ in what they think of a model."""
    item: float = 0.0
    """How far items differ in their difficulty, for both models; of accuracy and F1 in units of a normal residual."""
    answer: float = 0.0
    """How far a model's answers differ from item to item, beyond the item's difficulty."""
    residual: float = 1.0
    """What is left: how a rater differs from day to day."""
    shared: float = 0.3
    """How far the errors of two judges are correlated."""
    spans: float = 1.5
    """Errors in a text, on average."""
    seconds: float | None = None
    """What one rating takes."""
    origin: str = ""
    """Where the numbers are from."""


class StudyDesign(Record):
    """The size of a study."""

    raters: int
    items: int
    models: int
    each: int
    """Raters of each item."""

    def __str__(self) -> str:
        people = f"{count(self.raters, 'rater')}, " if self.raters else ""
        rated = "" if self.each == self.raters else f" ({self.each:,} of them for each item)"
        return f"{people}{self.items:,} items and {self.models:,} models{rated}"


class DesignOutcome(Record):
    """The outcome of simulations of a design."""

    design: StudyDesign
    power: Result
    """The share of studies that show the difference; its interval is the simulation's own error."""
    width: float
    """Mean width of the 95% interval."""
    ratings: int
    """Ratings, comparisons or marked texts by people."""
    answers: int
    """Answers by models."""
    hours: float | None = None
    """Of people."""
    cost: float | None = None
    """Of people and models."""


class StudyPlan(Record):
    """The designs that show a difference, and the cheapest of them."""

    measure: str
    difference: float
    goal: float
    """The power that is wanted."""
    alpha: float
    """The share of false alarms that is accepted."""
    simulations: int
    seed: int
    assumed: Assumed
    scale: tuple[float, float]
    """The lowest and the highest rating."""
    outcomes: tuple[DesignOutcome, ...]
    chosen: DesignOutcome | None
    """The cheapest design with the power that is wanted; None where no design has it."""
    false_alarms: Result | None
    """How often the chosen design, or the largest, shows a difference where there is none."""
    question: str
    """What was asked, in words."""
    paragraph: str
    """For a preregistration."""
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """The answer in a line."""
        if self.chosen is None:
            best = max(self.outcomes, key=lambda each: each.power.value or 0)
            none = f"no design of the grid has a power of {percent(self.goal, 0)}"
            return f"{none}; the best is {best.design} with {show_power(best)}"
        cost = "" if self.chosen.cost is None else f", {money(self.chosen.cost)}"
        hours = "" if self.chosen.hours is None else f", {number(self.chosen.hours, 0)} hours"
        return f"{self.chosen.design}: power {show_power(self.chosen)}{hours}{cost}"


def show_power(outcome: DesignOutcome) -> str:
    """Return a power with the error of its simulation."""
    power = outcome.power.value or 0.0
    error = ((power * (1 - power)) / outcome.power.n) ** 0.5
    return f"{percent(power)} ± {100 * error:.1f}"
