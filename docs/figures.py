"""Draws the pictures of docs/figures.md and writes that page; a test checks it.

python -m docs.figures         # those of made-up results, which tests make: `make gallery`
python -m docs.figures RUNS    # those of real runs too, which `python -m docs.picture DATA RUNS` has made
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from docs.picture import REAL
from mores.io import to_csv
from mores.report.base import drawing
from mores.report.base.blocks import walk
from mores.report.base.charts import Amounts, Chart, GroupedBars, Intervals, Stacks
from mores.report.base.document import ResultDocument
from mores.report.base.grid import Grid, Heat
from mores.report.base.plots import Curves, ScoreHistogram
from mores.report.base.shapes import Radar, Ranks, World
from mores.report.runs import describe
from mores.report.settings import FigureSettings
from mores.run.folder import find_runs

PAGE = Path(__file__).with_name("figures.md")
FOLDER = Path(__file__).parent / "pictures" / "figures"
COLUMN = FigureSettings(figure_width=3.3, font_size=7)
"""A column of a paper."""


@dataclass(frozen=True)
class Shown:
    """A figure of the gallery."""

    document: str
    """The kind of result that has it."""
    chart: type[Chart | Grid]
    title: str
    """How the chart's title begins."""
    command: str
    text: str
    """What it shows, for those who do not see it too."""

    @property
    def real(self) -> bool:
        """Whether it is of a real run, that of docs/picture.py with the name of the document."""
        return self.command == REAL.get(self.document)

    @property
    def is_made_up(self) -> bool:
        """Whether the command draws something else."""
        return not self.real and self.command != PLAN

    @property
    def name(self) -> str:
        """The name of its file."""
        return re.sub(r"[^a-z0-9]+", "-", f"{self.document} {self.chart.__name__} {self.title}".lower()).strip("-")


BENCH, META = "mores bench culturalbench-hard --model openai:gpt-4.1", "mores meta --data excam40k"
PLAN = "mores plan accuracy --items 200,400,800 --simulations 200"
"""Simulates by itself, so that its figure is what the command draws, though a test makes it."""
GALLERY = (
    Shown("bench", Intervals, "By language", BENCH, "Accuracy by language, beside what guessing reaches"),
    Shown("bench", Radar, "By language", BENCH, "The profile of a model over languages"),
    Shown("bench", World, "model-a", BENCH, "Accuracy by country, on a map of squares"),
    Shown("board", Ranks, "Rank", "mores board bench", "Ranks of models on two benchmarks"),
    Shown("board", GroupedBars, "By tier", "mores board bench", "Accuracy on easy, medium and hard questions"),
    Shown("score", Intervals, "Texts with errors, by region", "mores score texts.jsonl", "Texts with errors by region"),
    Shown("compare", Intervals, "All samples", "mores compare runs/a runs/b", "Differences of two judges"),
    Shown("rate", Stacks, "Ratings by model and type", REAL["rate"], "How ratings are distributed"),
    Shown("rate", Intervals, "Models: differences", REAL["rate"], "Differences of models in ratings"),
    Shown("rate", Heat, "Wins of the row", REAL["rate"], "How often people prefer one model to another"),
    Shown("meta", Intervals, "Scaled accuracy with", META, "Judges beside baselines"),
    Shown("meta", Heat, "Scaled accuracy by source", META, "Judges by source of the samples"),
    Shown("meta", Curves, "ROC", META, "How well scores tell wrong texts from correct ones"),
    Shown("meta", ScoreHistogram, "ExCAM-r (Gemma3-27B)", META, "Scores of correct texts and of two kinds of errors"),
    Shown("people", Intervals, "Pearson", REAL["people"], "How well judges agree with people"),
    Shown("juice", Intervals, "F1", "mores meta --data juice:final_data.json", "Judges beside people who mark errors"),
    Shown("diagnose", Curves, "Reliability: likelihood", REAL["diagnose"], "Confidence beside accuracy"),
    Shown("diagnose", Curves, "Correct answers over n", "mores diagnose stability", "Several answers to each question"),
    Shown("diagnose", Intervals, "Rank of each", "mores diagnose locality", "Ranks on two benchmarks, with intervals"),
    Shown("diagnose", Stacks, "Why questions", "mores diagnose retrieval", "What goes wrong with evidence"),
    Shown("longform", GroupedBars, "Answers without surface issues", REAL["longform"], "Long answers by resources"),
    Shown("collect", Heat, "Questions by topic", "mores collect questions.jsonl", "Questions by topic and language"),
    Shown("audit", Intervals, "Excess by kind", "mores audit injection", "Which hidden words change verdicts"),
    Shown("judge-check", Intervals, "Graded correctly", "mores judge-check msqa", "What a judge grades correctly"),
    Shown("plan", Curves, "Power", PLAN, "How many questions show a difference"),
    Shown("topics", Amounts, "Questions", "mores topics msqa", "Questions by topic"),
    Shown("tiers", Amounts, "Questions", "mores tiers bench", "Questions by how hard they are"),
    Shown("train", Intervals, "Scaled accuracy", "mores train", "A tuned metric on each source"),
    Shown("card", Amounts, "", REAL["card"], "Samples of a dataset"),
)


def find(figure: Shown, document: ResultDocument) -> Any:
    """Return the chart of a figure; ValueError where the document has none of this kind and title."""
    for block in walk((*document.opening, *document.sections)):
        if isinstance(block, figure.chart) and getattr(block, "title", "").lower().startswith(figure.title.lower()):
            return block
    raise ValueError(f"docs/figures.py: {figure.document} has no {figure.chart.__name__} {figure.title!r}")


