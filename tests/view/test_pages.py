"""The pages of the viewer: the list, the texts of a run with their filters, two runs, notes, and what is live."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

import mores
from mores.io import JsonlWriter
from mores.run import Plan, open_run, start_run
from mores.studio.manage import import_files, new_campaign
from mores.types import Signature
from mores.view.index import TextIndexes
from tests.view.conftest import HERE, OWN, TEXT, judge, write_run

View = Callable[..., TestClient]


def shown(page: str) -> list[str]:
    """The ids of the texts on a page, in their order."""
    return re.findall(r"<h2><bdi>(\w+)</bdi></h2>", page)


def texts(client: TestClient, **filters: str) -> list[str]:
    """The ids of the texts of the first run that fit."""
    answer = client.get("/run", params={"run": "first", **filters})
    assert answer.status_code == 200, answer.text
    return shown(answer.text)


def test_the_list_has_every_run_and_finds_them(view: View, runs: Path) -> None:
    (runs / "broken").mkdir()
    (runs / "broken" / "run.json").write_text("{")
    client = view()
    page = client.get("/").text
    assert "mean score 0.1" in page
    assert "mean score 0.7" in page
    assert "broken/run.json: " in page.replace("&#39;", "'")
    named = re.compile(r'href="run\?run=([^"]+)"')
    assert named.findall(client.get("/", params={"q": "OTHER score"}).text) == ["deep%2Fsecond"]
    assert named.findall(client.get("/", params={"status": "unreadable"}).text) == ["broken"]
    assert named.findall(client.get("/", params={"model": "fake:judge"}).text) == ["first"]
    assert "No run fits" in client.get("/", params={"kind": "bench"}).text


def test_a_folder_without_runs_says_what_makes_one(tmp_path: Path) -> None:
    assert "mores score texts.csv" in TestClient(mores.view_app(tmp_path), HERE).get("/").text


def test_texts_are_shown_the_worst_first_or_as_in_the_file(view: View) -> None:
    client = view()
    assert texts(client) == ["t3", "t1", "t2", "t4", "t0", "t5", "t6"]
    assert texts(client, sort="input") == ["t0", "t1", "t2", "t3", "t4", "t5", "t6"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"state": "errors"}, ["t1", "t2", "t3"]),
        ({"state": "failed"}, ["t4"]),
        ({"state": "clean"}, ["t0", "t5", "t6"]),
        ({"severity": "minor"}, ["t2", "t3"]),
        ({"severity": "major"}, ["t1", "t3"]),
        ({"type": "food"}, ["t2", "t3"]),
        ({"language": "ar"}, ["t5"]),
        ({"region": "JP"}, ["t1", "t2"]),
        ({"region": "-"}, ["t0", "t3", "t4", "t5", "t6"]),
        ({"column:Model": "b"}, ["t2"]),
        ({"column:Rating": "1"}, ["t1"]),
        ({"weak": "on"}, ["t5"]),
        ({"q": "NOT white."}, ["t1", "t3"]),
        ({"q": "اليابان"}, ["t5"]),
        ({"q": "not json"}, ["t4"]),
        ({"q": "%"}, []),
        ({"severity": "minor", "region": "JP", "q": "sushi"}, ["t2"]),
        ({"state": "' OR 1 --"}, []),
    ],
)
def test_texts_can_be_filtered(view: View, filters: dict[str, str], expected: list[str]) -> None:
    client = view()
    assert texts(client, sort="input", **filters) == expected
    [code] = re.findall(r"<h3>Python</h3><pre dir=\"ltr\"><code>(.*?)</code>", _page(client, filters), re.DOTALL)
    if "q" not in filters and "'" not in filters.get("state", ""):  # what is copied gives the same texts
        names: dict[str, list[mores.Judgement]] = {}
        exec(code.replace("&#39;", "'").replace("&#34;", '"').replace("&gt;", ">"), names)
        assert [each.sample_id for each in names["texts"]] == expected


def _page(client: TestClient, filters: dict[str, str]) -> str:
    return client.get("/run", params={"run": "first", **filters}).text


def test_what_texts_say_is_only_text(view: View) -> None:
    page = view().get("/run", params={"run": "first"}).text
    assert "<script>alert" not in page
    assert "The answer is not JSON &lt;b&gt;." in page


@pytest.mark.slow
def test_pages_lead_through_many_texts(view: View, runs: Path) -> None:
    write_run(runs / "many", [judge(number, text=f"Text {number}.") for number in range(1234)])
    client = view()
    seen, address = [], "?run=many&sort=input&q=text"
    while address:
        page = client.get(f"/run{address}").text
        seen += shown(page)
        following = re.search(r'rel="next" href="([^"]+)"', page)
        address = following[1].replace("&amp;", "&") if following else ""
    assert seen == [f"t{number}" for number in range(1234)]
    assert shown(client.get("/run?run=many&page=999999999").text) == shown(client.get("/run?run=many&page=62").text)
    assert client.get("/run?run=many&page=x").status_code == 200


@pytest.mark.slow
def test_the_first_texts_are_shown_while_the_others_are_read(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TextIndexes, "of", lambda *_args, **_options: None)
    page = TestClient(mores.view_app(runs), HERE).get("/run?run=first").text
    assert "The others are being read" in page
    assert shown(page) == ["t0", "t1", "t2", "t3", "t4", "t5", "t6"]


def test_a_run_without_texts_is_shown_and_searched(view: View, runs: Path) -> None:
    write_run(runs / "empty", [])
    client = view()
    assert "No text fits" in client.get("/run?run=empty").text
    assert "No text fits" in client.get("/run?run=empty&q=x").text


@pytest.mark.slow
def test_an_index_follows_its_file(view: View, runs: Path) -> None:
    client = view()
    write_run(runs / "first", [judge(9)])
    client.app.state.viewer.indexes.of(runs / "first" / "judgements.jsonl", wait=True)  # type: ignore[attr-defined]
    assert texts(client) == ["t9"]


def test_a_line_that_cannot_be_read_is_named(runs: Path) -> None:
    with (runs / "first" / "judgements.jsonl").open("a") as file:
        file.write("{}\n")
    indexes = TextIndexes()
    with pytest.raises(mores.InputError, match=r"judgements\.jsonl:8: .*expected a Judgement"):
        indexes.of(runs / "first" / "judgements.jsonl", wait=True)


@pytest.mark.slow
def test_two_runs_are_compared_text_by_text(view: View) -> None:
    client = view()
    pair = [("run", "first"), ("run", "deep/second")]

    def differing(**filters: str) -> list[tuple[str, str]]:
        page = client.get("/compare", params=[*pair, *filters.items()]).text
        return re.findall(r"<h2><bdi>(\w+)</bdi> <small>([^.<]+)", page)

    found = dict(differing())
    assert found["t1"] == "Only the first finds errors"
    assert found["t2"] == "Both find errors, with other words or severities"
    assert found["t4"] == "Only one could judge the text"
    assert set(found) == {"t1", "t2", "t4"}
    assert [name for name, _ in differing(change="first")] == ["t1"]
    assert differing(change="second") == []
    assert [name for name, _ in differing(q="fork", region="JP")] == ["t1", "t2"]
    page = client.get("/compare", params=[*pair, ("change", "both")]).text
    assert page.count("<mark") == 2
    assert 'data-errors="1">fork</mark>' in page
    assert 'data-errors="1">white</mark>' in page
    assert "6 texts were judged by both" in page
    assert "Only the first finds errors (1)" in page.replace("only", "Only")


def test_texts_that_share_only_their_id_are_marked_as_such(view: View, runs: Path) -> None:
    write_run(runs / "other", [judge(1, text="Something else.")])
    page = view().get("/compare?run=first&run=other").text
    assert "only their ids are the same" in page


@pytest.mark.slow
def test_only_runs_of_texts_are_compared(view: View, runs: Path) -> None:
    write_run(runs / "bench", [], kind="bench")
    (runs / "bench" / "judgements.jsonl").unlink()
    answer = view().get("/compare?run=first&run=bench")
    assert answer.status_code == 422
    assert "only runs that judged texts can be compared" in answer.text


def test_stars_and_notes_are_kept_beside_the_run_and_exported(view: View, runs: Path) -> None:
    client = view()
    back = urlencode({"run": "first", "state": "errors"})
    for said in ({"star": "on", "note": "=cmd()"}, {"star": "on", "note": "=Is it white?"}):
        answer = client.post("/note?run=first", data={"id": "t1", "back": back, **said}, headers=OWN)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("run?run=first&state=errors#t")
    client.post("/note?run=first", data={"id": "t5", "note": "unclear"}, headers=OWN)
    client.post("/note?run=first", data={"id": "t2", "star": "on"}, headers=OWN)
    client.post("/note?run=first", data={"id": "t2"}, headers=OWN)
    kept = [json.loads(line) for line in (runs / "first" / "notes.jsonl").read_text().splitlines()]
    assert [(each["sample_id"], each["star"], each["note"]) for each in kept] == [
        ("t1", True, "=Is it white?"),
        ("t5", False, "unclear"),
    ]
    assert texts(client, marked="star") == ["t1"]
    assert texts(client, marked="note", sort="input") == ["t1", "t5"]
    assert 'value="=Is it white?"' in _page(client, {})
    rows = list(csv.DictReader(client.get("/notes.csv?run=first").text.splitlines()))
    assert [(row["id"], row["note"], row["errors"]) for row in rows] == [
        ("t1", "'=Is it white?", "white"), ("t5", "unclear", "")
    ]  # fmt: skip
    assert len(list(open_run(runs / "first").records("judgements.jsonl", mores.Judgement))) == 7


@pytest.mark.slow
def test_texts_with_a_star_come_into_a_campaign_of_the_studio(view: View, runs: Path, tmp_path: Path) -> None:
    client = view()
    assert client.post("/handover?run=first", data={}, headers=OWN).status_code == 422  # no text has a star
    for name in ("t1", "t5"):
        client.post("/note?run=first", data={"id": name, "star": "on"}, headers=OWN)
    preview = client.get("/handover?run=first").text
    assert "The texts that leave" in preview
    assert TEXT in preview
    assert not (runs / "first" / "handover").exists()
    page = client.post("/handover?run=first", data={"title": "Weddings", "begin": "report"}, headers=OWN).text
    campaign, rows = runs / "first" / "handover" / "campaign.yaml", runs / "first" / "handover" / "texts.jsonl"
    assert f"mores studio new {campaign}" in page
    assert f"mores studio import CAMPAIGN {rows}" in page
    made, _ = new_campaign(tmp_path / "studio.db", campaign)
    assert made.settings.title == "Weddings"
    assert import_files(tmp_path / "studio.db", made.id, [rows]).items == 2


def test_a_text_is_tried_against_the_judge(view: View) -> None:
    client = view()
    assert "fake:first-word" in client.get("/try").text
    answer = client.post("/try", data={"text": "White dresses.", "language": "en"}, headers=OWN)
    assert answer.status_code == 200
    assert 'data-errors="1">White</mark>' in answer.text
    assert "mores.score([{" in answer.text
    assert "mores score text.jsonl --model fake:first-word" in answer.text
    assert client.post("/try", data={"text": " "}, headers=OWN).status_code == 422


def test_the_whole_page_of_a_run_is_there_with_its_own_policy(view: View) -> None:
    answer = view().get("/page?run=first")
    assert "Texts with errors" in answer.text
    assert "'sha256-" in answer.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


def test_a_run_that_works_shows_how_far_it_has_come(view: View, runs: Path) -> None:
    client, viewer = view(), None
    plan = Plan(kind="score", name="live.csv", signature=Signature(data="x"))
    with start_run(runs / "live", plan) as run, JsonlWriter(run.path / "judgements.jsonl") as writer:
        for number in range(3):
            writer.write(judge(number))
            writer._file.flush()  # type: ignore[union-attr]
        viewer = client.app.state.viewer  # type: ignore[attr-defined]
        viewer.runs._at = 0.0
        assert client.get("/progress").json()["working"] == {"live": {"judgements.jsonl": 3}}
        assert "3 lines of judgements.jsonl" in client.get("/").text
        assert "It is working" in client.get("/run?run=live").text
        manifest = (runs / "live" / "run.json").read_bytes()
    (runs / "live" / "run.json").write_bytes(manifest)  # as if its process had been killed
    viewer.runs._at = 0.0
    assert client.get("/progress").json()["status"]["live"] == "killed"
