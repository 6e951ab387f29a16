"""Tables as people have them: every format, encoding and delimiter, guessed columns, missing values, hostile files."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import time
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mores
from mores.errors import ConfigError, InputError
from mores.io import SampleTable, check_samples, read_samples
from mores.io.columns import TableColumn, Wanted
from mores.io.rows import read_rows
from mores.io.source import TableSource
from mores.io.table import read_table
from mores.metric.frames import frame_row
from mores.rating.ratings import open_ratings
from mores.studio.data.imports import read_table_rows
from mores.studio.data.tables import TABLES, to_csv
from mores.types import DEFAULT_INSTRUCTION, Error, ErrorReport, Failure, FailureKind, Judgement, Sample, Severity

ROWS = [
    {"Question asked": "How do people marry?", "Model answer": "Guests wear white.", "Country": "Japan", "LANG": "en",
     "Notes": "odd", "Rater": "1"},
    {"Question asked": "Who pays?", "Model answer": "The groom, usually.", "Country": "Kenya", "LANG": "en",
     "Notes": "", "Rater": "2"},
]  # fmt: skip
SAMPLES = [
    ("How do people marry?", "Guests wear white.", "JP", "en", {"Notes": "odd", "Rater": "1"}),
    ("Who pays?", "The groom, usually.", "KE", "en", {"Rater": "2"}),
]
SPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


@pytest.fixture(autouse=True)
def in_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def put(name: str, content: str | bytes) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def as_csv(delimiter: str = ",", rows: list[dict[str, str]] = ROWS) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def put_sheet(path: str, *rows: Sequence[str | float], styles: str = "", more: dict[str, str] | None = None) -> Path:
    """A spreadsheet; texts are inline, numbers are in the format of `styles`, if there is one."""
    cells = [
        "".join(
            f'<c t="inlineStr"><is><t xml:space="preserve">{value}</t></is></c>'
            if isinstance(value, str)
            else f'<c s="{int(bool(styles))}"><v>{value}</v></c>'
            for value in row
        )
        for row in rows
    ]
    data = "".join(f'<row r="{number}">{row}</row>' for number, row in enumerate(cells, 1))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        sheet = f'<worksheet xmlns="{SPACE}"><sheetData>{data}</sheetData></worksheet>'
        book.writestr("xl/worksheets/sheet1.xml", sheet)
        if styles:
            xfs = f'<cellXfs><xf numFmtId="0"/><xf numFmtId="{styles}"/></cellXfs>'
            book.writestr("xl/styles.xml", f'<styleSheet xmlns="{SPACE}">{xfs}</styleSheet>')
        for name, content in (more or {}).items():
            book.writestr(name, content)
    return Path(path)


def read(path: Any, **options: Any) -> list[tuple[str, str, str | None, str | None, dict[str, Any]]]:
    samples = read_samples(path, **options)
    return [(sample.instruction, sample.text, sample.region, sample.language, sample.metadata) for sample in samples]


def save_dataset(folder: Path, rows: list[dict[str, Any]]) -> None:
    """What `datasets.Dataset.save_to_disk` writes: two files of Arrow's stream format, and their names."""
    folder.mkdir(parents=True)
    table, names = pa.Table.from_pylist(rows), ["data-00000-of-00002.arrow", "data-00001-of-00002.arrow"]
    for name, part in zip(names, (table.slice(0, 1), table.slice(1)), strict=True):
        with pa.OSFile(str(folder / name), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(part)
    state = {"_data_files": [{"filename": name} for name in names], "_split": "train"}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text("{}")


# Formats


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_any_delimiter(delimiter: str, suffix: str) -> None:
    put(f"a.{suffix}", as_csv(delimiter))
    assert read(f"a.{suffix}") == SAMPLES


def test_excel_says_its_delimiter() -> None:
    put("a.csv", "sep=;\n" + as_csv(";"))
    assert read("a.csv") == SAMPLES
    assert [sample.id for sample in read_samples("a.csv")] == ["a:3", "a:4"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252"])
def test_any_encoding(encoding: str) -> None:
    rows = [row | {"Notes": "Müller mag Käse, Würste und süßen Tee; très élégant, à côté du café"} for row in ROWS]
    put("a.csv", as_csv(";", rows).encode(encoding))
    assert {metadata["Notes"] for *_, metadata in read("a.csv")} == {rows[0]["Notes"]}
    report = check_samples("a.csv").report
    assert report.encoding == ("" if encoding == "utf-8-sig" else encoding)
    if encoding in ("utf-16", "cp1252"):
        assert {sample.metadata["Notes"] for sample in read_samples("a.csv", encoding=encoding)} == {rows[0]["Notes"]}
        with pytest.raises(ConfigError, match="unknown encoding 'latin-99'"):
            list(read_samples("a.csv", encoding="latin-99"))


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp932", "日本では箸でご飯を食べます。お茶も飲みます。"),
        ("gb18030", "在中国，人们用筷子吃饭。春节是最重要的节日。"),
        ("cp949", "한국에서는 젓가락으로 밥을 먹습니다."),
        ("cp1251", "В России люди пьют чай с вареньем."),
        ("cp1256", "في مصر يأكل الناس الكشري."),
    ],
)
def test_encodings_of_older_systems(encoding: str, text: str) -> None:
    put("a.csv", f"id,text\n1,x\n2,{text}\n".encode(encoding))
    put("a.txt", f"x\n{text}\n".encode(encoding))
    assert [sample.text for name in ("a.csv", "a.txt") for sample in read_samples(name)] == ["x", text] * 2


