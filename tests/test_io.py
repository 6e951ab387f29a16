"""Files in and out: every format and message, laziness, atomic writing, and properties over any text and any bytes."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import stat
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mores.errors import ConfigError, InputError, StoreError
from mores.extras import install_command
from mores.io import JsonlWriter, check_samples, read_records, read_samples, spool, write_text
from mores.io.values import load_yaml
from mores.types import (
    DEFAULT_INSTRUCTION,
    Error,
    ErrorReport,
    Evidence,
    Failure,
    FailureKind,
    Judgement,
    Record,
    Sample,
    Severity,
)

KNOWN = (
    "use one of .jsonl, .ndjson, .json, .csv, .tsv, .tab, .xlsx, .parquet, .arrow, .feather, .txt, .md, .eval "
    "or name the format: jsonl, json, csv, tsv, xlsx, parquet, arrow, text, inspect, texts, dataset, lm-eval, "
    "promptfoo"
)
PASSAGE = "expected 'text', and if you have them 'title', 'source' and 'date', all strings"
NO_ANSWER = "the chat has no answer of an assistant; leave it out, or name the column of the text"
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"])).filter(lambda text: bool(text) and not text.isspace())
any_file = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@pytest.fixture(autouse=True)
def in_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests run where they write, so that messages hold short paths."""
    monkeypatch.chdir(tmp_path)


