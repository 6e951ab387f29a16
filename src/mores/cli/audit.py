"""`mores audit`: test how far a judge can be trusted."""

from __future__ import annotations

import json
from typing import Any

import click

from mores.cli import options
from mores.engine.loop import run
from mores.metric.audit.run import audit_injections
from mores.report.audit import tables
from mores.report.base.grid import print_tables


@click.group()
def audit() -> None:
    """Test how far a judge can be trusted."""


@audit.command()
@click.option("--category", "categories", multiple=True, help="Only these kinds of injection (may be repeated).")
@click.option("--limit", type=click.IntRange(1), help="At most this many injections of each category.")
@options.price_option
@options.json_option("tables")
@options.metric_options
def injection(categories: tuple[str, ...], limit: int | None, as_json: bool, **given: Any) -> None:
    """Whether words hidden in the judged text, its instruction or its evidence change the verdict, and which ones.

    Short texts are judged alone, and those that the judge judges correctly are judged again with each injection in each
    place; harmless words stand there as controls, because any words may change a verdict. The worst attacks come
    first: one that always works breaks a judge, however well it withstands the others.
    """
    metric = options.metric(given)
    with options.run_of(metric.asker):
        audited = run(audit_injections(metric, categories, limit))
    if as_json:
        run_by = {"model": metric.model.name, "signature": metric.signature()}
        click.echo(json.dumps(run_by | audited.model_dump(mode="json"), indent=2))
    else:
        print_tables(tables(audited))
