"""Notes of a person on texts: stars and notes in `notes.jsonl` beside the run, and texts handed to the studio."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from mores.culture import language
from mores.errors import InputError
from mores.io import json_line, read_records, to_csv, write_text
from mores.io.private import make_folder
from mores.types import Judgement, Record, Sample
from mores.view.answers import ListedAnswer

NOTES = "notes.jsonl"
HANDED = "handover"
LONGEST = 5000
_lock = Lock()


class TextNote(Record):
    """The note of a person on a text."""

    sample_id: str
    star: bool = False
    note: str = ""
    changed: datetime


def read_notes(folder: Path) -> dict[str, TextNote]:
    """Return the notes of a run by the id of their text."""
    path = folder / NOTES
    return {note.sample_id: note for note in read_records(path, TextNote)} if path.exists() else {}


def keep_note(folder: Path, sample_id: str, *, star: bool, note: str) -> None:
    """Keep what a person says of a text; nothing is kept of one without star and note."""
    with _lock:
        notes = read_notes(folder)
        said = TextNote(sample_id=sample_id, star=star, note=note.strip()[:LONGEST], changed=datetime.now(UTC))
        notes[sample_id] = said
        kept = [each for each in notes.values() if each.star or each.note]
        write_text(folder / NOTES, b"".join(map(json_line, kept)).decode())


def notes_table(notes: Iterable[tuple[TextNote, Judgement | ListedAnswer]]) -> str:
    """Return notes with their texts as CSV."""
    head = ("id", "star", "note", "score", "errors", "language", "region", "instruction", "text")
    rows = [
        (
            note.sample_id,
            int(note.star),
            note.note,
            *(_answer_cells(said) if isinstance(said, ListedAnswer) else _text_cells(said)),
        )
        for note, said in notes
    ]
    return to_csv([head, *rows])


def _text_cells(judgement: Judgement) -> tuple[object, ...]:
    quotes = "; ".join(error.quote for error in judgement.report.errors) if judgement.report else ""
    return judgement.score, quotes, judgement.language, judgement.region, judgement.instruction, judgement.text


def _answer_cells(said: ListedAnswer) -> tuple[object, ...]:
    item, verdict = said
    return verdict.label or "", "", item.language, item.region, item.prompt, verdict.answer


def hand_over(
    folder: Path, chosen: Sequence[Judgement | Sample], title: str, *, blank: bool, spoken: str = ""
) -> tuple[Path, Path]:
    """Write the campaign and the texts that the studio reads, beside the run.

    `blank` leaves out what was found; `spoken` is the language of the texts that do not say theirs.
    """
    spoken = language(spoken) if spoken.strip() else ""
    if not spoken and not all(each.language for each in chosen):
        raise InputError("a text does not say its language: name it, so that people who know it get the text")
    target = folder / HANDED
    make_folder(target)
    languages = sorted({each.language or spoken for each in chosen})
    settings = {"kind": "marking", "title": title[:200], "languages": languages}
    settings["begin"] = "blank" if blank else "report"
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in settings.items()]
    rows = [_row(each, blank) | {"language": each.language or spoken} for each in chosen]
    campaign, texts = target / "campaign.yaml", target / "texts.jsonl"
    write_text(campaign, "".join(lines))
    write_text(texts, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return campaign, texts


def _row(chosen: Judgement | Sample, blank: bool) -> dict[str, object]:
    names = {"instruction", "text", "region"} | (set() if blank else {"judge", "report"})
    name = chosen.id if isinstance(chosen, Sample) else chosen.sample_id
    return {"id": name} | chosen.model_dump(mode="json", include=names, exclude_none=True)
