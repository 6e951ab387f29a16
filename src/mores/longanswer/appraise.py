"""The judging of long answers: the language check, the judge, the search for facts; and what that takes, at most.

Before the run it is unknown which answers have surface issues or how many claims they make: every answer with text is
counted, with one claim per sentence. So the figures are upper estimates; answers in the store are not subtracted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import add
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

from mores.engine import Asker, Progress
from mores.engine.cost import guess_tokens
from mores.errors import ConfigError
from mores.formatting import count, money
from mores.io import read_records, write_text
from mores.longanswer.evaluate import LongformEvaluation
from mores.longanswer.factuality import check_k, median_claims
from mores.longanswer.judging import TRANSLATION_TOKENS, verify_request
from mores.longanswer.lid import checker
from mores.longanswer.records import LongAnswer, Surface
from mores.longanswer.settings import MEDIAN, AppraiseSettings
from mores.longanswer.stages import claims_requests, english_of, keep_language, relevance_requests, translation_requests
from mores.longanswer.summary import Counting, LongformSummary
from mores.longanswer.tokens import default_tokenizer
from mores.models import Model, Request, open_model
from mores.registry import name_of
from mores.search import Options as SearchOptions
from mores.search import open_search, search_cost
from mores.search.base import Evidence
from mores.types import Record

Sums = tuple[int, ...]
"""Calls, prompt tokens and completion tokens."""

CLAIM_TOKENS = 20
RESULT = Evidence(text="x" * 150, title="x" * 55, source="x" * 70)
"""A result of a web search of the usual length."""
REASON_TOKENS = 80
"""What a judge writes beside its verdict."""


class StageEstimate(Record):
    """The requests and tokens of one stage; tokens are guessed from the number of characters."""

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
        if not (answer.answer and answer.answer.strip()):
            continue
        surface = Surface(id=answer.id)
        judged = keep_language(answer, surface)
        judged = judged.model_copy(update={"english": judged.english or into_english})
        taken: dict[str, Sums] = {"relevance": _taken(relevance_requests(answer, judged), REASON_TOKENS)}
        if into_english:  # a translation is as long as its original
            pairs = zip(english_of(answer, surface), (answer.question, answer.answer), strict=True)
            completion = sum(min(TRANSLATION_TOKENS, guess_tokens(text)) for english, text in pairs if english is None)
            calls, prompt, _ = _taken(translation_requests(answer, surface), 0)
            taken["translate"] = (calls, prompt, completion)
        if facts:
            sentences = claims_requests(judged)
            verified = verify_request("x" * 4 * CLAIM_TOKENS, [RESULT] * results)
            taken["claims"] = _taken(sentences, CLAIM_TOKENS)
            taken["verify"] = tuple(len(sentences) * part for part in _taken([verified], REASON_TOKENS))
        for stage, sums in taken.items():
            totals[stage] = tuple(map(add, totals[stage], sums))
    every = [
        StageEstimate(stage=stage, calls=calls, prompt_tokens=prompt, completion_tokens=completion)
        for stage, (calls, prompt, completion) in totals.items()
    ]
    every.insert(2, StageEstimate(stage="search", searches=totals["verify"][0]))
    return [stage_estimate for stage_estimate in every if stage_estimate.calls or stage_estimate.searches]


def _taken(requests: Sequence[Request], reply: int) -> Sums:
    prompts = (message.content for request in requests for message in request.messages)
    return len(requests), sum(map(guess_tokens, prompts)), len(requests) * reply


SUMMARIES = "longform.json"


class Appraising(AppraiseSettings):
    """The settings of judging long answers, ready for work."""

    def check(self, judge: object | None) -> None:
        """Raise ConfigError for what cannot be done, before anything is paid for."""
        if self.facts and not judge:
            raise ConfigError("facts are judged by a model: name a judge, for example openai:NAME", setting="judge")
        idle = [name for name in ("extractor", "verifier", "claims", "record") if getattr(self, name) is not None]
        if idle and not self.facts:
            message = f"{idle[0]} is about facts: name the search that they are checked against, and a judge"
            raise ConfigError(message, setting="facts")
        if self.claims is not None and self.claims != MEDIAN:
            check_k(self.claims)
        judged = {"translator": self.translator, "every": self.every, "translate": not self.translate}
        idle = [name for name, there in judged.items() if there]
        if idle and not judge:
            message = f"{idle[0]} is about what a model judges: name a judge, for example openai:NAME"
            raise ConfigError(message, setting="judge")
        default_tokenizer()  # an extra: fail now if it is missing

    def settings(self) -> dict[str, Any]:
        """Return the settings as a manifest records them: objects by their names."""
        named = ("lid", "facts", "translator", "extractor", "verifier")
        values = {name: value for name, value in vars(self).items() if name not in ("record", "corpus")}
        return values | {name: name_of(values[name]) for name in named if values[name] is not None}

    def evaluation(self, answers: Path, folder: Path, judge: Asker | None) -> LongformEvaluation:
        """Return the evaluation of a file of answers, with its models and search."""
        check = checker(self.lid)

        def part(model: str | Model | None) -> Asker | None:
            if not model or not judge:
                return None
            return judge.open(model) if isinstance(model, str) else replace(judge, model=open_model(model))

        search = None
        if self.facts and judge:
            record = Path(self.record) if self.record else None
            options = SearchOptions(limits=judge.limits, fresh=judge.fresh, record=record, progress=judge.progress)
            search = open_search(self.facts, options)
        return LongformEvaluation(
            answers=answers, folder=folder, check=check.check, checker=check.identity, judge=judge,
            translator=part(self.translator), extractor=part(self.extractor), verifier=part(self.verifier),
            backend=search, results=self.results, into_english=self.translate, judge_all=self.every,
        )  # fmt: skip


def announce(evaluation: LongformEvaluation, appraising: Appraising, progress: Progress) -> None:
    """Say what the evaluation will call and search for, at most, and what that costs where it is known."""
    askers = {stage.name: stage.asker for stage in evaluation.stages()}
    rows, facts = read_records(evaluation.answers, LongAnswer), evaluation.backend is not None
    for part in estimate(rows, into_english=evaluation.into_english, facts=facts, results=evaluation.results):
        if part.searches:
            cost = search_cost(appraising.facts or "", part.searches, evaluation.results)
            text = f"about {count(part.searches)} searches"
        else:
            asker = askers[part.stage]
            price = asker.price if asker else None
            cost = price.cost(part.prompt_tokens, part.completion_tokens) if price else 0.0
            text = f"about {count(part.calls)} calls, {count(part.prompt_tokens + part.completion_tokens)} tokens"
        progress.note(f"{part.stage}: {text}" + (f", {money(cost)}" if cost else ""))


def counting_of(
    evaluation: LongformEvaluation, counting: Counting, claims: int | Literal["median"] | None = None
) -> Counting:
    """Return what is counted, for what this evaluation judges."""
    judged = evaluation.judge is not None
    number = median_claims(appraisal for _, appraisal in evaluation.appraised()) if claims == MEDIAN else claims
    return replace(counting, facts=judged and evaluation.backend is not None, relevance=judged, k=number)


def write_summaries(summaries: Sequence[LongformSummary], folder: Path) -> None:
    """Write the figures to their file."""
    text = json.dumps([summary.model_dump(mode="json") for summary in summaries], indent=1)
    write_text(folder / SUMMARIES, text + "\n")


def read_summaries(folder: Path) -> list[LongformSummary]:
    """Return the figures of an evaluation, one for each model."""
    return TypeAdapter(list[LongformSummary]).validate_json((folder / SUMMARIES).read_bytes())
