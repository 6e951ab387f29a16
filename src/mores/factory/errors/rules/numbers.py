"""The `numbers` rule: a number, a year, a time, a month or a weekday becomes another plausible one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import inf

from mores.factory.errors.rules.edit import (
    AROUND,
    TextEdit,
    capitalise_like,
    data,
    ends_with,
    is_correct,
    is_whole,
    primary,
)
from mores.factory.items import SourceItem
from mores.language.units import in_word, kind

NEWEST = 2025
"""The latest new year, unless the original is later."""
KINDS = {"months": "month", "weekdays": "day of the week", "words": "number"}

ORDINAL = "ordinal number"
STEPS = {
    "year": (-100, -50, -30, -20, -10, -7, -4, 4, 7, 10, 20, 30, 50, 100),
    "decade": (-40, -30, -20, -10, 10, 20, 30, 40),
}
RANGES = {
    "time": (0, 23),
    "hour": (1, 12),
    "month": (1, 12),
    "day": (1, 28),
    "date": (1, 12),
    "percentage": (1, 99),
    ORDINAL: (1, None),
}
_RANGES = {"number": "range", "year": "period", "hour": "time"}
"""The names of two of them with a hyphen, in explanations."""
_SINGLE = {"hour": "time"}
LONGEST = 12
"""Maximum digits of a quantity; a longer number is that of a book or a telephone."""

_NUMBER = re.compile(r"\d+(?:[.,:/٫٬-]\d+)*")
_ORDINAL = re.compile(r"(?:st|nd|rd|th)(?![a-z])", re.IGNORECASE)
_RANGE_START = re.compile(r"(\d{1,4}(?:[.,]\d{3})*)\s?[–—-]\s?$")
_RANGE_END = re.compile(r"\s?[–—-]\s?(\d{1,4}(?:[.,]\d{3})*)(?!\d)")
_THOUSANDS = re.compile(r"(?:[.,]\d{3})*")
_VERSE = re.compile(r"\d+:(?:\d|\d+-\d+)")
"""A place in a book, not a time: 11:4-7."""
_COUNTED = re.compile(
    r"\s(?!(?:a|all|and|as|at|but|by|for|from|had|has|her|his|in|is|it|its|many|of|on|or|some|that|the|their|to|was|were|when"
    r"|where|which|while|who|with|after|until)\s)(?:[a-z-]+\s)?(?!this|thus|always|perhaps|across|besides|sometimes|nowadays"
    r"|overseas|\w+wards)(?:people|men|women|children|[a-z-]{2,}[a-rt-z]s)\b|\s?(?:km|kg|mm|cm|ml)\b"
)
"""Things that were counted or measured: " indigenous languages"."""
_DATED = re.compile(
    r"(?:^|\W)(?:a|after|an|and|around|before|between|by|circa|during|early|from|his|her|in|its|late|of|or|per|since|the|their"
    r"|this|till?|to|until|year|[A-Z]\w*|\w+['’]s)[\s,]+$"
)
"""Words before a year: "the 1984 elections", "June 2020"."""
_PRICE = re.compile(r"[$€£¥₹]\s?$")
_DECADE = re.compile(r"['’]?s\b")
_MONTH_OR_DAY = re.compile(r"\s?([月日号號일월])")
_HALF_DAY = re.compile(r"\s?[ap]\.?m\b", re.IGNORECASE)
_LINE_START = re.compile(r"(?:^|[\n。！？!?：:；;.])[\s#*_(\[-]*$")
_LINE_MARK = re.compile(r"\s?[-.)\]:、．–](?!\d)")
_PART_OF_NAME = re.compile(r"(?:[\[#@_/=+^.−-]|\w[-.’'])$|(?:https?:|www\.|@)\S*$", re.IGNORECASE)


@dataclass(frozen=True)
class Number:
    """A number of the answer and its surroundings."""

    text: str
    start: int
    end: int
    parts: tuple[str, ...]
    """Its digits, and the signs between them."""

    @property
    def before(self) -> str:
        return self.text[max(0, self.start - AROUND) : self.start]

    @property
    def after(self) -> str:
        return self.text[self.end : self.end + AROUND]


def numbers(item: SourceItem) -> list[TextEdit]:
    """Return edits of a number or of the name of a month or weekday."""
    edits = list(_names(item))
    for match in _NUMBER.finditer(item.answer):
        number = Number(item.answer, match.start(), match.end(), tuple(re.split(r"(\D)", match[0])))
        if _is_quantity(number):
            edits += _changed(number)
    return [edit for edit in edits if not is_correct(edit.new, item)]


# -- names -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lexicon:
    """The names of months, weekdays and numbers of one language, and their possible replacements."""

    pattern: re.Pattern[str]
    others: dict[str, tuple[list[str], str]]
    """By the name without case: its list, and its kind."""


@cache
def _lexicon(language: str) -> Lexicon | None:
    tables = data("numbers")
    lists = [(group, note) for table, note in KINDS.items() for group in tables[table].get(language, ())]
    others = {word.casefold(): (group, note) for group, note in lists for word in group}
    longest_first = sorted(others, key=lambda word: (-len(word), word))
    pattern = "|".join(map(re.escape, longest_first))
    return Lexicon(re.compile(pattern, re.IGNORECASE), others) if others else None


def _names(item: SourceItem) -> Iterator[TextEdit]:
    language, text = primary(item), item.answer
    lexicon = _lexicon(language)
    absent = cache(lambda word: word not in text)
    for match in lexicon.pattern.finditer(text) if lexicon else ():
        if lexicon and match[0].casefold() in lexicon.others and _meant(match, language):
            group, note = lexicon.others[match[0].casefold()]
            same = {name for names in data("numbers")["same"].get(language, ()) if match[0] in names for name in names}
            for word in group:
                if absent(word) and word not in same:
                    yield TextEdit(*match.span(), capitalise_like(match[0], word), note)


def _meant(match: re.Match[str], language: str) -> bool:
    """Return whether the word is a name here, and not part of another word or one with another meaning."""
    text, (start, end) = match.string, match.span()
    tables = data("numbers")
    if kind(match[0][0]) == "w" and not is_whole(text, start, end):
        return False
    after = text[end : end + AROUND]
    if (unless := tables["unless_before"].get(language)) and re.match(unless, after):
        return False
    proper = any(match[0] in group for table in KINDS for group in tables[table].get(language, ()))
    words = tables["only_after"].get(language, {}).get(match[0])
    if words is not None:  # needed before it, unless there is a number beside it
        beside = re.search(r"\d\.?\s*$", text[max(0, start - 8) : start]) or re.match(r",?\s*\d", after)
        if not beside and not ends_with(words, True).search(text[max(0, start - 40) : start]):
            return False
    return proper or match[0] == match[0].capitalize()


# -- digits ------------------------------------------------------------------------------------------------


def _is_quantity(number: Number) -> bool:
    """Return whether it is not the number of a list item or a footnote, nor part of a name (A4, 5G) or a link."""
    before, after = number.before, number.after
    if max(map(len, number.parts)) > LONGEST or _PART_OF_NAME.search(before) or _VERSE.fullmatch("".join(number.parts)):
        return False
    if before and in_word(before[-1]):
        return False
    if after and in_word(after[0]) and not _ORDINAL.match(after) and not _DECADE.match(after):
        return False
    starts_line = _LINE_START.search(number.text, max(0, number.start - AROUND), number.start)
    return not (starts_line and _LINE_MARK.match(after) and (before.strip() or after.strip(" .")))


def _changed(number: Number) -> Iterator[TextEdit]:
    """Yield the edits of one part of the number: a year in a date, the hours of a time, else the leading digits."""
    note, place = _which(number)
    part = number.parts[place]
    low, high = _neighbours(number, place)
    if not low < int(part) < high:  # years before Christ, which count down, or a shortened range: 1990-95
        return
    called = (_RANGES if number.parts.count("-") == 1 else _SINGLE).get(note, note)
    for value in _values(int(part), note):
        if not low < value < high:
            continue
        # In the digits of the original, with its leading zeros.
        zero = ord(part[0]) - int(part[0])
        width = len(part) if part.startswith(chr(zero)) else 0
        digits = "".join(chr(zero + int(digit)) for digit in str(value).zfill(width))
        replacement = "".join([*number.parts[:place], digits, *number.parts[place + 1 :]])
        if note == ORDINAL:
            teen = value % 100 in {11, 12, 13}
            suffix = "th" if teen else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
            yield TextEdit(number.start, number.end + len("th"), replacement + suffix, note)
        else:
            yield TextEdit(number.start, number.end, replacement, called)


def _neighbours(number: Number, place: int) -> tuple[float, float]:
    """Return the bounds of a number that ends or starts a range: 1853-1856 cannot become 1873-1856."""
    before = _RANGE_START.search("".join([number.before, *number.parts[:place]])[-20:])
    rest = "".join([*number.parts[place + 1 :], number.after])[:30]
    thousands = _THOUSANDS.match(rest)
    end = thousands.end() if thousands else 0
    after = _RANGE_END.match(rest, end)
    scale = 1000 ** (end // 4)  # of 80,000 only the 80 is changed
    return (_plain(before[1]) / scale if before else -inf), (_plain(after[1]) / scale if after else inf)


def _plain(digits: str) -> int:
    return int(re.sub("[.,]", "", digits))


def _which(number: Number) -> tuple[str, int]:
    """Return the kind of a number, and the part of it that is changed."""
    parts, after = number.parts, number.after
    years = [n for n in range(0, len(parts), 2) if len(parts[n]) == 4 and 1000 <= int(parts[n]) <= NEWEST + 75]
    counted = len(parts) == 1 and _COUNTED.match(after) and not _DATED.search(number.before)
    is_count = counted or _PRICE.search(number.before)
    if years and all(sign in "/-." for sign in parts[1::2]) and not is_count:
        return ("decade" if _DECADE.match(after) else "year"), years[0]
    if parts[1:2] == ("/",):
        return "date", 0
    if parts[1:2] == (":",):
        return ("hour" if _HALF_DAY.match(after) else "time"), 0
    if len(parts) > 1:
        return "number", 0
    return _which_single(int(parts[0]), number), 0


def _which_single(value: int, number: Number) -> str:
    after = number.after
    if _ORDINAL.match(after):
        return ORDINAL
    if _DECADE.match(after):
        return "decade"
    if unit := _MONTH_OR_DAY.match(after):
        return "month" if unit[1] in "月월" else "day"
    if re.match(r"\s?[%٪％]", after):
        return "percentage"
    beside_month = value <= 31 and _months().search(f"{number.before[-16:]} {number.after[:16]}")
    return "day" if beside_month else "number"


@cache
def _months() -> re.Pattern[str]:
    """Return a pattern of the names of months in any language."""
    names = (name for groups in data("numbers")["months"].values() for group in groups for name in group)
    return re.compile("|".join(re.escape(name) for name in names if len(name) > 2))


def _values(value: int, note: str) -> list[int]:
    """Return plausible replacements of a number."""
    if note in STEPS:
        steps = STEPS["decade" if value % 100 == 0 else note]  # perhaps not a year: 1300 metres
        return [value + step for step in steps if 0 < value + step <= max(value - 1, NEWEST)]
    if note == "number" and value <= 1:
        return []  # the noun is in the singular
    low, high = RANGES.get(note, (2, None))
    near = [value + step for step in (-5, -4, -3, -2, 2, 3, 4, 5)]
    if value >= 10 and value % 5 == 0:
        near = [value + step for step in (-10, -5, 5, 10, 15)]
    if value >= 40:
        near = []
        for new in (value * percent // 100 for percent in (50, 60, 70, 80, 120, 130, 150, 180)):
            step = 1  # a round number stays round: 300 never becomes 234
            while value % (step * 10) == 0 and step * 10 <= new:
                step *= 10
            near.append(new // step * step)
    return sorted({new for new in near if new != value and new >= low and (high is None or new <= high)})
