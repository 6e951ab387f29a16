"""A table, declared once: the terminal, a page, a notebook, LaTeX, CSV and Markdown show the same record.

A page colours a `Heat`; `layout.py` lays a table out for the width of a terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from html import escape
from itertools import chain
from typing import Any, NamedTuple

from rich.console import Console, ConsoleOptions, RenderableType
from rich.text import Text

from mores.formatting import NOTHING, between, count, left_out, number, percent, span
from mores.io import to_csv
from mores.report.base.blocks import PageBlock, few_count, few_sign, is_few, shade_of
from mores.report.base.layout import Laid, lay_list, lay_out
from mores.report.base.text import Shown, ends, harmless, join, latex, markdown
from mores.types import Result

UPRIGHT = 14
"""A column's name with more letters stands upright in a heatmap when there are several columns."""
LONG = 45
"""A column of texts with more letters is broken into lines in a paper."""
FOREIGN = "\u0180"
"""The first letter that LaTeX has in no encoding of Latin letters."""
UNADJUSTED = "unadjusted 95% CI"
"""What a paper calls an interval beside a p that is adjusted."""
NARROW, WIDE = 40, 75
"""Letters of a line of a table that one of two columns of a paper has room for, and one column alone."""


# ---- the record ------------------------------------------------------------------------------------------------


class Head(NamedTuple):
    """The name of a row or column."""

    label: str
    note: str = ""
    """A few more words, for example how many samples it has."""
    muted: bool = False
    link: str = ""
    """An address that the label leads to."""
    bare: bool = False
    """Whether the terminal shows a column's values without what stands beside them, such as intervals."""
    hidden: bool = False
    """Whether the terminal leaves the column out."""
    short: str | None = None
    """What the terminal shows instead, for example a code."""
    paper: str = ""
    """What LaTeX shows instead, for example of which kind an interval is."""

    @property
    def text(self) -> str:
        return f"{self.label} {self.note}".strip()


class Cell(NamedTuple):
    """One place of a table or heatmap."""

    text: str
    value: float | None = None
    """What the colour of a heatmap shows, -1 to 1; no colour without."""
    small: str = ""
    """Beside the text, for example an interval."""
    hint: str = ""
    """Shown when it is pointed at."""
    star: bool = False
    outlined: bool = False
    n: int | None = None
    """How many samples the value rests on, where it is a value of samples."""
    style: str = ""
    """How a list in the terminal shows it, for example `bold red`."""


Row = Sequence[Any]
"""The name of a row (words or a `Head`) and its values: a `Cell`, words, a value with what stands beside it, how many
there are, or None where it is not known."""


def as_head(name: Any) -> Head:
    """Return the name of a row or column."""
    return name if isinstance(name, Head) else Head(name[0] if isinstance(name, tuple) else str(name))


def _sentence(note: str) -> str:
    begins_with_word = note[:2].isalpha()  # not with a variable: n, p
    return (note[:1].upper() + note[1:] if begins_with_word else note).rstrip(".")


def as_cell(value: Any) -> Cell:
    """Return a value as the page shows it."""
    if isinstance(value, Cell):
        return value
    if isinstance(value, Head):
        return Cell(value.label, small=value.note)
    if isinstance(value, tuple):
        return Cell(value[0], small=value[1])
    return Cell(NOTHING if value is None else count(value) if isinstance(value, int) else value)


def _show(value: Any) -> Shown:
    """Return a value as the terminal and files show it."""
    if isinstance(value, Head):
        return value.text
    if isinstance(value, str) or type(value) is tuple:
        return value
    cell = as_cell(value)
    text = cell.text + "*" * cell.star
    return (text, cell.small) if cell.small else text


def _brief(value: Any) -> Shown:
    """Return a value as the terminal alone shows it."""
    return value.short if isinstance(value, Head) and value.short is not None else _show(value)


