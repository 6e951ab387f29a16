"""The same answers for Mores and for the other harnesses: correct, wrong, unparseable, refused and empty ones."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from pathlib import Path

from mores.benchmark.benchmark import Benchmark, Graded
from mores.benchmark.contract import correct_answer
from mores.benchmark.run import Asking
from mores.benchmark.session import Session
from mores.engine import Asker
from mores.models.base import Completion, Request
from mores.models.fake import FakeModel
from mores.types import Item

REFUSED = "I am sorry, but I cannot help with that."
UNPARSEABLE = "Zzyzx: either of them, or neither."
WRONG = "The wrong thing entirely."
ENGLISH = "People greet each other like this at any time of the day, for it means good."
LONG_KINDS = ("correct", "wrong", "repeated", "empty", "uncertain")
KINDS = ("correct", "thinking", "wrong", "correct", "unparseable", "correct", "refused", "wrong", "empty")


def wrong_answer(benchmark: Benchmark, item: Item) -> str:
    """An answer that the benchmark's rule calls incorrect."""
    for text in ("A", "B", "C", "D", "True", "False", "yes", "no", "neutral"):
        graded = benchmark.grade(item, text) if benchmark.grade else None
        if isinstance(graded, Graded) and graded.label == "incorrect":
            return text
    return WRONG


def canned(benchmark: Benchmark, items: Sequence[Item], shift: int = 0) -> dict[str, str]:
    """By prompt: an answer to every item, of all kinds in turn."""
    if benchmark.long_answer:
        return {item.prompt: long_answer(item, LONG_KINDS[n % 5]) for n, item in enumerate(items, shift)}
    answers = {}
    for number, item in enumerate(items, shift):
        correct = correct_answer(benchmark, item)
        answers[item.prompt] = {
            "correct": correct,
            "thinking": f"<think>Is it A or True?</think>\n{correct}",
            "wrong": wrong_answer(benchmark, item),
            "unparseable": UNPARSEABLE,
            "refused": REFUSED,
            "empty": "",
        }[KINDS[number % len(KINDS)]]
    return answers


def long_answer(item: Item, kind: str) -> str:
    """A long answer of a kind; what is in the question's language are the words of the question."""
    repeated = " ".join([item.prompt] * 30)
    return {"correct": item.prompt, "wrong": ENGLISH, "repeated": repeated, "empty": "", "uncertain": "42"}[kind]


def model_of(answers: dict[str, str]) -> FakeModel:
    """A model that gives these answers."""
    return FakeModel("canned", lambda request: Completion(answers[request.messages[-1].content]))


def verdict(prompt: str) -> str:
    """What a judge says of a canned answer; of an unparseable one it says nothing that can be read."""
    first, single = "VERDICT: NOT_CORRECT" in prompt, "VERDICT" not in prompt
    if UNPARSEABLE in prompt:
        return "Who knows?"
    if WRONG in prompt:
        return "0" if single else "It differs.\nVERDICT: NOT_CORRECT" if first else "VERDICT: INCORRECT"
    if REFUSED in prompt:
        return "0" if single else "VERDICT: NOT_CORRECT" if first else "It declines.\nVERDICT: NOT_ATTEMPTED"
    return "1" if single else "VERDICT: CORRECT"


def judge() -> FakeModel:
    """A judge who knows the canned answers."""
    return FakeModel("judge", lambda request: Completion(verdict(_last(request))))


def figures_of(chosen: Benchmark, answers: dict[str, str], data: Path | None, out: Path) -> dict[str, float]:
    """What `mores bench` makes of the answers."""
    judges = (Asker(judge(), store=None),) if chosen.judging else ()
    session = Session(Asker(model_of(answers), store=None), judges, Asking(data=data))
    run = asyncio.run(session.run(chosen, out))
    return {name: math.nan if result.value is None else result.value for name, result in run.result.figures.items()}


def _last(request: Request) -> str:
    return request.messages[-1].content