def put(name: str, content: str | bytes) -> Path:
    path = Path(name)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def give_stdin(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def message(path: str, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        list(read_samples(path, **options))
    return str(caught.value)


# Formats


def test_jsonl() -> None:
    put(
        "a.jsonl",
        '\ufeff{"id": 7, "instruction": "Write.", "text": "x\u2028y", "language": "German", "region": "UK",'
        ' "source": "S", "more": [1]}\r\n\r\n{"text": "z", "id": null, "language": null}',
    )
    assert list(read_samples("a.jsonl")) == [
        Sample(id="7", instruction="Write.", text="x\u2028y", language="de", region="GB", source="S"),
        Sample(id="a:3", instruction=DEFAULT_INSTRUCTION, text="z"),
    ]


def test_csv_counts_the_lines_of_multi_line_cells() -> None:
    put("a.csv", '\ufefftext, prompt\r\n"one\r\ntwo",p\r\n\r\n,,\r\n"say ""hi""",\r\n')
    assert list(read_samples("a.csv")) == [
        Sample(id="a:2", instruction="p", text="one\r\ntwo"),
        Sample(id="a:6", text='say "hi"'),
    ]


def test_tsv() -> None:
    put("a.tsv", "id\toutput\tlang\tcountry\n1\ta, b\tpt_br\tBrazil\n")
    assert list(read_samples("a.tsv")) == [Sample(id="1", text="a, b", language="pt-BR", region="BR")]


def test_parquet() -> None:
    table = pa.table({"id": [1, None], "text": ["a", "b"], "extra": [[1], [2]], "lang": ["deu", None]})
    pq.write_table(table, "a.parquet")
    assert list(read_samples("a.parquet")) == [Sample(id="1", text="a", language="de"), Sample(id="a:2", text="b")]


@pytest.mark.parametrize("name", ["a.txt", "a.md"])
def test_plain_text_is_one_text_per_line(name: str) -> None:
    put(name, "\ufeffone\r\n\n   \n two\u2028still two\n")
    assert list(read_samples(name)) == [Sample(id="a:1", text="one"), Sample(id="a:4", text=" two\u2028still two")]


def test_the_format_overrides_the_suffix() -> None:
    put("a.dat", '{"text": "x"}\n')
    assert [sample.text for sample in read_samples("a.dat", format="jsonl")] == ["x"]
    assert [sample.text for sample in read_samples("a.dat", format="text")] == ['{"text": "x"}']


@pytest.mark.parametrize(("content", "text"), [(b'\n {"text": "x"}\n', "x"), (b"\nplain\n", "plain")])
def test_stdin_is_jsonl_or_text(monkeypatch: pytest.MonkeyPatch, content: bytes, text: str) -> None:
    give_stdin(monkeypatch, content)
    assert list(read_samples("-")) == [Sample(id="-:2", text=text)]


def test_closed_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert message("-") == "-: standard input is closed; pipe texts into it or name a file"
    with pytest.raises(InputError, match="standard input is closed"), spool("-"):
        pass


def test_stdin_with_a_format(monkeypatch: pytest.MonkeyPatch) -> None:
    give_stdin(monkeypatch, b"text\nx\n")
    assert list(read_samples("-", format="csv")) == [Sample(id="-:2", text="x")]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv", "a.txt"])
def test_an_empty_file_has_no_samples(name: str) -> None:
    put(name, "")
    assert list(read_samples(name)) == []


@pytest.mark.parametrize("alias", ["prompt", "input", "question", "src"])
def test_aliases_of_instruction(alias: str) -> None:
    put("a.jsonl", json.dumps({alias: "i", "text": "t"}))
    assert [sample.instruction for sample in read_samples("a.jsonl")] == ["i"]


@pytest.mark.parametrize("alias", ["output", "response", "completion", "answer", "hyp", "generated_text"])
def test_aliases_of_text(alias: str) -> None:
    put("a.jsonl", json.dumps({alias: "t"}))
    assert [sample.text for sample in read_samples("a.jsonl")] == ["t"]


def test_an_input_beside_an_instruction_belongs_to_it() -> None:
    put("a.jsonl", '{"instruction": "Translate:", "input": "Guten Tag", "output": "Good day"}')
    assert list(read_samples("a.jsonl")) == [Sample(id="a:1", instruction="Translate:\nGuten Tag", text="Good day")]


def test_our_name_wins_over_an_alias() -> None:
    put("a.jsonl", '{"instruction": "i", "prompt": "j", "text": "t", "answer": "u"}')
    assert list(read_samples("a.jsonl")) == [Sample(id="a:1", instruction="i", text="t")]


def test_a_line_of_two_megabytes() -> None:
    text = "ä" * 2**20
    put("a.jsonl", json.dumps({"text": text}, ensure_ascii=False))
    put("a.csv", f'text\n"{text}"\n')
    assert [sample.text for name in ("a.jsonl", "a.csv") for sample in read_samples(name)] == [text, text]


def test_evidence_in_json_lines() -> None:
    rows = [["A fact.", {"text": "B", "title": "T", "source": "s", "date": None}], [], None]
    put("a.jsonl", "\n".join(json.dumps({"text": "x", "evidence": row}) for row in rows))
    first, empty, none = read_samples("a.jsonl")
    assert first.evidence == (Evidence(text="A fact."), Evidence(text="B", title="T", source="s"))
    assert empty.evidence == none.evidence == ()


def test_a_column_of_that_name_is_another_matter() -> None:
    put("a.csv", "text,evidence\nx,page 3\n")
    pq.write_table(pa.Table.from_pylist([{"text": "x", "evidence": "page 3"}]), "a.parquet")
    assert [sample.evidence for name in ("a.csv", "a.parquet") for sample in read_samples(name)] == [(), ()]


# Messages


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ('{"instruction": "i"}', "no field 'text'; expected 'instruction' and 'text'; found 'instruction'"),
        ('{"txt": "x"}', "no field 'text', but 'txt'; rename it to 'text'"),
        ('{"Texxt": "x"}', "no field 'text', but 'Texxt'; rename it to 'text'"),
        ('{"Outputt": "x"}', "no field 'text', but 'Outputt'; rename it to 'text'"),
        (
            '{"Text": "x", "TEXT": "y"}',
            "'Text' and 'TEXT' may each be the text; say which one is: text=Text or text=TEXT",
        ),
        ('{"text": "x", "instruciton": ""}', "no field 'instruction', but 'instruciton'; rename it to 'instruction'"),
        ('{"text": " "}', "the text is empty; fill in 'text' or remove the row"),
        ('{"text": null}', "the text is empty; fill in 'text' or remove the row"),
        ('{"text": 3}', "'text' is a number, not a string; put it in quotes"),
        ('{"output": ["x"]}', "'output' is an array, not a string; put it in quotes"),
        ('{"text": "x", "id": true}', "'id' is a boolean, not a string; put it in quotes"),
        ('{"text": "x", "id": 1.5}', "'id' is a number, not a string; put it in quotes"),
        ('{"text": "x", "lang": {}}', "'lang' is an object, not a string; put it in quotes"),
        (
            '{"answer": "a", "response": "b"}',
            "'response' and 'answer' may each be the text; say which one is: text=response or text=answer",
        ),
        (
            '{"prompt": "p", "output": "a", "Answer": "b"}',
            "'output' and 'Answer' may each be the text; say which one is: text=output or text=Answer",
        ),
        ('{"messages": [{"role": "user", "content": "x"}]}', NO_ANSWER),
        ('{"messages": "x"}', "'messages' is not a list of messages, each with 'role' and 'content'"),
        ('{"text": "x", "lang": "Germn"}', "unknown language 'Germn'; did you mean German (de)?"),
        ('{"text": "x", "country": "Irann"}', "unknown region 'Irann'; did you mean Iran (IR)?"),
        ('{"text": "x", "evidence": "y"}', "'evidence' is a string, not an array; write [{\"text\": …}]"),
        ('{"text": "x", "evidence": {"text": "y"}}', "'evidence' is an object, not an array; write [{\"text\": …}]"),
        ('{"text": "x", "evidence": ["y", {"title": "z"}]}', f"evidence 2: text: Field required; {PASSAGE}"),
        (
            '{"text": "x", "evidence": [{"text": "y", "url": "z"}]}',
            f"evidence 1: url: Extra inputs are not permitted; {PASSAGE}",
        ),
        (
            '{"text": "x", "evidence": [{"text": 3}]}',
            f"evidence 1: text: Input should be a valid string; {PASSAGE}",
        ),
        (
            '{"text": "x", "evidence": [3]}',
            f"evidence 1: the whole: Input should be a valid dictionary or instance of Evidence; {PASSAGE}",
        ),
        ('{"text": "x", "evidence": [" "]}', "evidence 1: the text is empty; fill it in or leave the passage out"),
        ("[1]", "not a JSON object; write one object for each row"),
        (
            '{"text": NaN}',
            "not valid JSON (unexpected character, expected a JSON value at column 10); write one JSON object per line",
        ),
        (
            r'{"text": "\ud800"}',
            "not valid JSON (no low surrogate in string at column 11); write one JSON object per line",
        ),
        (
            '{"text": "a\0"}',
            "not valid JSON (unexpected control character in string at column 12); write one JSON object per line",
        ),
    ],
)
def test_a_bad_row_is_named_with_its_line_and_fix(row: str, problem: str) -> None:
    put("a.jsonl", f'{{"text": "good"}}\n\n{row}\n{{"text": "good"}}\n')
    assert message("a.jsonl") == f"a.jsonl:3: {problem}"
    errors: list[InputError] = []
    assert [sample.id for sample in read_samples("a.jsonl", on_bad=errors.append)] == ["a:1", "a:4"]
    assert [str(error) for error in errors] == [f"a.jsonl:3: {problem}"]


