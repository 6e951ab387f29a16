"""Makes a page of a document: one HTML file that asks the network for nothing.

Everything stands in it as escaped markup, so that it can be read and printed without its script, which only filters,
sorts and points; the page's policy forbids any other script, style or address.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from mores.formatting import blame_failure, count, number, percent, show_code, show_failures, show_score
from mores.report.base.blocks import STEPS, Fold, PageBlock, Paragraph, RunList, Section, Signatures
from mores.report.base.charts import COLOURS
from mores.report.base.document import ResultDocument
from mores.report.base.names import LONG, without_overrides

REPORT = Path(__file__).parent.parent
MANY = 3
"""Signatures that are shown at once; more are folded."""
UNWRITABLE = re.compile("[\r\0\ud800-\udfff]")
"""What a browser would change or drop as it reads the page, and what cannot be written as UTF-8."""


def render_page(document: ResultDocument) -> str:
    """Return the document as one HTML file."""
    sections = [*document.sections, *document.details()]
    if document.links:
        lead = Paragraph("The files that these numbers are from, and other pages that show them.")
        sections.append(Section("runs", "Runs", [lead, RunList(document.links)]))
    if document.signatures:
        lead = Paragraph("What must be the same for two numbers to be comparable.")
        shown = Signatures(document.signatures)
        many = len(document.signatures) > MANY
        folded = Fold(f"{len(document.signatures):,} signatures", [shown]) if many else shown
        sections.append(Section("signatures", "Signatures", [lead, folded]))
    drawn = [block for block in sections if not isinstance(block, Section) or block.body]
    script = _asset("base/page.js") if document.script else ""
    values = {"page": document, "sections": drawn, "style": style_sheet(), "script": script}
    return writable(environment().get_template("base/page.html.j2").render(values))


def writable(html: str) -> str:
    """Markup that can be written to a file and is read from it unchanged."""
    return UNWRITABLE.sub(lambda char: "&#13;" if char[0] == "\r" else "\N{REPLACEMENT CHARACTER}", html)


def draw(blocks: PageBlock | Markup | Iterable[PageBlock | Markup]) -> Markup:
    """Return blocks as markup, each by its own macro; what is markup already is kept."""
    if isinstance(blocks, Markup):
        return blocks
    if isinstance(blocks, PageBlock):
        drawn: Markup = getattr(_macros(blocks.template), blocks.macro)(blocks.view())
        return drawn
    return Markup("\n").join(draw(block) for block in blocks)


@cache
def environment() -> Environment:
    """Return the templates of pages, with the filters that they use."""
    made = Environment(loader=FileSystemLoader(REPORT), autoescape=True, undefined=StrictUndefined)
    made.filters.update(
        draw=draw, without_overrides=without_overrides, thousands=count, number=number, percent=percent,
        score=show_score, code=show_code, blame_failure=blame_failure, show_failures=show_failures,
    )  # fmt: skip
    made.filters["hash"] = lambda asset: "sha256-" + b64encode(sha256(asset.encode()).digest()).decode()
    made.globals["LONG"] = LONG
    return made


@cache
def _macros(template: str) -> Any:
    return environment().get_template(template).module


@cache
def style_sheet() -> Markup:
    """Return the style sheet: a rule with N in its name is there for each colour, one with M for each shade."""
    css = str(_asset("base/page.css"))
    for sign, numbers in {"N": range(COLOURS), "M": range(1, STEPS + 1)}.items():
        rules = re.compile(rf"^\.\S+{sign} {{.*\n", re.MULTILINE)
        css = rules.sub(lambda rule: "".join(rule[0].replace(sign, str(n)) for n in numbers), css)  # noqa: B023
    return Markup(css)


@cache
def _asset(name: str) -> Markup:
    return Markup((REPORT / name).read_text(encoding="utf-8"))
