"""`mores board`: a leaderboard of runs of `mores bench`."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mores.bench.board import Board, Gap, League, Shift, Standing, make_board, read_runs
from mores.io import write_text
from mores.report.bench import board_page
from mores.report.bench_charts import between, percent, possible
from mores.report.meta_sheets import SIGNIFICANT, chance
from mores.report.table import plain


@click.command()
@click.argument(
    "folders", nargs=-1, required=True, metavar="DIR...", type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write the page with all charts here.")
@click.option("--force", is_flag=True, help="Join also runs whose signatures say that they are not comparable.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the tables.")
def board(folders: tuple[Path, ...], html: Path | None, force: bool, as_json: bool) -> None:
    """Rank the models whose runs are in DIR..., one table for each benchmark.

    A DIR is what `mores bench --out` wrote, or one run in it. Every model is tested against the best and against the
    one below it, on the questions that both answered; p is adjusted for the number of tests.
    """  # fmt: skip
    entries = read_runs(folders)
    found = make_board(entries, force=force)
    if as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        _print(found)
    if html:
        write_text(html, board_page(found, [entry.result for entry in entries]))
        click.echo(f"wrote {html}", err=True)


def _print(found: Board) -> None:
    console = Console()
    for league in found.leagues:
        console.print(_table(league), "")
    if found.shift:
        console.print(_ranks(found.shift))


def _table(league: League) -> Table:
    view = Table(box=None, pad_edge=False, title=Text(plain(league.title)), title_justify="left")
    for name in ("", "model", plain(league.figure), "95% interval", "p, best", "p, next", "n", "unscored"):
        left = name in ("model",)
        view.add_column(name, justify="left" if left else "right", overflow="fold", no_wrap=not left)
    for one in league.standings:
        view.add_row(*map(Text, _row(one)))
    known = ", ".join(f"{plain(name)} {percent(value)}" for name, value in league.references.items())
    lines = [f"for comparison: {known}" if known else "", "* adjusted p < 0.05"]
    lines += map(plain, (*_ungraded(league), *league.notes))
    view.caption, view.caption_justify = Text("\n".join(filter(None, lines))), "left"
    return view


def _row(one: Standing) -> tuple[str, ...]:
    return (
        "–" if one.rank is None else str(one.rank), plain(one.model), percent(one.result.value), between(one.result),
        _chance(one.best), _chance(one.next), f"{one.result.n:,}", f"{one.result.unscored:,}",
    )  # fmt: skip


def _chance(gap: Gap | None) -> str:
    return f"{chance(gap.adjusted)}{'*' if gap.adjusted < SIGNIFICANT else ' '}" if gap else ""


def _ungraded(league: League) -> list[str]:
    """Answers without a grade by kind; a question may have several, so they are not those in the table."""
    return [
        f"{one.model}: ungraded answers: "
        + "; ".join(
            filter(None, (", ".join(f"{n:,} {kind}" for kind, n in one.failures.items()), possible(one.result)))
        )
        for one in league.standings
        if one.failures
    ]


def _ranks(shift: Shift) -> Table:
    view = Table(box=None, pad_edge=False, title="Ranks among the models that were run on all of these")
    view.title_justify = "left"
    view.add_column("model", overflow="fold")
    for name in shift.benchmarks:
        view.add_column(Text(plain(name)), justify="right", overflow="fold")
    for model, ranks in shift.ranks.items():
        view.add_row(Text(plain(model)), *map(str, ranks))
    return view
