"""The three checks by models, side by side (Section 3.2, Stage 3): retrieval, quality, difficulty.

A model that fails, or answers something that cannot be read, counts neither for nor against an item: the item waits,
with the reason, until an organiser has it asked again or decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, NamedTuple

from mores.benchmark.msqa import fifths
from mores.studio.campaigns.msqa.forms import MsqaSettings
from mores.studio.phrase import Phrase
from mores.studio.records import Ask, CampaignItem, Content
from mores.studio.workflow import ModelQuestion, StageDecision

SEARCH, CONFIRM, QUALITY, TRANSLATE, TRY, JUDGE = "search", "confirm", "quality", "translate", "try", "judge"
"""What is asked: see tasks.py."""


class State(StrEnum):
    """The state of a check."""

    WAITING = "waiting"
    PASSED = "passed"
    RETURNED = "returned"
    UNCONFIRMED = "not confirmed"
    """The search found nothing for or against the answer: a person checks it."""
    NOT_DONE = "not done"
    """The campaign has nothing to make this check with: a person makes it."""
    STUCK = "stuck"


@dataclass(frozen=True)
class ModelCheck:
    """One check of an item."""

    name: str
    title: str
    by_hand: str
    """What a person confirms in its place."""
    state: State
    reason: str = ""
    facts: Content = field(default_factory=dict)
    """What is shown and exported: evidence, or runs."""


def questions(settings: MsqaSettings, item: CampaignItem) -> Iterator[ModelQuestion]:
    """Yield what models should have been asked by now, given what they answered so far."""
    if settings.search:
        yield ModelQuestion(SEARCH, settings.search)
    if any(ask.answer and ask.answer["evidence"] for ask in item.asks_of(SEARCH)):
        yield ModelQuestion(CONFIRM, settings.checker)
    yield ModelQuestion(QUALITY, settings.checker)
    if settings.translate and item.language.partition("-")[0] != "zh" and not item.content.get("question_zh"):
        yield ModelQuestion(TRANSLATE, settings.checker)
    for model in settings.models:
        for run in range(settings.runs):
            yield ModelQuestion(TRY, model, run)
    for ask in item.asks_of(TRY):
        if ask.answer is not None:
            number = int(ask.id.rpartition(".")[2])
            yield ModelQuestion(JUDGE, settings.judge, number, {"of": ask.id})


def all_checks(settings: MsqaSettings, item: CampaignItem) -> tuple[ModelCheck, ...]:
    """Return the three checks of the present version."""
    return _retrieval(settings, item), _quality(item), _difficulty(settings, item)


def decide(settings: MsqaSettings, item: CampaignItem) -> StageDecision | None:
    """Send an item back with all reasons when no model is awaited, and on where nothing is against it or stuck."""
    checks = all_checks(settings, item)
    states = {check.state for check in checks}
    result = {check.name: {"state": check.state.value, "reason": check.reason} | check.facts for check in checks}
    if State.WAITING in states:
        return None
    if State.RETURNED in states:
        reasons = [check.reason for check in checks if check.state is State.RETURNED]
        outcome: Literal["rejected", "back"] = "rejected" if item.returns >= settings.most_returns else "back"
        return StageDecision(outcome, Phrase.join(reasons, "\n"), result)
    return None if State.STUCK in states else StageDecision("next", result=result)


class Unanswered(NamedTuple):
    """The reason why a question has no answer."""

    state: State
    reason: str


def _answer(item: CampaignItem, task: str, missing: str) -> Content | Unanswered:
    """Return the answer to the last question of a task; `missing` is the reason where it was not asked."""
    asks = item.asks_of(task)
    return _answer_of(asks[-1] if asks else None, missing)


def _answer_of(ask: Ask | None, missing: str) -> Content | Unanswered:
    if ask is None:
        return Unanswered(State.NOT_DONE, missing)
    if ask.waiting:
        return Unanswered(State.WAITING, "")
    return Unanswered(State.STUCK, ask.explained) if ask.answer is None else ask.answer


def _retrieval(settings: MsqaSettings, item: CampaignItem) -> ModelCheck:
    def check(state: State, reason: str, evidence: Sequence[Content] = ()) -> ModelCheck:
        by_hand = "I have looked for other sources myself: they confirm the answer."
        return ModelCheck("retrieval", "Evidence", by_hand, state, reason, {"evidence": list(evidence)})

    if not settings.search:
        return check(State.NOT_DONE, "This campaign has no search.")
    found = _answer(item, SEARCH, "The search was not asked.")
    if isinstance(found, Unanswered):
        return check(*found)
    if not found["evidence"]:
        return check(State.UNCONFIRMED, "The search found nothing.")
    read = _answer(item, CONFIRM, "This campaign has no model that reads what the search found.")
    if isinstance(read, Unanswered):
        return check(*read, found["evidence"])
    match read["verdict"]:
        case "CONFIRMED":
            return check(State.PASSED, read["reason"], found["evidence"])
        case "CONTRADICTED":
            against = Phrase("Evidence speaks against the answer: {reason}", reason=read["reason"])
            return check(State.RETURNED, against, found["evidence"])
        case _:
            reason = read["reason"] or "The evidence does not answer the question."
            return check(State.UNCONFIRMED, reason, found["evidence"])


def _quality(item: CampaignItem) -> ModelCheck:
    def check(state: State, reason: str) -> ModelCheck:
        by_hand = "I have checked that the question has one meaning and exactly one correct answer."
        return ModelCheck("quality", "One clear answer", by_hand, state, reason)

    read = _answer(item, QUALITY, "This campaign has no model for it.")
    if isinstance(read, Unanswered):
        return check(*read)
    if read["verdict"] == "UNIQUE":
        return check(State.PASSED, read["reason"])
    wrong = read["verdict"] == "INCORRECT"
    problem = "The answer seems to be wrong: {reason}" if wrong else "It is not one clear question: {reason}"
    return check(State.RETURNED, Phrase(problem, reason=read["reason"]))


def too_easy(runs: Sequence[Sequence[bool | None]], most: int, *, together: bool) -> bool | None:
    """Return whether more than `most` runs are correct, of any one model or of all together; None while it is unknown.

    A run is None where the model or the judge failed: the answer is known only where such runs cannot change it.
    """
    groups = [[run for model in runs for run in model]] if together else runs
    if any(group.count(True) > most for group in groups):
        return True
    return None if any(len(group) - group.count(False) > most for group in groups) else False


def _runs(settings: MsqaSettings, item: CampaignItem) -> list[list[bool | Unanswered]]:
    """Return whether each run of each model is correct, or why that is not known."""
    tries = {(ask.model, ask.sample): ask for ask in item.asks_of(TRY)}
    judged = {ask.data["of"]: ask for ask in item.asks_of(JUDGE)}

    def run(model: str, number: int) -> bool | Unanswered:
        tried = tries.get((model, number))
        if tried is None:
            return Unanswered(State.NOT_DONE, Phrase("a model was not asked"))
        answer = _answer_of(tried, "")
        if isinstance(answer, Unanswered):
            return answer
        verdict = _answer_of(judged.get(tried.id), Phrase("no model judged it"))
        return verdict if isinstance(verdict, Unanswered) else verdict["verdict"] == "CORRECT"

    return [[run(model, number) for number in range(settings.runs)] for model in settings.models]


def _difficulty(settings: MsqaSettings, item: CampaignItem) -> ModelCheck:
    def check(state: State, reason: str, facts: Content | None = None) -> ModelCheck:
        by_hand = "I am sure that this is not widely known."
        return ModelCheck("difficulty", "Difficulty", by_hand, state, reason, facts or {"models": []})

    if not settings.models:
        return check(State.NOT_DONE, "This campaign has no models that try the questions.")
    outcomes = _runs(settings, item)
    unknown = [run for row in outcomes for run in row if isinstance(run, Unanswered)]
    runs = [[None if isinstance(run, Unanswered) else run for run in row] for row in outcomes]
    total, correct = settings.runs * len(settings.models), sum(row.count(True) for row in runs)
    facts: Content = {
        "models": [
            {"model": model, "correct": row.count(True), "failed": row.count(None), "runs": len(row)}
            for model, row in zip(settings.models, runs, strict=True)
        ]
    }
    if any(run.state is State.WAITING for run in unknown):
        return check(State.WAITING, "", facts)
    if not unknown:
        facts["tier"] = fifths(correct, total)
    easy = too_easy(runs, settings.most_correct, together=settings.counted == "all")
    if easy is None:
        if all(run.state is State.NOT_DONE for run in unknown) and not item.asks_of(JUDGE):
            return check(State.NOT_DONE, "This campaign has no model that judges the answers.", facts)
        failed = Phrase(
            "{count} of {runs} runs failed: {reason}", count=len(unknown), runs=total, reason=unknown[0].reason
        )
        return check(State.STUCK, failed, facts)
    best, of = (correct, total) if settings.counted == "all" else (max(row.count(True) for row in runs), settings.runs)
    if not easy:
        return check(State.PASSED, Phrase("At most {best} of {runs} runs are correct.", best=best, runs=of), facts)
    if settings.too_easy == "keep":
        reason = Phrase("Too easy, kept as Easy: {best} of {runs} runs are correct.", best=best, runs=of)
        return check(State.PASSED, reason, facts | {"tier": "Easy"})
    template = "Too easy: models answered correctly in {best} of {runs} runs; at most {most} may be."
    return check(State.RETURNED, Phrase(template, best=best, runs=of, most=settings.most_correct), facts)
