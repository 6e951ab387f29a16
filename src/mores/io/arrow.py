"""The rows of Parquet and Arrow files and of saved datasets, a few megabytes at a time."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from mores.errors import ConfigError
from mores.extras import install_command
from mores.io.source import Room, TableSource, why_unreadable
from mores.io.values import load_json

BATCH = 1024
"""Rows that are decoded together."""
BYTES = 2**24
"""Text of rows that are turned into Python values together."""

Values = dict[str, Any]
Open = Callable[[list[str]], Iterable[Any]]
"""Opens the batches of a table with some of its columns."""


def import_parquet() -> Any:
    """Return pyarrow.parquet, which comes with an extra."""
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ConfigError(f"Parquet needs pyarrow; {install_command('parquet')}") from error
    return parquet


@contextmanager
def arrow_errors(source: TableSource) -> Iterator[None]:
    """Turn the errors of pyarrow into InputErrors."""
    import_parquet()
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OSError, ValueError, OverflowError, KeyError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise source.error(why_unreadable(error)) from error
        problem = " ".join(str(error).split())[:200]
        kind = "a Parquet" if source.format == "parquet" else "an Arrow"
        raise source.error(f"not {kind} file, or a damaged one ({problem}); write it again") from error


def arrow_rows(source: TableSource, choose: Callable[[list[str]], Container[str] | None]) -> Iterator[Values | None]:
    """Yield the rows of a source; None for one whose strings are not UTF-8.

    `choose` takes the names of the columns before any row is read and returns those that must be read, or None for all;
    of the others only texts, numbers and times are.
    """
    sizes = [path.stat().st_size for path in dataset_files(source)] if source.format == "dataset" else None
    room = source.room() if sizes is None else Room(source.path, sum(sizes))
    with ExitStack() as stack:
        schema, batches = _parquet(source, stack) if source.format == "parquet" else _arrow(source, stack)
        wanted = choose(list(schema.names))
        names = [field.name for field in schema if wanted is None or field.name in wanted or not _is_bulky(field.type)]
        for values in batch_values(batches(names)):
            room.take(_size(values))
            yield values


def _parquet(source: TableSource, stack: ExitStack) -> tuple[Any, Open]:
    """Return the schema of a Parquet file, and what opens its batches.

    Equal strings are stored once. Read as a dictionary they also are in memory once, so that a small file cannot
    become gigabytes before a single row is seen.
    """
    parquet, file = import_parquet(), stack.enter_context(source.open())
    schema = parquet.ParquetFile(file).schema
    columns = [schema.column(place) for place in range(len(schema))]
    texts = [column.path for column in columns if column.logical_type.type == "STRING"]
    opened = parquet.ParquetFile(file, read_dictionary=texts)
    return opened.schema_arrow, lambda names: opened.iter_batches(BATCH, columns=names)


def _arrow(source: TableSource, stack: ExitStack) -> tuple[Any, Open]:
    """Return the schema of an Arrow file, stream or saved dataset, and what opens its batches."""
    import pyarrow as pa

    def read(file: Any) -> tuple[Any, Iterable[Any]]:
        file.seek(0)
        start = bytes(file.read(6))
        file.seek(0)
        if start == b"ARROW1":
            reader = pa.ipc.open_file(file)
            return reader.schema, map(reader.get_batch, range(reader.num_record_batches))
        reader = pa.ipc.open_stream(file)
        return reader.schema, reader

    if source.format == "arrow":
        files = [stack.enter_context(source.open())]
    else:
        files = [stack.enter_context(pa.memory_map(str(path))) for path in dataset_files(source)]
    schema = read(files[0])[0]
    return schema, lambda names: (batch.select(names) for file in files for batch in read(file)[1])


def dataset_files(source: TableSource) -> list[Path]:
    """Return the files of a dataset that `save_to_disk` wrote, in order; of several splits one must be named."""
    folder = source.path
    try:
        if (folder / "dataset_dict.json").is_file():
            splits = [str(name) for name in load_json((folder / "dataset_dict.json").read_bytes())["splits"]]
            if len(splits) != 1:
                names = " or ".join(str(folder / name) for name in splits)
                raise source.error(f"a dataset with the splits {', '.join(splits)}; name one: {names}")
            folder /= splits[0]
        state = load_json((folder / "state.json").read_bytes())
        if state.get("_indices_data_files") or state.get("_indices_files"):
            raise source.error("a dataset with rows selected from others; save it after flatten_indices()")
        files = [str(entry["filename"]) for entry in state["_data_files"]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise source.error(f"not a dataset as save_to_disk writes it ({error}); save it again") from error
    paths = [folder / name for name in files if Path(name).name == name]
    if not paths or len(paths) < len(files):
        raise source.error("a dataset without files; save it again")
    return paths


def batch_values(batches: Iterable[Any]) -> Iterator[Values | None]:
    """Yield the rows of Arrow's record batches; None for one whose strings are not UTF-8."""
    for batch in batches:
        for column in batch.columns:
            _check(column)
        step = max(1, min(BATCH, BYTES // _longest_row(batch)))
        for start in range(0, batch.num_rows, step):
            part = batch.slice(start, step)
            try:
                yield from part.to_pylist()
            except UnicodeDecodeError:
                for index in range(part.num_rows):
                    try:
                        yield part.slice(index, 1).to_pylist()[0]
                    except UnicodeDecodeError:
                        yield None


def _check(column: Any) -> None:
    """Raise ArrowInvalid where a damaged file's offsets point anywhere in memory, which would end the process."""
    from pyarrow import ArrowInvalid

    try:
        column.validate(full=True)
    except ArrowInvalid as error:
        if "Invalid UTF8" not in str(error):
            raise


def _is_bulky(kind: Any) -> bool:
    """Return whether cells hold lists, objects, pictures or sounds."""
    from pyarrow import types

    tests = (types.is_nested, types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
    return any(test(kind) for test in tests)


def _longest_row(batch: Any) -> int:
    """Return at least as many bytes as the longest row of a batch has."""
    from pyarrow import compute, types

    total = 1
    for column in batch.columns:
        texts = column.dictionary if types.is_dictionary(column.type) else column
        is_text = types.is_string(texts.type) or types.is_large_string(texts.type) or types.is_binary(texts.type)
        total += (compute.max(compute.binary_length(texts)).as_py() or 0) if is_text else texts.nbytes
    return total


def _size(value: object) -> int:
    """Return about the bytes of a row's texts."""
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    if isinstance(value, list):
        return sum(map(_size, value))
    return len(value) if isinstance(value, str | bytes) else 1
