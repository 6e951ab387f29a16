"""INCLUDE (Romanou et al. 2025): exam questions about a region or culture, in 44 languages."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from mores.benchmark.benchmark import Benchmark, OnBad
from mores.benchmark.choice import grade_letter, guess_letter, lettered, letters
from mores.culture import base_language
from mores.factory.sources.include import SOURCE
from mores.io.values import load_toml
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


NATIVE = "native"
_ENGLISH = read_prompt(__file__, "choice").partition("{question}")[0]


@cache
def _instructions() -> dict[str, list[str]]:
    return load_toml(Path(__file__).with_name("native.toml").read_bytes())


def _natively(item: Item) -> str:
    """Return the prompt with its instruction in the language of the question, as in the harness's `few_shot_og`."""
    tag = item.language or "en"
    known = _instructions().get(tag) or _instructions().get(base_language(tag))
    return item.prompt.replace(_ENGLISH, f"{known[0]}\n\n{known[1]}: ") if known else item.prompt


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
    variants=(NATIVE,),
    rewrites={NATIVE: _natively},
    hub=SOURCE.hub,
)
