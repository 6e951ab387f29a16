"""Makes a page of its sections: one HTML file that asks the network for nothing.

Everything stands in it as escaped markup, so that it can be read and printed without its script, which only filters,
sorts and points; the page's policy forbids any other script, style or address.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from mores.formatting import count, name_failure, number, percent, show_failures, show_score
from mores.report.base.blocks import Block, Hero, Runs, Section, Signatures, Text
from mores.report.base.links import RunLinks
from mores.report.base.names import LONG, without_overrides

REPORT = Path(__file__).parent.parent
UNWRITABLE = re.compile("[\r\0\ud800-\udfff]")
"""What a browser would change or drop as it reads the page, and what cannot be written as UTF-8."""
COMPARABLE = Text("What must be the same for two numbers to be comparable.")


@dataclass(frozen=True)
class Page:
    """What every page has."""

    kind: str
    """The classes of its body."""
    brand: str
    """What kind of page it is, in words."""
    heading: str
    sections: Sequence[Section]
    """Those without blocks are left out."""
    facts: Mapping[str, str] = field(default_factory=dict)
    warning: str | None = None
    hero: Hero | None = None
    script: bool = False
    empty: str = "There is nothing to show."
    name: str = ""
    """The document's title, unless it is the heading and the kind of page."""

    @property
    def title(self) -> str:
        return self.name or f"{self.heading}: {self.brand}"


def render(page: Page, template: str = "base/page.html.j2", **more: Any) -> str:
    """Return the whole page; another template extends the base and gets `more`."""
    shown = [section for section in page.sections if section.body]
    script = _asset("base/page.js") if page.script else ""
    values = {"page": _with(page, shown), "style": _asset("base/page.css"), "script": script}
    return writable(_environment().get_template(template).render(values | more))


def writable(html: str) -> str:
    """Markup that can be written to a file and is read from it unchanged."""
    return UNWRITABLE.sub(lambda char: "&#13;" if char[0] == "\r" else "\N{REPLACEMENT CHARACTER}", html)


def _with(page: Page, sections: Sequence[Section]) -> Page:
    return Page(**{**page.__dict__, "sections": sections})


def draw(blocks: Block | Markup | Iterable[Block | Markup]) -> Markup:
    """Blocks as markup, each by its own macro; what is markup already is kept."""
    if isinstance(blocks, Markup):
        return blocks
    if isinstance(blocks, Block):
        drawn: Markup = getattr(_macros(blocks.template), blocks.macro)(blocks.view())
        return drawn
    return Markup("\n").join(draw(block) for block in blocks)


@cache
def _environment() -> Environment:
    environment = Environment(loader=FileSystemLoader(REPORT), autoescape=True, undefined=StrictUndefined)
    environment.filters.update(
        draw=draw, hash=_hash, without_overrides=without_overrides, thousands=count, number=number, percent=percent,
        score=show_score, name_failure=name_failure, show_failures=show_failures,
    )  # fmt: skip
    environment.globals["LONG"] = LONG
    return environment


@cache
def _macros(template: str) -> Any:
    return _environment().get_template(template).module


@cache
def _asset(name: str) -> Markup:
    return Markup((REPORT / name).read_text(encoding="utf-8"))


def _hash(asset: str) -> str:
    """Return what the page's policy allows a style or script by."""
    return "sha256-" + b64encode(sha256(asset.encode()).digest()).decode()


# ---- sections that several pages have --------------------------------------------------------------------------


def runs_section(links: Sequence[RunLinks]) -> Section:
    """Return where the numbers are from."""
    lead = Text("The files that these numbers are from, and other pages that show them.")
    return Section("runs", "Runs", [lead, Runs(links)] if links else [])


def signatures_section(rows: Sequence[tuple[str, object]]) -> Section:
    """Return the signature of every number."""
    return Section(
        "signatures",
        "Signatures",
        [COMPARABLE, Signatures(rows)] if rows else [],
    )
