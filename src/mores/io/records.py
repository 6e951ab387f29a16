"""Our own records back from JSON Lines, as `JsonlWriter` wrote them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from mores.io.source import STDIN, Source, not_utf8, numbered_lines, to_path
from mores.types import Record

T = TypeVar("T", bound=Record)


def read_records(path: str | Path, type_: type[T]) -> Iterator[T]:
    """The records of one type in a file, one at a time; the first line that is none raises InputError."""
    source = Source(to_path(path), "jsonl", stdin=str(path) == STDIN)
    with source.open() as file:
        for number, line in numbered_lines(file):
            if line.strip():
                yield _record(source, number, line, type_)


def _record(source: Source, number: int, line: bytes, type_: type[T]) -> T:
    try:
        line.decode()
        return type_.model_validate_json(line)
    except UnicodeDecodeError as error:
        raise not_utf8(source, number, error) from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        what = f"{field}: {first['msg']}" if field else first["msg"]
        raise source.error(f"{what}; expected a {type_.__name__} as Mores writes it", number) from error