def test_utf16_json_lines() -> None:
    put("a.jsonl", '{"text": "ä"}\n{"text": "日"}\n'.encode("utf-16"))
    assert [sample.text for sample in read_samples("a.jsonl")] == ["ä", "日"]


@pytest.mark.parametrize("content", [json.dumps(ROWS), json.dumps(ROWS, indent=1), "\n".join(map(json.dumps, ROWS))])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_json_arrays_and_lines(name: str, content: str) -> None:
    put(name, content)
    assert read(name) == SAMPLES
    assert check_samples(name).repeated == 0


def test_excel() -> None:
    put_sheet("a.xlsx", list(ROWS[0]), *(list(row.values()) for row in ROWS))
    assert read("a.xlsx") == SAMPLES


def test_numbers_days_and_truth_in_excel() -> None:
    put_sheet("n.xlsx", ["text", "n"], ["x", 3.0], ["x", 0.1], ["x", 12])
    assert [sample.metadata["n"] for sample in read_samples("n.xlsx")] == ["3", "0.1", "12"]
    put_sheet("d.xlsx", ["text", "day"], ["x", 45413], ["x", 45413.5], styles="14")
    assert [sample.metadata["day"] for sample in read_samples("d.xlsx")] == ["2024-05-01", "2024-05-01T12:00:00"]


def test_the_first_sheet_is_the_one_that_excel_shows_first() -> None:
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    rows = "".join(f'<row><c t="str"><v>{text}</v></c></row>' for text in ("text", "y"))
    sheets = '<sheets><sheet r:id="b"/></sheets>'
    target = '<Relationship Id="b" Target="worksheets/sheet2.xml"/>'
    more = {
        "xl/workbook.xml": f'<workbook xmlns="{SPACE}" xmlns:r="{relation}">{sheets}</workbook>',
        "xl/_rels/workbook.xml.rels": f"<Relationships>{target}</Relationships>",
        "xl/worksheets/sheet2.xml": f'<worksheet xmlns="{SPACE}">{rows}</worksheet>',
    }
    put_sheet("a.xlsx", ["text"], ["x"], more=more)
    assert [sample.text for sample in read_samples("a.xlsx")] == ["y"]


