"""Facts: what they say, and that a built dataset has them for its items and no others."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.factory.build import Built, build
from mores.factory.facts import FACTS, LONGEST, Fact, Facts, tell
from mores.factory.items import SourceItem, Task
from mores.factory.output import verify, write
from mores.factory.recipe import Recipe
from mores.io import read_records
from mores.search.base import Query
from mores.search.corpus import Corpus
from tests.factory.test_build import put, quiz, survey


def item(task: Task, question: str, answer: str, **given: Any) -> SourceItem:
    return SourceItem(source="s", id="1", task=task, question=question, answer=answer, **given)


def changed(one: SourceItem, **given: Any) -> SourceItem:
    return one.model_copy(update=given)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (item(Task.QA, "What is eaten in Peru?", "potatoes", options=("potatoes", "rice")),
         "What is eaten in Peru? potatoes"),
        (item(Task.FREEFORM, "What is eaten\n in Peru?", "a", also_right=("b", "c", "d", "e")),
         "What is eaten in Peru? a; b; c; d"),
        (item(Task.GENERATION, "the culture of Kenya", "Ugali is  eaten."), "the culture of Kenya: Ugali is eaten."),
        (item(Task.IMPERSONATION, "May I?", "Yes", role=(("Country", "Peru"), ("Age", "30")), context="One may."),
         "Country: Peru. Age: 30. One may. May I? Yes"),
        (item(Task.IMPERSONATION, "May I?", "No", role=(("Country", "Peru"),)), "Country: Peru. May I? No"),
    ],
)  # fmt: skip
def test_a_fact_is_what_was_asked_and_what_is_right(told: SourceItem, words: str) -> None:
    assert tell(told) == words


def test_a_fact_has_its_answers_and_what_an_english_question_asks_for() -> None:
    asked = item(Task.QA, "What is a snack in Peru?", "a  b", also_right=("c", "d", "e", "f"), language="en-GB")
    others = [
        changed(asked, language="es"), changed(asked, language=None), changed(asked, task=Task.IMPERSONATION),
        changed(asked, task=Task.GENERATION),
    ]  # fmt: skip
    every = Facts([asked, *others], {"s/1": "g"}, {"s/1": "train"})
    answers = ("a b", "c", "d", "e")
    assert [(fact.answers, fact.subject) for fact in every] == [
        (answers, "a snack in Peru"), (answers, None), (answers, None), (answers, None), ((), None),
    ]  # fmt: skip
    assert all(fact.text.endswith("; ".join(fact.answers)) for fact in every)


def test_what_is_too_long_is_cut_before_the_answer_is() -> None:
    story = " ".join(["word"] * 80) + " Is it polite?"
    told = tell(item(Task.IMPERSONATION, story, "No", context="Rule. " * 50, role=(("Country", "Peru"),)))
    assert told.startswith("Country: Peru. …word word")
    assert told.endswith("word Is it polite? No")
    assert LONGEST - 10 < len(told) <= LONGEST


def test_the_context_gets_what_the_question_leaves() -> None:
    told = tell(item(Task.IMPERSONATION, "q" * 200, "No", context="rule " * 60, role=(("Country", "Peru"),)))
    # 300 - 14 (role) - 1 - 2 (answer) - 2 blanks - 200 (question) leave 81 characters: 16 words are 79, and …
    assert told == "Country: Peru. " + " ".join(["rule"] * 16) + "… " + "q" * 200 + " No"


def test_scripts_without_spaces_are_cut_too() -> None:
    told = tell(item(Task.FREEFORM, "为什么" * 200, "答案"))
    assert told.startswith("…")
    assert told.endswith("为什么 答案")
    assert len(told) == LONGEST - 1  # room for a blank that only a context needs


def test_an_answer_is_never_cut() -> None:
    answer = "Because " * 100
    assert tell(item(Task.FREEFORM, "Why?" * 100, answer)) == answer.strip()
    assert tell(item(Task.GENERATION, "a topic", answer)) == f"a topic: {answer.strip()}"


TEXT = st.text(st.sampled_from("ab é中\n"), max_size=700)


@given(TEXT, st.text(st.sampled_from("ab é中"), min_size=1, max_size=200), TEXT, st.sampled_from([*Task][1:]))
def test_a_fact_ends_with_its_answer_and_is_short(question: str, answer: str, context: str, task: Task) -> None:
    told = tell(item(task, question, answer, context=context, role=(("Country", "Peru"),)))
    assert told.endswith(" ".join(answer.split()))
    assert told == " ".join(told.split())
    if task is not Task.GENERATION:
        assert len(told) <= LONGEST


def items() -> list[SourceItem]:
    """Of a third of the survey no wrong answer is known, so that no samples can be made."""
    third = [one.model_copy(update={"wrong": ()}) if n % 3 == 0 else one for n, one in enumerate(survey(60))]
    return [*third, *quiz(30)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Recipe, Built]:
    path = put(tmp_path_factory.mktemp("items"), items(), "items")
    recipe = Recipe(name="test", sources=(path,), soft="none", sampling="paper")
    return recipe, build(recipe, None)


def test_every_item_with_a_sample_has_one_fact(made: tuple[Recipe, Built], tmp_path: Path) -> None:
    recipe, built = made
    write(built, recipe, tmp_path)
    facts = list(read_records(tmp_path / FACTS, Fact))
    place = {gold.item: (gold.group, gold.split) for gold in built.golds}
    assert [fact.id for fact in facts] == sorted(place)
    assert {fact.id: (fact.group, fact.split) for fact in facts} == place
    assert len(place) < sum(built.items.values()), "every item has samples, so that nothing is tested"
    known = {f"{one.source}/{one.id}": one for one in items()}
    for fact in facts:
        own = known[fact.id]
        assert fact.text == f"{own.question} {own.answer}"
        assert (fact.source, fact.language, fact.region) == (fact.id, own.language, own.region)


def test_facts_are_a_corpus_whose_evidence_names_the_item(made: tuple[Recipe, Built], tmp_path: Path) -> None:
    write(made[1], made[0], tmp_path)
    fact = next(one for one in read_records(tmp_path / FACTS, Fact) if one.id.startswith("quiz/"))
    corpus = Corpus(tmp_path / FACTS, tmp_path / "index")
    [found] = asyncio.run(corpus.find([Query(fact.text)], 1))
    assert [(one.source, one.text) for one in found.evidence] == [(fact.id, fact.text)]


def test_verify_finds_changed_facts_and_the_card_counts_them(made: tuple[Recipe, Built], tmp_path: Path) -> None:
    recipe, built = made
    write(replace(built, facts=list(built.facts)[:7]), recipe, tmp_path)
    assert verify(tmp_path) == []
    assert "each of the\n7 items" in (tmp_path / "card.md").read_text()
    path = tmp_path / FACTS
    path.write_text(path.read_text().replace("eaten", "drunk"))
    assert verify(tmp_path) == ["facts.jsonl: has been changed (sha256 differs)"]
    path.unlink()
    assert verify(tmp_path) == ["facts.jsonl: is missing"]
