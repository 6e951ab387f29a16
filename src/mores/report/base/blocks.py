"""The contents of a page, as data: sections of blocks, each drawn by the macro of its name in a template.

A page builds a list of sections and draws nothing itself; the same sections give the charts and tables of a paper
(`figures.py`). Texts are hostile: the templates escape all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, dataclass_transform

from mores.types import FEW, Result

STEPS = 20
"""Shades of a heatmap between 0 and 1."""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class PageBlock:
    """A part of a page. Subclasses are frozen dataclasses."""

    template: ClassVar[str] = "base/blocks.html.j2"
    """Where the macro is that draws it: it has the class's name in lower case."""

    def __init_subclass__(cls, template: str = "") -> None:
        dataclass(frozen=True)(cls)
        if template:
            cls.template = template

    @property
    def macro(self) -> str:
        return re.sub(r"(?<!^)(?=[A-Z])", "_", type(self).__name__).lower()

    def view(self) -> Any:
        """Return what the macro gets."""
        return self

    def inside(self) -> Sequence[PageBlock]:
        """Return the blocks that it holds."""
        return ()


class LegendSign(NamedTuple):
    """One entry of a legend: a line or a block with these classes, and what it stands for."""

    label: str
    line: str = ""
    block: str = ""
    letter: str = ""


# The one rule of every chart for a value of few samples, which says little: it is hollow or hatched, has no colour and
# no part in a scale of colours, and its count stands beside it. A chart that shows one explains the sign in its legend;
# nothing else on our pages is hollow or hatched.


def is_few(n: int | None) -> bool:
    """Return whether a value rests on too few samples to be drawn like the others."""
    return n is not None and n < FEW


def few_count(n: int | None) -> str:
    """Return the count that stands beside a value of few samples; nothing beside others."""
    return f"n {n:,}" if n is not None and is_few(n) else ""


def telling(results: Iterable[Result | None]) -> Iterator[float]:
    """Return the values of enough samples: only these have a colour, so only these make its scale."""
    return (
        result.value for result in results if result is not None and result.value is not None and not is_few(result.n)
    )


def few_sign(look: str, counts: Iterable[int | None]) -> list[LegendSign]:
    """Return the entry that explains the look of few samples; none where no count is few."""
    return [LegendSign(f"{look}: fewer than {FEW} samples", block=look)] if any(map(is_few, counts)) else []


# ---- words -----------------------------------------------------------------------------------------------------


class Ramp(NamedTuple):
    """The scale of a heatmap or map: its colours and both ends."""

    low: str = ""
    high: str = ""
    kind: str = "up"
    """`up` or `down` from no colour, or `both` ways from the middle."""


class Paragraph(PageBlock):
    """A paragraph: `lead`, `key` (how to read a chart), `told` (what it means) or `soft`."""

    text: str
    kind: str = "lead"
    ramp: Ramp | None = None


def key(text: str, ramp: Ramp | None = None) -> Paragraph:
    """Return how a chart or table is read."""
    return Paragraph(text, "key", ramp)


class Caution(PageBlock):
    """A warning with its first word in capitals."""

    word: str
    text: str


@dataclass(frozen=True)
class Vital:
    """The main number of an analysis, and its meaning."""

    value: str
    unit: str = ""
    interval: str = ""
    sentence: str = ""
    about: str = ""
    """Its model and benchmark, shown if there are several."""


class Vitals(PageBlock):
    """The main numbers of several analyses, each with its title, its question and the section that it links to."""

    analyses: Sequence[tuple[Section, Sequence[Vital]]]


class Notes(PageBlock):
    """Remarks; as a warning where they limit the numbers."""

    texts: Sequence[str]
    kind: str = "notes"


class Heading(PageBlock):
    """A title within a section; names in it keep their direction."""

    text: str
    names: Sequence[str] = ()
    """Joined by "and" after the text."""
    after: str = ""
    level: int = 3
    small: str = ""


class Hero(PageBlock):
    """The main number and what it means."""

    value: str
    small: str = ""
    name: str = ""
    words: str = ""
    """After the name."""
    counts: str = ""
    sentence: str = ""
    opening: str = ""


class CountList(PageBlock):
    """The things that are in no number, or count in a way that must be known, by reason."""

    title: str
    counts: Mapping[str, int]


class Signatures(PageBlock):
    """The parts that must be the same for two numbers to be comparable."""

    rows: Sequence[tuple[str, object]]


class RunLinks(NamedTuple):
    """The files of a run that a page links to (`links.py`)."""

    name: str
    folder: str
    """As it was given."""
    files: dict[str, str]
    """Addresses by the names of pages and files, the best to begin with first."""


class RunList(PageBlock):
    """The files that the numbers are from, and other pages that show them."""

    links: Sequence[RunLinks]


# ---- arrangement -----------------------------------------------------------------------------------------------


class Fold(PageBlock):
    """Something that is opened on demand, with the keyboard too."""

    title: str
    body: Sequence[PageBlock]
    opened: bool = False
    small: str = ""

    def inside(self) -> Sequence[PageBlock]:
        return self.body


class Frame(PageBlock):
    """Blocks beside each other (`many`, `pair`, `maps`, …) or with room around them (`below`, `tall`)."""

    body: Sequence[PageBlock]
    kind: str = "many wide"

    def inside(self) -> Sequence[PageBlock]:
        return self.body


class Section(PageBlock):
    """A part of the page with its own place in the navigation; one without blocks is left out."""

    id: str
    title: str
    body: Sequence[PageBlock]
    question: str = ""
    """Beside the title."""
    short: str = ""
    """In the navigation, instead of the title."""

    def inside(self) -> Sequence[PageBlock]:
        return self.body


def walk(blocks: Iterable[PageBlock]) -> Iterator[PageBlock]:
    """Yield all blocks in their order, with those inside of others."""
    for block in blocks:
        yield block
        yield from walk(block.inside())


def shade_of(value: float | None) -> list[str]:
    """Return the classes of a colour from -1 to 1."""
    strength = round(STEPS * min(1.0, abs(value))) if value is not None and abs(value) <= float("inf") else 0
    return ["above" if value and value > 0 else "below", f"s{strength}"] if strength else []


# ---- cards -----------------------------------------------------------------------------------------------------


class Select(NamedTuple):
    """A list to choose cards by: `filter` is what of a card it looks at (`state`, `run` or `group`)."""

    name: str
    filter: str
    options: Sequence[tuple[str | int, str]]


class Cards(PageBlock):
    """Cards that a reader searches and filters; the script shows them in chunks."""

    lead: str
    selects: Sequence[Select]
    cards: Sequence[Any]
    """Blocks, or what was drawn of them already."""
