"""The OpenAPI document's requests and answers, made from the records."""

from __future__ import annotations

from typing import Any

from mores.serve.body import JSON, LINES
from mores.types import Record, Sample


class Problem(Record):
    """The reason why a request was not answered."""

    detail: str


class ServiceStatus(Record):
    """The state of a service."""

    status: str
    """`ok`, or why texts cannot be judged now."""


FIELDS = {
    "text": "The text to judge; required unless there are turns",
    "instruction": "What the text was written for",
    "language": "The text's language: a name, or a code of BCP 47 such as pt-BR",
    "region": "The region that the text is about: a name, or a code of ISO 3166 such as JP or ES-CT",
    "id": "Your name for the text; its number in the request if there is none",
    "evidence": "Passages to judge by: strings, or objects with text, title, source and date",
    "turns": "Instead of text: a conversation, as objects with speaker and text; errors name their turn",
}
"""The fields of a request that the page at `/` explains, in its order."""


def _text() -> dict[str, Any]:
    """Return the schema of a sample as `mores.io.sample_from` takes it: only its text is required."""
    schema = Sample.model_json_schema(ref_template="#/components/schemas/{model}")
    schema.pop("$defs")
    fields = schema["properties"]
    fields["text"]["pattern"] = r"\S"
    fields["id"] = {"type": ["string", "integer", "null"], "title": "Id"}
    fields["instruction"]["type"] = ["string", "null"]
    fields["evidence"]["type"] = ["array", "null"]
    fields["evidence"]["items"] = {"anyOf": [{"type": "string", "pattern": r"\S"}, fields["evidence"]["items"]]}
    fields["turns"] = {"type": "array", "items": {"type": ["object", "string"]}, "title": "Turns", "minItems": 1}
    for name, about in FIELDS.items():
        fields[name]["description"] = about
    return schema | {
        "title": "Text",
        "additionalProperties": True,
        "anyOf": [{"required": ["text"]}, {"required": ["turns"]}],
    }


TEXT = _text()
REQUEST: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            JSON: {"schema": {"oneOf": [TEXT, {"type": "array", "items": TEXT, "minItems": 1}]}},
            LINES: {"schema": {"type": "string", "description": "One object in each line."}},
        },
    }
}
_WAIT = {"Retry-After": {"description": "Seconds after which to try again.", "schema": {"type": "integer"}}}
_PROBLEM = {JSON: {"schema": {"$ref": "#/components/schemas/Problem"}}}  # also of what answers with plain text
UNKNOWN: dict[int | str, dict[str, Any]] = {401: {"description": "No key, or an unknown one", "content": _PROBLEM}}
ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The judgement, or the judgements in the order of the texts; each says if it failed",
        "content": {LINES: {"schema": {"type": "string", "description": "One judgement in each line."}}},
    },
    400: {"model": Problem, "description": "Not JSON"},
    408: {"model": Problem, "description": "The body did not arrive in time"},
    413: {"model": Problem, "description": "Too many bytes or texts"},
    415: {"model": Problem, "description": "Packed, or neither JSON nor lines of JSON"},
    422: {"model": Problem, "description": "A text cannot be read"},
    429: {"model": Problem, "description": "Too many of your texts wait", "headers": _WAIT},
    503: {"model": Problem, "description": "Too many texts wait, or the judge cannot be asked", "headers": _WAIT},
}
