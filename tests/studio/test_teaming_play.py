"""A CulturalTeaming campaign through its pages, with a fake AI: draft, duel, verification, export, `mores bench`."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from starlette.testclient import TestClient

from mores.benchmark.folder import open_bench_run
from mores.engine import AskSettings
from mores.studio import app
from mores.studio.campaigns import open_kind
from mores.studio.demo import fill
from mores.studio.records import ItemStatus, Role
from mores.studio.store.database import Database
from mores.studio.store.items import now, perform, read_items
from mores.studio.store.people import add_person, change_member, read_profile, sign_in
from mores.studio.web.visit import COOKIE
from mores.studio.worker import AskWorker
from mores.studio.workflow import Answered
from tests.cli.conftest import Run, home, mores
from tests.studio.play import ADDRESS, Play, Player

__all__ = ["home", "mores"]

SCENE = "A guest comes. First there is tea, and nobody asks whether the guest wants any."
DRAFT: dict[str, Any] = {
    "question": "In Kenya, what do guests get first?",
    "options": ["A bowl of rice", "Tea, without being asked", "A song", "Nothing"],
    "correct": "B",
}
HARDER: dict[str, Any] = {
    "question": "In Kenya, what would a host not ask a guest?",
    "options": ["Whether they want tea", "How the family is", "Whether they came well", "How the cows are"],
    "correct": ["A"],
}
SEVERAL: dict[str, Any] = {
    "question": "In Kenya, which of these may a guest be served with tea?",
    "options": ["Mandazi", "Bread", "Raw fish", "Cheese fondue"],
    "correct": ["A", "B"],
}


def script(path: Path, *rows: tuple[str, str]) -> str:
    path.write_text("".join(f"{json.dumps({'contains': contains, 'answer': answer})}\n" for contains, answer in rows))
    return f"fake:{path}"


@pytest.fixture
def ai(tmp_path: Path) -> str:
    """An AI that drafts, knows the easy question, and chooses one option too few of the others."""
    return script(
        tmp_path / "ai.jsonl",
        ("They tell you a scene", json.dumps(DRAFT)),
        (DRAFT["question"], "B"),
        (HARDER["question"], "D"),
        (SEVERAL["question"], "A"),
    )


def think(database: Database, model: str) -> None:
    """Let the AI answer what waits."""
    asyncio.run(AskWorker(database, model, AskSettings(store=None)).answer_all())


def text(player: Player) -> str:
    assert player.page is not None
    return unescape(player.page.text)


@pytest.mark.slow
def test_the_author_takes_the_draft_and_plays_until_the_ai_is_beaten(database: Database, ai: str) -> None:
    play = Play(database, "culturalteaming", model=ai, regions=["Kenya"])
    author = play.person(Role.AUTHOR, "Amina")
    author.open("/new")
    author.send("/items", scene=SCENE, then="ask:draft")
    item = author.item
    assert "The AI is writing." in text(author)
    assert play.read(item).content["question"] == ""
    think(database, ai)
    author.open(f"/items/{item}")
    assert DRAFT["question"] in text(author)
    assert f'value="adopt:{item}.0"' in text(author)
    author.send(f"/items/{item}/save", scene=SCENE + " Always.", then=f"adopt:{item}.0")
    taken = play.read(item)
    assert taken.content == {**DRAFT, "scene": SCENE + " Always.", "correct": ["B"]}
    assert f'value="{DRAFT["options"][1]}"' in text(author)
    author.send(f"/items/{item}/save", **taken.content, then="submit")
    assert play.read(item).stage == "duel"
    assert "The AI is thinking." in text(author), "it is asked at once"
    think(database, ai)
    author.open(f"/items/{item}")
    assert "The AI is correct." in text(author)
    assert 'aria-label="90% confident"' in text(author)
    assert "Turn the question round" in text(author)
    author.send(f"/items/{item}/save", question="", options=["a", "b", "c", "d"], correct=["A"], then="ask:answer")
    assert author.page is not None
    assert author.page.status_code == 422
    assert len(play.read(item).asks) == 2, "half a question is not played"
    author.send(f"/items/{item}/save", **HARDER, then="ask:answer")
    think(database, ai)
    author.open(f"/items/{item}")
    assert "You beat the AI" in text(author)
    assert "Earlier rounds: 1" in text(author)
    assert DRAFT["question"] in text(author), "each round shows the version that was played"
    assert "fake" not in text(author), "authors never see the name of the model"
    author.send(f"/items/{item}/save", **HARDER, then="submit")
    assert play.read(item).stage == "verify"
    assert [ask.answer["beaten"] for ask in play.read(item).asks if ask.answer and ask.task == "answer"] == [
        False,
        True,
    ]


def test_the_ai_gives_hints_for_the_version_at_hand(database: Database, tmp_path: Path) -> None:
    hints = ["Turn the question round.", "Bring option C closer to tea.", "<b>Ask about a rarer drink.</b>"]
    wordy = f"Here they are: {json.dumps({'hints': hints})}"
    model = script(tmp_path / "ai.jsonl", ("up to three hints", wordy), (DRAFT["question"], "B"), ("", "no hints"))
    play = Play(database, "culturalteaming", model=model, regions=["Kenya"])
    author = play.person(Role.AUTHOR, "Amina")
    author.open("/new")
    author.send("/items", scene=SCENE, **DRAFT | {"correct": ["B"]}, then="submit")
    item = author.item
    think(database, model)
    author.send(f"/items/{item}/save", **HARDER, then="ask:hints")
    assert "Hints by the AI" in text(author)
    assert "The AI is thinking." in text(author)
    think(database, model)
    author.open(f"/items/{item}")
    assert all(hint in text(author) for hint in hints)
    assert author.page is not None
    assert "<b>Ask" not in author.page.text, "a model's words are text"
    assert "Earlier rounds" not in text(author), "hints are no round of the duel"
    last = play.read(item).asks[-1]
    assert (last.task, last.data["question"], last.answer) == ("hints", HARDER["question"], {"hints": hints})
    campaign = play.again()
    request = campaign.kind.tasks["hints"].request(play.read(item), last, campaign.settings)
    assert "The AI's answer to an earlier version: B" in request.messages[-1].content


@pytest.mark.parametrize("model", ["none", "fake:broken", "openai:nobody"])
def test_without_a_model_that_answers_the_author_goes_on(
    database: Database, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "key-that-nobody-sees")
    play = Play(database, "culturalteaming", model=model, regions=["Kenya"])
    author = play.person(Role.AUTHOR, "Amina")
    author.open("/new")
    if model == "none":
        assert "There is no AI to help you now." in text(author)
    author.send("/items", scene=SCENE, **HARDER, then="submit")
    item = author.item
    if model == "none":
        assert "There is no AI to play against now." in text(author)
        assert "ask:answer" not in text(author)
    elif model == "fake:broken":
        think(database, model)
        author.open(f"/items/{item}")
        assert "The model's answer cannot be used. You can ask again, or go on without it." in text(author)
    else:
        failure = "The model cannot be asked: openai:nobody at http://127.0.0.1:9/v1 says no"
        perform(database, play.campaign, None, Answered(f"{item}.0", None, failure), item=item)
        author.open(f"/items/{item}")
        assert "The model cannot be asked. You can ask again" in text(author)
    for secret in ("openai", "127.0.0.1", "fake:", "key-that"):
        assert secret not in text(author)
    author.send(f"/items/{item}/save", **HARDER, then="submit")
    assert play.read(item).stage == "verify"


def write(play: Play, author: Player, **question: object) -> str:
    author.open("/new")
    author.send("/items", scene=SCENE, **question, then="submit")
    item = author.item
    author.send(f"/items/{item}/save", **question, then="submit")
    assert play.read(item).stage == "verify"
    return item


def test_verifiers_see_only_the_question_each_in_an_order_of_their_own(database: Database) -> None:
    play = Play(database, "culturalteaming", regions=["Kenya", "Uganda"], ask_others=True)
    author = play.person(Role.AUTHOR, "Amina")
    odd = HARDER | {"options": ["100% tea", "<b>rice</b>", "%(a)s", "{{ 7 * 7 }}"]}
    item = write(play, author, **odd, region="KE")
    orders = set()
    for number in range(5):
        verifier = play.person(Role.VERIFIER, f"Verifier {number}")
        assert verifier.take() == item
        page = text(verifier)
        assert SCENE not in page
        assert "✓" not in page
        assert all(option in page for option in ("100% tea", "%(a)s", "{{ 7 * 7 }}"))
        assert "<b>rice</b>" not in verifier.page.text  # type: ignore[union-attr]
        orders.add(tuple(sorted(("100% tea", "%(a)s", "{{ 7 * 7 }}"), key=page.index)))
        verifier.send(f"/items/{item}/vote", answer=["A"], others=["B"])
        assert play.read(item).votes[-1].answer == {"answer": ["A"], "others": ["B"]}
    assert len(orders) > 1
    assert play.read(item).status is ItemStatus.ACCEPTED
    stranger = play.person(Role.VERIFIER, "Okello", region="Uganda")
    assert stranger.take() is None
    author.open(f"/items/{item}")
    assert "What the verifiers chose" in text(author)
    assert "Verifier 0" not in text(author)


def test_an_organiser_decides_where_the_verifiers_disagree(database: Database) -> None:
    play = Play(database, "culturalteaming", regions=["Kenya"])
    item = write(play, play.person(Role.AUTHOR, "Amina"), **HARDER)
    for answer in ("A", "A", "A", "B", "none"):
        verifier = play.person(Role.VERIFIER)
        verifier.take()
        verifier.send(f"/items/{item}/vote", answer=[answer])
    assert play.read(item).status is ItemStatus.REJECTED
    organiser = play.organiser()
    organiser.open(f"/items/{item}/life")
    organiser.send(f"/items/{item}/adjudicate", answer=["none"], outcome="next")
    assert play.read(item).status is ItemStatus.REJECTED, "a question has a correct option"
    organiser.open(f"/items/{item}/life")
    organiser.send(f"/items/{item}/adjudicate", answer=["A"], outcome="next", note="The others say so too.")
    decided = play.read(item)
    assert decided.status is ItemStatus.ACCEPTED
    counts = {"A": 3, "B": 1, "none": 1}
    result = {"answer": ["A"], "mode": "single", "adjudicated": True, "votes": 5, "agreeing": 3, "counts": counts}
    assert decided.results["verify"] == result
    files = {file.path: file.read() for file in play.campaign.kind.export(play.campaign.settings, [decided])}
    assert json.loads(files["items.jsonl"])["decided_by"] == "organiser"


def test_questions_are_english_whatever_their_author_speaks_and_about_their_own_region(database: Database) -> None:
    play = Play(database, "culturalteaming", regions=["Kenya", "Uganda", "Japan"])
    author = play.person(Role.AUTHOR, "Nakato", region="Uganda", language="Ganda")
    author.open("/new")
    assert 'name="language"' not in text(author)
    assert 'name="region"' not in text(author), "there is nothing to choose: she is from one of the three"
    item = write(play, author, **HARDER)
    assert (play.read(item).language, play.read(item).region) == ("en", "UG")


@pytest.mark.slow
def test_many_people_at_once_then_export_and_mores_bench(database: Database, mores: Run, home: Path, ai: str) -> None:
    play = Play(database, "culturalteaming", model=ai, regions=["Kenya"], title="Tea in Kenya")
    authors = [play.person(Role.AUTHOR, f"Author {number}") for number in range(3)]
    single = DRAFT | {"correct": ["B"]}
    questions = [single, HARDER, SEVERAL]
    with ThreadPoolExecutor(3) as pool:
        items = list(pool.map(lambda pair: write(play, pair[0], **pair[1]), zip(authors, questions, strict=True)))
    keys = {item: question["correct"] for item, question in zip(items, questions, strict=True)}
    verifiers = [play.person(Role.VERIFIER, f"Verifier {number}") for number in range(7)]

    def work(verifier: Player) -> int:
        done = 0
        while item := verifier.take():
            answer = keys[item] if item != items[1] else ["ABCD"[verifiers.index(verifier) % 3]]
            verifier.send(f"/items/{item}/vote", answer=answer, seconds="9")
            done += 1
        return done

    with ThreadPoolExecutor(7) as pool:
        assert sum(pool.map(work, verifiers)) == 15, "five votes on each of three items, with seven who want to"
    assert [play.read(item).status.value for item in items] == ["accepted", "rejected", "accepted"]
    assert all(len({vote.person for vote in play.read(item).votes}) == 5 for item in items)
    organiser = play.organiser()
    organiser.open("/overview")
    first = organiser.send("/export").content
    organiser.open("/overview")
    assert organiser.send("/export").content == first, "the same bytes again"
    with ZipFile(BytesIO(first)) as archive:
        archive.extractall(home / "export")
    folder = next(path.parent for path in (home / "export").rglob("__init__.py"))
    truth = [(f"Answer: {option}", str("ABCD"[place] in question["correct"]))
             for question in (single, SEVERAL) for place, option in enumerate(question["options"])]  # fmt: skip
    answers = [(SEVERAL["question"], "A"), (str(single["question"]), "B")]
    model = script(home / "model.jsonl", ("Which topic fits best?", "1"), *truth, *answers)
    done = mores("bench", str(folder), "--model", model, "--json")
    assert done.returncode == 0, done.stderr
    results = {result["benchmark"]: result for result in json.loads(done.stdout)}
    assert list(results) == ["tea-in-kenya-easy", "tea-in-kenya-hard"]
    assert results["tea-in-kenya-hard"]["figures"]["accuracy"]["value"] == 1.0
    easy = open_bench_run(next((home / "bench" / "tea-in-kenya-easy").iterdir()))
    by_id = {item.id: item for item in easy.items()}
    modes = {by_id[verdict.item_id].metadata["mode"]: verdict.label for verdict in easy.verdicts()}
    correct = next(item for item in by_id.values() if item.metadata["mode"] == "multi")
    assert correct.target == ("i, ii",)
    assert modes["single"] == "correct"
    assert (modes["multi"] == "correct") is (correct.choices[0] == "i, ii")
    named = mores("topics", f"{folder}:tea-in-kenya-hard", "--model", model, "--out", "topics")
    assert named.returncode == 0, named.stderr
    again = mores("bench", f"{folder}:tea-in-kenya-hard", "--model", model, "--labels", "topics", "--json")
    assert "topic" in json.loads(again.stdout)[0]["by"]


@pytest.mark.slow
def test_the_demo_has_every_state(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mores.studio.demo.all_kinds", lambda: [open_kind("culturalteaming")])
    with database.write() as connection:
        organiser = add_person(connection, read_profile("Olga"), organises=True)
    [campaign] = fill(database, organiser)
    items = list(read_items(database, campaign))
    states = {(item.stage, item.status.value) for item in items}
    assert states >= {
        ("write", "open"),
        ("duel", "open"),
        ("verify", "open"),
        ("verify", "accepted"),
        ("verify", "rejected"),
    }
    assert {item.results["verify"]["mode"] for item in items if item.status is ItemStatus.ACCEPTED} == {
        "single",
        "multi",
    }
    assert any(len(item.votes) == 2 for item in items if item.status is ItemStatus.OPEN)
    assert any(item.returns and item.stage == "duel" for item in items)
    browser = TestClient(app(database, model="none", store=None), base_url=ADDRESS)
    seen = []
    for item in items:
        assert item.author
        change_member(database, campaign, item.author, consented=now())
        for person, page in ((item.author, ""), (organiser, "/life")):
            browser.cookies.set(COOKIE, sign_in(database, person))
            answer = browser.get(f"/c/{campaign.id}/items/{item.id}{page}")
            assert answer.status_code == 200
            seen.append(unescape(answer.text))
    assert sum("This question came back to you:" in page for page in seen) == 1
    assert sum("Turn the question round" in page for page in seen) == 2, "the duel and the returned question"
    form = open_kind("culturalteaming").stages(campaign.settings)[2].form
    for practice in (*campaign.settings.practice, *campaign.settings.checks):
        field = form(items[0].model_copy(update={"content": practice.content})).fields[0]
        assert set(practice.answer["answer"]) <= {value for value, _ in field.options}
        assert len(practice.content["options"]) == 4
