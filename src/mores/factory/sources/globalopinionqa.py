"""GlobalOpinionQA (Durmus et al. 2023): survey questions and the answers of people in each country.

The most common answer is correct and the others wrong. Left out: questions about "our country", leaders and parties
(the release assigns them to countries that were never asked), non-answers (refused, do not know, volunteered), and
questions whose two most common answers are less than five points apart.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from mores.culture import region, region_name
from mores.errors import InputError
from mores.factory.items import Source, SourceItem, Task
from mores.factory.sources.files import find, read_all
from mores.factory.sources.rows import OnBad, SourceRow, collect, digest, items

CLEAR = 0.05
"""Minimum lead of the most common answer."""
SPELLINGS = {"Czech Rep.": "CZ", "Palest. ter.": "PS", "S. Africa": "ZA", "S. Korea": "KR", "Taiwan ROC": "TW"}

_MISPLACED = re.compile(
    r"\b(our country|survey country|countries like ours|presidents?|prime minister|PM|chancellor"
    r"|(political|each) leaders?|king|crown prince|obama|trump|bush|putin|bin laden|party|brotherhood)\b",
    re.IGNORECASE,
)
_NO_ANSWER = re.compile(
    r"don.?t know|refused|no answer|missing|not (available|asked|applicable)|\bDK\b|\bVOL|DO NOT READ|^[-\d. ]*$",
    re.IGNORECASE,
)
_SAMPLE = re.compile(r"(?<!\s)\s*\(([^()]*) sample\)$")


class Survey(NamedTuple):
    """A question, and the answers of people in a country."""

    question: str
    region: str
    ranked: tuple[tuple[float, str], ...]
    """Share and text of each answer, the most common first."""
    source: str = ""
    """The survey: `WVS` or `GAS`; empty in copies that do not say."""

    @property
    def answers(self) -> tuple[tuple[float, str], ...]:
        """The answers without "refused", "do not know" and the like."""
        return tuple(pair for pair in self.ranked if not _NO_ANSWER.search(pair[1]))

    @property
    def id(self) -> str:
        """Made of the question, its answers and the country."""
        return f"{digest(self.question, *sorted(text for _, text in self.answers))}:{self.region}"


def read_surveys(folder: Path, on_bad: OnBad) -> Iterator[Survey]:
    """Yield every question with several answers, once for each country."""
    yield from collect(_asked(folder, on_bad), _once(lambda survey: len(survey.answers) > 1), on_bad)


def _read(folder: Path, on_bad: OnBad) -> Iterator[SourceItem]:
    def is_clear(survey: Survey) -> bool:
        (most, text), (second, _), *_ = survey.ranked
        return most - second >= CLEAR and not _NO_ANSWER.search(text) and len(survey.answers) > 1

    make = _once(is_clear)
    yield from items(_asked(folder, on_bad), lambda row: _item(survey) if (survey := make(row)) else None, on_bad)


def _asked(folder: Path, on_bad: OnBad) -> list[SourceRow]:
    """Return one row per question and country; national samples come first, others only fill gaps."""
    rows = read_all(find(folder, "globalopinionqa*.json", "global_opinions*.csv", "*.parquet"))

    def is_partial(row: SourceRow) -> bool:
        sample = _SAMPLE.search(str(row.values["attribute"]))
        return bool(sample and sample[1][0] in "NO")

    return sorted(chain.from_iterable(collect(rows, _expand, on_bad)), key=is_partial)


def _once(is_wanted: Callable[[Survey], bool]) -> Callable[[SourceRow], Survey | None]:
    """Return a function that makes wanted surveys of rows, each question once for a country."""
    seen: set[tuple[str, str]] = set()

    def make(row: SourceRow) -> Survey | None:
        # Some copies write the options around the question.
        question = row.text("question").removeprefix("Question:").partition("\nOptions:")[0].strip()
        ranked = _ranked(row)
        if _MISPLACED.search(question):
            return None
        name = _SAMPLE.sub("", row.text("attribute"))
        source = str(row.values.get("source") or "")
        survey = Survey(question, region(SPELLINGS.get(name, name)), tuple(ranked), source)
        if not is_wanted(survey) or (survey.question, survey.region) in seen:
            return None
        seen.add((survey.question, survey.region))
        return survey

    return make


def _expand(row: SourceRow) -> list[SourceRow]:
    """Return one row per question and country; the Hub has one per question, with Python literals in its cells."""
    if "attribute" in row.values:
        row.text("attribute")
        return [row]
    row.text("question")  # some have none, which is one bad row and not one per country
    selections = row.text("selections")
    values = {**row.values, "options": _literal(row.text("options"))}
    shares = _literal(selections[selections.find("{") : selections.rfind("}") + 1])
    if not isinstance(shares, dict):
        raise InputError("'selections' is not an object of countries; expected the published columns")
    return [
        row.having({**values, "attribute": country, "gold_distribution": share}) for country, share in shares.items()
    ]


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise InputError("a cell that is not a list or object; expected the published columns") from error


def _item(survey: Survey) -> SourceItem:
    answer, *others = [text for _, text in survey.answers]
    return SourceItem(
        source="globalopinionqa",
        id=survey.id,
        task=Task.IMPERSONATION,
        question=survey.question,
        answer=answer,
        wrong=tuple(others),
        role=(("Country", region_name(survey.region)),),
        region=survey.region,
        language="en",
    )


def _ranked(row: SourceRow) -> list[tuple[float, str]]:
    """Return share and text of each answer, the most common first."""
    options, shares = row.list("options"), row.list("gold_distribution")
    if len(options) != len(shares) or len(options) < 2:
        raise InputError(f"{len(options)} options with {len(shares)} shares; correct or remove the row")
    if not all(isinstance(share, int | float) for share in shares):
        raise InputError("a share is not a number; correct or remove the row")
    pairs = [(float(share), str(option).strip()) for share, option in zip(shares, options, strict=True)]
    return sorted(pairs, key=lambda pair: -pair[0])


SOURCE = Source(
    name="globalopinionqa",
    title="GlobalOpinionQA: how people of a country answer surveys",
    task=Task.IMPERSONATION,
    licence="CC-BY-NC-SA-4.0",
    commercial=False,
    homepage="https://huggingface.co/datasets/Anthropic/llm_global_opinions",
    files="global_opinions.csv, or globalopinionqa*.json with one row per question and country",
    stratify="region",
    read=_read,
    no_facts="opinions of a survey's time",
    hub="Anthropic/llm_global_opinions",
)
