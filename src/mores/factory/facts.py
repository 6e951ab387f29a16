"""What a dataset rests on: of each item that samples were made of, what is correct, in plain words.

`facts.jsonl` is a corpus that `corpus:PATH` searches; what it finds says in its source which item it is of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from mores.factory.items import SourceItem, Task
from mores.factory.split import Split
from mores.factory.subject import subject
from mores.types import Record

FACTS = "facts.jsonl"
LONGEST = 300
"""Characters in which question and answer have their place together, so that what shortens a fact leaves the answer.

Only an answer that is longer than this makes a longer fact.
"""
FEW = 3
"""Further correct answers that are told, those that most people give."""
_LEAST = 24
"""Characters of a shortened part that still say something."""


class CorrectFact(Record):
    """What is correct about one item."""

    id: str
    """`source/id` of the item, as in `Gold.item`."""
    text: str
    source: str
    """The same as the id: what evidence has as its source."""
    group: str
    """As in `Gold.group`."""
    split: Split
    language: str | None = None
    """BCP 47."""
    region: str | None = None
    """ISO 3166-1 or 3166-2, or a cultural region."""
    answers: tuple[str, ...] = ()
    """Where something is asked, what is correct: the end of the text."""
    subject: str | None = None
    """Of an English question, what it asks for, to say the fact in another way."""


def tell(item: SourceItem) -> str:
    """Return the fact that an item is about: what was asked, and what is correct."""
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


def _subject(item: SourceItem) -> str | None:
    is_english_question = item.task in (Task.QA, Task.FREEFORM) and (item.language or "").split("-")[0] == "en"
    return subject(item.question) if is_english_question else None


def _joined(*parts: str) -> str:
    return " ".join(" ".join(parts).split())


def _end(text: str, longest: int) -> str:
    """Return the last words of a text: where it asks."""
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
    """The facts of items, made anew each time they are iterated over, so that they need no memory."""

    items: list[SourceItem]
    """Each once, in their order in the file."""
    group_of: Mapping[str, str]
    split_of: Mapping[str, Split]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[CorrectFact]:
        for item in self.items:
            name = f"{item.source}/{item.id}"
            yield CorrectFact(
                id=name, text=tell(item), source=name, group=self.group_of[name], split=self.split_of[name],
                language=item.language, region=item.region, answers=_answers(item), subject=_subject(item),
            )  # fmt: skip


def once(items: Iterable[SourceItem]) -> list[SourceItem]:
    """Return each item once, by source and id."""
    by_name = {(item.source, item.id): item for item in items}
    return [by_name[name] for name in sorted(by_name)]
