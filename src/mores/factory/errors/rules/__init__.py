"""Soft errors by rule: small, known changes to a correct statement.

| rule | changes | severity | type |
| --- | --- | --- | --- |
| `swap` | a practice, a name or a place of one culture for that of another | major | misrepresentation |
| `exchange` | the answer that a sentence states for a wrong one of the source | major | incorrect information |
| `negation` | a norm to its contrary | major | misrepresented norm |
| `numbers` | a number, year, time, month or weekday | minor | incorrect information |
| `degree` | "often", "many" to "rarely", "few", and the other way round | minor | incorrect information |
| `quantifiers` | "many", "often" to "all", "always" | minor | stereotyping |

    pool = Pool(items)
    for change in changes(state(item), pool, seed=7): ...

**Minor and major.** An error is minor where the practice stays recognisable: a wrong number, date or degree, or an
exaggeration. It is major where another practice, name or place replaces the culture's, or a norm is reversed. The same
holds for single statements and for composed texts.

The words of each rule are in the TOML file of its name. No rule may change sentences about the writer, links, code,
numbers of lists and sources: `protected`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from mores import culture
from mores.factory.errors.rules.edit import (
    UNSPACED,
    Draw,
    TextEdit,
    capitalise_like,
    data,
    ends_with,
    folded,
    is_whole,
    primary,
)
from mores.factory.errors.rules.numbers import numbers
from mores.factory.errors.rules.soundness import is_sound
from mores.factory.errors.rules.swap import Pool, exchange, swap
from mores.factory.gold import ChangedText, Mistake
from mores.factory.items import SourceItem
from mores.factory.statement import Statement
from mores.types import Severity

_TOUCHING = {"zh", "ja", "ko"}
"""Languages without spaces around words of the first person."""

_SENTENCE = re.compile(r"[^.!?。！？।॥؟\n]+(?:\.(?=\w)[^.!?。！？।॥؟\n]*)*[.!?。！？।॥؟]*")
_VERBATIM = re.compile(
    r"```.*?(?:```|$)|`[^`\n]+`|(?:https?://|www\.)\S+|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}\.\w+|(?<!\w)[@#]\w+|</?\w[^<>\n]*>"
    r"|(?<![\w-])[\w-]{1,64}\.(?:com|org|net|edu|gov|co|de|jp|cn|kr|in|ru|es|fr|html?|php|pdf)\b\S*",
    re.DOTALL | re.IGNORECASE,
)
_LIST_MARK = re.compile(
    r"(?:^|(?<=[\s.;:,。；：、，]))[ \t>*#_•·-]{0,8}(?:\(\d{1,3}\)|（\d{1,3}）|\[\d{1,3}\]|\d{1,3}[)）\]])(?!\d)"
    r"|^[ \t>*#_•·-]{0,8}\d{1,3}(?:\.\d{1,2}){0,4}[ \t]?[.:、．。-](?!\d)(?=[*_ \t]{0,8}\S)",
    re.MULTILINE,
)
_CITED_YEAR = re.compile(r"[(（\[](?:[^()（）\[\]\d]{0,60}[ ,，])?(?:1[5-9]|20)\d\d[a-z]?(?:, p+\. ?\d+)?[)）\]]")
_SEQUENCE = re.compile(r"\s*\d{1,2}(?:[\s,;.>→–-]+\d{1,2})+\s*\.?\s*\Z")
"""An answer that only orders what was numbered: 2, 4, 1, 3."""
_DIGITS = re.compile(r"\d[\d.,:/-]*")


@lru_cache(maxsize=64)
def protected(text: str, language: str | None) -> bytes:
    """Return for each code point of a text whether it must stay unchanged."""
    if _SEQUENCE.match(text):
        return b"\1" * len(text)
    first_person, published = _first_person((language or "").split("-")[0]), _published()
    spans = [match.span() for pattern in (_VERBATIM, _LIST_MARK, _CITED_YEAR) for match in pattern.finditer(text)]
    spans += [match.span(1) for match in _label().finditer(text)]
    for sentence in _SENTENCE.finditer(text):
        if first_person and first_person.search(sentence[0]):
            spans.append(sentence.span())
        elif published.search(sentence[0]):  # its digits are those of a publication
            spans += [match.span() for match in _DIGITS.finditer(text, *sentence.span())]
    stays = bytearray(len(text))
    for start, end in spans:
        stays[start:end] = b"\1" * (end - start)
    return bytes(stays)


@cache
def _first_person(language: str) -> re.Pattern[str] | None:
    words = data("protected")["first_person"].get(language)
    if words is None:
        return None
    flags = re.NOFLAG if language == "en" else re.IGNORECASE
    return re.compile(words if language in _TOUCHING else rf"(?<![\w’'])(?:{words})(?!\w)", flags)


@cache
def _published() -> re.Pattern[str]:
    return re.compile(data("protected")["published"]["any"], re.IGNORECASE)


@cache
def _label() -> re.Pattern[str]:
    """Return a pattern of the numbers of pages, steps and the like."""
    return re.compile(rf"(?<!\w)(?:{data('protected')['label']['any']})\s?(\d[\d.-]*)", re.IGNORECASE)


CONTEXT = 40
"""Code points before a match that are searched for `unless_after`."""


@dataclass(frozen=True)
class Swap:
    """One replacement of a rule's file."""

    pattern: re.Pattern[str]
    to: str
    only_after: re.Pattern[str] | None
    unless_after: tuple[re.Pattern[str], ...]
    spaced: bool

    def edits(self, text: str) -> Iterator[TextEdit]:
        """Yield the edits of a text."""
        for match in self.pattern.finditer(text):
            start, end = match.span()
            before = text[max(0, start - CONTEXT) : start]
            cuts_word = self.spaced and not is_whole(text, start, end)
            lacks_context = self.only_after and not self.only_after.search(before)
            if not (cuts_word or lacks_context or any(pattern.search(before) for pattern in self.unless_after)):
                yield TextEdit(*match.span(), capitalise_like(match[0], match.expand(self.to)), in_part=True)


