"""GlobalOpinionQA (Durmus et al. 2023): how people of a country answer survey questions.

The most common answer is correct. `world-values` asks the questions of the World Values Survey in that release without
a country, and compares the model's own answers with those of each country's people. To compare the model's distribution
with the country's, get its probabilities (`--by-logprob`) or several answers to each question (`--samples`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from mores.benchmark.benchmark import Benchmark
from mores.benchmark.choice import grade_letter, guess_letter, lettered, letters
from mores.benchmark.score import references_of_people
from mores.culture import region_name
from mores.errors import InputError
from mores.factory.sources import REVISIONS
from mores.factory.sources.globalopinionqa import SOURCE, Survey, read_surveys
from mores.factory.sources.rows import OnBad
from mores.prompts import fill, read_prompt
from mores.types import Item


def _item(survey: Survey) -> Item:
    # They come by their shares; that order must not tell which is the most common.
    shares = {text: share for share, text in survey.answers}
    options = tuple(sorted(shares, key=str.casefold))
    slots = {"country": region_name(survey.region), "question": survey.question, "options": lettered(options)}
    most = max(shares.values())
    return Item(
        id=survey.id,
        prompt=fill(read_prompt(__file__, "choice"), **slots),
        choices=options,
        target=tuple(text for text in options if shares[text] == most),
        language="en",
        region=survey.region,
        metadata={"shares": shares},
    )


WVS = "WVS"
"""How the release calls the World Values Survey."""


def read_values(folder: Path, on_bad: OnBad) -> Iterator[Item]:
    """Yield the questions of the World Values Survey, once for each country, asked without it."""
    surveys = list(read_surveys(folder, on_bad))
    if surveys and not any(survey.source for survey in surveys):
        fix = "give the release, global_opinions.csv, whose column 'source' says it"
        raise InputError(f"{folder}: nothing says which questions are of the World Values Survey; {fix}")
    for survey in surveys:
        if survey.source == WVS:
            item = _item(survey)
            slots = {"question": survey.question, "options": lettered(item.choices)}
            own = fill(read_prompt(__file__, "own"), **slots)
            role = fill(read_prompt(__file__, "role"), country=region_name(survey.region), **slots)
            more = {"prompt": own, "metadata": item.metadata | {"variants": {"country": role}}}
            yield item.model_copy(update=more)


def people(item: Item) -> dict[str, float]:
    """Return the shares of people who chose each letter."""
    return dict(zip(letters(item), (item.metadata["shares"][choice] for choice in item.choices), strict=True))


GLOBALOPINIONQA = Benchmark(
    name="globalopinionqa",
    title="GlobalOpinionQA: how people of a country answer surveys",
    version="2",
    licence=SOURCE.licence,
    homepage=SOURCE.homepage,
    files=SOURCE.files,
    read=lambda folder, on_bad: map(_item, read_surveys(folder, on_bad)),
    source="globalopinionqa",
    grade=grade_letter,
    groupings=("region",),
    candidates=letters,
    people=people,
    references=lambda items: guess_letter(items) | references_of_people(list(map(people, items))),
    max_tokens=64,
    hub=SOURCE.hub,
    revision=REVISIONS["globalopinionqa"],
)
WORLD_VALUES = replace(
    GLOBALOPINIONQA,
    name="world-values",
    title="World Values: whose answers a model's own are like",
    version="1",
    read=read_values,
    variants=("country",),
)
