"""Requests to a judge about an answer, and readers of its replies: the form is fixed, anything else is a failure.

| question | from |
| --- | --- |
| translation into English, in which facts and relevance are judged | CaLMQA, Section 3.1 and Tables 7 and 8 |
| claims: the statements of a sentence that can be checked | VeriScore; `- claim` line by line, or NONE |
| verification: whether what a search found supports a claim | ours |
| relevance: whether an answer makes a genuine attempt at its question | CaLMQA, Section 3.1 and Figure 14 |

A sentence is read for claims with the question, the three sentences before it and the one after it. Our prompt asks for
claims that stand alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mores.culture import base_language, language_name
from mores.engine import unread
from mores.language.sentences import sentences
from mores.longanswer.records import LongAnswer
from mores.metric.prompt import defuse, fill_fenced
from mores.models import Request
from mores.models.base import greedy
from mores.models.written import object_schema, read_object
from mores.prompts import fill, read_prompt
from mores.search.base import Evidence
from mores.types import Failure

PROMPTS = {
    "translation": ("translate_question", "translate_answer"),
    "claims": ("claims",),
    "verification": ("verify",),
    "relevance": ("relevance", "relevance_untranslated"),
}
"""The files of the prompts."""
BEFORE, AFTER = 3, 1
"""Sentences of context (VeriScore's window)."""
MAX_TOKENS = 1024
_TEXTS = {"type": "array", "items": {"type": "string", "maxLength": 200}, "minItems": 1, "maxItems": 4}
CLAIMS_SCHEMA = object_schema(claims=_TEXTS)
"""For a model that writes these lines only under a schema; it must write NONE too: small ones overuse empty lists."""

_CLAIM = re.compile(r"(?:[-*•–]|\d{1,2}[.)])(?:\s+(.*)|)")
_NONE = re.compile(r"(?:[-*•–]\s*)?[`*\"']*NONE[`*\"']*\.?", re.IGNORECASE)
_EXPECTED = "one claim per line, each after '- ', or NONE"


class Window(NamedTuple):
    """A sentence with the text around it."""

    before: str
    sentence: str
    after: str


def windows(text: str) -> list[Window]:
    """Return every sentence of a text in its context."""
    spans = sentences(text)
    return [
        Window(
            _between(text, spans[max(0, place - BEFORE) : place]),
            text[start:end],
            _between(text, spans[place + 1 : place + 1 + AFTER]),
        )
        for place, (start, end) in enumerate(spans)
    ]


def _between(text: str, spans: list[tuple[int, int]]) -> str:
    """Return the text from the first span's start to the last one's end."""
    return text[spans[0][0] : spans[-1][1]] if spans else ""


def claims_request(question: str, window: Window) -> Request:
    """Ask for the claims of one sentence."""
    return greedy(
        fill_fenced(read_prompt(__file__, "prompts/claims"), question=question, **window._asdict()),
        MAX_TOKENS,
        CLAIMS_SCHEMA,
    )


def read_claims(reply: str) -> tuple[str, ...] | Failure:
    """Return the claims in a reply, () for NONE; a failure where any line is neither."""
    if (fields := read_object(reply, "claims")) is not None:
        listed = fields["claims"]
        if not isinstance(listed, list):
            return unread(reply, _EXPECTED)
        texts = [claim.strip() for claim in listed if isinstance(claim, str)]
        none = [text for text in texts if _NONE.fullmatch(text)]
        if len(texts) < len(listed) or (none and len(texts) > 1):
            return unread(str(listed), _EXPECTED)
        return () if none or not listed else tuple(filter(_says_something, texts)) or unread(str(listed), _EXPECTED)
    lines = [line.strip() for line in reply.splitlines() if line.strip()]
    if len(lines) == 1 and _NONE.fullmatch(lines[0]):
        return ()
    claims = []
    for line in lines:
        match = _CLAIM.fullmatch(line)
        if match is None or _NONE.fullmatch(line):
            return unread(line, _EXPECTED)
        claims.append((match[1] or "").strip())
    return tuple(filter(_says_something, claims)) or unread(reply, _EXPECTED)


def _says_something(claim: str) -> bool:
    return any(character.isalnum() for character in claim)


def distinct(per_sentence: Iterable[tuple[str, ...]]) -> list[tuple[int, str]]:
    """Return each different claim with the first sentence that makes it, in order: exact duplicates are dropped."""
    first: dict[str, int] = {}
    for place, claims in enumerate(per_sentence):
        for claim in claims:
            first.setdefault(claim, place)
    return [(place, claim) for claim, place in first.items()]


TRANSLATION_TOKENS = 4096
"""Twice what the paper lets an answer have."""


def is_english(tag: str | None) -> bool:
    """Return whether a BCP 47 tag is English of any place."""
    return tag is not None and base_language(tag) == "en"


def translation_request(answer: LongAnswer, part: str) -> Request:
    """Ask for the `question` or the `answer` in English, with the other as its context (Tables 7 and 8)."""
    # The published prompts have no fence: what a chat template would obey is broken up, no more.
    texts = {"question": defuse(answer.question), "answer": defuse(answer.answer or "")}
    return greedy(
        fill(read_prompt(__file__, f"prompts/translate_{part}"), language=language_name(answer.language), **texts),
        TRANSLATION_TOKENS,
    )


LONGEST = 2000
"""Characters of one result that the judge reads: snippets are far shorter, and a page must not crowd out the rest."""
VERDICT_SCHEMA = object_schema(
    reason={"type": "string", "maxLength": 200}, verdict={"type": "string", "enum": ["supported", "not supported"]}
)
"""For a model that writes these lines only under a schema."""

_LINE = re.compile(r"^(?:[^\S\n]|[*_`#>-])*+verdict\b(.*)$", re.IGNORECASE | re.MULTILINE)
_VERDICT = re.compile(r"[\s*_`]*[:：][\s*_`\"']*(not\s+supported|unsupported|supported)[\s*_`\"'.]*", re.IGNORECASE)
_REASON = re.compile(r"\A[\s*_`#>-]*reason[\s*_`]*[:：][\s*_`]*", re.IGNORECASE)


class ClaimVerdict(NamedTuple):
    """The judge's verdict on one claim."""

    supported: bool
    reason: str


NOTHING_FOUND = ClaimVerdict(False, "the search found nothing")
"""Without results there is nothing that could support a claim, so no judge is asked."""


def verify_request(claim: str, evidence: Sequence[Evidence]) -> Request:
    """Ask whether the evidence supports a claim; both are fenced."""
    shown = "\n\n".join(f"Result {place}\n{_shown(piece)}" for place, piece in enumerate(evidence, 1))
    return greedy(
        fill_fenced(read_prompt(__file__, "prompts/verify"), claim=claim, evidence=shown), MAX_TOKENS, VERDICT_SCHEMA
    )


def _shown(piece: Evidence) -> str:
    text = piece.text if len(piece.text) <= LONGEST else piece.text[:LONGEST] + "…"
    fields = {"Title": piece.title, "Source": piece.source, "Date": piece.date, "Text": text}
    return "\n".join(f"{name}: {value}" for name, value in fields.items() if value)


def read_verdict(reply: str) -> ClaimVerdict | Failure:
    """Return the verdict in a reply, whose only such line, `Verdict: supported` or `not supported`, is the last."""
    if (fields := read_object(reply, "reason", "verdict")) is not None:
        reply = f"Reason: {fields['reason']}\nVerdict: {fields['verdict']}"
    lines = list(_LINE.finditer(reply))
    value = _VERDICT.fullmatch(lines[0][1]) if len(lines) == 1 else None
    if value is None or reply[lines[0].end() :].strip("`* \t\r\n"):
        return unread(reply[-60:], "one last line 'Verdict: supported' or 'Verdict: not supported'")
    reason = _REASON.sub("", reply[: lines[0].start()]).strip()
    return ClaimVerdict(value[1].lower() == "supported", reason)


RELEVANCE_SCHEMA = object_schema(
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
    return greedy(fill(template, language=language_name(language), **texts), MAX_TOKENS, RELEVANCE_SCHEMA)


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
