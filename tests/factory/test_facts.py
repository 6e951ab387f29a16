"""Facts: what they say, and that a built dataset has them for its items and no others."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.factory import sources
from mores.factory.build import build
from mores.factory.built import Built
from mores.factory.facts import FACTS, LONGEST, CorrectFact, CorrectFacts, tell
from mores.factory.folder import verify
from mores.factory.items import SourceItem, Task
from mores.factory.output import write
from mores.factory.recipe import BuildRecipe
from mores.io import read_records
from mores.search.base import Query
from mores.search.corpus import Corpus
from tests.factory.tables import item_table
from tests.factory.test_build import put, quiz, survey


def item(task: Task, question: str, answer: str, **fields: Any) -> SourceItem:
    return SourceItem(source="s", id="1", task=task, question=question, answer=answer, **fields)


def changed(item: SourceItem, **fields: Any) -> SourceItem:
    return item.model_copy(update=fields)


@pytest.mark.parametrize(
    ("source_item", "words"),
    [
        (item(Task.QA, "What is eaten in Peru?", "potatoes", options=("potatoes", "rice")),
         "What is eaten in Peru? potatoes"),
        (item(Task.FREEFORM, "What is eaten\n in Peru?", "a", also_correct=("b", "c", "d", "e")),
         "What is eaten in Peru? a; b; c; d"),
        (item(Task.GENERATION, "the culture of Kenya", "Ugali is  eaten."), "the culture of Kenya: Ugali is eaten."),
        (item(Task.IMPERSONATION, "May I?", "Yes", role=(("Country", "Peru"), ("Age", "30")), context="One may."),
         "Country: Peru. Age: 30. One may. May I? Yes"),
        (item(Task.IMPERSONATION, "May I?", "No", role=(("Country", "Peru"),)), "Country: Peru. May I? No"),
    ],
)  # fmt: skip
def test_a_fact_is_what_was_asked_and_what_is_right(source_item: SourceItem, words: str) -> None:
    assert tell(source_item) == words


def test_a_fact_has_its_answers_and_what_an_english_question_asks_for() -> None:
    question = item(Task.QA, "What is a snack in Peru?", "a  b", also_correct=("c", "d", "e", "f"), language="en-GB")
    others = [
        changed(question, language="es"), changed(question, language=None), changed(question, task=Task.IMPERSONATION),
        changed(question, task=Task.GENERATION),
    ]  # fmt: skip
    every = CorrectFacts(item_table([question, *others]), range(5))
    answers = ("a b", "c", "d", "e")
    assert [(fact.answers, fact.subject) for fact in every] == [
        (answers, "a snack in Peru"), (answers, None), (answers, None), (answers, None), ((), None),
    ]  # fmt: skip
    assert all(fact.text.endswith("; ".join(fact.answers)) for fact in every)


def test_what_is_too_long_is_cut_before_the_answer_is() -> None:
    story = " ".join(["word"] * 80) + " Is it polite?"
    text = tell(item(Task.IMPERSONATION, story, "No", context="Rule. " * 50, role=(("Country", "Peru"),)))
    assert text.startswith("Country: Peru. …word word")
    assert text.endswith("word Is it polite? No")
    assert LONGEST - 10 < len(text) <= LONGEST


def test_the_context_gets_what_the_question_leaves() -> None:
    text = tell(item(Task.IMPERSONATION, "q" * 200, "No", context="rule " * 60, role=(("Country", "Peru"),)))
    # 300 - 14 (role) - 1 - 2 (answer) - 2 blanks - 200 (question) leave 81 characters: 16 words are 79, and …
    assert text == "Country: Peru. " + " ".join(["rule"] * 16) + "… " + "q" * 200 + " No"


def test_scripts_without_spaces_are_cut_too() -> None:
    text = tell(item(Task.FREEFORM, "为什么" * 200, "答案"))
    assert text.startswith("…")
    assert text.endswith("为什么 答案")
    assert len(text) == LONGEST - 1  # room for a blank that only a context needs


def test_an_answer_is_never_cut() -> None:
    answer = "Because " * 100
    assert tell(item(Task.FREEFORM, "Why?" * 100, answer)) == answer.strip()
    assert tell(item(Task.GENERATION, "a topic", answer)) == f"a topic: {answer.strip()}"


TEXT = st.text(st.sampled_from("ab é中\n"), max_size=700)


@given(TEXT, st.text(st.sampled_from("ab é中"), min_size=1, max_size=200), TEXT, st.sampled_from([*Task][1:]))
def test_a_fact_ends_with_its_answer_and_is_short(question: str, answer: str, context: str, task: Task) -> None:
    text = tell(item(task, question, answer, context=context, role=(("Country", "Peru"),)))
    assert text.endswith(" ".join(answer.split()))
    assert text == " ".join(text.split())
    if task is not Task.GENERATION:
        assert len(text) <= LONGEST


def items() -> list[SourceItem]:
    """Of a third of the survey no wrong answer is known, so that no samples can be made."""
    third = [item.model_copy(update={"wrong": ()}) if n % 3 == 0 else item for n, item in enumerate(survey(60))]
    return [*third, *quiz(30)]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> tuple[BuildRecipe, Built]:
    path = put(tmp_path_factory.mktemp("items"), items(), "items")
    recipe = BuildRecipe(name="test", sources=(path,), soft="none", sampling="paper")
    return recipe, build(recipe, None)


@pytest.mark.slow
def test_every_item_with_a_sample_has_one_fact(dataset: tuple[BuildRecipe, Built], tmp_path: Path) -> None:
    recipe, built = dataset
    write(built, recipe, tmp_path)
    facts = list(read_records(tmp_path / FACTS, CorrectFact))
    place = {gold.item: (gold.group, gold.split) for gold in built.golds}
    assert [fact.id for fact in facts] == sorted(place)
    assert {fact.id: (fact.group, fact.split) for fact in facts} == place
    assert len(place) < sum(built.items.values()), "every item has samples, so that nothing is tested"
    by_name = {f"{item.source}/{item.id}": item for item in items()}
    for fact in facts:
        item = by_name[fact.id]
        assert fact.text == f"{item.question} {item.answer}"
        assert (fact.source, fact.language, fact.region) == (fact.id, item.language, item.region)


@pytest.mark.slow
def test_tweets_and_opinions_are_no_facts(tmp_path: Path) -> None:
    tweets = [item.model_copy(update={"source": "epic"}) for item in survey(60)]
    recipe = BuildRecipe(
        name="test", sources=(put(tmp_path, [*tweets, *quiz(30)], "items"),), soft="none", sampling="paper"
    )
    built = build(recipe, None)
    assert {gold.item.partition("/")[0] for gold in built.golds} == {"epic", "quiz"}
    assert {fact.id.partition("/")[0] for fact in built.facts} == {"quiz"}
    assert [name for name in sources.names() if not sources.has_facts(name)] == ["globalopinionqa", "epic"]


@pytest.mark.slow
def test_facts_are_a_corpus_whose_evidence_names_the_item(dataset: tuple[BuildRecipe, Built], tmp_path: Path) -> None:
    write(dataset[1], dataset[0], tmp_path)
    fact = next(fact for fact in read_records(tmp_path / FACTS, CorrectFact) if fact.id.startswith("quiz/"))
    corpus = Corpus(tmp_path / FACTS, tmp_path / "index")
    [result] = asyncio.run(corpus.find([Query(fact.text)], 1))
    assert [(evidence.source, evidence.text) for evidence in result.evidence] == [(fact.id, fact.text)]


def test_verify_finds_changed_facts_and_the_card_counts_them(
    dataset: tuple[BuildRecipe, Built], tmp_path: Path
) -> None:
    recipe, built = dataset
    write(replace(built, facts=list(built.facts)[:7]), recipe, tmp_path)
    assert verify(tmp_path) == []
    assert "the facts about 7 items" in (tmp_path / "card.md").read_text()
    path = tmp_path / FACTS
    path.write_text(path.read_text().replace("eaten", "drunk"))
    assert verify(tmp_path) == ["facts.jsonl: has been changed (sha256 differs)"]
    path.unlink()
    assert verify(tmp_path) == ["facts.jsonl: is missing"]
