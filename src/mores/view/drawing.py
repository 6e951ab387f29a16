"""Draws the pages of the viewer with the cards, tables and style of reports."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from pathlib import Path
from shlex import quote
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader

from mores.culture import language_name, region_name
from mores.report.base.page import REPORT, environment, style_sheet, writable

HERE = Path(__file__).parent


@cache
def style() -> str:
    """Return the style sheet of reports, and what the viewer adds."""
    return f"{style_sheet()}\n{(HERE / 'view.css').read_text('utf-8')}"


@cache
def script() -> str:
    """Return the script of the viewer."""
    return (HERE / "view.js").read_text("utf-8")


@cache
def _templates() -> Environment:
    loader = ChoiceLoader([FileSystemLoader(HERE / "templates"), FileSystemLoader(REPORT)])
    made = environment().overlay(loader=loader)
    made.filters = made.filters | {
        "named": lambda values: [(value, value) for value in values],
        "counted": lambda names, counts: [(value, f"{name} ({counts.get(value, 0):,})") for value, name in names],
        "offered": lambda options: [(value, f"{name} ({n:,})") for value, name, n in options],
        "shell": lambda path: quote(str(path)),
    }
    made.globals = dict(made.globals)
    made.globals["version"] = blake2b((style() + script()).encode(), digest_size=6).hexdigest()
    return made


def prepare() -> None:
    """Compile the templates and load the names of languages and regions, so that the first visitor does not wait."""
    for path in (HERE / "templates").iterdir():
        _templates().get_template(path.name)
    _templates().get_template("cards/score.html.j2")
    language_name("en")
    region_name("US")


def render(template: str, **values: Any) -> str:
    """Return a page."""
    return writable(_templates().get_template(template).render(values))
