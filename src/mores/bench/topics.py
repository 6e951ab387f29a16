"""Topics of questions, named by a model: `mores topics culturalbench-easy --model openai:NAME`."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from mores.bench.benchmark import Benchmark
from mores.bench.labels import QuestionLabels
from mores.bench.prompts import fill
from mores.bench.session import read_items
from mores.engine import Answer, Asker, Job
from mores.errors import ConfigError, InputError
from mores.metric.prompt import defuse, fence_mark
from mores.models import Message, Request
from mores.models.written import without_thoughts
from mores.types import Failure, FailureKind, Item, Sample

MOST_TOKENS = 512
"""A model may think aloud first."""
_NUMBER = re.compile(r"[\s*_`\"'(#]*(\d+)[\s*_`\"').:]*")


def read_topics(path: Path) -> dict[str, str]:
    """Names and descriptions of topics in a TOML file: `"Food" = "dishes, drinks"`."""
    try:
        topics: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f'{path}: {error}; expected lines such as "Food" = "dishes, drinks"') from error
    if len(topics) < 2 or not all(isinstance(text, str) for text in topics.values()):
        raise InputError(f'{path}: expected at least two lines such as "Food" = "dishes, drinks"')
    return topics


def topic_jobs(benchmark: Benchmark, items: Iterable[Item], topics: Mapping[str, str]) -> Iterator[Job]:
    """One call for each question."""
    seen: set[str] = set()
    for item in items:
        if (unit := benchmark.unit(item)) not in seen:
            seen.add(unit)
            yield Job(unit, Request((Message("user", _prompt(item, topics)),), MOST_TOKENS, logprobs=False))


def read_topic(answer: Answer, topics: Mapping[str, str]) -> QuestionLabels:
    """The topic whose number is the whole answer, or a failure."""
    if answer.completion is None:
        failure = answer.failure or Failure(kind=FailureKind.MODEL, reason="there is no answer")
        return QuestionLabels(id=answer.job.id, failure=failure)
    text = without_thoughts(answer.completion.text)
    match = _NUMBER.fullmatch(text)
    if match and 1 <= int(match[1]) <= len(topics):
        return QuestionLabels(id=answer.job.id, labels={"topic": list(topics)[int(match[1]) - 1]})
    reason = f"no topic in {text[:80]!r}; expected a number from 1 to {len(topics)} alone"
    return QuestionLabels(id=answer.job.id, failure=Failure(kind=FailureKind.PARSE, reason=reason))


def _prompt(item: Item, topics: Mapping[str, str]) -> str:
    listed = "\n".join(f"{number}. {name}: {text}" for number, (name, text) in enumerate(topics.items(), 1))
    mark = fence_mark(Sample(id=item.id, text=item.prompt))
    template = files("mores.bench").joinpath("topics.txt").read_text("utf-8").removesuffix("\n")
    return fill(template, topics=listed, question=defuse(item.prompt), mark=mark)


async def label_topics(
    benchmark: Benchmark,
    asker: Asker,
    out: Path,
    *,
    topics: Mapping[str, str] | None = None,
    data: Path | None = None,
    limit: int | None = None,
) -> Counter[str]:
    """Let a model sort the questions into topics, in a file of labels; how many each has, and "" those without one.

    The topics, with their descriptions, are the benchmark's unless others are given.
    """
    topics = topics or benchmark.topics
    if not topics:
        raise ConfigError(f"{benchmark.name} has no list of topics; give one in a TOML file", setting="topics")
    items = read_items(benchmark, data, limit, asker.progress)
    counts = dict.fromkeys(topics, 0) | {"": 0}

    def read(answer: Answer) -> QuestionLabels:
        labels = read_topic(answer, topics)
        counts[labels.labels.get("topic", "")] += 1
        return labels

    total = len({benchmark.unit(item) for item in items})
    jobs = topic_jobs(benchmark, items, topics)
    await asker.write(out, jobs, read, stage=f"{benchmark.name}: topics", total=total)
    return Counter(counts)
