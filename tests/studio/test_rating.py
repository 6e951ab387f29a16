"""The rating campaign: what comes in, what people see and say, what comes out."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from mores.cli import mores
from mores.errors import InputError
from mores.longanswer.records import LongAnswer
from mores.rating.ratings import open_ratings
from mores.studio.campaigns import open_kind
from mores.studio.campaigns.rating.content import admit, join, read_answers
from mores.studio.campaigns.rating.forms import RatingSettings, rate_form
from mores.studio.campaigns.rating.results import export, read_judgements, read_ratings, summarise
from mores.studio.data.incoming import Incoming
from mores.studio.form import FormError, as_seen, read_form
from mores.studio.manage import import_files, new_campaign
from mores.studio.records import CampaignItem, ItemStatus, ItemVote, Role
from mores.studio.store.campaigns import SettingsError, open_campaign, read_settings
from mores.studio.store.database import Database, open_database
from mores.studio.store.items import read_items
from mores.types import Failure, FailureKind
from tests.studio.play import Play
from tests.studio.rating_life import ANSWERS, QUESTION, ROW, bring, letters, opinion, places, rate

SETTINGS = RatingSettings(title="Long answers")
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
KESTREL, HERON, WREN = ANSWERS


def item(answers: dict[str, str] | None = None, **content: Any) -> CampaignItem:
    admitted = admit(SETTINGS, {"question": QUESTION, "answers": ANSWERS if answers is None else answers} | content)
    place = {"stage": "rate", "language": "sw", "region": "KE", "created": NOW, "updated": NOW}
    return CampaignItem(id="i1", campaign="c", author=None, content=admitted, **place)


def vote(about: CampaignItem, person: str, ratings: dict[str, int], *best: str, **changes: Any) -> ItemVote:
    answer = opinion(about, ratings) | places(about, *best) | {"reason": "Because."}
    answer |= {name: [] for name in answer if name.startswith("spans_")} | changes
    order = as_seen(rate_form(SETTINGS, about), about.id, person).blocks
    return ItemVote(person=person, stage="rate", version=1, answer=answer, at=NOW, seconds=90, order=order)


# What comes in.


def test_answers_get_letters_that_say_nothing_about_their_models() -> None:
    first: Counter[str] = Counter()
    for number in range(300):
        answers = {model: f"{text} {number}" for model, text in ANSWERS.items()}
        first[item(answers, question=f"Question {number}?").content["answers"][0]["model"]] += 1
    assert all(70 < first[model] < 130 for model in ANSWERS), first
    turned = dict(reversed(ANSWERS.items()))
    assert item(turned).content == item().content, "the order in the file does not matter"


def test_what_is_exported_is_admitted_as_it_is() -> None:
    content = item(reference="Tea", type="specific").content
    assert admit(SETTINGS, content) == content


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "no answers"),
        ({"question": "Why?"}, "no answers"),
        ({"question": " ", "answers": ANSWERS}, "no 'question'"),
        ({"question": "Why?", "answers": "Because."}, "'answers' is not an object"),
        ({"question": "Why?", "answers": ["Because."]}, "'answers' is not an object"),
        ({"question": "Why?", "answers": {"m": {"a": 1}}}, "'text' is dict"),
        ({"question": "Why?", "answers": {"m": "x" * 60_000}}, "at most 50,000"),
        ({"question": "Why?", "answers": {str(n): "So." for n in range(10)}}, "at most 9"),
        ({"question": "Why?", "answers": [{"model": "m", "text": "A"}, {"model": "m", "text": "B"}]}, "two answers of"),
        ({"question": "Why?", "answers": [{"model": "m", "text": "A", "letter": "q"}]}, "use a"),
        ({"question": "Why?", "answers": [{"text": "A"}]}, "no model"),
        ({"question": "Why?", "answers": {"m": "A"}, "refernce": "B"}, "did you mean 'reference'"),
        ({"question": "Why?", "answers": {"m": "A"}, "answer_m": "B"}, "keep one of them"),
        ({"question": "Why?", "answers": {"m": "A"}, "failed": ["n"]}, "'failed' is not an object"),
    ],
)
def test_what_cannot_be_rated_is_refused_with_the_fix(content: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        admit(SETTINGS, content)


def test_a_table_has_a_column_for_each_model(database: Database) -> None:
    play = Play(database, "rating", languages=["sw"])
    bring(play, name="items.csv", text="question,answer_One,answer_Two\nWhy?,So.,-1 because\nHow?,,Well.\n")
    first, second = play.items()
    assert {answer["model"]: answer["text"] for answer in first.content["answers"]} == {
        "One": "So.",
        "Two": "-1 because",
    }
    assert second.content["failed"] == {"One": "no answer"}
    page = bring(play, name="items.csv", text="question,answer_One\nWhy?,So.\n,So.\n")
    assert "items.csv:3: no &#39;question&#39;" in page
    assert len(play.items()) == 2, "nothing is written where something is wrong"
    page = play.organiser().open("/data").text
    assert "<code>answer_NAME</code>" in page, "the page says what columns a file has"


def long_row(model: str, question: str = "Why?", answer: str | None = "So.", **fields: Any) -> dict[str, Any]:
    failure = None if answer else Failure(kind=FailureKind.MODEL, reason="timeout")
    values = LongAnswer(id="q", question=question, answer=answer, language="sw", model=model, failure=failure, **fields)
    return values.model_dump(mode="json")


def run_of(folder: Path, *rows: dict[str, Any]) -> Path:
    folder.mkdir(parents=True)
    (folder / "answers.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return folder


def test_runs_of_several_models_are_joined_by_question(tmp_path: Path) -> None:
    (tmp_path / "campaign.yaml").write_text("kind: rating\ntitle: Runs\n", "utf-8")
    database = str(tmp_path / "studio.db")
    campaign, _ = new_campaign(database, tmp_path / "campaign.yaml")
    runs = [
        run_of(tmp_path / "a", long_row("A", kind="specific"), long_row("A", "How?", None)),
        run_of(tmp_path / "b" / "longform", long_row("B", answer="No.", kind="specific")).parent,
        run_of(tmp_path / "c", long_row("C", "How?", "Well."), long_row("C", answer="Yes.", topic="tea")),
    ]
    command = ["studio", "--database", database, "import", campaign.id, *map(str, runs)]
    for expected in ("2 items, 0 answers\n", "0 items, 0 answers; already there: 2\n"):
        done = CliRunner().invoke(mores, command)
        assert done.output == expected, done.output
    store = open_database(database)
    first, second = read_items(store, open_campaign(store, campaign.id))
    store.close()
    assert {answer["model"]: answer["text"] for answer in first.content["answers"]} == {
        "A": "So.",
        "B": "No.",
        "C": "Yes.",
    }
    assert (first.content["type"], first.language) == ("specific", "sw")
    assert [answer["model"] for answer in second.content["answers"]] == ["C"]
    assert second.content["failed"] == {"A": "timeout"}, "a missing answer is not forgotten"
    with pytest.raises(InputError, match=r"no answers\.jsonl in it"):
        import_files(database, campaign.id, [tmp_path])


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"model": "A"}, "run:2: a second answer of 'A' to this question, after run:1"),
        ({"model": ""}, "run:2: no 'model'"),
        ({"model": "B", "question": ""}, "run:2: no 'question'"),
        ({"model": "B", "type": "agnostic"}, "run:2: 'type' is 'agnostic', and 'specific' in run:1"),
        ({"model": "B", "anser": "So."}, "run:2: unknown field 'anser'; did you mean 'answer'?"),
    ],
)
def test_rows_that_cannot_be_joined_are_refused_with_their_place(second: dict[str, Any], message: str) -> None:
    first = {"question": "Why?", "model": "A", "answer": "So.", "type": "specific"}
    with pytest.raises(InputError, match=message.replace("?", r"\?")):
        join([Incoming("run:1", first, "", "sw"), Incoming("run:2", {"question": "Why?"} | second, "", "sw")])


def test_the_same_question_in_another_language_is_another_item() -> None:
    rows = [Incoming(f"r:{n}", {"question": "Tea?", "model": "A", "answer": "Yes."}, "", n) for n in ("sw", "en")]
    assert len(join(rows)) == 2


# What people see and say.


def test_each_person_sees_an_order_of_their_own_and_all_orders_are_as_frequent() -> None:
    form = rate_form(SETTINGS, item())
    orders = Counter(as_seen(form, "i1", f"person {number}").blocks for number in range(1200))
    assert set(orders) == set(permutations("abc"))
    assert all(150 < count < 250 for count in orders.values()), orders
    assert as_seen(form, "i1", "anna").blocks == as_seen(form, "i1", "anna").blocks
    assert len({as_seen(form, f"i{number}", "anna").blocks for number in range(50)}) == 6, "another for each question"


def test_the_form_asks_about_each_answer_and_then_for_the_ranking() -> None:
    form = rate_form(SETTINGS, item())
    assert form.steps == 2
    asked = [field.name for field in form.select_step(1).fields if field.block == "a"]
    assert asked == [f"{name}_a" for name in ("language", "spans", "factuality", "omissions", "comment", "rating")]
    assert [field.name for field in form.select_step(2).fields] == ["rank_a", "rank_b", "rank_c", "reason"]
    assert rate_form(SETTINGS, item({"only": "This."})).steps == 1, "one answer cannot be ranked"
    few = RatingSettings(title="x", marking=False, comments=False, reasons=False, error_types=("spelling",))
    assert "spans_a" not in {field.name for field in rate_form(few, item()).fields}
    optional = {field.name for field in rate_form(few, item()).fields if not field.required}
    assert optional == {"comment_a", "comment_b", "comment_c", "reason"}


def test_two_answers_share_a_place_only_where_ties_are_allowed() -> None:
    sent = {"rank_a": ["1"], "rank_b": ["1"], "rank_c": ["3"], "reason": ["Both are good."]}
    with pytest.raises(FormError) as refused:
        read_form(rate_form(SETTINGS, item()).select_step(2), sent)
    assert set(refused.value.problems) == {"rank_a", "rank_b"}
    ties = rate_form(SETTINGS.model_copy(update={"ties": True}), item()).select_step(2)
    assert read_form(ties, sent)["rank_b"] == "1"
    with pytest.raises(FormError):
        read_form(ties, sent | {"rank_a": ["2"], "rank_b": ["2"]})


def test_types_of_mistakes_are_those_of_the_campaign() -> None:
    form = rate_form(SETTINGS.model_copy(update={"error_types": ("spelling", "culture")}), item({"m": "Tea first."}))
    mark = {"part": "text", "start": 0, "end": 3, "quote": "Tea", "severity": "minor", "type": "culture"}
    sent = {name: [value] for name, value in opinion(item({"m": "Tea first."}), {"m": 3}).items()}
    read = read_form(form, sent | {"spans_a": [json.dumps([mark])]})
    assert read["spans_a"][0]["type"] == "culture"
    with pytest.raises(FormError):
        read_form(form, sent | {"spans_a": [json.dumps([mark | {"type": "else"}])]})


def play_of(database: Database, **settings: Any) -> Play:
    play = Play(database, "rating", languages=["sw"], raters=2, **settings)
    assert "1 items" in bring(play, ROW)
    return play


def test_names_of_models_reach_no_page_of_an_annotator(database: Database) -> None:
    play = play_of(database, practice=[PRACTICE], checks=[PRACTICE], check_every=2)
    player = play.person(Role.ANNOTATOR)
    pages = [player.open("/welcome").text, player.open().text]
    name = player.take()
    assert name
    shown = play.read(name)
    pages.append(player.open(f"/items/{name}").text)
    order = as_seen(rate_form(SETTINGS, shown), name, play.items()[0].holds[0].person).blocks
    texts = {answer["letter"]: answer["text"] for answer in shown.content["answers"]}
    places_on_page = [pages[-1].index(texts[letter]) for letter in order]
    assert places_on_page == sorted(places_on_page), "Answer 1 comes first"
    half = opinion(shown, dict.fromkeys(ANSWERS, 3)) | {"rating_a": ""}
    token = {"x-csrf-token": player.hidden()["csrf"]}
    draft = player.browser.put(f"/c/{play.campaign.id}/drafts/{name}", data=half, headers=token)
    refused = player.send(f"/items/{name}/vote", step="1", **half)
    assert refused.status_code == 422
    pages += [draft.text, refused.text, player.open(f"/items/{name}").text, player.open(f"/items/{name}/state").text]
    player.open(f"/items/{name}")
    pages.append(player.send(f"/items/{name}/vote", step="1", **opinion(shown, dict.fromkeys(ANSWERS, 3))).text)
    twice = player.send(f"/items/{name}/vote", step="2", rank_a="1", rank_b="1", rank_c="2", reason="x")
    assert twice.status_code == 422
    assert "Two answers have this place" in twice.text
    ranking = places(shown, HERON, KESTREL, WREN)
    pages += [twice.text, player.send(f"/items/{name}/vote", step="2", **ranking, reason="x").text]
    pages += [player.open(f"/items/{name}").text, player.open("/practice").text, player.open().text]
    for path in ("/figures", "/data", f"/items/{name}/life", "/overview", "/items", "/card"):
        assert player.open(path).status_code == 404
    for page in pages:
        assert "secret-" not in page
    organiser = play.organiser()
    assert "secret-heron" in organiser.open(f"/items/{name}/life").text
    assert "secret-heron" in organiser.open("/figures").text


PRACTICE = {
    "content": {
        "question": "How many days has a week?",
        "answers": [{"letter": "a", "text": "Ten."}, {"letter": "b", "text": "Seven."}],
    },
    "answer": {"factuality_a": "major", "rank_b": "1"},
    "explanation": "It has seven.",
    "language": "sw",
}


def test_practice_has_feedback_and_attention_checks_are_counted(database: Database) -> None:
    play = play_of(database, practice=[PRACTICE], pass_share=1, checks=[PRACTICE], check_every=1)
    player = play.person(Role.ANNOTATOR)
    assert player.take() is None, "the test comes first"
    given = {f"{name}_{letter}": value for letter in "ab" for name, value in FREE.items()}
    given |= {"factuality_b": "none", "factuality_a": "major", "rank_a": "2", "rank_b": "1", "reason": "x"}
    player.open("/practice")
    page = player.send("/practice", number="0", **given).text
    assert "1 of 1 are correct" in page
    assert "It has seven." in page
    name = player.take()
    assert name
    assert play.read(name).check == PRACTICE["answer"]
    player.open(f"/items/{name}")
    player.send(f"/items/{name}/vote", step="1", **given)
    player.open(f"/items/{name}")
    player.send(f"/items/{name}/vote", step="2", rank_a="2", rank_b="1", reason="x")
    assert play.read(name).votes, "the check is answered"
    archive = export_of(play)
    assert "Ten." not in archive["ratings.csv"], "checks are no ratings"


FREE = {"language": "yes", "spans": "[]", "omissions": "none", "comment": "x", "rating": "3"}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"content": {"question": "Q?", "answers": {"model": "text"}}}, "a list of"),
        ({"content": {"question": "Q?", "answers": [{"letter": "b", "text": "x"}]}}, "use a"),
        ({"answer": {"rating_q": "1"}}, "unknown field 'rating_q'"),
    ],
)
def test_practice_that_cannot_be_answered_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        read_settings(open_kind("rating"), {"title": "x", "practice": [PRACTICE | wrong]})


@pytest.mark.slow
def test_somebody_who_cannot_judge_gives_the_question_to_another(database: Database) -> None:
    play = play_of(database)
    player = play.person(Role.ANNOTATOR)
    name = player.take()
    assert name
    player.send(f"/items/{name}/decline", reason="I have never been there.")
    assert player.take() is None
    assert play.person(Role.ANNOTATOR, "Another").take() == name
    assert play.person(Role.ANNOTATOR, "Foreign", "Germany", "German").take() is None, "they do not know the language"


# What comes out.


def export_of(play: Play) -> dict[str, str]:
    organiser = play.organiser()
    organiser.open("/data")
    archive = ZipFile(io.BytesIO(organiser.send("/export", format="folder").content))
    return {name: archive.read(name).decode() for name in archive.namelist()}


@pytest.mark.slow
def test_from_an_import_to_mores_rate(database: Database, tmp_path: Path) -> None:
    play = play_of(database)
    bring(play, ROW | {"question": "And last?", "type": "agnostic"})
    names = ["Amina", "Juma"]
    for name in names:
        player = play.person(Role.ANNOTATOR, name)
        while item_id := player.take():
            best = (HERON, KESTREL, WREN) if name == "Amina" else (KESTREL, HERON, WREN)
            rate(player, item_id, {KESTREL: 4, HERON: 5, WREN: 1}, *best)
    assert {each.status for each in play.items()} == {ItemStatus.ACCEPTED}
    files = export_of(play)
    assert not [name for name in names if name in files["ratings.csv"]], "people are numbers"
    (tmp_path / "ratings.csv").write_text(files["ratings.csv"], "utf-8", newline="")
    done = CliRunner().invoke(mores, ["rate", str(tmp_path / "ratings.csv"), "--out", str(tmp_path / "study")])
    assert done.exit_code == 0, done.output
    study = json.loads((tmp_path / "study" / "rate.json").read_text("utf-8"))
    assert (study["n"], study["unrated"], study["unread"], study["replaced"]) == (12, 0, [], [])
    assert study["groups"]["models"] == sorted(ANSWERS)
    assert study["groups"]["types"] == ["specific", "agnostic"]
    wins = {each["model"]: each["wins"]["value"] for each in study["ranking"]["placings"] if each["type"] is None}
    assert wins == {HERON: 0.5, KESTREL: 0.5, WREN: 0.0}
    rows = list(csv.DictReader(io.StringIO(files["ratings.csv"])))
    for row in rows:
        place = next(each for each in play.items() if each.id == row["question_id"])
        [given] = [
            each for each in place.votes if each.order.index(letters(place)[row["model"]]) + 1 == int(row["position"])
        ][:1]
        assert float(row["seconds"] or 0) < 40, "the browser's 120 seconds cannot have passed by the server's clock"
        assert given.answer["reason"] == row["reason"]
    assert {(row["annotator"], row["model"], row["rank"]) for row in rows} >= {("p2", HERON, "1"), ("p3", HERON, "2")}


@pytest.mark.slow
@given(text=st.text(min_size=3).map(str.strip).filter(lambda text: len(text) > 2), data=st.data())
def test_texts_and_marks_come_out_as_they_went_in(text: str, data: st.DataObject, tmp_path_factory: Any) -> None:
    about = item({"m": text})
    answer = about.content["answers"][0]["text"]
    start = data.draw(st.integers(0, max(len(answer) - 1, 0)))
    end = data.draw(st.integers(start + 1, len(answer)))
    mark = {"part": "text", "start": start, "end": end, "quote": answer[start:end], "severity": "major"}
    rated = about.model_copy(update={"votes": (vote(about, "p1", {"m": 2}, "m", spans_a=[mark], comment_a=answer),)})
    path = tmp_path_factory.mktemp("rate") / "ratings.csv"
    path.write_bytes(next(export(SETTINGS, [rated])).read())
    file = open_ratings(path)
    assert (file.unread, file.replaced) == ((), {})
    [read] = file.ratings
    assert read == read_ratings([rated])[0]
    assert (read.answer, read.comment) == (answer, answer)
    assert read.spans is not None
    assert answer[read.spans[0].start : read.spans[0].end] == read.spans[0].quote


@pytest.mark.parametrize(
    "text",
    ["=1+1", "- one\n- two", "+1", "@me", "'=quoted", "''-twice", "'tis", 'a "b", c', "a\u2028b\u0085c", "👩‍👩‍👧 نص"],
)
def test_texts_come_back_from_a_table_that_is_safe_in_a_spreadsheet(text: str, tmp_path: Path) -> None:
    about = item({"m": text})
    path = tmp_path / "ratings.csv"
    path.write_bytes(
        next(export(SETTINGS, [about.model_copy(update={"votes": (vote(about, "p1", {"m": 2}, "m"),)})])).read()
    )
    assert [rating.answer for rating in open_ratings(path).ratings] == [text]


def judged_item() -> CampaignItem:
    about = item()
    letter = letters(about)[WREN]
    mark = {"part": "text", "start": 11, "end": 18, "quote": "nothing", "severity": "major", "explanation": "Tea!"}
    votes = (
        vote(about, "p1", {KESTREL: 4, HERON: 5, WREN: 1}, HERON, KESTREL, WREN, **{f"spans_{letter}": [mark]}),
        vote(about, "p2", {KESTREL: 5, HERON: 4, WREN: 1}, HERON, KESTREL, WREN, **{f"spans_{letter}": [mark]}),
    )
    return about.model_copy(update={"votes": votes})


def test_marked_mistakes_are_judgements_as_those_of_a_metric() -> None:
    judgements = list(read_judgements([judged_item()]))
    assert len(judgements) == 6
    scores = {(each.judge, each.text): each.score for each in judgements}
    assert scores["p1", ANSWERS[WREN]] == -5
    assert scores["p2", ANSWERS[HERON]] == 0
    [error] = next(each for each in judgements if each.score == -5).report.errors  # type: ignore[union-attr]
    assert (error.quote, error.explanation) == ("nothing", "Tea!")


def test_what_the_organiser_took_out_is_in_no_result() -> None:
    for status in (ItemStatus.REJECTED, ItemStatus.WITHDRAWN):
        out = judged_item().model_copy(update={"status": status})
        assert read_ratings([out]) == []
        assert summarise(SETTINGS, [out]) == {}


def test_the_results_are_the_ratings_added_up() -> None:
    results = summarise(SETTINGS, [judged_item()])["results"]
    assert [(row.model, row.spread.counts) for row in results.models] == [
        (HERON, (0, 0, 0, 1, 1)),
        (KESTREL, (0, 0, 0, 1, 1)),
        (WREN, (2, 0, 0, 0, 0)),
    ]
    assert [row.spread.mean.value for row in results.models] == [4.5, 4.5, 1.0]
    assert [row.placing.places for row in results.models] == [(2, 0, 0), (0, 2, 0), (0, 0, 2)]
    assert {(pair.first, pair.second): (pair.won, pair.lost) for pair in results.pairs}[HERON, WREN] == (2, 0)
    about = {row.column: row.alpha for row in results.agreement.coefficients}
    assert about["rating"].n == 3
    assert 0 < about["rating"].value < 1, "they differ about two answers by one point"
    assert results.marks.f1.value == 1.0
    assert (results.ratings, results.questions, results.people) == (6, 1, 2)


def test_failed_answers_are_counted_beside_the_means() -> None:
    about = judged_item()
    content = about.content | {"failed": {HERON: "timeout"}}
    results = summarise(SETTINGS, [about, about.model_copy(update={"id": "i2", "votes": (), "content": content})])[
        "results"
    ]
    assert {row.model: row.failed for row in results.models} == {HERON: 1, KESTREL: 0, WREN: 0}


def test_answers_are_read_in_the_order_of_their_letters() -> None:
    answers = [{"letter": "b", "model": "m", "text": "B"}, {"letter": "a", "model": "n", "text": "A"}]
    assert [answer["text"] for answer in read_answers({"answers": answers})] == ["A", "B"]
