"""Grades answers that another harness collected, exactly as `mores bench` grades its own."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mores.benchmark import benchmark
from mores.benchmark.appraise import appraise
from mores.benchmark.benchmark import Verdict
from mores.benchmark.folder import RESPONSES, VERDICTS
from mores.benchmark.run import BenchJob, Said
from mores.engine import Asker, open_asker
from mores.engine.loop import run
from mores.engine.progress import SILENT
from mores.errors import ConfigError
from mores.io import JsonlWriter, read_records
from mores.longanswer.appraise import Appraising
from mores.models.fake import fake
from mores.types import Item, Response

JUDGE = "MORES_JUDGE"
"""The environment variable that names the judge, where a harness has no place for one."""


class Grader:
    """The grading of one benchmark; ConfigError at once where a judge, or an extra of Mores, is missing."""

    def __init__(self, name: str) -> None:
        self.benchmark = benchmark(name)
        self.judges: tuple[Asker, ...] = ()
        if self.benchmark.judging:
            judge = os.environ.get(JUDGE)
            if not judge:
                fix = f"name one in the environment: {JUDGE}=openai:NAME"
                raise ConfigError(f"{self.benchmark.name} is graded by a model; {fix}")
            self.judges = (open_asker(judge),)
        if self.benchmark.long_answer:
            Appraising().check(None)

    def grade(self, rows: Sequence[Mapping[str, Any]], answers: Sequence[Sequence[str]]) -> list[list[Verdict]]:
        """Return the verdicts on the answers to each row's item; there may be several answers to one."""
        items = [Item.model_validate(row["item"]) for row in rows]
        asker = Asker(fake("clean"), store=None)  # nobody is asked: the answers are here
        job = BenchJob(self.benchmark, items, asker, self.judges)
        with TemporaryDirectory(prefix="mores-") as folder:
            responses, verdicts = Path(folder) / RESPONSES, Path(folder) / VERDICTS
            with JsonlWriter(responses) as writer:
                for item, texts in zip(items, answers, strict=True):
                    for sample, text in enumerate(texts):
                        response = Response(item_id=item.id, model="another harness", text=text)
                        writer.write(Said(sample=sample, response=response))
            if self.benchmark.long_answer:
                run(appraise(job, Path(folder), Appraising(), None, SILENT))
            else:
                run(job.grade(responses, verdicts))
            graded = read_records(verdicts, Verdict)
            return [[next(graded) for _ in texts] for texts in answers]