def test_arrow_and_feather() -> None:
    table = pa.Table.from_pylist(ROWS)
    feather.write_feather(table, "a.feather")
    with pa.OSFile("a.arrow", "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    assert read("a.feather") == read("a.arrow") == SAMPLES


def test_arrow_whose_offsets_point_anywhere_in_memory_is_refused() -> None:
    feather.write_feather(pa.table({"text": ["tea", "milk"]}), "a.feather", compression="uncompressed")
    sound, offsets = Path("a.feather").read_bytes(), b"".join(n.to_bytes(4, "little") for n in (0, 3, 7))
    assert sound.count(offsets) == 1
    put("a.feather", sound.replace(offsets, offsets[:-1] + b"\x40"))  # unchecked, it ends the process
    with pytest.raises(InputError, match=r"a\.feather: not an Arrow file, or a damaged one"):
        read("a.feather")


def test_a_saved_dataset() -> None:
    save_dataset(Path("data/train"), ROWS)
    put("data/dataset_dict.json", '{"splits": ["train"]}')
    assert read("data/train") == read("data") == SAMPLES
    put("data/dataset_dict.json", '{"splits": ["train", "test"]}')
    with pytest.raises(InputError, match="splits train, test; name one: data/train or data/test"):
        read("data")


def test_a_folder_of_texts() -> None:
    put("texts/b.txt", "One.\r\n\r\nTwo.\n")
    put("texts/a/c.md", "# Tea\n")
    put("texts/.hidden.txt", "no")
    assert [(sample.id, sample.text) for sample in read_samples("texts")] == [("a/c", "# Tea"), ("b", "One.\n\nTwo.")]
    Path("empty").mkdir()
    with pytest.raises(InputError, match=r"empty: no \.txt or \.md in this folder"):
        read("empty")


def test_packed_tables() -> None:
    import gzip

    put("a.csv.gz", gzip.compress(as_csv().encode()))
    with zipfile.ZipFile("a.zip", "w") as archive:
        archive.writestr("w.csv", as_csv())
    assert read("a.csv.gz") == read("a.zip") == SAMPLES


@pytest.mark.parametrize("content", [as_csv(), json.dumps(ROWS)])
def test_a_table_from_standard_input(monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    text = content.replace(",Notes,Rater", "").replace("Country,LANG", "country,lang") if content[0] != "[" else content
    if content[0] != "[":
        text = "\n".join(line.rsplit(",", 2)[0] if n else line for n, line in enumerate(text.splitlines()))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert [sample[:4] for sample in read("-")] == [sample[:4] for sample in SAMPLES]


# Frames


def test_mappings_and_pyarrow_tables() -> None:
    assert read(ROWS) == read(iter(ROWS)) == read(pa.Table.from_pylist(ROWS)) == SAMPLES
    with pytest.raises(InputError, match="row 1 is a int; give a path, a frame"):
        read([1])


def test_a_frame_with_two_columns_of_a_name_is_not_read() -> None:
    table = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["text", "text"])
    with pytest.raises(InputError, match="Table: two columns 'text'; rename one"):
        list(read_samples(table))
    pandas = pytest.importorskip("pandas", reason="pandas is no dependency")
    for names in (["text", "text", "n"], ["text", 1, "1"]):
        with pytest.raises(InputError, match=r"DataFrame: two columns '(text|1)'; rename one"):
            mores.score(pandas.DataFrame([["a", "b", "c"]], columns=names), model="fake:clean")


@pytest.mark.often("pandas")
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(library: str) -> None:
    module = pytest.importorskip(library, reason=f"{library} is no dependency, only its frames are read")
    rows: list[dict[str, Any]] = [{**ROWS[0], "Country": None}, *ROWS[1:]]
    frame = module.DataFrame(rows)
    assert [sample[2] for sample in read(frame)] == [None, "KE"]
    judged = mores.score(frame, model="fake:clean")
    assert [judgement.text for judgement in judged] == [sample[1] for sample in SAMPLES]
    with pytest.raises(InputError, match="DataFrame:1: no field 'text'; expected 'instruction' and 'text'; found 'id'"):
        mores.score(module.DataFrame({"id": ["1", "2"]}), model="fake:clean")


def test_the_frame_of_pandas_has_the_same_rows_and_index() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is no dependency")
    frame = pandas.DataFrame(ROWS, index=["first", "second"])
    frame = frame.assign(score=[1.5, 2.5], Notes=pandas.Timestamp("2026-01-02"))
    judged = mores.score(frame, model="fake:first-word").to_pandas()
    assert list(judged.index) == ["first", "second"]
    assert list(judged["text"]) == list(frame["Model answer"])
    assert list(judged["region"]) == ["JP", "KE"]
    assert list(judged["score (table)"]) == [1.5, 2.5]
    assert list(judged["Notes"]) == ["2026-01-02 00:00:00"] * 2
    names = ["score", "state", "errors", "major", "minor", "quotes"]
    assert judged.loc["first", names].tolist() == [-1.0, "errors", 1, 0, 1, "Guests"]
    assert frame.join(judged[["quotes"]])["quotes"].tolist() == ["Guests", "The"]
    series = pandas.Series(["One text.", "Another."], index=[7, 9])
    of_series = mores.score(series, model="fake:clean")
    assert list(of_series.to_pandas().index) == [7, 9]
    assert of_series.table is None


def test_judgements_say_which_columns_of_a_frame_were_read() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is no dependency")
    judged = mores.score(pandas.DataFrame(ROWS).assign(Rater="Ann"), model="fake:clean")
    assert "text ← Model answer" in str(judged.table)
    assert judged.table is not None
    assert "Rater" in judged.table.unread


def test_the_frame_of_polars_has_the_same_rows() -> None:
    polars = pytest.importorskip("polars", reason="polars is no dependency")
    put("a.csv", as_csv())
    run = mores.score_file("a.csv", "fake:first-word", out="run", store=None)
    frame = run.to_polars()
    assert frame["text"].to_list() == [sample[1] for sample in SAMPLES]
    assert frame["Notes"].to_list() == ["odd", None]
    assert frame.equals(mores.score(polars.DataFrame(ROWS), "fake:first-word").to_polars().with_columns(frame["id"]))


def test_a_lazy_frame_is_to_be_collected() -> None:
    polars = pytest.importorskip("polars", reason="polars is no dependency")
    with pytest.raises(InputError, match=r"a LazyFrame has no rows yet; give frame\.collect\(\)"):
        mores.score(polars.LazyFrame(ROWS), model="fake:clean")


def test_a_row_of_a_frame() -> None:
    failure = Failure(kind=FailureKind.EMPTY, reason="the model wrote nothing")
    sample = Sample(id="1", text="x", region="JP", metadata={"Rater": 1, "score": 5})
    row = frame_row(Judgement.of(sample, judge="j", failure=failure, notes=("a", "b")))
    assert row == {
        "id": "1",
        "instruction": DEFAULT_INSTRUCTION,
        "text": "x",
        "language": None,
        "region": "JP",
        "Rater": 1,
        "score (table)": 5,
        "score": None,
        "state": "failed",
        "doubt": "",
        "errors": 0,
        "major": 0,
        "minor": 0,
        "quotes": "",
        "explanation": None,
        "failure": "the model wrote nothing",
        "notes": "a; b",
    }


def test_a_row_explains_errors_where_the_report_has_no_summary() -> None:
    errors = [
        Error(side="text", quote=quote, severity=Severity.MAJOR, type="t", explanation=why)
        for quote, why in (("black", "Red is usual."), ("loud", ""))
    ]
    for summary, shown in (("", "Red is usual."), ("Two errors.", "Two errors.")):
        report = ErrorReport(errors=errors, explanation=summary)
        row = frame_row(Judgement.of(Sample(id="1", text="black and loud"), judge="j", report=report, score=-10.0))
        assert (row["quotes"], row["explanation"]) == ("black; loud", shown)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_needs_its_library(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mores.extras.find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=f"{library} must be installed for this: pip install {library}"):
        getattr(mores.score(["x"], model="fake:clean"), f"to_{library}")()


class Frame:
    """As much of a frame of polars as is used."""

    columns = tuple(ROWS[0])

    def iter_rows(self, *, named: bool) -> Any:
        assert named
        return iter(ROWS)

    def __iter__(self) -> Any:
        return iter(self.columns)


def test_score_reads_a_frame_by_rows() -> None:
    judged = mores.score(Frame(), model="fake:clean")
    assert [judgement.text for judgement in judged] == [sample[1] for sample in SAMPLES]
    assert [judgement.metadata for judgement in judged] == [sample[4] for sample in SAMPLES]
    assert judged[0].sample is not None
    assert judged[0].sample.metadata == SAMPLES[0][4]


# Columns


def test_the_report() -> None:
    put("weddings.csv", as_csv())
    report = check_samples("weddings.csv").report
    assert str(report) == (
        "weddings.csv, 2 rows: text ← Model answer, instruction ← Question asked, language ← LANG, "
        "region ← Country; not read: Notes, Rater (kept)"
    )
    put("plain.csv", "id,text\n1,x\n")
    assert check_samples("plain.csv").report.is_plain


def test_named_columns() -> None:
    put("a.csv", "Answer,Reply\nx,y\n")
    assert [sample.text for sample in read_samples("a.csv", columns={"text": "Reply"})] == ["y"]
    with pytest.raises(InputError, match="no column 'Repl' to read as 'text'; did you mean 'Reply'") as caught:
        read("a.csv", columns={"text": "Repl"})
    assert caught.value.setting == "columns"
    with pytest.raises(ConfigError, match="no column 'texts' can be read; did you mean 'text'"):
        read("a.csv", columns={"texts": "Reply"})
    put("a.jsonl", '{"text": "x", "Land": "Kenya"}\n{"text": "y"}\n')
    assert [sample.region for sample in read_samples("a.jsonl", columns={"region": "Land"})] == ["KE", None]
    with pytest.raises(InputError, match="no column 'Lnd' to read as 'region'; did you mean 'Land'"):
        read("a.jsonl", columns={"region": "Lnd"})


def test_two_columns_that_may_be_the_same() -> None:
    put("a.csv", "Response,Answer\nx,y\n")
    with pytest.raises(InputError, match="'Response' and 'Answer' may each be the text; say which one is") as caught:
        read("a.csv")
    assert caught.value.setting == "columns"
    put("a.csv", "Prompt,output,Model answer\nq,gold,x\nq,gold,y\n")
    with pytest.raises(InputError, match=r"a\.csv:2: 'output' and 'Model answer' may each be the text"):
        check_samples("a.csv")  # at once, not as a bad row of many
    assert [sample.text for sample in read_samples("a.csv", columns={"text": "Model answer"})] == ["x", "y"]
    put("a.csv", "output,Answer\n,x\ny,\n")
    assert [sample.text for sample in read_samples("a.csv")] == ["x", "y"]


def test_extra_columns_come_back_from_our_own_files() -> None:
    sample = Sample(id="1", text="x", metadata={"Notes": "odd", "n": 3})
    put("a.jsonl", sample.model_dump_json())
    assert list(read_samples("a.jsonl")) == [sample]
    plain = Judgement.of(Sample(id="1", text="x"), judge="j", score=1.0)
    assert "metadata" not in plain.model_dump()
    assert "metadata" not in Sample(id="1", text="x").model_dump()


# Chats

CHATS: list[dict[str, Any]] = [
    {  # as OpenAI and Hugging Face write them
        "id": "a",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "How do people marry?"},
            {"role": "assistant", "content": "Guests wear white."},
        ],
        "Country": "Japan",
        "Rater": "Ann",
    },
    {
        "id": "b",
        "messages": [
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Hi!"},
            {
                "role": "user",
                "content": [{"type": "text", "text": "Who pays?"}, {"type": "image_url", "image_url": {}}],
            },
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
            {"role": "assistant", "content": "The groom."},
            {"role": "user", "content": "Thank you"},
        ],
    },
]
SHARED = [  # as ShareGPT writes them
    {"id": "a", "conversations": [{"from": "human", "value": "How do people marry?"}, {"from": "gpt", "value": "x"}]}
]
LONG_CHAT = "User: Hello\n\nAssistant: Hi!\n\nUser: Who pays?"


