"""Topics of a table that a campaign's file names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mores.errors import InputError
from mores.factory.sources.files import read_all


def read_topics(values: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the settings with the topics of the table that they name, such as the authors' `cultural_topics.xlsx`.

    Each row is a topic: its name, its description, and as many seeds as there are further columns.
    """
    if not isinstance(values.get("topics"), str):
        return values
    path, topics = folder / values["topics"], list[dict[str, Any]]()
    for row in read_all([path]):
        if isinstance(row, InputError):
            raise row
        cells = [" ".join(str(cell or "").split()) for cell in (*row.values.values(), "", "")]
        if cells[1].casefold() != "description" and cells[0]:  # a second line of headings, as the authors' table has
            topics.append({"name": cells[0], "description": cells[1], "seeds": list(filter(None, cells[2:]))})
    if not topics:
        raise InputError(f"{path}: no topics; expected rows with a name, a description and seeds")
    return values | {"topics": topics}
