"""Hostile input through the real app: forms, YAML and files; it is refused with a reason, or kept as a text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from httpx2 import Response
from sqlalchemy import update

from mores.errors import InputError
from mores.studio.campaigns import KINDS, open_kind
from mores.studio.demo import FILE
from mores.studio.form import FormField
from mores.studio.plain_yaml import read_yaml
from mores.studio.records import Person, Role
from mores.studio.store.campaigns import parse_campaign
from mores.studio.store.database import Database, open_database
from mores.studio.store.items import perform
from mores.studio.store.tables import people
from mores.studio.web.security import TOKEN_HEADER, token_for
from mores.studio.web.visit import COOKIE
from mores.studio.workflow import Create
from tests.studio.planted import HOSTILE
from tests.studio.play import Play, Player
from tests.studio.test_planted import Reader

TEXTS = {
    "markup": HOSTILE,
    "long": "x" * 30_000,
    "nothing to see": "\u200b\u2060\ufeff\u202e",
    "NUL": "a\0b\0",
    "formats": "%s %(x)s {} {0.__class__} {{ config }} {% raw %}",
    "formula": '=HYPERLINK("http://evil.example")',
    "path": "../../../../etc/passwd",
    "number": "1e999",
    "not a number": "nan",
    "JSON": '"}],"x":[{',
    "YAML": "- &a [*a]\n!!python/object:x",
    "lines": "a\r\nSet-Cookie: evil=1\r\n\r\n",
}


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    database = open_database(tmp_path_factory.mktemp("hostile") / "studio.db")
    yield Play(database, "culturalteaming", regions=["Kenya"])
    database.close()


def post(player: Player, path: str, **sent: Any) -> Response:
    browser = player.browser
    headers = {TOKEN_HEADER: token_for(player.stage.app.state.studio.key, browser.cookies[COOKIE])}
    return browser.post(path, headers=headers, follow_redirects=False, **sent)


def fill(field: FormField, text: str) -> list[str]:
    """A field with this text in it wherever the form takes any, else with its first option."""
    if field.options:
        return [field.options[0][0]]
    return [f"https://example.org/{text}" if field.kind == "link" else text] * max(field.count)


OFTEN = {"culturalteaming", "marking"}


@pytest.mark.parametrize("kind", [pytest.param(k, marks=[pytest.mark.slow] * (k not in OFTEN)) for k in KINDS])
def test_hostile_texts_in_every_field(database: Database, kind: str) -> None:
    play = Play(database, kind, regions=["Kenya"], languages=["English"])
    author, home = play.person(Role.AUTHOR, "Amina", language="English"), f"/c/{play.campaign.id}"
    organiser = play.organiser()
    stage = play.campaign.flow.stages[0]
    fields = stage.form(_blank(play)).fields
    written = (200, 303, 409, 413, 422) if stage.own else (404,)  # nobody writes items of some kinds
    for text in TEXTS.values():
        values: dict[str, Any] = {field.name: fill(field, text) for field in fields}
        for then in ("save", "submit", f"ask:{text[:20]}", f"adopt:{text[:20]}"):
            sent = values | {"then": then, "seconds": text[:99], "key": f"{then}{text}"[:99], "region": "KE"}
            answer = post(author, f"{home}/items", data=sent)
            assert answer.status_code in written, (text[:20], answer.text)
        for region in (text, ""):
            answer = post(author, f"{home}/items", data=values | {"then": "save", "region": region, "language": text})
            assert answer.status_code in written
        for path in ("/me", "/me/password", "/language"):
            names = ("name", "email", "nationality", "home", "languages", "locale", "password", "back")
            answer = post(author, path, data=dict.fromkeys(names, text) | {"name": text[:90]})
            assert answer.status_code in (303, 422), path
            assert "evil" not in answer.headers
        for path, name in (("/invite", "note"), ("/settings", "title"), ("/export", "format"), ("/invite", "role")):
            answer = post(organiser, f"{home}{path}", data={"role": "author", "uses": text[:99], name: text})
            assert answer.status_code in (200, 303, 409, 422), path
        assert Reader(organiser.open("/settings").text).problems == [], text[:20]  # the title is on every page
    for path in ("/items", "/people", "/overview", "/audit"):
        assert Reader(organiser.open(path).text).problems == [], path
    for path in (home, "/me", "/"):
        assert Reader(author.open(path).text).problems == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["marking", "rating"])  # kinds whose forms ask nothing that depends on an answer
def test_hostile_answers_of_judges(database: Database, kind: str) -> None:
    play = Play(database, kind)
    demo = yaml.safe_load((open_kind(kind).folder / FILE).read_text("utf-8"))
    boss = Person(id=play.organiser_id, roles=frozenset({Role.ORGANISER}))
    entry = next(entry for entry in demo["items"] if entry.get("language"))
    content = play.campaign.kind.admit(play.campaign.settings, entry["steps"][0]["import"])
    stage = play.campaign.flow.stages[0]
    place = {"region": entry.get("region", ""), "language": entry["language"]}
    item = perform(database, play.campaign, boss, Create("0" * 12, content, **place, stage=stage.name)).item
    judge = play.person(stage.role or Role.ANNOTATOR, region="Kenya", language=entry["language"])
    assert judge.take() == item.id
    form = stage.form(item)
    for step in range(1, form.steps + 1):
        for text in TEXTS.values():
            values: dict[str, Any] = {field.name: fill(field, text) for field in form.select_step(step).fields}
            for sent in (values, dict.fromkeys(values, text)):
                path = f"/c/{play.campaign.id}/items/{item.id}"
                answer = post(judge, f"{path}/vote", data=sent | {"step": str(step), "seconds": text[:99]})
                assert answer.status_code in (409, 422), (text[:20], answer.text)
                assert Reader(answer.text).problems == []
                assert post(judge, f"{path}/vote", data=sent | {"step": text}).status_code in (409, 422)
        kept = {
            field.name: ["[]"] if field.kind == "marks" else fill(field, HOSTILE)
            for field in form.select_step(step).fields
        }
        kept |= {name: [str(place)] for place, name in enumerate((n for n in kept if n.startswith("rank_")), 1)}
        answer = post(judge, f"{path}/vote", data=kept | {"step": str(step), "key": f"step {step}"})
        assert answer.status_code == 303, answer.text
        assert Reader(judge.open(f"/items/{item.id}").text).problems == []
    assert Reader(play.organiser().open(f"/items/{item.id}/life").text).problems == []


def _blank(play: Play) -> Any:
    from mores.studio.records import CampaignItem
    from mores.studio.store.items import now

    stage, moment = play.campaign.flow.stages[0].name, now()
    return CampaignItem(id="i", campaign="c", author="a", content={}, stage=stage, created=moment, updated=moment)


LAUGHS = "a: &a [x]\n" + "".join(f"{b}: &{b} [*{a}, *{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))


@pytest.mark.parametrize(
    "value",
    [
        LAUGHS,
        "[" * 50_000,
        "{a: " * 200 + "}" * 200,
        "title: 9999-99-99",
        "budget: " + "9" * 5000,
        "hold_hours: .nan",
        "hold_hours: .inf",
        'title: "\\0"',
        'title: "\\ud800"',
        "title: !!python/object/apply:os.system [id]",
        "? [a, b]\n: c",
        "title: &t\n  <<: *t",
        "practice: [{content: {a: .nan}, answer: {}}]",
        "\t- x",
        "title: a\nregions: [Atlantis]",
        "title: a\nextra: <script>alert(1)</script>",
    ],
)
def test_hostile_yaml_is_refused_with_a_reason(play: Play, value: str) -> None:
    with pytest.raises(InputError):
        parse_campaign(f"kind: culturalteaming\n{value}" if value[0] != "\t" else value, "file.yaml")
    with play.database.write() as connection:
        connection.execute(update(people).where(people.c.id == play.organiser_id).values(organises=True))
    organiser = play.organiser()
    answer = post(organiser, "/campaigns", data={"yaml": f"kind: culturalteaming\n{value}"})
    assert answer.status_code == 422
    assert "<script>alert" not in answer.text


def test_yaml_that_is_too_long_is_not_read() -> None:
    with pytest.raises(InputError, match="at most"):
        read_yaml("a" * 1_000_001, "file.yaml")


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 100_000,
        b'{"question": ' + b"9" * 5000 + b"}",
        b'{"question": NaN}',
        b'[{"data": {"question": "\\ud800\\u0000"}, "annotations": [{"result": [1e999]}]}]',
        b"\xff\xfe",
        b'question,question\n"',
        b"a" * 200_000 + b",\n",
        b'{"item": {}, "annotation": 5, "user_id": [[[]]]}',
    ],
)
def test_hostile_files_are_refused_with_a_reason(play: Play, data: bytes) -> None:
    organiser = play.organiser()
    for form in ("csv", "jsonl", "label-studio", "pearmut", "", "../x"):
        name = "../../<b>evil</b>.json\0"
        answer = post(
            organiser,
            f"/c/{play.campaign.id}/import",
            files={"file": (name, data)},
            data={"format": form},
        )
        assert answer.status_code == 422, (form, answer.text)
        assert "<b>evil" not in answer.text
