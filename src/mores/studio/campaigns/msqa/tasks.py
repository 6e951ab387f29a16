"""Requests to models, and the meaning of their answers."""

from __future__ import annotations

import json
from collections.abc import Mapping

from mores.benchmark.msqa import MSQA
from mores.benchmark.msqa.judge import FIRST, mute, read_verdict
from mores.benchmark.msqa.judge import JUDGE as SHORT_ANSWERS
from mores.errors import InputError
from mores.models import Message, Request
from mores.models.base import Stop, Written
from mores.prompts import fill, read_prompt
from mores.search import Found, Query, shorten
from mores.studio.campaigns.msqa.checks import CONFIRM, JUDGE, QUALITY, SEARCH, TRANSLATE, TRY
from mores.studio.campaigns.msqa.forms import MsqaSettings
from mores.studio.fence import Fence
from mores.studio.kind import ModelTask, SearchTask
from mores.studio.records import Ask, CampaignItem, Content
from mores.types import Failure, Item

PRETEST = "pretest"
PASSAGE = 500
"""Characters of a passage that are kept and read."""
LONGEST = 10_000
"""Characters of an answer that are kept: about all that the benchmark lets a model write, since it is judged."""
CONFIRMED = ("CONFIRMED", "CONTRADICTED", "NOT_FOUND")
UNIQUE = ("UNIQUE", "AMBIGUOUS", "INCORRECT")


def _request(name: str, item: CampaignItem, max_tokens: int, evidence: str = "") -> Request:
    """Return a prompt of ours; what people wrote and a search found stands between marks that it cannot contain."""
    question, answer = item.content.get("question", ""), item.content.get("answer", "")
    fence = Fence(question, answer, evidence)
    template = read_prompt(__file__, name)
    slots = {"question": question, "answer": answer, "evidence": evidence}
    text = fill(template, **{slot: fence.around(mute(value)) for slot, value in slots.items()})
    return Request((Message("user", text),), max_tokens=max_tokens, logprobs=False)


def _text(reply: Written) -> str:
    """Return what the model wrote after thinking, whole."""
    if reply.stop is Stop.LENGTH:
        raise InputError("it was cut off")
    return reply.text


def _verdict(reply: Written, verdicts: tuple[str, ...]) -> Content:
    """Return the verdict of the last line, and the reason before it."""
    text = _text(reply)
    verdict = read_verdict(text, verdicts)
    if isinstance(verdict, Failure):
        raise InputError(verdict.reason)
    lines = [line for line in text.split("\n") if line.strip()]
    return {"verdict": verdict, "reason": " ".join(lines[:-1]).strip()[:LONGEST]}


def _query(item: CampaignItem, _ask: Ask, _settings: MsqaSettings) -> Query:
    text = f"{item.content.get('question', '')} {item.content.get('answer', '')}"
    return Query(" ".join(text.split())[:1000], item.language or None, item.region or None)


def _read_found(found: Found, _item: CampaignItem, _ask: Ask, _settings: MsqaSettings) -> Content:
    pieces = (shorten(piece, PASSAGE) for piece in found.evidence)
    return {"evidence": [piece.model_dump(include={"text", "title", "source"}) for piece in pieces]}


def _ask_confirm(item: CampaignItem, _ask: Ask, _settings: MsqaSettings) -> Request:
    found = next(ask.answer["evidence"] for ask in reversed(item.asks_of(SEARCH)) if ask.answer)
    shown = "\n\n".join(f"[{number}] {piece['title']}\n{piece['text']}" for number, piece in enumerate(found, 1))
    return _request("confirm", item, 1024, shown)


def _read_translation(reply: Written, _item: CampaignItem, _ask: Ask, _settings: MsqaSettings) -> Content:
    text = _text(reply)
    try:
        value = json.loads(text[text.find("{") : text.rfind("}") + 1])
        pair = {"question_zh": value["question"], "answer_zh": value["answer"]}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError("it has no question and answer") from error
    if not all(isinstance(part, str) and part.strip() for part in pair.values()):
        raise InputError("it has no question and answer")
    return {name: part.strip()[:1000] for name, part in pair.items()}


def _ask_question(item: CampaignItem, _ask: Ask, _settings: MsqaSettings) -> Request:
    """Return the question alone, as `mores bench msqa` asks it."""
    messages = (Message("user", item.content.get("question", "")),)
    return Request(messages, MSQA.max_tokens, MSQA.temperature, logprobs=False)


def _read_answer(reply: Written, _item: CampaignItem, _ask: Ask, _settings: MsqaSettings) -> Content:
    return {"answer": _text(reply)[:LONGEST]}


def _ask_judge(item: CampaignItem, ask: Ask, _settings: MsqaSettings) -> Request:
    """Return whether one answer is correct: the first question of the benchmark's judge."""
    tried = next(tried for tried in item.asks if tried.id == ask.data["of"])
    target = Item(id=item.id, prompt=item.content["question"], target=(item.content["answer"],))
    messages = SHORT_ANSWERS.ask(target, (tried.answer or {}).get("answer", ""))
    assert isinstance(messages, tuple)  # an empty answer is a failure of the run and is not judged
    return Request(messages, max_tokens=1024, logprobs=False)


LOOKUPS: Mapping[str, SearchTask[MsqaSettings]] = {
    SEARCH: SearchTask(_query, _read_found, lambda settings: settings.passages, "Search for evidence"),
}
TASKS: Mapping[str, ModelTask[MsqaSettings]] = {
    CONFIRM: ModelTask(_ask_confirm, lambda answer, *_: _verdict(answer, CONFIRMED), "Read the evidence"),
    QUALITY: ModelTask(
        lambda item, *_: _request("quality", item, 1024),
        lambda answer, *_: _verdict(answer, UNIQUE),
        "Check that there is one clear answer",
    ),
    TRANSLATE: ModelTask(
        lambda item, *_: _request("translate", item, 1024),
        _read_translation,
        "Translate into Chinese",
        fills=("question_zh", "answer_zh"),
    ),
    TRY: ModelTask(_ask_question, _read_answer, "Try the question"),
    JUDGE: ModelTask(_ask_judge, lambda answer, *_: _verdict(answer, tuple(FIRST)), "Judge the answer"),
    PRETEST: ModelTask(_ask_question, _read_answer, "Try it on the AI"),
}
