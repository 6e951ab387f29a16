"""Three jobs from the first command to the last, typed as people type them: a student, an engineer, an organiser."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import zipfile
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from httpx2 import Response
from starlette.testclient import TestClient

from mores.cli import mores
from mores.models.pull import default_path
from mores.studio import app
from mores.studio.serve import prepare
from tests.cli.conftest import Done, run_in_process

ROOT = Path(__file__).parents[1]
JOBS = ROOT / "examples" / "jobs"
FIRST_WORD = "fake:first-word"
"""A judge that finds the first word of every text wrong."""
EMBEDDED = pytest.mark.skipif(not default_path().exists(), reason="`mores pull` gets the model")
JUDGES = [FIRST_WORD, pytest.param("", marks=EMBEDDED)]
"""That judge, and the one that a person would use."""


def type_in(job: str, folder: Path, *names: str) -> list[Done]:
    """What the commands of these names in a job's script do, one after the other in this process."""
    lines = re.findall(r"^(?:if )?mores (.+)$", (JOBS / f"{job}.sh").read_text("utf-8"), re.MULTILINE)
    typed = [shlex.split(line) for line in lines]
    env = {"MORES_CACHE": str(folder / "cache")}
    asked = {"score": ("--model", FIRST_WORD)}
    return [run_in_process(folder, (*words, *asked.get(words[0], ())), env=env) for words in typed if words[0] in names]


