"""Words that are safe wherever they are shown: in a terminal, LaTeX, Markdown and a spreadsheet."""

from __future__ import annotations

import re
import unicodedata

Shown = str | tuple[str, str]
"""What a place shows outside of a page: a value, or a value and its interval."""
CELL = 200
"""Code points of a text that can reach a cell; rich cuts the rest of the way."""
JOINERS = "\u200c\u200d"
"""Invisible, but part of how Persian, Indic scripts and emoji are written."""
LATEX = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", "`": r"\textasciigrave{}", '"': r"\char34{}",
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "−": "$-$", "×": r"$\times$", "✕": r"$\times$",
    "±": r"$\pm$", "≤": r"$\leq$", "≥": r"$\geq$", "≈": r"$\approx$", "≠": r"$\neq$",
    "↓": r"$\downarrow$", "↑": r"$\uparrow$", "→": r"$\to$",
    "←": r"$\leftarrow$", "∞": r"$\infty$", "√": r"$\surd$", "²": "$^{2}$", "³": "$^{3}$", "·": r"$\cdot$",
    "…": r"\ldots{}", "‘": "`", "’": "'", "“": "``", "”": "''", "½": "1/2",
}  # fmt: skip
GREEK = {
    char: unicodedata.name(char).split()[-1].lower().replace("lamda", "lambda") for char in "αβγδεζηθικλμνξπρστυφχψω"
}
"""Letters that stand for coefficients."""
ACCENTS = dict(
    zip(
        "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0323\u0327\u0331",
        "`'^~=u.\"rHvdcb",
        strict=True,
    )
)
"""Commands for the marks of letters, which every engine and every font of LaTeX has."""
BELOW_LINE = "\u0323\u0327\u0331"
"""Marks that stand below a letter, where an i keeps its dot."""
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


def latex(words: str) -> str:
    """Return all of a text for LaTeX, on one line: nothing in it is a command, and marked letters are."""
    text = unicodedata.normalize("NFD", harmless(words))
    text = unicodedata.normalize("NFC", re.sub(r"(.)([\u0300-\u036f]*)", _escape, text))
    letter = rf"(?<![^\W\d_])[{''.join(GREEK)}](?![^\W\d_])"  # alone: others are part of a Greek word
    text = re.sub(letter, lambda match: f"$\\{GREEK[match[0]]}$", text)
    text = re.sub(r"-(?=-)", "-{}", re.sub(r"\*$", r"$^{*}$", text)).replace("—", "---").replace("–", "--")
    return "{}" + text if text.startswith(("[", "*")) else text  # after the end of a row these would be its arguments


def _escape(match: re.Match[str]) -> str:
    """Return a letter and its marks as LaTeX; letters that need a font of their own stay."""
    letter, marks = match[1], match[2]
    if not (marks and letter.isascii() and letter.isalpha() and all(mark in ACCENTS for mark in marks)):
        return "".join(LATEX.get(char, char) for char in unicodedata.normalize("NFC", match[0]))
    for mark in marks:
        dotless = "\\" if letter in ("i", "j") and mark not in BELOW_LINE else ""
        letter = rf"\{ACCENTS[mark]}{{{dotless}{letter}}}"
    return letter


def markdown(text: str) -> str:
    """Return words that Markdown shows unchanged, on one line."""
    return MARKDOWN.sub(r"\\\1", plain(text))
