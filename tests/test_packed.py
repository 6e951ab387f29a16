"""A small file that unpacks to far more than it should is an error that names it, and not the end of the memory."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mores.errors import InputError
from mores.factory.sources.files import read
from mores.io import read_samples
from mores.io import source as packed

SPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
LINES = b'{"text": "tea"}\n' * 200_000


@pytest.fixture
def _little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "LEAST", 2**20)


def pack_gz(path: Path) -> None:
    path.write_bytes(gzip.compress(LINES))


def pack_zip(path: Path) -> None:
    """Two members, each small enough alone."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("a.jsonl", "b.jsonl"):
            archive.writestr(name, LINES[: 700 * 1024])


def pack_tar(path: Path) -> None:
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo("a.jsonl")
        member.size = len(LINES)
        archive.addfile(member, io.BytesIO(LINES))


def pack_sheet(path: Path, rows: str, shared: str = "", start: str = "") -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/worksheets/sheet1.xml", f'{start}<worksheet xmlns="{SPACE}">{rows}</worksheet>')
        book.writestr("xl/sharedStrings.xml", f'<sst xmlns="{SPACE}"><si><t>{shared}</t></si></sst>')


def long_sheet(path: Path) -> None:
    pack_sheet(path, "<row><c><v>1</v></c></row>" * 100_000)


def shared_text(path: Path) -> None:
    """A long text that every cell refers to."""
    pack_sheet(path, '<row><c t="s"><v>0</v></c></row>' * 1000, "a" * 100_000)


BOMBS: dict[str, tuple[str, Callable[[Path], None], Callable[[Path], Iterable[object]]]] = {
    "gz": ("a.jsonl.gz", pack_gz, read),
    "zip": ("a.zip", pack_zip, read),
    "tar": ("a.tar.gz", pack_tar, read),
    "long sheet": ("a.xlsx", long_sheet, read),
    "shared text": ("a.xlsx", shared_text, read),
}


@pytest.mark.often("gz", "tar", "shared text")
@pytest.mark.usefixtures("_little_room")
@pytest.mark.parametrize("bomb", BOMBS)
def test_what_unpacks_to_too_much(bomb: str, tmp_path: Path) -> None:
    name, pack, unpack = BOMBS[bomb]
    pack(tmp_path / name)
    limit = max(2**20, packed.RATIO * (tmp_path / name).stat().st_size)
    with pytest.raises(InputError, match=rf"{name}: unpacks to more than {limit // 10**6} MB; check it"):
        list(unpack(tmp_path / name))


@pytest.mark.parametrize("reader", [read, read_samples], ids=["source", "texts"])
def test_three_gigabytes_in_a_small_parquet_file(reader: Callable[[Path], Iterable[object]], tmp_path: Path) -> None:
    """3,000 rows with the same megabyte: read row by row, and refused where the room ends."""
    path = tmp_path / "a.parquet"
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 3000, pa.int32()), pa.array(["a" * 10**6]))
    pq.write_table(pa.table({"text": text}), path, store_schema=False, compression="zstd")
    assert path.stat().st_size < 100_000
    before = pa.default_memory_pool().max_memory()
    with pytest.raises(InputError, match=r"a\.parquet: unpacks to more than 268 MB"):
        deque(reader(path), maxlen=0)
    assert pa.default_memory_pool().max_memory() < max(before, 10**8)


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    entities = '<!DOCTYPE w [<!ENTITY a "tea">]>'
    pack_sheet(path, '<row><c t="str"><v>&a;</v></c></row>', start=entities)
    with pytest.raises(InputError, match="not a spreadsheet"):
        list(read(path))


def test_a_shared_text_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    pack_sheet(path, '<row><c t="s"><v>7</v></c></row>')
    with pytest.raises(InputError, match="not a spreadsheet"):
        list(read(path))


def test_nested_strings_of_a_parquet_file(tmp_path: Path) -> None:
    rows = [{"text": "tea", "also": ["chai", "çay"], "place": {"name": "Rize"}, "count": 3}, {"text": None}]
    path = tmp_path / "a.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    first, second = (row.values for row in read(path) if not isinstance(row, InputError))
    assert first == rows[0]
    assert second == {"text": None, "also": None, "place": None, "count": None}
