"""BLEnD (Myung et al. 2024): everyday knowledge of 16 regions, as a choice of options or as a short answer."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from mores.bench.benchmark import Benchmark, Graded, Label, OnBad
from mores.bench.choice import grade_letter, guess_letter, lettered, letters
from mores.bench.prompts import fill, prompt
from mores.factory.items import SourceItem
from mores.factory.sources.blend import SOURCE
from mores.models.written import without_thoughts
from mores.types import Item

ARTICLES = {"a", "an", "the"}
_PLURAL = re.compile(r"(?<=[^\W\d_]{2})(es|e|s)$")


def _reader(make: Callable[[SourceItem], Item]) -> Callable[[Path, OnBad], Iterator[Item]]:
    return lambda folder, on_bad: map(make, SOURCE.read(folder, on_bad))


def _choice(item: SourceItem) -> Item:
    text = fill(prompt("blend", "choice"), question=item.question, options=lettered(item.options))
    return Item(id=item.id, prompt=text, choices=item.options, target=(item.answer,), **_place(item))


def _short(item: SourceItem) -> Item:
    text = fill(prompt("blend", "short"), question=item.question)
    return Item(id=item.id, prompt=text, target=(item.answer, *item.also_right), **_place(item))


def _place(item: SourceItem) -> dict[str, object]:
    """BLEnD's own names too, for three of its regions are parts of a country."""
    place = item.id.rpartition(":")[2]
    return {"language": item.language, "region": item.region, "metadata": {"place": place}}


def grade_short(item: Item, text: str) -> Graded:
    """Right when the words of an accepted answer stand in it, one after the other."""
    said = _words(without_thoughts(text))
    if not said.strip():
        return Graded(label=Label.NOT_ATTEMPTED)
    found = next((target for target in item.target if (words := _words(target)).strip() and words in said), None)
    return Graded(label=Label.INCORRECT if found is None else Label.CORRECT, read=found)


def _words(text: str) -> str:
    """Words with a blank around each: without case, accents, articles, marks and plurals."""
    bare = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    words = re.findall(r"\w+", bare.casefold())
    telling = [word for word in words if word not in ARTICLES] or words  # the grade "A*" is no article
    return f" {' '.join(_PLURAL.sub('', word) for word in telling)} "


CHOICE = Benchmark(
    name="blend",
    title="BLEnD: everyday knowledge, one option of up to four",
    version="1",
    licence=SOURCE.licence,
    homepage=SOURCE.homepage,
    files=SOURCE.files,
    read=_reader(_choice),
    source="blend",
    grade=grade_letter,
    groupings=("place", "region"),
    candidates=letters,
    references=guess_letter,
    max_tokens=64,
    hub=SOURCE.hub,
)
SHORT = replace(
    CHOICE,
    name="blend-short",
    title="BLEnD: everyday knowledge, short answers",
    read=_reader(_short),
    grade=grade_short,
    candidates=None,
    references=lambda _: {},
)
