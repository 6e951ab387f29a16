"""Links from a page to the runs that it is about: their files, and other pages that show them.

All are relative, so that they stay valid when the folders are moved together, and only to what exists.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from urllib.parse import quote

from mores.benchmark.folder import EVIDENCE, RESPONSES, RESULT, VERDICTS
from mores.report.base.blocks import RunLinks

PAGES = ("bench.html", "board.html", "diagnose.html")
FILES = ("longform/longform.html", RESULT, VERDICTS, RESPONSES, EVIDENCE)


def link_runs(page: Path, runs: Iterable[tuple[str, Path]]) -> list[RunLinks]:
    """Return the links of a page that will be written to `page`, for runs with these names in these folders."""
    read = cache(lambda path: path.read_text("utf-8", errors="replace"))

    def shows(other: Path, folder: Path) -> bool:
        """Return whether another page is about a run: then it links to its result."""
        if not other.is_file() or other.resolve() == page.resolve():
            return False
        return f'href="{_relative(other, folder / RESULT)}"' in read(other)

    links = []
    for name, folder in runs:
        # `mores bench` puts its page two folders above a run.
        places = dict.fromkeys((folder.resolve().parent.parent, page.resolve().parent))
        pages = [place / other for place in places for other in PAGES]
        files = [other for other in pages if shows(other, folder)]
        files += [folder / file for file in FILES if (folder / file).is_file()]
        links.append(RunLinks(name, str(folder), {file.name: _relative(page, file) for file in files}))
    return links


def _relative(page: Path, file: Path) -> str:
    path = os.path.relpath(file.resolve(), page.resolve().parent)
    return quote(Path(path).as_posix())
