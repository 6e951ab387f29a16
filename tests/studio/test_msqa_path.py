"""The whole way of an MSQA question through the real pages, with scripted models and a real search."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from mores.search import READS_FILES
from mores.studio.records import ItemStatus, Role
from mores.studio.store.database import Database
from mores.studio.store.items import rebuild
from tests.cli.conftest import run_in_process
from tests.studio.msqa_life import HOSTILE, INSPECTED, SOURCE, WRITTEN, YES
from tests.studio.play import Play, Player

EASY, HARD = "Qual é a capital do Brasil?", "Qual boi de Parintins é azul?"
FORM = {name: value for name, value in WRITTEN.items() if isinstance(value, str)}
FORM |= SOURCE | {name: "yes" for name, value in WRITTEN.items() if value is True}


def script(path: Path, *rows: tuple[str, str]) -> str:
    """A model that answers with the first row whose text occurs in the prompt."""
    path.write_text("".join(json.dumps({"contains": text, "answer": answer}) + "\n" for text, answer in rows))
    return f"fake:{path}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))
    return tmp_path


def checker(folder: Path, quality: str = "One bull is blue.\nVERDICT: UNIQUE") -> str:
    return script(
        folder / "checker.jsonl",
        ("You check whether evidence confirms", "[1] says so.\nVERDICT: CONFIRMED"),
        ("before they enter a benchmark", quality),
        ("into simplified Chinese", '{"question": "哪头牛是蓝色的？", "answer": "卡普里肖佐"}'),
        (f"\n{EASY}\n", "It says so.\nVERDICT: CORRECT"),
        ("Does the candidate answer give", "It does not.\nVERDICT: NOT_CORRECT"),
        ("", "Garantido"),
    )


def play_in(folder: Path, database: Database, **settings: object) -> Play:
    (folder / "corpus.txt").write_text("Em Parintins, o boi azul é o Caprichoso e o vermelho é o Garantido.")
    chosen = {"search": f"corpus:{folder / 'corpus.txt'}", "models": [script(folder / "one.jsonl", ("", "Garantido"))]}
    values = {"regions": ["Brazil"], "languages": ["Portuguese"], "validators": 1, "rounds": 2}
    return Play(database, "msqa", **({"model": checker(folder)} | values | chosen | settings))  # type: ignore[arg-type]


def person(play: Play, role: Role, name: str) -> Player:
    return play.person(role, name, "Brazil", "Portuguese")


def write(author: Player, **changes: str) -> str:
    author.open("/new")
    author.send("/items", **SOURCE, then="submit")
    author.send(f"/items/{author.item}/save", **(FORM | changes), then="submit")
    return author.item


@pytest.mark.slow
def test_from_an_invitation_to_a_benchmark_that_runs(database: Database, folder: Path) -> None:
    play = play_in(folder, database)
    author = person(play, Role.AUTHOR, "João")
    author.open("/new")
    author.send("/items", **SOURCE, then="submit")
    item = author.item
    for task in ("pretest", "translate"):
        author.send(f"/items/{item}/save", **(FORM | {"question": HARD, "single": ""}), then=f"ask:{task}")
    play.answer()
    page = author.open(f"/items/{item}").text
    assert "Garantido" in page
    translated = next(ask.id for ask in play.read(item).asks if ask.task == "translate")
    author.send(f"/items/{item}/save", **FORM, then=f"adopt:{translated}")
    assert play.read(item).content["question_zh"] == "哪头牛是蓝色的？"
    chinese = {"question_zh": "哪头牛是蓝色的？", "answer_zh": "卡普里肖佐"}
    answer = author.send(f"/items/{item}/save", **(FORM | chinese | {"hard": ""}), then="submit")
    assert (answer.status_code, answer.text.count("Please confirm.")) == (422, 1)

    author.send(f"/items/{item}/save", **(FORM | chinese | {"question": EASY}), then="submit")
    assert "Models are working on it" in author.open(f"/items/{item}").text
    play.answer()
    page = author.open(f"/items/{item}").text
    assert "Too easy: models answered correctly in 5 of 5 runs; at most 3 may be." in page
    assert "fake:" not in page  # model names are the organiser's

    author.send(f"/items/{item}/save", **(FORM | chinese | {"question": HARD}), then="submit")
    play.answer()
    assert play.read(item).stage == "inspect"
    inspector = person(play, Role.INSPECTOR, "Elena")
    assert inspector.take() == item
    page = inspector.open(f"/items/{item}").text
    assert page.count('class="state">passed') == 3
    assert "o boi azul é o Caprichoso" in page
    assert 'href="https://example.org/boi" rel="noopener noreferrer nofollow"' in page
    assert "fake:" not in page
    inspector.send(f"/items/{item}/vote", **INSPECTED)
    for name in ("Ana", "Rui"):
        validator = person(play, Role.VERIFIER, name)
        assert validator.take() == item
        assert "Checks by models" not in validator.open(f"/items/{item}").text
        validator.send(f"/items/{item}/vote", **YES)
    organiser = play.organiser()
    assert "To accept it, confirm" in organiser.open(f"/items/{item}/life").text
    refused = organiser.send(f"/items/{item}/adjudicate", outcome="next", format="yes")
    assert (refused.status_code, play.read(item).status) == (422, ItemStatus.OPEN)
    organiser.send(f"/items/{item}/adjudicate", outcome="next", format="yes", coherence="yes")
    assert play.read(item).status is ItemStatus.ACCEPTED

    assert "Versions that models checked" in organiser.open("/figures").text
    kept = play.read(item)
    rebuild(database, [play.again()])
    assert play.read(item) == kept

    archive = organiser.send("/export").content
    ZipFile(BytesIO(archive)).extractall(folder / "bench")
    assert organiser.send("/export").content == archive
    good = script(
        folder / "good.jsonl",
        ("Does the candidate answer give", "It does.\nVERDICT: CORRECT"),
        (HARD, "É o Caprichoso."),
    )
    done = run_in_process(folder, ("bench", "./bench", "--model", good, "--judge", good, "--json"))
    assert done.returncode == 0, done.stderr
    assert '"CO"' in done.stdout
    (answered,) = (json.loads(line) for line in next(folder.rglob("verdicts.jsonl")).read_text().splitlines())
    assert answered["item_id"] == item


@pytest.mark.slow
def test_a_model_that_fails_leaves_the_item_waiting_until_the_organiser_acts(database: Database, folder: Path) -> None:
    play = play_in(folder, database)
    checker(folder, quality="It depends.")
    author = person(play, Role.AUTHOR, "João")
    asked, decided = write(author), write(author, question="Qual boi é vermelho?")
    play.answer()
    for item in (asked, decided):
        assert (play.read(item).stage, [ask.task for ask in play.read(item).failed]) == ("check", ["quality"])
        page = author.open(f"/items/{item}").text
        assert "A model could not answer. The organisers see why." in page
        assert "It depends." not in page
    organiser = play.organiser()
    assert "Items that wait because a model could not answer: 2." in organiser.open("/overview").text
    assert organiser.open("/items?stuck=1").text.count(">a model failed<") == 2
    page = organiser.open(f"/items/{asked}/life").text
    assert "no verdict: the judge ends with &#39;It depends.&#39;" in page
    assert author.send(f"/items/{asked}/ask-again").status_code == 404

    checker(folder)
    organiser.open(f"/items/{asked}/life")
    organiser.send(f"/items/{asked}/ask-again")
    play.answer()
    assert play.read(asked).stage == "inspect"
    organiser.open(f"/items/{decided}/life")
    organiser.send(f"/items/{decided}/adjudicate", outcome="next", note="I know it.")
    assert play.read(decided).stage == "inspect"
    inspector = person(play, Role.INSPECTOR, "Elena")
    seen = {}
    for _ in range(2):
        taken = inspector.take()
        assert taken is not None
        seen[taken] = inspector.open(f"/items/{taken}").text
        inspector.send(f"/items/{taken}/vote", **INSPECTED, by_hand_quality="yes")
    assert "by_hand_quality" not in seen[asked]
    assert "by_hand_quality" in seen[decided]
    assert {play.read(asked).stage, play.read(decided).stage} == {"validate"}


def test_without_a_search_and_models_people_go_on_and_it_is_said(database: Database, folder: Path) -> None:
    play = play_in(folder, database, model="none", search="", models=[])
    item = write(person(play, Role.AUTHOR, "João"))
    assert play.read(item).stage == "inspect"
    inspector = person(play, Role.INSPECTOR, "Elena")
    inspector.take()
    page = inspector.open(f"/items/{item}").text
    assert page.count('class="state">not done') == 3
    assert "This campaign has no search." in page
    refused = inspector.send(f"/items/{item}/vote", **INSPECTED)
    assert (refused.status_code, refused.text.count("Please confirm.")) == (422, 3)
    by_hand = {f"by_hand_{name}": "yes" for name in ("retrieval", "quality", "difficulty")}
    inspector.send(f"/items/{item}/vote", **INSPECTED, **by_hand)
    assert play.read(item).stage == "validate"


def test_attention_checks_go_to_the_people_whose_form_has_their_answer(database: Database, folder: Path) -> None:
    known = {"content": SOURCE | WRITTEN, "answer": {"correct": "no"}, "region": "Brazil", "language": "Portuguese"}
    play = play_in(folder, database, checks=[known], check_every=1)
    validator = person(play, Role.VERIFIER, "Rui")
    item = validator.take()
    assert item is not None
    assert play.read(item).stage == "validate"
    assert person(play, Role.INSPECTOR, "Elena").take() is None


def test_an_author_sees_afterwards_what_others_said_in_words(database: Database, folder: Path) -> None:
    play = play_in(folder, database, rounds=1)
    author = person(play, Role.AUTHOR, "João")
    item = write(author)
    play.answer()
    for role, answer in ((Role.INSPECTOR, INSPECTED), (Role.VERIFIER, YES | {"note": "Muito bom"})):
        judge = person(play, role, role.value)
        assert judge.take() == item
        judge.send(f"/items/{item}/vote", **answer)
    assert "Muito bom" not in author.open(f"/items/{item}").text
    organiser = play.organiser()
    organiser.open(f"/items/{item}/life")
    organiser.send(f"/items/{item}/adjudicate", outcome="next", format="yes", coherence="yes")
    page = author.open(f"/items/{item}").text
    assert 'Is the answer correct there?</dt><dd dir="auto">Yes</dd>' in page
    assert "Muito bom" in page


@pytest.mark.parametrize("kind", READS_FILES)
def test_organisers_cannot_name_files_of_the_server_in_the_browser(database: Database, folder: Path, kind: str) -> None:
    secret = folder / "secret.txt"
    secret.write_text("The password is swordfish.")
    play = play_in(folder, database)
    organiser = play.organiser()
    organiser.open("/settings")
    refused = organiser.send("/settings", title="A campaign", search=f"{kind}:{secret}")
    assert refused.status_code == 422
    assert "Files of the server" in refused.text
    made = organiser.send("/campaigns", yaml=f"kind: msqa\ntitle: Mine\nsearch: {kind}:{secret}\n")
    assert made.status_code == 422
    assert "Files of the server" in made.text
    assert play.again().settings.search == f"corpus:{folder / 'corpus.txt'}"


def test_hostile_texts_are_only_text_on_every_page(database: Database, folder: Path) -> None:
    play = play_in(folder, database)
    author = person(play, Role.AUTHOR, "João")
    author.open("/new")
    author.send("/items", source_url="javascript:alert(1)", source_kind="encyclopedia", then="save")
    draft = author.item
    sent = author.send(f"/items/{draft}/save", source_url="javascript:alert(1)", source_kind="media", then="submit")
    assert (sent.status_code, play.read(draft).stage) == (422, "source")
    hostile = {"question": HOSTILE, "answer": HOSTILE, "culture": HOSTILE[:100], "source_desc": HOSTILE}
    link = 'https://example.org/?q="><script>alert(1)</script>'
    item = write(author, **hostile, source_url=link)
    play.answer()
    inspector = person(play, Role.INSPECTOR, "Elena")
    inspector.take()
    organiser = play.organiser()
    pages = [
        author.open(f"/items/{item}"),
        inspector.open(f"/items/{item}"),
        organiser.open(f"/items/{item}/life"),
        organiser.open(f"/items/{draft}/life"),
        organiser.open("/items"),
    ]
    for page in pages:
        assert page.status_code == 200
        assert "<script>alert" not in page.text
        assert 'href="javascript:' not in page.text
    assert "javascript:alert(1)" in pages[3].text
