"""Answers to the questions of a benchmark, as the viewer lists them: what each is found, filtered and sorted by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from mores.benchmark.benchmark import LABELS, Verdict
from mores.benchmark.columns import NOT_COLUMNS
from mores.benchmark.folder import ITEMS, VERDICTS
from mores.report.bench.answers import MEASURED, state_of
from mores.types import Item, Sample

RANKS = {"wrong": 0, "unscored": 1, "skipped": 2, "right": 3, MEASURED: 4}
"""Their order, the worst first."""
CHANGES = {
    "first": "a.state = 'right' AND b.state IN ('wrong', 'skipped')",
    "second": "b.state = 'right' AND a.state IN ('wrong', 'skipped')",
    "both": "a.state IN ('wrong', 'skipped') AND b.state IN ('wrong', 'skipped') AND a.marks <> b.marks",
    "measured": "a.state = 'measured' AND b.state = 'measured' AND a.marks <> b.marks",
    "failed": "(a.state = 'unscored') <> (b.state = 'unscored')",
}
"""How the answers of two runs to a question can differ."""
CHANGED = {
    "first": "only the first is correct",
    "second": "only the second is correct",
    "both": "neither is correct, and they differ",
    "measured": "both are measured, with other figures",
    "failed": "only one has a grade",
}


class ListedAnswer(NamedTuple):
    """An answer with its question."""

    item: Item
    verdict: Verdict

    @property
    def id(self) -> str:
        """The question's, with the number of the answer where there are several."""
        sample = self.verdict.sample
        return f"{self.item.id} #{sample + 1}" if sample else self.item.id

    @property
    def state(self) -> str:
        """The rule or judge that grades it, in the words of pages."""
        return state_of(self.verdict)

    @property
    def sample(self) -> Sample | None:
        """The answer as a text that a judge can read and people can mark; None for a choice and for no answer."""
        item, verdict = self
        if item.choices or verdict.read or not (verdict.answer or "").strip():
            return None
        return Sample(
            id=self.id, instruction=item.prompt, text=verdict.answer or "", language=item.language, region=item.region
        )

    @property
    def said(self) -> str:
        """The difference of two wrong answers: the choice that was read, or else the answer; or the measures."""
        if self.state == MEASURED:
            return str(sorted(self.verdict.values.items()))
        return f"{self.state}\n{self.verdict.read or (self.verdict.answer or '').strip()}"

    @property
    def prompt_hash(self) -> bytes:
        """Tells whether two answers are to the same question."""
        return blake2b(self.item.prompt.encode("utf-8", "replace"), digest_size=8).digest()

    @property
    def row(self) -> dict[str, Any]:
        """The question's own columns, and the labels that a person gave it."""
        metadata = {name: value for name, value in self.item.metadata.items() if name not in NOT_COLUMNS}
        plain = {name: value for name, value in metadata.items() if not isinstance(value, dict | list | None)}
        return plain | dict(self.item.metadata.get(LABELS, {}))

    def words(self) -> Iterator[str]:
        """Yield everything in which words are searched, besides the columns."""
        item, verdict = self
        yield from (self.id, item.prompt, *item.choices, *item.target)
        yield from (verdict.answer or "", verdict.read or "", verdict.reason)
        if verdict.failure:
            yield verdict.failure.reason

    def cells(self, row: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Yield what it can be filtered by, besides its grade."""
        for name in ("language", "region", "topic"):
            yield name, getattr(self.item, name) or ""
        if self.verdict.failure:
            yield "failure", self.verdict.failure.kind.value
        yield from ((f"column:{name}", value) for name, value in row.items())


def is_answers(file: Path) -> bool:
    """Return whether a file has the answers of a run of `mores bench`."""
    return file.name == VERDICTS


def items_of(file: Path) -> Path:
    """Return the questions of a file of answers."""
    return file.with_name(ITEMS)
