"""MQM TSV: real rows of WMT, rows by hand, and every judgement back from what was written."""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.errors import InputError
from mores.metric.mqm_tsv import COLUMNS, read_mqm_tsv, write_mqm_tsv
from mores.types import Error, ErrorReport, Failure, FailureKind, Judgement, Severity, Side
from tests.factory.test_sources import REAL

TED = REAL / "wmt_mqm" / "mqm_ted_ende.tsv"
PUBLISHED = REAL / "wmt_mqm" / "mqm_ted_ende.avg_seg_scores.tsv"
real = pytest.mark.skipif(
    not (TED.is_file() and PUBLISHED.is_file()),
    reason="no wmt_mqm in the shared data; set MORES_SHARED_DATA to a folder that has it",
)

HEADER = "\t".join(COLUMNS)


def row(target: str, severity: str = "Major", metadata: str = "", **cells: str) -> str:
    given = dict(
        zip(COLUMNS, ("sys", "doc", "1", "7", "ana", "Quelle", target, "Style", severity, metadata), strict=True)
    )
    return "\t".join((given | cells).values())


def read(*rows: str) -> list[Judgement]:
    return read_mqm_tsv("\n".join([HEADER, *rows]))


def errors(judgement: Judgement) -> tuple[Error, ...]:
    assert judgement.report
    return judgement.report.errors


def test_the_rows_of_a_rater_and_a_segment_are_one_judgement() -> None:
    rows = [
        row("Der <v>Hund</v> bellt.", metadata="a note"),
        row("Der Hund bellt.", "no-error", rater="ben"),
        row("Der Hund <v>bellt</v>.", "minor", '{"note": "why", "timestamp": 1}'),
        row("Der Hund bellt.", "Minor", source="<v>Quelle</v>", category="Accuracy/Omission"),
    ]
    ana, ben = read(*rows)
    assert (ana.sample_id, ana.judge, ana.instruction, ana.text) == ("sys/doc/1/7", "ana", "Quelle", "Der Hund bellt.")
    assert [(e.side, e.start, e.end, e.quote, e.severity.value, e.explanation) for e in errors(ana)] == [
        ("text", 4, 8, "Hund", "major", "a note"),
        ("text", 9, 14, "bellt", "minor", "why"),
        ("instruction", 0, 6, "Quelle", "minor", ""),
    ]
    assert ana.score == -7
    assert (ben.judge, ben.score, errors(ben)) == ("ben", 0, ())


def test_columns_of_wmt_of_marot_and_without_a_header() -> None:
    wmt = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
    line = row("<v>Hund</v>").rpartition("\t")[0]
    marot = read_mqm_tsv(f"{HEADER}\r\n{line}\t\r\n")
    assert marot == read_mqm_tsv(f"{wmt}\n{line}\n") == read_mqm_tsv(f"\ufeff{line}\t\n") == read_mqm_tsv(line)
    assert errors(marot[0])[0].quote == "Hund"


@pytest.mark.parametrize(
    ("target", "quote", "note"),
    [
        ("a <v>b</v> c <v>d</v> e", "b c d", "several marks"),
        ("a <v>b <v>c</v> d</v> e", "b c d", "several marks"),
        ("a <v>b c d e", "b c d e", "not closed"),
        ("a <v>b c</v> d</v> e", "b c", "not closed"),
        ("a<v> b </v>c d e", " b ", ""),
        ("a b c d e<v></v>", "", ""),
    ],
)
def test_marks_that_are_not_one_pair(target: str, quote: str, note: str) -> None:
    [judgement] = read(row(target))
    assert (judgement.text or "").split() == ["a", "b", "c", "d", "e"]
    [error] = errors(judgement)
    assert (error.quote, error.located) == (quote, bool(quote))
    assert [note in text for text in judgement.notes] == [True] * bool(note)


