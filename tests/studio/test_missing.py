"""Figures of campaigns where answers are missing because of what they would be: what is shown covers the truth."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from mores.studio.campaigns.culturall import KIND as CULTURALL
from mores.studio.campaigns.culturall.forms import CulturallSettings
from mores.studio.campaigns.culturalteaming import KIND as TEAMING
from mores.studio.campaigns.culturalteaming.rule import TeamingSettings
from mores.studio.campaigns.marking import KIND as MARKING
from mores.studio.campaigns.marking.forms import MarkingSettings
from mores.studio.campaigns.rating.results import summarise as summarise_ratings
from mores.studio.campaigns.validation.results import JudgedSample, compare_metrics
from mores.studio.campaigns.validation.tables import majority_table, metrics_table
from mores.studio.figures import Given, summarise_votes
from mores.studio.phrase import Phrase, phrase_share
from mores.studio.records import Ask, CampaignItem, ItemVote, Role
from mores.studio.store.database import Database
from mores.studio.web.pages import translator
from tests.studio.rating_life import ANSWERS, opinion, places
from tests.studio.test_rating import SETTINGS, item, play_of, vote
from tests.studio.test_validation_results import answer

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def make(number: int, stage: str, **values: Any) -> CampaignItem:
    fields: dict[str, Any] = {"id": f"i{number}", "campaign": "c", "author": "a", "language": "es", "content": {}}
    return CampaignItem(**fields | {"created": NOW, "updated": NOW, "stage": stage} | values)


def ends(shown: str) -> tuple[float, float]:
    """What a share is at least and at most, whatever is missing."""
    assert isinstance(shown, Phrase)
    assert shown.template == "{figure}; {low} to {high} whatever the {count} missing are"
    low, high = (float(shown.values[end].rstrip("%")) / 100 for end in ("low", "high"))
    return low, high


def test_a_share_has_the_missing_beside_it_where_they_are_more_than_2_percent() -> None:
    """Both ends are those of Clopper and Pearson for 60 and for 90 of 100, with 5% beyond each."""
    assert phrase_share(60, 98, 2) == "61.2% (60 of 98)"
    assert phrase_share(60, 70, 30) == "85.7% (60 of 70); 51.3% to 94.5% whatever the 30 missing are"
    assert "sean cuales sean los que faltan (30)" in translator("es")(phrase_share(60, 70, 30))
    assert phrase_share(0, 0, 5) == "–"


def test_items_that_models_failed_to_measure_may_be_easy() -> None:
    """50 of 100 items are challenging; the models fail on 30 of the others."""
    failed = Ask(id="a", task="answer", model="m", stage="measure", failure="The model failed: 500")
    items = [
        make(number, "review", results={"measure": {"measured": True, "challenging": number < 50}})
        if number < 70
        else make(number, "measure", asks=(failed,))
        for number in range(100)
    ]
    figures = CULTURALL.summarise(CulturallSettings(title="Ours"), items)
    low, high = ends(figures["Challenging, of the measured"])
    assert low < 0.5 < 50 / 70 < high
    assert figures["Not measured"] == 30


def test_rounds_in_which_the_model_failed_may_be_lost() -> None:
    """The model is beaten by 30 of 60 questions, and fails on 20 of the others."""

    def play(number: int) -> Ask:
        fails = 30 <= number < 50
        outcome: dict[str, Any] = {"failure": "failed"} if fails else {"answer": {"beaten": number < 30}}
        return Ask(id=f"a{number}", task="answer", model="m", stage="write", **outcome)

    items = [make(number, "write", content={"correct": ["A"]}, asks=(play(number),)) for number in range(60)]
    figures = TEAMING.summarise(TeamingSettings(title="Ours"), items)
    low, high = ends(figures["AI beaten, of the last rounds"])
    assert low < 0.5 < 30 / 40 < high


def test_texts_that_nobody_could_judge_may_have_errors() -> None:
    """30 of 60 texts have an error; of these, people decline 20."""
    mark = {"part": "text", "start": 0, "end": 3, "quote": "bad", "severity": "major", "type": "Food"}

    def marked(number: int) -> CampaignItem:
        given = ItemVote(person="p", stage="mark", version=1, answer={"marks": [mark] if number < 10 else []}, at=NOW)
        declined = 10 <= number < 30
        seen: dict[str, Any] = {"declined": (("p", "mark"),)} if declined else {"votes": (given,)}
        return make(number, "mark", content={"text": "bad text"}, **seen)

    figures = MARKING.summarise(MarkingSettings(title="Ours"), [marked(number) for number in range(60)])
    assert figures["Judgements that failed: the person could not judge"] == 20
    low, high = ends(figures["Judgements without an error"])
    assert low < 0.5 < 30 / 40 < high
    assert figures["Mean score"].endswith("; 33.3% are missing"), "a sum of severities has no least value"


def test_questions_that_people_skip_may_have_bad_answers() -> None:
    """Answers deserve a 4 and a 2 in turn, 3 on average; people skip most questions with a 2."""
    items = []
    for number in range(40):
        question = item().model_copy(update={"id": f"i{number}"})
        models = [each["model"] for each in question.content["answers"]]
        if number % 2 and number < 30:
            items.append(question.model_copy(update={"declined": (("p", "rate"),)}))
            continue
        ratings = dict.fromkeys(models, 2 if number % 2 else 4)
        items.append(question.model_copy(update={"votes": (vote(question, "p", ratings, *models),)}))
    results = summarise_ratings(SETTINGS, items)["results"]
    assert all((pair.rate.n, pair.rate.unscored) == (25, 15) for pair in results.pairs)
    for model in results.models:
        mean = model.spread.mean
        assert model.placing.wins.unscored == 15
        assert mean.value == pytest.approx((20 * 4 + 5 * 2) / 25)
        assert (mean.n, mean.unscored) == (25, 15)
        assert mean.whole is not None
        assert mean.whole[0] < 3 < (mean.low or 0)


@pytest.mark.slow
def test_the_page_of_ratings_says_what_is_missing(database: Database) -> None:
    play = play_of(database)
    for role in ("votes", "declines"):
        player = play.person(Role.ANNOTATOR, role)
        name = player.take()
        assert name
        shown = play.read(name)
        player.open(f"/items/{name}")
        if role == "declines":
            player.send(f"/items/{name}/decline", reason="I do not know the place.")
            continue
        player.send(f"/items/{name}/vote", step="1", **opinion(shown, dict.fromkeys(ANSWERS, 3)))
        player.send(f"/items/{name}/vote", step="2", **places(shown, *ANSWERS), reason="x")
    page = play.organiser().open("/figures").text
    assert "3.00 [1.15, 4.85]; 1.09 to 4.91 whatever the 1 missing are" in page
    assert "; 50.0% are missing" in page, "of the comparisons"


def test_metrics_are_not_told_apart_where_one_failed_on_what_it_explains_badly() -> None:
    """A is 0.2 better where both are rated; B failed on a third of the samples."""
    samples = []
    for number in range(60):
        rated = {"a": 4} | ({} if number >= 40 else {"b": 3 if number % 5 == 0 else 4})
        finds = {"a": True, "b": None if number >= 40 else True}
        given = {person: answer(rated) for person in "pq"}
        samples.append(JudgedSample(str(number), "en", "minor", given, metrics=finds))
    [whole] = compare_metrics(samples[:40])
    assert whole.difference is not None
    assert whole.difference.p_value < 0.05
    [[_, _, p, n]] = metrics_table(samples[:40]).sections[0][1]
    assert (p != "–", n) == (True, "40")
    [[_, shown, p, n]] = metrics_table(samples).sections[0][1]
    assert (p, n, "with 20 missing" in shown[1]) == ("–", "40", True)


def test_samples_that_people_decline_are_beside_a_majority() -> None:
    given = {person: answer() for person in "pqr"}
    samples = [JudgedSample(str(number), "en", "minor", given) for number in range(20)]
    samples += [JudgedSample(f"d{number}", "en", "minor", {}, complete=False, declined=3) for number in range(10)]
    samples += [JudgedSample(f"u{number}", "en", "minor", {}, complete=False) for number in range(10)]
    [row] = majority_table(samples, "en").sections[0][1]
    assert row[1] == "20"
    assert row[2] == ("100.0", "[83.2, 100.0]; [50.1, 100.0] with 10 missing")


def test_items_with_one_answer_are_counted_beside_agreement() -> None:
    votes = [Given(f"i{n}", "judge", 1, person, "yes", None, 1.0) for n in range(4) for person in "pq"[: 1 + n % 2]]
    [agreement] = summarise_votes(votes, ["judge"]).agreement
    assert (agreement.items, agreement.single) == (2, 2)
