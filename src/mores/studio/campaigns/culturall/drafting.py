"""Drafts of many items at once, from datasets and pages, for the authors of a campaign (Section 2.2, Appendix C).

Excerpts are read, freed of duplicates, and chosen so that sources and regions are covered evenly. Where it is wanted, a
model translates each into the main language of its region (Figure 6). It makes an item of each (Figure 7 for datasets,
Figure 8 for pages) and names its region and topic (Figures 9 and 10). Drafts that say nearly the same are left out. The
file that is written is one that `mores studio import --stage create --authors` gives to the authors, who make items of
the drafts or discard them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from hashlib import blake2b
from itertools import zip_longest
from pathlib import Path
from typing import Literal, TypeVar

from mores.benchmark import benchmark
from mores.benchmark.session import read_items
from mores.culture import accepts, language_name, main_language, roll_up
from mores.engine import Answer, Asker, Counts, Job, make_asker
from mores.engine.estimate import Estimate, estimate
from mores.errors import ConfigError, InputError
from mores.factory import sources as datasets
from mores.formatting import count
from mores.io import JsonlWriter
from mores.language import detect
from mores.longanswer.collection.candidates import Candidate
from mores.longanswer.collection.duplicates import near_duplicates, same_as_earlier
from mores.models.base import Stop, Written
from mores.report.base.grid import Grid, make_grid
from mores.search.api import find_sources, known_language, read_all_texts
from mores.search.ground import cut
from mores.studio.campaigns.culturall.forms import CulturallSettings
from mores.studio.campaigns.culturall.tasks import (
    TOKENS,
    draft_request,
    label_requests,
    read_draft,
    read_region,
    read_topic,
    read_translation,
    translation_request,
    written_text,
)
from mores.studio.campaigns.culturall.topics import read_topics
from mores.studio.settings import DraftSettings
from mores.types import Failure, FailureKind, Record

T = TypeVar("T")
PAGES = "pages:"
"""Before a source whose texts are pages, not questions."""
LONGEST, SHORTEST = 8000, 80
"""Characters of an excerpt; a page that has fewer says too little."""
USUAL_TOKENS = 350
"""About how long a draft is."""


class Excerpt(Record):
    """A text from which an item is drafted."""

    id: str
    task: Literal["data", "document"]
    text: str
    origin: str
    """The dataset or input that it is from."""
    link: str = ""
    language: str = ""
    region: str = ""


class DraftedItem(Record):
    """A drafted item, as a row that the studio imports."""

    region: str
    language: str
    theme: str
    """The topic."""
    source: str
    excerpt: str
    link: str
    scenario: str
    question: str
    answer: str
    explanation: str


class Drafting(Record):
    """The outcome of the excerpts."""

    excerpts: int
    """Those that were read."""
    duplicates: int
    """Left out as the same, or nearly the same, as an earlier one."""
    asked: int
    drafts: int
    """Those that were written to the file."""
    repeated: int
    """Drafts that say nearly the same as an earlier one, and are left out."""
    failures: dict[str, int]
    """Why others could not be drafted or labelled."""
    by: dict[str, dict[str, int]]
    """Drafts by source, language, region and topic."""
    uncovered: tuple[str, ...]
    """Topics without a draft."""
    path: str


@dataclass(frozen=True)
class DraftJob:
    """Excerpts to draft from, ready to be asked about."""

    settings: DraftSettings
    campaign: CulturallSettings
    asker: Asker

    async def choose(self) -> tuple[list[Excerpt], int, int]:
        """Return the chosen excerpts, how many were read, and how many are duplicates."""
        excerpts = [excerpt for name in dict.fromkeys(self.settings.sources) for excerpt in await self._read(name)]
        if not excerpts:
            raise InputError("the sources have no texts to draft from")
        candidates = [_candidate(e.id, e.text, e.language) for e in excerpts]
        same = same_as_earlier(candidates)
        same |= {pair.id: pair.of for pair in near_duplicates(c for c in candidates if c.id not in same)}
        kept = [excerpt for excerpt in excerpts if excerpt.id not in same]
        return spread_evenly(kept, self.settings.limit), len(excerpts), len(same)

    async def _read(self, name: str) -> list[Excerpt]:
        if name.startswith(PAGES):
            return [excerpt async for excerpt in self._pages(name.removeprefix(PAGES))]
        if name in datasets.names():
            folder, progress = datasets.folder_of(name, self.settings.data), self.asker.progress
            items = datasets.load(name, folder, lambda error: progress.note(f"left out: {error}"))
            rows = [(item.id, item.question, item.options, item.answer, item.language, item.region) for item in items]
        else:
            found = read_items(benchmark(name), self.settings.data, None, self.asker.progress)
            rows = [(i.id, i.prompt, i.choices, "; ".join(i.target), i.language, i.region) for i in found]
        return [
            Excerpt(
                id=f"{name}/{id_}",
                task="data",
                text=cut("\n".join([question, *options, f"Answer: {answer}"]), LONGEST),
                origin=name,
                language=language or "",
                region=region or "",
            )
            for id_, question, options, answer, language, region in rows
        ]

    async def _pages(self, name: str) -> AsyncIterator[Excerpt]:
        async with aclosing(read_all_texts(find_sources([name]), lambda _: None, self.asker.progress)) as texts:
            number = 0
            async for text in texts:
                whole = text.whole
                if len(whole.text.strip()) < SHORTEST:
                    continue
                number += 1
                yield Excerpt(
                    id=f"{name}/{number}",
                    task="document",
                    text=cut(whole.text.strip(), LONGEST),
                    origin=name,
                    link=whole.source if whole.source.startswith(("http://", "https://")) else "",
                    language=known_language(whole.language) or detect([whole.text])[0].language or "",
                    region=whole.region,
                )

    async def estimate(self) -> Estimate:
        """Return what the model would be asked, and the cost, labels included."""
        excerpts, _, _ = await self.choose()
        translations = [job for excerpt in excerpts for job in self._translations(excerpt)]
        drafts = estimate(self.asker, map(_draft_job, excerpts), TOKENS, USUAL_TOKENS)
        blank = dict.fromkeys(("scenario", "question"), "word " * (USUAL_TOKENS // 3))
        jobs = [job for excerpt in excerpts for job in _label_jobs(excerpt, blank, self.campaign)]
        labels = estimate(self.asker, jobs, 200, 5)
        parts = (drafts, labels, estimate(self.asker, translations, LONGEST, USUAL_TOKENS))
        names = ("calls", "known", "prompt_tokens", "completion_tokens")
        sums = {name: sum(getattr(part, name) for part in parts) for name in names}
        costs = {
            name: None if getattr(drafts, name) is None else sum(getattr(part, name) or 0.0 for part in parts)
            for name in ("cost", "most")
        }
        return Estimate(**sums, **costs)

    async def _translate(self, excerpts: list[Excerpt], failures: Counter[str]) -> list[Excerpt]:
        """Return the excerpts in the main languages of their regions; those that cannot be translated are left out."""
        jobs = {job.id: job for excerpt in excerpts for job in self._translations(excerpt)}
        by_id: dict[str, Excerpt] = {excerpt.id: excerpt for excerpt in excerpts if excerpt.id not in jobs}
        originals = {excerpt.id: excerpt for excerpt in excerpts}
        async with self.asker.progress.stage("translating", len(jobs), self.asker.price) as counts:
            async for name, text in self._ask(jobs.values(), _read_translation, counts, failures):
                changes = {"text": text, "language": main_language(originals[name].region)}
                by_id[name] = originals[name].model_copy(update=changes)
        return [by_id[excerpt.id] for excerpt in excerpts if excerpt.id in by_id]

    def _translations(self, excerpt: Excerpt) -> Iterator[Job]:
        """Yield the translation of an excerpt that is not in the main language of its region."""
        target = main_language(excerpt.region) if excerpt.region and self.settings.translate else ""
        if target and not accepts(target, excerpt.language or "und"):
            yield Job(excerpt.id, translation_request(excerpt.text, language_name(target), LONGEST), data=excerpt)

    async def run(self) -> Drafting:
        """Draft an item from each chosen excerpt, label it, and write what is left without duplicates."""
        excerpts, read, duplicates = await self.choose()
        asker, failures, chosen = self.asker, Counter[str](), len(excerpts)
        if self.settings.translate:
            excerpts = await self._translate(excerpts, failures)
        labels: dict[str, dict[str, str]] = defaultdict(dict)
        by_id = {excerpt.id: excerpt for excerpt in excerpts}
        async with asker.progress.stage("drafting", len(excerpts), asker.price) as counts:
            asked = self._ask(map(_draft_job, excerpts), _read_draft, counts, failures)
            parts = {name: parts async for name, parts in asked}
        jobs = [job for name, draft in parts.items() for job in _label_jobs(by_id[name], draft, self.campaign)]
        async with asker.progress.stage("regions and topics", len(jobs), asker.price) as counts:
            async for name, label in self._ask(jobs, self._read_label, counts, failures):
                kind, _, id_ = name.partition(" ")
                labels[id_][kind] = label
        drafts = {name: _draft(by_id[name], draft, labels[name]) for name, draft in parts.items()}
        said = (_candidate(name, f"{d.scenario}\n{d.question}", d.language) for name, d in drafts.items())
        repeated = {pair.id for pair in near_duplicates(said)}
        kept = {name: draft for name, draft in drafts.items() if name not in repeated}
        with JsonlWriter(self.settings.out) as writer:
            for draft in kept.values():
                writer.write(draft)
        by = {
            "source": Counter(by_id[name].origin for name in kept),
            "language": Counter(draft.language for draft in kept.values()),
            "region": Counter(draft.region for draft in kept.values()),
            "topic": Counter(draft.theme for draft in kept.values()),
        }
        return Drafting(
            excerpts=read,
            duplicates=duplicates,
            asked=chosen,
            drafts=len(kept),
            repeated=len(repeated),
            failures=dict(failures.most_common()),
            by={name: dict(counts.most_common()) for name, counts in by.items()},
            uncovered=tuple(topic.name for topic in self.campaign.topics if topic.name not in by["topic"]),
            path=str(self.settings.out),
        )

    def _read_label(self, name: str, reply: Written) -> str:
        kind = name.partition(" ")[0]
        try:
            text = written_text(reply)
            return read_region(text) if kind == "region" else read_topic(text, self.campaign)
        except InputError as error:
            raise InputError(f"the {kind} cannot be read; authors choose it") from error

    async def _ask(
        self, jobs: Iterable[Job], read: Callable[[str, Written], T], counts: Counts, failures: Counter[str]
    ) -> AsyncIterator[tuple[str, T]]:
        """Yield the id of each job with what `read` makes of the answer; other outcomes are counted."""

        def made(answer: Answer) -> T | Failure:
            reply = answer.read(Stop.LENGTH)
            if isinstance(reply, Failure):
                return reply
            try:
                return read(answer.job.id, reply)
            except InputError as error:
                return Failure(kind=FailureKind.PARSE, reason=str(error))

        async with aclosing(self.asker.ask(jobs, counts=counts, read=made)) as answers:
            async for answer in answers:
                outcome = made(answer)
                if isinstance(outcome, Failure):
                    failures[outcome.reason] += 1
                else:
                    yield answer.job.id, outcome


def _read_translation(_: str, reply: Written) -> str:
    try:
        return read_translation(written_text(reply))
    except InputError as error:
        raise InputError(f"the translation cannot be read: {error}") from error


def _read_draft(_: str, reply: Written) -> dict[str, str]:
    try:
        return read_draft(written_text(reply))
    except InputError as error:
        raise InputError(f"the draft cannot be read: {error}") from error


def draft_tables(done: Drafting) -> list[Grid | str]:
    """Return the drafts by source, language, region and topic, what is missing, and the headline."""
    tables = [
        make_grid(f"Drafts by {name}", (name, "drafts"), list(counts.items())) for name, counts in done.by.items()
    ]
    lines = [f"{number:,}: {reason}" for reason, number in done.failures.items()]
    lines += [f"topics without a draft: {', '.join(done.uncovered)}"] if done.uncovered else []
    left = f"{done.duplicates:,} of {done.excerpts:,} excerpts and {done.repeated:,} drafts are duplicates"
    return [*tables, *lines, left, f"{done.drafts:,} drafts of {count(done.asked, 'excerpt')} in {done.path}"]


def open_drafting(settings: DraftSettings) -> DraftJob:
    """Open the model that drafts; ConfigError where there is nothing to draft from."""
    if not settings.sources:
        raise ConfigError("name datasets, tables of questions, or pages:INPUT", setting="sources")
    named = read_topics({"topics": str(settings.topics)}, Path()) if settings.topics else {}
    campaign = CulturallSettings.model_validate({"title": "Drafts", **named})
    return DraftJob(settings, campaign, make_asker(settings.model, settings))


def spread_evenly(excerpts: Sequence[Excerpt], limit: int) -> list[Excerpt]:
    """Return at most so many excerpts, one after another of each source, and within it of each country, at random."""

    def draw(excerpt: Excerpt) -> bytes:
        return blake2b(excerpt.id.encode(errors="replace"), digest_size=8).digest()

    cells: dict[str, dict[str, list[Excerpt]]] = defaultdict(lambda: defaultdict(list))
    for excerpt in sorted(excerpts, key=draw):
        cells[excerpt.origin][roll_up(excerpt.region)[0] if excerpt.region else ""].append(excerpt)
    by_source = [_in_turn(list(countries.values())) for countries in cells.values()]
    return list(_in_turn([list(rows) for rows in by_source]))[:limit]


def _in_turn(lists: Sequence[Sequence[Excerpt]]) -> Iterator[Excerpt]:
    return (excerpt for row in zip_longest(*lists) for excerpt in row if excerpt is not None)


def _candidate(id_: str, text: str, language: str) -> Candidate:
    return Candidate(
        id=id_, question=text, language=language, language_name=language_name(language) if language else ""
    )


def _draft_job(excerpt: Excerpt) -> Job:
    return Job(excerpt.id, draft_request(excerpt.task, excerpt.text), data=excerpt)


def _label_jobs(excerpt: Excerpt, draft: dict[str, str], campaign: CulturallSettings) -> list[Job]:
    """Return the questions about a draft: its topic, and its region where the source does not say it."""
    asked = label_requests({name: draft[name] for name in ("scenario", "question")}, campaign)
    return [
        Job(f"{kind} {excerpt.id}", request, data=excerpt)
        for kind, request in asked.items()
        if kind == "topic" or not excerpt.region
    ]


def _draft(excerpt: Excerpt, parts: dict[str, str], labels: dict[str, str]) -> DraftedItem:
    return DraftedItem(
        region=excerpt.region or labels.get("region", ""),
        language=excerpt.language,
        theme=labels.get("topic", ""),
        source=excerpt.task,
        excerpt=excerpt.text,
        link=excerpt.link,
        **parts,
    )
