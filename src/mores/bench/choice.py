"""Reading a chosen letter, or True and False, in what a model says: strictly, and saying what could not be read."""

from __future__ import annotations

import re
from string import ascii_uppercase

from mores.bench.benchmark import Graded, Label
from mores.types import Failure, FailureKind, Item

_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_ALONE = re.compile(r"[\s\"'*_`(\[{<]*(?:option\s+)?([A-Z])[\s\"'*_`)\]}>.:,]*", re.IGNORECASE)
_LEADING = re.compile(r"[\s\"'*_`(\[]*(?:option\s+)?([A-Z])(?:[)\].:]|\*\*|\s*[-–—])(?:\s|$)")
_SAID = re.compile(
    r"(?:answer|choice|option|correct)(?:\s+(?:is|would\s+be|must\s+be|option))*\s*[:=]?[\s\"'*_`(\[]*(?:option\s+)?"
    r"([A-Z])(?![\w'’])",
    re.IGNORECASE,
)
_TRUTH = re.compile(r"(?<!\w)(true|false)(?!\w)", re.IGNORECASE)


def read_letter(text: str, count: int) -> str | Failure:
    """The one letter that an answer chooses of the first `count`; a failure where it chooses none, or several."""
    said = _THOUGHT.sub("", text).strip()
    allowed = ascii_uppercase[:count]
    for found in (_one(_ALONE.fullmatch(said)), _one(_LEADING.match(said)), _agreed(_SAID.findall(said))):
        if found is not None and found in allowed:
            return found
    return _unread(said, f"a letter from A to {allowed[-1]}")


def read_truth(text: str) -> bool | Failure:
    """Whether an answer says True or False; a failure where it says neither, or both."""
    said = _THOUGHT.sub("", text)
    found = {word.lower() for word in _TRUTH.findall(said)}
    return found == {"true"} if len(found) == 1 else _unread(said.strip(), "True or False")


def grade_letter(item: Item, text: str) -> Graded | Failure:
    """Right when the letter is that of a target among the choices."""
    letter = read_letter(text, len(item.choices))
    if isinstance(letter, Failure):
        return letter
    right = item.choices[ascii_uppercase.index(letter)] in item.target
    return Graded(label=Label.CORRECT if right else Label.INCORRECT, read=letter)


def grade_truth(item: Item, text: str) -> Graded | Failure:
    """Right when it says the target, `True` or `False`."""
    truth = read_truth(text)
    if isinstance(truth, Failure):
        return truth
    return Graded(label=Label.CORRECT if str(truth) in item.target else Label.INCORRECT, read=str(truth))


def _one(match: re.Match[str] | None) -> str | None:
    return match[1].upper() if match else None


def _agreed(letters: list[str]) -> str | None:
    distinct = {letter.upper() for letter in letters}
    return distinct.pop() if len(distinct) == 1 else None


def _unread(said: str, wanted: str) -> Failure:
    return Failure(kind=FailureKind.PARSE, reason=f"no single choice in {said[:80]!r}; expected {wanted}")
