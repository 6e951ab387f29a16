"""Relevance: whether an answer makes a genuine attempt at its question (CaLMQA, Section 3.1 and Figure 14)."""

from __future__ import annotations

import re
from typing import NamedTuple

from mores.culture import language_name
from mores.engine import unread
from mores.metric.prompt import defuse
from mores.models import Request
from mores.models.base import greedy
from mores.models.written import object_schema, read_object
from mores.prompts import fill, read_prompt
from mores.types import Failure

PROMPTS = ("relevance", "relevance_untranslated")
MAX_TOKENS = 1024
SCHEMA = object_schema(
    explanation={"type": "string", "maxLength": 200}, judgment={"type": "string", "enum": ["relevant", "irrelevant"]}
)
"""For a model that writes these tags only under a schema."""

_JOINER = "\u2060"
_TAG = re.compile(r"<(?=\s*+(?:/\s*+)?(?:question|answer|explanation|judge?ment)\b)", re.IGNORECASE)
_OPENING = re.compile(r"<judgment>", re.IGNORECASE)
WORDS = {"relevant": True, "irrelevant": False}


class Relevance(NamedTuple):
    """The judge's verdict on one answer."""

    relevant: bool
    reason: str


def relevance_request(question: str, answer: str, language: str, in_english: bool = True) -> Request:
    """Ask whether an answer is relevant; `language` is the one that both were in before they were translated."""
    template = read_prompt(__file__, "prompts/relevance" if in_english else "prompts/relevance_untranslated")
    texts = {"question": _tame(question), "answer": _tame(answer)}
    return greedy(fill(template, language=language_name(language), **texts), MAX_TOKENS, SCHEMA)


def _tame(text: str) -> str:
    """Return the text without a tag that could close the prompt's: the published prompt has no other fence."""
    return _TAG.sub("<" + _JOINER, defuse(text))


def read_relevance(reply: str) -> Relevance | Failure:
    """Return the judgment in a reply; a failure unless there is one pair of tags around one of the two words."""
    if (fields := read_object(reply, "explanation", "judgment")) is not None:
        reply = f"<explanation>{fields['explanation']}</explanation><judgment>{fields['judgment']}</judgment>"
    word = _inside("judgment", reply).strip(" \t\r\n`*\"'.").lower()
    if word not in WORDS or len(_OPENING.findall(reply)) != 1:
        return unread(reply[-60:], "<judgment>relevant</judgment> or <judgment>irrelevant</judgment>, once")
    return Relevance(WORDS[word], _inside("explanation", reply).strip())


def _inside(tag: str, reply: str) -> str:
    """Return what stands between the first opening tag and the closing one after it; nothing where one is missing."""
    _, *after = re.split(f"<{tag}>", reply, maxsplit=1, flags=re.IGNORECASE)
    inside, *closed = re.split(f"</{tag}>", "".join(after), maxsplit=1, flags=re.IGNORECASE)
    return inside if closed else ""