@pytest.mark.parametrize("key", ["question_id", "prompt_id", "instruction_id", "input_ids", "topic", "source"])
def test_other_columns_are_no_misspelt_instruction(key: str) -> None:
    put("a.jsonl", json.dumps({"text": "t", key: "k"}))
    assert [sample.instruction for sample in read_samples("a.jsonl")] == [DEFAULT_INSTRUCTION]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", b'{"text": "x"}\n{"text": "\xc3\xa4\xff"}\n{"text": "y"}\n'),
        ("a.txt", b"x\n          \xc3\xa4\xff\ny\n"),
        ("a.csv", b'text\n"x\n         \xc3\xa4\xff"\ny\n'),
    ],
)
def test_bytes_that_are_not_utf8(name: str, content: bytes) -> None:
    put(name, content)
    line, column = {"a.jsonl": (2, 12), "a.txt": (2, 12), "a.csv": (3, 11)}[name]
    problem = f"{name}:{line}: not valid UTF-8 (byte 0xff at column {column}); save the file as UTF-8"
    assert message(name) == problem
    errors: list[InputError] = []
    assert [sample.text for sample in read_samples(name, on_bad=errors.append)][-1] == "y"
    assert [str(error) for error in errors] == [problem]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("txt,id\nx,1\n", "a.csv:1: no field 'text', but 'txt'; rename it to 'text'"),
        ("text,Promptt\nx,1\n", "a.csv:1: no field 'instruction', but 'Promptt'; rename it to 'instruction'"),
        ("text,text\nx,1\n", "a.csv:1: two columns 'text'; rename one"),
        ("text,Model,Model\nx,1,2\n", "a.csv:1: two columns 'Model'; rename one"),
        ("id,text\n1,a\n2,a,b\n", "a.csv:3: 3 cells under 2 columns; put cells that contain ',' in quotes"),
        ("id,text\n1,\n", "a.csv:2: the text is empty; fill in 'text' or remove the row"),
        (
            'text\na\n"b\nc\n',
            "a.csv:3: not valid csv (unexpected end of data); "
            'close every quoted cell, and write "" for a quote inside one',
        ),
        (
            'text\n"a"b\n',
            "a.csv:2: not valid csv (',' expected after '\"'); "
            'close every quoted cell, and write "" for a quote inside one',
        ),
    ],
)
def test_csv_messages(content: str, problem: str) -> None:
    put("a.csv", content)
    assert message("a.csv") == problem


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        (
            "log.json",
            "log.json: one JSON object; write an array of objects, or one object per line; "
            "or, if it is a log, name the format: inspect, lm-eval, promptfoo",
        ),
        (
            "a.docx",
            f"a.docx: suffix '.docx' is not known; {KNOWN}",
        ),
        (
            "texts",
            f"texts: the name has no suffix; {KNOWN}",
        ),
        ("no.jsonl", "no.jsonl: no such file; check the path"),
        ("no.parquet", "no.parquet: no such file; check the path"),
        ("folder.csv", "folder.csv: is a folder; name a file in it"),
        ("array.jsonl", "array.jsonl:2: not valid JSON (Expecting value at column 1); write it again"),
        ("loop", "loop: a link that leads back to itself; remove it, or give another path"),
        ("a\0.jsonl", r"'a\x00.jsonl': no file has NUL in its name; check the path"),
    ],
)
def test_what_is_wrong_with_a_whole_file(path: str, problem: str) -> None:
    Path("folder.csv").mkdir()
    Path("loop").symlink_to("loop")
    put("array.jsonl", '[{"text": "x"},\n')
    put("log.json", '{\n"eval": {}\n}')
    errors: list[InputError] = []
    assert message(path, on_bad=errors.append) == problem
    assert not errors


