"""What `--dry-run` prints: what a run would send and cost."""

from __future__ import annotations

import json
from collections.abc import Mapping

import click

from mores.engine.estimate import Estimate
from mores.formatting import money


def print_estimate(estimate: Estimate) -> None:
    """Print the calls, the tokens and the cost of one model."""
    click.echo(f"{estimate.calls:,} calls would be sent; {estimate.known:,} answers are in the store already")
    if estimate.unsendable:
        click.echo(f"{estimate.unsendable:,} samples are too long to be sent (see --max-characters)")
    click.echo(f"about {estimate.prompt_tokens:,} prompt tokens and {estimate.completion_tokens:,} for the reports")
    if estimate.cost is None or estimate.most is None:
        click.echo("the price of this model is not known: give it with --price IN,OUT")
    else:
        click.echo(f"about {money(estimate.cost)}, at most {money(estimate.most)}")


def print_estimates(estimates: Mapping[str, Estimate], as_json: bool) -> None:
    """Print the same for several models."""
    if as_json:
        click.echo(json.dumps({name: estimate.model_dump() for name, estimate in estimates.items()}, indent=2))
        return
    for name, estimate in estimates.items():
        click.echo(f"{name}:")
        print_estimate(estimate)
