"""CaLMQA (Arora et al. 2025): long answers to cultural questions in 23 languages: surface, facts and relevance.

`mores bench calmqa --model openai:NAME --judge openai:OTHER --facts serper`
"""

from __future__ import annotations

import re

from mores.benchmark.benchmark import Benchmark
from mores.factory.sources import REVISIONS
from mores.factory.sources.calmqa import SOURCE, CalmqaQuestion, read_entries
from mores.longanswer.records import LongAnswer, QuestionKind
from mores.longanswer.summary import resource_level
from mores.types import Item, Response

_BREAKS = re.compile(r"\n+")


def _item(entry: CalmqaQuestion) -> Item:
    level = resource_level(entry.language)
    kind = QuestionKind.SPECIFIC if entry.specific else QuestionKind.AGNOSTIC
    metadata = {"kind": kind.value, "english": entry.english}
    return Item(
        id=entry.id,
        prompt=_BREAKS.sub("\n", entry.question),
        language=entry.language,
        topic=entry.category,
        metadata={name: text for name, text in (metadata | {"resources": level}).items() if text},
    )


def long_answer(item: Item, response: Response) -> LongAnswer:
    """Return the answer of a model, ready to be appraised."""
    return LongAnswer(
        id=item.id,
        question=item.prompt,
        answer=response.text,
        language=item.language or "und",
        model=response.model,
        kind=QuestionKind(item.metadata["kind"]),
        topic=item.topic,
        question_english=item.metadata.get("english"),
        failure=response.failure,
    )


CALMQA = Benchmark(
    name="calmqa",
    title="CaLMQA: long answers in 23 languages",
    version="1",
    licence=SOURCE.licence,
    homepage=SOURCE.homepage,
    files="dataset-<specific|agnostic>-<language>.json(.gz) of the authors' repository, or the Hub's Parquet files",
    read=lambda folder, on_bad: map(_item, read_entries(folder, on_bad)),
    source="calmqa",
    long_answer=long_answer,
    figures={},
    groupings=("kind", "language", "resources", "topic"),
    max_tokens=2048,
    hub=SOURCE.hub,
    revision=REVISIONS["calmqa"],
)
