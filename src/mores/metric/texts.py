"""Files of texts: checked as a whole before anything is sent, then looked up and judged."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from sys import maxsize
from tempfile import TemporaryDirectory

from mores.engine import Counts
from mores.engine.estimate import Estimate, estimate
from mores.errors import ConfigError, InputError
from mores.formatting import count, first_problems, money
from mores.io import JsonlWriter, TableReport, check_samples, read_records, read_samples, spool
from mores.metric.metric import Metric
from mores.metric.prompt import NO_PLACE
from mores.metric.settings import EvidenceSettings, ScoreFileSettings
from mores.models.base import wants_evidence
from mores.registry import name_of
from mores.search import Options as SearchOptions
from mores.search import Search, ground, open_search, search_cost, search_or_corpus
from mores.search.ground import CHARACTERS, nearness, searches_sentences
from mores.types import DEFAULT_INSTRUCTION, Evidence, Judgement, Sample


@dataclass(frozen=True)
class Texts:
    """The texts of a file, which can be read again and again."""

    name: str
    path: Path
    format: str | None
    count: int
    bad: int
    """Rows that cannot be read and are left out."""
    columns: Mapping[str, str] | None = None
    """The table's names of our columns, where they were given."""
    report: TableReport | None = None
    """What was read of the table."""
    dialogue: bool = False
    """The texts are whole conversations."""
    seen: TextHash | None = None
    """Their hash, where they have been read."""
    grounded: Path | None = None
    """The same texts with what was looked up about them."""

    def find_columns(self, names: Iterable[str]) -> list[str]:
        """Return the columns that a person means; ConfigError where there is none of that name."""
        from mores.metric.groups import find_column  # numpy, which most runs do not need

        kept, read = (self.report.kept, self.report.columns) if self.report else ((), {})
        return [find_column(name, kept, {ours: theirs[0] for ours, theirs in read.items()}) for name in names]

    def samples(self) -> Iterator[Sample]:
        """Return the texts that were there at the check, also when the file has grown since."""
        if self.grounded:
            return read_records(self.grounded, Sample)
        on_bad = (lambda _: None) if self.bad else None
        samples = read_samples(
            self.path, format=self.format, columns=self.columns, on_bad=on_bad, dialogue=self.dialogue
        )
        return islice(samples, self.count)

    def revision(self) -> str:
        """Return a hash that changes when a text does, whatever the format of the file."""
        if (seen := self.seen) is None:
            seen = TextHash()
            for sample in self.samples():
                seen.add(sample)
        return f"{seen.digest.hexdigest()[:12]}.{self.count}"


class TextHash:
    """A hash of texts, of the first ones where there is a limit."""

    def __init__(self, limit: int | None = None) -> None:
        self.digest, self._left = sha256(), limit or maxsize

    def add(self, sample: Sample) -> None:
        """Add a text, unless there are enough."""
        if self._left > 0:
            self._left -= 1
            fields = sample.id, sample.instruction, sample.text, sample.language, sample.region, sample.evidence
            whole = (*fields, sample.turns) if sample.turns else fields
            self.digest.update(repr(whole).encode(errors="surrogatepass"))


@contextmanager
def open_texts(texts: str, settings: ScoreFileSettings) -> Iterator[Texts]:
    """Open the texts of a file, or of standard input for `-`; it is read once, so that a bad row is found at once."""
    format_, columns, skip_bad, progress = settings.format, settings.columns, settings.skip_bad, settings.progress
    with spool(texts) as path:
        seen = TextHash(settings.limit)
        check = check_samples(path, format=format_, columns=columns, dialogue=settings.dialogue, watch=seen.add)
        if not check.report.is_plain:
            progress.note(str(check.report))
        if wrong := check.bad + check.repeated:
            lines = first_problems(check.problems, len(check.problems), total=wrong)
            if check.repeated or not skip_bad:
                fix = "give every text a different id" if check.repeated else "correct them, or leave them out"
                text = f"{texts} has bad rows, so nothing was sent; {fix}:{lines}"
                raise InputError(text, setting="" if check.repeated else "skip_bad" if check.count else "columns")
            progress.note(f"left out {count(wrong, 'bad row')}:{lines}")
        if not check.count:
            raise InputError(f"{texts}: contains no text")
        number = min(check.count, settings.limit or check.count)
        if check.without_instruction:
            some = f"{count(check.without_instruction)} of {count(check.count, 'text')}"
            asked = check.report.unread and not check.report.columns.get("instruction")
            fix = "; if a column has it, name it: columns, such as instruction=Prompt" if asked else ""
            progress.note(f"no instruction in {some}: the judge is told “{DEFAULT_INSTRUCTION}”{fix}")
        name = "standard input" if texts == "-" else texts
        yield Texts(name, path, format_, number, check.bad, columns, check.report, settings.dialogue, seen)


