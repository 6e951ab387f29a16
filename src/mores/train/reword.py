"""The same facts and answers in other words, so that a metric learns to read evidence and not one shape of it.

A fact is a question with its answers; a page or a person says it in a sentence, and says other things beside it.
"""

from __future__ import annotations

from mores.factory.drafts import draw
from mores.factory.facts import Fact
from mores.factory.gold import Gold
from mores.factory.items import Task
from mores.types import Evidence

_SAID = (
    "{Subject} is {answers}.",
    "“{answers}” is {subject}.",
    "As for {subject}, people name {answers}.",
    "It is widely known that {subject} is {answers}.",
    "Many will tell you that {answers} is {subject}.",
)
"""A fact whose question has a subject."""
_TURNED = ("{asked} – {answers}", "{answers} ({asked})", "“{answers}”: {asked}")
"""Any other fact."""
_ANSWERED = (
    "{Subject} is {gap}.",
    "“{gap}” is {subject}.",
    "I would say that {subject} is {gap}.",
    "As far as I know, {subject} is {gap}. It depends on whom you ask.",
    "Good question! {Subject} is {gap}. That is what most people there would tell you.",
)
_GAP = "\0"
"""Where the answer comes."""
_JOINS = (", ", " or ", "; ", " and ")


def evidence(piece: Evidence, fact: Fact, characters: int, key: str) -> Evidence:
    """A fact in other words, which the key draws; part of a fact is not changed, nor one that would get too long."""
    if not fact.answers or piece.text != fact.text:
        return piece
    digest = draw(0, "evidence", key)
    answers = _JOINS[digest[0] % len(_JOINS)].join(fact.answers)
    if fact.subject is not None:
        text = _said(_SAID[digest[1] % len(_SAID)], fact.subject, answers)
    else:
        question = piece.text.removesuffix("; ".join(fact.answers)).rstrip()
        text = _TURNED[digest[1] % len(_TURNED)].format(asked=question, answers=answers)
    return piece.model_copy(update={"text": text}) if len(text) <= characters else piece


def beside(piece: Evidence, other: Evidence, characters: int, key: str) -> Evidence:
    """A passage that says something else too, before it or after, where there is room for both."""
    if len(piece.text) + len(other.text) + 1 > characters:
        return piece
    both = (piece.text, other.text) if draw(0, "beside", key)[0] % 2 else (other.text, piece.text)
    return piece.model_copy(update={"text": " ".join(both)})


def sentence(gold: Gold, fact: Fact, key: str) -> Gold | None:
    """The pair with its answer in a sentence; None where it is no answer to a question that has a subject."""
    if fact.subject is None or gold.task is not Task.FREEFORM or gold.kind == "soft":
        return None
    answer = gold.report.errors[0].quote if gold.report.errors else fact.answers[0]
    if answer not in gold.sample.text:
        return None
    before, _, after = _said(_ANSWERED[draw(0, "sentence", key)[0] % len(_ANSWERED)], fact.subject).partition(_GAP)
    if answer.endswith((".", "!", "?")):
        after = after.removeprefix(".")
    start, end = len(before), len(before) + len(answer)
    errors = tuple(error.model_copy(update={"start": start, "end": end}) for error in gold.report.errors)
    return gold.model_copy(
        update={
            "sample": gold.sample.model_copy(update={"text": f"{before}{answer}{after}"}),
            "report": gold.report.model_copy(update={"errors": errors}),
        }
    )


def _said(words: str, subject: str, answers: str = "") -> str:
    return words.format(subject=subject, Subject=subject[0].upper() + subject[1:], answers=answers, gap=_GAP)
