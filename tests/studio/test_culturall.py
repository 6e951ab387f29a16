"""CulturALL through the pages: writing, measuring, elevating, completing, reviewing, exporting, running."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from mores.benchmark.culturall import CULTURALL
from mores.benchmark.folder import find_bench_runs
from mores.cli import main
from mores.errors import InputError
from mores.studio.campaigns import open_kind
from mores.studio.campaigns.culturall.forms import CRITERIA, REQUIREMENTS, create_form
from mores.studio.campaigns.culturall.results import CulturallTally, summarise
from mores.studio.demo import fill
from mores.studio.kind import count_items
from mores.studio.records import ItemStatus, Role
from mores.studio.serve import find_owner
from mores.studio.store.database import Database
from mores.studio.store.items import read_items, rebuild
from tests.studio.play import Play, Player

ITEM = {
    "theme": "Heritage",
    "source": "experience",
    "scenario": "Ni usiku wa harusi Mombasa, na mgeni anaingia nyumbani.",
    "question": "Anapewa nini kwanza?",
    "answer": "Kahawa na halwa",
    "explanation": "Wageni hukaribishwa kwa kahawa na halwa.",
    "checklist": list(REQUIREMENTS),
}
YES = dict.fromkeys(CRITERIA, "yes")


def script(path: Path, **answers: str) -> str:
    """A model that says something where a text occurs in the prompt."""
    rows = [{"contains": name.replace("_", " "), "answer": answer} for name, answer in answers.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return f"fake:{path}"


@pytest.fixture
def models(tmp_path: Path) -> dict[str, Any]:
    return make_models(tmp_path)


def make_models(tmp_path: Path, *graded: tuple[str, str]) -> dict[str, Any]:
    """Three models of which one knows the answer, and one that judges, labels and translates.

    The judge grades otherwise where a text stands in its prompt.
    """
    knows = script(tmp_path / "knows.jsonl", Using_the_scenario="Kahawa na halwa")
    others = [script(tmp_path / f"{name}.jsonl", Using_the_scenario="Chai") for name in ("b", "c")]
    own = tmp_path / "own.jsonl"
    rows = [
        ("country code", "ke"),
        ("select the most appropriate topic", "Social"),
        ("Anapewa nini", "What does the guest get first?"),
        ("Ni usiku", "It is a wedding night in Mombasa, and a guest comes in."),
        ("Wageni", "Guests are welcomed with coffee and halwa."),
        ("Kahawa", "Coffee and halwa"),
    ]
    grades = (*graded, ("\nKahawa na halwa\n", "1"), ("\nChai\n", "0"))
    lines = [{"contains": contains, "answer": answer} for contains, answer in grades]
    translate = [{"contains": contains, "answer": answer} for contains, answer in rows]
    judge = tmp_path / "judge.jsonl"
    judge.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    own.write_text("".join(json.dumps(line) + "\n" for line in translate), "utf-8")
    return {"model": f"fake:{own}", "judge": f"fake:{judge}", "models": [knows, *others]}


def play_with(database: Database, models: dict[str, Any], **settings: Any) -> Play:
    chosen = {name: value for name, value in models.items() if name != "model"}
    return Play(database, "culturall", model=models.get("model", "none"), **{"pilot": 0} | chosen | settings)


def write(author: Player, **values: Any) -> str:
    author.open("/new")
    page = author.send("/items", **ITEM | values, then="submit")
    assert page.status_code == 200, page.text
    return author.item


def review(reviewer: Player, item: str, **values: Any) -> None:
    """Take the item and send the form as it is shown, with some answers."""
    assert reviewer.take() == item
    page = reviewer.send(f"/items/{item}/vote", **reviewer.filled() | values)
    assert "done=" in str(page.url), page.text


@pytest.mark.slow
def test_from_an_invitation_to_a_benchmark_that_runs(
    database: Database, models: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    play = play_with(database, models)
    author, peer = play.person(Role.AUTHOR, "Amina"), play.person(Role.AUTHOR, "Juma")
    item = write(author, language="sw")
    assert play.read(item).stage == "measure"
    assert "Write an item" not in author.open(f"/items/{item}").text, "nobody changes what is being measured"
    assert play.answer() == 3 + 3 + 6
    now = play.read(item)
    assert (now.stage, now.results["measure"]["correct"], now.results["measure"]["challenging"]) == ("review", 1, True)
    assert (now.content["topic"], now.content["region"]) == ("Social", "KE")
    assert now.content["english_question"] == "What does the guest get first?"
    assert author.take() is None, "nobody reviews their own item"
    assert play.person(Role.AUTHOR, "Ines", "Spain", "Spanish").take() is None, "nor one in another language"
    review(peer, item, **YES, verdict="accept")
    assert play.read(item).status is ItemStatus.ACCEPTED
    organiser = play.organiser()
    organiser.open("/overview")
    data = organiser.send("/export").content
    organiser.open("/overview")
    assert organiser.send("/export").content == data, "the same bytes"
    folder = tmp_path / "export"
    ZipFile(BytesIO(data)).extractall(folder)
    bad: list[InputError] = []
    [read] = CULTURALL.read(folder / "data", bad.append)
    assert not bad
    assert (read.language, read.region, read.topic, read.target) == ("sw", "KE", "Social", ("Kahawa na halwa",))
    assert read.metadata["versions"]["english"]["answer"] == "Coffee and halwa"
    out = tmp_path / "run"
    command = ["bench", str(folder), "--model", models["models"][0], "--judge", models["judge"], "--out", str(out)]
    with pytest.raises(SystemExit) as ended:
        main([*command, "--no-store"])
    assert ended.value.code in (0, None), capsys.readouterr().err
    [run] = find_bench_runs(out)
    assert (run.result.questions, run.result.figures["accuracy"].value) == (1, 1.0)
    before = play.read(item)
    rebuild(database, [play.again()])
    assert play.read(item) == before


EASY = {"scenario": "Ni asubuhi Nairobi.", "question": "Watu wengi wanakunywa nini?", "answer": "Chai"}


def test_an_easy_item_is_made_harder_and_measured_again(database: Database, models: dict[str, Any]) -> None:
    play = play_with(database, models)
    author = play.person(Role.AUTHOR, "Amina")
    item = write(author, **EASY, language="sw")
    judge = Path(str(models["judge"]).removeprefix("fake:"))
    judge.write_text('{"contains": "something else", "answer": "1"}\n', "utf-8")
    play.answer()
    assert play.read(item).stage == "measure", "it waits, because the judge does not answer"
    rows = [{"contains": " Chai ", "answer": "1"}, {"contains": " Uji ", "answer": "0"}]
    judge.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    organiser = play.organiser()
    assert "Items that wait because a model could not answer: " in organiser.open("/overview").text
    assert "a model failed" in organiser.open("/items?stuck=1").text
    assert author.browser.post(f"/c/{play.campaign.id}/items/{item}/ask-again").status_code in (403, 404)
    assert "no row" in organiser.open(f"/items/{item}/life").text, "the organiser sees the reason"
    organiser.send(f"/items/{item}/ask-again")
    play.answer()
    easy = play.read(item)
    assert (easy.stage, easy.results["measure"]["correct"]) == ("elevate", 3)
    page = author.open(f"/items/{item}").text
    assert "It is easy: 3 of 3 models answered correctly" in page
    assert "Kahawa na halwa" in page
    assert "fake:" not in page, "authors do not learn which models they are"
    harder = EASY | {"answer": "Uji", "question": "Mtoto mchanga anapewa nini?", "explanation": ""}
    author.send(f"/items/{item}/save", **harder, strategies=["swap", "context"], then="submit")
    again = play.read(item)
    assert (again.stage, again.results["elevate"]["strategies"]) == ("measure", ["swap", "context"])
    play.answer()
    hard = play.read(item)
    assert (hard.stage, hard.results["measure"]["correct"]) == ("complete", 0)
    assert len(hard.failed) == 3, "three texts have no translation in the script"
    assert hard.results["measure"]["challenging"] is True


@pytest.mark.slow
def test_an_easy_item_may_be_left_and_goes_on(database: Database, models: dict[str, Any], tmp_path: Path) -> None:
    yes = script(tmp_path / "yes.jsonl", Please_evaluate="1")
    play = play_with(database, models | {"judge": yes})
    author = play.person(Role.AUTHOR, "Amina")
    item = write(author, language="sw")
    play.answer()
    assert play.read(item).stage == "elevate"
    author.open(f"/items/{item}")
    same = {name: ITEM[name] for name in ("scenario", "question", "answer", "explanation")}
    problem = author.send(f"/items/{item}/save", **same, then="submit")
    assert problem.status_code == 422
    assert "Change the item, or tick this box." in problem.text
    author.send(f"/items/{item}/save", **same, leave="yes", then="submit")
    play.answer()
    left = play.read(item)
    assert (left.stage, left.results["elevate"]) == ("review", {"left": True})
    assert count_items(CulturallTally(play.campaign.settings), [left]).challenging == (0, 1, 0)
    assert summarise(play.campaign.settings, [left])["Easy and left as they are"] == 1


@pytest.mark.parametrize(("outcome", "stage"), [("next", "review"), ("back", "elevate"), ("rejected", "measure")])
def test_the_organiser_decides_where_a_model_talks_nonsense(
    database: Database, models: dict[str, Any], tmp_path: Path, outcome: str, stage: str
) -> None:
    nonsense = script(tmp_path / "nonsense.jsonl", Please_evaluate="It is mostly correct, I think.")
    play = play_with(database, models | {"judge": nonsense})
    item = write(play.person(Role.AUTHOR, "Amina"), language="sw")
    play.answer()
    stuck = play.read(item)
    assert (stuck.stage, stuck.status, stuck.results) == ("measure", ItemStatus.OPEN, {"create": {}})
    assert "expected 1 or 0 alone" in stuck.failed[0].failure
    organiser = play.organiser()
    organiser.open(f"/items/{item}/life")
    organiser.send(f"/items/{item}/adjudicate", outcome=outcome, note="I looked at it.")
    play.answer()
    decided = play.read(item)
    assert decided.stage == stage
    assert "correct" not in decided.results["measure"], "nothing is counted as correct or wrong"
    assert count_items(CulturallTally(play.campaign.settings), [decided]).challenging.total == 0


@pytest.mark.slow
def test_what_is_asked_again_reaches_the_model_though_its_nonsense_was_kept(
    database: Database, models: dict[str, Any], tmp_path: Path
) -> None:
    nonsense = script(tmp_path / "judge.jsonl", Please_evaluate="Perhaps.")
    play = play_with(database, models | {"judge": nonsense})
    item = write(play.person(Role.AUTHOR, "Amina"), language="sw")
    play.answer(store=tmp_path / "answers.db")
    assert len(play.read(item).failed) == 3
    script(tmp_path / "judge.jsonl", Please_evaluate="0")
    organiser = play.organiser()
    organiser.open(f"/items/{item}/life")
    organiser.send(f"/items/{item}/ask-again")
    play.answer(store=tmp_path / "answers.db")
    assert play.read(item).results["measure"]["correct"] == 0


def test_only_organisers_see_figures_failures_and_models(database: Database, models: dict[str, Any]) -> None:
    play = play_with(database, models)
    author, organiser = play.person(Role.AUTHOR, "Amina"), play.organiser()
    item = write(author, language="sw")
    for path in ("/figures", "/overview", "/items", f"/items/{item}/life", "/people"):
        assert author.open(path).status_code == 404, path
        assert organiser.open(path).status_code == 200, path
    author.open()
    assert author.send(f"/items/{item}/ask-again").status_code == 404
    assert f"{play.campaign.id}/figures" in organiser.open("/overview").text
    assert "paper: 75.0%" in organiser.open("/figures").text
    assert "fake:" not in author.open(f"/items/{item}").text


def test_an_organiser_sets_topics_and_the_rule_on_a_page(database: Database) -> None:
    play = play_with(database, {})
    organiser = play.organiser()
    organiser.open("/settings")
    own = "Wine: Growing and drinking it. | Which glass for which wine"
    ticked = {"inspiration": "yes", "keep_easy": "yes", "same_language": "yes"}
    organiser.send("/settings", **organiser.filled() | ticked | {"topics": own, "most_correct": "0"})
    settings = play.again().settings
    assert ([topic.name for topic in settings.topics], settings.most_correct) == (["Wine"], 0)
    page = play.person(Role.AUTHOR, "Amina").open("/new").text
    assert "Which glass for which wine" in page
    assert "Belief" not in page


@pytest.mark.slow
def test_the_demo_has_items_of_many_languages_in_all_states(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mores.studio.demo.all_kinds", lambda: [open_kind("culturall")])
    [campaign] = fill(database, find_owner(database))
    items = list(read_items(database, campaign))
    assert {item.language for item in items} >= {"ar", "de", "en", "es", "hi", "ja", "sw"}
    assert {item.stage for item in items if item.status is ItemStatus.OPEN} == {
        "create",
        "elevate",
        "measure",
        "review",
    }
    reviews = count_items(CulturallTally(campaign.settings), items).reviews
    assert [rate.part for rate in reviews.values()] == [
        3,
        1,
        1,
    ]
    assert sum(bool(item.failed) for item in items) == 1
    for item in items:  # what the demo's authors ticked and wrote would pass their form
        if item.status is ItemStatus.ACCEPTED:
            assert not (create_form(campaign.settings, item).check or dict)({"excerpt": "", **item.content})


@pytest.mark.slow
def test_without_models_items_go_on_and_say_that_they_are_not_measured(database: Database) -> None:
    play = play_with(database, {})
    author, peer = play.person(Role.AUTHOR, "Amina"), play.person(Role.AUTHOR, "Juma")
    item = write(author, language="sw")
    now = play.read(item)
    assert now.stage == "review"
    assert now.results["measure"]["reason"] == "not measured: the campaign names no models"
    assert now.results["complete"]["reason"].startswith("not completed")
    peer.take()
    assert peer.page is not None
    assert "not measured" in peer.page.text
    assert "There is no English translation" in peer.page.text
    filled = peer.filled()
    assert (filled["region"], filled["topic"]) == ("KE", "Heritage"), "the author's own"
    peer.send(f"/items/{item}/vote", **filled | YES | {"translation": "nothing", "verdict": "accept"})
    assert play.read(item).status is ItemStatus.ACCEPTED


@pytest.mark.slow
def test_a_reviewers_revision_is_the_new_version_that_is_exported(database: Database, models: dict[str, Any]) -> None:
    play = play_with(database, models)
    author, peer = play.person(Role.AUTHOR, "Amina"), play.person(Role.AUTHOR, "Juma")
    item = write(author, language="sw")
    play.answer()
    before = play.read(item)
    found = YES | {"translation": "no", "region_topic": "no"}
    changed = {"english_answer": "Coffee with halwa", "region": "Tanzania", "topic": "Food"}
    review(peer, item, **found, verdict="revise", note="Coffee comes with it.", **changed)
    after = play.read(item)
    assert (after.status, after.version, after.region) == (ItemStatus.ACCEPTED, before.version + 1, "TZ")
    assert after.results["review"]["changed"] == ["english_answer", "region", "topic"]
    assert [vote.version for vote in after.votes] == [before.version], "the review was of the version before"
    organiser = play.organiser()
    organiser.open("/overview")
    archive = ZipFile(BytesIO(organiser.send("/export").content))
    row = json.loads(archive.read("data/annotated_data.jsonl"))
    assert (row["english_answer"], row["region"], row["topic"]) == ("Coffee with halwa", "tz", "Food")
    assert row["answer"] == ITEM["answer"]
    assert "Revised" in author.open(f"/items/{item}").text, "the author sees it when it is decided, without a name"
    assert "Juma" not in author.open(f"/items/{item}").text


@pytest.mark.slow
def test_a_rejected_item_is_not_exported(database: Database) -> None:
    play = play_with(database, {})
    author, peer = play.person(Role.AUTHOR, "Amina"), play.person(Role.AUTHOR, "Juma")
    item = write(author, language="sw")
    found = YES | {"translation": "nothing", "safe": "no"}
    review(peer, item, **found, verdict="reject", note="It names a real person.")
    assert (play.read(item).status, play.read(item).note) == (ItemStatus.REJECTED, "It names a real person.")
    organiser = play.organiser()
    organiser.open("/overview")
    archive = ZipFile(BytesIO(organiser.send("/export").content))
    assert archive.read("data/annotated_data.jsonl") == b""


def test_a_model_drafts_from_a_document_and_the_author_takes_it_over(
    database: Database, models: dict[str, Any], tmp_path: Path
) -> None:
    drafted = "[Scenario] Harusi.\n[Question] Nani?\n[Answer] Mjomba\n[Explanation] Ni desturi."
    own = script(tmp_path / "drafts.jsonl", Grounded="", You_are_given_a_sample=drafted)
    play = play_with(database, models | {"model": own})
    author = play.person(Role.AUTHOR, "Amina")
    author.open("/new")
    author.send("/items", theme="Social", source="document", excerpt="Mjomba hutoa mahari.", then="ask:document")
    item = author.item
    assert "thinking" in author.open(f"/items/{item}").text
    play.answer()
    page = author.open(f"/items/{item}")
    assert "Mjomba" in page.text
    [ask] = play.read(item).asks
    author.send(f"/items/{item}/save", **author.filled(), then=f"adopt:{ask.id}")
    content = play.read(item).content
    assert (content["answer"], content["excerpt"], content["theme"]) == ("Mjomba", "Mjomba hutoa mahari.", "Social")
    author.send(f"/items/{item}/save", **author.filled(), checklist=list(REQUIREMENTS), then="submit")
    assert play.read(item).stage == "measure"


@pytest.mark.slow
def test_inspiration_is_others_accepted_items_in_english_for_authors_only(
    database: Database, models: dict[str, Any]
) -> None:
    play = play_with(database, models, reviewer="inspector")
    amina, inspector = play.person(Role.AUTHOR, "Amina"), play.person(Role.INSPECTOR, "Ina")
    ines = play.person(Role.AUTHOR, "Ines", "Spain", "Spanish, English")
    item = write(amina, language="sw")
    play.answer()
    assert "wedding night" not in ines.open("/inspiration").text, "not before it is accepted"
    review(inspector, item, **YES, verdict="accept")
    page = ines.open("/inspiration").text
    assert "It is a wedding night in Mombasa" in page
    assert "What does the guest get first?" in page
    for hidden in (ITEM["scenario"], ITEM["answer"], "Amina", "Ina", "accept"):
        assert str(hidden) not in page
    assert "wedding night" not in amina.open("/inspiration").text, "one's own are no inspiration"
    juma = play.person(Role.AUTHOR, "Juma")
    assert "wedding night" not in juma.open("/inspiration").text, "nor those in one's own language"
    assert inspector.open("/inspiration").status_code == 404
    assert ines.open(f"/items/{item}").status_code == 404, "the item itself stays hidden"
    assert Player(play.browser(), play).open("/inspiration").url.path == "/login"
    page = ines.open(f"/new?source=inspiration&theme=Social&inspired_by={item}&scenario=<b>").text
    assert f'name="inspired_by" value="{item}"' in page
    assert 'value="inspiration" checked' in page
    assert "<b>" not in page
    teaming = Play(database, "culturalteaming")
    assert teaming.person(Role.AUTHOR, "Zoe").open("/inspiration").status_code == 404


@pytest.mark.slow
def test_no_inspiration_where_the_organiser_wants_none(database: Database, models: dict[str, Any]) -> None:
    play = play_with(database, models, inspiration=False)
    amina, juma = play.person(Role.AUTHOR, "Amina"), play.person(Role.AUTHOR, "Juma")
    item = write(amina, language="sw")
    play.answer()
    review(juma, item, **YES, verdict="accept")
    assert "wedding night" not in play.person(Role.AUTHOR, "Ines", "Spain", "Spanish").open("/inspiration").text


@pytest.mark.slow
def test_after_the_pilot_the_organiser_lets_an_author_go_on(database: Database) -> None:
    play = play_with(database, {}, pilot=2)
    author, other = play.person(Role.AUTHOR, "Amina"), play.person(Role.AUTHOR, "Juma")
    for number in range(2):
        assert "Your first items are a trial" in author.open().text
        write(author, language="sw", question=f"Anapewa nini kwanza siku ya {number}?")
    assert "You have written your first items" in author.open().text
    refused = author.open("/new")
    assert refused.status_code == 409
    assert "The organiser will let you go on" in refused.text
    assert author.send("/items", **ITEM, then="submit").status_code == 409
    organiser = play.organiser()
    people = organiser.open("/people").text
    assert "2 / 2" in people
    identifier = play.read(next(item.id for item in read_items(database, play.campaign))).author
    assert author.browser.post(f"/c/{play.campaign.id}/people/{identifier}/release").status_code in (403, 404)
    author.open("/me")
    assert author.send(f"/people/{identifier}/release").status_code == 404, "authors do not release themselves"
    organiser.send(f"/people/{identifier}/release")
    assert "may go on" in organiser.open("/people").text
    write(author, language="sw", question="Anapewa nini mwisho?")
    assert "Your first items are a trial" in other.open().text, "everybody has a pilot of their own"
    assert "siku ya 1" in organiser.open(f"/items?author={identifier}").text
    assert "siku ya 1" not in organiser.open("/items?author=nobody").text
