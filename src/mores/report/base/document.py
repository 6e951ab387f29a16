"""A result, described once: the record that every renderer shows, whatever kind of run it is from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mores.io import write_text
from mores.io.private import make_folder
from mores.report.base.blocks import Caution, PageBlock, RunLinks, Section
from mores.report.base.grid import Grid


@dataclass(frozen=True)
class ResultDocument:
    """The headline, figures, tables, charts, cards and notes of a result."""

    brand: str
    """What kind of result it is, in words."""
    heading: str
    printed: Sequence[Grid | str]
    """What the terminal and notebooks show, in this order; the headline is the last line."""
    sections: Sequence[Section] = ()
    """The tables and charts of the page, which are also written for papers; those without blocks are left out."""
    details: Callable[[], Sequence[PageBlock]] = tuple
    """Reads what only a page shows after the numbers, such as the single answers."""
    opening: Sequence[PageBlock] = ()
    """At the top of the page: the main number and what it means."""
    tables: Mapping[str, Grid] = field(default_factory=dict)
    """The tables that the run's own folder has, by the names of their files."""
    facts: Mapping[str, str] = field(default_factory=dict)
    warning: str | None = None
    cautions: Sequence[Caution] = ()
    links: Sequence[RunLinks] = ()
    """The runs that the numbers are from."""
    signatures: Sequence[tuple[str, object]] = ()
    """What must be the same for two numbers to be comparable, by name."""
    look: str = "report bench"
    """The classes of the page's body."""
    script: bool = False
    """Whether the page has cards to search and filter."""
    empty: str = "There is nothing to show."
    name: str = ""
    """The title of the page, unless it is the heading and the kind of result."""

    @property
    def title(self) -> str:
        return self.name or f"{self.heading}: {self.brand}"

    def write_tables(self, folder: Path) -> None:
        """Write the tables of the run's own folder, as CSV and as LaTeX."""
        for name, grid in self.tables.items():
            make_folder(folder)
            write_text(folder / f"{name}.csv", grid.csv())
            write_text(folder / f"{name}.tex", grid.latex(name))