def lexical(rule: str, language: str, text: str) -> list[TextEdit]:
    """Return the edits of a text by a rule."""
    taken: set[int] = set()
    edits: list[TextEdit] = []
    if not _any_swap(rule, language).search(text):  # as nearly always
        return edits
    for replacement in swaps(rule, language):
        if not replacement.pattern.search(text):
            continue
        for edit in replacement.edits(text):
            covered = set(range(edit.start, edit.end))
            if not covered & taken:  # the first, longer expression counts
                edits.append(edit)
            taken |= covered
    return edits


@cache
def swaps(rule: str, language: str) -> tuple[Swap, ...]:
    """Return the replacements of a rule in a language; none for an unsupported language."""
    table, spaced = data(rule).get(language, {}), language not in UNSPACED

    def fill(expression: str) -> str:
        for name, part in table.get("parts", {}).items():
            expression = expression.replace(f"<{name}>", part)
        return expression

    result = []
    for row in table.get("swaps", ()):
        only, unless = row.get("only_after"), [words for t in (table, row) if (words := t.get("unless_after"))]
        only_after = None if only is None else ends_with(fill(only), spaced)
        unless_after = tuple(ends_with(fill(words), spaced) for words in unless)
        pattern = re.compile(fill(row["from"]), re.IGNORECASE)
        result.append(Swap(pattern, row["to"], only_after, unless_after, spaced))
    return tuple(result)


@cache
def _any_swap(rule: str, language: str) -> re.Pattern[str]:
    """Return a pattern that finds something in every text that a rule can change."""
    start = "" if language in UNSPACED else "(?<![A-Za-z0-9])"
    expressions = (f"(?:{swap.pattern.pattern})" for swap in swaps(rule, language))
    return re.compile(f"{start}(?:{'|'.join(expressions) or '(?!)'})", re.IGNORECASE)


__all__ = ["RULES", "SINGLE", "Pool", "Rule", "changes"]


@dataclass(frozen=True)
class ErrorRule:
    """A way to change a statement, and the error that it makes."""

    find: Callable[[SourceItem, Pool, Draw], Iterable[TextEdit]]
    severity: Severity
    type: str
    explanation: str
    """With `{new}` for the marked words, `{old}` for the correct ones, `{note}` for the edit's note and `{culture}` for
    the item's region."""
    in_question: bool = False
    """Whether it also changes words of the question in a sentence."""


_WRONG = "incorrect information"
RULES = {
    "swap": ErrorRule(
        swap, Severity.MAJOR, "misrepresentation", "“{new}” fits {note}; what is correct {culture} is “{old}”."
    ),
    "exchange": ErrorRule(
        lambda item, *_: exchange(item), Severity.MAJOR, _WRONG, "“{new}” is wrong {culture}; “{old}” is correct."
    ),
    "negation": ErrorRule(
        lambda item, *_: lexical("negation", primary(item), item.answer),
        Severity.MAJOR,
        "misrepresented norm",
        "“{new}” reverses the norm; the correct wording is “{old}”.",
        in_question=True,
    ),
    "numbers": ErrorRule(
        lambda item, *_: numbers(item), Severity.MINOR, _WRONG, "“{new}” is the wrong {note}; “{old}” is correct."
    ),
    "degree": ErrorRule(
        lambda item, *_: lexical("degree", primary(item), item.answer),
        Severity.MINOR,
        _WRONG,
        "“{new}” is the wrong degree; “{old}” is correct.",
        in_question=True,
    ),
    "quantifiers": ErrorRule(
        lambda item, *_: lexical("quantifiers", primary(item), item.answer),
        Severity.MINOR,
        "stereotyping",
        "“{new}” overgeneralises: not everyone in a culture does the same at all times; “{old}” is correct.",
        in_question=True,
    ),
}
SINGLE = tuple(name for name in RULES if name != "exchange")
"""Rules for a text of one fact, which with a wrong answer of the source is a hard error already."""


