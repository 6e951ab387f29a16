"""Requests about a question, and readers of the answers: strict, and anything else is a failure."""

from __future__ import annotations

import csv
import re
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from mores.engine import unread
from mores.io.source import read_text
from mores.longanswer.collection.candidates import Candidate
from mores.metric.prompt import defuse
from mores.models.written import object_schema
from mores.prompts import fill, hash_prompts, read_prompt
from mores.types import Failure, FailureKind

PROMPTS = ("specificity", "quality", "translation", "translation.bare", "topic.english", "topic")

_FENCE = re.compile(r"\A\s*```\w*\n(.*)\n```\s*\Z", re.DOTALL)
# The prompts show the tags between backticks, and some models write them so.
_VERDICT = re.compile(
    r"[\s`]*(?:<explanation>(?P<why>.*?)</explanation>[\s`]*)?<result>\s*(?P<verdict>PASS|FAIL)\s*</result>[\s`]*",
    re.DOTALL,
)
_CATEGORY = re.compile(r"<category>([^<>]*)</category>", re.IGNORECASE)


class CollectStage(StrEnum):
    """One step of a collection; what a question can be dropped or left undecided by."""

    DUPLICATE = "duplicate"
    """Exactly an earlier question: needs no model."""
    SPECIFICITY = "specificity"
    """Table 5."""
    QUALITY = "quality"
    """Table 6."""
    TRANSLATION = "translation"
    """Table 7; drops nothing."""
    TOPIC = "topic"
    """Tables 11 and 12; drops nothing."""


FILTERS = (CollectStage.SPECIFICITY, CollectStage.QUALITY)


class Category(NamedTuple):
    """One topic (Table 12)."""

    name: str
    description: str
    example: str


class FilterVerdict(NamedTuple):
    """A filter's verdict on a question."""

    passed: bool
    reason: str


# ---- asking ----------------------------------------------------------------------------------------------------


def ask(stage: CollectStage, candidate: Candidate) -> str | Failure:
    """Return the prompt of a stage about a question; a failure where it cannot be filled."""
    if stage is CollectStage.TOPIC and not (candidate.english or candidate.translation):
        return Failure(kind=FailureKind.INPUT, reason="there is no English translation, from which the topic is read")
    # The published prompts have no fence: what a chat template would obey is broken up, no more.
    texts = {
        "question": candidate.question,
        "answer": candidate.answer or "",
        "translation": candidate.translation or "",
    }
    values = {name: defuse(text) for name, text in texts.items()}
    name = str(stage)
    if stage is CollectStage.TRANSLATION and not candidate.answer:
        name = "translation.bare"
    elif stage is CollectStage.TOPIC and candidate.english:
        name = "topic.english"
    return fill(prompt(name), language=candidate.language_name, categories=_listed(), **values)


def schema(stage: CollectStage) -> dict[str, Any]:
    """Return the tags of a stage as a JSON schema, for a model that needs a fixed form."""
    if stage is CollectStage.TRANSLATION:
        fields: dict[str, Any] = {"translation": {"type": "string", "maxLength": 600}}
    elif stage is CollectStage.TOPIC:
        fields = {"category": {"enum": [category.name for category in categories()]}}
    else:
        fields = {"explanation": {"type": "string", "maxLength": 300}, "result": {"enum": ["PASS", "FAIL"]}}
    return object_schema(**fields)


def prompt(name: str) -> str:
    """Return a prompt of this folder; that of a translation is shared with the answers'."""
    return read_prompt(__file__, "../prompts/translate_question" if name == "translation" else name)


@cache
def categories() -> tuple[Category, ...]:
    """Return the topics, `other` last (Table 12)."""
    rows = csv.DictReader(read_text(Path(__file__).with_name("categories.csv")).splitlines())
    return tuple(Category(row["category"], row["description"], row["example"]) for row in rows)


def prompt_hash() -> str:
    """Return eight digits that change when a word of the prompts or categories does."""
    return hash_prompts(*map(prompt, PROMPTS), _listed())


@cache
def _listed() -> str:
    """Return the categories as Table 11 lists them."""
    return "\n".join(
        f"{name} – {description.removesuffix('.')}. Example: {example}" if example else f"{name} – {description}"
        for name, description, example in categories()
    )


# ---- reading ---------------------------------------------------------------------------------------------------


def in_tags(stage: CollectStage, reply: str) -> str | Failure:
    """Return a reply under the schema, in the form that it would have without."""
    try:
        values = orjson.loads(reply)
    except orjson.JSONDecodeError:
        values = None
    if not isinstance(values, dict) or (stage is CollectStage.TRANSLATION and "translation" not in values):
        return unread(reply, "JSON that fits the schema")
    if stage is CollectStage.TRANSLATION:
        return str(values["translation"]).strip() or Failure(kind=FailureKind.PARSE, reason="the answer is empty")
    return "\n".join(f"<{name}>{value}</{name}>" for name, value in values.items())


def read_verdict(reply: str) -> FilterVerdict | Failure:
    """Return PASS or FAIL with its explanation, in the two tags of Tables 5 and 6 and with nothing beside them."""
    match = _VERDICT.fullmatch(_FENCE.sub(r"\1", reply))
    why = (match["why"] or "") if match else ""
    # A question may contain a result, and the explanation repeat it: then it is unclear which one is meant.
    if match is None or "<result" in why.lower():
        return unread(reply, "an <explanation> and a <result> of PASS or FAIL, alone")
    return FilterVerdict(match["verdict"] == "PASS", why.strip())


def read_topic(reply: str) -> str | Failure:
    """Return the one category in the answer, if it is one of Table 12; case and punctuation aside."""
    names = _CATEGORY.findall(reply)
    if len(names) != 1:
        return unread(reply, "exactly one <category>")
    known = {_folded(category.name): category.name for category in categories()}
    return known.get(_folded(names[0])) or unread(reply, "a <category> of the list")


def read_translation(reply: str, question: str) -> str | Failure:
    """Return the whole answer, unless it is the question again."""
    if _folded(reply) == _folded(question):
        return unread(reply, "the question in English")
    return reply.encode("utf-8", "replace").decode()  # half a character could not be sent on


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
