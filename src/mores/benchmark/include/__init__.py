"""INCLUDE (Romanou et al. 2025): exam questions about a region or culture, in 44 languages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mores.benchmark.benchmark import Benchmark, OnBad
from mores.benchmark.choice import grade_letter, guess_letter, lettered, letters
from mores.factory.sources.include import SOURCE
from mores.prompts import fill, read_prompt
from mores.types import Item


def _read(folder: Path, on_bad: OnBad) -> Iterator[Item]:
    for item in SOURCE.read(folder, on_bad):
        yield Item(
            id=item.id,
            prompt=fill(read_prompt(__file__, "choice"), question=item.question, options=lettered(item.options)),
            choices=item.options,
            target=(item.answer,),
            language=item.language,
            region=item.region,
            topic=item.topic,
        )


INCLUDE = Benchmark(
    name="include",
    title="INCLUDE: exam questions with regional knowledge, one option of four",
    version="1",
    licence=SOURCE.licence,
    homepage=SOURCE.homepage,
    files=SOURCE.files,
    read=_read,
    source="include",
    grade=grade_letter,
    groupings=("language", "region", "topic"),
    candidates=letters,
    references=guess_letter,
    max_tokens=64,
    hub=SOURCE.hub,
)
