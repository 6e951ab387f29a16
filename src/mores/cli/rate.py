"""`mores rate`: what people's ratings of answers say."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import click

from mores.cli import options
from mores.cli.figures import write_run_figures
from mores.engine.loop import run
from mores.errors import ConfigError
from mores.io import write_text
from mores.io.private import make_folder
from mores.rating import api
from mores.rating.ratings import COLUMNS
from mores.report.base.grid import print_tables
from mores.report.rate import files, run_page, run_tables


@click.command()
@click.argument("ratings", type=options.FILE)
@click.option("--columns", multiple=True, metavar="OURS=THEIRS",
              help="What the file calls our columns, for example rating=overall; several with commas, or by repeating "
                   "it. OURS= reads none.")  # fmt: skip
@click.option("--alias", "aliases", multiple=True, metavar="COLUMN.THEIRS=OURS",
              help="What the file writes for a value, for example language.fi=fj or type.cult=specific (may be "
                   "repeated).")  # fmt: skip
@click.option("--scale", metavar="LOW-HIGH",
              help="The ratings that can be given  [default: 1-5 if all are whole numbers from 1 to 5, otherwise what "
                   "occurs].")  # fmt: skip
@click.option("--codes", type=options.FILE,
              help="YAML file with codes for the comments, their keywords and patterns (docs/rate.md).")  # fmt: skip
@click.option("--out", type=options.NEW_FOLDER, help="Folder for the run  [default: NAME.rate].")
@options.figures_option
@options.json_option("the tables")
def rate(
    ratings: Path,
    columns: tuple[str, ...],
    aliases: tuple[str, ...],
    scale: str | None,
    codes: Path | None,
    out: Path | None,
    figures: Path | None,
    as_json: bool,
) -> None:
    """Analyse RATINGS that people gave to the answers of models, as CaLMQA's human study does.

    RATINGS is a CSV, JSON Lines or Parquet file with a row for each answer that a person rated. It needs the columns
    question (or question_id), model, annotator and rating; more analyses are made of answer, language, type,
    factuality, omissions, language_correct, rank, spans and the others (docs/rate.md).

    The folder --out has the ratings as they were read, every table as CSV and LaTeX, all figures as data (rate.json)
    and one page that shows them (rate.html).
    """
    given: api.RateOptions = {
        "columns": read_columns(columns),
        "aliases": read_aliases(aliases),
        "scale": read_scale(scale),
        "codes": codes,
    }
    done = run(api.rate(ratings, out=out, **given))
    tables = done.path / "tables"
    make_folder(tables)
    for name, grid in files(done.result).items():
        write_text(tables / f"{name}.csv", grid.csv())
        write_text(tables / f"{name}.tex", grid.latex())
    page = done.path / "rate.html"
    write_text(page, run_page(done))
    click.echo(f"wrote {done.path}; its page is {page}", err=True)
    if figures:
        write_run_figures(done, figures)
    if as_json:
        click.echo(json.dumps(done.result.model_dump(mode="json"), indent=2))
    else:
        print_tables(run_tables(done))


def read_columns(texts: Iterable[str]) -> dict[str, str]:
    """Our columns with their names in the file."""
    columns = {}
    for text in (part for given in texts for part in given.split(",")):
        name, sign, theirs = text.partition("=")
        if not sign:
            raise ConfigError(f"{text!r}: expected OURS=THEIRS, for example rating=overall", setting="columns")
        columns[name.strip()] = theirs.strip()
    return columns


def read_aliases(texts: Iterable[str]) -> dict[str, dict[str, str]]:
    """For each of our columns, what the file writes for a value."""
    aliases: dict[str, dict[str, str]] = {}
    for text in texts:
        left, sign, ours = text.rpartition("=")
        column, dot, theirs = left.partition(".")
        if not sign or not dot or column not in COLUMNS:
            problem = "expected COLUMN.THEIRS=OURS, for example language.fi=fj"
            raise ConfigError(f"{text!r}: {problem}; the columns are {', '.join(COLUMNS)}", setting="alias")
        aliases.setdefault(column, {})[theirs] = ours.strip()
    return aliases


def read_scale(text: str | None) -> tuple[float, float] | None:
    """Return the lowest and the highest rating."""
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.rsplit("-", 1))
    except ValueError:
        low, high = 0.0, 0.0
    if not low < high:
        raise ConfigError(f"{text!r}: expected the lowest and the highest rating, for example 1-5", setting="scale")
    return low, high
