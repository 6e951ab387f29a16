"""Reads what a model wrote: without its thoughts, and JSON strictly: what is not the record asked for is a failure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from mores.types import Failure, FailureKind

M = TypeVar("M", bound=BaseModel)


def read_written(text: str, kind: type[M], expected: str) -> M | Failure:
    """Return the record in a text, or why there is none. Only a code fence around the whole is allowed."""
    text = _unfenced(text.strip())
    try:
        data = json.loads(text, object_pairs_hook=no_duplicates, parse_constant=_no_constant)
        json.dumps(data, ensure_ascii=False).encode()  # a lone surrogate could never be written again
    except RecursionError:
        return Failure(kind=FailureKind.PARSE, reason="not JSON: nested too deeply")
    except ValueError as exc:
        return Failure(kind=FailureKind.PARSE, reason=f"not JSON: {exc}; begins {text[:60]!r}")
    try:
        return kind.model_validate(data)
    except ValidationError as exc:
        problem = exc.errors(include_url=False)[0]
        place = ".".join(map(str, problem["loc"])) or "the whole"
        return Failure(kind=FailureKind.SCHEMA, reason=f"not {expected}: {place}: {problem['msg']}")


def _unfenced(text: str) -> str:
    """Return the content of a code fence around the whole text; without one, the text itself."""
    opening, _, rest = text.partition("\n")
    inside, newline, closing = rest.rpartition("\n")
    fenced = opening.rstrip() in ("```", "```json") and newline and closing.lstrip() == "```"
    return inside if fenced else text


def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields of a JSON object; ValueError where a key is there twice."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a key occurs twice")
    return fields


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def object_schema(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with these properties, in this order, and no others."""
    names = list(properties)
    return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}


def read_object(text: str, *names: str) -> dict[str, Any] | None:
    """Return the JSON object with exactly these properties that a reply is, as a constrained model writes it."""
    try:
        value = orjson.loads(text) if text.startswith("{") else None
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) and set(value) == set(names) else None
