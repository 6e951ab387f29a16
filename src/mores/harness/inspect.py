"""Mores in Inspect AI: the ExCAM metric as a scorer, and the grading of exported tasks.

    inspect score LOG.eval --scorer mores/excam -S model=openai:NAME

The package's entry point for Inspect AI is this module, so that the name `mores/excam` is known wherever both are
installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, GenerateConfig, get_model

from mores.bench import benchmark
from mores.bench.benchmark import Graded, Judging
from mores.bench.run import JUDGE_TOKENS
from mores.models.base import Message
from mores.types import Failure, Item


class InspectGrader:
    """The grading of one benchmark; the judge, where there is one, is Inspect's model of the role `grader`."""

    def __init__(self, name: str) -> None:
        self.benchmark = benchmark(name)

    async def grade(self, item: Mapping[str, Any], answer: str) -> tuple[str | None, str | None, str]:
        """What was read in the answer, its label, and the reason; no label where it could not be graded."""
        judging, asked = self.benchmark.judging, Item.model_validate(item)
        if judging:
            graded = await _judge(judging, asked, answer)
        else:
            assert self.benchmark.grade is not None
            graded = self.benchmark.grade(asked, answer)
        if isinstance(graded, Failure):
            return None, None, graded.reason
        return graded.read, graded.label.value, graded.reason


async def _judge(judging: Judging, item: Item, answer: str) -> Graded | Failure:
    """As `mores.bench.run` asks a judge: once, or twice where its first reply asks for it."""
    question = judging.ask(item, answer)
    if isinstance(question, Graded):
        return question
    reply = await _ask(question)
    if again := judging.ask_again(item, answer, reply):
        return judging.read(item, answer, await _ask(again), True)
    return judging.read(item, answer, reply, False)


async def _ask(messages: tuple[Message, ...]) -> str:
    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser}
    chat: list[ChatMessage] = [kinds[message.role](content=message.content) for message in messages]
    config = GenerateConfig(max_tokens=JUDGE_TOKENS, temperature=0.0)
    output = await get_model(role="grader", required=True).generate(chat, config=config)
    return str(output.completion)
