"""`mores board`: a leaderboard of runs of `mores bench`."""

from __future__ import annotations

from pathlib import Path

import click

from mores.bench.board import Board, Gap, League, Shift, Standing, make_board, read_runs
from mores.cli.options import figures_option
from mores.io import write_text
from mores.report.base.figures import write_figures
from mores.report.base.grid import Grid, Row, harmless, plain_console
from mores.report.base.links import link_runs
from mores.report.bench import board_page, board_sections
from mores.show import SIGNIFICANT, between, count, p_value, percent, possible, show_failures


@click.command()
@click.argument(
    "folders", nargs=-1, required=True, metavar="DIR...", type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write the page with all charts here.")
@figures_option
@click.option("--force", is_flag=True, help="Join also runs whose signatures say that they are not comparable.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the tables.")
def board(folders: tuple[Path, ...], html: Path | None, figures: Path | None, force: bool, as_json: bool) -> None:
    """Rank the models whose runs are in DIR..., one table for each benchmark.

    A DIR is what `mores bench --out` wrote, or one run in it. Every model is tested against the best and against the
    one below it, on the questions that both answered; p is adjusted for the number of tests.
    """  # fmt: skip
    entries = read_runs(folders)
    found = make_board(entries, force=force)
    results = [entry.result for entry in entries]
    if html:
        links = link_runs(html, ((f"{one.result.model}, {one.league}", Path(one.folder)) for one in entries))
        write_text(html, board_page(found, results, links))
        click.echo(f"wrote {html}", err=True)
    if figures:
        written = write_figures(board_sections(found, results), [], figures)
        click.echo(f"wrote {count(len(written), 'file')} into {figures}", err=True)
    if as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        _print(found)


def _print(found: Board) -> None:
    console = plain_console()
    for league in found.leagues:
        console.print(_grid(league), "")
    if found.shift:
        console.print(_ranks(found.shift), "")
    for league in found.leagues:
        console.print(harmless(_headline(league)), soft_wrap=True)


def _grid(league: League) -> Grid:
    known = ", ".join(f"{name} {percent(value)}" for name, value in league.references.items())
    notes = [f"for comparison: {known}" if known else "", "* adjusted p < 0.05", *_ungraded(league), *league.notes]
    columns = ("", "model", league.figure, "p, best", "p, next", "n", "unscored")
    return Grid(columns, [("", list(map(_row, league.standings)))], league.title, notes, frozenset({1}))


def _row(one: Standing) -> Row:
    interval = between(one.result)
    return (
        "–" if one.rank is None else str(one.rank), one.model,
        (percent(one.result.value), f"({interval})" if interval else ""),
        _chance(one.best), _chance(one.next), f"{one.result.n:,}", f"{one.result.unscored:,}",
    )  # fmt: skip


def _chance(gap: Gap | None) -> str:
    return f"{p_value(gap.adjusted)}{'*' if gap.adjusted < SIGNIFICANT else ' '}" if gap else ""


def _headline(league: League) -> str:
    """Who is first, and whether the next one is really behind."""
    ranked = [one for one in league.standings if one.rank is not None]
    if not ranked:
        return f"{league.title}: no model has a score"
    first = [one for one in ranked if one.rank == 1]
    names = " and ".join(one.model for one in first)
    text = f"{league.title}: {names} {'is' if len(first) == 1 else 'are'} first with {percent(first[0].result.value)}"
    if len(first) > 1 or not first[0].next or len(ranked) == 1:
        return text
    gap = first[0].next.adjusted
    ahead = "significantly" if gap < SIGNIFICANT else "not significantly"
    return f"{text}, {ahead} ahead of {ranked[1].model} (adjusted p {p_value(gap)})"


def _ungraded(league: League) -> list[str]:
    """Answers without a grade by kind; a question may have several, so they are not those in the table."""
    return [
        f"{one.model}: " + "; ".join(filter(None, (show_failures(one.failures), possible(one.result))))
        for one in league.standings
        if one.failures
    ]


def _ranks(shift: Shift) -> Grid:
    rows = [(model, *map(str, ranks)) for model, ranks in shift.ranks.items()]
    title = "Ranks among the models that were run on all of these"
    return Grid(("model", *shift.benchmarks), [("", rows)], title)
