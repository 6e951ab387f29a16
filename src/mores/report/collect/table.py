"""The numbers of a collection in the terminal."""

from __future__ import annotations

from mores.formatting import NOTHING, number
from mores.longanswer.collection import Collection
from mores.longanswer.collection.numbers import Size
from mores.report.base.grid import Grid, Row


def tables(collection: Collection) -> list[Grid | str]:
    """Return what each stage did, the outcome for each language, the size of what is kept; the headline."""
    stages: list[Row] = [
        (stage.stage, *(f"{n:,}" for n in (stage.asked, stage.passed, stage.dropped, stage.unscored)))
        for stage in collection.stages
    ]
    counts: list[Row] = []
    sizes: list[Row] = []
    for language in (*collection.languages.values(), collection.total):
        topic = max(language.categories, key=language.categories.__getitem__, default=NOTHING)
        numbers = (language.candidates, language.kept, language.dropped, language.unscored)
        counts.append((language.name, *(f"{n:,}" for n in numbers), topic))
        both = (language.questions, language.answers)
        sizes.append((language.name, *(cell for size in both for cell in (f"{size.n:,}", _size(size)))))
    columns = ("", "candidates", "kept", "dropped", "unscored", "most frequent topic")
    return [
        Grid(("stage", "asked", "passed", "dropped", "unscored"), [("", stages)], f"Collection: {collection.model}"),
        Grid(columns, [("", counts)], "By language", words=frozenset({0, 5})),
        Grid(("", "questions", "bytes", "answers", "bytes"), [("", sizes)], "What is kept, bytes as mean (sd)"),
        *(f"note: {note}" for note in collection.notes),
        collection.headline,
    ]


def _size(size: Size) -> str:
    return NOTHING if size.mean is None else f"{number(size.mean, 1)} ({number(size.sd, 1)})"
