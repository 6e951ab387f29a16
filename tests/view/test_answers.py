"""The viewer's list of a benchmark's answers, and two runs of it question by question."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

import mores
from mores.benchmark.benchmark import Verdict
from mores.errors import Rejected
from mores.models import Completion, Request
from mores.models.fake import FakeModel
from mores.studio.manage import import_files, new_campaign
from mores.types import Failure
from mores.view.answers import ListedAnswer
from mores.view.index import TextIndexes
from tests.view.conftest import HERE, OWN, judge, write_run

N = 25


def says(name: str, pick: Callable[[int], str]) -> FakeModel:
    """A model whose answer to each question is decided by its number; an empty one is refused."""

    def answer(request: Request) -> Completion:
        found = re.search(r"Question (\d+)", request.messages[-1].content)
        assert found is not None
        if not (text := pick(int(found[1]))):
            raise Rejected("no")
        return Completion(text=text)

    return FakeModel(name, answer)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of a table of questions, whose first choice is always correct."""
    home = tmp_path_factory.mktemp("answers")
    rows = [
        f"q{n},Question {n}?,red|blue|green,red,{'JP' if n % 2 else 'DE'},{'hard' if n < 5 else 'easy'}"
        for n in range(N)
    ]
    (home / "own.csv").write_text("\n".join(["id,question,choices,answer,region,Difficulty", *rows]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MORES_CACHE", str(home / "cache"))
        mores.bench(home / "own.csv", says("one", lambda n: "" if n == 7 else "B" if n < 3 else "A"), out=home / "runs")
        mores.bench(home / "own.csv", says("two", lambda n: "C" if n in (0, 3) else "A"), out=home / "runs")
    return home


@pytest.fixture
def client(folder: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """A viewer of both, all of whose answers are indexed."""
    monkeypatch.setenv("MORES_CACHE", str(folder / "cache"))
    app = mores.view_app(folder / "runs", model="fake:clean")
    for entry in app.state.viewer.runs.entries().values():
        app.state.viewer.indexes.of(entry.path / entry.judged[0], wait=True)
    return TestClient(app, HERE, follow_redirects=False)


def run_of(client: TestClient, model: str) -> str:
    """The name of a model's run."""
    entries = client.app.state.viewer.runs.entries().values()  # type: ignore[attr-defined]
    return str(next(entry.name for entry in entries if entry.model == f"fake:{model}"))


def shown(page: str) -> list[str]:
    """The ids of the answers on a page, in their order."""
    return re.findall(r"<h2><bdi>([^<]+)</bdi>", page)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"state": "wrong"}, [0, 1, 2]),
        ({"state": "unscored"}, [7]),
        ({"failure": "model"}, [7]),
        ({"region": "JP", "column:Difficulty": "hard"}, [1, 3]),
        ({"region": "DE", "state": "wrong"}, [0, 2]),
        ({"q": "question 24"}, [24]),
        ({"state": "' OR 1 --"}, []),
    ],
)
def test_answers_can_be_filtered(client: TestClient, filters: dict[str, str], expected: list[int]) -> None:
    answer = client.get("/run", params={"run": run_of(client, "one"), "sort": "input", **filters})
    assert answer.status_code == 200, answer.text
    assert shown(answer.text) == [f"q{n}" for n in expected]
    [code] = re.findall(r"<h3>Python</h3><pre dir=\"ltr\"><code>(.*?)</code>", answer.text, re.DOTALL)
    if "' OR 1 --" not in filters.values():  # what is copied gives the same answers
        names: dict[str, list[tuple[mores.Item, object]]] = {}
        exec(code.replace("&#39;", "'").replace("&#34;", '"').replace("&gt;", ">"), names)
        assert [item.id for item, _ in names["answers"]] == [f"q{n}" for n in expected]


def test_the_worst_come_first_on_pages_of_twenty(client: TestClient) -> None:
    name = run_of(client, "one")
    first = client.get("/run", params={"run": name}).text
    assert shown(first)[:5] == ["q0", "q1", "q2", "q7", "q3"]
    assert len(shown(first)) == 20
    assert "25 answers, page 1 of 2" in first
    assert "Weak verdicts" not in first
    assert len(shown(client.get("/run", params={"run": name, "page": "2"}).text)) == 5


def test_two_runs_stand_side_by_side_where_they_differ(client: TestClient) -> None:
    pair = [("run", run_of(client, "one")), ("run", run_of(client, "two"))]

    def differing(**given: str) -> list[str]:
        page = client.get(f"/compare?{urlencode([*pair, *given.items()])}")
        assert page.status_code == 200, page.text
        return re.findall(r'class="pair" aria-label="([^"]+)"', page.text)

    assert differing() == ["q0", "q1", "q2", "q3", "q7"]
    assert differing(change="first") == ["q3"]
    assert differing(change="second") == ["q1", "q2"]
    assert differing(change="both") == ["q0"]
    assert differing(change="failed") == ["q7"]
    assert differing(region="JP") == ["q1", "q3", "q7"]
    assert differing(**{"column:Difficulty": "easy"}) == ["q7"]
    assert "25 questions have an answer in both" in client.get(f"/compare?{urlencode(pair)}").text


def test_the_first_answers_are_shown_while_the_others_are_read(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TextIndexes, "of", lambda *_, **__: None)
    page = client.get("/run", params={"run": run_of(client, "one")}).text
    assert "These are the first answers." in page
    assert shown(page) == [f"q{n}" for n in range(20)]


def test_a_run_of_texts_and_one_of_answers_are_not_compared(folder: Path, client: TestClient) -> None:
    text = write_run(folder / "runs" / "texts", [judge(0)]).name
    client.app.state.viewer.runs._at = 0.0  # type: ignore[attr-defined]
    answer = client.get(f"/compare?{urlencode([('run', text), ('run', run_of(client, 'one'))])}")
    assert answer.status_code == 422
    assert "choose two of a kind" in answer.text


