"""Takes a picture of a page with headless Chromium: `python docs/picture.py PAGE.html PICTURE.png`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

WIDTH, HEIGHT = 1000, 720


def take(page: Path, picture: Path) -> None:
    """Write the top of the page as a PNG."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        sys.exit("Chromium is not installed")
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"]
        command += ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"]
        command += [f"--user-data-dir={profile}", f"--window-size={WIDTH},{HEIGHT}"]
        command += [f"--screenshot={picture.resolve()}"]
        subprocess.run([*command, page.resolve().as_uri()], check=True, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(sys.argv[2]))
