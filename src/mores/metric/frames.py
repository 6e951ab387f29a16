"""Judgements as frames of pandas and polars: one row for each text, with what its own row says beside the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mores.extras import require
from mores.metric.summary import doubt, errors, state
from mores.types import Error, Judgement, Severity

if TYPE_CHECKING:
    from mores.io import TableReport


class FrameView:
    """Something with judgements that can be taken as a frame."""

    def _judgements(self) -> Iterable[Judgement]:
        raise NotImplementedError

    def _index(self) -> Any:
        """Return the index of the frame that the texts come from; None for rows that are only counted."""
        return None

    def to_pandas(self) -> Any:
        """Return a frame of pandas with a row for each text, in their order; its index is that of the frame judged."""
        require("pandas", "pandas")
        import pandas

        rows = [frame_row(judgement) for judgement in self._judgements()]
        columns = list(dict.fromkeys(name for row in rows for name in row))
        return pandas.DataFrame(rows, index=self._index(), columns=columns)

    def to_polars(self) -> Any:
        """Return a frame of polars with a row for each text, in their order."""
        require("polars", "polars")
        import polars

        rows = [frame_row(judgement) for judgement in self._judgements()]
        return polars.DataFrame(rows, infer_schema_length=None, strict=False)


class Judgements(list[Judgement], FrameView):
    """The judgements of `mores.score`: a list that can be taken as a frame."""

    index: Any = None
    """That of the pandas frame which was judged."""
    table: TableReport | None = None
    """Which of its columns were read as what, and which were not; None for texts that are no table."""

    def _judgements(self) -> Iterable[Judgement]:
        return self

    def _index(self) -> Any:
        return self.index


def _explanation(judgement: Judgement, found: Sequence[Error]) -> str | None:
    """Return the summary of the report, or where the judge writes none, what it says of each error."""
    if judgement.report is None:
        return None
    return judgement.report.explanation or "; ".join(error.explanation for error in found if error.explanation)


def frame_row(judgement: Judgement) -> dict[str, Any]:
    """Return a judgement as one row: the text, the other columns of its own row, and the verdict.

    A column of the table that is called like a part of the verdict has " (table)" after its name.
    """
    names = ("instruction", "text", "language", "region")
    ours = {"id": judgement.sample_id, **{name: getattr(judgement, name) for name in names}}
    found = errors(judgement)
    severities = Counter(error.severity for error in found)
    verdict = {
        "score": judgement.score,
        "state": state(judgement),
        "doubt": doubt(judgement),
        "errors": len(found),
        "major": severities[Severity.MAJOR],
        "minor": severities[Severity.MINOR],
        "quotes": "; ".join(error.quote for error in found),
        "explanation": _explanation(judgement, found),
        "failure": judgement.failure.reason if judgement.failure else None,
        "notes": "; ".join(judgement.notes),
    }
    if judgement.turns:
        verdict["turns"] = "; ".join(str(error.turn.number) if error.turn else "" for error in found)
    taken = {*ours, *verdict}
    kept = {f"{name} (table)" if name in taken else name: value for name, value in judgement.metadata.items()}
    return {**ours, **kept, **verdict}
