"""Requests to the AI of CulturalTeaming: a draft of a question, an answer (the duel), a hint at a harder one.

What people wrote stands in a fence with a mark that occurs nowhere in it, so that it cannot be closed from within.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from mores.benchmark.choice import lettered
from mores.culture import region_name
from mores.errors import InputError
from mores.models import Message, Request
from mores.models.base import Written
from mores.models.written import read_written
from mores.prompts import fill, read_prompt
from mores.reading import chosen_letter
from mores.studio.campaigns.culturalteaming.forms import LETTERS, LONGEST_OPTION, LONGEST_QUESTION, problem_of
from mores.studio.fence import Fence
from mores.studio.kind import CampaignSettings
from mores.studio.records import Ask, CampaignItem, Content
from mores.types import Failure

LONGEST_HINT = 400
"""Characters."""
_WORDS = frozenset(["THE", "CORRECT", "ANSWER", "ANSWERS", "OPTION", "OPTIONS", "IS", "ARE", "AND"])
"""What may stand around the letters of an answer."""


class DraftedQuestion(BaseModel):
    """A question as the AI helper drafts it."""

    model_config = ConfigDict(extra="ignore")

    question: str = Field(min_length=1)
    options: list[str] = Field(min_length=4, max_length=4)
    correct: Literal["A", "B", "C", "D"]


SCHEMA = {
    "type": "object",
    "properties": {
        "question": {"type": "string", "minLength": 1},
        "options": {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 4, "maxItems": 4},
        "correct": {"type": "string", "enum": list(LETTERS)},
    },
    "required": ["question", "options", "correct"],
    "additionalProperties": False,
}


def _prompt(name: str, item: CampaignItem, written: str) -> str:
    """Return a prompt with what the author wrote between marks."""
    fence = Fence(written)
    place = region_name(item.region) if item.region else "the author's region"
    return fill(read_prompt(__file__, name), region=place, mark=fence.mark, written=fence.around(written))


def ask_draft(item: CampaignItem, ask: Ask, _settings: CampaignSettings) -> Request:
    """Ask for a question with four options, from the author's scene."""
    text = _prompt("draft", item, str(ask.data.get("scene", "")))
    return Request((Message("user", text),), max_tokens=700, logprobs=False, schema=SCHEMA)


def read_draft(reply: Written, _item: CampaignItem, _ask: Ask, _settings: CampaignSettings) -> Content:
    """Return the question in the answer; words around the JSON do not matter."""
    text = reply.text
    draft = read_written(text[text.find("{") : text.rfind("}") + 1], DraftedQuestion, "a question with four options")
    if isinstance(draft, Failure):
        raise InputError("it has no question with four options")
    options = [re.sub(r"^\(?[A-Da-d][.):]\s+", "", option).strip()[:LONGEST_OPTION] for option in draft.options]
    content: Content = {"question": draft.question.strip()[:LONGEST_QUESTION], "options": options}
    if not content["question"] or not all(options) or problem_of(options):
        raise InputError("it has no question with four options")
    return content | {"correct": [draft.correct]}


class Hints(BaseModel):
    """Hints at what an author may change in the next version of a question."""

    model_config = ConfigDict(
        extra="ignore",
        json_schema_extra={"description": "What an author may change in the next version of a question."},
    )

    hints: list[Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]] = Field(
        min_length=1, max_length=3
    )


def ask_hints(item: CampaignItem, ask: Ask, _settings: CampaignSettings) -> Request:
    """Ask what would make this version harder for a model, given what the AI answered to the last one."""
    played = next((each for each in reversed(item.asks) if each.task == "answer" and each.answer), None)
    lines = [str(ask.data.get("question", "")), lettered(ask.data.get("options", ()))]
    lines.append(f"Correct: {', '.join(ask.data.get('correct', ()))}")
    if played and played.answer:
        same = played.data == ask.data
        lines.append(
            f"The AI's answer{'' if same else ' to an earlier version'}: {', '.join(played.answer['letters'])}"
        )
    text = _prompt("hints", item, "\n".join(lines))
    return Request((Message("user", text),), max_tokens=400, logprobs=False, schema=Hints.model_json_schema())


def read_hints(reply: Written, _item: CampaignItem, _ask: Ask, _settings: CampaignSettings) -> Content:
    """Return the hints in the answer; words around the JSON do not matter."""
    text = reply.text
    read = read_written(text[text.find("{") : text.rfind("}") + 1], Hints, "one to three hints")
    if isinstance(read, Failure):
        raise InputError("it has no hints")
    return {"hints": [hint[:LONGEST_HINT] for hint in read.hints]}


def ask_answer(item: CampaignItem, ask: Ask, _settings: CampaignSettings) -> Request:
    """Ask for the answer: one letter, or all that are correct where the author says that several are."""
    written = f"{ask.data.get('question', '')}\n{lettered(ask.data.get('options', ()))}"
    text = _prompt("answer_one" if len(ask.data.get("correct", ())) < 2 else "answer_all", item, written)
    return Request((Message("user", text),), max_tokens=64, logprobs=True, alternatives=10)


def read_answer(reply: Written, _item: CampaignItem, ask: Ask, _settings: CampaignSettings) -> Content:
    """Return the letters, the confidence in them where the server gives it, and whether the AI was beaten."""
    correct = ask.data.get("correct", ())
    if len(correct) < 2:
        letter = chosen_letter(reply.text, len(LETTERS))
        if letter is None:
            raise InputError("it does not choose one option")
        letters, confidence = [letter], _confidence(reply, letter)
    else:
        line = reply.text.partition("\n")[0]
        letters = sorted(set(re.findall(r"\w+", line.upper())) - _WORDS)
        if not letters or not set(letters) <= set(LETTERS):
            raise InputError("it does not say which options are correct")
        confidence = math.exp(sum(reply.logprobs)) if reply.logprobs else None
    return {"letters": letters, "confidence": confidence, "beaten": set(letters) != set(correct)}


def _confidence(reply: Written, letter: str) -> float | None:
    """Return the letter's share of what the first token could have been among the letters; else its own probability."""
    shares = dict.fromkeys(LETTERS, 0.0)
    for token, logprob in reply.alternatives or ():
        name = token.strip(" \n\t.():*\"'").upper()
        if name in shares:
            shares[name] += math.exp(min(logprob, 0.0))
    if shares[letter] > 0:
        return shares[letter] / sum(shares.values())
    starts = reply.whole.lstrip().upper().startswith(letter)
    return math.exp(min(reply.logprobs[0], 0.0)) if starts and reply.logprobs else None
