"""GlobalOpinionQA (Durmus et al. 2023): which answer to a survey question is the most common one in a country."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mores.bench.benchmark import Benchmark, OnBad
from mores.bench.choice import grade_letter, guess_letter, lettered, letters
from mores.bench.prompts import fill, prompt
from mores.culture import region_name
from mores.factory.items import SourceItem
from mores.factory.sources import REVISIONS
from mores.factory.sources.globalopinionqa import SOURCE
from mores.types import Item


def _read(folder: Path, on_bad: OnBad) -> Iterator[Item]:
    yield from map(_item, SOURCE.read(folder, on_bad))


def _item(item: SourceItem) -> Item:
    # The source gives them by their shares; that order must not tell which is the most common.
    options = tuple(sorted((item.answer, *item.wrong), key=str.casefold))
    country = region_name(item.region or "")
    text = fill(prompt("globalopinionqa", "choice"), country=country, question=item.question, options=lettered(options))
    return Item(
        id=item.id, prompt=text, choices=options, target=(item.answer,), language=item.language, region=item.region
    )


GLOBALOPINIONQA = Benchmark(
    name="globalopinionqa",
    title="GlobalOpinionQA: the most common answer of a country",
    version="1",
    licence=SOURCE.licence,
    homepage=SOURCE.homepage,
    files=SOURCE.files,
    read=_read,
    source="globalopinionqa",
    grade=grade_letter,
    groupings=("region",),
    candidates=letters,
    references=guess_letter,
    max_tokens=64,
    hub=SOURCE.hub,
    revision=REVISIONS["globalopinionqa"],
)