@dataclass(frozen=True)
class Lookup:
    """The place where evidence for the texts is looked up, and how much of it."""

    search: str | Search
    k: int = 3
    is_default: bool = False
    """Nobody asked for it: texts that all bring evidence are judged by that alone."""

    @property
    def name(self) -> str:
        """The search as the user named it."""
        return name_of(self.search)

    def __str__(self) -> str:
        return f"{self.name}, at most {self.k} passages"

    def cost(self, texts: Texts) -> float:
        """Return the US dollars at most: results that are kept of earlier searches cost nothing."""
        return search_cost(self.search, self.searches(texts), self.k)

    def for_samples(self, samples: Iterable[Sample]) -> Lookup | None:
        """Return it for samples that need it; None where nobody asked for it and all bring their evidence."""
        return None if self.is_default and all(sample.evidence for sample in samples) else self

    def searches(self, texts: Texts) -> int:
        """Return one for each text that brings no evidence."""
        return sum(not sample.evidence for sample in texts.samples())

    @asynccontextmanager
    async def open(self, metric: Metric) -> AsyncIterator[OpenLookup]:
        """Open the search; its identity goes into the metric's signature before anything is searched for."""
        counts, asker = Counts(), metric.asker
        options = SearchOptions(limits=asker.limits, fresh=asker.fresh, counts=counts, progress=asker.progress)
        search = open_search(self.search, options)
        parts = ".sentences" if searches_sentences(search) else ""
        evidence = f"{search.identity}.k{self.k}.c{CHARACTERS}{parts}"
        encoder = getattr(search, "encoder", None)
        metric.evidence, metric.by_words = evidence, bool(getattr(search, "by_words", False))
        metric.nearness = nearness(encoder) if encoder else None
        if self.is_default:
            asker.progress.note(f"texts are looked up in {getattr(search, 'about', search.name)}")
        try:
            yield OpenLookup(self, search, counts)
        finally:
            await search.close()


def make_lookup(settings: EvidenceSettings, metric: Metric) -> Lookup | None:
    """Return where evidence is looked up; None where none is wanted.

    Where nobody says, a judge that needs evidence gets it from the facts that come with Mores.
    """
    search = settings.evidence
    if search is None and wants_evidence(metric.model) and metric.style != "paper":
        return Lookup("mores", settings.passages, is_default=True)
    return Lookup(search_or_corpus(search), settings.passages) if search and search != "none" else None


