"""Samples from files, and a check of a whole file before money is spent on it."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from mores.errors import InputError
from mores.io.fields import to_sample
from mores.io.parquet import import_parquet
from mores.io.rows import read_rows
from mores.io.source import STDIN, Source, find_source, spool
from mores.types import Record, Sample

MOST_PROBLEMS = 20


class Checked(Record):
    """What a check of a file found."""

    count: int
    """How many samples can be read."""
    characters: int
    """Code points of all their instructions and texts."""
    problems: tuple[str, ...]
    """The first messages, at most 20: bad rows, then repeated ids."""
    bad: int
    """How many rows cannot be read."""
    repeated: int
    """How many rows repeat the id of an earlier one."""


def read_samples(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - the option's name
    on_bad: Callable[[InputError], None] | None = None,
) -> Iterator[Sample]:
    """Return the samples of a file, or of standard input for `-`, one at a time.

    A bad row is given to `on_bad` and left out; without `on_bad` it is raised.
    """
    source = find_source(path, format)
    if source.format == "parquet":
        import_parquet()  # say now that it is missing, not at the first row
    return (sample for _, sample in _placed(source, on_bad))


def _placed(source: Source, on_bad: Callable[[InputError], None] | None) -> Iterator[tuple[int, Sample]]:
    """Samples with the line that each starts on."""
    for row in read_rows(source):
        try:
            if isinstance(row, InputError):
                raise row
            sample = to_sample(source, row)
        except InputError as error:
            if on_bad is None:
                raise
            on_bad(error)
            continue
        yield row.line, sample


def check_samples(path: str | Path, *, format: str | None = None) -> Checked:  # noqa: A002 - the option's name
    """Read a whole file and says what is in it and what is wrong; standard input is used up."""
    if str(path) == STDIN:
        with spool(STDIN) as spooled:
            return check_samples(spooled, format=format)
    source = find_source(path, format)
    problems, ids, count, characters = _Problems(), _Ids(), 0, 0
    for _, sample in _placed(source, problems.add):
        ids.add(sample.id)
        count += 1
        characters += len(sample.instruction) + len(sample.text)
    suspects, repeated = ids.repeated()
    room = MOST_PROBLEMS - len(problems.first)
    messages = _name_repeated(source, set(suspects[:room])) if room else []
    return Checked(
        count=count,
        characters=characters,
        problems=(*problems.first, *messages[:room]),
        bad=problems.count,
        repeated=repeated,
    )


class _Problems:
    """Counts problems and keeps the first ones."""

    def __init__(self) -> None:
        self.first: list[str] = []
        self.count = 0

    def add(self, error: InputError) -> None:
        self.count += 1
        if len(self.first) < MOST_PROBLEMS:
            self.first.append(str(error))


class _Ids:
    """Finds repeated ids in 8 bytes per id, so that a file of any size can be checked."""

    def __init__(self) -> None:
        # In buckets, since counting takes far more memory than the hashes: only one bucket is counted at a time.
        self._buckets = [array("q") for _ in range(256)]

    def add(self, value: str) -> None:
        code = hash(value)
        self._buckets[code & 255].append(code)

    def repeated(self) -> tuple[list[int], int]:
        """Return the hashes that come more than once, and how many rows repeat an earlier one."""
        hashes: list[int] = []
        rows = 0
        for bucket in self._buckets:
            counts = Counter(bucket)
            hashes += (code for code, times in counts.items() if times > 1)
            rows += len(bucket) - len(counts)
        return hashes, rows


def _name_repeated(source: Source, suspects: set[int]) -> list[str]:
    """Messages for the ids with these hashes that really repeat; reads the file again."""
    if not suspects:
        return []
    first: dict[str, int] = {}
    messages = []
    for line, sample in _placed(source, on_bad=lambda _: None):
        if hash(sample.id) not in suspects:
            continue
        if sample.id in first:
            where = f"{source.unit} {first[sample.id]}"
            problem = f"id {sample.id!r} is already that of {where}; give every row its own id"
            messages.append(str(source.error(problem, line)))
        first.setdefault(sample.id, line)
        if len(messages) == MOST_PROBLEMS:
            break
    return messages
