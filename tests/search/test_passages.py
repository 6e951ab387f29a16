"""Documents cut into passages."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Callable
from datetime import date
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.errors import InputError
from mores.search.passages import LONGEST, OVERLAP, Document, Passage, find_documents, read_passages, split

LONG = "The elders meet under the old tree and speak until all agree on what is to be done about it. "


def test_paragraphs_are_passages() -> None:
    first, second = LONG * 2, LONG * 3
    assert [part.text for part in split(f"{first}\n \n\n{second}\n")] == [first.strip(), second.strip()]


def test_a_heading_goes_with_what_follows() -> None:
    parts = list(split(f"\n# Food\n\n## Drinks\n\n{LONG}\n\nEnd."))
    assert [part.text for part in parts] == [f"# Food\n\n## Drinks\n\n{LONG.strip()}", "End."]


def test_a_long_paragraph_is_cut_at_the_ends_of_sentences_and_the_parts_overlap() -> None:
    text = LONG * 20
    parts = list(split(text))
    assert len(parts) > 2
    for before, after in pairwise(parts):
        assert before.text.endswith("it.")
        assert 0 < before.start + len(before.text) - after.start <= OVERLAP
        assert text[after.start - 1] == " "


def test_scripts_without_spaces_are_cut_too() -> None:
    parts = list(split("春节是中国最重要的传统节日。" * 100))
    assert all(part.text.endswith("。") and len(part.text) <= LONGEST for part in parts)
    assert [len(part.text) for part in split("春" * 1500)] == [600, 600, 500]


@given(st.text(alphabet="ab .。\n\t春", max_size=3000))
def test_every_letter_is_in_a_passage_and_none_is_invented(text: str) -> None:
    parts = list(split(text))
    covered = [False] * len(text)
    for start, part in parts:
        assert text[start : start + len(part)] == part == part.strip() != ""
        covered[start : start + len(part)] = [True] * len(part)
    assert all(seen or letter.isspace() for seen, letter in zip(covered, text, strict=True))
    assert [part.start for part in parts] == sorted({part.start for part in parts})


def rows(path: Path) -> list[Passage]:
    return list(read_passages(Document(path, path.name)))


def test_lines_of_text_files_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "fiji.md"
    path.write_bytes(b"\xef\xbb\xbf# Fiji\r\n\r\n" + LONG.encode() + b"\r\n\r\n\r\n" + LONG.encode())
    assert [(row.title, row.line) for row in rows(path)] == [("fiji", 1), ("fiji", 6)]


def test_rows_keep_their_address_or_their_line(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(
        '{"text": "Kava.", "title": "K", "url": "https://x.example", "date": "2020", "id": 7}\n\n'
        '{"text": "Tea.", "source": null, "language": "en"}\n{"text": " "}\n'
    )
    assert rows(path) == [
        Passage("Kava.", 1, "K", "https://x.example", "2020"),
        Passage("Tea.", 3, language="en"),
    ]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('{"txt": "a"}', "no field 'text'"),
        ('{"text": 5}', "'text' is not a string"),
        ('{"text": "a", "date": 1999}', "'date' is not a string"),
        ('{"text": "a"', "not valid JSON"),
        ('["a"]', "not a JSON object"),
    ],
)
def test_a_bad_row_says_where(tmp_path: Path, line: str, what: str) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text('{"text": "fine"}\n' + line + "\n")
    with pytest.raises(InputError, match=f"c.jsonl:2: {what}"):
        rows(path)


def _csv(path: Path) -> None:
    path.write_text("Title;Content;Link;Date\nKava;Kava is drunk.;https://x.example;NA\nTea;;;\n")


def _gzipped(path: Path) -> None:
    path.write_bytes(gzip.compress(b'{"passage": "Kava is drunk.", "title": "Kava", "url": "https://x.example"}\n'))


def _json(path: Path) -> None:
    path.write_text('[{"body": "Kava is drunk.", "Title": "Kava", "url": "https://x.example"}, {"text": null}]')


def _parquet(path: Path) -> None:
    table = {"text": ["Kava is drunk.", None], "title": ["Kava", "Tea"], "source": ["https://x.example", None]}
    pq.write_table(pa.table(table), path)


def _xlsx(path: Path) -> None:
    rows = [("Text", "Title", "Source"), ("Kava is drunk.", "Kava", "https://x.example")]
    texts = [[f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in row] for row in rows]
    cells = "".join(f"<row>{''.join(row)}</row>" for row in texts)
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("xl/worksheets/sheet1.xml", f"<worksheet><sheetData>{cells}</sheetData></worksheet>")


@pytest.mark.parametrize(
    ("name", "write", "line"),
    [
        ("c.csv", _csv, 2),
        ("c.jsonl.gz", _gzipped, 1),
        ("c.json", _json, 1),
        ("c.parquet", _parquet, 1),
        ("c.xlsx", _xlsx, 2),
    ],
)
def test_any_table_is_read(tmp_path: Path, name: str, write: Callable[[Path], None], line: int) -> None:
    write(tmp_path / name)
    assert rows(tmp_path / name) == [Passage("Kava is drunk.", line, "Kava", "https://x.example")]


def test_days_of_a_typed_table_are_texts(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["Kava."], "date": [date(2020, 2, 1)]}), tmp_path / "c.parquet")
    assert rows(tmp_path / "c.parquet") == [Passage("Kava.", 1, date="2020-02-01")]


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("c.csv", "a,b\n1,2\n", r"c\.csv:1: no field 'text'; expected 'text' .*; found 'a', 'b'"),
        ("c.csv", 'text\n"open\n', r"c\.csv:2: not valid csv"),
        ("c.csv", "content,body\nx,y\n", r"c\.csv:2: 'content' and 'body' may each be the text"),
        ("c.json", '[{"text": "a"}, {"text": 5}]', r"c\.json:2: 'text' is not a string"),
        ("c.json", '[{"text": "a", "date": 5}]', r"c\.json:1: 'date' is not a string"),
    ],
)
def test_a_bad_row_of_a_table_says_where(tmp_path: Path, name: str, content: str, what: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=what):
        rows(tmp_path / name)


def test_json_lines_with_a_text_have_fields_by_our_names_alone(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text('{"text": "Kava.", "Title": "K", "link": 5, "content": ["x"]}\n')
    assert rows(path) == [Passage("Kava.", 1)]


def test_text_that_is_not_utf_8_says_where(tmp_path: Path) -> None:
    path = tmp_path / "c.txt"
    path.write_bytes(b"fine\ncaf\xe9\n")
    with pytest.raises(InputError, match=r"c\.txt:2: not valid UTF-8 .*column 4"):
        rows(path)


def test_folders_are_read_by_name_without_hidden_files(tmp_path: Path) -> None:
    for name in ("b.txt", "sub/a.jsonl", "a.md", ".git/x.txt", "image.png", ".hidden.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert [document.name for document in find_documents(tmp_path)] == ["a.md", "b.txt", "sub/a.jsonl"]


def test_what_is_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        find_documents(tmp_path / "none.txt")
    with pytest.raises(InputError, match=r"no \.jsonl"):
        find_documents(tmp_path)
    (tmp_path / "a.pdf").write_text("x")
    with pytest.raises(InputError, match="not a corpus"):
        find_documents(tmp_path / "a.pdf")


def test_a_table_of_facts(tmp_path: Path) -> None:
    """A column of another name has no option: options name the columns of the texts that are judged."""
    (tmp_path / "a.csv").write_text("Fact,Source\nOmani coffee has cardamom.,me\n")
    [document] = find_documents(tmp_path / "a.csv")
    assert [(each.text, each.source) for each in read_passages(document)] == [("Omani coffee has cardamom.", "me")]
    (tmp_path / "a.csv").write_text("Knowledge,Source\nOmani coffee has cardamom.,me\n")
    with pytest.raises(InputError, match=r"a.csv:1: no field 'text'.*found 'Knowledge', 'Source'") as caught:
        list(read_passages(document))
    assert caught.value.setting == ""