@pytest.mark.parametrize("suffix", ["jsonl", "json", "parquet", "csv"])
def test_chats(suffix: str) -> None:
    if suffix == "jsonl":
        put("a.jsonl", "\n".join(map(json.dumps, CHATS)))
    elif suffix == "json":
        put("a.json", json.dumps(CHATS))
    elif suffix == "parquet":
        pq.write_table(pa.Table.from_pylist([CHATS[0]]), "a.parquet")
    else:
        table = io.StringIO()
        rows = [[chat["id"], chat.get("Country"), json.dumps(chat["messages"])] for chat in CHATS]
        csv.writer(table).writerows([["id", "Country", "Messages"], *rows])
        put("a.csv", table.getvalue())
    samples = list(read_samples(f"a.{suffix}"))
    pairs = [(sample.instruction, sample.text, sample.region) for sample in samples]
    expected = [("Be brief.\n\nHow do people marry?", "Guests wear white.", "JP"), (LONG_CHAT, "The groom.", None)]
    assert pairs == expected[: len(samples)]
    assert "text and instruction ← " in str(check_samples(f"a.{suffix}").report)


def test_chats_of_sharegpt_and_in_memory() -> None:
    put("a.json", json.dumps(SHARED))
    (sample,) = read_samples("a.json")
    assert (sample.instruction, sample.text) == ("How do people marry?", "x")
    assert "text and instruction ← conversations" in str(check_samples("a.json").report)
    judged = mores.score(CHATS, model="fake:clean")
    assert [judgement.text for judgement in judged] == ["Guests wear white.", "The groom."]
    assert judged[0].metadata == {"Rater": "Ann"}


