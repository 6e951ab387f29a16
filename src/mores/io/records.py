"""Our own records back from JSON Lines, as `JsonlWriter` wrote them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from mores.errors import InputError
from mores.io.source import STDIN, TableSource, not_utf8, numbered_lines, to_path
from mores.types import Record

T = TypeVar("T", bound=Record)


def read_records(path: str | Path, type_: type[T]) -> Iterator[T]:
    """Yield the records of one type in a file, one at a time; the first line that is not one raises InputError."""
    source = TableSource(to_path(path), "jsonl", stdin=str(path) == STDIN)
    with source.open() as file:
        for number, line in numbered_lines(file):
            if not line.strip():
                continue
            try:
                line.decode()
                record = type_.model_validate_json(line)
            except UnicodeDecodeError as error:
                raise not_utf8(source, number, error) from error
            except ValidationError as error:
                fix = f"expected a {type_.__name__} as Mores writes it"
                raise source.error(f"{_problem(error)}; {fix}", number) from error
            yield record


def read_record(path: Path, type_: type[T], fix: str) -> T:
    """Return the single record in a JSON file; otherwise InputError with the place and the fix."""
    try:
        return type_.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise InputError(f"{path}: {_problem(error)}; {fix}") from error


def _problem(error: ValidationError) -> str:
    """Return the first field that is wrong, and why."""
    first = error.errors(include_url=False)[0]
    field = ".".join(map(str, first["loc"]))
    return f"{field}: {first['msg']}" if field else first["msg"]
