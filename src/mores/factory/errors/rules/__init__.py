"""Soft errors by rule: small changes to a correct answer of which it is known what is wrong and what was correct.

| rule | changes | severity | type |
| --- | --- | --- | --- |
| `swap` | what belongs to one culture for what belongs to another | major | misrepresentation |
| `numbers` | a number, year, time, month or weekday | minor | incorrect information |
| `quantifiers` | "many", "often" to "all", "always" | minor | stereotyping |
| `negation` | a norm to its contrary | major | misrepresented norm |

    pool = Pool(items)
    for change in changes(item, pool, seed=7): ...

The words of each rule are in the TOML file of its name. A number that is off or a word that says too much leaves the
culture recognisable, so these are minor; another culture's ways, or a norm turned around, are not, so they are major.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mores import culture
from mores.factory.errors.diff import differences
from mores.factory.errors.rules.edit import Draw, Edit, folded
from mores.factory.errors.rules.lexical import lexical
from mores.factory.errors.rules.numbers import numbers
from mores.factory.errors.rules.pool import Pool
from mores.factory.errors.rules.swap import swap
from mores.factory.gold import Change
from mores.factory.items import SourceItem
from mores.types import Severity

__all__ = ["RULES", "Pool", "Rule", "changes"]


@dataclass(frozen=True)
class Rule:
    """How an answer is changed, and what is then wrong with it."""

    find: Callable[[SourceItem, Pool, Draw], Edit | None]
    severity: Severity
    type: str
    explanation: str
    """With `{new}` for the wrong words, `{old}` for the correct ones, `{note}` for what the edit says besides and
    `{culture}` for the item's own."""


RULES = {
    "swap": Rule(
        swap,
        Severity.MAJOR,
        "misrepresentation",
        "“{new}” fits {note}; what is right {culture} is “{old}”.",
    ),
    "numbers": Rule(
        lambda item, _, draw: numbers(item, draw),
        Severity.MINOR,
        "incorrect information",
        "“{new}” is the wrong {note}; the right one is “{old}”.",
    ),
    "quantifiers": Rule(
        lambda item, _, draw: lexical("quantifiers", item, draw),
        Severity.MINOR,
        "stereotyping",
        "“{new}” overgeneralises: not everyone in a culture does the same at all times; “{old}” is right.",
    ),
    "negation": Rule(
        lambda item, _, draw: lexical("negation", item, draw),
        Severity.MAJOR,
        "misrepresented norm",
        "“{new}” turns the norm around; “{old}” is right.",
    ),
}


def changes(item: SourceItem, pool: Pool, seed: int) -> Iterator[Change]:
    """At most one change of the item's answer per rule; the seed and the item decide which."""
    for name, rule in RULES.items():
        edit = rule.find(item, pool, Draw(seed, item, name))
        if edit is not None and _is_wrong(edit.apply(item.answer), item):
            yield _change(name, rule, edit, item)


def _is_wrong(answer: str, item: SourceItem) -> bool:
    """Whether the answer differs in its words from every correct one."""
    correct = {folded(further) for further in item.also_correct}
    return bool(differences(item.answer, answer)) and folded(answer) not in correct | {folded(item.answer)}


def _change(name: str, rule: Rule, edit: Edit, item: SourceItem) -> Change:
    place = f"for {culture.region_name(item.region)}" if item.region else "here"
    old = item.answer[edit.start : edit.end]
    return Change(
        answer=edit.apply(item.answer),
        spans=(edit.span(item.answer),),
        rule=name,
        severity=rule.severity,
        type=rule.type,
        explanation=rule.explanation.format(new=edit.new, old=old, note=edit.note, culture=place),
    )
