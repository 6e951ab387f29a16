"""The option that a model chose, read strictly from its words: one letter, True or False, or None where there is none.

Only the standard library is used: a task exported to another harness has a copy of this code (`mores.harness.export`).
"""

from __future__ import annotations

import re
from string import ascii_uppercase

_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)|\A.*</think>", re.DOTALL | re.IGNORECASE)
_ALONE = re.compile(r"[\s\"'*_`(\[{<]*(?:option\s+)?([A-Z])[\s\"'*_`)\]}>.:,]*", re.IGNORECASE)
# "A and B", "(A), (B)": several are named. "I" is left out, for it is a word: "B, I think".
_SEVERAL = r"(?!\s*(?:,|/|&|\+|and\b|or\b)\s*(?:and\s+|or\s+)?[(\[\"'*_`]*(?i:option\s+)?[A-HJ-Z](?!\w))"
_MARKED = re.compile(
    r"^[ \t\"'*_`(\[{<#>-]*(?i:option\s+)?([A-Z])"
    rf"(?:[)\]}}>.:,*_`\"']*[ \t]*$|(?:[)\].:]|\*\*|[ \t]*[-–—]){_SEVERAL}(?=[\s*]))",
    re.MULTILINE,
)
# A bare letter must be followed by an end or a reason: "the answer is a matter of taste" and "A man" choose nothing.
_STATED = re.compile(
    r"\b(?:answer|choice|option|correct)(?:\s+(?:is|would\s+be|must\s+be|option)){0,3}\s*+[:=]?[\s\"'*_`(\[]*+(?:option\s+)?"
    rf"([A-Z])(?:[\"'*_`)\]]++(?!\w){_SEVERAL}"
    rf"|{_SEVERAL}(?=\s*(?:$|[.,;:!?\n–—-]|(?:because|since|as|which|is\s+(?:the\s+)?(?:correct|right|best))\b)))",
    re.IGNORECASE,
)
_BEST = re.compile(r"(?i:\bbest\s+answer\s+is)\W*([A-Z])(?!\w)")
_TRUTH = re.compile(r"(?<!\w)(true|false)(?!\w)", re.IGNORECASE)
_DENIED = re.compile(r"(?:\bnot|n['’]t|\bnever|\bneither)\s+(?:\w+\s+){0,2}(?:true|false)\b", re.IGNORECASE)


def without_thoughts(text: str) -> str:
    """Return the text after the model's thoughts; empty if the thoughts were cut off."""
    return _THOUGHT.sub("", text).strip()


def split_thoughts(text: str) -> tuple[str, str]:
    """Return the text after the model's thoughts, and the thoughts."""
    if "<" not in text:
        return text.strip(), ""
    return without_thoughts(text), "".join(_THOUGHT.findall(text))


def chosen_letter(text: str, count: int) -> str | None:
    """Return the one letter that an answer chooses of the first `count`."""
    letter = _letter(without_thoughts(text))
    return letter if letter and letter in ascii_uppercase[:count] else None


def last_letter(text: str, count: int) -> str | None:
    """Return the letter of the last "The best answer is: B", where a prompt asks for it at the end; else any letter."""
    stated = _BEST.findall(without_thoughts(text))
    return chosen_letter(stated[-1] if stated else text, count)


def _letter(answer: str) -> str | None:
    """Return a letter alone, or that of "the answer is B" unless another leads, or the only one that leads a line."""
    if alone := _ALONE.fullmatch(answer):
        return str(alone[1]).upper()
    stated = {str(letter).upper() for letter in _STATED.findall(answer)}
    leading = set(map(str, _MARKED.findall(answer)))
    if len(leading) == 1 and stated <= leading:
        return leading.pop()
    return stated.pop() if len(stated) == 1 and len(leading) != 1 else None


def chosen_truth(text: str) -> str | None:
    """Return `True` or `False`, whichever an answer says; None where it says neither, both, or "not true"."""
    answer = without_thoughts(text)
    words = {word.capitalize() for word in _TRUTH.findall(answer)}
    return words.pop() if len(words) == 1 and not _DENIED.search(answer) else None