@dataclass(frozen=True)
class OpenLookup:
    """A search that is open."""

    lookup: Lookup
    search: Search
    counts: Counts

    async def ground_all(self, metric: Metric, samples: Sequence[Sample]) -> list[Sample]:
        """Return samples in memory with what the search finds about them; those for which it fails are not judged."""
        found = []
        async with aclosing(ground(samples, self.search, self.lookup.k, counts=self.counts)) as pairs:
            async for sample, failure in pairs:
                found.append(sample)
                if failure:
                    metric.unsearched[sample.id] = failure
        return found

    async def ground(self, metric: Metric, texts: Texts, path: Path) -> Texts:
        """Return the texts with what the search finds about them; those for which it fails are not judged."""
        from mores.search.languages import language_note  # the detection of languages

        progress, lookup = metric.asker.progress, self.lookup
        if note := language_note(self.search, texts.samples()):
            progress.note(note)
        if cost := lookup.cost(texts):
            progress.note(f"{count(lookup.searches(texts))} searches, at most {money(cost, 3)}")
        grounded = ground(texts.samples(), self.search, lookup.k, counts=self.counts)
        async with progress.stage("searching", texts.count, None, self.counts), aclosing(grounded) as pairs:
            with JsonlWriter(path) as writer:
                async for sample, failure in pairs:
                    writer.write(sample)
                    if failure:
                        metric.unsearched[sample.id] = failure
        if metric.unsearched:
            failed = f"{count(len(metric.unsearched))} of {count(texts.count)} texts"
            problem = f"the search failed for {failed}, which are not judged"
            first = next(iter(metric.unsearched.values())).reason
            progress.note(f"{problem}; rerun to search again. The first: {first}")
        return replace(texts, grounded=path)


def check_style(metric: Metric, texts: Texts, lookup: Lookup | None) -> None:
    """Raise ConfigError, before anything is paid for, where the prompt cannot show evidence."""
    if metric.style == "paper" and (lookup or any(sample.evidence for sample in texts.samples())):
        raise ConfigError(NO_PLACE, setting="style")


async def judge_texts(
    metric: Metric,
    texts: Texts,
    paths: Sequence[str | Path],
    grounding: OpenLookup | None,
    watch: Callable[[Sample, Judgement], None],
) -> None:
    """Judge every text, into files of judgements in the order of the texts; `-` is standard output.

    `watch` sees each judgement as the files have it.
    """
    asker, counts = metric.asker, Counts()
    with TemporaryDirectory(prefix="mores-") as folder, ExitStack() as stack:
        if grounding:
            texts = await grounding.ground(metric, texts, Path(folder) / "samples.jsonl")
        writers = [stack.enter_context(JsonlWriter(path)) for path in paths]
        stage = asker.progress.stage("judging", texts.count, asker.price, counts)
        async with stage, aclosing(metric.stream(texts.samples(), counts)) as judgements:
            async for sample, judgement in judgements:
                line = b""
                for writer in writers:
                    line = writer.write(judgement)
                if b"\xef\xbf\xbd" in line:  # half an emoji is written as this sign, which a reader would count
                    judgement = Judgement.model_validate_json(line)
                    sample = judgement.sample or sample
                watch(sample, judgement)


async def estimate_texts(metric: Metric, texts: Texts, lookup: Lookup | None) -> Estimate:
    """Return what judging the texts would send and cost, without what a search costs.

    A search that costs nothing is made, so that the counts are true; for others, the most that they may find counts.
    """
    with TemporaryDirectory(prefix="mores-") as folder:
        if lookup and not lookup.cost(texts):
            async with lookup.open(metric) as grounding:
                texts = await grounding.ground(metric, texts, Path(folder) / "samples.jsonl")
            lookup = None
        blanks = (Evidence(text="word " * (CHARACTERS // 5)),) * (lookup.k if lookup else 0)
        return estimate_judges(
            metric,
            lambda: (s if s.evidence else s.model_copy(update={"evidence": blanks}) for s in texts.samples()),
        )


def estimate_judges(metric: Metric, samples: Callable[[], Iterable[Sample]]) -> Estimate:
    """Return what all judges of a metric would be sent, and the cost."""
    parts = [estimate(judge.asker, judge.jobs(samples()), judge.settings.max_tokens) for judge in metric.judges]
    if len(parts) == 1:
        return parts[0]
    sums = {name: sum(getattr(part, name) for part in parts) for name in ("calls", "known", "prompt_tokens")}
    costs = {
        name: None if None in (values := [getattr(part, name) for part in parts]) else sum(values)
        for name in ("cost", "most")
    }
    written = sum(part.completion_tokens for part in parts)
    return Estimate(**sums, **costs, completion_tokens=written, unsendable=parts[0].unsendable)
