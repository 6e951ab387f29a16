"""Disks that are full or cannot be written: an error that says so, and with room the run goes on to the same result."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mores.run import Status, read_manifest
from tests.cli.conftest import Run
from tests.cli.test_score import put

ROWS = [{"id": f"s{i}", "text": f"text {i} " + "long " * 150} for i in range(400)]

Mount = Callable[[str], None]


@pytest.fixture
def disk(home: Path) -> Iterator[tuple[Path, Mount]]:
    """A small file system, and how it is mounted again with other options."""
    path = home / "disk"
    path.mkdir()

    def mount(options: str) -> None:
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", path], check=True, capture_output=True)

    try:
        mount("size=400k")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only root may mount a file system here")
    try:
        yield path, lambda options: mount(f"remount,{options}")
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)


def judged(folder: Path) -> list[dict[str, object]]:
    lines = (folder / "judgements.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.often("full-the store", "full-the results", "read-only-the results")
@pytest.mark.parametrize("on_disk", ["the store", "the results", "the page"])
@pytest.mark.parametrize("trouble", ["full", "read-only"])
def test_the_run_says_so_and_goes_on_with_room(
    mores: Run, home: Path, disk: tuple[Path, Mount], on_disk: str, trouble: str
) -> None:
    small, remount = disk
    put("t.jsonl", ROWS)
    assert mores("score", "t.jsonl", "--model", "fake:first-word", "--out", "whole").returncode == 0
    (home / "cache").rename(home / "known")
    place = {"MORES_CACHE": str(small if on_disk == "the store" else home / "new")}
    out = small / "out" if on_disk == "the results" else home / "out"
    page = ["--html", str(small / "page.html")] if on_disk == "the page" else []
    command = ["score", "t.jsonl", "--model", "fake:first-word", "--out", str(out), *page]
    remount("size=40k" if trouble == "full" and on_disk != "the store" else "ro" if trouble != "full" else "size=200k")
    done = mores(*command, **place)
    assert done.returncode in (1, 2)
    message = done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert str(small) in message, done.stderr
    assert trouble in message.casefold().replace("readonly", "read-only"), message
    if on_disk == "the store":
        assert not (out / "judgements.jsonl").exists()
        assert not out.exists() or read_manifest(out).status is Status.FAILED
    remount("rw,size=20m")
    done = mores(*command, **place)
    assert done.returncode == 0, done.stderr
    assert judged(out) == judged(home / "whole")
    assert [path.name for path in out.iterdir() if path.name.endswith(".part")] == []
