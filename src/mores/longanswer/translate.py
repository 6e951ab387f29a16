"""Translation into English, in which facts and relevance are judged (CaLMQA, Section 3.1 and Tables 7 and 8)."""

from __future__ import annotations

from mores.culture import base_language, language_name
from mores.longanswer.records import LongAnswer
from mores.metric.prompt import defuse
from mores.models import Request
from mores.models.base import greedy
from mores.prompts import fill, read_prompt

PROMPTS = ("translate_question", "translate_answer")
MAX_TOKENS = 4096
"""Twice what the paper lets an answer have."""


def is_english(tag: str | None) -> bool:
    """Return whether a BCP 47 tag is English of any place."""
    return tag is not None and base_language(tag) == "en"


def question_request(answer: LongAnswer) -> Request:
    """Ask for the question in English, with the answer as its context (Table 7)."""
    return _request("translate_question", answer)


def answer_request(answer: LongAnswer) -> Request:
    """Ask for the answer in English, with the question as its context (Table 8)."""
    return _request("translate_answer", answer)


def _request(name: str, answer: LongAnswer) -> Request:
    # The published prompts have no fence: what a chat template would obey is broken up, no more.
    texts = {"question": defuse(answer.question), "answer": defuse(answer.answer or "")}
    return greedy(
        fill(read_prompt(__file__, f"prompts/{name}"), language=language_name(answer.language), **texts), MAX_TOKENS
    )
