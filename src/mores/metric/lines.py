"""Texts in files with one text per line, as COMET reads them: line n of every file belongs to the same segment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from mores.errors import InputError
from mores.formatting import count
from mores.io import JsonlWriter
from mores.io.source import TableSource, not_utf8, numbered_lines, to_path
from mores.metric.texts import Texts
from mores.types import DEFAULT_INSTRUCTION, Evidence, Sample


@contextmanager
def open_lines(texts: str, instructions: str | None = None, references: Sequence[str] = ()) -> Iterator[Texts]:
    """Open the texts of a file with their instructions; references are shown to the judge as evidence.

    The id of a text is the number of its line, from 1. An empty line has no text: it is left out, and counted as bad.
    """
    files = [texts, *([instructions] if instructions else []), *references]
    columns = [_read(file) for file in files]
    for file, column in zip(files, columns, strict=True):
        if len(column) != len(columns[0]):
            what = f"{file} has {count(len(column), 'line')}, {texts} has {count(len(columns[0]))}"
            raise InputError(f"{what}; line n of each must belong to the same text")
    asked = columns[1] if instructions else [""] * len(columns[0])
    known = zip(*columns[2 if instructions else 1 :], strict=True) if references else [()] * len(columns[0])
    with TemporaryDirectory(prefix="mores-") as folder:
        path, written = Path(folder) / "lines.jsonl", 0
        with JsonlWriter(path) as writer:
            for number, (instruction, text, passages) in enumerate(zip(asked, columns[0], known, strict=True), 1):
                if text.strip():
                    evidence = tuple(Evidence(text=line, title="Reference") for line in passages if line.strip())
                    instruction = instruction.strip() or DEFAULT_INSTRUCTION
                    writer.write(Sample(id=str(number), instruction=instruction, text=text, evidence=evidence))
                    written += 1
        if not written:
            raise InputError(f"{texts}: contains no text")
        yield Texts(texts, path, "jsonl", written, len(columns[0]) - written)


def _read(path: str) -> list[str]:
    source = TableSource(to_path(path), "text")
    lines = []
    with source.open() as file:
        for number, line in numbered_lines(file):
            try:
                lines.append(line.decode().rstrip("\r\n"))
            except UnicodeDecodeError as error:
                raise not_utf8(source, number, error) from error
    return lines
