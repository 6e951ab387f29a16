"""Takes a picture of a page with the browser of the tests: `python -m docs.picture PAGE.html#PLACE PICTURE.png`."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.browser import Browser

WIDTH, HEIGHT = 1000, 720


def take(page: str, picture: Path) -> None:
    """Write what a window shows of the page, from its place on, as a PNG."""
    file, _, place = page.partition("#")
    with Browser() as browser:
        tab = browser.page(width=WIDTH, height=HEIGHT)
        tab.open(f"{Path(file).resolve().as_uri()}#{place}")
        picture.write_bytes(tab.screenshot())


if __name__ == "__main__":
    take(sys.argv[1], Path(sys.argv[2]))