class Grid(PageBlock):
    """One table; all of its words are made harmless when it is shown."""

    columns: Sequence[str | Head]
    """Their names; the first column says what a row is."""
    sections: Sequence[tuple[str, Sequence[Row]]]
    """Rows under a heading each; an empty heading is not shown."""
    title: str = ""
    notes: Sequence[str] = ()
    """Lines under the table."""
    words: frozenset[int] = frozenset({0})
    """The columns that hold words, which may be wrapped."""
    most: int | None = None
    """Rows that the terminal shows at most; the page and files have all."""

    @property
    def macro(self) -> str:
        return "grid"

    @property
    def names(self) -> list[str]:
        """The names of the columns in words."""
        return [as_head(column).text for column in self.columns]

    @property
    def rows(self) -> list[Row]:
        """All rows, whatever heading they stand under."""
        return [row for _, rows in self.sections for row in rows]

    @property
    def heads(self) -> list[Head]:
        """The names of the rows."""
        return [as_head(row[0]) for row in self.rows]

    @property
    def cells(self) -> list[list[Cell]]:
        """The values of the rows."""
        return [[as_cell(value) for value in row[1:]] for row in self.rows]

    def turn(self, corner: str = "") -> Grid:
        """Return the table with rows as columns and columns as rows."""
        columns = [as_head(column) for column in self.columns[1:]]
        rows = [(column, *(row[place] for row in self.cells)) for place, column in enumerate(columns)]
        return replace(self, columns=(corner, *self.heads), sections=[("", rows)])

    def brief(self) -> Grid:
        """Return the form that the terminal shows: without hidden columns, without what stands beside bare values."""
        heads = [as_head(column) for column in self.columns]
        places = [place for place, head in enumerate(heads) if not head.hidden]

        def shorten(row: Row) -> list[Shown]:
            values = [_brief(value) for value in row]
            return [ends(values[place])[0] if heads[place].bare else values[place] for place in places]

        sections = [(heading, [shorten(row) for row in rows]) for heading, rows in self.sections]
        words = frozenset(new for new, place in enumerate(places) if place in self.words)
        return replace(self, columns=[str(_brief(heads[place])) for place in places], sections=sections, words=words)

    def lines(self) -> Iterator[tuple[str, list[Shown]]]:
        """Return every row with the heading that it stands under."""
        return ((heading, [_show(value) for value in row]) for heading, rows in self.sections for row in rows)

    def view(self) -> dict[str, Any]:
        """Return what the page draws."""
        heat = isinstance(self, Heat)
        columns = [as_head(column) for column in self.columns[1:]]
        upright = heat and len(columns) > 5 and any(len(column.label) > UPRIGHT for column in columns)
        counts = [cell.n for line in self.cells for cell in line if heat and cell.text != NOTHING]
        all_few = all(map(is_few, counts))
        return {
            "title": self.title,
            "kind": ("heat" if heat else "plain") + " upright" * upright,
            "columns": columns,
            "sections": [
                (
                    heading,
                    [(as_head(row[0]), [_look(as_cell(value), heat, all_few) for value in row[1:]]) for row in rows],
                )
                for heading, rows in self.sections
            ],
            "legend": few_sign("hatched", counts),
            "notes": [note for note in self.notes if note],
        }

    # ---- files and notebooks -----------------------------------------------------------------------------------

    def csv(self) -> str:
        """Return comma-separated values: intervals and headings have separate columns."""
        rows = list(self.lines())
        pairs = [any(isinstance(row[place], tuple) for _, row in rows) for place in range(len(self.columns))]
        headed = ["group"] * any(heading for heading, _ in rows)
        names = [(name, f"{name} (95% interval)")[: 1 + pair] for name, pair in zip(self.names, pairs, strict=True)]
        table = [[*headed, *chain.from_iterable(names)]]
        for heading, row in rows:
            cells = [ends(cell)[: 1 + pair] for cell, pair in zip(row, pairs, strict=True)]
            table.append([heading] * len(headed) + list(chain.from_iterable(cells)))
        return to_csv(table)

    def latex(self, label: str = "", caption: str = "") -> str:
        """Return a table for a paper, with caption, label and notes, for booktabs and graphicx."""
        count, texts = len(self.columns), [[join(_show(value)) for value in row] for row in self.rows]
        names = [as_head(column).paper or as_head(column).text for column in self.columns]
        widths = [max(map(len, column)) for column in zip(names, *texts, strict=True)]
        long, total = sum(width > LONG for width in widths), sum(min(width, LONG) + 2 for width in widths)
        forms = ("l" if place in self.words else "r" for place in range(count))
        broken = f"p{{{0.8 / max(1, long):.2f}\\linewidth}}"
        form = "".join(broken if width > LONG else form for width, form in zip(widths, forms, strict=True))
        lines = [rf"\begin{{tabular}}{{{form}}}", r"\toprule", rf"{' & '.join(map(latex, names))} \\"]
        rows = iter(texts)
        for heading, members in self.sections:
            lines.append(r"\midrule")
            lines += [rf"\multicolumn{{{count}}}{{l}}{{\emph{{{latex(heading)}}}}} \\"] if heading else []
            lines += [rf"{' & '.join(map(latex, next(rows)))} \\" for _ in members]
        lines += [r"\bottomrule", r"\end{tabular}"]
        if total > NARROW:  # scaled down if it is wider than the line
            lines = [r"\sbox0{%", *lines, "}%"]
            lines.append(r"\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi")
        explained = any("✕" in note for note in self.notes) or not any("✕" in text for row in texts for text in row)
        unscored = [] if explained else ["✕3: three more could not be scored"]
        if notes := [f"{latex(_sentence(note))}." for note in (*self.notes, *unscored) if note]:
            lines.append(rf"\par\smallskip\parbox{{\linewidth}}{{\footnotesize {' '.join(notes)}}}")
        title, kind = caption or self.title, "table*" if total > WIDE else "table"
        named = [rf"\caption{{{latex(title)}}}"] if title else []
        named += [rf"\label{{tab:{label}}}"] if label else []
        text = "\n".join([rf"\begin{{{kind}}}", r"\centering", *named, r"\smallskip", *lines, rf"\end{{{kind}}}", ""])
        if strange := sorted({char for char in text if char >= FOREIGN}):
            text = f"% pdfLaTeX has no font for {' '.join(strange)}: use LuaLaTeX or XeLaTeX, or other names\n{text}"
        return text

    def markdown(self) -> str:
        """Return the table in Markdown, under its title."""

        def name(head: Any) -> str:
            label, note = as_head(head)[:2]
            return markdown(f"{label} ({note})" if note else label)

        lines = [f"### {markdown(self.title)}", "", f"| {' | '.join(map(name, self.columns))} |"]
        lines.append("| --- |" + " ---: |" * (len(self.columns) - 1))
        for head, cells in zip(self.heads, self.cells, strict=True):
            texts = [f"**{markdown(cell.text)}**\\*" if cell.star else markdown(cell.text) for cell in cells]
            small = [f" {markdown(cell.small)}" if cell.small else "" for cell in cells]
            lines.append(f"| {' | '.join([name(head), *map(''.join, zip(texts, small, strict=True))])} |")
        return "\n".join([*lines, *(f"\n{markdown(note)}" for note in self.notes if note)])

    def html(self) -> str:
        """Return a plain table, for notebooks."""
        head = "".join(f"<th>{escape(harmless(name))}</th>" for name in self.names)
        body = ""
        for heading, rows in self.sections:
            if heading:
                body += f'<tr><th colspan="{len(self.columns)}">{escape(harmless(heading))}</th></tr>'
            for row in rows:
                cells = (f"<td>{escape(join(_show(value)))}</td>" for value in row)
                body += f"<tr>{''.join(cells)}</tr>"
        caption = f"<caption>{escape(harmless(self.title))}</caption>" if self.title else ""
        notes = "".join(f"<p>{escape(harmless(note))}</p>" for note in self.notes if note)
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"

    _repr_html_ = html

    # ---- the terminal ------------------------------------------------------------------------------------------

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        brief, notes = self.brief(), list(self.notes)
        sections = [(heading, rows[: self.most]) for heading, rows in brief.sections]
        if hidden := len(self.rows) - sum(len(rows) for _, rows in sections):
            notes[-1:] = ["; ".join(filter(None, [*notes[-1:], f"{hidden:,} more are on the page and in the files"]))]
        if self.title:
            yield Text(harmless(self.title), style="italic")
        yield from self._lay_out(Laid(brief.names, sections, brief.words), options.max_width)
        for note in filter(None, notes):
            yield Text(harmless(note), style="dim")

    def _lay_out(self, table: Laid, room: int) -> Iterable[RenderableType]:
        return lay_out(table, room)


