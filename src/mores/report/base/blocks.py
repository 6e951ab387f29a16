"""What a page consists of, as data: sections of blocks, each drawn by the macro of its name in a template.

A page builds a list of sections and draws nothing itself; the same sections give the charts and tables of a paper
(`figures.py`). Texts are hostile: the templates escape all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from mores.formatting import NOTHING
from mores.report.base.few import few_count, is_few
from mores.report.base.links import RunLinks
from mores.report.base.sheet import Cell, Sheet
from mores.types import FEW

STEPS = 20
"""Shades of a heatmap between 0 and 1."""
UPRIGHT = 14
"""A column's name with more letters stands upright when there are several columns."""


@dataclass(frozen=True)
class Block:
    """A part of a page."""

    template: ClassVar[str] = "base/blocks.html.j2"
    """Where the macro is that draws it: it has the class's name in lower case."""

    @property
    def macro(self) -> str:
        return re.sub(r"(?<!^)(?=[A-Z])", "_", type(self).__name__).lower()

    def view(self) -> Any:
        """Return what the macro gets."""
        return self

    def inside(self) -> Sequence[Block]:
        """Return the blocks that it holds."""
        return ()


class Sign(NamedTuple):
    """One entry of a legend: a line or a block with these classes, and what it stands for."""

    label: str
    line: str = ""
    block: str = ""
    letter: str = ""


def few_sign(look: str, counts: Iterable[int | None]) -> list[Sign]:
    """Return the entry that explains the look of few samples; none where no count is few."""
    return [Sign(f"{look}: fewer than {FEW} samples", block=look)] if any(map(is_few, counts)) else []


# ---- words -----------------------------------------------------------------------------------------------------


class Ramp(NamedTuple):
    """The scale of a heatmap or map: its colours and both ends."""

    low: str = ""
    high: str = ""
    kind: str = "up"
    """`up` or `down` from no colour, or `both` ways from the middle."""


@dataclass(frozen=True)
class Text(Block):
    """A paragraph: `lead`, `key` (how to read a chart), `told` (what it means) or `soft`."""

    text: str
    kind: str = "lead"
    ramp: Ramp | None = None


def key(text: str, ramp: Ramp | None = None) -> Text:
    """Return how a chart or table is read."""
    return Text(text, "key", ramp)


@dataclass(frozen=True)
class Caution(Block):
    """A warning with its first word in capitals."""

    word: str
    text: str


@dataclass(frozen=True)
class Notes(Block):
    """Remarks; as a warning where they limit the numbers."""

    texts: Sequence[str]
    kind: str = "notes"


@dataclass(frozen=True)
class Heading(Block):
    """A title within a section; names in it keep their direction."""

    text: str
    names: Sequence[str] = ()
    """Joined by "and" after the text."""
    after: str = ""
    level: int = 3
    small: str = ""


@dataclass(frozen=True)
class Hero(Block):
    """The main number and what it means."""

    value: str
    small: str = ""
    name: str = ""
    words: str = ""
    """After the name."""
    counts: str = ""
    sentence: str = ""
    opening: str = ""


@dataclass(frozen=True)
class Counts(Block):
    """What is in no number, or counts in a way that must be known, by reason."""

    title: str
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Signatures(Block):
    """What must be the same for two numbers to be comparable."""

    rows: Sequence[tuple[str, object]]


@dataclass(frozen=True)
class Runs(Block):
    """The files that the numbers are from, and other pages that show them."""

    links: Sequence[RunLinks]


# ---- arrangement -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fold(Block):
    """Something that is opened on demand, with the keyboard too."""

    title: str
    body: Sequence[Block]
    opened: bool = False
    small: str = ""

    def inside(self) -> Sequence[Block]:
        return self.body


@dataclass(frozen=True)
class Frame(Block):
    """Blocks beside each other (`many`, `pair`, `maps`, …) or with room around them (`below`, `tall`)."""

    body: Sequence[Block]
    kind: str = "many wide"

    def inside(self) -> Sequence[Block]:
        return self.body


@dataclass(frozen=True)
class Section(Block):
    """A part of the page with its own place in the navigation; one without blocks is left out."""

    id: str
    title: str
    body: Sequence[Block]
    question: str = ""
    """Beside the title."""
    short: str = ""
    """In the navigation, instead of the title."""

    def inside(self) -> Sequence[Block]:
        return self.body


def walk(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield all blocks in their order, with those inside of others."""
    for block in blocks:
        yield block
        yield from walk(block.inside())


# ---- tables ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table(Block):
    """A sheet."""

    sheet: Sheet
    with_note: bool = True

    def view(self) -> dict[str, Any]:
        return _sheet_view(self.sheet, "plain", self.with_note)

    @property
    def title(self) -> str:
        return self.sheet.title


@dataclass(frozen=True)
class Heat(Table):
    """A sheet whose cells are coloured from -1 over 0 (no colour) to 1."""

    def view(self) -> dict[str, Any]:
        return _sheet_view(self.sheet, "heat", self.with_note)

    @property
    def macro(self) -> str:
        return "table"


def _sheet_view(sheet: Sheet, kind: str, with_note: bool) -> dict[str, Any]:
    heat = kind == "heat"
    upright = heat and len(sheet.columns) > 5 and any(len(column.label) > UPRIGHT for column in sheet.columns)
    drawn = [cell.n for line in sheet.cells for cell in line if heat and cell.text != NOTHING]
    rows = [
        (head, [(cell, *_look(cell, heat)) for cell in line])
        for head, line in zip(sheet.rows, sheet.cells, strict=True)
    ]
    return {
        "title": sheet.title,
        "kind": f"{kind} upright" if upright else kind,
        "columns": sheet.columns,
        "rows": rows,
        "legend": few_sign("hatched", drawn),
        "note": sheet.note if with_note else "",
    }


def _look(cell: Cell, heat: bool) -> tuple[str, str]:
    """Return the classes of a cell, and what stands small in it."""
    few = heat and is_few(cell.n) and cell.text != NOTHING
    shade = ["few"] if few else shade_of(cell.value) if heat else []
    classes = [*shade, *(["outlined"] if cell.outlined else []), *(["none"] if cell.text == NOTHING else [])]
    return " ".join(classes), f"{few_count(cell.n)} {cell.small}".strip() if few else cell.small


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


@dataclass(frozen=True)
class Cards(Block):
    """Cards that a reader searches and filters; the script shows them in chunks."""

    lead: str
    selects: Sequence[Select]
    cards: Sequence[Any]
    """Blocks, or what was drawn of them already."""
