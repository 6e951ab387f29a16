"""The body of a request: one text, an array of texts, or one text in each line, with the fields of `mores score`."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from fastapi import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Receive

from mores.engine.deadline import Deadlines, LateError
from mores.errors import InputError
from mores.formatting import count, first_problems
from mores.io import sample_from
from mores.serve.settings import Bounds
from mores.types import Sample

JSON = "application/json"
LINES = "application/x-ndjson"


async def read_body(headers: Mapping[bytes, bytes], receive: Receive, longest: int, deadlines: Deadlines) -> bytes:
    """Return the whole body; HTTPException where it is packed, is too long or does not come."""
    if (packed := headers.get(b"content-encoding", b"identity").strip().lower()) != b"identity":
        raise HTTPException(415, f"the Content-Encoding is {packed.decode('latin-1')}; send the body unpacked")
    if (length := headers.get(b"content-length", b"")).isdigit() and int(length) > longest:
        raise _too_long(longest)
    body, more = bytearray(), True
    try:
        with deadlines:
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                body += message.get("body", b"")
                more = message.get("more_body", False)
                if len(body) > longest:
                    raise _too_long(longest)
    except LateError:
        raise HTTPException(408, f"the body did not arrive within {deadlines.seconds:g} s") from None
    return bytes(body)


def _too_long(longest: int) -> HTTPException:
    return HTTPException(413, f"the body has more than {count(longest)} bytes; send fewer or shorter texts")


def read_texts(body: bytes, media: str, bounds: Bounds) -> tuple[list[Sample], bool]:
    """Return the texts in a body, and whether it is a single one; an error with place and fix if it has none."""
    if media == LINES:
        rows = [_parse(line, f"line {number}: ") for number, line in enumerate(body.split(b"\n"), 1) if line.strip()]
    elif media == JSON:
        values = _parse(body)
        if isinstance(values, dict):
            return [sample_from(values, default_id="1")], True
        if not isinstance(values, list):
            raise InputError('expected an object such as {"text": "…"}, or an array of them')
        rows = values
    else:
        raise HTTPException(415, f"the Content-Type is {media or 'missing'}; send {JSON} or {LINES}")
    if len(rows) > bounds.max_batch:
        raise HTTPException(413, f"{count(len(rows), 'text')}; send at most {count(bounds.max_batch)} in one request")
    if not rows:
        raise InputError("there is no text; send at least one")
    return _samples(rows), False


def _samples(rows: list[object]) -> list[Sample]:
    """Return the texts of a batch; one that cannot be read spoils it, so that nobody overlooks it."""
    samples, problems, places = [], [], dict[str, int]()
    for number, row in enumerate(rows, 1):
        try:
            if not isinstance(row, dict):
                raise InputError('not an object; write {"text": "…"}')
            sample = sample_from(row, default_id=str(number))
            if (first := places.setdefault(sample.id, number)) != number:
                raise InputError(f"id {sample.id!r} is already that of text {first}; give every text its own id")
            samples.append(sample)
        except InputError as error:
            problems.append(f"text {number}: {error}")
    if problems:
        raise InputError(f"nothing was judged; correct these texts:{first_problems(problems)}")
    return samples


def _parse(data: bytes, place: str = "") -> object:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise HTTPException(400, f"{place}not valid JSON ({error.msg} at column {error.colno})") from error