def test_an_unreadable_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> IO[bytes]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert message("a.jsonl") == "a.jsonl: may not be read; change its permissions"


def test_a_disk_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> IO[bytes]:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "open", fail)
    assert message("a.jsonl") == "a.jsonl: cannot be read ([Errno 5] Input/output error); check the path and the disk"


def test_an_unknown_format() -> None:
    with pytest.raises(ConfigError, match="unknown format 'xml'; use one of jsonl, json, csv, tsv, xlsx, parquet"):
        read_samples("a.jsonl", format="xml")


def test_parquet_needs_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    give_stdin(monkeypatch, b"PAR1")
    assert message("-", format="parquet") == "-: Parquet cannot be read from standard input; save it to a file"


def test_parquet_needs_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ConfigError, match=re.escape(install_command("parquet"))):
        read_samples("a.parquet")


def test_parquet_messages() -> None:
    put("a.parquet", b"PAR1 but no more")
    assert re.fullmatch(
        r"a\.parquet: not a Parquet file, or a damaged one \(.+\); write it again", message("a.parquet")
    )
    pq.write_table(pa.table({"txt": ["x"]}), "b.parquet")
    assert message("b.parquet") == "b.parquet: no field 'text', but 'txt'; rename it to 'text'"
    bad = pa.array([b"x", b"\xff", b"y"]).view(pa.string())
    pq.write_table(pa.table({"text": bad}), "c.parquet")
    errors: list[InputError] = []
    assert [sample.id for sample in read_samples("c.parquet", on_bad=errors.append)] == ["c:1", "c:3"]
    assert [str(error) for error in errors] == [
        "c.parquet:2: a string is not valid UTF-8; write it again as UTF-8",
    ]
    pq.write_table(pa.table({"text": pa.array([None, "x"])}), "d.parquet")
    assert message("d.parquet") == "d.parquet:1: the text is empty; fill in 'text' or remove the row"