def words_of(block: Chart | Grid) -> str:
    """Return the data of a chart."""
    return block.csv() if isinstance(block, Grid) else to_csv(block.data())


def stamp(block: Chart | Grid) -> str:
    """Return a sum of what a picture is drawn from: its data, and the code that draws it. Numbers count to the sixth
    decimal: the last digits are those of the processor."""
    code = Path(drawing.__file__).read_bytes()
    words = re.sub(r"-?\d+\.\d+(e[+-]?\d+)?", lambda number: f"{round(float(number[0]), 6) + 0.0}", words_of(block))
    return sha256(code + words.encode()).hexdigest()[:16]


def picture(figure: Shown) -> Path:
    """Return the place of a picture."""
    return FOLDER / f"{figure.name}.png"


def is_current(figure: Shown, document: ResultDocument) -> bool:
    """Return whether a picture is of these data and of this code."""
    path = picture(figure)
    return path.exists() and stamp(find(figure, document)).encode() in path.read_bytes()


def write_picture(figure: Shown, block: Chart | Grid) -> None:
    """Draw a chart in the width of a column, with few colours and the stamp."""
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    path, about = picture(figure), PngInfo()
    about.add_text("Source", stamp(block))
    drawing.draw(block, path.with_suffix(""), COLUMN, words_of(block), ["png"])
    with Image.open(path) as image:
        image.convert("RGB").quantize(48, dither=Image.Dither.NONE).save(path, optimize=True, pnginfo=about)


def page(table: str) -> str:
    """Return the page: every figure with its command, and a table as LaTeX has it."""
    parts = [INTRO]
    for figure in GALLERY:
        command = f"`{figure.command} … --figures figures`" + (" (made up)" if figure.is_made_up else "")
        parts.append(f"### {figure.text}\n\n![{figure.text}](pictures/figures/{figure.name}.png)\n\n{command}")
    parts.append(f"{TABLES}\n\n```latex\n{table}```")
    return "\n\n".join(parts) + "\n"


INTRO = """# Figures and tables for a paper

Every command with a result that can be drawn has `--figures DIR`: it writes the charts of its page as SVG and PDF, and
its tables as LaTeX and CSV. `mores show RUN --figures DIR` does it later. The pictures below show every kind of chart,
where it says so of made-up results (`make gallery`), else of the runs in [the gallery](gallery.md), which has their
signatures. [Small models](small-models.md) has a board.

- **Width.** `--figure-width 3.3 --font-size 7` makes figures 3.3 inches wide, with letters of 7 points: include them
  without scaling. Heatmaps and square charts may be narrower; a heatmap with many columns has smaller letters, down to
  5 points, and names in more lines, before it is wider.
- **Names and order.** `--names names.toml` gives models, languages and groups the names of your paper, in charts and
  tables; `--figure-order value` or `name` sorts the rows of charts.
- **Fonts.** PDF files embed DejaVu Sans as TrueType and, for letters that it lacks, fonts of your machine (on Debian
  `fonts-noto-core` and `fonts-noto-cjk`); in SVG, words stay words.
- **Few samples.** A value of fewer than 20 samples is hollow, hatched or without colour, and the figure says so.
- **Colours** differ for people who are colour-blind; beyond eight lines, dashes differ too.

The pictures below are of that width.

## Figures"""

TABLES = r"""## Tables

A table is a float with its caption, its label (`tab:` and the name of the file) and its notes below the rules. It needs
the packages `booktabs` and `graphicx`: a table that is wider than its column is scaled down, and a wide one is a
`table*`, which spans both columns.

```latex
\usepackage{booktabs,graphicx}
% …
\input{figures/by-source-scaled-accuracy-by-source}
Table~\ref{tab:by-source-scaled-accuracy-by-source} shows …
```

All signs are escaped. Letters with marks are commands (`\'{e}`), so that pdfLaTeX has them in any encoding; a few
others, such as đ and ą, need `\usepackage[T1]{fontenc}`. Names in other scripts need LuaLaTeX or XeLaTeX and a font
that has them: the first line of the file says so. A heading says when an interval beside an adjusted p is not adjusted.
LaTeX cuts a table that is longer than a page: remove rows. These two packages of Debian (45 MB) compile all of them:
`apt-get install --no-install-recommends texlive-latex-base texlive-latex-recommended`.

The table of `mores compare`:"""


def describe_real(name: str, runs: Path) -> ResultDocument:
    """Return the document of a real run that docs/picture.py has made."""
    [run] = find_runs(runs / name)
    return describe(run)


def table_of(compared: ResultDocument) -> str:
    """Return the table that the page shows."""
    grid = next(table for table in compared.printed if isinstance(table, Grid))
    return grid.latex("by-source-scaled-accuracy-by-source")


if __name__ == "__main__":
    from tests.report.test_every_kind import DOCUMENTS

    made = {kind: make() for kind, make in DOCUMENTS.items()}
    to_draw = [(figure, made[figure.document]) for figure in GALLERY if not figure.real]
    if len(sys.argv) > 1:
        to_draw += [(each, describe_real(each.document, Path(sys.argv[1]))) for each in GALLERY if each.real]
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob("*.png"):
        if old not in map(picture, GALLERY):
            old.unlink()
    for each, document in to_draw:
        if not is_current(each, document):
            write_picture(each, find(each, document))
    PAGE.write_text(page(table_of(made["compare"])), encoding="utf-8")
