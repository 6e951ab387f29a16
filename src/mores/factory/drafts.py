"""From items to drafts: every correct and wrong answer, before any is chosen or worded.

A multiple-choice item is asked with its options and without (ExCAM, Section 3); a wrong answer that the source gives
is a hard error, and where it gives none, rules change the correct one into soft errors.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b

from mores.factory.gold import Change, Gold, Kind, Original
from mores.factory.items import SourceItem, Task
from mores.factory.wrap import Wrapped, Wrapper
from mores.types import Error, ErrorReport, Sample, Severity

Maker = Callable[[SourceItem], Iterable[Change]]
"""Makes soft errors of an item."""


@dataclass(frozen=True, slots=True)
class Draft:
    """One answer to one item, correct or wrong."""

    item: SourceItem
    task: Task
    answer: str
    kind: Kind
    maker: str = "source"
    change: Change | None = None
    worded: Gold | None = None
    """The pair, where it exists already because a model made it."""
    key: str = field(init=False)
    """The same for the same draft, in every run and on every machine."""

    def __post_init__(self) -> None:
        parts = (self.item.source, self.item.id, self.task, self.kind, self.maker, self.answer)
        key = blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
        object.__setattr__(self, "key", key)

    @property
    def correct(self) -> bool:
        return self.kind == "correct"

    @property
    def stratum(self) -> tuple[str, Task]:
        """The group in which correct and wrong answers are balanced."""
        return self.item.source, self.task


def drafts(item: SourceItem, make: Maker | None = None) -> Iterator[Draft]:
    """All correct and wrong answers of one item."""
    tasks = (Task.QA, Task.FREEFORM) if item.task is Task.QA and item.stands_alone else (item.task,)
    for task in tasks:
        yield Draft(item, task, item.answer, "correct")
        for wrong in item.wrong:
            yield Draft(item, task, wrong, "hard")
        if not item.wrong and make is not None:
            for change in make(item):
                yield Draft(item, task, change.answer, "soft", f"rule:{change.rule}", change)


def word(draft: Draft, wrapper: Wrapper) -> Gold:
    """The draft as an instruction-text pair with its gold report."""
    if draft.worded is not None:
        return draft.worded
    wrapped = wrapper.wrap(draft.item, draft.answer, task=draft.task)
    item = draft.item
    sample = Sample(
        id=f"{item.source}-{draft.key}",
        instruction=wrapped.instruction,
        text=wrapped.text,
        language=item.language,
        region=item.region,
        source=item.source,
    )
    return Gold(
        sample=sample,
        report=_report(draft, wrapped),
        task=draft.task,
        kind=draft.kind,
        maker=draft.maker,
        answer=item.answer if draft.kind == "hard" else None,
        original=_original(draft, wrapped),
        item=f"{item.source}/{item.id}",
    )


def _original(draft: Draft, wrapped: Wrapped) -> Original | None:
    """The same words around the correct answer, where a rule has changed it."""
    if draft.change is None:
        return None
    before, after = wrapped.text[: wrapped.answer_start], wrapped.text[wrapped.answer_end :]
    return Original(instruction=wrapped.instruction, text=f"{before}{draft.item.answer}{after}")


def _report(draft: Draft, wrapped: Wrapped) -> ErrorReport:
    if draft.correct:
        return ErrorReport()
    change = draft.change or _hard(draft)
    errors = tuple(
        Error(
            side="text",
            start=wrapped.answer_start + start,
            end=wrapped.answer_start + end,
            quote=draft.answer[start:end],
            severity=change.severity,
            type=change.type,
            explanation=change.explanation,
        )
        for start, end in change.spans
    )
    return ErrorReport(errors=errors, explanation=change.explanation)


def _hard(draft: Draft) -> Change:
    """A wrong answer of the source: severity major, and an explanation that names the correct one."""
    return Change(
        answer=draft.answer,
        spans=((0, len(draft.answer)),),
        rule="source",
        severity=Severity.MAJOR,
        type="incorrect answer",
        explanation=f"The answer should be “{draft.item.answer}”, not “{draft.answer}”.",
    )


def worded(item: SourceItem, golds: Iterable[Gold]) -> Iterator[Draft]:
    """Drafts of an item from pairs that exist already; they are balanced by their whole text."""
    for gold in golds:
        yield Draft(item, gold.task, gold.sample.text, gold.kind, gold.maker, worded=gold)


def cap(
    items: Iterable[SourceItem], by: Callable[[SourceItem], str | None], *, most: int, seed: int
) -> list[SourceItem]:
    """At most `most` items, each group in its share (largest remainders), drawn by the seed; in a fixed order."""
    groups: dict[str, list[SourceItem]] = defaultdict(list)
    for item in items:
        groups[by(item) or ""].append(item)
    total = sum(map(len, groups.values()))
    if total <= most:
        return sorted((item for group in groups.values() for item in group), key=lambda item: item.id)
    shares = {name: len(group) * most / total for name, group in groups.items()}
    counts = {name: int(share) for name, share in shares.items()}
    rest = sorted(groups, key=lambda name: (counts[name] - shares[name], name))[: most - sum(counts.values())]
    chosen: list[SourceItem] = []
    for name, group in groups.items():
        ordered = sorted(group, key=lambda item: draw(seed, item.source, item.id))
        chosen += ordered[: counts[name] + (name in rest)]
    return sorted(chosen, key=lambda item: item.id)


def draw(seed: int, *parts: str) -> bytes:
    """A random but reproducible place in an order."""
    return blake2b("\0".join((str(seed), *parts)).encode("utf-8", "surrogatepass"), digest_size=8).digest()