def test_a_neutral_error_costs_nothing_and_is_noted() -> None:
    [judgement] = read(row("Der <v>Hund</v>", "Neutral"))
    assert (judgement.score, errors(judgement), judgement.notes) == (0, (), ("neutral, Style: 'Hund'",))


def test_quotation_marks_have_no_meaning_and_references_no_rater() -> None:
    [judgement] = read(row('"Der <v>Hund</v>'), row("x", "", '{"segment": {}}', rater="", category=""))
    assert judgement.text == '"Der Hund'


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([row("x", "no-error"), row("<v>x</v>", "Critical")], "TSV:3: unknown severity .Critical.; expected major"),
        ([row("x", "")], "TSV:2: unknown severity ''"),
        ([row("x"), row("y")], "TSV:3: source or target differ from line 2"),
        (["sys\tdoc\t1"], "TSV:2: 3 cells instead of 10; separate system, doc"),
        ([row("x", metadata="{no")], "TSV:2: metadata is not valid JSON"),
        ([row("x", metadata='{"mores": {"certainty": "high"}}')], "TSV:2: metadata.mores.certainty: .*; remove it"),
    ],
)  # fmt: skip
def test_bad_rows_are_named(rows: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(*rows)


def test_bad_headers_and_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="TSV:1: no column 'severity'; MQM TSV has system, doc"):
        read_mqm_tsv(HEADER.replace("severity", "weight") + "\n")
    with pytest.raises(InputError, match="TSV:1: two columns 'metadata'"):
        read_mqm_tsv(HEADER + "\tcomment\n")
    with pytest.raises(InputError, match=r"none\.tsv: no such file"):
        read_mqm_tsv(tmp_path / "none.tsv")
    (tmp_path / "bytes.tsv").write_bytes(f"{HEADER}\n".encode() + b"\xff\n")
    with pytest.raises(InputError, match=r"bytes\.tsv:2: not valid UTF-8"):
        read_mqm_tsv(tmp_path / "bytes.tsv")


def test_what_marot_reads() -> None:
    located = Error(side="text", start=4, end=8, quote="Hund", severity=Severity.MAJOR, type="Style", explanation="why")
    judgement = Judgement(sample_id="a-1", judge="ana", instruction="Quelle", text="Der\nHund", score=-5,
                          report=ErrorReport(errors=(located,)))  # fmt: skip
    header, line, end = write_mqm_tsv([judgement], systems={"a-1": "gpt-4"}).split("\n")
    cells = dict(zip(header.split("\t"), line.split("\t"), strict=True))
    metadata = json.loads(cells.pop("metadata"))
    assert (header, end) == (HEADER, "")
    assert " ".join(cells.values()) == "gpt-4 a-1 1 0 ana Quelle Der <v>Hund</v> Style Major"
    assert (metadata["note"], metadata["marked_text"]) == ("why", "Hund")
    assert read_mqm_tsv(write_mqm_tsv([judgement], systems={"a-1": "gpt-4"})) == [judgement]


def test_what_cannot_be_written() -> None:
    judgement = Judgement(sample_id="a", judge="ana", text="x", score=0, report=ErrorReport())
    with pytest.raises(InputError, match="'a' does not repeat its text"):
        write_mqm_tsv([judgement.repeat(None)])
    with pytest.raises(InputError, match="ana judged 'a' twice"):
        write_mqm_tsv([judgement, judgement])


WORDS = st.text(st.sampled_from("aß語 \n\t\r</v>&lt;gamp🏳️\u0301"), max_size=12) | st.sampled_from(
    ["<v>", "&lt;v&gt;", "&amp;lt;/v&gt; </v>", "a <v> b\r\n\nc"]
)


