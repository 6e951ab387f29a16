"""What every part of the page of diagnoses is made of: cells, groups, and cards of items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol, TypeVar

from mores.diagnose.stability import Cluster
from mores.report.base.blocks import Block, Counts, Fold, Heading, Notes, Text, key
from mores.report.base.names import direction, group_name, without_overrides
from mores.report.base.sheet import Cell
from mores.show import NOTHING, between, left_out, number, percent, span
from mores.types import Result

SHOWN = 3
"""Cards of a list that are not folded away."""
WORDS = 600
"""Code points of a text that are shown."""
GROUPS, GROUPINGS, SUBJECTS = 60, 8, 12
"""Groups of one grouping, groupings of one result, and models on a benchmark in one part, that are shown."""


def paragraph(text: str) -> Text:
    """What an analysis says of itself; no name in it can turn the words around it."""
    return Text(without_overrides(text), "told")


def unused(counts: Mapping[str, int], title: str = "Could not be used") -> Counts:
    """What is in no number, or counts in a way that must be known, by reason."""
    return Counts(title, counts)


def notes(texts: Iterable[str]) -> list[Block]:
    """Remarks of an analysis."""
    told = [without_overrides(text) for text in texts]
    return [Notes(told, "notes key")] if told else []


# ---- numbers ---------------------------------------------------------------------------------------------------


def share_cell(found: Result | None, *, sized: bool = False) -> Cell:
    """A share in per cent with its interval, what could not be scored and, if asked for, how many it is of."""
    if found is None or found.value is None:
        return Cell(NOTHING, small=left_out(found.unscored) if found else "")
    return Cell(percent(found.value), small=_beside(between(found), found, sized))


def number_cell(found: Result | None, digits: int, *, sized: bool = False) -> Cell:
    """Any other number."""
    if found is None or found.value is None:
        return Cell(NOTHING, small=left_out(found.unscored) if found else "")
    return Cell(number(found.value, digits), small=_beside(span(found.low, found.high, digits), found, sized))


def _beside(interval: str, found: Result, sized: bool) -> str:
    return " ".join(filter(None, (interval, f"n {found.n:,}" if sized else "", left_out(found.unscored))))


def largest(sizes: Mapping[str, int]) -> list[str]:
    """The groups that are shown, in their order: the largest where there are too many."""
    kept = set(sorted(sizes, key=lambda group: -sizes[group])[:GROUPS])
    return [group for group in sizes if group in kept]


def more_groups(total: int) -> list[Block]:
    """How many groups are not shown."""
    return [key(f"{total - GROUPS:,} smaller groups are in the result only.")] if total > GROUPS else []


# ---- several results -------------------------------------------------------------------------------------------


def groupings(by: Iterable[str]) -> list[str]:
    """Language and topic first; of very many groupings, some."""
    first = {"language": 0, "topic": 1}
    return sorted(by, key=lambda name: first.get(name, 2))[:GROUPINGS]


class _Own(Protocol):
    """A result of one model on one benchmark."""

    @property
    def model(self) -> str: ...
    @property
    def benchmark(self) -> str: ...


Own = TypeVar("Own", bound=_Own)


def subjects(results: Sequence[Own], body: Callable[[list[Own]], Iterable[Block]]) -> list[Block]:
    """What is of the same model and benchmark stands together; with a title where there are several."""
    groups: dict[tuple[str, str], list[Own]] = {}
    for one in results:
        groups.setdefault((one.model, one.benchmark), []).append(one)
    blocks: list[Block] = []
    for name, own in list(groups.items())[:SUBJECTS]:
        blocks += [Heading("", name)] if len(groups) > 1 else []
        blocks += body(own)
    left = len(groups) - SUBJECTS
    return blocks + ([key(f"{left:,} more are in their results only.")] if left > 0 else [])


# ---- cards -----------------------------------------------------------------------------------------------------


class Field(NamedTuple):
    """One line of a card, with the direction of its text."""

    name: str
    text: str
    direction: str
    language: str = ""


def fields(texts: Mapping[str, str], language: str | None = None) -> list[Field]:
    """Names and texts; those without a text are left out."""
    rows = [(name, _cut(text)) for name, text in texts.items() if text]
    return [
        Field(name, text, direction(text), language if language and name == "Question" else "") for name, text in rows
    ]


def _cut(text: str) -> str:
    return text if len(text) <= WORDS else text[: WORDS - 1] + "…"


class Given(NamedTuple):
    """One of the different answers to a question, and how often it was given."""

    state: str
    text: str
    direction: str
    told: str
    share: str


def given_answers(clusters: Sequence[Cluster], graded: int) -> list[Given]:
    """The different answers to one question, the most frequent first."""
    rows = []
    for one in clusters:
        text = _cut(one.answer)
        mixed = f", {one.right:,} of them right" if 0 < one.right < one.n else ""
        share = f"{100 * min(1.0, one.n / max(1, graded)):.1f}%"
        state = "right" if 2 * one.right > one.n else "wrong"
        rows.append(Given(state, text or NOTHING, direction(text), f"{one.n:,} of {graded:,}{mixed}", share))
    return rows


@dataclass(frozen=True)
class ItemCard(Block):
    """One item."""

    template: ClassVar[str] = "diagnose/cards.html.j2"
    id: str
    state: str
    """`wrong`, `right`, `skipped` or `unscored`: its colour and sign."""
    badge: str
    places: Sequence[str]
    fields: Sequence[Field] = ()
    given: Sequence[Given] = ()
    more: int = 0
    """Different answers that are not shown."""
    twins: Sequence[tuple[str, Sequence[Field]]] = ()
    """Two versions side by side, with their names."""


def places(groups: Mapping[str, str | None]) -> list[str]:
    """What an item belongs to, in words, each once."""
    return list(dict.fromkeys(group_name(name, group) for name, group in groups.items() if group))


@dataclass(frozen=True)
class Listing(Block):
    """Some cards at once and the rest folded; how many there are in all is said."""

    template: ClassVar[str] = "diagnose/cards.html.j2"
    title: str
    count: str
    cards: Sequence[Block]
    rest: Sequence[Block] = ()


def listing(title: str, cards: Sequence[ItemCard], total: int, limit: int, *, folded: bool = False) -> list[Block]:
    """A list of cards, all of them folded if asked for; nothing where there is none."""
    if not total:
        return []
    kept = cards[:limit]
    count = f"{total:,}" if total <= len(kept) else f"{len(kept):,} of {total:,}"
    if folded:
        return [Fold(f"{title}: {count}", [Listing("", "", kept)])]
    return [Listing(title, count, kept[:SHOWN], kept[SHOWN:])]