class Heat(Grid):
    """A table whose cells are coloured from -1 over 0 (no colour) to 1."""


class ListGrid(Grid):
    """A long table of single things: in the terminal each takes a line, and the last column is cut."""

    limits: Sequence[int] = ()
    """Widths at which the terminal folds the other columns."""

    def _lay_out(self, table: Laid, room: int) -> Iterable[RenderableType]:  # noqa: ARG002 - rich finds the room
        styles = [[as_cell(value).style for value in row] for row in self.rows]
        return [lay_list(table._replace(styles=styles), self.limits)]


def make_grid(
    title: str, columns: Iterable[str | Head], rows: Iterable[Row], *notes: str, kind: type[Grid] = Grid, **more: Any
) -> Grid:
    """Return a table whose rows stand under no headings."""
    return kind(list(columns), [("", list(rows))], title, [note for note in notes if note], **more)


def _look(cell: Cell, heat: bool, all_few: bool) -> tuple[Cell, str, str]:
    """Return a cell, its classes, and what stands small in it.

    A cell of few samples has no colour beside cells of many; where no cell has many, hatched colours are all there is.
    """
    few = heat and is_few(cell.n) and cell.text != NOTHING
    shade = ["few"] * few + (shade_of(cell.value) if heat and (all_few or not few) else [])
    classes = [*shade, *(["outlined"] if cell.outlined else []), *(["none"] if cell.text == NOTHING else [])]
    return cell, " ".join(classes), f"{few_count(cell.n)} {cell.small}".strip() if few else cell.small


