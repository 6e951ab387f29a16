"""Samples for people to validate, and what they found (ExCAM, Section 4): `mores build … --validate 300`.

The samples with errors are spread evenly over sources, and in each over kinds of errors and languages. The studio's
campaign of the kind `validation` imports them; its export has the votes from which the rate of bad samples is counted.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import TypeVar

from pydantic import Field

from mores.errors import InputError
from mores.factory.drafts import draw
from mores.factory.gold import Gold
from mores.io import JsonlWriter, read_records, write_text
from mores.stats.distributions import share_of
from mores.types import Record

SAMPLES, CAMPAIGN = "validate.jsonl", "validate.yaml"
VALIDATED = "validated"
"""The folder in that of the dataset where the export of the campaign is looked for."""
VOTES = "votes.jsonl"
FEWEST = 2
"""Votes that a sample needs."""

T = TypeVar("T")


class SampleVote(Record):
    """One annotator's vote on one sample."""

    sample_id: str
    annotator: str
    criterion: str
    value: str = Field(coerce_numbers_to_str=True)


class ValidationRate(Record):
    """The number of bad samples among those with errors that people judged."""

    judged: int = 0
    bad: int = 0
    """By majority without an error at the marked words, or not about a culture."""
    low: float | None = None
    """Lower end of the rate's 95% interval."""
    high: float | None = None


def choose(golds: Iterable[Gold], count: int, seed: int) -> list[Gold]:
    """Return samples with errors, evenly over sources, and in each over kinds and languages."""
    strata: dict[str, dict[tuple[str, str], list[Gold]]] = defaultdict(lambda: defaultdict(list))
    for gold in golds:
        if gold.report.errors:
            strata[gold.sample.source or ""][gold.kind, gold.sample.language or ""].append(gold)
    sources = []
    for _, parts in sorted(strata.items()):
        drawn = [sorted(part, key=lambda g: draw(seed, "validate", g.sample.id)) for _, part in sorted(parts.items())]
        sources.append(list(_in_turn(drawn)))
    return list(islice(_in_turn(sources), count))


def _in_turn(parts: Sequence[Sequence[T]]) -> Iterator[T]:
    return (each for each in chain.from_iterable(zip_longest(*parts)) if each is not None)


def write_campaign(golds: Iterable[Gold], count: int, name: str, seed: int, folder: Path) -> None:
    """Write the samples and the settings of a campaign."""
    with JsonlWriter(folder / SAMPLES) as writer:
        for gold in choose(golds, count, seed):
            writer.write(gold)
    title = json.dumps(f"Are the errors of {name} real?", ensure_ascii=False)  # JSON is YAML
    write_text(folder / CAMPAIGN, f"kind: validation\ntitle: {title}\n")


def read_rate(export: Path, ids: Iterable[str]) -> ValidationRate:
    """Return what people found, from the export of a campaign; each vote must be on one of these samples."""
    path = export / VOTES if export.is_dir() else export
    if not path.is_file():
        raise InputError(f"{export}: no {VOTES} in it; name the folder that `mores studio export` wrote")
    known = set(ids)
    ballots: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for vote in read_records(path, SampleVote):
        if vote.sample_id not in known:
            raise InputError(f"{path}: a vote on {vote.sample_id}, which is not in the dataset; was it built again?")
        ballots[vote.sample_id][vote.criterion].append(vote.value)
    judged = [ballot for ballot in ballots.values() if len(ballot["error"]) >= FEWEST]
    if not judged:
        return ValidationRate()
    is_bad = [
        not (_holds(ballot["error"], {"valid", "partial"}) and _holds(ballot["culture"] or ["yes"], {"yes"}))
        for ballot in judged
    ]
    share = share_of(sum(is_bad), len(judged))
    return ValidationRate(judged=share.n, bad=share.k, low=share.low, high=share.high)


def _holds(values: Sequence[str], positive: set[str]) -> bool:
    return 2 * sum(value in positive for value in values) > len(values)