def changes(
    statement: Statement, pool: Pool, seed: int, rules: Collection[str] = SINGLE, most: int = 1, edition: int = 2
) -> Iterator[ChangedText]:
    """Yield at most one change per rule, then one with two errors and so on up to `most`, where possible.

    The seed and the statement's item select them. From edition 3 on, a change is refused that may be correct or is
    ungrammatical (`soundness`).
    """
    found = find_edits(statement, pool, seed, rules, edition)
    yield from first_changes(statement, found)
    yield from several_errors(statement, found, seed, most)


RankedEdits = list[tuple[str, TextEdit]]
"""Edits with the name of the rule of each, in order of preference within a rule."""


def find_edits(
    statement: Statement, pool: Pool, seed: int, rules: Collection[str] = tuple(RULES), edition: int = 2
) -> RankedEdits:
    """Return the edits of a statement by these rules, which hold for the statement in any text."""
    edits = ((name, edit) for name in rules for edit in _edits(statement, name, pool, seed))
    return [(name, edit) for name, edit in edits if edition == 2 or is_sound(edit, statement)]


def first_changes(statement: Statement, ranked: RankedEdits) -> list[ChangedText]:
    """Return the statement changed by the preferred edit of each rule."""
    first: dict[str, TextEdit] = {}
    for name, edit in ranked:
        first.setdefault(name, edit)
    return [change(statement, [pair]) for pair in first.items()]


def several_errors(statement: Statement, ranked: RankedEdits, seed: int, most: int) -> Iterator[ChangedText]:
    """Yield a change with two errors, one with three and so on up to `most`, where possible."""
    if most == 1 or len(ranked) == 1:
        return
    order = Draw(seed, statement.item, "several")
    shuffled = order.sorted(ranked, key=lambda pair: f"{pair[0]}\0{pair[1].start}\0{pair[1].new}")
    for count in range(2, most + 1):
        chosen = _apart(shuffled, count)
        if len(chosen) == count:
            yield change(statement, chosen)


def _edits(statement: Statement, name: str, pool: Pool, seed: int) -> list[TextEdit]:
    """Return the possible edits of a rule, in order of preference."""
    rule, draw, text = RULES[name], Draw(seed, statement.item, name), statement.text
    edits = [edit.shifted(statement.start) for edit in rule.find(statement.stated, pool, draw)]
    if rule.in_question and statement.question is not None:
        first, last = statement.question
        words = lexical(name, primary(statement.stated), text)
        edits += [edit for edit in words if first <= edit.start and edit.end <= last]
    if not edits:
        return []
    stays = protected(text, statement.item.language)
    free = (edit for edit in edits if not any(stays[edit.start : edit.end]))
    at_place: dict[tuple[int, int], TextEdit] = {}
    for edit in draw.sorted(free, key=lambda edit: f"{edit.start}\0{edit.new}"):
        if (edit.start, edit.end) not in at_place and _is_wrong(edit, statement):
            at_place[edit.start, edit.end] = edit
    return list(at_place.values())


def _is_wrong(edit: TextEdit, statement: Statement) -> bool:
    """Return whether the changed text differs in its words from every correct one."""
    text = statement.text
    if not folded(edit.new) or folded(edit.new) == folded(text[edit.start : edit.end]):
        return False
    further = statement.stated.also_correct
    return not further or folded(edit.apply(text)) not in {folded(statement.around(answer)) for answer in further}


def _apart(ranked: Iterable[tuple[str, TextEdit]], count: int) -> list[tuple[str, TextEdit]]:
    """Return the first edits with unchanged words between them."""
    chosen: list[tuple[str, TextEdit]] = []
    for name, edit in ranked:
        if len(chosen) < count and all(edit.end < other.start or other.end < edit.start for _, other in chosen):
            chosen.append((name, edit))
    return chosen


def change(statement: Statement, chosen: Iterable[tuple[str, TextEdit]]) -> ChangedText:
    """Return the statement with all edits, and the place of each."""
    text, shift = statement.text, 0
    mistakes: list[Mistake] = []
    for name, edit in sorted(chosen, key=lambda pair: pair[1].start):
        moved = edit.shifted(shift)
        old = text[moved.start : moved.end]
        start, end = moved.span(text)
        text = moved.apply(text)
        shift += len(edit.new) - len(old)
        rule, place = RULES[name], _place_of(old, statement.item.region)
        explanation = rule.explanation.format(new=text[start:end], old=old, note=edit.note, culture=place)
        mistakes.append(Mistake(start, end, name, rule.severity, rule.type, explanation))
    assert all(first.end <= second.start for first, second in pairwise(mistakes))
    return ChangedText(answer=text, correct=statement.text, mistakes=tuple(mistakes))


@lru_cache(maxsize=4096)
def _place_of(words: str, region: str | None) -> str:
    """Return where the words of a text about a region are correct, for an explanation."""
    # A text about Denmark is not correct for Estonia: words that name other countries only are foreign.
    named = list(culture.mentions(words)) if region else []
    is_home = region and (not named or any(m.countries.intersection(culture.countries(region)) for m in named))
    return f"for {culture.region_name(region)}" if region and is_home else "here"