def test_what_of_a_chat_is_not_judged_is_reported() -> None:
    table = SampleTable(CHATS)
    list(table)
    assert str(table.report).endswith(
        "; 1 chat has earlier answers, which are not judged: only the last is, unless dialogue is set"
        "; 1 chat has pictures, sounds or files, which the judge does not see; not read: Rater (kept)"
    )
    table = SampleTable([CHATS[0]])
    list(table)
    assert "chat" not in str(table.report)


def test_parts_of_messages_as_other_interfaces_write_them() -> None:
    asked = {"role": "user", "content": [{"type": "input_text", "text": "Who pays?"}]}
    [sample] = read_samples(
        [{"messages": [asked, {"role": "assistant", "content": [{"type": "output_text", "text": "x"}]}]}]
    )
    assert (sample.instruction, sample.text) == ("Who pays?", "x")


def test_a_text_beside_a_chat() -> None:
    asked = {"role": "user", "content": "Who pays?"}
    rows = [
        {"messages": [asked], "response": "The groom."},
        {"messages": [asked, {"role": "assistant", "content": "Nobody."}], "response": "The groom."},
        {"prompt": [asked], "completion": [{"role": "assistant", "content": "The groom."}]},  # as TRL writes them
    ]
    assert [(s.instruction, s.text) for s in read_samples(rows)] == [("Who pays?", "The groom.")] * 3
    (sample,) = read_samples([{"text": "x", "messages": "about weddings"}])
    assert (sample.instruction, sample.metadata) == (DEFAULT_INSTRUCTION, {"messages": "about weddings"})