# Laziness


@pytest.mark.parametrize("name", ["pipe.jsonl", "pipe.csv", "pipe.txt"])
def test_a_file_is_read_as_it_is_used(name: str) -> None:
    """Three samples of a pipe do not take all that could come through it."""
    os.mkfifo(name)
    parts = 2000
    fed = 0

    def feed() -> None:
        nonlocal fed
        with suppress(BrokenPipeError), Path(name).open("wb", buffering=0) as pipe:
            pipe.write(b"text\n" if name.endswith("csv") else b"\n")
            for fed in range(parts):  # noqa: B007 - counts
                pipe.write(b'{"text": "x"}\n' * 100 if name.endswith("jsonl") else b"x\n" * 1000)

    feeder = threading.Thread(target=feed)
    feeder.start()
    samples = read_samples(name)
    assert [sample.id for sample in islice(samples, 3)] == ["pipe:2", "pipe:3", "pipe:4"]
    assert fed < parts - 1
    del samples  # closes the pipe
    feeder.join(10)
    assert not feeder.is_alive()


def test_parquet_comes_in_batches() -> None:
    pq.write_table(pa.table({"text": ["x" * 1000] * 50_000}), "a.parquet", row_group_size=1000)
    before = pa.total_allocated_bytes()
    samples = read_samples("a.parquet")
    next(samples)
    assert pa.total_allocated_bytes() - before < 10_000_000


# Checking


def test_check_counts() -> None:
    put("a.jsonl", '{"instruction": "ab", "text": "cde"}\n{"text": "ü"}\n')
    checked = check_samples("a.jsonl")
    assert (checked.count, checked.characters) == (2, 6 + len(DEFAULT_INSTRUCTION))
    assert (checked.problems, checked.bad) == ((), 0)


def test_check_names_repeated_ids_and_bad_rows() -> None:
    put("a.jsonl", '{"id": 1, "text": "x"}\n{}\n{"id": "1", "text": "y"}\n{"text": "z"}\n{"id": "1", "text": "y"}\n')
    checked = check_samples("a.jsonl")
    assert (checked.count, checked.bad + checked.repeated) == (4, 3)
    assert checked.problems == (
        "a.jsonl:2: no field 'text'; expected 'instruction' and 'text'; found none",
        "a.jsonl:3: id '1' is already that of line 1; give every row its own id",
        "a.jsonl:5: id '1' is already that of line 1; give every row its own id",
    )


def test_check_finds_an_id_that_we_would_give() -> None:
    put("a.csv", "id,text\n,x\na:2,y\n")
    assert check_samples("a.csv").problems == (
        "a.csv:3: id 'a:2' is already that of line 2; give every row its own id",
    )


def test_check_keeps_twenty_problems_and_counts_all() -> None:
    put("bad.jsonl", "{}\n" * 100)
    put("twice.jsonl", "".join(f'{{"id": {n % 50}, "text": "x"}}\n' for n in range(150)))
    bad, twice = check_samples("bad.jsonl"), check_samples("twice.jsonl")
    assert (bad.count, bad.bad, len(bad.problems)) == (0, 100, 20)
    assert (twice.count, twice.repeated, len(twice.problems)) == (150, 100, 20)


@pytest.mark.slow
def test_check_remembers_ids_in_few_bytes() -> None:
    import tracemalloc

    put("a.jsonl", "".join(f'{{"id": "a long identifier {n}", "text": "x"}}\n' for n in range(8_000)))
    check_samples("a.jsonl")  # imports and caches
    tracemalloc.start()
    checked = check_samples("a.jsonl")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert checked.bad == 0
    assert peak / checked.count < 16


