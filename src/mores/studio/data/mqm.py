"""MQM TSV (`mores.metric.mqm_tsv`): segments as items, what each rater marked as their answer."""

from __future__ import annotations

from mores.errors import InputError
from mores.metric.mqm_tsv import Segment, read_mqm_tsv
from mores.studio.data.incoming import ImportedAnswer, Incoming
from mores.studio.form import storable_values
from mores.studio.marks import to_marks

UNKNOWN = Segment.parse("").system
"""The system of a segment that names none."""


def read_mqm(text: str, name: str) -> list[Incoming]:
    """Return the segments of a file, each once, with every rater's marks; who could not judge one has no answer."""
    items: dict[str, Incoming] = {}
    try:
        judgements = read_mqm_tsv(text if "\n" in text else f"{text}\n")
    except InputError as error:
        raise InputError(str(error).replace("MQM TSV", name, 1)) from error
    for number, judgement in enumerate(judgements, 1):
        content = {"instruction": judgement.instruction or "", "text": judgement.text or ""}
        system = Segment.parse(judgement.sample_id).system
        content |= {"source": system} if system != UNKNOWN else {}
        blank = Incoming(
            f"{name}: segment {number}, {judgement.sample_id}",
            storable_values(content),
            judgement.region or "",
            judgement.language or "",
            id=judgement.sample_id,
        )
        item = items.setdefault(judgement.sample_id, blank)
        if judgement.report is not None:
            marks = storable_values(to_marks(judgement.report.errors))
            given = ImportedAnswer(f"MQM {judgement.judge}", {"marks": marks})
            items[judgement.sample_id] = item._replace(answers=(*item.answers, given))
    return list(items.values())