# Missing values


@pytest.mark.parametrize("word", ["", "NA", "NaN", "nan", "null", "None", "-", "N/A", "n/a"])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "xlsx"])
def test_what_is_missing_in_untyped_tables(word: str, suffix: str) -> None:
    header, row = ["text", "instruction", "region", "language", "score"], [word or "x", word, word, word, word]
    if suffix == "xlsx":
        put_sheet("a.xlsx", header, row)
    else:
        put(f"a.{suffix}", "\n".join(("," if suffix == "csv" else "\t").join(cells) for cells in (header, row)))
    [sample] = read_samples(f"a.{suffix}")
    assert (sample.region, sample.language, sample.metadata) == (None, None, {})
    assert (sample.text, sample.instruction) == (word or "x", word or DEFAULT_INSTRUCTION)


def test_other_sheets_are_not_read_and_that_is_said() -> None:
    cell = '<c t="inlineStr"><is><t>{}</t></is></c>'
    sheet = f'<worksheet xmlns="{SPACE}"><sheetData><row>{cell}</row></sheetData></worksheet>'
    more = {f"xl/worksheets/sheet{n}.xml": sheet.format(text) for n, text in ((2, "text"), (3, "text"), (4, ""))}
    put_sheet("a.xlsx", ["text"], ["x"], more=more)
    assert str(check_samples("a.xlsx").report) == "a.xlsx, 1 row: text ← text; 2 other sheets are not read"
    put_sheet("b.xlsx", ["text"], ["x"])
    assert check_samples("b.xlsx").report.is_plain


def test_errors_of_a_spreadsheet_are_counted() -> None:
    cell = '<c t="inlineStr"><is><t>{}</t></is></c>'
    rows = [cell.format("text"), cell.format("x"), '<c t="e"><v>#NAME?</v></c>', '<c t="e"><v>#REF!</v></c>']
    data = "".join(f"<row>{row}</row>" for row in rows)
    sheet = f'<worksheet xmlns="{SPACE}"><sheetData>{data}</sheetData></worksheet>'
    with zipfile.ZipFile("a.xlsx", "w") as book:
        book.writestr("xl/worksheets/sheet1.xml", sheet)
    said = "2 cells are errors of the spreadsheet, such as #NAME?, and read as text"
    assert str(check_samples("a.xlsx").report) == f"a.xlsx, 3 rows: text ← text; {said}"
    assert [sample.text for sample in read_samples("a.xlsx")] == ["x", "#NAME?", "#REF!"]


def test_empty_cells_of_a_place_are_counted() -> None:
    put("a.csv", "text,region\nx,JP\ny,\nz, \n")
    report = check_samples("a.csv").report
    assert not report.is_plain
    assert str(report) == "a.csv, 3 rows: text ← text, region ← region; region is empty (2)"


