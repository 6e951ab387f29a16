"""One contract for every kind of run: it is described once, and every renderer shows that."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from html import unescape
from pathlib import Path

import pytest
from rich.cells import cell_len

import mores
from docs.figures import FOLDER, GALLERY, PAGE, is_current, table_of
from docs.figures import page as gallery_page
from mores.benchmark.labels import Tiers
from mores.report.base import figures
from mores.report.base.blocks import walk
from mores.report.base.charts import Chart
from mores.report.base.document import ResultDocument
from mores.report.base.drawing import DRAWN
from mores.report.base.grid import Grid, make_grid, tables_html
from mores.report.base.page import render_page
from mores.report.bench import describe_board, describe_runs
from mores.report.card import describe_card
from mores.report.collect import describe_collection
from mores.report.diagnose import describe_diagnoses
from mores.report.longform import describe_summaries
from mores.report.meta import describe_meta, describe_versus
from mores.report.plan import describe as describe_plan
from mores.report.runs import describe
from mores.report.score import describe_judgements
from mores.report.topics import describe_tiers
from mores.report.train import describe_training
from mores.run import KINDS
from tests.cli.test_tables import printed
from tests.metaevaluation import test_compare
from tests.report import (
    diagnose_samples,
    judging_samples,
    test_bench_page,
    test_card_page,
    test_collect_page,
    test_longform_page,
    test_rate_page,
    test_train_page,
)
from tests.report.markup import read_markup
from tests.report.meta_samples import made_up
from tests.report.samples import PAIRS

DOCUMENTS: dict[str, Callable[[], ResultDocument]] = {
    "bench": lambda: describe_runs([test_bench_page.run(40)]),
    "board": lambda: describe_board(*test_bench_page.ranked(*test_bench_page.several())),
    "judge-check": lambda: judging_samples.judge_check(describe),
    "topics": lambda: judging_samples.topics(describe),
    "diagnose": lambda: describe_diagnoses(diagnose_samples.everything()),
    "score": lambda: describe_judgements(PAIRS, "Made-up texts"),
    "audit": lambda: judging_samples.audited(describe),
    "meta": lambda: describe_meta(made_up()),
    "juice": lambda: judging_samples.juice(describe),
    "people": lambda: judging_samples.people(describe),
    "longform": lambda: describe_summaries(*test_longform_page.described(test_longform_page.pairs(30))),
    "build": lambda: describe_card(test_card_page.about(missing=["mango"]), "12 samples"),
    "collect": lambda: describe_collection(*test_collect_page.described(test_collect_page.questions(40))),
    "train": lambda: describe_training({"all": test_train_page.trained()}),
    "rate": lambda: test_rate_page.shown(describe),
    "compare": lambda: describe_versus(test_compare.two_judges()),
    "plan": lambda: describe_plan(mores.plan("accuracy", items=[200, 400, 800], simulations=200)),
    "tiers": lambda: describe_tiers(Tiers(counts={"Easy": 40, "Medium": 12, "Hard": 30}, without=3, answers=4)),
}


@cache
def document_of(kind: str) -> ResultDocument:
    return DOCUMENTS[kind]()


def tables_of(document: ResultDocument) -> list[Grid]:
    tables = [block for block in walk((*document.opening, *document.sections)) if isinstance(block, Grid)]
    return [*tables, *(table for table in document.printed if isinstance(table, Grid)), *document.tables.values()]


def test_every_kind_of_run_is_here() -> None:
    assert set(DOCUMENTS) == {*KINDS, "board", "compare", "plan", "tiers"}


@pytest.mark.often(
    "bench",
    "judge-check",
    "topics",
    "score",
    "audit",
    "people",
    "build",
    "collect",
    "train",
    "compare",
    "plan",
    "tiers",
)
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_a_document_is_shown_by_every_renderer(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = document_of(kind)
    tables = tables_of(document)
    assert tables
    assert re.search(r"\w", "".join(part for part in document.printed if isinstance(part, str))), "no headline"
    for table in tables:
        assert all(cell_len(line) <= 80 for line in printed(table, 80).splitlines())
        lines = list(csv.reader(table.csv().splitlines()))
        assert len(lines) == 1 + len(table.rows)
        assert len({len(line) for line in lines}) == 1
        assert table.latex().count(r"\end{tabular}") == 1
        assert len(read_markup(table.html()).all("tr")) > len(table.rows)
        assert "| --- |" in table.markdown()
    check_page(render_page(document), document.script)
    assert tables_html(document.printed).startswith("<")
    pytest.importorskip("matplotlib")
    # test_figures draws them
    monkeypatch.setattr(figures, "draw", lambda _block, path, *_: [path.with_suffix(".svg")])
    charts = [block for block in walk((*document.opening, *document.sections)) if isinstance(block, Chart)]
    written = figures.write_figures(document, tmp_path)
    assert len({path for path in written if path.suffix == ".csv"}) >= len(charts)
    assert any(path.suffix == ".tex" for path in written)

    shown = [figure for figure in GALLERY if figure.document == kind and not figure.real]
    assert [figure.text for figure in shown if not is_current(figure, document)] == [], "run `make gallery`"


def test_the_gallery_shows_every_kind_of_figure_and_every_command() -> None:
    assert {figure.chart for figure in GALLERY} == set(DRAWN)
    commands = {page.stem for page in (PAGE.parent / "commands").glob("*.md") if "--figures DIR" in page.read_text()}
    assert {figure.command.split()[1] for figure in GALLERY} == commands - {"show"}
    assert PAGE.read_text("utf-8") == gallery_page(table_of(document_of("compare"))), "run `make gallery`"
    pictures = list(FOLDER.glob("*.png"))
    assert {path.stem for path in pictures} == {figure.name for figure in GALLERY}
    assert sum(path.stat().st_size for path in pictures) < 1_000_000


PDFLATEX = pytest.mark.skipif(
    shutil.which("pdflatex") is None,
    reason="no pdfLaTeX: apt-get install --no-install-recommends texlive-latex-base texlive-latex-recommended",
)
HOSTILE = '50% of <x_1> & ~y #2 {z} $a$ ^b \\ `q` "r" --s [t]* é ọ̀ ế ǐ ž Łódź α²≥½… “u” ’ − × 3–4'


def compile_tables(tables: Sequence[str], folder: Path, engine: str = "pdflatex", preamble: str = "") -> str:
    """The log of a paper that shows these tables."""
    head = rf"\documentclass{{article}}\usepackage{{booktabs,graphicx}}{preamble}\begin{{document}}"
    (folder / "paper.tex").write_text("\n\\clearpage\n".join([head, *tables, r"\end{document}"]), "utf-8")
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    return (folder / "paper.log").read_text("utf-8", "replace")


@PDFLATEX
def test_every_table_compiles(tmp_path: Path) -> None:
    """In one paper, because LaTeX takes longer to start than for most of them."""
    tables = [
        table.latex(f"{kind}-{place}") for kind in DOCUMENTS for place, table in enumerate(tables_of(document_of(kind)))
    ]
    log = compile_tables([table for table in tables if not table.startswith("%")], tmp_path)
    assert "multiply defined" not in log


@PDFLATEX
def test_a_table_of_hostile_words_compiles(tmp_path: Path) -> None:
    rows = [(HOSTILE, ("0.3*", "[0.1, 0.5]")), (f"[{HOSTILE}", "*"), ("*", HOSTILE * 3)]
    table = Grid(("a", HOSTILE), [(HOSTILE, rows), ("[second]", rows)], HOSTILE, [HOSTILE * 5, "n = 40"])
    text = table.latex("hostile")
    assert "n = 40." in text
    assert "Overfull" not in compile_tables([text], tmp_path).replace("Overfull \\vbox", "")


@pytest.mark.skipif(shutil.which("xelatex") is None, reason="no XeLaTeX: apt-get install texlive-xetex")
def test_names_in_other_scripts_are_for_other_engines(tmp_path: Path) -> None:
    text = make_grid("Weddings", ("country", "n"), [("日本", 3), ("العربية", 4)]).latex("scripts")
    assert text.startswith("% pdfLaTeX has no font for ")
    compile_tables([text], tmp_path, "xelatex")


def check_page(html: str, has_script: bool) -> None:
    """Only our style and our script may run, nothing is loaded, and every link leads somewhere."""
    page = read_markup(html)
    assert page.words
    assert not any(page.all(tag) for tag in ("link", "img", "iframe"))
    policy = unescape(re.findall(r'Content-Security-Policy" content="(.*?)"', html)[0])
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for name, there in (("style", True), ("script", has_script)):
        bodies = re.findall(f"<{name}>(.*?)</{name}>", html, re.DOTALL)
        assert len(bodies) == there
        hashes = [f"{name}-src 'sha256-{b64encode(sha256(body.encode()).digest()).decode()}';" for body in bodies]
        assert re.findall(rf"{name}-src .*?;", policy) == hashes
    assert not re.search(r'@import|url\(|\ssrc=|\sstyle="|\son\w+="', html)
    ids = re.findall(r'\sid="(.*?)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#(.*?)"', html)) <= set(ids)


@pytest.mark.parametrize("word", ["=1+1", "+cmd", "-x", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_cell_of_a_file_is_a_formula(word: str) -> None:
    table = make_grid("t", ("name", word), [(word, "-1.5"), ("a", "+3%")])
    (_, head), (name, number), (_, share) = csv.reader(io.StringIO(table.csv(), newline=""))
    assert head == f"'{word.strip()}"
    assert name == f"'{word}"
    assert (number, share) == ("-1.5", "+3%")
