"""From items to drafts: every correct and wrong text, before any is chosen or worded.

A multiple-choice item is asked with its options and without (ExCAM, Section 3). A wrong answer that the source gives is
a hard error. Soft errors are made by rule: of the answer, of a sentence that the answer is put into, and of a text that
is composed of several facts (`compose`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from typing import Literal, NamedTuple, Protocol, TypeVar

from mores.factory.gold import ChangedText, Gold, Kind, Mistake, Original
from mores.factory.items import SourceItem, Task
from mores.factory.statement import Statement, bare, sentence
from mores.factory.wrap import Wrapper
from mores.types import Error, ErrorReport, Sample, Severity

Maker = Callable[[Statement], Iterable[ChangedText]]
"""Puts errors into a statement."""
Form = Literal["answer", "sentence", "composed", "written"]
"""The form of a draft: an answer as the source has it, one put into a sentence, several facts in one text, or a whole
text beside which a model wrote one with errors, in a dataset that also has errors by rules."""
Stratum = tuple[str, Task, Form]
"""The drafts of a source among which correct and wrong ones are balanced."""


class Draft(NamedTuple):
    """One answer to one item, correct or wrong."""

    item: SourceItem
    task: Task
    answer: str
    kind: Kind
    maker: str = "source"
    change: ChangedText | None = None
    worded: Gold | None = None
    """The pair, if a model has made it already; it is balanced by its whole text."""
    form: Form = "answer"
    parts: tuple[str, ...] = ()
    """The names of the items of a composed text."""

    @property
    def key(self) -> str:
        """The same for the same draft, in every run and on every machine."""
        return self.digest.hex()

    @property
    def digest(self) -> bytes:
        """The key as bytes."""
        parts = (self.item.source, self.item.id, self.task, self.kind, self.maker, self.answer)
        return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=12).digest()

    @property
    def correct(self) -> bool:
        return self.kind == "correct"

    @property
    def stratum(self) -> Stratum:
        """The group in which correct and wrong texts are balanced."""
        return self.item.source, self.task, self.form


def drafts(item: SourceItem, make: Maker | None = None, seed: int = 0, edition: int = 2) -> Iterator[Draft]:
    """Yield all correct and wrong texts of one item.

    An answer that rules can change has soft errors where it is asked without options, and hard ones with them only.
    """
    free = Task.FREEFORM if item.task is Task.QA and item.stands_alone else item.task
    makes = make is not None and free in {Task.FREEFORM, Task.GENERATION}
    statement = sentence(item, draw(seed, "sentence", item.id), edition) if makes else None
    changed = list(make(bare(item))) if make and makes and statement is None else []
    for task in dict.fromkeys((item.task, free)):
        yield Draft(item, task, item.answer, "correct")
        for wrong in item.wrong if task is Task.QA or not changed else ():
            yield Draft(item, task, wrong, "hard")
    yield from soft(item, free, changed)
    if make and statement:
        yield Draft(item, free, statement.text, "correct", form="sentence")
        yield from soft(item, free, make(statement), "sentence")


def soft(
    item: SourceItem,
    task: Task,
    changes: Iterable[ChangedText],
    form: Form = "answer",
    parts: tuple[str, ...] = (),
) -> Iterator[Draft]:
    """Yield drafts with errors that rules made."""
    for change in changes:
        yield Draft(item, task, change.answer, "soft", f"rule:{change.rule}", change, form=form, parts=parts)


def word(draft: Draft, wrapper: Wrapper, group: str = "", split: Literal["", "train", "dev", "test"] = "") -> Gold:
    """Return the draft as an instruction-text pair with its gold report."""
    if draft.worded is not None:
        return draft.worded.model_copy(update={"group": group, "split": split})
    item, change = draft.item, draft.change
    wrapped = wrapper.wrap(item, draft.answer, task=draft.task)
    before, after = wrapped.text[: wrapped.answer_start], wrapped.text[wrapped.answer_end :]
    mistakes = change.mistakes if change else ()
    if draft.kind == "hard":  # a wrong answer of the source
        explanation = f"The answer should be “{item.answer}”, not “{draft.answer}”."
        mistakes = (Mistake(0, len(draft.answer), "source", Severity.MAJOR, "incorrect answer", explanation),)
    errors = tuple(
        Error(
            side="text",
            start=wrapped.answer_start + mistake.start,
            end=wrapped.answer_start + mistake.end,
            quote=draft.answer[mistake.start : mistake.end],
            severity=mistake.severity,
            type=mistake.type,
            explanation=mistake.explanation,
        )
        for mistake in mistakes
    )
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
        report=ErrorReport(errors=errors, explanation=" ".join(mistake.explanation for mistake in mistakes)),
        task=draft.task,
        kind=draft.kind,
        maker=draft.maker,
        answer=item.answer if draft.kind == "hard" else None,
        original=Original(instruction=wrapped.instruction, text=f"{before}{change.correct}{after}") if change else None,
        item=item.name,
        parts=draft.parts,
        group=group,
        split=split,
    )


class Named(Protocol):
    """An item, or what stands for one."""

    @property
    def source(self) -> str: ...
    @property
    def id(self) -> str: ...


N = TypeVar("N", bound=Named)


def cap(items: Iterable[N], by: Callable[[N], str | None], *, most: int, seed: int) -> list[N]:
    """Return at most `most` items, each group in its share (largest remainders), by the seed, in a fixed order."""
    groups: dict[str, list[N]] = defaultdict(list)
    for item in items:
        groups[by(item) or ""].append(item)
    total = sum(map(len, groups.values()))
    if total <= most:
        return sorted((item for group in groups.values() for item in group), key=lambda item: item.id)
    shares = {name: len(group) * most / total for name, group in groups.items()}
    counts = {name: int(share) for name, share in shares.items()}
    rest = sorted(groups, key=lambda name: (counts[name] - shares[name], name))[: most - sum(counts.values())]
    chosen: list[N] = []
    for name, group in groups.items():
        ordered = sorted(group, key=lambda item: draw(seed, item.source, item.id))
        chosen += ordered[: counts[name] + (name in rest)]
    return sorted(chosen, key=lambda item: item.id)


def draw(seed: int, *parts: str) -> bytes:
    """Return a random but reproducible place in an order."""
    return blake2b("\0".join((str(seed), *parts)).encode("utf-8", "surrogatepass"), digest_size=8).digest()


def draw_number(seed: int, *parts: str) -> int:
    """Return the same as a number of eight bytes, in the same order."""
    return int.from_bytes(draw(seed, *parts))
