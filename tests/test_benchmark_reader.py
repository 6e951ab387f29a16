"""What is counted of texts in which people marked errors."""

from __future__ import annotations

import runpy
from pathlib import Path

from mores.io import read_records
from mores.types import ErrorReport, JudgedClaim, Judgement

ROOT = Path(__file__).parent.parent
GOLD = ROOT / "examples" / "world.gold.jsonl"
as_shown = runpy.run_path(str(ROOT / "benchmarks" / "reader.py"))["as_shown"]
PEOPLE = {row.sample_id: row for row in read_records(GOLD, Judgement)}


def judged(name: str, **changes: object) -> Judgement:
    """The judgement of a text as people marked it, with another report."""
    row = PEOPLE[name]
    assert row.report
    report = row.report.model_copy(update=changes)
    return row.model_copy(update={"report": report, "score": None if report.undecided else row.score})


def test_texts_are_counted_as_they_are_shown(tmp_path: Path) -> None:
    sushi = PEOPLE["jp-sushi"].report
    assert sushi
    elsewhere = sushi.errors[0].model_copy(update={"start": 0, "end": 8, "quote": "In Japan"})
    unknown = (JudgedClaim(start=0, end=5, decision="unknown"),)
    rows = [
        judged("cn-christmas"),  # as people marked it
        judged("jp-sushi", errors=(elsewhere,)),
        judged("de-schnitzel", errors=(), claims=unknown),
        judged("us-thanksgiving", errors=()),
        judged("cn-family"),
        judged("jp-bill", errors=(elsewhere,)),
    ]
    path = tmp_path / "judgements.jsonl"
    path.write_text("".join(row.model_dump_json() + "\n" for row in rows), "utf-8")
    assert as_shown(PEOPLE, path) == {
        "with errors": {"on the words": 1, "elsewhere": 1, "not known": 1, "no error": 1},
        "without": {"no error": 1, "an error": 1},
        "marked": {"on the words": ["cn-christmas"], "elsewhere": ["jp-sushi"]},
    }


def test_people_agree_with_themselves() -> None:
    shown = as_shown(PEOPLE, GOLD)
    assert sum(isinstance(row.report, ErrorReport) and bool(row.report.errors) for row in PEOPLE.values()) == 19
    assert shown["with errors"] == {"on the words": 19}
    assert shown["without"] == {"no error": 19}
