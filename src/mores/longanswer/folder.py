"""Runs of `mores longform` and `mores collect`.

A run of `mores longform` has the files of its stages (`evaluate.py` lists them) and the figures, one of `mores collect`
has the questions, by status, and the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from mores.culture import base_language
from mores.formatting import count
from mores.hub import CARD, TAGS, Upload, with_fields
from mores.longanswer.appraise import SUMMARIES, read_summaries
from mores.longanswer.collection import CandidateStatus, Collected
from mores.longanswer.collection.numbers import Collection
from mores.longanswer.evaluate import ANSWERS, FILES, read_appraised
from mores.longanswer.records import Appraisal, LongAnswer
from mores.longanswer.summary import Counting, LongformSummary, find_fields, summarise
from mores.run import Run

COLLECTION = "collection.json"
KEPT = f"{CandidateStatus.KEPT}.jsonl"
CARD_TITLE = "# Questions of cultures"


class LongformRun(Run):
    """Long answers and their appraisals."""

    @cached_property
    def summaries(self) -> list[LongformSummary]:
        """All figures, for each model whose answers were judged."""
        self.file(SUMMARIES)
        return read_summaries(self.path)

    def summaries_by(self, columns: Sequence[str]) -> list[LongformSummary]:
        """Return all figures by these columns of the answers too."""
        settings, first = self.manifest.settings, self.summaries[0]
        counting = Counting(
            k=first.k,
            missing_as_issue=bool(settings.get("missing_as_issue")),
            every=bool(settings.get("every")),
            facts=bool(settings.get("facts") and self.manifest.model),
            relevance=bool(self.manifest.model),
        )
        return summarise(self.appraised(), counting, self.signature, find_fields(self.answers(), columns))

    def answers(self) -> Iterator[LongAnswer]:
        """Return what was judged."""
        return self.records(ANSWERS, LongAnswer)

    def appraised(self) -> Iterator[tuple[LongAnswer, Appraisal]]:
        """Return each answer with its appraisal."""
        self.file(FILES[Appraisal])
        return read_appraised(self.path)


class CollectRun(Run):
    """Questions, each with its outcome."""

    @cached_property
    def collection(self) -> Collection:
        """All numbers."""
        return self.record(COLLECTION, Collection)

    def questions(self, *statuses: CandidateStatus | str) -> Iterator[Collected]:
        """Yield the questions that were kept, dropped or left undecided, or all of them."""
        for status in statuses or CandidateStatus:
            yield from self.records(f"{status}.jsonl", Collected)

    def upload(self, repository: str) -> Upload:
        """Return what a dataset of the Hub gets: the kept questions, the numbers and a card; `mores.hub.push` sends it.

        What was dropped stays here: a question may be dropped because it is private.
        """
        numbers = self.collection
        rows = [
            f"| {each.name} | {count(each.candidates)} | {count(each.kept)} |" for each in numbers.languages.values()
        ]
        files_note = f"`{COLLECTION}` has all numbers, and their signature."
        about = f"Collected with `mores collect`: {numbers.headline}. {files_note}"
        card = [CARD_TITLE, "", about, "", "| language | candidates | kept |", "| --- | --- | --- |", *rows, ""]
        fields = {
            "language": sorted({base_language(code) for code in numbers.languages}),
            "tags": TAGS,
            "configs": [{"config_name": "default", "data_files": KEPT}],
        }
        files: dict[str, Path | bytes] = {
            KEPT: self.file(KEPT),
            COLLECTION: self.file(COLLECTION),
            CARD: with_fields("\n".join(card), fields),
        }
        return Upload(repository, "dataset", files, numbers.headline)
