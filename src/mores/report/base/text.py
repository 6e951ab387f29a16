"""Words that are safe wherever they are shown: in a terminal, LaTeX, Markdown and a spreadsheet."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

Shown = str | tuple[str, str]
"""What a place shows outside of a page: a value, or a value and its interval."""
CELL = 200
"""Code points of a text that can reach a cell; rich cuts the rest of the way."""
JOINERS = "\u200c\u200d"
"""Invisible, but part of how Persian, Indic scripts and emoji are written."""
LATEX = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "−": "$-$", "–": "--",
    "×": r"$\times$",
    "±": r"$\pm$", "✕": r"$\times$", "≤": r"$\leq$", "τ": r"$\tau$", "α": r"$\alpha$", "κ": r"$\kappa$",
    "↓": r"$\downarrow$", "↑": r"$\uparrow$", "→": r"$\to$", **{char: f"\\{char}" for char in "&%$#_{}"},
}  # fmt: skip
MARKDOWN = re.compile(r"([\\`*|<>\[\]])")


def plain(text: str) -> str:
    """Return the beginning of `text` on one line, without anything that could steer a terminal."""
    return " ".join("".join(map(_harmless, text[:CELL])).split())


def harmless(words: str) -> str:
    """Return all of a text on one line, without signs that a terminal obeys: names of models are others' words."""
    return " ".join(map(plain, words.split()))


def _harmless(char: str) -> str:
    if char.isspace():
        return " "
    category = unicodedata.category(char)
    if category == "Cc":  # shown as its picture: an escape sequence without its escape is only odd text
        return chr(0x2400 + ord(char)) if ord(char) < 0x20 else "\N{REPLACEMENT CHARACTER}"
    if category == "Cs":
        return "\N{REPLACEMENT CHARACTER}"
    return "" if category == "Cf" and char not in JOINERS else char


def ends(cell: Shown) -> tuple[str, str]:
    """Return a value and what stands beside it, if anything does."""
    return (cell, "") if isinstance(cell, str) else cell


def join(cell: Shown, sign: str = " ") -> str:
    """Return a value with what stands beside it."""
    return sign.join(filter(None, map(plain, ends(cell))))


def latex(cells: Sequence[str]) -> str:
    """Return one line of a LaTeX table."""
    texts = ("".join(LATEX.get(char, char) for char in plain(cell)) for cell in cells)
    return " & ".join(re.sub(r"\*$", r"$^{*}$", text) for text in texts)


def markdown(text: str) -> str:
    """Return words that Markdown shows unchanged, on one line."""
    return MARKDOWN.sub(r"\\\1", plain(text))
