"""Facts and answers in other words, so that a metric learns to read any evidence and not one form of it.

A fact is a question with its answers; a page or a person states it in a sentence, among other things. The sentences are
in `prose.toml`; those of the test are never trained on.
"""

from __future__ import annotations

from math import inf
from typing import Literal

from mores.factory.drafts import draw
from mores.factory.facts import CorrectFact
from mores.factory.gold import Gold
from mores.factory.items import Task
from mores.io.values import read_packaged_toml
from mores.types import Evidence

_GAP = "\0"
"""Place of the answer."""
_JOINS = (", ", " or ", "; ", " and ")
Part = Literal["train", "test"]


def phrases(part: Part) -> dict[str, list[str]]:
    """Return the sentences of training or of the test, by kind."""
    every: dict[str, dict[str, list[str]]] = read_packaged_toml("mores.training", "prose.toml")
    return every[part]


def reword_evidence(piece: Evidence, fact: CorrectFact, characters: int, key: str, part: Part = "train") -> Evidence:
    """Return a fact in other words, drawn by the key; an excerpt, or a fact that gets too long, is unchanged."""
    if not fact.answers or piece.text != fact.text:
        return piece
    digest = draw(0, "evidence", key)
    answers = _JOINS[digest[0] % len(_JOINS)].join(fact.answers)
    if fact.subject is not None:
        words = _wrapped(part, digest) or _drawn(part, "said", digest[1])
        text = _fill(words.replace("{gap}", "{answers}"), fact.subject, answers)
        text = _between(text, part, digest, characters)
    else:
        question = piece.text.removesuffix("; ".join(fact.answers)).rstrip()
        text = _drawn(part, "turned", digest[1]).format(asked=question, answers=answers)
    return piece.model_copy(update={"text": text}) if len(text) <= characters else piece


def _wrapped(part: Part, digest: bytes) -> str:
    """Return a clause within a frame, for most sentences of training; the combinations are too many to list."""
    if "wraps" not in phrases(part) or digest[1] < 64:
        return ""
    return _drawn(part, "wraps", digest[6]).format(clause=_drawn(part, "clauses", digest[7]))


def _between(text: str, part: Part, digest: bytes, characters: float = inf) -> str:
    """Return a sentence with another one before it, after it, both or neither, if there is room."""
    before, after = (_drawn(part, kind, digest[place]) for kind, place in (("before", 2), ("after", 3)))
    parts = [before] * (digest[4] % 3 == 0) + [text] + [after] * (digest[5] % 3 == 0)
    joined = " ".join(parts)
    return joined if len(joined) <= characters else text


def add_beside(piece: Evidence, other: Evidence, characters: int, key: str) -> Evidence:
    """Return a passage with another one before or after it, if there is room for both."""
    if len(piece.text) + len(other.text) + 1 > characters:
        return piece
    both = (piece.text, other.text) if draw(0, "beside", key)[0] % 2 else (other.text, piece.text)
    return piece.model_copy(update={"text": " ".join(both)})


def reword_answer(gold: Gold, fact: CorrectFact, key: str, part: Part = "train") -> Gold | None:
    """Return the pair with its answer in a sentence; None if it does not answer a question with a subject."""
    if fact.subject is None or gold.task is not Task.FREEFORM or gold.kind == "soft":
        return None
    answer = gold.report.errors[0].quote if gold.report.errors else fact.answers[0]
    if answer not in gold.sample.text or fact.subject.casefold() in gold.sample.text.casefold():
        return None  # it says something else, or is a sentence already
    digest, ended = draw(0, "sentence", key), answer.endswith((".", "!", "?"))
    choices = [words for words in phrases(part)["answered"] if "{gap}." in words or not ended]
    words = (not ended and _wrapped(part, digest)) or choices[digest[0] % len(choices)]
    if part == "train":
        words = _between(words, part, digest)
    before, _, after = _fill(words, fact.subject).partition(_GAP)
    after = after.removeprefix(".") if ended else after
    start, end = len(before), len(before) + len(answer)
    errors = tuple(error.model_copy(update={"start": start, "end": end}) for error in gold.report.errors)
    return gold.model_copy(
        update={
            "sample": gold.sample.model_copy(update={"text": f"{before}{answer}{after}"}),
            "report": gold.report.model_copy(update={"errors": errors}),
        }
    )


def _drawn(part: Part, kind: str, place: int) -> str:
    choices = phrases(part)[kind]
    return choices[place % len(choices)]


def _fill(words: str, subject: str, answers: str = "") -> str:
    return words.format(subject=subject, Subject=subject[0].upper() + subject[1:], answers=answers, gap=_GAP)
