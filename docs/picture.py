"""Takes pictures of pages with the browser of the tests.

    python -m docs.picture PAGE.html#PLACE PICTURE.png     # of one page
    python -m docs.picture DATA RUNS                       # of all results in docs/gallery.md that are not made up

The second runs the commands of `REAL` in the folder `DATA`, which has the data that people have published, and writes
what they make into the folder `RUNS`, the pictures, and the command and signature of each into docs/gallery.md.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.browser import Browser

WIDTH, HEIGHT = 1000, 720
DOCS = Path(__file__).parent
REAL = {
    "bench": "mores bench culturalbench-easy --by-logprob --shuffle-options 1 --limit 200 --data .",
    "diagnose": "mores diagnose calibration RUNS/bench --from likelihood",
    "longform": "mores longform calmqa --lid paper --missing-as-issue",
    "people": (
        "mores meta --data ratings:calmqa_ratings/human_ratings.csv"
        " --metric calmqa_ratings/gpt4o_overall.csv:overall_gpt4o --alias language.fi=fj"
    ),
    "card": "mores build excam40k --data . --cap 200",
    "rate": "mores rate calmqa_ratings/human_ratings.csv --alias language.fi=fj",
}
"""The command of each picture in docs/pictures that shows people, models and data that exist."""


def take(page: str, picture: Path) -> None:
    """Write what a window shows of the page, from its place on, as a PNG."""
    file, _, place = page.partition("#")
    with Browser() as browser:
        tab = browser.page(width=WIDTH, height=HEIGHT)
        tab.open(f"{Path(file).resolve().as_uri()}#{place}")
        picture.write_bytes(tab.screenshot())


def take_real(name: str, data: Path, runs: Path) -> None:
    """Run the command of a picture, take the picture, and say in the gallery what it shows."""
    from mores.run.folder import find_runs

    folder, page = runs / name, runs / f"{name}.html"
    option = [] if name == "card" else ["--html", str(page)]
    words = REAL[name].replace("RUNS", str(runs)).split()
    command = [sys.executable, "-m", *words, "--out", str(folder), *option]
    subprocess.run(command, cwd=data, check=True)
    if name == "card":
        page = folder / "card.html"
    take(str(page), DOCS / "pictures" / f"{name}.png")
    [run] = find_runs(folder)
    write_caption(name, str(run.signature))


def write_caption(name: str, signature: str) -> None:
    """Write the command and the signature below a picture of the gallery."""
    gallery = DOCS / "gallery.md"
    caption = f"`{REAL[name]}`  \n<sub>{signature}</sub>"
    pattern = rf"(\(pictures/{name}\.png\)\n\n)`mores .*`  \n<sub>.*</sub>"
    text, count = re.subn(pattern, lambda found: found[1] + caption, gallery.read_text("utf-8"))
    assert count == 1, f"{gallery}: no caption below pictures/{name}.png"
    gallery.write_text(text, "utf-8")


if __name__ == "__main__":
    if sys.argv[2].endswith(".png"):
        take(sys.argv[1], Path(sys.argv[2]))
    else:
        for picture in REAL:
            take_real(picture, Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
