"""Checks of errors, from edition 3 on: none may be an accepted answer, lie in an accepted range or break the grammar.

An answer is accepted that contains an accepted one or is part of it; a number, month or weekday that lies in the range
of an accepted answer ("7 to 9 pm", "over 30", "June–August") or between two accepted answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from math import inf
from typing import NamedTuple

from mores.culture import region_name
from mores.factory.errors.rules.edit import TextEdit, data, primary
from mores.factory.items import SourceItem, Task
from mores.factory.sources.matching import alike
from mores.factory.statement import Statement, is_plural

SHORT = 60
"""Maximum characters of an answer whose numbers are compared; a longer one is a text with other numbers too."""

_TIME = r"(\d{1,2})(?::(\d\d))?\s?([ap])\.?m\b"
_NUMBER = r"\d+(?:[.,:]\d+)*"
_APART = re.compile(r"[,;،、/]|^.{16,}$", re.DOTALL)
"""Words between two numbers that are not the ends of a range."""
_FROM = re.compile(
    r"(?:over|above|more than|at least|after|from|más de|al menos|lebih dari|超过|至少|بیش از|أكثر من)\s*$", re.I
)
_AFTER_FROM = re.compile(r"\s*(?:or more|\+|以上|이상|y más|en adelante)", re.IGNORECASE)
_TO = re.compile(
    r"(?:under|below|less than|at most|up to|before|menos de|hasta|kurang dari|不到|最多|کمتر از|أقل من)\s*$", re.I
)
_AFTER_TO = re.compile(r"\s*(?:or less|or fewer|以下|以内|이하)", re.IGNORECASE)


class AcceptedRange(NamedTuple):
    """Numbers of one kind, from the lowest to the highest, both included."""

    kind: str
    low: float
    high: float


def is_sound(edit: TextEdit, statement: Statement) -> bool:
    """Return whether a changed statement is surely wrong, and grammatical."""
    text, start, end = statement.text, statement.start, statement.start + len(statement.stated.answer)
    if start <= edit.start and edit.end <= end:
        changed = edit.shifted(-start).apply(statement.stated.answer)
        if is_accepted(changed, statement.stated, whole=(edit.start, edit.end) == (start, end)):
            return False
    return primary(statement.item) != "en" or is_grammatical(edit, text)


def without_accepted(item: SourceItem) -> SourceItem | None:
    """Return an item without wrong answers that are accepted ones; None for a choice that loses all of them."""
    wrong = tuple(answer for answer in item.wrong if not is_accepted(answer, item, whole=True))
    if wrong == item.wrong:
        return item
    if not wrong and item.task is Task.QA:
        return None
    options = tuple(option for option in item.options if option == item.answer or option in wrong)
    return item.model_copy(update={"wrong": wrong, "options": options})


def with_capitals(item: SourceItem) -> SourceItem:
    """Return an English item whose answers have capitals in the names of countries, peoples, months and weekdays.

    BLEnD's answers in English are in lower case.
    """
    if not item.is_english or item.task is Task.GENERATION:
        return item

    def fix(answer: str) -> str:
        return answer if answer != answer.lower() else _capitals().sub(lambda m: _capital_of()[m[0]], answer)

    many = {name: tuple(map(fix, getattr(item, name))) for name in ("options", "wrong", "also_correct")}
    return item.model_copy(update=many | {"answer": fix(item.answer)})


@cache
def _capital_of() -> dict[str, str]:
    """Return names by their form in lower case, without those that are also other words."""
    swap, numbers = data("swap"), data("numbers")
    names = {*swap["demonyms"].values(), *map(region_name, swap["demonyms"])}
    names |= {name for table in ("months", "weekdays") for group in numbers[table]["en"] for name in group}
    names |= {"English", "Christmas", "Easter", "Ramadan", "Muslim", "Islamic", "Buddhist", "Christian", "Hindu"}
    return {name.lower(): name for name in names if name.lower() not in AMBIGUOUS and name[:1].isupper()}


AMBIGUOUS = {"turkey", "china", "chile", "polish", "may", "march", "august", "jordan", "swedish", "dutch"}


@cache
def _capitals() -> re.Pattern[str]:
    return re.compile(
        rf"(?<![\w-])(?:{'|'.join(sorted(map(re.escape, _capital_of()), key=len, reverse=True))})(?![\w-])"
    )


def is_accepted(answer: str, item: SourceItem, *, whole: bool) -> bool:
    """Return whether an answer may be correct; `whole` if it replaces the whole correct one.

    That "not ironic" is wrong where "ironic" is correct is what a source says itself.
    """
    accepted = (item.answer, *item.also_correct)
    others = accepted if whole and answer not in item.wrong else item.also_correct
    if max(map(len, (answer, *accepted))) > SHORT:
        return whole and any(alike(answer, other) for other in others)
    ranges = list(_ranges(answer, primary(item)))
    if not ranges:
        return any(alike(answer, other) for other in others)
    known = [found for other in accepted for found in _ranges(other, primary(item))]
    return all(_is_within(part, [other for other in known if other.kind == part.kind]) for part in ranges)


def _is_within(part: AcceptedRange, known: Iterable[AcceptedRange]) -> bool:
    ends = [end for other in known for end in (other.low, other.high)]
    return bool(ends) and min(ends) <= part.low and part.high <= max(ends)


@lru_cache(maxsize=32_768)
def _ranges(text: str, language: str) -> tuple[AcceptedRange, ...]:
    """Return the numbers, times, months and weekdays of an answer; two with few words between them are a range."""
    return tuple(_read_ranges(text, language))


def _read_ranges(text: str, language: str) -> Iterator[AcceptedRange]:
    waiting: tuple[AcceptedRange, int] | None = None
    for match in _pattern(language).finditer(text):
        kind, value = _value(match, language)
        if waiting and waiting[0].kind == kind and not _APART.search(text[waiting[1] : match.start()]):
            low, high = sorted((waiting[0].low, value))
            yield AcceptedRange(kind, low, high)
            waiting = None
            continue
        if waiting:
            yield waiting[0]
        after, before = text[match.end() :], text[: match.start()]
        has_start = _FROM.search(before) or _AFTER_FROM.match(after)
        has_end = _TO.search(before) or _AFTER_TO.match(after)
        found = AcceptedRange(kind, -inf if has_end else value, inf if has_start else value)
        waiting = found, match.end()
    if waiting:
        yield waiting[0]


def _value(match: re.Match[str], language: str) -> tuple[str, float]:
    """Return the kind of a number or a name, and its value; hours count as numbers."""
    word = match[0].casefold()
    if word in _names(language):
        return _names(language)[word]
    if match[1]:
        return "number", (int(match[1]) % 12 + 12 * (match[3].casefold() == "p")) * 60 + int(match[2] or 0)
    if re.fullmatch(r"\d+(?:[.,]\d{3})+", word):
        return "number", int(re.sub("[.,]", "", word)) * 60
    whole, _, part = re.sub("[.,]", ".", word).partition(":" if ":" in word else ".")
    minutes = int(part[:2]) if ":" in word else round(60 * float(f"0.{part or 0}")) if part.isdecimal() else 0
    return "number", int(whole.split(".")[0]) * 60 + minutes


@cache
def _names(language: str) -> dict[str, tuple[str, float]]:
    """Return the kind and the place in its order of the name of a month, a weekday or a small number."""
    tables = data("numbers")
    values = {
        "words": (*range(2, 11), 12, *range(20, 80, 10), 90),
        "months": range(1, 13),
        "weekdays": range(1, 8),
    }
    found: dict[str, tuple[str, float]] = {}
    for table, numbers in values.items():
        kind, step = ("number", 60) if table == "words" else (table, 1)
        of_language = tables[table].get(language, ())
        names = (
            [name for group in of_language for name in group] if table == "words" else of_language and of_language[0]
        )
        found |= {name.casefold(): (kind, number * step) for name, number in zip(names or (), numbers, strict=False)}
    return found


@cache
def _pattern(language: str) -> re.Pattern[str]:
    names = "|".join(rf"\b{re.escape(name)}\b" for name in sorted(_names(language), key=len, reverse=True))
    return re.compile("|".join(filter(None, (_TIME, _NUMBER, names))), re.IGNORECASE)


_ARTICLE = re.compile(r"\b(an?) $", re.IGNORECASE)
_VOWEL = re.compile(r"(?!eu|one\b|once|uni|us[ae]|uk|ur[ao])[aeiou]|hour|honest|honou?r|heir", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_CUT_NUMBER = re.compile(r"\d[.,] \d*$")
"""Before the rest of a number that a space has cut: "1. 9 million"."""
_SINGULAR = re.compile(r"(?:: that)? (?:is|was|has|does)\b")
_PLURAL = re.compile(r" (?:are|were|have|do)\b")


def is_grammatical(edit: TextEdit, text: str) -> bool:
    """Return whether an English text has the article, the number and the capital that it needs, and no word twice."""
    before, old, after = text[: edit.start], text[edit.start : edit.end], text[edit.end :]
    if _CUT_NUMBER.search(f"{before}{edit.new}") or (edit.new[-1:].isdigit() and re.match(r"[.,] \d", after)):
        return False
    if (article := _ARTICLE.search(before)) and (len(article[1]) == 2) != bool(_VOWEL.match(edit.new)):
        return False
    if (article := _ARTICLE.search(f"{edit.new} ")) and (len(article[1]) == 2) != bool(_VOWEL.match(after.lstrip())):
        return False
    if (
        (old[:1].isupper() and edit.new[:1].islower())
        or _repeats(before[-40:], edit.new)
        or _repeats(edit.new, after[:40])
    ):
        return False
    needs = _SINGULAR if is_plural(edit.new) else _PLURAL
    return not needs.match(after) or is_plural(edit.new) == is_plural(old)


def _repeats(first: str, second: str) -> bool:
    """Return whether the last word of a text is also the first of the one after it."""
    words, following = _WORD.findall(first), _WORD.match(second.lstrip())
    return bool(
        words and following and words[-1].casefold() == following[0].casefold() and first[-1:] in f" {words[-1][-1]}"
    )
