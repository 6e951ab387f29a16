"""`mores bench check`: what a benchmark lacks."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from mores.benchmark.contract import check
from mores.errors import ConfigError
from mores.report.base.grid import plain_console
from mores.report.bench import check_table


def show_checks(names: Sequence[str], as_json: bool) -> None:
    """Every check of some benchmarks with its result; exit code 1 where something is missing."""
    if not names:
        raise ConfigError("name a benchmark or its folder: mores bench check BENCHMARK")
    checked = {name: checks for given in names for name, checks in check(given).items()}
    complete = {name: all(each.status == "ok" for each in checks) for name, checks in checked.items()}
    if as_json:
        rows = [
            {"name": name, "ok": complete[name], "checks": [each.model_dump() for each in checks]}
            for name, checks in checked.items()
        ]
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        console = plain_console()
        for name, checks in checked.items():
            console.print(check_table(name, checks))
    if not all(complete.values()):
        click.get_current_context().exit(1)