def test_check_of_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    give_stdin(monkeypatch, b'{"id": 1, "text": "x"}\n{"id": 1, "text": "x"}\n')
    assert check_samples("-").problems == ("-:2: id '1' is already that of line 1; give every row its own id",)


def test_spooled_stdin_can_be_read_twice_and_is_called_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    give_stdin(monkeypatch, b'{"text": "x"}\n{}\n')
    with spool("-") as path:
        assert check_samples(path).problems == ("-:2: no field 'text'; expected 'instruction' and 'text'; found none",)
        assert [sample.id for sample in read_samples(path, on_bad=lambda _: None)] == ["-:1"]
    assert not path.exists()


def test_a_pipe_can_be_read_twice(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(b'{"text": "x"}\n'))
    writer.start()
    with spool(str(pipe)) as path:
        assert check_samples(path).count == len(list(read_samples(path))) == 1
    writer.join()


def test_a_file_needs_no_copy() -> None:
    with spool("a.jsonl") as path:
        assert path == Path("a.jsonl")


# Writing


def test_two_runs_do_not_write_the_same_file(tmp_path: Path) -> None:
    with JsonlWriter(tmp_path / "o.jsonl") as writer:
        with pytest.raises(InputError, match=r"o\.jsonl: another run is writing it"), JsonlWriter(tmp_path / "o.jsonl"):
            pass
        writer.write(SAMPLE)
    assert list(read_records(tmp_path / "o.jsonl", Sample)) == [SAMPLE]


def test_what_a_killed_run_left_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / ".o.jsonl.part").write_text("half a li")
    with JsonlWriter(tmp_path / "o.jsonl") as writer:
        writer.write(SAMPLE)
    assert list(read_records(tmp_path / "o.jsonl", Sample)) == [SAMPLE]
    assert [path.name for path in tmp_path.iterdir()] == ["o.jsonl"]


SAMPLE = Sample(id="1", text="ä\u2028\0🎉", language="de")
JUDGEMENTS = [
    Judgement(
        sample_id="1",
        judge="j",
        score=-5.0,
        report=ErrorReport(
            errors=(Error(side="text", start=0, end=1, quote="ä", severity=Severity.MAJOR, type="t"),),
        ),
    ),
    Judgement(sample_id="2", judge="j", failure=Failure(kind=FailureKind.PARSE, reason="no JSON")),
]


def test_records_come_back() -> None:
    with JsonlWriter("out.jsonl") as writer:
        for judgement in JUDGEMENTS:
            writer.write(judgement)
    assert list(read_records("out.jsonl", Judgement)) == JUDGEMENTS
    assert [path.name for path in Path().iterdir()] == ["out.jsonl"]


def test_written_samples_are_read() -> None:
    with JsonlWriter("out.jsonl") as writer:
        writer.write(SAMPLE)
    assert list(read_samples("out.jsonl")) == list(read_records("out.jsonl", Sample)) == [SAMPLE]


def test_a_lone_surrogate_does_not_stop_the_writing() -> None:
    with JsonlWriter("out.jsonl") as writer:
        writer.write(Sample(id="1", text="half \ud83d"))
    assert [sample.text for sample in read_records("out.jsonl", Sample)] == ["half \ufffd"]


def test_an_error_leaves_the_old_file() -> None:
    put("out.jsonl", "old")

    def fail() -> None:
        with JsonlWriter("out.jsonl") as writer:
            writer.write(SAMPLE)
            raise OSError(28, "not about our file")

    with pytest.raises(OSError, match="not about our file"):
        fail()
    assert [(path.name, path.read_text()) for path in Path().iterdir()] == [("out.jsonl", "old")]


def test_the_file_appears_when_it_is_whole() -> None:
    with JsonlWriter("out.jsonl") as writer:
        writer.write(SAMPLE)
        assert not Path("out.jsonl").exists()
    assert Path("out.jsonl").exists()