def test_a_long_answer_has_measures_in_place_of_a_grade(tmp_path: Path) -> None:
    item = mores.Item(id="q", prompt="Why?")
    said = [
        ListedAnswer(item, Verdict(item_id="q", unit="q", answer="So.", values={"relevance": value}))
        for value in (0.5, 0.5, None)
    ]
    assert [each.state for each in said] == ["measured"] * 3
    assert said[0].said == said[1].said != said[2].said
    failed = Verdict(item_id="q", unit="q", values={"relevance": None}, failure=Failure(kind="model", reason="no"))
    assert ListedAnswer(item, failed).state == "unscored"
    folder = write_run(tmp_path / "long", [], kind="bench", files={"verdicts.jsonl": "Verdict", "items.jsonl": "Item"})
    for name, records in (("items.jsonl", [item]), ("verdicts.jsonl", [said[0].verdict])):
        (folder / name).write_text("".join(record.model_dump_json() + "\n" for record in records))
    app = mores.view_app(tmp_path, model="fake:clean")
    app.state.viewer.indexes.of(folder / "verdicts.jsonl", wait=True)
    page = TestClient(app, HERE).get("/run?run=long&state=measured").text
    assert "<dt>relevance</dt><dd>0.50</dd>" in page
    assert "Unscored" not in page


def test_an_answer_has_a_star_and_a_note_too(client: TestClient) -> None:
    name = run_of(client, "two")
    form = {"id": "q3", "star": "on", "note": "Ask Haruko", "back": f"run={name}"}
    assert client.post("/note", params={"run": name}, data=form, headers=OWN).status_code == 303
    assert shown(client.get("/run", params={"run": name, "marked": "star"}).text) == ["q3"]
    table = client.get("/notes.csv", params={"run": name}).text
    assert "q3,1,Ask Haruko,incorrect" in table
    assert "Question 3?" in table


@pytest.fixture
def in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """A viewer of one run, with two answers in words to each of three questions; the first of the last is refused."""
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))
    rows = [f"q{n},Question {n}?,white,JP" for n in range(3)]
    (tmp_path / "own.csv").write_text("\n".join(["id,question,answer,region", *rows]))
    (tmp_path / "own.toml").write_text('questions = "own.csv"\ngrading = "exact"\n')
    words = says("words", lambda n: "" if n == 2 else "A black dress.")
    mores.bench(tmp_path / "own.toml", words, out=tmp_path / "runs", samples=2, temperature=1)
    app = mores.view_app(tmp_path / "runs", model="fake:first-word")
    [entry] = app.state.viewer.runs.entries().values()
    app.state.viewer.indexes.of(entry.path / "verdicts.jsonl", wait=True)
    return TestClient(app, HERE, follow_redirects=False)


def give_a_star(client: TestClient, run: str, name: str) -> None:
    form = {"id": name, "star": "on", "back": f"run={run}"}
    assert client.post("/note", params={"run": run}, data=form, headers=OWN).status_code == 303


def test_an_answer_in_words_is_tried_and_a_choice_is_not(client: TestClient, in_words: TestClient) -> None:
    assert ">Try it</a>" not in client.get("/run", params={"run": run_of(client, "one")}).text
    page = in_words.get("/run", params={"run": run_of(in_words, "words"), "q": "question 0"}).text
    box = in_words.get("/" + unescape(re.findall(r'href="(try\?[^"]+)"', page)[0])).text
    assert "A black dress.</textarea>" in box
    assert 'name="instruction" dir="auto" value="Question 0?"' in box
    assert 'name="region" value="JP"' in box


def test_answers_in_words_come_into_a_campaign_of_the_studio(in_words: TestClient, tmp_path: Path) -> None:
    run = run_of(in_words, "words")
    assert "No answer of this run has a star" in in_words.get("/handover", params={"run": run}).text
    for name in ("q0", "q0 #2", "q2"):
        give_a_star(in_words, run, name)
    listed = in_words.get("/run", params={"run": run, "marked": "star", "sort": "input"}).text
    assert shown(listed) == ["q0", "q0", "q2"]
    [code] = re.findall(r"<h3>Python</h3><pre dir=\"ltr\"><code>(.*?)</code>", listed, re.DOTALL)
    names: dict[str, list[tuple[mores.Item, Verdict]]] = {}
    exec(unescape(code), names)
    assert [(item.id, verdict.sample) for item, verdict in names["answers"]] == [("q0", 0), ("q0", 1), ("q2", 0)]
    preview = in_words.get("/handover", params={"run": run}).text
    assert "2 with a star" in preview
    assert "1 with a star stays here" in preview
    assert "what the judge found" not in preview
    assert in_words.post("/handover", params={"run": run}, data={"title": "Dresses"}, headers=OWN).status_code == 422
    form = {"title": "Dresses", "language": "English"}
    page = in_words.post("/handover", params={"run": run}, data=form, headers=OWN).text
    [campaign] = (tmp_path / "runs").rglob("handover/campaign.yaml")
    assert f"mores studio new {campaign}" in page
    made, _ = new_campaign(tmp_path / "studio.db", campaign)
    assert import_files(tmp_path / "studio.db", made.id, [campaign.with_name("texts.jsonl")]).items == 2


def test_choices_are_not_handed_to_people(client: TestClient) -> None:
    run = run_of(client, "one")
    give_a_star(client, run, "q1")
    page = client.get("/handover", params={"run": run}).text
    assert "1 with a star stays here" in page
    assert "Write the files" not in page
    assert client.post("/handover", params={"run": run}, data={}, headers=OWN).status_code == 422
