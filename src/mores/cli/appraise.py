"""How the commands judge long answers: `mores longform`, and `mores bench` where answers are long."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from mores.cli import options
from mores.cli.progress import stage
from mores.engine.cost import price_of
from mores.engine.store import opened
from mores.errors import ConfigError
from mores.io import read_records, write_text
from mores.longform.asking import How
from mores.longform.estimate import estimate
from mores.longform.evaluate import RESULTS, Evaluation
from mores.longform.factuality import median_claims
from mores.longform.lid import CHECKERS, checker
from mores.longform.records import LongAnswer
from mores.longform.summary import Counting, Summary
from mores.longform.tokens import default_tokenizer
from mores.metric import Metric
from mores.models import Model, open_model
from mores.search import Options as SearchOptions
from mores.search import Search, open_search, search_cost
from mores.show import money

MEDIAN = 0
"""Stands for the median number of claims of the run."""

_HOW = [
    click.option("--lid", type=click.Choice(list(CHECKERS)), default="mores", show_default=True,
                 help="Which check of the language: ours, or CaLMQA's (CLD2 and langid)."),
    click.option("--facts", metavar="SEARCH",
                 help="Check facts against what a search finds: serper, corpus:PATH or replay:FILE."),
    click.option("--corpus", metavar="PATH", help="The same as --facts corpus:PATH."),
]  # fmt: skip


long_options = options.several(_HOW)
"""Options that `mores bench` has too."""


@dataclass(frozen=True)
class Setup:
    """How long answers are judged."""

    lid: str = "mores"
    judge: str | None = None
    facts: str | None = None
    results: int = RESULTS
    translator: str | None = None
    extractor: str | None = None
    verifier: str | None = None
    translate: bool = True
    every: bool = False
    record: Path | None = None

    def __post_init__(self) -> None:
        if self.facts and not self.judge:
            raise ConfigError("facts are judged by a model; name it with --judge, for example openai:NAME")
        default_tokenizer()  # an extra, which had better be found missing before anything is paid for


def facts_of(given: dict[str, Any]) -> str | None:
    """What facts are checked against, of --facts and --corpus."""
    facts, corpus = given.pop("facts"), given.pop("corpus")
    if facts and corpus:
        raise ConfigError("--facts and --corpus both name a search; give one")
    return f"corpus:{corpus}" if corpus else facts


def open_evaluation(stack: ExitStack, setup: Setup, answers: Path, folder: Path, how: Metric) -> Evaluation:
    """The evaluation of a file of answers, with its models, search and store."""
    if setup.judge:
        stack.enter_context(options.run_of(how))
    store = stack.enter_context(opened(how.store)) if setup.judge else None

    def model(name: str | None) -> Model | None:
        return open_model(name, options.judge_of(how, None)) if name else None

    check = checker(setup.lid)
    return Evaluation(
        answers=answers, folder=folder, check=check.check, checker=check.identity,
        judge=how.judge_model if setup.judge else None,
        translator=model(setup.translator), extractor=model(setup.extractor), verifier=model(setup.verifier),
        backend=_search(setup, how), results=setup.results, into_english=setup.translate, judge_all=setup.every,
        how=How(store, how.limits, how.fresh),
    )  # fmt: skip


def _search(setup: Setup, how: Metric) -> Search | None:
    if not setup.facts:
        return None
    return open_search(setup.facts, SearchOptions(limits=how.limits, fresh=how.fresh, record=setup.record))


def say_cost(job: Evaluation, setup: Setup, price: str | None) -> None:
    """What the run will call and search for, at most, and what that costs where it is known."""
    known = {one.name: one.model for one in job.stages() if one.model}
    rows, facts = read_records(job.answers, LongAnswer), job.backend is not None
    for one in estimate(rows, into_english=job.into_english, facts=facts, results=job.results):
        if one.searches:
            cost = search_cost(setup.facts or "", one.searches, job.results)
            text = f"about {one.searches:,} searches"
        else:
            rate = price_of(known[one.stage].name, price)
            cost = rate.cost(one.prompt_tokens, one.completion_tokens) if rate else 0.0
            text = f"about {one.calls:,} calls, {one.prompt_tokens + one.completion_tokens:,} tokens"
        click.echo(f"{one.stage}: {text}" + (f", {money(cost)}" if cost else ""), err=True)


def run_stages(job: Evaluation, what: str, count: int, price: str | None) -> None:
    """All stages, each with its bar."""
    for one in job.stages():
        rate = price_of(one.model.name, price) if one.model else None
        stage(f"{what}: {one.name}", count, rate, one.work)


def counting_of(job: Evaluation, counting: Counting, k: str | None = None) -> Counting:
    """The same for what this evaluation judges."""
    judged = job.judge is not None
    return replace(counting, facts=judged and job.backend is not None, relevance=judged, k=_k(job, k))


def _k(job: Evaluation, given: str | None) -> int | None:
    number = read_k(given)
    return median_claims(found for _, found in job.appraised()) if number == MEDIAN else number


def read_k(given: str | None) -> int | None:
    """K as it was given; `MEDIAN` where the run decides."""
    if given is None or given == "median":
        return None if given is None else MEDIAN
    if not given.isascii() or not given.isdecimal() or not 1 <= int(given) < 2**31:
        raise ConfigError(f"--claims {given!r}: expected a number of at least 1, or 'median'")
    return int(given)


def write_results(job: Evaluation, found: Sequence[Summary], out: Path) -> None:
    """The figures and the page."""
    from mores.report.longform import page

    text = json.dumps([one.model_dump(mode="json") for one in found], indent=1)
    write_text(out / "longform.json", text + "\n")
    write_text(out / "longform.html", page(found, job.appraised(), job.signature()))