def test_a_link_and_permissions_stay() -> None:
    put("real.txt", "old").chmod(0o640)
    Path("link.txt").symlink_to("real.txt")
    write_text("link.txt", "new")
    assert Path("link.txt").is_symlink()
    assert Path("real.txt").read_text() == "new"
    assert stat.S_IMODE(Path("real.txt").stat().st_mode) == 0o640


def test_stdout(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(screen))
    print("before")
    with JsonlWriter("-") as writer:
        writer.write(SAMPLE)
    print("after", flush=True)
    lines = screen.getvalue().splitlines()
    assert (lines[0], json.loads(lines[1])["id"], lines[2]) == (b"before", "1", b"after")


def test_a_pipe_is_written_directly() -> None:
    os.mkfifo("pipe")
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(Path("pipe").read_bytes()))
    reader.start()
    write_text("pipe", "through")
    reader.join(10)
    assert received == [b"through"]
    assert [path.name for path in Path().iterdir()] == ["pipe"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("size", [1, 10_000_000])
def test_a_full_disk(size: int) -> None:
    problem = "/dev/full: the disk is full (No space left on device); free some space and run again"
    with pytest.raises(StoreError, match=re.escape(problem)):
        write_text("/dev/full", "x" * size)


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("no/out.jsonl", "no/out.jsonl: no folder no; make it first: mkdir -p no"),
        ("folder", "folder: not a place for a file (Is a directory); give the name of a file in a folder"),
        ("file/out", "file/out: not a place for a file (Not a directory); give the name of a file in a folder"),
        ("loop", "loop: a link that leads back to itself; remove it, or give another path"),
        ("a\0", r"'a\x00': no file has NUL in its name; check the path"),
    ],
)
def test_places_that_cannot_be_written(path: str, problem: str) -> None:
    Path("folder").mkdir()
    Path("loop").symlink_to("loop")
    put("file", "")
    with pytest.raises(InputError) as caught:
        write_text(path, "x")
    assert str(caught.value) == problem


