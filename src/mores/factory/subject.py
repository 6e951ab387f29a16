"""The subject of an English question: a noun phrase that its answer completes to a sentence.

subject("What is a common snack in Peru?")      "a common snack in Peru"
subject("In Peru, where do people meet?")       "the place where people meet in Peru"

So an answer can be a whole sentence ("A common snack in Peru is corn."), as people and models write it.
"""

from __future__ import annotations

import re

from mores.factory.items import SourceItem, Task

_ASIDE = re.compile(r"\s*\((?:[^()]|\([^()]*\))*\)")
_FIRST = re.compile(r"(?P<where>(?:In|At|On|During|Among|For|With) [^,?.]{2,60}), (?P<asked>\w.+)")
"""“In Peru, what …”: the place goes to the end of the phrase."""
_IS = "is|was"
"""Of several things sentences would need other verbs."""
_MAY = "should|can|could|would|will|must|might"
_THEY = "you|we|they|people|one|locals|students|children|women|men|guests|visitors"
_OF = rf"(?P<of>(?!(?:of|are|do|does|did|may|{_MAY}) )[\w' -]*?)"
"""The kind of thing that is asked for: the words before the first verb, if it does not come at once."""
_RULES = tuple(
    (re.compile(asked), phrase)
    for asked, phrase in (
        (rf"(?:what|who|which) (?:{_IS}) (?P<what>(?:the|a|an|one|some|your) .+)", "{what}"),
        (r"(?:what|which) are (?P<what>the .+)", "one of {what}"),
        (rf"(?P<what>what (?:{_IS}) .+)", "{what}"),
        (rf"(?:what|which) {_OF} (?P<what>(?:{_IS}|has) .+)", "the {of} that {what}"),
        (r"what do (?P<what>.+)", "what {what}"),
        (rf"(?:what|which) {_OF} do (?P<what>.+)", "the {of} that {what}"),
        (rf"what (?P<may>{_MAY}) (?P<they>{_THEY}) (?P<what>.+)", "what {they} {may} {what}"),
        (rf"(?P<by>at|from|on|during|in|for|to) (?:what|which) {_OF} do (?P<what>.+)", "the {of} {by} which {what}"),
        (r"where do (?P<what>.+)", "the place where {what}"),
        (r"when do (?P<what>.+)", "the time when {what}"),
        (r"why do (?P<what>.+)", "the reason why {what}"),
        (r"how do (?P<what>.+)", "the way {what}"),
        (r"how many (?P<of>[\w' -]+?) do (?P<what>.+)", "the number of {of} that {what}"),
    )
)  # fmt: skip


def subject_of(item: SourceItem) -> str | None:
    """Return the subject of an item that is an English question, or None."""
    is_english_question = item.task in {Task.QA, Task.FREEFORM} and (item.language or "").split("-")[0] == "en"
    return subject(item.question) if is_english_question else None


def subject(question: str) -> str | None:
    """Return the phrase, or None where the question is not a single sentence that the rules know."""
    text = _ASIDE.sub("", " ".join(question.split()))
    where = ""
    if first := _FIRST.fullmatch(text):
        where = f" {first['where'][0].lower()}{first['where'][1:]}"
        text = first["asked"]
    if not text.endswith("?") or text.endswith(" called?") or re.search(r"[.?!:;,_]", text[:-1]):
        return None
    text = text[0].lower() + text[1:-1].rstrip()
    for rule, phrase in _RULES:
        if match := rule.fullmatch(text):
            return phrase.format(**match.groupdict()) + where
    return None
