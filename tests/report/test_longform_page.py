"""The page of long answers: what it says, what it leaves out, and that no text in it can do anything."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.longanswer.records import Appraisal, Claim, LanguageCheck, LongAnswer, QuestionKind, Repetition
from mores.longanswer.summary import Counting, LongformSummary, summarise
from mores.report import longform as pages
from mores.report.base.names import is_web_address
from mores.report.base.page import render_page
from mores.report.longform.cards import AnswerIssue, issues_of, mark_spans, score_of
from mores.search.base import Evidence
from mores.types import Failure, FailureKind, Signature
from tests.browser import Browser, Page
from tests.report.conftest import assert_fits, showing
from tests.report.test_bench_page import choose
from tests.report.test_meta_page import HOSTILE, Tags, rows, section, words

Pair = tuple[LongAnswer, Appraisal]

TEXTS = {
    "ar": ("لماذا يشرب الناس القهوة العربية مع التمر؟", "القهوة العربية مرّة، والتمر حلو، ولذلك يُقدَّمان معًا للضيوف."),
    "hi": ("दीवाली पर दीये क्यों जलाए जाते हैं?", "दीये अँधेरे पर प्रकाश की विजय के प्रतीक हैं।"),
    "zh": ("为什么中秋节要吃月饼？", "月饼象征团圆，家人在中秋节一起赏月吃月饼。"),
    "de": ("Warum sagt man in Norddeutschland „Moin“?", "„Moin“ ist dort ein Gruß für jede Tageszeit."),
    "en": ("Why do people eat turkey at Thanksgiving?", "Turkeys were plentiful, large and kept for feasts."),
    "sm": ("Aisea e fai ai le umu i le Aso Sa?", "E kuka le umu i le Aso Sa aua e potopoto ai le aiga atoa."),
    "ps": ("ولې خلک په اختر کې نوې جامې اغوندي؟", "نوې جامې د خوښۍ نښه ده."),
    "bal": ("چیا مردم دوچ ءَ گوراءَ کننت؟", "دوچ بلوچانی دودے۔"),
}
"""A question and an answer in each language."""


def failure(reason: str = "no reply", kind: FailureKind = FailureKind.MODEL) -> Failure:
    return Failure(kind=kind, reason=reason)


def claim(supported: bool | None = True, text: str = "Coffee is served with dates.", **changes: Any) -> Claim:
    result = (
        Evidence(text="Dates go with coffee.", title="Coffee", source="https://example.org/coffee", date="2021-05-03"),
        Evidence(text="A passage.", source="corpus.jsonl:7"),
    )
    why = None if supported is not None else failure("no verdict", FailureKind.PARSE)
    fields: dict[str, Any] = {"text": text, "sentence": 0, "supported": supported, "evidence": result,
                              "reason": "It says so." if why is None else "", "failure": why}  # fmt: skip
    return Claim(**fields | changes)


def answer(place: int = 0, language: str = "ar", model: str = "model-a", **changes: Any) -> LongAnswer:
    question, text = TEXTS[language]
    fields: dict[str, Any] = {
        "id": f"q{place}", "question": f"{question} ({place})" if place else question, "answer": text,
        "language": language, "model": model,
        "kind": QuestionKind.SPECIFIC if place % 2 else QuestionKind.AGNOSTIC, "topic": "food",
        "question_english": None if language == "en" else "Why is it done?",
    }  # fmt: skip
    return LongAnswer(**fields | changes)


def appraisal(reply: LongAnswer, **changes: Any) -> Appraisal:
    """A good answer, unless the changes say otherwise."""
    fields: dict[str, Any] = {
        "id": reply.id, "model": reply.model, "claims": (claim(), claim(text="Guests get it first.")), "relevant": True,
        "relevance_reason": "It answers.",
        "language": LanguageCheck(detected=reply.language, certainty=0.98, correct=True),
    }  # fmt: skip
    return Appraisal(**fields | changes)


UNJUDGED: dict[str, Any] = {"claims": None, "relevant": None, "relevance_reason": ""}


def wrong_language(reply: LongAnswer) -> Pair:
    check = LanguageCheck(detected="en", certainty=0.97, correct=False, shares={"en": 0.8, reply.language: 0.2})
    text = "I'm sorry, I can only answer in English. 😊"
    return reply.model_copy(update={"answer": text}), appraisal(
        reply, **UNJUDGED, language=check, tells=("apology", "emoji")
    )


def repeating(reply: LongAnswer, times: int = 5) -> Pair:
    text = reply.answer or ""
    spans = tuple((i * len(text), (i + 1) * len(text)) for i in range(times))
    repetition = Repetition(times=times, text=text, spans=spans)
    return reply.model_copy(update={"answer": text * times + " …"}), appraisal(reply, **UNJUDGED, repetition=repetition)


def missing(reply: LongAnswer) -> Pair:
    return reply.model_copy(update={"answer": None}), appraisal(reply, **UNJUDGED, language=None, failures={"answer": failure("HTTP 500")})  # fmt: skip  # noqa: E501


def half_true(reply: LongAnswer) -> Pair:
    claims = (claim(), claim(False, "Coffee is from Peru.", reason="The results say Ethiopia."), claim(None))
    failed = {"verification": failure("1 of 3 claims: no verdict", FailureKind.PARSE)}
    return reply, appraisal(reply, claims=claims, failures=failed, answer_english="Coffee goes with dates.")


def irrelevant(reply: LongAnswer) -> Pair:
    return reply, appraisal(reply, relevant=False, relevance_reason="It speaks of tea.")


def unsure(reply: LongAnswer) -> Pair:
    return reply, appraisal(reply, **UNJUDGED, language=LanguageCheck(certainty=0.5))


def good(reply: LongAnswer) -> Pair:
    return reply, appraisal(reply)


CASES = (wrong_language, good, half_true, repeating, good, irrelevant, missing, unsure, half_true, good, good)


def pairs(count: int = 40, models: tuple[str, ...] = ("model-a",)) -> list[Pair]:
    """Answers of all kinds in all languages; the later a model, the better it is."""
    languages = list(TEXTS)
    return [
        CASES[(i + 3 * m) % (len(CASES) - 2 * m if m < 3 else 3)](answer(i, languages[i // 2 % len(languages)], model))
        for m, model in enumerate(models)
        for i in range(count)
    ]


SIGNATURE = Signature(task="calmqa", judge="j")


def described(
    result: list[Pair], counting: Counting | None = None, signature: Signature = SIGNATURE
) -> tuple[Sequence[LongformSummary], Callable[[], list[Pair]], Signature]:
    return summarise(result, counting, signature), lambda: result, signature


def page_of(result: list[Pair], counting: Counting | None = None, signature: Signature = SIGNATURE) -> str:
    return render_page(pages.describe_summaries(*described(result, counting, signature)))


SURFACE = Counting(facts=False, relevance=False)
MODELS = ("gpt-4o-2024-05-13", "claude-3-opus", "Mixtral-8x22B-Instruct-v0.1", "Meta-Llama-3-70B-Instruct")


def cards(html: str) -> list[str]:
    return html.split('<article class="card answer ')[1:]


def cells(html: str, title: str) -> dict[str, list[str]]:
    """The rows of the table with this caption, by their heads."""
    table = html.split(f"<caption>{title}</caption>")[1].replace("\n", " ")
    return {row[0]: row[1:] for row in rows(table)}


# ---- numbers ---------------------------------------------------------------------------------------------------


def four() -> list[Pair]:
    """Two agnostic and two specific answers in Arabic: S is 0 and 1, and 1/2 and 0."""
    pairs_of_four = [wrong_language(answer(0)), good(answer(2)), half_true(answer(1)), irrelevant(answer(3))]
    return [(reply, appraised.model_copy(update={"failures": {}})) for reply, appraised in pairs_of_four]


def test_the_opening_says_the_main_numbers_in_words() -> None:
    top = words(page_of(four()).split('class="hero"')[1].split("</section>")[0]).replace("\u2068", "")
    assert "37.5 S, 95%:" in top
    assert "model-a\u2069 was asked for 4 long answers in Arabic." in top
    assert (
        "Of its answers, 25.0% are in the wrong language, 0.0% repeat themselves and 75.0% have neither issue." in top
    )
    assert "Of the claims in an answer, 87.5% are supported by what a search found, on average." in top
    assert "66.7% of the judged answers are relevant to their question." in top
    assert "is 37.5 of 100. 1 of 7 claims could not be decided and is in no figure." in top
    assert "S is 50.0 on culturally agnostic and 20.0 on culturally specific questions." in top


def test_the_opening_compares_models() -> None:
    result = [good(answer(0, model="b")), irrelevant(answer(0, model="a")), half_true(answer(0, model="c"))]
    top = words(page_of(result).split("<nav")[0])
    assert "3 models were asked for 3 long answers in Arabic. \u2068b\u2069 has the highest S, but chance" in top
    assert "The S of the others is between 0.0 and 50.0." in top
    assert "Models b, c, a Answers 3 Languages 1" in re.sub("[\u2068\u2069]", "", top)


def unjudged(reply: LongAnswer) -> Pair:
    """Every claim undecided."""
    return reply, appraisal(reply, claims=(claim(None),), failures={"search": failure("1 of 1 claim: down")})


def test_no_best_is_named_among_equals() -> None:
    """Where no S is known, the share without issues stands first, and it may be the same."""
    pairs = [unjudged(answer(i, model=model)) for i, model in enumerate("aabb")]
    top = words(page_of(pairs).split("<nav")[0])
    assert "The best is" not in top
    assert "is shown first, but others have the same share without issues." in top


@pytest.mark.often("others2-The best is \\u2068b\\u2069.")
@pytest.mark.parametrize(
    ("others", "sentence"),
    [
        (
            (good, unjudged, unjudged, irrelevant),
            "b\u2069 has the highest S, but chance or what is undecided may explain that.",
        ),
        ((unjudged, unjudged, good), "b\u2069 is shown first, but too little could be decided for an order."),
        ((irrelevant, irrelevant, unjudged), "The best is \u2068b\u2069."),
    ],
)
def test_no_best_is_named_where_the_undecided_could_be(others: tuple[Any, ...], sentence: str) -> None:
    """The best has 1/2; the other could have more, has no figure, or cannot have more than 1/4."""
    best = [
        case(answer(10 * i + j, model="b"))
        for i, case in enumerate((good, good, irrelevant, irrelevant))
        for j in range(10)
    ]
    worse = [case(answer(10 * i + j, model="a")) for i, case in enumerate(others) for j in range(10)]
    worse += [wrong_language(answer(90 + j, model="a")) for j in range(10)]
    top = words(page_of([*worse, *best]).split("<nav")[0])
    assert sentence in top
    assert ("The best is" in top) == sentence.startswith("The best")


def test_table_2_has_both_kinds_in_a_cell() -> None:
    result = cells(page_of(four()), "All languages")
    assert list(result) == ["model-a 4 answers, 1 of 7 claims undecided"]
    wrong, repetition, without, precision, relevance, overall = result.popitem()[1]
    assert wrong.startswith("50.0 / 0.0 1.3–98.7 / 0.0–84.2 n 2 / 2")  # exact for 1 of 2 and 0 of 2
    assert repetition.startswith("0.0 / 0.0")
    assert without.startswith("50.0 / 100.0")
    assert precision.startswith("100.0 / 80.0")  # of the last two, 1/2 with two of three claims decided, and 1
    assert "n 1 / 2" in precision
    assert relevance.startswith("100.0 / 50.0")
    assert overall.startswith("50.0 / 20.0")
    assert "within – / 0.6–89.1" in overall  # 16.7–33.3 and chance


def test_the_languages_that_the_paper_leaves_out_are_in_one_of_two_tables() -> None:
    html = section(page_of([good(answer(0)), wrong_language(answer(2, "bal"))]), "numbers")
    assert cells(html, "All languages").popitem()[1][0].startswith("50.0")
    assert cells(html, "As in CaLMQA’s Table 2").popitem()[1][0].startswith("0.0")
    assert "Without Balochi, which the paper leaves out" in words(html)
    alone = section(page_of([good(answer(0))]), "numbers")
    assert "As in CaLMQA’s Table 2</caption>" not in alone
    assert "None of these languages is left out" in words(alone)


def test_what_could_not_be_scored_stands_beside_the_number() -> None:
    result = cells(page_of([good(answer(0)), unsure(answer(2)), missing(answer(4))]), "All languages")
    assert list(result) == ["model-a 3 answers, 1 not given"]
    assert result.popitem()[1][0] == "0.0 0.0–97.5 n 1 ✕ 2 within 0.0–98.3"


def test_without_kinds_there_is_one_number_in_a_cell_and_one_map() -> None:
    html = page_of([good(answer(i, kind=None)) for i in range(3)])
    assert cells(html, "All languages").popitem()[1][0] == "0.0 0.0–70.8 n 3"
    assert "culturally" not in words(section(html, "languages"))
    assert section(html, "languages").count('<table class="heat') == 8  # one for each figure
    assert "Kind" not in section(html, "answers").split("</div>")[0]


@pytest.mark.slow
def test_recall_and_f1_name_their_k() -> None:
    html = page_of(four(), Counting(k=4))
    result = cells(html, "Other figures").popitem()[1]
    assert result[0].startswith("2.0 / 2.5")
    assert "Recall at K = 4, %" in words(section(html, "numbers"))
    assert "Recall" not in words(section(page_of(four()), "numbers"))


@pytest.mark.slow
def test_without_a_judge_there_is_only_the_surface() -> None:
    unjudged_pairs = [(reply, about.model_copy(update=UNJUDGED)) for reply, about in pairs(60)]
    html = page_of(unjudged_pairs, SURFACE)
    assert re.findall(r"Figure (\d+)", words(section(html, "languages"))) == ["7", "12", "13", "15"]
    assert "there is no overall score" in words(html)
    assert "% without issues, 95%:" in words(html)
    assert "Factual precision" not in words(html)
    assert "Precision" not in words(html)


def test_nothing_at_all() -> None:
    html = render_page(pages.describe_summaries([], tuple, Signature()))
    assert "none" in words(section(html, "signatures"))
    assert re.findall(r'<section class="part" id="(\w+)"', html) == ["signatures"]
    assert not {"None", "nan"} & set(words(html.split("<script>")[0]).split())


# ---- heatmaps --------------------------------------------------------------------------------------------------


@cache
def large_page() -> str:
    return page_of(pairs(200))


@pytest.mark.slow
def test_every_figure_has_a_map_for_each_kind() -> None:
    html = section(large_page(), "languages")
    assert re.findall(r"Figure (\d+)", words(html)) == ["2", "7", "8", "9", "11", "12", "13", "15"]
    assert html.count('<table class="heat') == 16
    assert html.count("<details open>") == 1


def test_languages_stand_by_resources_and_those_of_a_level_together() -> None:
    result = list(cells(large_page(), "Overall score S: culturally agnostic questions"))
    assert result == [
        *("High and mid resources 5 languages", "Arabic", "Chinese", "English", "German", "Hindi"),
        *("Low resources 3 languages", "Balochi left out in the paper", "Pashto", "Samoan"),
    ]


def test_the_right_language_is_what_is_not_wrong_and_english_is_no_other_language() -> None:
    result = [wrong_language(answer(2 * i, "de")) for i in range(3)] + [good(answer(2 * i, "de")) for i in range(3, 12)]
    html = page_of([*result, *(good(answer(2 * i, "en")) for i in range(12))])
    right = cells(html, "Answers in the correct language, %: culturally agnostic questions")
    assert (right["German"], right["English"]) == (["75.0 n 12"], ["100.0 n 12"])
    assert "model-a, German: 75.0% (95% interval 42.8–94.5%), n 12, 0 unscored" in unescape(html)
    english = cells(html, "Answers in English to questions in other languages, %: culturally agnostic questions")
    assert english["German"] == ["25.0 n 12"]
    assert "English" not in english


@pytest.mark.parametrize(("count", "text", "shade"), [(19, "100.0 n 19", "few above s20"), (20, "100.0", "above s20")])
def test_cells_with_few_answers_are_marked(count: int, text: str, shade: str) -> None:
    html = page_of([good(answer(2 * i)) for i in range(count)])
    title = "Overall score S: culturally agnostic questions"
    assert cells(html, title)["Arabic"] == [text]
    cell = re.findall(r"<td([^>]*)>100", html.split(f"<caption>{title}")[1])[0]
    assert f'class="{shade}"' in cell


def test_more_is_worse_has_another_colour() -> None:
    html = page_of([repeating(answer(2 * i)) for i in range(24)])
    body = html.split("<caption>Answers with repetitions, %: culturally agnostic questions")[1].split("</table>")[0]
    assert 'class="below s20"' in body


def test_resources_are_compared() -> None:
    result = [good(answer(2 * i, "de")) for i in range(2)] + [irrelevant(answer(2 * i, "sm")) for i in range(2, 4)]
    html = page_of(result)
    assert "High and mid resources: 100.0%" in words(section(html, "resources"))
    body = section(html, "resources")
    assert [row[0] for row in rows(body.split("By level of resources</caption>")[1])] == [
        "model-a high and mid resources",
        "model-a low resources",
    ]
    assert "S is 100.0 in languages with many or some resources and 0.0 in those with few." in words(html)
    assert 'id="resources"' not in page_of(four())


def test_tells_and_failures_are_counted_by_model() -> None:
    html = page_of([*four(), missing(answer(5, model="b")), half_true(answer(7, model="b"))])
    tells = cells(html, "Answers with each tell, %")
    assert tells["model-a"][0].startswith("50.0 / 0.0")
    assert tells["model-a"][3].startswith("50.0 / 0.0")
    assert cells(html, "Answers with a failure, by stage")["b"] == ["1", "1"]
    assert re.findall(r"<bdi[^>]*>(\w+)</bdi></th>", section(html, "failures"))[:2] == ["Answer", "Verification"]
    assert 'id="failures"' not in page_of(four())


# ---- answers ---------------------------------------------------------------------------------------------------


def test_an_answer_with_claims_shows_verdicts_evidence_and_failures() -> None:
    (card,) = cards(page_of([half_true(answer(1))]))
    shown = words(card)
    assert "q1 Arabic · culturally specific · food · model-a Unsupported claims" in shown
    assert "Question in English Why is it done? S 50.0 expected Arabic found Arabic (certainty 98%)" in shown
    assert "factual precision 50.0% relevant yes" in shown
    assert "Answer in English As it was judged Coffee goes with dates. Relevant, says the judge It answers." in shown
    assert "3 claims: 1 supported, 1 not supported, 1 undecided" in shown
    assert "Coffee is from Peru. Not supported sentence 1 The results say Ethiopia." in shown
    assert (
        "Undecided sentence 1 The answer could not be parsed (fault of the text): no verdict Evidence: 2 results"
        in shown
    )
    assert "Coffee Dates go with coffee. 2021-05-03 · https://example.org/coffee A passage. corpus.jsonl:7" in shown
    assert "Verification failed, the answer could not be parsed (fault of the text): 1 of 3 claims: no verdict" in shown
    assert card.count('<a href="https://example.org/coffee" rel="noopener noreferrer nofollow"') == 3
    assert card.count("<a ") == 3


def test_surface_issues_are_on_the_card() -> None:
    wrong, repeats = cards(page_of([wrong_language(answer(0)), repeating(answer(2, "sm"))]))[::1]
    if "Repetition" in words(wrong):
        wrong, repeats = repeats, wrong
    assert "found English (certainty 97%) mixed English 80%, Arabic 20%" in words(wrong)
    assert "tell Apology or “I cannot” tell Emoji" in words(wrong)
    assert 'lang="en" dir="ltr">I&#39;m sorry' in wrong
    assert "repeats itself 5 times" in words(repeats)
    assert f"<mark>{TEXTS['sm'][1] * 5}</mark> …" in repeats
    (lost,) = cards(page_of([missing(answer(0))]))
    assert "No answer" in words(lost)
    assert "Answer failed, the request was refused or not answered (fault of the text): HTTP 500" in words(lost)


def test_right_to_left_text_is_shown_so() -> None:
    (card,) = cards(page_of([good(answer(0))]))
    assert f'lang="ar" dir="rtl">{TEXTS["ar"][0]}</p>' in card
    assert f'lang="ar" dir="rtl">{TEXTS["ar"][1]}</p>' in card
    (card,) = cards(page_of([unsure(answer(0))]))
    assert f'dir="auto">{TEXTS["ar"][1]}</p>' in card


@pytest.mark.parametrize(
    ("case", "issues", "score"),
    [
        (good, [AnswerIssue.NONE], 1.0),
        (wrong_language, [AnswerIssue.WRONG_LANGUAGE], 0.0),
        (repeating, [AnswerIssue.REPETITION], 0.0),
        (irrelevant, [AnswerIssue.IRRELEVANT], 0.0),
        (half_true, [AnswerIssue.UNSUPPORTED, AnswerIssue.FAILED], 0.5),
        (unsure, [AnswerIssue.UNSURE], 0.5),
        (missing, [AnswerIssue.MISSING], 2.0),
    ],
)
def test_issues_and_scores(case: Any, issues: list[AnswerIssue], score: float) -> None:
    _, result = case(answer())
    assert list(issues_of(result)) == issues
    assert score_of(result) == score


def test_no_claim_is_an_issue_only_when_all_was_read() -> None:
    assert issues_of(appraisal(answer(), claims=())) == (AnswerIssue.NO_CLAIMS,)
    partly = appraisal(answer(), claims=(), failures={"claims": failure()})
    assert issues_of(partly) == (AnswerIssue.FAILED,)


def test_the_worst_come_first_and_missing_ones_last() -> None:
    html = page_of([good(answer(0)), half_true(answer(1)), missing(answer(2)), irrelevant(answer(3))])
    badges = [words(card.split("</header>")[0]).rsplit("model-a ")[1] for card in cards(html)]
    assert badges == ["Not relevant", "Unsupported claims", "No issue found", "No answer"]


def test_more_answers_than_a_page_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    result = pairs(30, ("a", "b"))
    whole = page_of(result)
    assert len(cards(whole)) == 60
    assert "left out:" not in words(section(whole, "answers"))
    monkeypatch.setattr(pages, "ANSWERS", 30)
    html = page_of(result)
    assert len(cards(html)) == 30
    shown = words(section(html, "answers"))
    assert "This page holds 30 of 60 answers, and 30 are left out" in shown
    assert "appraisals.jsonl has all" in shown
    counts = dict(re.findall(r"(Wrong language|Repetition|No answer): [\d,]+ \((\d+) here\)", shown))
    assert {name: int(n) >= 2 for name, n in counts.items()} == dict.fromkeys(
        ("No answer", "Wrong language", "Repetition"), True
    )
    assert {re.findall(r'data-run="(\d)"', card)[0] for card in cards(html)} == {"0", "1"}


@pytest.mark.slow
def test_what_is_dropped_on_the_way_would_not_have_been_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "ANSWERS", 30)
    result = pairs(30, ("a", "b"))
    trimmed = page_of(result)
    monkeypatch.setattr(pages, "_trim", lambda _: 0)
    assert page_of(result) == trimmed


@pytest.mark.slow
def test_a_page_of_long_answers_stays_within_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "SIZE", 200_000)
    long = [good(answer(i, answer="word " * 2000)) for i in range(200)]
    html = page_of(long)
    assert 10 < len(cards(html)) < 30
    assert len(html) < 400_000
    assert "are left out" in words(section(html, "answers"))


def test_long_texts_and_lists_are_cut_and_the_page_says_so() -> None:
    many = tuple(claim(text=f"claim {i}", evidence=tuple(Evidence(text=f"r{i}") for i in range(10))) for i in range(70))
    reply = answer(answer="x" * 15_000)
    html = page_of([(reply, appraisal(reply, claims=many))])
    shown = words(html)
    assert "… 3,000 more characters" in shown
    assert "10 more." in shown
    assert "5 more." in shown
    assert "claim 59" in shown
    assert "claim 60" not in shown
    assert "Very long texts and lists are cut here" in shown
    assert "are cut here" not in words(page_of(four()))


@given(st.text(alphabet="ab<&\u0645 ", max_size=30), st.lists(st.tuples(st.integers(-5, 40), st.integers(-5, 40))))
def test_marks_are_exactly_at_the_spans(text: str, spans: list[tuple[int, int]]) -> None:
    pieces = mark_spans(text, spans)
    assert "".join(piece for piece, _ in pieces) == text
    wanted = {i for start, end in spans for i in range(max(0, start), min(end, len(text)))}
    places = [is_marked for piece, is_marked in pieces for _ in piece]
    assert {i for i, is_marked in enumerate(places) if is_marked} == wanted


@pytest.mark.parametrize(
    ("source", "is_link"),
    [
        ("https://example.org/a?b=c&d=e", True),
        ("HTTP://example.org", True),
        ("javascript:alert(1)", False),
        ("data:text/html,<script>", False),
        ("https:javascript:alert(1)", False),
        ("https://", False),
        ("https://user@evil.example/", False),
        ("https://a.example/ onclick=x", False),
        ("java\nscript:alert(1)", False),
        ("http://[::1", False),
        ("https://a.example/\u202egpj.exe", False),
        ("file.jsonl:3", False),
        ("https://a.example/" + "a" * 2000, False),
    ],
)
def test_only_addresses_of_the_web_are_links(source: str, is_link: bool) -> None:
    assert is_web_address(source) is is_link
    reply = answer()
    html = page_of([(reply, appraisal(reply, claims=(claim(evidence=(Evidence(text="t", source=source),)),)))])
    assert len(re.findall(r"<a href=\"(?!#)", html)) == is_link
    assert not re.search(r"=[\"']?\s*(javascript|data):", html)


# ---- safety ----------------------------------------------------------------------------------------------------

ATTRIBUTE = '" onmouseover="window.hacked = 3" data-evil="'


def hostile() -> str:
    bad = HOSTILE + ATTRIBUTE
    evidence = Evidence(text=bad, title=bad, source=bad, date=bad)
    link = Evidence(text=bad, source='https://example.org/"onmouseover="window.hacked=4"')
    claims = tuple(
        claim(s, bad, evidence=(evidence, link), reason=bad, failure=failure(bad)) for s in (True, False, None)
    )
    reply = LongAnswer(
        id=bad, question=bad + "\ud800", answer=bad * 3, language=bad, model=bad, region=bad, topic=bad,
        kind=QuestionKind.SPECIFIC, question_english=bad + ".", answer_english=bad,
    )  # fmt: skip
    about = appraisal(
        reply, claims=claims, relevance_reason=bad, tells=(bad,), failures={bad: failure(bad), "claims": failure(bad)},
        language=LanguageCheck(detected=bad, certainty=0.5, correct=True, shares={bad: 0.5, "en": 0.5}),
        repetition=Repetition(times=3, text=bad, spans=((0, len(bad)), (5, 9), (-3, 10**9))),
    )  # fmt: skip
    return page_of([(reply, about), *pairs(20, ("b",))], signature=Signature({bad: bad}))


def test_hostile_texts_are_only_text() -> None:
    html = hostile()
    html.encode()
    read = Tags(html)
    assert not read.tags & {"img", "iframe", "link", "object", "form", "base"}
    assert html.count("<script>") == 1
    assert not {name for name in read.attributes if name.startswith("on")} | read.attributes & {
        "style",
        "src",
        "data-evil",
    }
    assert html.count("window.hacked = 1") > 30  # it is shown, though


# ---- in a browser ----------------------------------------------------------------------------------------------

PAGES = {
    "one": lambda: page_of(pairs(30)),
    "several": lambda: page_of(pairs(24, MODELS), Counting(k=10)),
    "surface": lambda: page_of([(a, b.model_copy(update=UNJUDGED)) for a, b in pairs(40)], SURFACE),
    "hostile": hostile,
}


@cache
def made(name: str) -> str:
    return PAGES[name]()


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Any]:
    with showing(browser, tmp_path) as show_page:
        yield show_page


@pytest.mark.often("hostile")
@pytest.mark.parametrize("name", list(PAGES))
def test_nothing_is_wider_than_the_window(show: Any, name: str) -> None:
    assert_fits(show(made(name)))


@pytest.mark.parametrize("name", ["one", "several"])
def test_no_table_is_cut_at_the_width_of_a_laptop(show: Any, name: str) -> None:
    page = show(made(name), unfold=False, width=1280, height=900)
    cut = "[...document.querySelectorAll('.scroll')].filter((box) => box.scrollWidth > box.clientWidth + 1).length"
    assert page.evaluate(cut) == 0


def visible(page: Page) -> list[str]:
    """The badges of the cards that are shown."""
    result: list[str] = page.evaluate(
        "[...document.querySelectorAll('.answer')].filter((c) => c.offsetParent)"
        ".map((c) => c.querySelector('.badge').textContent)"
    )
    return result


@pytest.mark.slow
def test_cards_are_filtered_searched_and_shown_in_chunks(show: Any) -> None:
    page = show(page_of(pairs(44, ("a", "b"))))
    assert len(visible(page)) == 25
    page.click("#more")
    assert len(visible(page)) == 50
    labels = page.evaluate(
        "[...document.querySelectorAll('#choose label')].map((l) => l.firstChild.textContent.trim())"
    )
    assert labels == ["Search", "Model", "Language", "Kind", "Issue", "Tell"]
    choose(page, "label:nth-of-type(5) select", "Wrong language")
    assert set(visible(page)) == {"Wrong language"}
    before = len(visible(page))
    choose(page, "label:nth-of-type(2) select", "b")
    choose(page, "label:nth-of-type(4) select", "specific")
    assert 0 < len(visible(page)) < before
    page.click("#reset")
    choose(page, "label:nth-of-type(3) select", "Samoan")
    page.wait("document.querySelector('.answer:not([hidden]) [lang=sm]') !== null")
    page.click("#reset")
    page.click("#q")
    page.type("FROM PERU")
    assert set(visible(page)) == {"Unsupported claims"}
    page.type(" nobody")
    assert visible(page) == []
    assert page.evaluate("document.getElementById('none').offsetParent !== null")


def test_claims_are_folded_and_open_with_the_keyboard(show: Any) -> None:
    page = show(page_of([half_true(answer(1))]), unfold=False)
    shown = "document.querySelector('.claims').checkVisibility()"
    assert page.evaluate(shown) is False
    page.evaluate("document.querySelector('.claims').closest('details').querySelector('summary').focus()")
    page.press("Enter")
    assert page.evaluate(shown) is True
    left, _, width, _ = page.box(".claims")
    card = page.box(".card")
    assert width > 0.8 * card[2]  # below its summary, not beside it
    assert left < card[0] + 60


def test_arabic_stands_on_the_right_and_repetitions_are_marked(show: Any) -> None:
    page = show(page_of([repeating(answer(0))]))
    style = "getComputedStyle(document.querySelector('.body[lang=ar]'))"
    assert page.evaluate(f"{style}.direction") == "rtl"
    left, _, width, _ = page.box("mark")
    body = page.box(".card .body:has(mark)")
    assert left + width == pytest.approx(body[0] + body[2], abs=2)
    assert page.evaluate("getComputedStyle(document.querySelector('mark')).backgroundColor") != "rgba(0, 0, 0, 0)"


def test_long_answers_scroll_with_the_keyboard(show: Any) -> None:
    page = show(page_of([good(answer(0, "de", answer="Wort " * 1000))]))
    result = page.evaluate("(() => { const b = document.querySelector('.body.long');"
                          " return [b.tabIndex, b.scrollHeight > b.clientHeight, b.getAttribute('aria-label')] })()")  # fmt: skip  # noqa: E501
    assert result == [0, True, "Answer"]