@pytest.mark.parametrize(
    ("code", "kind", "problem"),
    [
        (13, InputError, "out: may not be written (Permission denied); choose another folder"),
        (30, InputError, "out: may not be written (Read-only file system); choose another folder"),
        (5, StoreError, "out: cannot be written ([Errno 5] Input/output error); choose another path"),
    ],
)
def test_what_the_system_refuses(
    monkeypatch: pytest.MonkeyPatch, code: int, kind: type[Exception], problem: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(kind) as caught:
        write_text("out", "x")
    assert str(caught.value) == problem
    assert list(Path().iterdir()) == []


def test_a_reader_that_has_had_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """`mores … | head` must end quietly, which is for the command line to do."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        with pytest.raises(BrokenPipeError):
            write_text("-", "x" * 100_000)
        monkeypatch.undo()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"sample_id": "1"}', "judge: Field required"),
        (b'{"sample_id": "1", "judge": "j"}', "Value error, a judgement has either a score or a failure"),
        (b'{"sample_id": "1", "judge": "j", "score": 1, "x": 1}', "x: Extra inputs are not permitted"),
        (b'{"sample', "Invalid JSON: EOF while parsing a string at line 1 column 8"),
    ],
)
def test_a_record_that_is_none(line: bytes, problem: str) -> None:
    put("j.jsonl", b'{"sample_id": "1", "judge": "j", "score": 1}\n\n' + line)
    with pytest.raises(InputError) as caught:
        list(read_records("j.jsonl", Judgement))
    assert str(caught.value) == f"j.jsonl:3: {problem}; expected a Judgement as Mores writes it"


def test_a_record_that_is_not_utf8() -> None:
    put("j.jsonl", b'{"x": "\xff"}')
    with pytest.raises(InputError, match=r"j.jsonl:1: not valid UTF-8 \(byte 0xff at column 8\)"):
        list(read_records("j.jsonl", Record))


# Properties: whatever standard tools write comes back, whatever bytes there are give samples or InputErrors


def write_jsonl(path: Path, texts: list[str]) -> None:
    path.write_text("".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts), newline="")


def write_escaped_jsonl(path: Path, texts: list[str]) -> None:
    path.write_text("\r\n".join(json.dumps({"text": text}) for text in texts), newline="")


def write_csv(path: Path, texts: list[str]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["text"], *([text] for text in texts)])


def write_excel_tsv(path: Path, texts: list[str]) -> None:
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file, "excel-tab", quoting=csv.QUOTE_ALL).writerows([["text"], *([text] for text in texts)])


def write_parquet(path: Path, texts: list[str]) -> None:
    pq.write_table(pa.table({"text": pa.array(texts, pa.string())}), path)


@any_file
@given(texts=st.lists(ANY_TEXT, max_size=5))
@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("a.jsonl", write_jsonl),
        ("b.ndjson", write_escaped_jsonl),
        ("a.csv", write_csv),
        ("a.tsv", write_excel_tsv),
        ("a.parquet", write_parquet),
    ],
)
def test_any_text_comes_back(name: str, write: Callable[[Path, list[str]], None], texts: list[str]) -> None:
    write(Path(name), texts)
    assert [sample.text for sample in read_samples(name)] == texts


@any_file
@given(texts=st.lists(ANY_TEXT, max_size=5))
def test_any_sample_comes_back_from_our_own_writing(texts: list[str]) -> None:
    samples = [
        Sample(
            id=str(n), text=text, instruction=text, source=text, evidence=[Evidence(text=text, title=text)] * (n % 3)
        )
        for n, text in enumerate(texts)
    ]
    with JsonlWriter("a.jsonl") as writer:
        for sample in samples:
            writer.write(sample)
    assert list(read_samples("a.jsonl")) == list(read_records("a.jsonl", Sample)) == samples


PIECES = st.sampled_from(
    [
        b'{"text": "x"}',
        b'"',
        b",",
        b"\n",
        b"\r",
        b"\0",
        b"\xff",
        b"\xed\xa0\x80",
        b"text",
        b"\xef\xbb\xbf",
        b"\t",
        b"[",
        b"{",
    ]
)


@any_file
@given(content=st.one_of(st.binary(), st.lists(PIECES, max_size=12).map(b"".join)))
@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv", "text", "parquet"])
def test_any_bytes_give_samples_or_input_errors(format: str, content: bytes) -> None:  # noqa: A002
    for head in (b"", b"text\n"):
        put("any", head + content)
        errors: list[InputError] = []
        try:
            samples = list(read_samples("any", format=format, on_bad=errors.append))
        except InputError as error:
            errors.append(error)
        else:
            assert check_samples("any", format=format).count == len(samples)
            assert all(sample.text.strip() for sample in samples)
        assert all(re.match(r"any(:\d+)?: .+; .+", str(error), re.DOTALL) for error in errors)


@any_file
@given(share=st.floats(0, 1, exclude_max=True))
def test_a_cut_parquet_file_is_refused(share: float) -> None:
    write_parquet(Path("whole.parquet"), ["a", "b"])
    whole = Path("whole.parquet").read_bytes()
    put("cut.parquet", whole[: int(share * len(whole))])
    assert "not a Parquet file, or a damaged one" in message("cut.parquet")


@pytest.mark.parametrize(
    "value", ["!!int ''", "!!float ''", "!!bool x", "!!timestamp x", "!!python/object:os.system x"]
)
def test_a_value_that_is_not_of_its_tag_is_said(value: str) -> None:
    with pytest.raises(ValueError, match=r"a value is not of the type that its tag, such as|constructor for the tag"):
        load_yaml(f"a: {value}".encode(), "build")


def test_brackets_in_the_texts_of_a_yaml_file_are_no_depth() -> None:
    text = '- "' + "[" * 300 + '"\n- a {{{ b # [[[\n- ' + "[" * 150 + "]" * 150
    first, second, nested = load_yaml(text.encode(), "build")
    assert (first, second) == ("[" * 300, "a {{{ b")
    assert str(nested) == "[" * 150 + "]" * 150
    for deep in ("[" * 300 + "]" * 300, "[" * 50_000, "{a: " * 300):
        with pytest.raises(ValueError, match="nested too deep"):
            load_yaml(deep.encode(), "build")
