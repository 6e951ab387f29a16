"""The pages about papers leave nothing out: each table and figure has a row, no cell is empty, every command exists."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from tests.test_docs import check_options

ROOT = Path(__file__).parents[1]
PAPERS = ROOT / "docs" / "papers"
TEXTS = Path(os.environ.get("MORES_SHARED_DATA") or ROOT.parent / "shared" / "data").parent / "papers"
STATUSES = {"reproduced", "same method, other data", "cannot be had"}
NUMBERED = {"calmqa": (33, 25), "culturalbench": (0, 0), "culturall": (6, 13), "excam": (13, 11), "msqa": (6, 9)}
"""How many tables and figures each paper has; the summary of CulturalBench numbers none."""
OTHERS = {
    "calmqa": (
        *(f"Appendix {part}" for part in ("A.1", "A.2", "A.3", "B", "C", "D", "D.1")),
        *(f"Section {part}" for part in ("2", "2.2", "3", "3.2", "4.1", "4.2")),
    ),
    "culturalbench": (
        "Red-teaming", "Internal filter", "Verification", "Easy and Hard", "Topic discovery", "Topics by region",
        "Main results", "Question types", "Regional differences", "Heuristic baseline", "Key findings",
    ),
    "culturall": (
        *(f"Appendix A.2.{task}" for task in range(1, 5)),
        *(f"Section 2.{part}" for part in range(1, 6)), *(f"Section 4.{part}" for part in range(1, 5)),
    ),
    "excam": ("Equation 1", "Section 3", "Section 5", *(f"Appendix {letter}" for letter in "BEGH"), "Limitations"),
    "msqa": (
        "Equation 1", "Section 3.1", "Section 3.2, stage 1", "Section 3.2, stage 3", "Section 3.3", "Limitations",
        "Appendix A", "Appendix C", "Appendix D",
    ),
}  # fmt: skip
"""Prompts, guidelines and experiments that have no number of a table or figure."""


def rows_of(name: str) -> list[list[str]]:
    """The rows of the table of everything in a paper."""
    text = (PAPERS / f"{name}.md").read_text("utf-8")
    table = text.split("| in the paper | status | in Mores | command |\n| --- | --- | --- | --- |\n")[1]
    lines = table.split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def numbers_of(rows: list[list[str]], word: str) -> list[int]:
    """The numbers of the tables or figures that the rows begin with."""
    found = [re.match(rf"{word}s? ((?:\d+(?:, | and )?)+)", row[0]) for row in rows]
    return [int(number) for match in found if match for number in re.findall(r"\d+", match[1])]


def test_every_paper_has_a_page() -> None:
    assert {path.stem for path in PAPERS.glob("*.md")} == {"index", *NUMBERED}
    index = (PAPERS / "index.md").read_text("utf-8")
    assert all(f"({name}.md)" in index for name in NUMBERED)
    assert all(f"| {status} | " in index for status in STATUSES)


@pytest.mark.parametrize("name", NUMBERED)
def test_no_row_is_missing_and_no_cell_is_empty(name: str) -> None:
    rows, (tables, figures) = rows_of(name), NUMBERED[name]
    assert [row for row in rows if len(row) != 4 or not all(row)] == []
    assert {row[1] for row in rows} <= STATUSES
    assert set(numbers_of(rows, "Table")) == set(range(1, tables + 1))
    assert set(numbers_of(rows, "Figure")) == set(range(1, figures + 1))
    assert [other for other in OTHERS[name] if not any(row[0].startswith(other) for row in rows)] == []
    assert [row[0] for row in rows if row[1] == "cannot be had" and len(row[2]) < 10] == [], "the reason is missing"


@pytest.mark.parametrize("name", NUMBERED)
def test_every_command_and_page_of_a_row_exists(name: str) -> None:
    for row in rows_of(name):
        commands = re.findall(r"`([^`]+)`", row[3])
        assert commands, row
        for command in [*commands, *re.findall(r"`((?:mores|pytest|python) [^`]+)`", row[2])]:
            words = shlex.split(command)
            if words[0] == "mores":
                check_options(command)
            else:
                assert words[0] in ("pytest", "python"), command
                paths = [word for word in words[1:] if word.startswith(("tests/", "benchmarks/"))]
                assert paths, command
                assert all((ROOT / path).exists() for path in paths), command
            files = [word for word in words if word.startswith("examples/")]
            assert all((ROOT / path).exists() for path in files), command
        for page, anchor in re.findall(r"\]\(([^)#]+)#?([^)]*)\)", row[2]):
            target = (PAPERS / page).read_text("utf-8")
            headings = re.findall(r"^#+ (.*)$", target, re.MULTILINE)
            slugs = {re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}
            assert not anchor or anchor in slugs, (page, anchor)


@pytest.mark.skipif(not TEXTS.is_dir(), reason="no folder papers beside that of the shared data")
@pytest.mark.parametrize("name", [name for name, counts in NUMBERED.items() if any(counts)])
def test_the_paper_has_no_more_tables_and_figures(name: str) -> None:
    text = (TEXTS / f"{name}.txt").read_text("utf-8")
    tables, figures = NUMBERED[name]
    assert max(int(number) for number in re.findall(r"Tab(?:le|\\?\.)\s*\[?(\d+)", text)) == tables
    assert max(int(number) for number in re.findall(r"Fig(?:ure|\\?\.)\s*\[?(\d+)", text)) == figures
