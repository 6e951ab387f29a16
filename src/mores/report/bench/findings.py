"""Findings by facts of models, as plots, tables and sentences: size, version and home."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mores.benchmark.findings import LEAST_MODELS, Association, FactFindings
from mores.formatting import NOTHING, count, number, p_value, percent, points, to
from mores.report.base.blocks import Heading, PageBlock, Paragraph
from mores.report.base.charts import IntervalRow, Intervals
from mores.report.base.grid import Grid, Row, make_grid
from mores.report.base.plots import Axis, CurveLine, Curves

NAMES = {"parameters": ("size", "larger", "Parameters"), "released": ("version", "newer", "Release")}
"""Of each fact: what it says about a model, what a model with more of it is, and the name of its axis."""
UNTESTED = f"associations are tested from {LEAST_MODELS} models on"


def finding_blocks(findings: FactFindings | None) -> list[PageBlock]:
    """Return the findings on one benchmark for its page."""
    if findings is None:
        return []
    blocks: list[PageBlock] = [Heading("Size, version and home of the models")]
    for each in findings.associations:
        if all(0 <= (point.result.value or 0.0) <= 1 for point in each.points):
            blocks.append(_plot(each))
        blocks.append(Paragraph(f"{tell_association(each)}."))
    if findings.homes:
        rows = [
            IntervalRow(each.model, each.advantage, f"home {', '.join(each.home)}, n {each.advantage.n:,}")
            for each in findings.homes
        ]
        blocks.append(Intervals("Advantage at home", rows, "points", zero="no advantage"))
        blocks.append(Paragraph(f"{tell_homes(findings)}."))
    return blocks


def finding_tables(findings: FactFindings | None, title: str) -> list[Grid]:
    """Return the findings on one benchmark for the terminal."""
    if findings is None:
        return []
    tables = []
    if findings.associations:
        facts: list[Row] = [
            (
                NAMES[each.fact][0],
                each.tau.n,
                number(each.tau.value),
                _p(each.p),
                f"{each.better} of {each.pairs}",
                _p(each.p_within),
            )
            for each in findings.associations
        ]
        columns = ("", "models", "tau-b", "p", "larger or newer is better", "p")
        note = "pairs are of models of one family"
        untested = any(each.p is None for each in findings.associations)
        tables.append(make_grid(f"{title}: size and version", columns, facts, note, UNTESTED if untested else ""))
    if findings.homes:
        homes: list[Row] = [
            (
                each.model,
                ", ".join(each.home),
                percent(each.at_home.value),
                percent(each.elsewhere.value),
                points(each.advantage.value),
                to(each.advantage.low, each.advantage.high),
                each.advantage.n,
            )
            for each in findings.homes
        ]
        heads = ("model", "home", "at home", "elsewhere", "advantage", "95% interval", "n")
        words = frozenset({0, 1})
        tables.append(make_grid(f"{title}: models at home", heads, homes, tell_homes(findings), words=words))
    return tables


def _p(p: float | None) -> str:
    return NOTHING if p is None else p_value(p)


def tell_association(association: Association) -> str:
    """Return how size or version goes with the result, in one sentence."""
    name, more, _ = NAMES[association.fact]
    tau = association.tau
    shown = "is not defined" if tau.value is None else f"is {number(tau.value)}"
    tested = f"p {p_value(association.p)}" if association.p is not None else UNTESTED
    text = f"{name}: Kendall's tau-b with the result {shown} for {count(tau.n, 'model')} ({tested})"
    if association.pairs:
        p = "" if association.p_within is None else f", p {p_value(association.p_within)}"
        text += f"; of two models of one family the {more} is better in {association.better} of {association.pairs}{p}"
    return text


def tell_homes(findings: FactFindings) -> str:
    """Return whether models have an advantage at home, in one sentence."""
    text = "advantage at home: how much further ahead of models that are not at home there it is than elsewhere"
    if (mean := findings.mean_advantage) is not None:
        tested = f"p {p_value(findings.p_home)}" if findings.p_home is not None else UNTESTED
        text += f"; on average {points(mean.value)} points for {count(mean.n, 'model')} ({tested})"
    return text


def _plot(association: Association) -> Curves:
    name, _, axis = NAMES[association.fact]
    is_size = association.fact == "parameters"
    families = dict.fromkeys(point.family or point.model for point in association.points)
    lines = []
    for family in families:
        members = sorted((p for p in association.points if (p.family or p.model) == family), key=lambda p: p.value)
        lines.append(
            CurveLine(
                family,
                [math.log10(point.value) if is_size else point.value for point in members],
                [point.result.value or 0.0 for point in members],
                [point.result.low for point in members],
                [point.result.high for point in members],
                [f"{point.model}: {percent(point.result.value)}" for point in members],
                [point.result.n for point in members],
            )
        )
    places = [x for line in lines for x in line.x]
    low, high = math.floor(min(places)), math.ceil(max(places))
    marks = _sizes(low, high) if is_size else [(float(year), str(year)) for year in range(low, high + 1)]
    return Curves(f"Result by {name}", lines, Axis(axis, low, high, shares=False, marks=marks), "result")


def _sizes(low: int, high: int) -> Sequence[tuple[float, str]]:
    units = ("", "K", "M", "B", "T")
    return [(float(n), f"{10 ** (n % 3)}{units[min(n // 3, 4)]}") for n in range(low, high + 1)]
