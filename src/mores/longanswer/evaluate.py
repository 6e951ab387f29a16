"""The evaluation of long answers, stage by stage; each writes a plain file, so that a stopped run continues.

| stage | reads | writes | calls |
| --- | --- | --- | --- |
| surface | the answers | `surface.jsonl`: language, repetition, tells | none |
| translate | surface | `translations.jsonl`: question and answer as they are judged | 2 per answer |
| claims | translations | `claims.jsonl`: the claims of each answer | 1 per sentence |
| search | claims | `evidence.jsonl`: what was found for each claim | 1 search per claim |
| verify | evidence | `verdicts.jsonl`: whether each claim is supported | 1 per claim |
| relevance | translations | `relevance.jsonl`: whether each answer is relevant | 1 per answer |
| join | all | `appraisals.jsonl`: everything about each answer | none |

Every file has one line per answer, in the order of the answers. Memory does not grow with their number. A stage that
runs again is answered from the store. Facts and relevance are judged for answers without surface issues (CaLMQA,
Section 3.1), or for every answer where that is asked for.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar, TypeVarTuple

from mores.engine import Asker, Counts, Progress, Reply
from mores.errors import ConfigError, InputError
from mores.io import JsonlWriter, read_records
from mores.longanswer import stages
from mores.longanswer.judging import PROMPTS, read_claims, read_relevance, read_verdict
from mores.longanswer.records import (
    Appraisal,
    ClaimSearch,
    Extraction,
    LongAnswer,
    RelevanceDecision,
    Surface,
    Translation,
    Verification,
)
from mores.longanswer.settings import RESULTS
from mores.longanswer.stages import LanguageChecker
from mores.models import Request
from mores.prompts import hash_prompts, read_prompt
from mores.search.base import Found, Query, Search
from mores.search.stream import find_all
from mores.signature import sign
from mores.types import Record, Signature

FILES: dict[type[Record], str] = {
    Surface: "surface.jsonl",
    Translation: "translations.jsonl",
    Extraction: "claims.jsonl",
    ClaimSearch: "evidence.jsonl",
    Verification: "verdicts.jsonl",
    RelevanceDecision: "relevance.jsonl",
    Appraisal: "appraisals.jsonl",
}
NAMES: dict[type[Record], str] = {ClaimSearch: "Searched", RelevanceDecision: "Judged"}
"""Records that the manifest of a run calls by another name."""
ANSWERS = "answers.jsonl"
_CHUNK = 256
"""Answers whose surface is checked together."""

R = TypeVar("R", bound=Record)
T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class LongformStage(NamedTuple):
    """One stage of a run; `counts.done` counts answers."""

    name: str
    work: Callable[[Counts], Awaitable[None]]
    asker: Asker | None = None
    """The model that is called."""


@dataclass
class LongformEvaluation:
    """The answers that are judged, by whom and how: without a judge only their surface, without a search no facts."""

    answers: Path
    """`LongAnswer`s as JSON Lines."""
    folder: Path
    """Where the files go."""
    check: LanguageChecker | None = None
    checker: str = "none"
    """Its name and version, for the signature."""
    judge: Asker | None = None
    """Judges relevance, and does what the next three are not named for."""
    translator: Asker | None = None
    extractor: Asker | None = None
    verifier: Asker | None = None
    backend: Search | None = None
    """It is closed after the search."""
    results: int = RESULTS
    into_english: bool = True
    """Whether what is not in English is translated before it is judged; else it is judged in its language."""
    judge_all: bool = False
    """Judge facts and relevance of answers with surface issues too."""

    async def run(self, name: str, total: int, progress: Progress) -> None:
        """Run all stages, each with its progress."""
        for stage in self.stages():
            price = stage.asker.price if stage.asker else None
            async with progress.stage(f"{name}: {stage.name}", total, price) as counts:
                await stage.work(counts)

    def stages(self) -> list[LongformStage]:
        """Return what there is to do, in order."""
        judged, facts = self.judge is not None, self._has_facts
        every = [
            (True, LongformStage("surface", self.surface)),
            (judged, LongformStage("translate", self.translate, self.translator or self.judge)),
            (facts, LongformStage("claims", self.claims, self.extractor or self.judge)),
            (facts, LongformStage("search", self.search)),
            (facts, LongformStage("verify", self.verify, self.verifier or self.judge)),
            (judged, LongformStage("relevance", self.relevance, self.judge)),
            (True, LongformStage("join", self.join)),
        ]
        return [stage for included, stage in every if included]

    async def surface(self, counts: Counts) -> None:
        """Check language, repetition and tells."""
        answers = self._answers()
        with self._writer(Surface) as writer:
            while chunk := list(islice(answers, _CHUNK)):
                for surface in await asyncio.to_thread(stages.check_surfaces, chunk, self.check):
                    writer.write(surface)
                    counts.done += 1
                    counts.fail(surface.failure)

    async def translate(self, counts: Counts) -> None:
        """Translate what is to be judged and not in English."""
        rows = check_rows(zip(self._answers(), self._read(Surface), strict=True))
        tasks = (
            (row, stages.translation_requests(*row) if self.into_english and self._is_judged(row[1]) else [])
            for row in rows
        )

        def make(row: tuple[LongAnswer, Surface], replies: Sequence[Reply]) -> Translation:
            answer, surface = row
            if not self._is_judged(surface):
                return Translation(id=answer.id, model=answer.model)
            if not self.into_english:
                return stages.keep_language(answer, surface)
            return stages.read_translation(answer, surface, replies)

        await self._ask(Translation, tasks, self.translator or self.judge, make, counts)

    async def claims(self, counts: Counts) -> None:
        """Read each sentence of what is judged for claims."""
        tasks = ((translation, stages.claims_requests(translation)) for translation in self._read(Translation))
        await self._ask(Extraction, tasks, self.extractor or self.judge, stages.read_extraction, counts, read_claims)

    async def search(self, counts: Counts) -> None:
        """Look for each claim."""
        if self.backend is None:
            raise ConfigError("facts are checked against what a search finds: name one", setting="facts")
        waiting: deque[Extraction] = deque()  # answers whose searches are under way
        results: list[Found] = []

        def queries() -> Iterator[tuple[None, Query]]:
            for answer, extraction in check_rows(zip(self._answers(), self._read(Extraction), strict=True)):
                waiting.append(extraction)
                for claim in extraction.claims or ():
                    yield None, Query(claim.text, answer.language, answer.region)

        def write_finished(writer: JsonlWriter) -> None:
            while waiting and (number := len(waiting[0].claims or ())) <= len(results):
                about = waiting.popleft()
                writer.write(ClaimSearch(id=about.id, model=about.model, found=tuple(results[:number])))
                del results[:number]
                counts.done += 1

        try:
            with self._writer(ClaimSearch) as writer:
                async with aclosing(find_all(self.backend, queries(), self.results)) as searches:
                    async for _, result in searches:
                        results.append(result)
                        counts.fail(result.failure)
                        write_finished(writer)
                write_finished(writer)
        finally:
            await self.backend.close()

    async def verify(self, counts: Counts) -> None:
        """Judge each claim on what was found for it."""
        rows = check_rows(zip(self._read(Extraction), self._read(ClaimSearch), strict=True))
        tasks = ((searched, stages.verify_requests(extraction, searched)) for extraction, searched in rows)
        await self._ask(
            Verification, tasks, self.verifier or self.judge, stages.read_verification, counts, read_verdict
        )

    async def relevance(self, counts: Counts) -> None:
        """Judge whether each answer is relevant."""
        rows = check_rows(zip(self._answers(), self._read(Translation), strict=True))
        tasks = ((translation, stages.relevance_requests(answer, translation)) for answer, translation in rows)
        await self._ask(RelevanceDecision, tasks, self.judge, stages.read_relevance, counts, read_relevance)

    async def join(self, counts: Counts) -> None:
        """Put everything about each answer on one line."""
        judged, facts = self.judge is not None, self._has_facts
        rows = zip(
            self._answers(),
            self._read(Surface),
            self._read(Translation, judged),
            self._read(Extraction, facts),
            self._read(ClaimSearch, facts),
            self._read(Verification, facts),
            self._read(RelevanceDecision, judged),
            strict=True,
        )
        with self._writer(Appraisal) as writer:
            for row in check_rows(rows):
                writer.write(stages.appraise(*row))
                counts.done += 1

    def appraised(self) -> Iterator[tuple[LongAnswer, Appraisal]]:
        """Return each answer with its appraisal, once the stages are done."""
        return read_appraised(self.folder, self.answers)

    def signature(self) -> Signature:
        """Return what must be the same for two results to be comparable."""
        fields = {"task": "longform.1", "data": data_hash(self.answers), "lid": self.checker}
        if self.judge is not None:
            translator = _identity(self.translator or self.judge, "translation")
            fields["translation"] = translator if self.into_english else "none"
            fields["relevance"] = _identity(self.judge, "relevance")
            fields["judged"] = "all" if self.judge_all else "without-issues"
        if self.judge is not None and self.backend is not None:
            fields["claims"] = _identity(self.extractor or self.judge, "claims")
            fields["search"] = f"{self.backend.identity}.{self.results}"
            fields["verification"] = _identity(self.verifier or self.judge, "verification")
        return sign(fields)

    @property
    def _has_facts(self) -> bool:
        return self.judge is not None and self.backend is not None

    def _is_judged(self, surface: Surface) -> bool:
        return surface.failure is None and (self.judge_all or not stages.has_issue(surface))

    async def _ask(
        self,
        type_: type[R],
        tasks: Iterable[tuple[T, Sequence[Request]]],
        asker: Asker | None,
        make: Callable[[T, Sequence[Reply]], R],
        counts: Counts,
        read: Callable[[str], object] = str,
    ) -> None:
        """Write the record that `make` returns for the replies about each thing; `read` tells whether one is usable."""
        if asker is None:
            raise ConfigError("facts and relevance are judged by a model: name a judge", setting="judge")
        with self._writer(type_) as writer:
            async with aclosing(asker.ask_each(tasks, counts, read)) as answers:
                async for thing, replies in answers:
                    writer.write(make(thing, replies))

    def _answers(self) -> Iterator[LongAnswer]:
        return read_records(self.answers, LongAnswer)

    def _read(self, type_: type[R], included: bool = True) -> Iterator[R]:
        """Return the records of a stage; empty ones, one for each answer, if the run does not include it."""
        if included:
            return read_records(self.folder / FILES[type_], type_)
        return (type_.model_validate({"id": answer.id, "model": answer.model}) for answer in self._answers())

    def _writer(self, type_: type[Record]) -> JsonlWriter:
        return JsonlWriter(self.folder / FILES[type_])


def read_appraised(folder: Path, answers: Path | None = None) -> Iterator[tuple[LongAnswer, Appraisal]]:
    """Return each answer with its appraisal, from the folder of an evaluation."""
    appraisals = read_records(folder / FILES[Appraisal], Appraisal)
    return check_rows(zip(read_records(answers or folder / ANSWERS, LongAnswer), appraisals, strict=True))


def check_rows(rows: Iterator[tuple[*Ts]]) -> Iterator[tuple[*Ts]]:
    """Yield rows of records from several files; InputError where they are not about the same answer."""
    try:
        for row in rows:
            about = {(getattr(record, "id", None), getattr(record, "model", None)) for record in row}
            if len(about) > 1:
                raise InputError(f"the files are about different answers: {sorted(map(str, about))}; {_FIX}")
            yield row
    except ValueError:
        raise InputError(f"the files have different numbers of answers; {_FIX}") from None


_FIX = "run the stages again from the first, or give another folder"


def data_hash(path: Path) -> str:
    """Return eight digits that change when an answer does, and the number of answers."""
    total, count = blake2b(digest_size=4), 0
    for answer in read_records(path, LongAnswer):  # other columns change no figure
        # As 0.2.0 wrote it, before a failure said whose fault it is: the same data have the same digits.
        whole = answer.model_dump_json(exclude={"failure": {"blame"}, "metadata": True})
        total.update(whole.encode("utf-8", "surrogatepass"))
        count += 1
    return f"{total.hexdigest()}.{count}"


def _identity(asker: Asker, question: str) -> str:
    texts = (read_prompt(__file__, f"prompts/{name}") for name in PROMPTS[question])
    return f"{asker.model.identity}.{hash_prompts(*texts)}"
