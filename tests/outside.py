"""What the docs tell users to write: the files of docs/benchmarks.md and docs/extending.md, put into a folder."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
GUIDE = DOCS / "extending.md"
_FILE = re.compile(r"\n`([\w./]+)`:\n\n```\w+\n(.*?)```\n", re.DOTALL)
FILES = dict(_FILE.findall((DOCS / "benchmarks.md").read_text("utf-8") + GUIDE.read_text("utf-8")))
"""The text of each file of the guides, by its path."""


def write_folder(place: Path, name: str) -> Path:
    """Puts a benchmark of the guide into a folder, with its sample rows as data too."""
    for path, text in FILES.items():
        if path.startswith(f"{name}/"):
            for file in {place / path, place / path.replace("/sample/", "/data/")}:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, "utf-8")
    return place / name