# ---- results as cells ------------------------------------------------------------------------------------------


def number_cell(result: Result | None, digits: int = 2, *, signed: bool = False) -> Cell:
    """Return `0.41 [0.38, 0.44]`."""
    if result is None or result.value is None:
        return Cell(NOTHING)
    interval = span(result.low, result.high, digits, signed=signed)
    hint = f"{span(*result.whole, digits, signed=signed)} whatever the unscored are" if result.whole else ""
    return Cell(number(result.value, digits, signed=signed), result.value, interval, hint, n=result.n)


def share_cell(result: Result | None) -> tuple[str, str]:
    """Return `41.0% (38.2–43.9%)`."""
    interval = between(result)
    return percent(result.value if result else None), f"({interval})" if interval else ""


def count_cell(n: int, unscored: int = 0) -> Cell:
    """Return how many there are, and how many more could not be scored: `40 ✕3`."""
    return Cell(f"{n:,}", small=left_out(unscored))


# ---- printing --------------------------------------------------------------------------------------------------


def plain_console(*, stderr: bool = False, quiet: bool = False) -> Console:
    """Return a console that prints words unchanged: `openai:m:` is a name, and neither an emoji nor markup."""
    return Console(stderr=stderr, quiet=quiet, highlight=False, markup=False, emoji=False)


def print_tables(tables: Iterable[Grid | str], *, stderr: bool = False) -> None:
    """Print tables with a free line after each, and sentences that are broken only by the terminal."""
    console = plain_console(stderr=stderr)
    for table in tables:
        if isinstance(table, str):
            console.print(harmless(table), soft_wrap=True)
        else:
            console.print(table, *[] if isinstance(table, ListGrid) else [""])


def tables_html(tables: Iterable[Grid | str]) -> str:
    """Return the same for notebooks."""
    return "".join(f"<p>{escape(harmless(t))}</p>" if isinstance(t, str) else t.html() for t in tables)
