"""What an evaluation would send and search for, without sending anything.

Before the run it is unknown which answers have surface issues or how many claims they make: every answer with text is
counted, with one claim per sentence. So the figures are upper estimates; answers in the store are not subtracted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import add

from mores.engine.cost import guess_tokens
from mores.longanswer.records import LongAnswer, Surface, Translation
from mores.longanswer.stages import claims_requests, english_of, keep_language, relevance_requests, translation_requests
from mores.longanswer.translate import MAX_TOKENS
from mores.longanswer.verify import verify_request
from mores.models import Request
from mores.search.base import Evidence
from mores.types import Record

Sums = tuple[int, ...]
"""Calls, prompt tokens and completion tokens."""

CLAIMS_PER_SENTENCE = 1.0
CLAIM_TOKENS = 20
RESULT = Evidence(text="x" * 150, title="x" * 55, source="x" * 70)
"""A result of a web search of the usual length."""
REASON_TOKENS = 80
"""What a judge writes beside its verdict."""


class StageEstimate(Record):
    """What one stage takes; tokens are guessed from the number of characters."""

    stage: str
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    searches: int = 0


def estimate(
    answers: Iterable[LongAnswer], *, into_english: bool = True, facts: bool = True, results: int = 10
) -> list[StageEstimate]:
    """Return the stages that call a model or search, with what they take."""
    totals: dict[str, Sums] = dict.fromkeys(("translate", "claims", "verify", "relevance"), (0, 0, 0))
    for answer in answers:
        if answer.answer and answer.answer.strip():
            for stage, sums in _of_one(answer, into_english, facts, results).items():
                totals[stage] = tuple(map(add, totals[stage], sums))
    every = [
        StageEstimate(stage=stage, calls=calls, prompt_tokens=prompt, completion_tokens=completion)
        for stage, (calls, prompt, completion) in totals.items()
    ]
    every.insert(2, StageEstimate(stage="search", searches=totals["verify"][0]))
    return [stage_estimate for stage_estimate in every if stage_estimate.calls or stage_estimate.searches]


def _of_one(answer: LongAnswer, into_english: bool, facts: bool, results: int) -> dict[str, Sums]:
    """Return what each stage takes for one answer; a translation is as long as its original."""
    surface = Surface(id=answer.id)
    judged = keep_language(answer, surface)
    judged = judged.model_copy(update={"english": judged.english or into_english})
    sums = {"relevance": _taken(relevance_requests(answer, judged), REASON_TOKENS)}
    if into_english:
        pairs = zip(english_of(answer, surface), (answer.question, answer.answer or ""), strict=True)
        completion = sum(min(MAX_TOKENS, guess_tokens(text)) for english, text in pairs if english is None)
        calls, prompt, _ = _taken(translation_requests(answer, surface), 0)
        sums["translate"] = (calls, prompt, completion)
    return {**sums, **(_facts(judged, results) if facts else {})}


def _facts(judged: Translation, results: int) -> dict[str, Sums]:
    sentences = claims_requests(judged)
    count = round(len(sentences) * CLAIMS_PER_SENTENCE)
    verified = verify_request("x" * 4 * CLAIM_TOKENS, [RESULT] * results)
    return {
        "claims": _taken(sentences, CLAIM_TOKENS),
        "verify": (count, count * _prompt_tokens(verified), count * REASON_TOKENS),
    }


def _taken(requests: Sequence[Request], reply: int) -> Sums:
    return len(requests), sum(map(_prompt_tokens, requests)), len(requests) * reply


def _prompt_tokens(request: Request) -> int:
    return sum(guess_tokens(message.content) for message in request.messages)
