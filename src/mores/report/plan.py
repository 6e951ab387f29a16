"""A plan of a study (`mores plan`): power over a grid of designs, and what the chosen one costs."""

from __future__ import annotations

from mores.formatting import count, money, number, percent
from mores.planning.api import USED
from mores.planning.records import DesignOutcome, StudyPlan, show_power
from mores.report.base.blocks import Frame, Hero, Notes, Paragraph, Section, key
from mores.report.base.document import ResultDocument
from mores.report.base.grid import make_grid
from mores.report.base.plots import Axis, CurveLine, Curves


def describe(plan: StudyPlan) -> ResultDocument:
    """Return the designs with their power, interval, hours and cost, and a paragraph for a preregistration."""
    people = any(each.design.raters for each in plan.outcomes)
    timed, paid = (any(getattr(e, name) is not None for e in plan.outcomes) for name in ("hours", "cost"))
    heads = ["design", *["raters"] * people, "models", "power", "interval"]
    heads += ["ratings"] * people + ["hours"] * timed + ["cost"] * paid
    rows = [
        (
            f"{each.design.items:,} items{' ←' * (each == plan.chosen)}",
            *[f"{each.design.raters:,}"] * people,
            f"{each.design.models:,}",
            show_power(each),
            number(each.width, 3),
            *[f"{each.ratings:,}"] * people,
            *["–" if each.hours is None else number(each.hours, 1)] * timed,
            *["–" if each.cost is None else money(each.cost)] * paid,
        )
        for each in plan.outcomes
    ]
    cheapest = f"← is the cheapest design with a power of {percent(plan.goal, 0)}." if plan.chosen else ""
    notes = [
        f"± is the error of {plan.simulations:,} simulated studies, the interval the mean width. {cheapest}".strip(),
        *(f"{note[0].upper()}{note[1:]}." for note in plan.notes),
    ]
    if plan.false_alarms:
        notes.append(f"{percent(plan.false_alarms.value)} of studies show a difference where there is none.")
    table = make_grid(f"Power to show {plan.question}", heads, rows, *notes)
    values = [(name, number(getattr(plan.assumed, name), 3)) for name in USED[plan.measure]]
    assumed = make_grid("What is assumed", ("quantity", "value"), values)
    best = max((each.power.value or 0.0 for each in plan.outcomes), default=0.0)
    value = percent(plan.chosen.power.value if plan.chosen else best)
    opening = Hero(value, name=f"Power to show {plan.question}", words=f": {plan.headline}.")
    return ResultDocument(
        "plan of a study",
        plan.measure,
        [table, plan.paragraph, plan.headline],
        [
            Section("power", "Power", [Frame([_curves(plan)]), key("Bands are the error of the simulation."), table]),
            Section("assumptions", "Assumptions", [assumed, Notes(list(plan.notes))]),
            Section("preregistration", "For a preregistration", [Paragraph(plan.paragraph)]),
        ],
        opening=[opening],
        tables={"plan": table, "assumptions": assumed},
        facts={"Measure": plan.measure, "Difference": f"{plan.difference:g}", "Seed": str(plan.seed)},
        look="report",
    )


def _curves(plan: StudyPlan) -> Curves:
    """Return the power over the number of items, a line for each number of raters and models."""
    lines: dict[str, list[DesignOutcome]] = {}
    several = len({each.design.models for each in plan.outcomes}) > 1
    for each in plan.outcomes:
        people = count(each.design.raters, "rater") if each.design.raters else ""
        models = count(each.design.models, "model") if several or not people else ""
        lines.setdefault(", ".join(filter(None, (people, models))), []).append(each)
    drawn = [
        CurveLine(
            label,
            [each.design.items for each in outcomes],
            [each.power.value or 0.0 for each in outcomes],
            [each.power.low for each in outcomes],
            [each.power.high for each in outcomes],
            [f"{each.design}: {show_power(each)}" for each in outcomes],
        )
        for label, outcomes in lines.items()
    ]
    sizes = [each.design.items for each in plan.outcomes]
    return Curves("Power by the number of items", drawn, Axis("items", min(sizes), max(sizes), shares=False), "power")
