"""Samples from tables and from what programs hold in memory, and a check of a table before money is spent on it."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from mores.errors import InputError
from mores.io.arrow import import_parquet
from mores.io.columns import MOST_PROBLEMS, TableColumn, TableReport
from mores.io.fields import EVIDENCE, SampleReader, sample_columns
from mores.io.frames import frame_rows
from mores.io.rows import Reading, read_rows
from mores.io.source import ARROW, STDIN, Rows, TableRow, TableSource, find_source, spool
from mores.types import DEFAULT_INSTRUCTION, Record, Sample

OnBad = Callable[[InputError], None]


class CheckedTexts(Record):
    """The findings of a check of a table."""

    count: int
    """Samples that can be read."""
    characters: int
    """Code points of all their instructions and texts."""
    problems: tuple[str, ...]
    """The first messages, at most 20: bad rows, then repeated ids."""
    bad: int
    """Rows that cannot be read."""
    repeated: int
    """Rows that repeat the id of an earlier one."""
    without_instruction: int
    """Samples that get the default one."""
    report: TableReport
    """What was read as what."""


class SampleTable:
    """A table of texts, read one sample at a time; `report` says what was read as what, up to there."""

    def __init__(
        self,
        data: Any,
        format: str | None = None,  # noqa: A002 - the option's name
        *,
        columns: Mapping[str, str] | None = None,
        encoding: str | None = None,
        more: tuple[TableColumn, ...] = (),
        on_bad: OnBad | None = None,
        dialogue: bool = False,
    ) -> None:
        is_path = isinstance(data, str | Path)
        source = find_source(data, format) if is_path else TableSource(Path(type(data).__name__), None)
        self.source = replace(source, encoding=encoding)
        if self.source.format in ARROW:
            import_parquet()  # say now that it is missing, not at the first row
        self._data, self._on_bad = None if is_path else data, on_bad
        evidence = () if self.source.is_untyped else (EVIDENCE,)
        self._wanted = sample_columns(columns, *evidence, *more, dialogue=dialogue)
        self._dialogue = dialogue
        self._reader, self._reading = SampleReader(self._wanted), Reading()

    def __iter__(self) -> Iterator[Sample]:
        return (sample for _, sample in self.rows())

    @property
    def report(self) -> TableReport:
        """The report of the rows that were read so far."""
        reading = self._reading
        return self._reader.report(self.source, reading.encoding, reading.delimiter, reading.log, sorted(reading.notes))

    def rows(self) -> Iterator[tuple[TableRow, Sample]]:
        """Yield the samples with the row of each; a bad one goes to `on_bad`, or is raised."""
        reader = self._reader = SampleReader(self._wanted, dialogue=self._dialogue)
        reading = self._reading = Reading(reader.choose, self._wanted.known, finds_logs=True, paragraphs=self._dialogue)
        rows: Rows = read_rows(self.source, reading)
        if self._data is not None:
            rows = (TableRow(self.source, number, values) for number, values in enumerate(frame_rows(self._data), 1))
        last, name = None, ""
        for row in rows:
            try:
                if isinstance(row, InputError):
                    raise row
                if row.source is not last:
                    last, name = row.source, row.source.path.stem
                default = f"{name}:{row.line}" if self._data is None else str(row.line)
                try:
                    sample = reader.read(row.values, default, is_table=row.source.format in ARROW)
                except InputError as error:
                    raise row.error(str(error), setting=error.setting) from error
            except InputError as error:
                if self._on_bad is None or reader.is_ambiguous:
                    raise
                reader.bad(error)
                self._on_bad(error)
                continue
            reader.rows += 1
            yield row, sample
        reader.check_chosen(self.source)

    def value(self, row: TableRow, column: str) -> Any:
        """Return what a row has in one of the further columns; None where it has nothing."""
        return self._reader.value(self._reader.match(tuple(row.values)), row.values, column)


def read_samples(
    data: Any,
    *,
    format: str | None = None,  # noqa: A002 - the option's name
    columns: Mapping[str, str] | None = None,
    encoding: str | None = None,
    on_bad: OnBad | None = None,
    dialogue: bool = False,
) -> Iterator[Sample]:
    """Return the samples of a file, of standard input for `-`, of a frame or of mappings, one at a time.

    `columns` has the table's names of our columns: {"text": "Model answer"}. With `dialogue`, the texts are whole
    conversations: chats, lists of turns, or texts with a speaker and a colon before each turn. A bad row is given to
    `on_bad` and left out; without `on_bad` it is raised.
    """
    table = SampleTable(data, format, columns=columns, encoding=encoding, on_bad=on_bad, dialogue=dialogue)
    return iter(table)


def check_samples(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - the option's name
    columns: Mapping[str, str] | None = None,
    dialogue: bool = False,
    watch: Callable[[Sample], None] = lambda _: None,
) -> CheckedTexts:
    """Read a whole file and say what is in it and what is wrong; standard input is used up.

    `watch` sees each sample.
    """
    if str(path) == STDIN:
        with spool(STDIN) as spooled:
            return check_samples(spooled, format=format, columns=columns, dialogue=dialogue, watch=watch)
    table = SampleTable(path, format, columns=columns, on_bad=lambda _: None, dialogue=dialogue)
    ids, count, characters, without = _Ids(), 0, 0, 0
    for sample in table:
        watch(sample)
        ids.add(sample.id)
        count += 1
        without += sample.instruction == DEFAULT_INSTRUCTION
        characters += len(sample.instruction) + len(sample.text)
    suspects, repeated = ids.repeated()
    report = table.report
    room = MOST_PROBLEMS - len(report.problems)
    messages = _name_repeated(table, set(suspects[:room])) if room else []
    return CheckedTexts(
        count=count,
        characters=characters,
        problems=(*report.problems, *messages[:room]),
        bad=report.left_out,
        repeated=repeated,
        without_instruction=without,
        report=report,
    )


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


def _name_repeated(table: SampleTable, suspects: set[int]) -> list[str]:
    """Return messages for the ids with these hashes that really repeat; reads the file again."""
    if not suspects:
        return []
    first: dict[str, int] = {}
    messages = []
    for row, sample in table.rows():
        if hash(sample.id) not in suspects:
            continue
        if sample.id in first:
            where = f"{table.source.unit} {first[sample.id]}"
            problem = f"id {sample.id!r} is already that of {where}; give every row its own id"
            messages.append(str(row.error(problem)))
        first.setdefault(sample.id, row.line)
        if len(messages) == MOST_PROBLEMS:
            break
    return messages
