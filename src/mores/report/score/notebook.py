"""A judgement in a notebook: the text with its errors marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mores.metric.summary import errors
from mores.report.base.blocks import Block
from mores.report.base.marks import Marked, mark
from mores.report.base.page import draw, writable
from mores.report.score.table import count_errors
from mores.types import Judgement, Sample


@dataclass(frozen=True)
class JudgementView(Block):
    """What the template shows."""

    template: ClassVar[str] = "score/notebook.html.j2"
    judgement: Judgement
    marked: Marked
    counts: str


def as_html(judgement: Judgement) -> str:
    """Return the judgement with its text, where it repeats that."""
    sample = judgement.sample or Sample(id=judgement.sample_id, text="")
    marked = mark(0, sample, errors(judgement))
    return writable(draw(JudgementView(judgement, marked, count_errors(judgement))))
