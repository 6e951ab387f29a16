"""Pages of runs, boards and diagnoses link to each other and to the files of the runs, and no link is broken."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.cli.conftest import Run
from tests.cli.test_diagnose import script, write_stories
from tests.report.markup import read_markup


def links(page: Path) -> dict[str, Path]:
    """Relative links of a page that leave it, with where they lead to."""
    addresses = [node.attributes["href"] for node in read_markup(page.read_text()).all("a")]
    outside = [href for href in addresses if not href.startswith("#")]
    assert not any(urlsplit(href).scheme or href.startswith("/") for href in outside)
    return {href: (page.parent / unquote(href)).resolve() for href in outside}


@pytest.fixture
def pages(mores: Run, home: Path) -> Path:
    """A folder with the runs of two models and pages of them; its name is hard to write in an address."""
    write_stories(home)
    out = "all/my runs#1"
    for answer in ("yes", "no"):
        model = script(home / f"{answer}.jsonl", [("Ann", answer)])
        done = mores("bench", "normad", "--data", "data", "--limit", "20", "--model", model, "--out", out)
        assert done.returncode == 0, done.stderr
    for arguments in (
        ("board", out, "--html", f"{out}/board.html"),
        ("diagnose", "locality", out, "--by", "region", "--out", "all/diagnose"),
    ):
        done = mores(*arguments)
        assert done.returncode == 0, done.stderr
    return home / "all"


@pytest.mark.slow
def test_no_link_is_broken_also_when_all_is_moved(pages: Path) -> None:
    moved = pages.rename(pages.with_name("elsewhere"))
    for name in ("my runs#1/bench.html", "my runs#1/board.html", "diagnose/diagnose.html"):
        targets = links(moved / name)
        assert [href for href, path in targets.items() if not path.is_file()] == []
        assert all(path.is_relative_to(moved.resolve()) for path in targets.values())
        assert {path.name for path in targets.values()} >= {"result.json", "verdicts.jsonl"}


@pytest.mark.slow
def test_pages_that_show_a_run_are_linked_and_others_are_not(pages: Path, mores: Run) -> None:
    """bench.html was last written for "no" alone."""
    page = read_markup((pages / "diagnose" / "diagnose.html").read_text())
    [runs] = page.all(".runs")
    shown = {node.only("dt").words: [link.words for link in node.all("a")] for node in runs.all("div")}
    files = ["result.json", "verdicts.jsonl", "responses.jsonl"]
    assert shown == {
        "fake:no.jsonl, normad": ["bench.html", "board.html", *files],
        "fake:yes.jsonl, normad": ["board.html", *files],
    }
    again = ("--limit", "20", "--model", "fake:yes.jsonl", "--out", "all/my runs#1")
    assert mores("bench", "normad", "--data", "data", *again).returncode == 0
    assert "board.html" in links(pages / "my runs#1" / "bench.html")


def test_standings_lead_to_their_runs(pages: Path) -> None:
    page = read_markup((pages / "my runs#1" / "board.html").read_text())
    heads = {node.words: node.only("a").attributes["href"] for node in page.all("th") if node.all("a")}
    assert heads == {"1. fake:yes.jsonl": "normad/fake_yes.jsonl/result.json", "2. fake:no.jsonl": "bench.html"}
