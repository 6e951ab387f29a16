"""The facts of a dataset: what is correct about each item that samples were made of, in plain words.

`facts.jsonl` is a corpus that `corpus:PATH` searches; the source of a result names its item.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mores.factory.columns import Integers
from mores.factory.items import SourceItem, Task
from mores.factory.split import SPLIT_OF, Split
from mores.factory.statement import subject_of
from mores.factory.table import ItemTable
from mores.types import Record

FACTS = "facts.jsonl"
LONGEST = 300
"""Maximum characters of question and answer together, so that shortening a fact never cuts the answer.

Only an answer that is longer than this makes a longer fact.
"""
FEW = 3
"""Further correct answers in a fact, those that most people give."""
_LEAST = 24
"""Minimum characters of a shortened part."""


class CorrectFact(Record):
    """The facts that are correct about one item."""

    id: str
    """`source/id` of the item, as in `Gold.item`."""
    text: str
    source: str
    """The same as the id; evidence names it as its source."""
    group: str
    """As in `Gold.group`."""
    split: Split
    language: str | None = None
    """BCP 47."""
    region: str | None = None
    """ISO 3166-1 or 3166-2, or a cultural region."""
    answers: tuple[str, ...] = ()
    """The correct answers to a question: the end of the text."""
    subject: str | None = None
    """The subject of an English question, to reword the fact."""


def tell(item: SourceItem) -> str:
    """Return the fact about an item: what was asked, and what is correct."""
    if item.task is Task.GENERATION:
        return _joined(f"{item.question}:", item.answer)
    answer = "; ".join(_answers(item))
    role = " ".join(f"{name}: {value}." for name, value in item.role)
    room = LONGEST - len(_joined(role, answer)) - 2
    question = _end(item.question, room)
    context = _start(item.context or "", room - len(question))
    return _joined(role, context, question, answer)


def _answers(item: SourceItem) -> tuple[str, ...]:
    if item.task is Task.GENERATION:
        return ()
    return tuple(map(_joined, (item.answer, *item.also_correct[:FEW])))


def _joined(*parts: str) -> str:
    return " ".join(" ".join(parts).split())


def _end(text: str, longest: int) -> str:
    """Return the last words of a text, which contain the question."""
    text = _joined(text)
    if len(text) <= longest:
        return text
    tail = text[len(text) - max(0, longest - 1) :]
    # In scripts without spaces, and in endless words, the next space is too far to cut there.
    return f"…{tail[tail.find(' ', 0, _LEAST) + 1 :]}" if longest > _LEAST else ""


def _start(text: str, longest: int) -> str:
    """Return the first words of a text."""
    text = _joined(text)
    if len(text) <= longest:
        return text
    head = text[: max(0, longest - 1)]
    space = head.rfind(" ", max(0, len(head) - _LEAST))
    return f"{head if space < 0 else head[:space]}…" if longest > _LEAST else ""


@dataclass(frozen=True)
class CorrectFacts:
    """The facts of items, created each time they are iterated over, to save memory."""

    items: ItemTable
    places: Sequence[int] | Integers
    """Those of the items that have a fact here, in their order in the file."""

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[CorrectFact]:
        for place in map(int, self.places):
            item = self.items[place]
            yield CorrectFact(
                id=item.name,
                text=tell(item),
                source=item.name,
                group=self.items.names[self.items.group[place]],
                split=SPLIT_OF[self.items.fold[place]],
                language=item.language,
                region=item.region,
                answers=_answers(item),
                subject=subject_of(item),
            )