def test_what_is_missing_is_reported() -> None:
    put("a.csv", "text,Country\nx,NA\ny,NA\nz,Kenya\n")
    report = check_samples("a.csv").report
    assert report.missing == {"region": {"NA": 2}}
    assert str(report) == "a.csv, 3 rows: text ← text, region ← Country; region 'NA' was read as missing (2)"


def test_namibia_and_min_nan_in_typed_tables() -> None:
    rows = [{"text": "x", "region": "NA", "language": "nan"}]
    put("a.jsonl", json.dumps(rows[0]))
    put("a.json", json.dumps(rows))
    feather.write_feather(pa.Table.from_pylist(rows), "a.feather")
    for data in ("a.jsonl", "a.json", "a.feather", rows):
        assert [(sample.region, sample.language) for sample in read_samples(data)] == [("NA", "nan")]


def test_namibia_and_min_nan_come_back_from_the_studio() -> None:
    ours = [{"id": "i", "status": "open", "region": "NA", "language": "nan", "content": {"text": "-"}}]
    [item] = read_table_rows(to_csv(ours, ("content",)), "items.csv", "csv")
    assert (item.region, item.language, item.content) == ("NA", "nan", {"text": "-"})
    [item] = read_table_rows(b"text,region,language\n-,NA,nan\n", "items.csv", "csv")
    assert (item.region, item.language, item.content) == ("", "", {"text": "-"})


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"), ("+cmd", "'+cmd"), ("-", "'-"), ("@SUM(A1)", "'@SUM(A1)"), ("\t=1", "'\t=1"),
        ("\r=1", '"\'\r=1"'), ("'=1", "''=1"), ("''=1", "'''=1"), ("'-5", "''-5"), ("'tis", "'tis"), ("''", "''"),
        (" =1", " =1"), ("-5", "-5"), ("+3.5%", "+3.5%"), ("-1e-5", "-1e-5"), (-5, "-5"), (None, ""),
        ("\uff1d1+1", "'\uff1d1+1"), ("'\uff20a", "''\uff20a"),
    ],
)  # fmt: skip
def test_formulas_get_an_apostrophe_in_csv(text: object, cell: str) -> None:
    assert mores.io.to_csv([["a", "b"], [text, "x"]]) == f"a,b\n{cell},x\n"


_CELLS = st.text(st.characters(exclude_categories=["Cs"]))
_CELLS |= st.builds(str.__add__, st.text("'=+-@\uff1d\uff20\t\r\n\",1", min_size=1, max_size=6), _CELLS)


@pytest.mark.slow
@given(st.lists(st.tuples(_CELLS, _CELLS), min_size=1))
def test_texts_come_back_from_csv(rows: list[tuple[str, str]]) -> None:
    text = mores.io.to_csv([("id", "a", "b"), *((number, *row) for number, row in enumerate(rows))])
    source = TableSource(Path("t.csv"), "csv", data=text.encode())
    read = [row.values for row in read_rows(source) if not isinstance(row, InputError)]
    assert [(row["a"], row["b"]) for row in read] == rows
    for cells in csv.reader(io.StringIO(text, newline="")):
        live = [cell for cell in cells if cell.startswith(tuple("=+-@\t\r\uff1d\uff0b\uff0d\uff20"))]
        assert all(re.fullmatch(r"[+-][\d.,]+([eE][+-]?\d+)?%?", cell) for cell in live)


def test_only_csv_is_escaped() -> None:
    ours: list[dict[str, Any]] = [{"id": "i", "content": {"text": "=1", "note": "'=1"}}]
    for form, make in TABLES.items():
        table = make(("content",))
        table.add(ours[0])
        data = table.close(f"items.{form}").read()
        assert (b"''=1" in data) == (form == "csv")
        [item] = read_table_rows(data, f"items.{form}", form)
        assert item.content == ours[0]["content"]


def test_numbers_and_choices_of_ratings() -> None:
    head = "question,model,annotator,rating,factuality,language,codes"
    put("r.csv", f"{head}\nWhy?,a,1,NA,none,nan,-\n")
    [rating] = open_ratings("r.csv").ratings
    assert (rating.rating, rating.factuality, rating.language, rating.codes) == (None, "none", None, {"": ()})
    from mores.studio.campaigns.rating.results import COLUMNS

    put("own.csv", ",".join(COLUMNS) + "\nq,Why?,x,a,1,nan" + "," * (len(COLUMNS) - 6) + "\n")
    assert [rating.language for rating in open_ratings("own.csv").ratings] == ["nan"]


