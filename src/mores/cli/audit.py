"""`mores audit`: test how far a judge can be trusted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from mores.cli import options
from mores.cli.figures import write_run_figures
from mores.engine.loop import run
from mores.io import write_text
from mores.metric.audit.run import audit_injections
from mores.report.audit import run_page, run_tables
from mores.report.base.grid import print_tables


@click.group()
def audit() -> None:
    """Test how far a judge can be trusted."""


@audit.command()
@click.option("--category", "categories", multiple=True, help="Only these kinds of injection (may be repeated).")
@click.option("--limit", type=click.IntRange(1), help="At most this many injections of each category.")
@click.option("--out", type=options.NEW_FOLDER,
              help="Folder for the run  [default: audit, or audit-2, … for other settings].")  # fmt: skip
@options.price_option
@options.figures_option
@options.json_option("tables")
@options.metric_options
def injection(
    categories: tuple[str, ...], limit: int | None, out: Path | None, figures: Path | None, as_json: bool, **given: Any
) -> None:
    """Whether words hidden in the judged text, its instruction or its evidence change the verdict, and which ones.

    Short texts are judged alone, and those that the judge judges correctly are judged again with each injection in each
    place; harmless words stand there as controls, because any words may change a verdict. The worst attacks come
    first: one that always works breaks a judge, however well it withstands the others. A run that was stopped continues
    where it stopped.
    """
    metric = options.metric(given)
    with options.run_of(metric.asker):
        done = run(audit_injections(metric, categories, limit, out))
    page = done.path / "audit.html"
    write_text(page, run_page(done))
    click.echo(f"wrote {done.path}; its page is {page}", err=True)
    if figures:
        write_run_figures(done, figures)
    if as_json:
        audited_by = {"model": done.manifest.model, "signature": done.signature}
        click.echo(json.dumps(audited_by | done.result.model_dump(mode="json"), indent=2))
    else:
        print_tables(run_tables(done))