@st.composite
def judgements(draw: st.DrawFn) -> Judgement:
    texts: dict[Side, str] = {"instruction": draw(WORDS), "text": draw(WORDS)}
    marked = []
    for _ in range(draw(st.integers(0, 3))):
        side: Side = draw(st.sampled_from(["instruction", "text"]))
        start, end = sorted(draw(st.tuples(*[st.integers(0, len(texts[side]))] * 2)))
        place = {"start": start, "end": end, "quote": texts[side][start:end]} if start < end else {"quote": draw(WORDS)}
        fields = {"severity": draw(st.sampled_from(Severity)), "type": "Style", "explanation": draw(WORDS)}
        marked.append(Error(side=side, correction=draw(WORDS), **place, **fields))
    report = ErrorReport(errors=tuple(marked), explanation=draw(WORDS), certainty=draw(st.none() | st.floats(0, 1)))
    failure = Failure(kind=FailureKind.PARSE, reason=draw(WORDS)) if draw(st.booleans()) else None
    return Judgement(
        sample_id=draw(st.sampled_from(["a", "sys/doc/1/2", "sys/a%2Fb/%25/0", "x/y/%2f/z", "a/b", "tab\t1/2/3/4"])),
        judge=draw(st.sampled_from(["ana", "ben"])),
        language=draw(st.none() | st.just("de")),
        region=draw(st.none() | st.just("AT")),
        score=None if failure else draw(st.floats(-20, 1)),
        report=None if failure else draw(st.just(report) if marked else st.sampled_from([None, report])),
        failure=failure,
        notes=tuple(draw(st.lists(WORDS, max_size=2))),
        **texts,
    )


@given(st.lists(judgements(), max_size=4, unique_by=lambda judgement: (judgement.sample_id, judgement.judge)))
def test_judgements_come_back(written: list[Judgement]) -> None:
    assert read_mqm_tsv(write_mqm_tsv(written)) == written


@cache
def ted() -> list[Judgement]:
    return read_mqm_tsv(TED)


@pytest.mark.slow
@real
def test_real_rows_of_wmt_come_back_and_have_their_published_scores() -> None:
    read_from_wmt = ted()
    assert len(read_from_wmt) == 7406
    assert [j.notes for j in read_from_wmt if j.notes] == [("a mark is not closed or not opened: '?'",)]
    assert sum(len(errors(j)) for j in read_from_wmt) == 2164 + 1867
    assert sum(error.side == "instruction" for j in read_from_wmt for error in errors(j)) == 14
    some = [judgement for n, judgement in enumerate(read_from_wmt) if n % 5 == 0 or judgement.notes]
    assert read_mqm_tsv(write_mqm_tsv(some)) == some
    costs: dict[tuple[str, str], list[float]] = {}
    for judgement in read_from_wmt:
        system, _, _, segment = judgement.sample_id.split("/")
        costs.setdefault((system, segment), []).append(sum(mqm_weight(error) for error in errors(judgement)))
    fields = [line.split() for line in PUBLISHED.read_text("utf-8").splitlines()[1:]]
    theirs = {(system.replace("ref-A", "ref"), n): float(score) for system, score, n in fields if score != "None"}
    assert costs.keys() == theirs.keys()
    assert max(abs(fmean(costs[segment]) + theirs[segment]) for segment in theirs) < 1e-6


def mqm_weight(error: Error) -> float:
    """What Google's MQM takes off for an error (Freitag et al., TACL 9 (2021), Table 2)."""
    category = (error.type or "").casefold()
    if error.severity is Severity.MAJOR:
        return 25.0 if category.startswith("non-translation") else 5.0
    return 0.1 if category.startswith("fluency/punctuation") else 1.0


@real
def test_the_marked_words_of_wmt_are_the_ones_between_the_marks() -> None:
    with TED.open(encoding="utf-8", newline="") as file:
        rows = [r for r in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if "</v>" in r[5] + r[6]]
    between = sorted((r[5] + r[6]).split("<v>")[1].split("</v>")[0] for r in rows)
    assert sorted(e.quote for j in ted() for e in errors(j) if not j.notes) == between
