"""Results of a benchmark by any column of its questions: `mores bench --by COLUMN`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from mores.benchmark.benchmark import LABELS, RELEASE, Benchmark, group_of, unit_of
from mores.benchmark.choice import SHUFFLED
from mores.metric.groups import find_column
from mores.types import Item

NOT_COLUMNS = ("unit", "variants", "variant", SHUFFLED, LABELS, RELEASE)
"""Keys of an item's metadata that have a meaning; a user's columns of these names get others."""


def find_fields(items: Iterable[Item], names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of questions that a person means, in any case; ConfigError where there is none of a name."""
    known = dict.fromkeys(("topic",))
    for item in items if names else ():
        metadata = {key: value for key, value in item.metadata.items() if key not in NOT_COLUMNS}
        plain = (key for key, value in metadata.items() if not isinstance(value, dict | list))
        known |= dict.fromkeys((*plain, *item.metadata.get(LABELS, {})))
    return tuple(dict.fromkeys(find_column(name, [*known], {}) for name in names))


def with_columns(benchmark: Benchmark, items: Sequence[Item], names: Sequence[str]) -> Benchmark:
    """Return the benchmark that breaks its results down by these columns of its questions too."""
    columns = find_fields(items, names)
    return replace(benchmark, groupings=tuple(dict.fromkeys((*benchmark.groupings, *columns))), columns=columns)


def columns_of(items: Sequence[Item], names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the group of each question that has one, by its id, for each of these columns."""
    return {
        name: {unit_of(item): group for item in items if (group := group_of(item, name)) is not None}
        for name in find_fields(items, names)
    }
