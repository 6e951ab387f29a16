"""Runs of `mores longform` and `mores collect`.

A run of `mores longform` has the files of its stages (`evaluate.py` lists them) and the figures, one of `mores collect`
has the questions, by status, and the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from mores.longform.appraise import SUMMARIES, read_summaries
from mores.longform.collection import Collected, Collection, Status
from mores.longform.evaluate import ANSWERS, FILES, read_appraised
from mores.longform.records import Appraisal, LongAnswer
from mores.longform.summary import Summary
from mores.run import Run

COLLECTION = "collection.json"


class LongformRun(Run):
    """Long answers and their appraisals."""

    @cached_property
    def summaries(self) -> list[Summary]:
        """All figures, for each model whose answers were judged."""
        self.file(SUMMARIES)
        return read_summaries(self.path)

    def answers(self) -> Iterator[LongAnswer]:
        """What was judged."""
        return self.records(ANSWERS, LongAnswer)

    def appraised(self) -> Iterator[tuple[LongAnswer, Appraisal]]:
        """Each answer with its appraisal."""
        self.file(FILES[Appraisal])
        return read_appraised(self.path)


class CollectRun(Run):
    """Questions, each with its outcome."""

    @cached_property
    def collection(self) -> Collection:
        """All numbers."""
        return self.record(COLLECTION, Collection)

    def questions(self, *statuses: Status | str) -> Iterator[Collected]:
        """The questions that were kept, dropped or left undecided, or all of them."""
        for status in statuses or Status:
            yield from self.records(f"{status}.jsonl", Collected)
