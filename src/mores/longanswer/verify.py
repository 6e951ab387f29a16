"""Verification: whether what a search found supports a claim; the reply's form is fixed, and anything else fails."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mores.engine import unread
from mores.metric.prompt import fill_fenced
from mores.models import Request
from mores.models.base import greedy
from mores.models.written import object_schema, read_object
from mores.prompts import read_prompt
from mores.search.base import Evidence
from mores.types import Failure

PROMPTS = ("verify",)
MAX_TOKENS = 1024
LONGEST = 2000
"""Characters of one result that the judge reads: snippets are far shorter, and a page must not crowd out the rest."""
SCHEMA = object_schema(
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
    return greedy(fill_fenced(read_prompt(__file__, "prompts/verify"), claim=claim, evidence=shown), MAX_TOKENS, SCHEMA)


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