def do(job: str, folder: Path, judge: str, *words: str) -> str:
    """Run a job's script in a folder; `judge` is asked in place of the embedded model."""
    commands = folder / "bin"
    commands.mkdir(parents=True, exist_ok=True)
    chosen = f'case "$1" in score|serve) set -- "$@" --model {judge};; esac\n' if judge else ""
    (commands / "mores").write_text(f'#!/bin/sh\n{chosen}exec {sys.executable} -m mores "$@"\n')
    (commands / "mores").chmod(0o755)
    environment = os.environ | {"PATH": f"{commands}:{os.environ['PATH']}", "MORES_CACHE": str(folder / "cache")}
    if not judge:
        del environment["MORES_CACHE"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        environment["PORT"] = str(free.getsockname()[1])
    command = ["sh", str(JOBS / f"{job}.sh"), *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("judge", JUDGES)
def test_the_script_of_the_student(tmp_path: Path, judge: str) -> None:
    output = do("student", tmp_path, judge)
    check_student(tmp_path, output)
    if not judge:  # the first model is right everywhere, the second wrong in every other answer
        differences = output.split("Paired differences by Model")[1]
        assert re.search(r"A less B\s+20\s+−", differences)
        assert "Not known" in (tmp_path / "weddings.html").read_text("utf-8")


def test_a_student_with_forty_answers_gets_a_page_a_figure_a_table_and_what_to_cite(tmp_path: Path) -> None:
    for name in ("weddings.csv", "weddings.facts.csv"):
        shutil.copy(JOBS / name, tmp_path)
    done = type_in("student", tmp_path, "score", "show", "cite")
    assert [each.returncode for each in done] == [0, 0, 0], done
    check_student(tmp_path, "".join(each.stdout + each.stderr for each in done))


def check_student(folder: Path, output: str) -> None:
    assert (
        "40 rows: text ← Answer, instruction ← Question asked, region ← Country; not read: Model, Date (kept)" in output
    )
    for table in ("Texts by region", "Texts by Model", "Paired differences by Model"):
        assert table in output
    assert "40 texts, 40 judged" in output
    assert "@misc{excam" in output
    assert (folder / "figures" / "mean-score-by-region.pdf").exists()
    assert r"\begin{tabular}" in (folder / "figures" / "texts-by-region.tex").read_text("utf-8")
    assert "Nigeria" in (folder / "weddings.html").read_text("utf-8")


def test_an_engineer_gets_a_gate(tmp_path: Path) -> None:
    """Its service is in `test_the_script_of_the_engineer`, and what it answers in tests/serve."""
    shutil.copy(JOBS / "weddings.facts.csv", tmp_path / "facts.csv")
    texts = (JOBS / "weddings.csv").read_text("utf-8").splitlines(keepends=True)[:8]
    (tmp_path / "texts.csv").write_text("".join(texts), "utf-8")
    first, second = type_in("engineer", tmp_path, "score")
    assert (first.returncode, second.returncode) == (0, 0), (first.stderr, second.stderr)
    assert "::warning file=texts.csv,line=" in second.stdout + second.stderr
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("8", "0")


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
@pytest.mark.parametrize("judge", JUDGES)
def test_the_script_of_the_engineer(tmp_path: Path, judge: str) -> None:
    output = do("engineer", tmp_path, judge)
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()
    if judge:  # it finds a minor error in every text, which does not stop the build
        assert "the gate passed" in output
        assert "::warning file=texts.csv,line=" in output
        assert (suite.get("tests"), suite.get("failures")) == ("8", "0")
    else:
        assert "the gate failed with exit code 3" in output
        assert "::error file=texts.csv,line=" in output
        assert int(suite.get("failures", "0")) > 0
    judgement = json.loads((tmp_path / "judgement.json").read_text("utf-8"))
    assert judgement["score"] == (-1 if judge else -5)
    assert judgement["report"]["errors"][0]["quote"] == "black"


class Visitor:
    """Someone with a browser, who fills in the forms of pages."""

    def __init__(self, studio: TestClient) -> None:
        self.browser, self.page = TestClient(studio.app, base_url="http://studio.test"), Response(200)

    def open(self, path: str) -> str:
        """Open a page."""
        self.page = self.browser.get(path)
        assert self.page.status_code == 200, self.page.text
        return self.page.text

    def send(self, path: str, files: dict[str, tuple[str, bytes]] | None = None, **values: str) -> str:
        """Send a form of the open page."""
        hidden = re.findall(r'<input type="hidden" name="(csrf|key)" value="([^"]*)"', self.page.text)
        given = {name: unescape(value) for name, value in reversed(hidden)} | values
        self.page = self.browser.post(path, data=given, files=files)
        assert self.page.status_code == 200, self.page.text
        return self.page.text


def volunteer(studio: TestClient, home: str, link: str, number: int) -> None:
    """Join a campaign, and mark in one text what is wrong with it: the live chicken alone."""
    visitor = Visitor(studio)
    visitor.open(link)
    visitor.send(link, name=f"Volunteer {number}", nationality="India", home="India", languages="English")
    visitor.open(f"{home}/welcome")
    visitor.send(f"{home}/welcome", agree="yes")
    visitor.open(home)
    shown = visitor.send(f"{home}/next")
    item = re.search(r"/items/([0-9a-f]+)", str(visitor.page.url))
    assert item, "there is a text for everybody"
    wrong = "a live chicken" in shown
    mark = {"part": "text", "start": 0, "end": 14, "quote": "a live chicken", "severity": "major", "type": "gift"}
    visitor.send(f"{home}/items/{item[1]}/vote", marks=json.dumps([mark] if wrong else []), none="" if wrong else "yes")


@pytest.mark.slow
def test_an_organiser_lets_twenty_volunteers_mark_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for place in ("web.routes.data", "store.statistics"):  # a busy machine is no reason for another page
        monkeypatch.setattr(f"mores.studio.{place}.SOON", 60.0)
    start = prepare(tmp_path / "weddings.db")  # mores studio --database weddings.db
    studio = TestClient(app(start.database, model="none", store=None), base_url="http://studio.test")
    organiser = Visitor(studio)
    organiser.open(start.links["organiser"])
    organiser.send(start.links["organiser"])

    assert "marking" in organiser.open("/campaigns/new")
    organiser.open("/campaigns/new?kind=marking")
    about: dict[str, Any] = {
        "title": "Weddings",
        "languages": "English",
        "regions": "Japan\nIndia\nNigeria",
        "consent": "We publish it.",
    }
    organiser.send("/campaigns", kind="marking", **about, markers="2", validated="")
    home = organiser.page.url.path.removesuffix("/overview").removesuffix("/people")
    assert "<code>instruction</code>, <code>text</code>" in organiser.open(
        f"{home}/data"
    )  # as the columns are called here
    with (JOBS / "weddings.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))[:10]
    table = io.StringIO()
    written = csv.DictWriter(table, rows[0])
    written.writeheader()
    written.writerows(rows)
    asked = organiser.send(f"{home}/import", files={"file": ("weddings.csv", table.getvalue().encode())})
    assert re.search("Question asked</bdi></td><td><code>instruction</code>", asked)
    [confirm] = re.findall(r'action="([^"]+/confirm)"', asked)
    assert "10 items and 0 answers were imported" in organiser.send(confirm)
    organiser.open(f"{home}/people")
    invited = organiser.send(f"{home}/invite", role="annotator", uses="20", note="The seminar")
    [link] = set(re.findall(r"http://studio\.test(/join/[\w-]+)", invited))

    for number in range(20):
        volunteer(studio, home, link, number)

    assert "Weddings" in organiser.open(f"{home}/overview")
    organiser.open(f"{home}/data")
    organiser.send(f"{home}/export", format="folder")
    with zipfile.ZipFile(io.BytesIO(organiser.page.content)) as packed:
        packed.extractall(tmp_path / "marked")
    [judgements] = (tmp_path / "marked").rglob("judgements.jsonl")
    marked = [json.loads(line) for line in judgements.read_text("utf-8").splitlines()]
    assert [error["quote"] for row in marked for error in row["report"]["errors"]] == [
        "a live chicken"
    ] * 2  # two people see each text
    listed = CliRunner().invoke(mores, ["show", str(judgements), "--html", "people.html"])
    assert listed.exit_code == 0, listed.output
    assert "20 judgements of 10 texts: each is counted" in " ".join(listed.output.split())
    assert "20 texts, 20 judged" in listed.output
    assert "20 judgements of 10 texts" in (tmp_path / "people.html").read_text("utf-8")
    start.database.close()


@pytest.mark.slow
def test_the_script_of_the_organiser(tmp_path: Path) -> None:
    output = do("organiser", tmp_path, "", "prepare")
    assert "40 items, 0 answers" in output
    campaign = (tmp_path / "made.txt").read_text("utf-8").split()[0]
    start = prepare(tmp_path / "weddings.db")
    studio = TestClient(app(start.database, model="none", store=None), base_url="http://studio.test")
    link = (tmp_path / "invitation.txt").read_text("utf-8").strip()
    for number in range(3):
        volunteer(studio, f"/c/{campaign}", link, number)
    start.database.close()
    output = do("organiser", tmp_path, "", "results")
    assert "3 texts, 3 judged" in output
    assert "Texts by region" in output
    assert "Texts by Model" in output, "a column that the studio only keeps"
    assert "Japan" in (tmp_path / "marked.html").read_text("utf-8")


def test_the_table_of_the_jobs_is_as_it_is_described() -> None:
    with (JOBS / "weddings.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 40
    assert {row["Country"] for row in rows} == {"Japan", "India", "Nigeria"}
