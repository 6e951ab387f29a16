"""Runs of scripted models, made by the real runner and written as `mores bench` writes them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from mores.benchmark.benchmark import Benchmark, Graded, Label
from mores.benchmark.evidence import read_retrieval, retrieve
from mores.benchmark.folder import EVIDENCE, RESPONSES, RESULT, VERDICTS, write_items
from mores.benchmark.run import Asking, BenchJob
from mores.benchmark.score import BenchResult
from mores.engine import Asker, Counts
from mores.io import write_text
from mores.models.base import Completion, Request
from mores.models.fake import FakeModel
from mores.run import MANIFEST, Manifest, Status
from mores.search.base import Found, Query
from mores.search.fake import FakeSearch
from mores.types import Failure, FailureKind, Item

UNSURE = "I do not know."
GARBLED = "???"
SEARCH_FOUND = "Here is what a search found."


def grade(item: Item, text: str) -> Graded | Failure:
    """Right when it has a right answer, in either language; a refusal, or garbled, when it is one of the two above."""
    if text == GARBLED:
        return Failure(kind=FailureKind.PARSE, reason="garbled")
    if text == UNSURE:
        return Graded(label=Label.NOT_ATTEMPTED)
    versions = item.metadata.get("versions", {})
    right = (*item.target, *(version["answer"] for version in versions.values()))
    return Graded(label=Label.CORRECT if any(one in text for one in right) else Label.INCORRECT)


BENCH = Benchmark(
    name="toy", title="Toy", version="1", licence="-", homepage="-", files="-", source="toy", grade=grade,
    read=lambda *_: iter(()), variants=("english",), groupings=("language", "topic"),
)  # fmt: skip


class Scripted(FakeModel):
    """Says what a function of the prompt says, and keeps what it was asked."""

    def __init__(self, say: Callable[[str], str], name: str = "scripted") -> None:
        self.asked: list[str] = []
        self._say = say
        super().__init__(name, self._reply)

    def _reply(self, request: Request) -> Completion:
        self.asked.append(request.messages[-1].content)
        return Completion(self._say(self.asked[-1]))


def finish(folder: Path, result: BenchResult) -> Path:
    """Put the result of a run and its manifest into its folder."""
    write_text(folder / RESULT, result.model_dump_json())
    plan = {"kind": "bench", "name": result.benchmark, "model": result.model, "signature": result.signature}
    manifest = Manifest(**plan, status=Status.COMPLETE, started=datetime.now(UTC))
    write_text(folder / MANIFEST, manifest.model_dump_json())
    return folder


def make_run(
    folder: Path,
    items: Sequence[Item],
    say: Callable[[str], str],
    *,
    find: Callable[[Query], Found] | None = None,
    benchmark: Benchmark = BENCH,
    variant: str | None = None,
    samples: int = 1,
    name: str = "scripted",
) -> Path:
    """A folder with one run."""
    folder.mkdir(parents=True)
    run = BenchJob(benchmark, items, Asker(Scripted(say, name), None), asking=Asking(variant=variant, samples=samples))
    write_items(items, folder)

    async def work() -> None:
        if find is not None:
            search = FakeSearch("found", find)
            await retrieve(benchmark, items, search, 5, folder / EVIDENCE, Counts())
            run.retrieval = read_retrieval(folder / EVIDENCE, search, 5)
        await run.ask(folder / RESPONSES)
        await run.grade(folder / RESPONSES, folder / VERDICTS)

    asyncio.run(work())
    return finish(folder, run.score(folder / VERDICTS))
