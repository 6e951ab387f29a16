"""Options of how long answers are judged: of `mores longform`, and of `mores bench` where answers are long."""

from __future__ import annotations

from typing import Any, Literal

import click

from mores.cli import options
from mores.errors import ConfigError
from mores.longanswer.appraise import MEDIAN
from mores.longanswer.lid import CHECKERS

long_options = options.several([
    click.option("--lid", type=click.Choice(list(CHECKERS)), default="mores", show_default=True,
                 help="Which check of the language: ours, or CaLMQA's (CLD2 and langid)."),
    click.option("--facts", metavar="SEARCH",
                 help="Check facts against what a search finds: serper, corpus:PATH, fused:PATH or replay:FILE."),
    click.option("--corpus", metavar="PATH", help="The same as --facts corpus:PATH."),
])  # fmt: skip
"""Options that `mores bench` has too."""


def facts_of(given: dict[str, Any]) -> str | None:
    """Return what facts are checked against, of --facts and --corpus."""
    facts, corpus = given.pop("facts"), given.pop("corpus")
    if facts and corpus:
        raise ConfigError("--facts and --corpus both name a search; give one")
    return f"corpus:{corpus}" if corpus else facts


def read_k(given: str | None) -> int | Literal["median"] | None:
    """Return the number of claims of a full answer; `MEDIAN` where the run decides."""
    if given is None or given == MEDIAN:
        return MEDIAN if given else None
    if not given.isascii() or not given.isdecimal() or not 1 <= int(given) < 2**31:
        raise ConfigError(f"--claims {given!r}: expected a number of at least 1, or 'median'")
    return int(given)
