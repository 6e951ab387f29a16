"""The docs say what is true: help texts are current, links lead somewhere, examples run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_help_texts_are_current() -> None:
    # In a process of its own: click keeps the help option of a command as its first caller asked for it.
    done = subprocess.run([sys.executable, ROOT / "docs" / "generate.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_python_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MORES_CACHE", str(tmp_path))
    for example in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        code = re.sub(r'"(?:openai:[^"]+|embedded)"', '"fake:first-word"', example)
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
