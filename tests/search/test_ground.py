"""Evidence for samples: what is asked, what comes back in which order, and how passages are cut."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.engine import Counts
from mores.search import Evidence, Found, Query, ground, shorten
from mores.search.base import Search
from mores.search.corpus import Corpus
from mores.search.fake import FakeSearch, fake
from mores.search.ground import LONGEST_QUERY, covered, cut, merged, queries_of, query_of
from mores.types import Failure, FailureKind, Sample

OWN = Evidence(text="It was brought along.")
TEXTS = st.text(st.sampled_from("ab \n\u0301字👩\u200d🔬🏽ก็,."), max_size=60)


def grounded(
    samples: Iterable[Sample], search: Search, k: int = 3, counts: Counts | None = None
) -> list[tuple[Sample, Failure | None]]:
    async def collect() -> list[tuple[Sample, Failure | None]]:
        return [pair async for pair in ground(samples, search, k, characters=20, counts=counts)]

    return asyncio.run(collect())


def test_samples_come_back_in_order_with_what_was_found() -> None:
    samples = [Sample(id=str(n), text=f"text {n}") for n in range(100)]
    result = grounded(samples, fake("echo"))
    assert [sample.id for sample, _ in result] == [str(n) for n in range(100)]
    assert [sample.evidence[0].text for sample, _ in result] == [f"text {n}" for n in range(100)]
    assert {failure for _, failure in result} == {None}


def test_at_most_k_passages_each_cut() -> None:
    long = Evidence(text="one two three four five six", title="Kept", source="here", date="2020")
    search = FakeSearch("x", lambda _: Found(evidence=(long,) * 5))
    [(sample, _)] = grounded([Sample(id="a", text="t")], search, k=2)
    assert sample.evidence == (long.model_copy(update={"text": "one two three four…"}),) * 2  # 19 of 20


def test_evidence_of_its_own_is_kept_and_not_searched_for() -> None:
    search = fake("echo")
    samples = [Sample(id="a", text="x"), Sample(id="b", text="y", evidence=(OWN,)), Sample(id="c", text="z")]
    result = [sample for sample, _ in grounded(samples, search)]
    assert [query.text for query in search.asked] == ["x", "z"]
    assert [sample.evidence[0].text for sample in result] == ["x", OWN.text, "z"]


def test_a_run_in_which_all_have_their_own_asks_nothing() -> None:
    search = fake("fail")
    assert grounded([Sample(id="b", text="y", evidence=(OWN,))] * 3, search)[0][1] is None
    assert search.asked == []


def test_nothing_found_is_no_failure_and_a_failed_search_is_one() -> None:
    def answer(query: Query) -> Found:
        if query.text == "bad":
            return Found(failure=Failure(kind=FailureKind.MODEL, reason="no connection"))
        return Found()

    counts = Counts()
    samples = [Sample(id="a", text="fine"), Sample(id="b", text="bad")]
    (first, none), (second, failure) = grounded(samples, FakeSearch("x", answer), counts=counts)
    assert (first, none) == (samples[0], None)
    assert second == samples[1]
    assert failure is not None
    assert failure.reason == "no connection"
    assert (counts.done, counts.failed) == (2, 1)


def test_the_query_is_instruction_and_text_for_the_culture() -> None:
    sample = Sample(id="a", instruction="What do\nGermans eat?", text=" Schnitzel.", language="de", region="DE")
    assert query_of(sample) == Query("What do Germans eat? Schnitzel.", "de", "DE")
    assert query_of(Sample(id="a", text="Schnitzel.")) == Query("Schnitzel.")  # the usual instruction says nothing


def test_a_long_query_has_the_beginnings_of_both() -> None:
    sample = Sample(id="a", instruction="ask " * 1000, text="say " * 1000)
    words = query_of(sample).text.split()
    assert len(query_of(sample).text) <= LONGEST_QUERY
    assert (words.count("ask"), words.count("say")) == (125, 125)  # 500 characters each, but for a space
    assert set(words) == {"ask", "say"}
    short = Sample(id="a", instruction="ask", text="say " * 1000)
    assert query_of(short).text.split().count("say") == 249  # 996 characters are left after "ask "


@pytest.mark.slow
@given(TEXTS, TEXTS)
def test_a_query_is_one_line_of_bounded_length(instruction: str, text: str) -> None:
    query = query_of(Sample(id="a", instruction=instruction * 40, text=text * 40)).text
    assert len(query) <= LONGEST_QUERY
    assert query == " ".join(query.split())


@pytest.mark.parametrize(
    ("text", "longest", "expected"),
    [
        ("short", 5, "short"),
        ("one two three", 13, "one two three"),
        ("one two three", 12, "one two…"),
        ("one two three", 8, "one two…"),  # exactly at the end of a word
        ("one two three", 7, "one…"),
        ("one two  three", 9, "one two…"),
        ("unbrokenword", 5, "unbr…"),
        ("a verylongunbrokenword", 12, "a verylongu…"),  # the only space is too far back
        ("日本の正月は家族で過ごす", 6, "日本の正月…"),
        ("aaae\u0301b", 5, "aaa…"),  # the accent would be cut off
        ("aaa👩\u200d🔬b", 5, "aaa…"),  # half an emoji
        ("aaa👩\u200d🔬b", 6, "aaa…"),
        ("aaa👩\u200d🔬b", 7, "aaa👩\u200d🔬b"),
        ("aaa👩🏽b", 5, "aaa…"),
        ("anything", 1, "…"),
        ("anything", 0, "…"),
    ],
)
def test_texts_are_cut_at_the_end_of_a_word(text: str, longest: int, expected: str) -> None:
    assert cut(text, longest) == expected
    assert shorten(Evidence(text=text, title="t"), longest) == Evidence(text=expected, title="t")


@given(TEXTS, st.integers(1, 40))
def test_a_cut_text_is_a_beginning_and_never_too_long(text: str, longest: int) -> None:
    result = cut(text, longest)
    assert len(result) <= longest
    assert text.startswith(result.removesuffix("…"))
    assert (result == text) is (len(text) <= longest)


LONG = "People in Peru eat much corn. In Peru they drink chicha. The feast is held in June. The houses are of red clay."


def test_every_sentence_of_a_text_is_looked_up_in_documents(tmp_path: Path) -> None:
    facts = ["Corn is eaten in Peru.", "Chicha is drunk in Peru.", "The feast is in June.", "Clay makes the houses."]
    documents = tmp_path / "facts.jsonl"
    documents.write_text("".join(json.dumps({"text": text}) + "\n" for text in [*facts, "Peru, Peru, corn."]), "utf-8")
    corpus, judged = Corpus(documents, tmp_path / "index"), Sample(id="1", text=LONG)
    [(sample, failure)] = grounded([judged], corpus, 2)
    assert failure is None
    assert {piece.text[:12] for piece in sample.evidence} >= {fact[:12] for fact in facts[2:]}, "one for each sentence"
    assert 4 <= len(sample.evidence) == len(set(sample.evidence)) <= 6
    [(short, _)] = grounded([Sample(id="2", text="Corn is eaten in Peru.")], corpus, 2)
    assert len(short.evidence) == 2


def test_only_sentences_long_enough_are_looked_up_and_not_too_many() -> None:
    whole, *parts = queries_of(Sample(id="1", text=f"Yes. {LONG}", region="PE"))
    assert [part.text for part in parts] == LONG.replace(". ", ".\n").split("\n")
    assert {part.region for part in (whole, *parts)} == {"PE"}
    assert len(queries_of(Sample(id="1", text=" ".join([LONG] * 9)))) == 9
    assert len(queries_of(Sample(id="1", text="One sentence is here."))) == 1
    assert queries_of(Sample(id="1", text=LONG, evidence=(Evidence(text="x"),))) == [Query("")]


def test_a_failure_of_any_query_is_one_of_the_text() -> None:
    failure = Failure(kind=FailureKind.MODEL, reason="down")
    piece, other = Evidence(text="a"), Evidence(text="b")
    assert merged([Found(evidence=(piece,)), Found(failure=failure)], 3) == Found(failure=failure)
    assert merged([Found(evidence=(piece, other)), Found(evidence=(piece,))], 1).evidence == (piece,)
    assert merged([Found(evidence=(piece,)), Found(evidence=(other, piece)), Found()], 1).evidence == (piece, other)


def test_each_sentence_may_be_covered_by_another_passage() -> None:
    text = "Finns love the sauna on Saturdays. Moroccans offer guests mint tea."
    passages = ("Finns love the sauna on Saturdays.", "Moroccans offer guests mint tea.")
    sample = Sample(id="s", text=text, evidence=tuple(Evidence(text=passage) for passage in passages))
    assert covered(sample) == 1.0
    one = sample.model_copy(update={"evidence": sample.evidence[:1]})
    assert covered(one) == pytest.approx((2 * 4 / 9 + 1) / 3)  # more than 1 and 0 on average
    assert covered(sample.model_copy(update={"evidence": ()})) == 0.0
