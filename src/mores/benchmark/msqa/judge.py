"""The judge of short answers: first whether an answer is correct, then whether one that is not asserts something wrong.

MSQA, Section 3.4 and Appendix A. The prompts are `judge.txt` (system), `correct.txt` and `attempted.txt`.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from mores.benchmark.benchmark import Graded, Label
from mores.metric.prompt import defuse, fence_mark
from mores.models.base import Message
from mores.prompts import fill, hash_prompts, read_prompt
from mores.reading import without_thoughts
from mores.types import Failure, FailureKind, Item, Sample

FIRST = {"CORRECT": Label.CORRECT, "NOT_CORRECT": None}
"""Verdicts of the first question; None leads to the second."""
SECOND = {"NOT_ATTEMPTED": Label.NOT_ATTEMPTED, "INCORRECT": Label.INCORRECT}

_OPENING = re.compile(r"[\s*_`#>\"]*verdict\b", re.IGNORECASE)
_VERDICT = re.compile(r"[\s*_`#>\"]*verdict[*_`]*\s*:[\s*_`\"]*([a-z]+(?:[ _-][a-z]+)?)[\s*`\".]*", re.IGNORECASE)
_WORD = re.compile("verdict", re.IGNORECASE)
_JOINER = "\u2060"
"""Word joiner: invisible."""


class ShortAnswerJudge:
    """Asks a model for a verdict, once or twice, and reads nothing but a verdict."""

    labels = tuple(Label)

    def __init__(self) -> None:
        self.prompt = hash_prompts(*(read_prompt(__file__, name) for name in ("judge", "correct", "attempted")))

    def ask(self, item: Item, answer: str) -> tuple[Message, ...] | Graded:
        """Return whether the answer is correct; an empty answer is not attempted."""
        if not without_thoughts(answer):
            return Graded(label=Label.NOT_ATTEMPTED, reason="the answer is empty")
        return _messages("correct", item, without_thoughts(answer))

    def ask_again(self, item: Item, answer: str, reply: str) -> tuple[Message, ...] | None:
        """Return whether an answer that is not correct asserts something wrong."""
        verdict = read_verdict(reply, FIRST)
        return _messages("attempted", item, without_thoughts(answer)) if verdict == "NOT_CORRECT" else None

    def read(self, item: Item, answer: str, reply: str, again: bool) -> Graded | Failure:  # noqa: ARG002
        """Return the grade, or a failure that quotes the reply."""
        verdicts = SECOND if again else FIRST
        verdict = read_verdict(reply, verdicts)
        if isinstance(verdict, Failure):
            return verdict
        label = verdicts[verdict]
        if label is None:
            return Failure(kind=FailureKind.PARSE, reason="not correct, but not asked whether it is wrong")
        return Graded(label=label, reason=" ".join(without_thoughts(reply).split("\n")[:-1]).strip())


JUDGE = ShortAnswerJudge()


def read_verdict(reply: str, verdicts: Collection[str]) -> str | Failure:
    """Return the one verdict in the last line; a failure where there is none, several, another, or more behind it."""
    lines = [line for line in without_thoughts(reply).split("\n") if line.strip()]
    match = _VERDICT.fullmatch(lines[-1]) if lines else None
    word = re.sub("[ -]", "_", match[1].upper()) if match else ""
    if word in verdicts and sum(map(bool, map(_OPENING.match, lines))) == 1:
        return word
    expected = " or ".join(f"'VERDICT: {word}'" for word in verdicts)
    shown = lines[-1].strip()[-80:] if lines else ""
    return Failure(
        kind=FailureKind.PARSE, reason=f"no verdict: the judge ends with {shown!r}; expected {expected}, once"
    )


def _messages(name: str, item: Item, answer: str) -> tuple[Message, ...]:
    mark = fence_mark(Sample(id=item.id, instruction="\n".join((item.prompt, *item.target)), text=answer))
    text = fill(
        read_prompt(__file__, name),
        question=fenced(item.prompt, mark),
        reference="\nor\n".join(fenced(target, mark) for target in item.target),
        answer=fenced(answer, mark),
    )
    return Message("system", read_prompt(__file__, "judge")), Message("user", text)


def fenced(text: str, mark: str) -> str:
    """Return a text that can neither end its fence, nor be taken for a control token, nor be repeated as a verdict."""
    return f"<<<{mark}\n{mute(text)}\n{mark}>>>"


def mute(text: str) -> str:
    """Return a text in which no word is a verdict and nothing a control token, without a visible trace."""
    return _WORD.sub(lambda word: word[0][0] + _JOINER + word[0][1:], defuse(text))
