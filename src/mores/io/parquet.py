"""The rows of a Parquet file, a few megabytes at a time, whatever the length of its cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mores.errors import ConfigError
from mores.io.packed import Room

BATCH = 1024
"""Rows that are decoded together."""
BYTES = 2**24
"""Text of rows that are turned into Python values together."""

Values = dict[str, Any]


def import_parquet() -> Any:
    """pyarrow.parquet, which comes with an extra."""
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ConfigError("Parquet needs pyarrow; pip install 'mores[parquet]'") from error
    return parquet


def column_names(path: Path) -> list[str]:
    """Return the names of a file's columns."""
    with import_parquet().ParquetFile(path) as file:
        return list(file.schema_arrow.names)


def parquet_values(path: Path, columns: Sequence[str] | None = None) -> Iterator[Values | None]:
    """Yield the rows of a file; None for one whose strings are not UTF-8.

    Equal strings are stored once. Read as a dictionary they also are in memory once, so that a small file cannot
    become gigabytes before a single row is seen.
    """
    parquet, room = import_parquet(), Room(path)
    with parquet.ParquetFile(path, read_dictionary=_text_columns(path)) as file:
        for batch in file.iter_batches(BATCH, columns=columns):
            step = max(1, BYTES // _longest_row(batch))
            for start in range(0, batch.num_rows, step):
                for values in _values(batch.slice(start, step)):
                    room.take(_size(values))
                    yield values


def _text_columns(path: Path) -> list[str]:
    """Return the columns of strings, also those inside of others."""
    with import_parquet().ParquetFile(path) as file:
        columns = [file.schema.column(place) for place in range(len(file.schema))]
    return [column.path for column in columns if column.logical_type.type == "STRING"]


def _longest_row(batch: Any) -> int:
    """At least as many bytes as the longest row of a batch has."""
    from pyarrow import compute, types

    total = 1
    for column in batch.columns:
        texts = column.dictionary if types.is_dictionary(column.type) else column
        is_text = types.is_string(texts.type) or types.is_large_string(texts.type) or types.is_binary(texts.type)
        total += (compute.max(compute.binary_length(texts)).as_py() or 0) if is_text else texts.nbytes
    return total


def _values(batch: Any) -> Iterator[Values | None]:
    try:
        yield from batch.to_pylist()
    except UnicodeDecodeError:
        for index in range(batch.num_rows):
            try:
                yield batch.slice(index, 1).to_pylist()[0]
            except UnicodeDecodeError:
                yield None


def _size(value: object) -> int:
    """About the bytes of a row's texts."""
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    if isinstance(value, list):
        return sum(map(_size, value))
    return len(value) if isinstance(value, str | bytes) else 1
