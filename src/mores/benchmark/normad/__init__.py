"""NormAd (Rao et al. 2025): whether what happens in a story is acceptable in a country: yes, no, or neutral."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from mores.benchmark.benchmark import RELEASE, Benchmark, Graded, Label, OnBad
from mores.culture import region, region_name
from mores.errors import InputError
from mores.factory.sources import REVISIONS
from mores.factory.sources.files import find, read_all
from mores.factory.sources.normad import SOURCE, is_corrected
from mores.factory.sources.rows import SourceRow, collect, digest
from mores.prompts import fill, read_prompt
from mores.reading import without_thoughts
from mores.types import Failure, FailureKind, Item

LABELS = ("yes", "no", "neutral")
NEUTRAL = "neutral"
RULE = "rule"
FIRST, CORRECTED = "first", "corrected"
_STATED = re.compile(
    r"(?:\A|\banswer(?:\s+is)?\s*+:?)[\s\"'*_`(\[]*+(yes|no|neutral)[\"'*_`)\]]*(?=\s*(?:\Z|[.,;:!\n–—-]))",
    re.IGNORECASE,
)


def _read(folder: Path, on_bad: OnBad) -> Iterator[Item]:
    rows = list(read_all(find(folder, "normad*.jsonl", "*ormad*.csv", "*.csv", "*.parquet")))
    corrected = is_corrected([row for row in rows if isinstance(row, SourceRow)])
    release = CORRECTED if corrected else FIRST
    for item in collect(rows, _item, on_bad):
        if corrected or item.target != (NEUTRAL,):
            yield item.model_copy(update={"metadata": item.metadata | {RELEASE: release}})


def _item(row: SourceRow) -> Item:
    """Return an item as the factory's source has it, and of neutral rows too."""
    label = row.text("Gold Label").lower()
    if label not in LABELS:
        raise InputError(f"Gold Label {label!r} is none of yes, no, neutral; correct or remove the row")
    place, story = region(row.text("Country").replace("_", " ")), row.text("Story")
    country = region_name(place)
    by_rule = fill(read_prompt(__file__, "rule"), country=country, story=story, rule=row.text("Rule-of-Thumb"))
    return Item(
        id=f"{place}:{digest(story)}",
        prompt=fill(read_prompt(__file__, "country"), country=country, story=story),
        target=(label,),
        language="en",
        region=place,
        topic=row.maybe("Subaxis", "Axis"),
        metadata={"label": label, "variants": {RULE: by_rule}},
    )


def grade(item: Item, text: str) -> Graded | Failure:
    """Accept the target; unscored when it says none of the three words as its answer, or several."""
    answer = without_thoughts(text)
    words = {word.lower() for word in _STATED.findall(answer)}
    if len(words) != 1:
        return Failure(
            kind=FailureKind.PARSE, reason=f"no single answer in {answer[:80]!r}; expected yes, no or neutral"
        )
    word = words.pop()
    return Graded(label=Label.CORRECT if word in item.target else Label.INCORRECT, read=word)


def _about(items: Sequence[Item]) -> str:
    if any(item.metadata[RELEASE] == CORRECTED for item in items):
        return "these are the data of the corrected release, with neutral stories"
    return (
        "these are the data of the first release, whose neutral stories name a wrong country: they are left out; "
        "the authors' repository (v2_fix_neutral) makes the corrected one"
    )


def _guessing(items: Sequence[Item]) -> dict[str, float]:
    """Guess without knowledge: one of the words that are asked for, and the most common one for every story."""
    if not items:
        return {}
    (common, count), *_ = Counter(item.target[0] for item in items).most_common()
    return {"random": 1 / len(LABELS), f"always {common}": count / len(items)}


NORMAD = Benchmark(
    name="normad",
    title="NormAd: what is acceptable in 75 countries: yes, no or neutral",
    version="2",
    licence=SOURCE.licence,
    homepage=SOURCE.homepage,
    files=SOURCE.files,
    read=_read,
    source="normad",
    grade=grade,
    groupings=("label", "region", "topic"),
    references=_guessing,
    max_tokens=64,
    hub=SOURCE.hub,
    revision=REVISIONS["normad"],
    variants=(RULE,),
    about=_about,
)
