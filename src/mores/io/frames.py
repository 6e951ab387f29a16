"""Rows of frames and tables that programs hold in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mores.errors import InputError


def is_frame(data: object) -> bool:
    """Return whether this is a frame or a table, whose columns come as one object."""
    if hasattr(data, "collect_schema") and not hasattr(data, "iter_rows"):
        raise InputError(f"a {type(data).__name__} has no rows yet; give frame.collect()")
    return any(hasattr(data, name) for name in ("iter_rows", "to_batches", "itertuples")) and hasattr(data, "columns")


def frame_rows(data: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a frame, a table or an iterable of mappings; None where pandas has NaN, NA or NaT."""
    if not is_frame(data):
        for number, row in enumerate(data, 1):
            if not isinstance(row, Mapping):
                problem = f"row {number} is a {type(row).__name__}"
                raise InputError(f"{problem}; give a path, a frame of pandas or polars, or mappings such as dicts")
            yield row
        return
    from mores.io.columns import repeated

    if twice := repeated(map(str, data.column_names if hasattr(data, "to_batches") else data.columns)):
        raise InputError(f"{type(data).__name__}: two columns {twice[0]!r}; rename one", setting="columns")
    if hasattr(data, "iter_rows"):  # polars
        yield from (dict(row) for row in data.iter_rows(named=True))
    elif hasattr(data, "to_batches"):  # pyarrow
        from mores.io.arrow import batch_values

        yield from (values for values in batch_values(data.to_batches()) if values is not None)
    else:  # pandas
        from mores.io.arrow import BATCH

        for start in range(0, len(data), BATCH):
            part = data.iloc[start : start + BATCH].astype(object)
            for values in part.where(part.notna(), None).to_dict("records"):
                yield {str(name): value for name, value in values.items()}
