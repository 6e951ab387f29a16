"""Mores in Inspect AI: the ExCAM metric as a scorer, and the grading of exported tasks.

    inspect score LOG.eval --scorer mores/excam -S model=openai:NAME

The package's entry point for Inspect AI is this module, so that the name `mores/excam` is known wherever both are
installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anyio.to_thread import run_sync
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, GenerateConfig, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from mores.benchmark import benchmark
from mores.benchmark.benchmark import Graded, Judging
from mores.benchmark.run import JUDGE_TOKENS
from mores.harness.live import LiveMetric
from mores.io.logs import instruction_of, place_of
from mores.metric import open_metric
from mores.metric.settings import EvidenceSettings
from mores.metric.texts import make_lookup
from mores.models import Model
from mores.models.base import Message
from mores.search import Search
from mores.types import Evidence, Failure, Item, Judgement, Sample


@scorer(metrics=[mean(), stderr()])
def excam(
    model: str | Model = "embedded",
    base_url: str | None = None,
    evidence: str | Search | None = None,
    passages: int = 3,
    targets: bool = False,
) -> Scorer:
    """Score the cultural errors of an answer: -1 for each minor and -5 for each major one, or the certainty if none.

    `model` is a judge of Mores (docs/models.md), `evidence` a search or corpus in which at most `passages` passages are
    looked up for each answer; with `targets` the judge sees the sample's targets as evidence.
    """
    metric = open_metric(model, base_url=base_url)
    live = LiveMetric(metric, make_lookup(EvidenceSettings(evidence=evidence, passages=passages), metric))

    async def score(state: TaskState, target: Target) -> Score:
        if not state.output.completion.strip():
            return Score.unscored(reason="no_response", explanation="the answer is empty")
        messages = [{"role": message.role, "content": message.text} for message in state.messages]
        sample = Sample(
            id=f"{state.sample_id}#{state.epoch}",
            instruction=instruction_of(messages) or state.input_text,
            text=state.output.completion,
            evidence=tuple(Evidence(text=text, title="Target") for text in target if text.strip()) if targets else (),
            **place_of(state.metadata),
        )
        return score_of(await run_sync(live.judge(sample).result, abandon_on_cancel=True))

    return score


def score_of(judgement: Judgement) -> Score:
    """Return a judgement as a score; what could not be judged is unscored."""
    about = {"judge": judgement.judge, "signature": str(judgement.signature), "notes": list(judgement.notes)}
    if judgement.score is None or judgement.report is None:
        reason = judgement.failure.reason if judgement.failure else "there is no report"
        return Score.unscored(reason="grader_failed", explanation=reason, metadata=about)
    report = judgement.report
    lines = [
        f"{error.severity.value}, {error.type}: “{error.quote}”. {error.explanation}".rstrip()
        for error in report.errors
    ]
    return Score(
        value=judgement.score,
        answer=judgement.text,
        explanation="\n".join([*lines, report.explanation]).strip(),
        metadata={**about, "errors": [error.model_dump(mode="json") for error in report.errors]},
    )


class InspectGrader:
    """The grading of one benchmark; the judge, where there is one, is Inspect's model of the role `grader`."""

    def __init__(self, name: str) -> None:
        self.benchmark = benchmark(name)

    async def grade(self, item: Mapping[str, Any], answer: str) -> tuple[str | None, str | None, str]:
        """Return what was read in the answer, its label, and the reason; no label where it could not be graded."""
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
    """Ask a judge as `mores.benchmark.run` does: once, or twice where its first reply asks for it."""
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
