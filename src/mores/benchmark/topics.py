"""Topics of questions, named by a model: `mores topics culturalbench-easy --model openai:NAME`.

A run has `topics.jsonl`, one `QuestionLabels` per line, which `mores bench --labels RUN` reads, and `regions.jsonl`,
one `RegionTopics` per line: what people of each region ask about.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from mores.benchmark import benchmark as find_benchmark
from mores.benchmark import reference
from mores.benchmark.benchmark import Benchmark
from mores.benchmark.labels import TOPICS, QuestionLabels, read_topics
from mores.benchmark.run import data_hash
from mores.benchmark.session import read_items
from mores.benchmark.settings import TopicsSettings
from mores.culture import region_name
from mores.engine import Answer, Asker, Job
from mores.errors import ConfigError
from mores.formatting import count
from mores.io import JsonlWriter
from mores.metric.prompt import defuse, fence_mark
from mores.models import Message, Request
from mores.models.configured import configuration_of
from mores.prompts import fill, hash_prompts, read_prompt
from mores.run import Plan, Run, start_run
from mores.signature import sign
from mores.stats.results import share_result
from mores.types import Failure, FailureKind, Item, Record, Result, Sample

MOST_TOKENS = 512
"""A model may think aloud first."""
_NUMBER = re.compile(r"[\s*_`\"'(#]*(\d{1,9})[\s*_`\"').:]*")


REGIONS = "regions.jsonl"
"""The topics of each region in a run."""


class RegionTopics(Record):
    """The topics of the questions about a region (CulturalBench: Italy has 38.9% food)."""

    region: str
    shares: dict[str, Result]
    """Of the questions with a topic, the largest first, and only topics that occur; those without are unscored."""


class TopicsRun(Run):
    """A run of `mores topics`: each question with its topic, or why it has none."""

    def labels(self) -> Iterator[QuestionLabels]:
        """Return the topic of each question."""
        return self.records(TOPICS, QuestionLabels)

    def regions(self) -> list[RegionTopics]:
        """Return the topics of each region that has questions with a topic; none for runs of versions before 0.3."""
        return list(self.records(REGIONS, RegionTopics)) if (self.path / REGIONS).exists() else []

    @cached_property
    def counts(self) -> Counter[str]:
        """The number of questions of each topic, and under "" of those without one."""
        names = self.manifest.settings["topics"]
        assert isinstance(names, list), "the plan lists them"
        counts = Counter({str(name): 0 for name in (*names, "")})
        counts.update(each.labels.get("topic", "") for each in self.labels())
        return counts


def show_counts(name: str, counts: Counter[str]) -> str:
    """Return the result in one line."""
    total = counts.total()
    return f"{name}: {count(total - counts[''])} of {count(total)} questions sorted"


def topic_jobs(benchmark: Benchmark, items: Iterable[Item], topics: Mapping[str, str]) -> Iterator[Job]:
    """Yield one call for each question."""
    seen: set[str] = set()
    listed = "\n".join(f"{number}. {name}: {text}" for number, (name, text) in enumerate(topics.items(), 1))
    for item in items:
        if (unit := benchmark.unit(item)) not in seen:
            seen.add(unit)
            mark = fence_mark(Sample(id=item.id, text=item.prompt))
            text = fill(read_prompt(__file__, "topics"), topics=listed, question=defuse(item.prompt), mark=mark)
            yield Job(unit, Request((Message("user", text),), MOST_TOKENS, logprobs=False))


def read_topic(answer: Answer, topics: Mapping[str, str]) -> QuestionLabels:
    """Return the topic whose number is the whole answer, or a failure."""
    reply = answer.read()
    if isinstance(reply, Failure):
        return QuestionLabels(id=answer.job.id, failure=reply)
    text = reply.text
    match = _NUMBER.fullmatch(text)
    if match and 1 <= int(match[1]) <= len(topics):
        return QuestionLabels(id=answer.job.id, labels={"topic": list(topics)[int(match[1]) - 1]})
    reason = f"no topic in {text[:80]!r}; expected a number from 1 to {len(topics)} alone"
    return QuestionLabels(id=answer.job.id, failure=Failure(kind=FailureKind.PARSE, reason=reason))


def count_regions(
    benchmark: Benchmark, items: Iterable[Item], labels: Iterable[QuestionLabels]
) -> Iterator[RegionTopics]:
    """Yield the topics of each region, in the order of their names; a question counts once."""
    region_of = {benchmark.unit(item): benchmark.group(item, "region") for item in items}
    counts: dict[str, Counter[str]] = {}
    for each in labels:
        if region := region_of.get(each.id):
            counts.setdefault(region, Counter())[each.labels.get("topic", "")] += 1
    for region, topics in sorted(counts.items(), key=lambda pair: region_name(pair[0])):
        unscored = topics.pop("", 0)
        if n := topics.total():
            shares = {topic: share_result(topic, k, n, unscored) for topic, k in topics.most_common()}
            yield RegionTopics(region=region, shares=shares)


async def label_topics(settings: TopicsSettings, asker: Asker) -> TopicsRun:
    """Let a model that is open already sort the questions into topics; the run continues where it stopped.

    The topics, with their descriptions, are the benchmark's unless a file has others.
    """
    benchmark, limit, out = find_benchmark(settings.benchmark), settings.limit, settings.out
    topics = read_topics(settings.topics) if settings.topics else benchmark.topics
    if not topics:
        raise ConfigError(f"{benchmark.name} has no list of topics; give one in a TOML file", setting="topics")
    items = read_items(benchmark, settings.data, limit, asker.progress)
    listed = "\n".join(f"{name}: {text}" for name, text in topics.items())
    signature = sign(
        {
            "task": f"topics.{benchmark.name}.{benchmark.version}",
            "data": f"{data_hash(items)}.{len(items)}",
            "topics": f"{hash_prompts(listed)}.{len(topics)}",
            "model": asker.model.identity,
            "prompt": hash_prompts(read_prompt(__file__, "topics")),
            "decoding": f"max{MOST_TOKENS}",
        }
    )
    plan = Plan(
        kind="topics", name=benchmark.name, model=asker.model.name, signature=signature,
        configuration=configuration_of(asker.model),
        settings={"benchmark": reference(benchmark), "topics": list(topics), "limit": limit},
    )  # fmt: skip
    with start_run(Path(out or "topics"), plan, numbered=out is None, progress=asker.progress) as run:
        total = len({benchmark.unit(item) for item in items})
        jobs = topic_jobs(benchmark, items, topics)
        stage = f"{benchmark.name}: topics"
        await asker.write(run.path / TOPICS, jobs, lambda answer: read_topic(answer, topics), stage=stage, total=total)
        done = TopicsRun(run.path, run.manifest)
        with JsonlWriter(run.path / REGIONS) as writer:
            for region in count_regions(benchmark, items, done.labels()):
                writer.write(region)
        failures = Counter(str(each.failure.kind) for each in done.labels() if each.failure)
        headline = show_counts(benchmark.name, done.counts)
        files = {TOPICS: "QuestionLabels", REGIONS: "RegionTopics"}
        run.finish(files=files, failures=failures, headline=headline)
    return TopicsRun(run.path, run.manifest)