# Hostile files


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["a.csv", *(pytest.param(name, marks=pytest.mark.slow) for name in ("a.tsv", "a.txt.csv"))]
)
def test_a_million_columns(name: str) -> None:
    count = 10**6 if name != "a.csv" else 10**5
    put(name, ",".join(f"c{n}" for n in range(count)) + "\n" + "," * count + "\n")
    start = time.process_time()
    with pytest.raises(InputError, match=rf"{count:,} columns; a table has at most 16,384"):
        list(read_samples(name))
    with pytest.raises(InputError, match=rf"{count:,} columns"):
        read_table_rows(Path(name).read_bytes(), name, "csv")
    assert time.process_time() - start < 10


def test_a_row_with_a_million_fields() -> None:
    put("a.jsonl", json.dumps({"text": "x"} | {f"c{n}": 1 for n in range(10**5)}))
    with pytest.raises(InputError, match=r"100,001 fields; a row has at most 16,384"):
        list(read_samples("a.jsonl"))


def test_a_cell_in_the_last_corner() -> None:
    rows = '<row r="1"><c r="A1" t="str"><v>text</v></c></row><row r="1048576"><c r="{}"><v>1</v></c></row>'
    for place, problem in (("XFD1048576", None), ("XFE1048576", "column 16,385; a table has at most 16,384")):
        with zipfile.ZipFile("a.xlsx", "w") as book:
            book.writestr("xl/worksheets/sheet1.xml", f'<worksheet xmlns="{SPACE}">{rows.format(place)}</worksheet>')
        if problem is None:
            assert list(read_samples("a.xlsx")) == []
        else:
            with pytest.raises(InputError, match=problem):
                list(read_samples("a.xlsx"))


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_deep_nesting(name: str) -> None:
    put(name, '[{"text": ' + "[" * 100_000 + "]" * 100_000 + "}]")
    with pytest.raises(InputError, match="not valid JSON"):
        list(read_samples(name))
    put(name, '{"text": ' + "[" * 100_000 + "]" * 100_000 + "}")
    with pytest.raises(InputError, match="not valid JSON"):
        list(read_samples(name))


def test_a_quote_that_is_never_closed_and_mixed_delimiters() -> None:
    put("a.csv", 'id,text\n1,"' + "x\n" * 100_000)
    with pytest.raises(InputError, match=r"a\.csv:2: not valid csv \(unexpected end of data\); close"):
        list(read_samples("a.csv"))
    put("b.csv", "id,text\n1;x\n2,y,z\n")
    problems = check_samples("b.csv").problems
    assert problems[0].startswith("b.csv:2: no field 'text'")
    assert problems[1] == "b.csv:3: 3 cells under 2 columns; put cells that contain ',' in quotes"


def test_too_many_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mores.io.table.MOST_CELLS", 5)
    put("a.csv", "a,b\n" + "1,2\n" * 3)
    with pytest.raises(InputError, match="more than 5 cells; split the table"):
        read_table("a.csv", Wanted((TableColumn("a"),)), "empty")


ANY_CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20).filter(
    lambda cell: bool(cell.strip())
)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(cells=st.lists(ANY_CELL, min_size=1, max_size=4), delimiter=st.sampled_from(",;\t|"))
def test_any_cell_comes_back_with_any_delimiter(cells: list[str], delimiter: str) -> None:
    rows = [{"id": str(n), "text": cell} for n, cell in enumerate(cells)]
    put("a.csv", as_csv(delimiter, rows))
    put("a.json", json.dumps(rows))
    put("u.csv", as_csv(delimiter, rows).encode("utf-16"))
    for name in ("a.csv", "a.json", "u.csv"):
        assert [sample.text for sample in read_samples(name)] == cells


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(content=st.binary(max_size=200))
@pytest.mark.parametrize("format", ["json", "xlsx", "arrow"])
def test_any_bytes_give_samples_or_input_errors(format: str, content: bytes) -> None:  # noqa: A002
    for head in (b"", b"[{", b"PK\x03\x04", b"ARROW1"):
        put("any", head + content)
        table = SampleTable("any", format, on_bad=lambda _: None)
        with suppress(InputError):
            assert all(sample.text.strip() for sample in table)
