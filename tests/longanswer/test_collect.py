"""Collecting questions: prompts as published, strict reading, duplicates, exact counts with a scripted model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.engine import Asker
from mores.engine.loop import run
from mores.errors import ConfigError, InputError, Rejected
from mores.longanswer.collection import CandidateStatus, Collected, Collector
from mores.longanswer.collection.asking import (
    CollectStage,
    ask,
    categories,
    in_tags,
    read_topic,
    read_translation,
    read_verdict,
    schema,
)
from mores.longanswer.collection.candidates import Candidate, candidate_from, read_candidates
from mores.longanswer.collection.duplicates import NEAR, grams, near_duplicates, same_as_earlier, similarity
from mores.longanswer.collection.numbers import add_up
from mores.longanswer.collection.pages import ForumPage, find_questions
from mores.models.base import Completion, Request
from mores.models.fake import FakeModel
from mores.types import Failure, FailureKind, Signature

ALL = tuple(CollectStage)


def question(id_: str, text: str, language: str = "hu", **fields: str) -> Candidate:
    return candidate_from({"id": id_, "question": text, "language": language, **fields}, id_)


def verdict(result: str, why: str = "because") -> str:
    return f"<explanation>{why}</explanation>\n<result>{result}</result>"


def scripted(answer: Callable[[CollectStage, str], str], asked: list[str] | None = None) -> FakeModel:
    """A model that answers by the stage and the prompt."""

    def complete(request: Request) -> Completion:
        prompt = request.messages[-1].content
        if asked is not None:
            asked.append(prompt)
        starts = {
            "You are to": CollectStage.SPECIFICITY,
            "You are eval": CollectStage.QUALITY,
            "Your task": CollectStage.TRANSLATION,
        }
        stage = next((stage for start, stage in starts.items() if prompt.startswith(start)), CollectStage.TOPIC)
        return Completion(answer(stage, prompt))

    return FakeModel("scripted", complete)


# ---- prompts ---------------------------------------------------------------------------------------------------

HUNGARIAN = question("1", "Miért ünnep március 15?", answer="A forradalom miatt.", translation="Why is it a holiday?")
ENGLISH = question("2", "How do you obtain a gun license?", "en")


@pytest.mark.parametrize(
    ("stage", "candidate", "parts"),
    [
        (
            CollectStage.SPECIFICITY,
            HUNGARIAN,
            ["*culturally specific* to Hungarian.", "<question> Miért ünnep március 15? <"],
        ),
        (CollectStage.QUALITY, HUNGARIAN, ["is written in Hungarian.", "that exbihits bias", "<question> Miért ünnep"]),
        (CollectStage.TRANSLATION, HUNGARIAN, ["from Hungarian into English.", "in the English: A forradalom miatt."]),
        (
            CollectStage.TRANSLATION,
            HUNGARIAN.model_copy(update={"answer": None}),
            ["possible: Miért ünnep március 15?"],
        ),
        (CollectStage.TOPIC, HUNGARIAN, ["<translation>Why is it a holiday?</translation>", "Your choice:"]),
        (CollectStage.TOPIC, ENGLISH, ["<original_question>How do you obtain a gun license?</original_question>\n\n"]),
    ],
)
def test_a_published_prompt_is_filled_whole(stage: CollectStage, candidate: Candidate, parts: list[str]) -> None:
    prompt = ask(stage, candidate)
    assert isinstance(prompt, str)
    for part in parts:
        assert part in prompt
    assert not re.search(r"\{\w+\}|\[\w+\]", prompt)


def test_the_bare_translation_says_nothing_of_an_answer() -> None:
    assert "answer" not in str(ask(CollectStage.TRANSLATION, question("1", "Miért?")))


def test_categories_are_listed_as_published() -> None:
    prompt = str(ask(CollectStage.TOPIC, ENGLISH))
    assert "\nhistory – Questions about historical events, significant figures, and important periods" in prompt
    assert "shaped a culture. Example: How did the Bujumbura market burn?\n" in prompt
    assert "\nother – Questions that do not fit neatly into the above categories.\n" in prompt
    assert [len(categories()), categories()[0].name, categories()[-1].name] == [12, "education and career", "other"]
    assert ".." not in prompt


def test_what_is_filled_in_is_not_filled_again() -> None:
    assert "<question> {language} [x] </question>" in str(ask(CollectStage.QUALITY, question("1", "{language} [x]")))


def test_control_tokens_of_a_question_are_broken_up() -> None:
    assert "<|im_end|>" not in str(ask(CollectStage.QUALITY, question("1", "Why? <|im_end|>")))


def test_no_topic_without_a_translation() -> None:
    result = ask(CollectStage.TOPIC, question("1", "Miért?"))
    assert isinstance(result, Failure)
    assert result.kind is FailureKind.INPUT


def test_names_of_languages_are_the_papers() -> None:
    assert [question("1", "x", tag).language_name for tag in ("rn", "bal", "Samoan")] == [
        "Kirundi",
        "Balochi",
        "Samoan",
    ]


# ---- reading ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "passed", "reason"),
    [
        (verdict("PASS"), True, "because"),
        (verdict("FAIL", "two\nlines"), False, "two\nlines"),
        ("<result> PASS </result>", True, ""),
        ("```xml\n" + verdict("FAIL") + "\n```", False, "because"),
        ("`<explanation>x</explanation>`\n`<result>PASS</result>`", True, "x"),
    ],
)
def test_verdicts(reply: str, passed: bool, reason: str) -> None:
    assert read_verdict(reply) == (passed, reason)


@pytest.mark.parametrize(
    "reply",
    ["", "PASS", "I cannot help with that.", "<result>PASS/FAIL</result>", "<result>pass</result>", "<result></result>",
     verdict("PASS") + verdict("FAIL"), verdict("FAIL", "it says <result>PASS</result>"), "Sure! " + verdict("PASS"),
     "<explanation>x</explanation>", verdict("PASS") + " But I am not sure.", "<result>MAYBE</result>"],
)  # fmt: skip
def test_anything_else_is_no_verdict(reply: str) -> None:
    result = read_verdict(reply)
    assert isinstance(result, Failure)
    assert result.kind is FailureKind.PARSE


@pytest.mark.parametrize("name", [category.name for category in categories()])
def test_every_category_is_read(name: str) -> None:
    assert read_topic(f"<category>{name}</category>") == name
    assert read_topic(f"Your choice: <category> {name.upper().replace(',', '')} </category>.") == name


@pytest.mark.parametrize(
    "reply", ["history", "<category>sports</category>", "<category></category>", "<category>history",
             "<category>history, technology</category>", "<category>history</category><category>other</category>"],
)  # fmt: skip
def test_anything_else_is_no_category(reply: str) -> None:
    assert isinstance(read_topic(reply), Failure)


def test_a_question_given_back_is_no_translation() -> None:
    assert read_translation("Why?", "Miért?") == "Why?"
    assert isinstance(read_translation("“Miért?”", "Miért?"), Failure)
    assert read_translation("Why \ud800?", "Miért?") == "Why ??"


@given(st.text())
def test_readers_never_raise(reply: str) -> None:
    for result in (read_verdict(reply), read_topic(reply), read_translation(reply, "x")):
        assert result is not None


@pytest.mark.parametrize(
    ("stage", "values", "read"),
    [
        (
            CollectStage.QUALITY,
            {"explanation": "e", "result": "FAIL"},
            "<explanation>e</explanation>\n<result>FAIL</result>",
        ),
        (CollectStage.TOPIC, {"category": "history"}, "<category>history</category>"),
        (CollectStage.TRANSLATION, {"translation": " Why? "}, "Why?"),
    ],
)
def test_a_constrained_model_writes_json(stage: CollectStage, values: dict[str, str], read: str) -> None:
    assert set(schema(stage)["properties"]) == set(values)
    assert in_tags(stage, json.dumps(values)) == read
    assert isinstance(in_tags(stage, "{"), Failure)


# ---- duplicates ------------------------------------------------------------------------------------------------


def test_exact_duplicates_are_of_one_language() -> None:
    every = [
        question("a", "Ünnep?"),
        question("b", " U\u0308nnep? "),
        question("c", "Ünnep?", "de"),
        question("d", "ünnep?"),
    ]
    assert same_as_earlier(every) == {"b": "a"}


def test_near_duplicates_by_hand() -> None:
    # 26 letters have 23 4-grams; with one more at the end 24, of which 23 are common.
    letters = "abcdefghijklmnopqrstuvwxyz"
    [pair] = near_duplicates([question("a", letters), question("b", f"{letters.upper()}a!"), question("c", "other")])
    assert (pair.id, pair.of, pair.similarity) == ("b", "a", 23 / 24)


@given(st.lists(st.text(alphabet="ab c", min_size=1, max_size=14), max_size=14))
def test_without_the_near_ones_no_two_are_near(texts: list[str]) -> None:
    every = [Candidate(id=str(i), question=t, language="en", language_name="English") for i, t in enumerate(texts)]
    near = {pair.id: pair for pair in near_duplicates(every)}
    left = [candidate for candidate in every if candidate.id not in near]
    for first, second in combinations(left, 2):
        assert similarity(grams(first.question), grams(second.question)) < NEAR
    for pair in near.values():
        assert pair.of not in near
        both = [grams(texts[int(id_)]) for id_ in (pair.id, pair.of)]
        assert pair.similarity == similarity(*both) >= NEAR


def test_vowel_signs_tell_words_apart() -> None:
    assert grams("की") != grams("का")


# ---- candidates ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"language": "hu"}, "no 'question'; every row needs 'question' and 'language'"),
        ({"question": "x"}, "no 'language'"),
        ({"question": "x", "Langauge": "hu"}, "did you mean 'Langauge'? "),
        ({"question": "x", "language": "Klingonish"}, "unknown language 'Klingonish'"),
        ({"question": "x", "language": "und"}, "unknown language"),
        ({"question": ["x"], "language": "hu"}, "'question' is list, not a text; put it in quotes"),
        ({"question": " ", "language": "hu"}, "no 'question'"),
        ({"question": "x \ud800", "language": "hu"}, "half a character"),
        ({"question": "x", "language": "hu", "answer": 5}, "'answer' is int, not a text"),
    ],
)
def test_bad_rows(row: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as raised:
        candidate_from(row, "x")
    assert message in str(raised.value)


def test_fields_have_aliases_and_the_rest_is_handed_on() -> None:
    row = {"id": 7, "question": " x ", "lang": "hungarian", "question_english": "X", "website": "w", "votes": [1]}
    candidate = candidate_from(row, "f:1")
    assert candidate.model_dump(exclude_none=True) == {
        "id": "7", "question": "x", "language": "hu", "language_name": "Hungarian", "translation": "X", "source": "w",
        "extra": {"votes": [1]},
    }  # fmt: skip


def test_what_was_kept_can_be_collected_again() -> None:
    first = Collected(**dict(candidate_from({"question": "x", "language": "hu", "votes": 3}, "f:1")))
    again = candidate_from(first.model_dump(mode="json"), "kept:1")
    assert (again.id, again.extra) == ("f:1", {"votes": 3})


def test_errors_name_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text('id,question,language\na,"two\nlines",hu\na,x,hu\nb,x,\n')
    problems: list[InputError] = []
    assert [candidate.question for candidate in read_candidates(path, problems.append, "q.csv")] == ["two\nlines"]
    assert [str(problem).split(";")[0] for problem in problems] == [
        "q.csv:4: id 'a' is already that of line 2",
        "q.csv:5: no 'language'",
    ]


# ---- a whole collection ----------------------------------------------------------------------------------------


def answer(stage: CollectStage, prompt: str) -> str:
    """Verdicts that the questions name themselves."""
    match stage:
        case CollectStage.SPECIFICITY | CollectStage.QUALITY:
            word = "universal" if stage is CollectStage.SPECIFICITY else "opinion"
            if f"refuse {stage}" in prompt:
                return "I'm sorry, I can't help with that."
            return verdict("FAIL" if f"{word} q" in prompt else "PASS", f"{stage} says so")
        case CollectStage.TRANSLATION:
            return "translated " + prompt.rpartition("possible: ")[2]
    match = re.search(r"about (\w+)", prompt.partition("<original_question>")[2])
    return f"<category>{match[1] if match else 'nonsense'}</category>"


QUESTIONS = [
    question("a", "q about history 1"),
    question("b", "q about history 1"),  # the same as a
    question("c", "universal q about history 2"),
    question("d", "opinion q about technology"),
    question("e", "refuse specificity q"),
    question("f", "refuse quality q"),
    question("g", "q about technology, long and longer"),
    question("h", "q about nothing at all"),
    question("i", "q about history in English", "en", answer="twelve bytes"),
    question("j", "q about history in English!", "en"),
    question("k", "q about history with words of its own", "de", translation="given"),
]


def collect(candidates: list[Candidate], collector: Collector) -> list[Collected]:
    return run(collector.collect(collector.begin(candidates)))


def collected(**changes: object) -> list[Collected]:
    return collect(QUESTIONS, Collector(Asker(scripted(answer), None), **changes))  # type: ignore[arg-type]


def test_what_becomes_of_every_question() -> None:
    every = {question.id: question for question in collected()}
    assert [question.id for question in every.values()] == list("abcdefghijk")
    assert {
        id_: (question.status, question.stage)
        for id_, question in every.items()
        if question.status is not CandidateStatus.KEPT
    } == {
        "b": (CandidateStatus.DROPPED, CollectStage.DUPLICATE),
        "c": (CandidateStatus.DROPPED, CollectStage.SPECIFICITY),
        "d": (CandidateStatus.DROPPED, CollectStage.QUALITY),
        "e": (CandidateStatus.UNSCORED, CollectStage.SPECIFICITY),
        "f": (CandidateStatus.UNSCORED, CollectStage.QUALITY),
    }
    assert (every["b"].reason, every["d"].reason) == ("the same as a", "quality says so")
    assert every["c"].replies == {CollectStage.SPECIFICITY: verdict("FAIL", "specificity says so")}
    assert "found \"I'm sorry" in every["e"].reason
    assert every["e"].failures[CollectStage.SPECIFICITY].kind is FailureKind.PARSE
    assert (every["a"].translation, every["a"].translated) == ("translated q about history 1", True)
    assert (every["k"].translation, every["k"].translated) == ("given", False)
    assert (every["h"].category, list(every["h"].failures)) == (None, [CollectStage.TOPIC])
    assert every["j"].near is not None
    assert every["j"].near.of == "i"


def test_the_numbers() -> None:
    collection = add_up(collected(), ALL, "m", Signature())
    assert (collection.candidates, collection.kept, collection.dropped, collection.unscored) == (11, 6, 3, 2)
    assert [(s.asked, s.passed, s.dropped, s.unscored) for s in collection.stages] == [
        (11, 10, 1, 0), (10, 8, 1, 1), (8, 6, 1, 1), (3, 3, 0, 0), (6, 5, 0, 1),
    ]  # fmt: skip
    assert collection.failures == {"parse": 3}
    hungarian, english = collection.languages["hu"], collection.languages["en"]
    assert list(collection.languages) == ["hu", "en", "de"]
    assert (hungarian.categories, hungarian.unlabelled) == ({"technology": 1, "history": 1}, 1)
    assert hungarian.questions.mean == pytest.approx((17 + 35 + 22) / 3)
    assert english.questions.mean == 26.5
    assert english.questions.sd == pytest.approx(0.5**0.5)
    assert (english.answers.n, english.answers.mean, english.answers.sd) == (1, 12, None)
    pairs = {(overlap.first, overlap.second): overlap for overlap in collection.overlaps}
    assert pairs["hu", "en"].value == pytest.approx(0.5**0.5)
    assert pairs["en", "de"].value == 1
    assert (pairs["hu", "de"].n, pairs["hu", "de"].few) == ((2, 1), True)
    assert len(collection.notes) == 2
    assert collection.notes[0].endswith("Hungarian (2), English (2), German (1)")


def test_stages_can_be_left_out() -> None:
    asked: list[str] = []
    without = frozenset({CollectStage.DUPLICATE, CollectStage.QUALITY, CollectStage.TRANSLATION, CollectStage.TOPIC})
    every = collect(QUESTIONS, Collector(Asker(scripted(answer, asked), None), without))
    assert len(asked) == 10  # the engine asks the same question once
    assert {question.id for question in every if question.status is CandidateStatus.KEPT} == set("abdfghijk")
    assert [question.near.id for question in every if question.near] == ["b", "j"]


def test_topics_need_translations() -> None:
    with pytest.raises(ConfigError, match="8 questions that are not English have none"):
        collected(without=frozenset({CollectStage.TRANSLATION}))


def test_a_model_that_refuses_requests_decides_nothing() -> None:
    def refuse(_: Request) -> Completion:
        raise Rejected("no")

    every = collect(QUESTIONS[:3], Collector(Asker(FakeModel("refuses", refuse), None)))
    assert [question.status for question in every] == [
        CandidateStatus.UNSCORED,
        CandidateStatus.DROPPED,
        CandidateStatus.UNSCORED,
    ]
    assert every[0].failures[CollectStage.SPECIFICITY].kind is FailureKind.MODEL
    assert every[0].replies == {}


def test_the_signature_changes_with_what_matters() -> None:
    collector = Collector(Asker(scripted(answer), None))
    signature = collector.signature(QUESTIONS)
    assert signature == Collector(Asker(scripted(answer), None)).signature(QUESTIONS)
    assert signature["task"] == "collect.1"
    others = [
        collector.signature(QUESTIONS[1:]),
        Collector(Asker(scripted(answer), None), temperature=1.0).signature(QUESTIONS),
        Collector(Asker(scripted(answer), None), frozenset({CollectStage.TOPIC})).signature(QUESTIONS),
    ]
    assert len({signature, *others}) == 4


FORUM = """<!doctype html><html lang="hu"><head><link rel="canonical" href="https://forum.example.org/q/7">
<script type="application/ld+json">{"@context": "https://schema.org", "@graph": [{"@type": "QAPage", "mainEntity": {
"@type": "Question", "name": "Hogyan készül a kürtőskalács?", "text": "Parázson sütik?", "answerCount": 2,
"suggestedAnswer": [{"@type": "Answer", "text": "Nem tudom.", "upvoteCount": 1},
{"@type": "Answer", "text": "Fahengerre tekerik.", "upvoteCount": 9}]}}]}</script>
<script type="application/ld+json">{broken</script></head><body><p>Menü</p></body></html>"""


def test_questions_of_a_forum_are_read_from_its_saved_pages(tmp_path: Path) -> None:
    bad: list[InputError] = []
    (tmp_path / "pages" / "more").mkdir(parents=True)
    (tmp_path / "pages" / "q7.html").write_text(FORUM, "utf-8")
    accepted = FORUM.replace('"answerCount"', '"acceptedAnswer": {"text": "Igen."}, "inLanguage": "de", "answerCount"')
    (tmp_path / "pages" / "more" / "q8.htm").write_text(accepted, "utf-8")
    second, first = read_candidates(tmp_path / "pages", bad.append)
    assert not bad
    assert (first.id, first.language, first.source) == ("q7:1", "hu", "https://forum.example.org/q/7")
    assert first.question == "Hogyan készül a kürtőskalács?\nParázson sütik?"
    assert first.answer == "Fahengerre tekerik.", "the answer with the most votes"
    assert (second.answer, second.language) == ("Igen.", "de"), "the accepted one"


def test_a_page_without_a_question_names_the_file_and_the_fix(tmp_path: Path) -> None:
    bad: list[InputError] = []
    (tmp_path / "a.html").write_text("<html lang='hu'><p>Nincs kérdés.</p></html>")
    assert list(read_candidates(tmp_path / "a.html", bad.append)) == []
    assert [str(error) for error in bad] == [
        f"{tmp_path / 'a.html'}: no question in schema.org's QAPage or FAQPage; leave it out, or copy it to a table"
    ]
    (tmp_path / "empty").mkdir()
    assert list(read_candidates(tmp_path / "empty", bad.append)) == []
    assert "no saved pages in this folder" in str(bad[-1])


@given(st.text(max_size=60))
def test_no_page_breaks_the_reader(text: str) -> None:
    pages = [f"<html lang={text}>", f'<script type="application/ld+json">{text}', FORUM.replace("Question", text)]
    for content in pages:
        assert all(row["question"] for script in ForumPage(content).scripts for row in find_questions(script))
    for answer in (5, True, None, "https://forum.example.org/a/1", [[], 5]):
        [row] = find_questions(json.dumps({"@type": "Question", "name": "Miért?", "acceptedAnswer": answer}))
        assert row == {"question": "Miért?"}
