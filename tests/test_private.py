"""What Mores makes is its user's alone, a link beside an output leads nowhere, and the default model is checked."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from mores.engine import Store
from mores.errors import InputError, ModelError
from mores.io import JsonlWriter, write_text
from mores.io.private import make_folder
from mores.models import pull
from mores.search.cached import Cached
from mores.search.fake import fake
from mores.types import Sample

pytestmark = pytest.mark.skipif(os.name == "nt", reason="permissions as POSIX has them")


@pytest.fixture(autouse=True)
def _usual_mask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> str:
    return oct(path.stat().st_mode & 0o777)


def test_new_files_and_folders_are_private(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "one"
    make_folder(folder)
    write_text(folder / "page.html", "<p>")
    with JsonlWriter(folder / "samples.jsonl") as writer:
        writer.write(Sample(id="1", text="tea"))
    Store(folder / "cache" / "responses.db").close()
    asyncio.run(Cached(fake("none"), folder / "cache" / "searches.db").close())
    everything = {path: mode(path) for path in (folder.parent, *folder.parent.rglob("*"))}
    assert {permissions for path, permissions in everything.items() if path.is_dir()} == {"0o700"}
    assert {permissions for path, permissions in everything.items() if path.is_file()} == {"0o600"}
    assert len(everything) >= 7


def test_what_is_there_keeps_its_permissions(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    target.write_text("old")
    target.chmod(0o640)
    write_text(target, "new")
    assert (target.read_text(), mode(target)) == ("new", "0o640")


def test_a_part_that_a_killed_run_left_becomes_private(tmp_path: Path) -> None:
    left = tmp_path / ".page.html.part"
    left.write_text("half")
    left.chmod(0o644)
    write_text(tmp_path / "page.html", "whole")
    assert ((tmp_path / "page.html").read_text(), mode(tmp_path / "page.html")) == ("whole", "0o600")


def test_a_linked_part_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / ".page.html.part").symlink_to(victim)
    with pytest.raises(InputError, match=r"page\.html: \.page\.html\.part beside it is a link"):
        write_text(tmp_path / "page.html", "<p>")
    assert victim.read_text() == "precious"


def test_a_linked_part_of_a_model_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))
    model, victim = tmp_path / "own.gguf", tmp_path / "victim"
    model.write_bytes(b"GGUF" + bytes(60))
    victim.write_text("precious")
    (tmp_path / "cache" / "models").mkdir(parents=True)
    (tmp_path / "cache" / "models" / "own.part").symlink_to(victim)
    assert pull.pull(str(model)).read_bytes() == model.read_bytes()
    assert victim.read_text() == "precious"


def test_the_default_model_is_checked_once_per_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MORES_CACHE", str(tmp_path))
    known = replace(pull.FILES["embedded"], sha256=sha256(b"model").hexdigest())
    monkeypatch.setitem(pull.FILES, "embedded", known)
    path = pull.default_path()
    path.parent.mkdir()
    path.write_bytes(b"model")
    assert pull.resolve("") == path
    with monkeypatch.context() as patch:
        patch.setattr(pull, "sha256", lambda path: pytest.fail(f"{path} is read again"))
        assert pull.resolve("") == path
    path.write_bytes(b"other")  # of the same size
    os.utime(path, ns=(1, 1))
    with pytest.raises(ModelError, match=r"gguf: sha256 is .* expected .*; run `mores pull` again"):
        pull.resolve("")
