"""CulturalBench (Chiu et al. 2025): Easy, a choice of four; Hard, four statements to be called True or False."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from statistics import fmean
from string import ascii_uppercase

import numpy as np

from mores.benchmark.benchmark import Benchmark, OnBad
from mores.benchmark.choice import grade_letter, grade_truth, guess_letter, lettered, letters, truths
from mores.benchmark.culturalbench.people import human_row
from mores.benchmark.labels import read_topics
from mores.culture import region
from mores.errors import InputError, ModelError
from mores.factory.sources import REVISIONS
from mores.factory.sources.culturalbench import SOURCE, read_statements
from mores.factory.sources.files import find, read
from mores.factory.sources.rows import SourceRow, collect
from mores.metaevaluation.baselines.similarity import country_cosines, embedding
from mores.prompts import fill, read_prompt
from mores.search import encoders
from mores.types import Item

AREAS: Mapping[str, str] = {
    code: area
    for area, codes in {
        "North America": "CA US",
        "South America": "AR BR CL MX PE",
        "Northern Europe": "GB",
        "Western Europe": "DE FR NL",
        "Southern Europe": "ES IT",
        "Eastern Europe": "CZ PL RO RU UA",
        "Africa": "EG MA NG ZA ZW",
        "Middle East/West Asia": "IL IR LB SA TR",
        "South Asia": "BD IN NP PK",
        "Southeast Asia": "ID MY PH SG TH VN",
        "East Asia": "CN HK JP KR MO TW",
        "Oceania": "AU NZ",
    }.items()
    for code in codes.split()
}
"""The paper's groups of regions; its stored text names six of them, the rest follow the United Nations' geoscheme."""


def _hard(folder: Path, on_bad: OnBad) -> Iterator[Item]:
    for statements in read_statements(folder, on_bad).values():
        mode = "multi" if sum(statement.true for statement in statements) > 1 else "single"
        for number, statement in enumerate(statements):
            yield Item(
                id=f"{statement.question_id}.{number}",
                prompt=fill(read_prompt(__file__, "hard"), question=statement.question, option=statement.option),
                target=(str(statement.true),),
                language="en",
                region=region(statement.row.text("country")),
                metadata={"unit": statement.question_id, "mode": mode} | _area(statement.row),
            )


def _area(row: SourceRow) -> dict[str, str]:
    code = region(row.text("country"))
    return {"area": AREAS[code]} if code in AREAS else {}


def _easy(folder: Path, on_bad: OnBad) -> Iterator[Item]:
    paths = find(folder, "CulturalBench-Easy*.csv", "*Easy*.parquet", "*Easy*/*.parquet")
    yield from collect(chain.from_iterable(map(read, paths)), _question, on_bad)


def _question(row: SourceRow) -> Item:
    choices = tuple(row.text(f"prompt_option_{letter}") for letter in "abcd")
    letter = row.text("answer").upper()
    if letter not in LETTERS:
        raise InputError(f"the answer is {letter!r}; expected A, B, C or D")
    question = row.text("prompt_question")
    return Item(
        id=row.text("question_idx", "question_id"),
        prompt=fill(read_prompt(__file__, "easy"), question=question, options=lettered(choices)),
        choices=choices,
        target=(choices[LETTERS.index(letter)],),
        language="en",
        region=region(row.text("country")),
        metadata={"mode": "multi" if COMPOUND in question else "single"} | _area(row),
    )


LETTERS = ascii_uppercase[:4]
COMPOUND = "select the option that include all the appropriate statements"
"""Stands in every Easy question with several true statements, whose options are such as "i, iii"."""


def _guessing(items: Sequence[Item]) -> dict[str, float]:
    """Return Easy without knowledge: a letter, and the option most like the country's name (question unseen).

    By character n-grams, and by the Universal Sentence Encoder where it is installed; both are extras.
    """
    guesses = {f"{NEAREST} (character n-grams)": country_guess(items)} if find_spec("sklearn") else {}
    if encoders.has_encoder():
        with suppress(ModelError):  # an installation that is damaged: the run is about a model, not about this
            guesses[f"{NEAREST} (Universal Sentence Encoder)"] = country_guess(items, "use")
    return guess_letter(items) | {name: value for name, value in guesses.items() if value is not None}


NEAREST = "option most like the country"


def country_guess(items: Sequence[Item], encoder: str | None = None) -> float | None:
    """Return how often the option most like the country's name is correct; None where no item has a region.

    The paper's heuristic (40.4%) compares embeddings, of a model that it does not name in what we have of it. `encoder`
    is `minilm` or `use` (`mores.search.encoders`); without it, character n-grams are compared.
    """
    placed = [item for item in items if item.region]
    if not placed:
        return None
    regions = [item.region or "" for item in placed for _ in item.choices]
    choices = [choice for item in placed for choice in item.choices]
    cosines = iter(country_cosines(choices, regions, embedding(encoder)))
    hits = 0.0
    for item in placed:
        likeness = np.array([next(cosines) for _ in item.choices])
        best = np.flatnonzero(likeness == likeness.max())  # drawn by lot: most options are not like it at all
        hits += fmean(item.choices[place] in item.target for place in best)
    return hits / len(placed)


def _coins(items: Sequence[Item]) -> dict[str, float]:
    """Return Hard without knowledge: a coin for every statement, and False for every one."""
    questions: dict[str, list[bool]] = defaultdict(list)
    for item in items:
        questions[item.metadata["unit"]].append("True" in item.target)
    if not questions:
        return {}
    statements = [true for answers in questions.values() for true in answers]
    return {
        "random": fmean(0.5 ** len(answers) for answers in questions.values()),
        "always False": fmean(not any(answers) for answers in questions.values()),
        "always False, statements": 1 - fmean(statements),
    }


EASY = Benchmark(
    name="culturalbench-easy",
    title="CulturalBench-Easy: one option of four",
    version="1",
    licence=SOURCE.licence,
    homepage=SOURCE.homepage,
    files="CulturalBench-Easy.csv",
    read=_easy,
    source="culturalbench",
    grade=grade_letter,
    candidates=letters,
    groupings=("area", "region", "mode"),
    topics=read_topics(Path(__file__).with_name("topics.toml")),
    references=_guessing,
    human=human_row,
    max_tokens=64,
    hub=SOURCE.hub,
    revision=REVISIONS["culturalbench"],
)
HARD = replace(
    EASY,
    name="culturalbench-hard",
    title="CulturalBench-Hard: four statements, all of which must be judged correctly",
    version="2",
    files="CulturalBench-Hard.csv or hard_true_false.json",
    read=_hard,
    grade=grade_truth,
    candidates=truths,
    references=_coins,
    max_tokens=16,
)
