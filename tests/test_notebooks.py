"""The notebooks of the docs run, and show what their code gives."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from docs.notebook import FOLDER, fingerprint, read, run
from mores.models.pull import default_path

NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_its_outputs_are_those_of_its_code(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pandas")
    monkeypatch.setenv("MORES_CACHE", str(tmp_path))
    notebook = read(path)
    assert notebook["metadata"]["mores"] == fingerprint(notebook), "run `python -m docs.notebook`"
    for kept, cell in zip(notebook["cells"], run(notebook, stand_in="fake:first-word")["cells"], strict=True):
        kinds = [[output["output_type"] for output in each.get("outputs", ())] for each in (kept, cell)]
        assert set(kinds[1]) <= set(kinds[0]), "run `python -m docs.notebook`"  # the stand-in finds less to print


@pytest.mark.slow
@pytest.mark.skipif(not default_path().exists(), reason="the embedded model is not here; `mores pull` gets it")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_embedded_model_gives_what_a_notebook_shows(path: Path) -> None:
    pytest.importorskip("pandas")
    notebook = read(path)
    # Processors round a probability differently; which texts are wrong, and why, is the same.
    again, shown = (re.sub(r"<td>0\.\d+</td>", "<td>p</td>", json.dumps(one)) for one in (run(notebook), notebook))
    assert again == shown, "run `python -m docs.notebook`"


def test_notebooks_are_small() -> None:
    assert len(NOTEBOOKS) == 2
    assert all(path.stat().st_size < 20_000 for path in NOTEBOOKS)
