"""What is kept beside a run: used while its file is the same, made again when it is not, and never trusted blindly."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from mores.io import kept as keeping
from mores.io.kept import kept


class Counting:
    """Counts the lines of a file, and how often it was asked to."""

    def __init__(self, source: Path) -> None:
        self.source, self.calls = source, 0

    def __call__(self) -> Any:
        self.calls += 1
        return {"lines": len(self.source.read_text().splitlines()), "half": 0.1 + 0.2}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "verdicts.jsonl"
    path.write_text("a\nb\n")
    return path


@pytest.fixture(params=["new file", "settled file"])
def count(source: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Counting:
    if request.param == "settled file":
        monkeypatch.setattr(keeping, "SETTLED", -1)
    return Counting(source)


def test_it_is_computed_once(source: Path, count: Counting) -> None:
    values = [kept(source, "lines-1", count) for _ in range(3)]
    assert values == [{"lines": 2, "half": 0.1 + 0.2}] * 3
    assert count.calls == 1


def test_a_settled_file_is_not_read_again(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = Counting(source)
    an_hour_ago = time.time_ns() - 3600 * 10**9
    os.utime(source, ns=(an_hour_ago, an_hour_ago))
    monkeypatch.setattr(keeping, "SETTLED", -1)  # its change time is now
    kept(source, "lines-1", count)
    monkeypatch.setattr(keeping, "file_digest", None)
    assert kept(source, "lines-1", count)["lines"] == 2
    assert count.calls == 1


def test_other_content_of_the_same_size_and_time_is_computed_again(source: Path, count: Counting) -> None:
    kept(source, "lines-1", count)
    about = source.stat()
    time.sleep(0.02)  # the file system's clock
    source.write_text("abc\n")
    os.utime(source, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert kept(source, "lines-1", count)["lines"] == 1


def test_another_name_is_computed_again(source: Path, count: Counting) -> None:
    kept(source, "lines-1", count)
    kept(source, "lines-2", count)
    assert count.calls == 2


def test_a_copied_folder_brings_it_along(source: Path, count: Counting, tmp_path: Path) -> None:
    kept(source, "lines-1", count)
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in (source, tmp_path / ".verdicts.figures"):
        (copy / file.name).write_bytes(file.read_bytes())
    assert kept(copy / source.name, "lines-1", count)["lines"] == 2
    assert count.calls == 1


def test_every_damage_is_noticed(source: Path, count: Counting, tmp_path: Path) -> None:
    value, beside = kept(source, "lines-1", count), tmp_path / ".verdicts.figures"
    whole = beside.read_bytes()
    for place in range(len(whole)):
        for damaged in (whole[:place], whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]):
            beside.write_bytes(damaged)
            assert kept(source, "lines-1", count) == value
    beside.unlink()
    beside.symlink_to(tmp_path / "elsewhere")
    assert kept(source, "lines-1", count) == value
    assert not (tmp_path / "elsewhere").exists()


def test_where_nothing_can_be_written_it_is_computed_each_time(
    source: Path, count: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> Path:
        raise PermissionError(13, "not allowed", str(path))

    monkeypatch.setattr(keeping, "make_part", refuse)
    for _ in range(2):
        assert kept(source, "lines-1", count)["lines"] == 2
    assert count.calls == 2
    assert [path.name for path in source.parent.iterdir()] == [source.name]


def test_half_an_emoji_is_no_reason_to_fail(source: Path) -> None:
    assert kept(source, "text-1", lambda: "\ud83d") == "\ud83d"
