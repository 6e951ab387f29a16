"""`mores compare`: whether two judges, or two models' texts, really differ."""

from __future__ import annotations

from pathlib import Path

import click

from mores.meta.dataset import Dataset
from mores.meta.records import GROUPINGS, STATISTICS, Comparison, Versus
from mores.meta.scorers import read_judgements
from mores.meta.versus import check_data, compare_judges, compare_texts
from mores.report.base.grid import Grid, Row, harmless, plain_console
from mores.show import SIGNIFICANT, number, p_value, span

NAMES = {**STATISTICS, "score": "mean score", "error_free": "without error"}


@click.command()
@click.argument("first", metavar="A", type=click.Path(exists=True, dir_okay=False))
@click.argument("second", metavar="B", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The dataset that A and B judge: compare how well they find its errors.",
)
@click.option(
    "--split",
    type=click.Choice(["train", "dev", "test"]),
    default="test",
    show_default=True,
    help="The split of it that they judge.",
)
@click.option(
    "--by",
    type=click.Choice(GROUPINGS),
    default="source",
    show_default=True,
    help="What the second table is broken down by, with --data.",
)
@click.option("--force", is_flag=True, help="Compare also what the signatures say is not comparable.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the tables.")
def compare(first: str, second: str, data: Path | None, split: str, by: str, force: bool, as_json: bool) -> None:
    """Test whether A and B differ: two files of judgements, as `mores score` and `mores meta` write them.

    With --data they are two judges of the same samples, and it is compared how well they find the errors.
    Without it they are one judge's scores of the same texts in two versions, for example by two models.
    A difference is A's value less B's, with its 95% interval and a paired test.
    """  # fmt: skip
    names, one, two = (first, second), read_judgements(first), read_judgements(second)
    if data is None:
        found = compare_texts(names, one, two, force=force)
    else:
        dataset = Dataset(data, split)
        for name, judgements in ((first, one), (second, two)) if not force else ():
            check_data(name, judgements, dataset, " (--force compares them all the same)")
        found = compare_judges(names, one, two, dataset.golds, force=force)
    if as_json:
        click.echo(found.model_dump_json(indent=2))
        return
    console = plain_console()
    left = f", {found.left_out:,} more left out because one of them has no score" if found.left_out else ""
    if found.by.get(by):
        console.print(_grid(found.by[by], by, f"Scaled accuracy by {by}", adjusted=True), "")
    title = f"{found.first} less {found.second} on {found.n:,} samples{left}"
    console.print(_grid({NAMES[c.statistic]: c for c in found.overall}, "statistic", title), "")
    console.print(harmless(_headline(found)), soft_wrap=True)


def _grid(rows: dict[str, Comparison], what: str, title: str, *, adjusted: bool = False) -> Grid:
    columns = (what, "difference", "p", *(["adjusted p"] if adjusted else []), "n")
    shown: list[Row] = []
    for name, row in rows.items():
        chances = [p_value(row.p), *([p_value(row.adjusted)] if adjusted else [])]
        shown.append((name, (number(row.difference, 3, signed=True), _interval(row)), *chances, f"{row.n:,}"))
    return Grid(columns, [("", shown)], title)


def _interval(row: Comparison) -> str:
    return span(row.low, row.high, 3, signed=True)


def _headline(found: Versus) -> str:
    """Which is better by the first statistic, and whether that may be chance."""
    first = found.overall[0]
    name, size = (
        NAMES[first.statistic],
        f"{number(first.difference, 3, signed=True)} {_interval(first)}, p {p_value(first.p)}",
    )
    if first.p >= SIGNIFICANT:
        return f"no significant difference in {name}: {size}"
    better, worse = (found.first, found.second) if first.difference > 0 else (found.second, found.first)
    return f"{better} is better than {worse} in {name}: {size}"
