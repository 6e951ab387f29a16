"""Quotes under the grammar: always words of the sample, in any script, and nothing but a report around them."""

from __future__ import annotations

import json
import time
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mores.language.units import units
from mores.metric import Settings, open_metric
from mores.metric.metric import FREE_QUOTES
from mores.metric.prompt import defuse
from mores.metric.quotes import MOST_CHUNKS, chunks, report_grammar, words_grammar
from mores.metric.schema import LONGEST, WrittenReport, parse_text, report_schema
from mores.metric.spans import align
from mores.metric.write import write_report
from mores.models import Completion, Request
from mores.models.fake import FakeModel
from mores.types import Error, ErrorReport, Evidence, Sample, Severity, Side

guide = pytest.importorskip("llguidance", reason="what a grammar allows is asked of llguidance")

TEXTS = [
    "In Japan people eat “sushi”\nwith a \"fork\" \\ or a spoon, don't they? 1,500 yen.",
    "في مصر يأكل الناس الكُشَري بالشوكة، أليس كذلك؟",
    "बिहार में लोग छठ पूजा दिसम्बर में मनाते हैं।",
    "日本人は毎日ナイフとフォークで寿司を食べます。がか\u3099",
    "คนไทยกินข้าวด้วยตะเกียบ น้ำ",
    "한국 사람들은 설날에 떡국을 먹어요.",
    "Русские пьют чай\tиз самовара — каждый день!",
    "Οι Έλληνες τρώνε μουσακά. Ga\u0308nse.",
    "שָׁלוֹם לכולם, 'חג שמח'",
    "မြန်မာလူမျိုးများသည် ထမင်းကို စားကြသည်။ ខ្មែរ ಕನ್ನಡ",
    "👨‍👩‍👧 🇯🇵🇰🇷 👍🏽 ❤️love <|im_end|> \x07\x1f\u2028 می‌خورند",
    "x",
    "é",
    "e\u0301",
    "\"",
    "\\",
    "😀",
    "\u0301",
    "  \n a ",
]  # fmt: skip
ANY = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
TEXT = st.one_of(st.sampled_from(TEXTS), ANY, st.lists(st.sampled_from(TEXTS), min_size=2, max_size=3).map(" ".join))
BYTES = guide.LLTokenizer("byte")


def matcher(grammar: str | None) -> Any:
    assert grammar is not None
    follower = guide.LLMatcher(BYTES, grammar)
    assert not follower.is_error(), follower.get_error()
    return follower


def allows(grammar: str | None, answer: str) -> bool:
    follower, tokens = matcher(grammar), list(answer.encode())
    return bool(follower.try_consume_tokens(tokens) == len(tokens) and follower.is_accepting())


def wander(grammar: str | None, seed: int) -> str:
    """An answer of random bytes that the grammar allows; free text is plain letters, and all strings end soon."""
    follower, answer, dice = matcher(grammar), bytearray(), Random(seed)
    while not follower.is_stopped():
        bits = follower.compute_bitmask()
        allowed = [byte for byte in range(256) if bits[byte // 8] >> byte % 8 & 1]
        if ord('"') in allowed and dice.random() < 0.2:
            allowed = [ord('"')]
        elif len(allowed) > 90:
            allowed = list(b"abc ")
        answer.append(dice.choice(allowed))
        assert follower.consume_token(answer[-1])
    return answer.decode()


def written(quote: str, side: Side = "text", **fields: Any) -> str:
    error = {"side": side, "quote": quote, "severity": "minor", "type": "t", **fields, "explanation": "Why."}
    return json.dumps({"errors": [error]}, ensure_ascii=False, separators=(",", ":"))


def sampled(text: str, instruction: str = "Do it.", evidence: int = 0) -> Sample:
    passages = (Evidence(text="p"),) * evidence
    return Sample(id="s", instruction=instruction, text=text, evidence=passages)


@pytest.mark.slow
@given(TEXT, TEXT, st.integers(0, 2), st.integers())
def test_whatever_the_grammar_allows_is_a_report_with_every_error_located(
    text: str, instruction: str, evidence: int, seed: int
) -> None:
    sample = sampled(text, instruction, evidence)
    answer = wander(report_grammar(report_schema(3, evidence=evidence), sample), seed)
    report = parse_text(answer)
    assert isinstance(report, WrittenReport), answer
    for error, located in zip(report.errors, align(report.errors, sample, share=True), strict=True):
        assert located.located
        assert error.quote == located.quote == sample.side(error.side)[located.start : located.end]
        assert error.quote == error.quote.strip()
        assert set(error.evidence) <= set(range(1, evidence + 1))


@given(TEXT, st.data())
def test_every_run_of_words_can_be_quoted(text: str, data: st.DataObject) -> None:
    parts = list(chunks(text))
    assert "".join(parts) == json.dumps(text, ensure_ascii=False)[1:-1]
    start = data.draw(st.integers(0, len(parts) - 1))
    end = data.draw(st.integers(start + 1, min(start + 5, len(parts))))
    quote = json.loads(f'"{"".join(parts[start:end])}"')
    allowed = allows(report_grammar(report_schema(1, longest=400), sampled(text)), written(quote))
    assert allowed is (quote == quote.strip())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No Germans eat it.", ["No", " ", "Germans", " ", "eat", " ", "it", "."]),
        ("छठ पूजा", ["छठ", " ", "पूजा"]),
        ("かは\u3099ん", ["か", "は\u3099", "ん"]),
        ("น้ำ ที่", ["น้ำ", " ", "ที่"]),
        ("ខ្មែរ", ["ខ្មែ", "រ"]),
        ("👨‍👩‍👧👍🏽", ["👨‍👩‍👧", "👍🏽"]),
        ("🇯🇵 ❤️a", ["🇯🇵", " ", "❤️", "a"]),
        ("می‌خورند", ["می‌خورند"]),
        (' \u0301x"\n', [" ", "\u0301x", '\\"', "\\n"]),
    ],
)  # fmt: skip
def test_chunks_are_words_and_clusters(text: str, expected: list[str]) -> None:
    assert list(chunks(text)) == expected


@pytest.mark.parametrize(
    "quote", ["", " ", "sushi ", " sushi", "Sushi", "sush", "ushi", "eat forks", "with a spoon", "sushi\nwith"]
)
def test_nothing_else_can_be_quoted(quote: str) -> None:
    sample = sampled("In Japan people eat sushi with a fork.")
    grammar = report_grammar(report_schema(3), sample)
    assert allows(grammar, written("eat sushi with"))
    assert not allows(grammar, written(quote))


def test_each_side_is_quoted_for_itself() -> None:
    sample = sampled("Schnitzel.", "What do Germans eat?")
    grammar = report_grammar(report_schema(3), sample)
    assert allows(grammar, written("Germans eat", "instruction"))
    assert not allows(grammar, written("Germans eat", "text"))
    silent = report_grammar(report_schema(3), sampled("Schnitzel.", instruction=""))
    assert not allows(silent, written("", "instruction"))
    assert allows(silent, written("Schnitzel", "text"))
    assert allows(report_grammar(report_schema(3), sampled(" ", instruction=" ")), '{"errors":[]}')


@pytest.mark.parametrize("evidence", [0, 2])
def test_a_report_is_allowed_as_the_training_data_write_it(evidence: int) -> None:
    sample = sampled('She said "no"\nto tea.', evidence=evidence)
    errors = [
        Error(side="text", start=9, end=13, quote='"no"', severity=Severity.MAJOR, type="t", explanation="No, “yes”.",
              evidence=(2, 1)[:evidence]),
        Error(side="text", start=17, end=20, quote="tea", severity=Severity.MINOR, type="t"),
    ]  # fmt: skip
    answer = write_report(ErrorReport(errors=tuple(errors)), sample, summary=False)
    schema = report_schema(3, evidence=evidence)
    assert allows(report_grammar(schema, sample), answer)
    assert allows(report_grammar(schema, sample), '{"errors":[]}')
    for broken in (answer.replace(',"severity"', ', "severity"'), answer.replace("minor", "tiny"), answer[:-1]):
        assert not allows(report_grammar(schema, sample), broken)


def test_the_limits_are_those_of_the_schema() -> None:
    sample = sampled("a " * 100, evidence=2)
    grammar = report_grammar(report_schema(2, evidence=2), sample)

    def report(count: int, quote: str = "a a", **fields: Any) -> str:
        one = json.loads(written(quote, **{"evidence": [2]} | fields))["errors"]
        return json.dumps({"errors": one * count}, separators=(",", ":"))

    assert [allows(grammar, report(count)) for count in range(4)] == [True, True, True, False]
    assert allows(grammar, report(1, "a " * (LONGEST // 2 - 1) + "a"))
    assert not allows(grammar, report(1, "a " * (LONGEST // 2) + "a"))
    assert not allows(grammar, report(1, evidence=[3]))
    assert not allows(grammar, report(1, type="t" * 31))
    assert not allows(grammar, report(1, evidence=[1, 2, 1]))


def test_a_word_that_is_too_long_for_a_quote_can_be_quoted_in_part() -> None:
    sample = sampled("a" * 200 + "\n" * 3)
    assert allows(report_grammar(report_schema(3), sample), written("a" * LONGEST))


def test_a_report_without_limits_has_corrections_and_a_summary() -> None:
    sample = sampled("No tea.")
    error = json.loads(written("No"))["errors"][0] | {"correction": "Some"}
    answer = json.dumps({"errors": [error] * 9, "explanation": "x" * 500}, separators=(",", ":"))
    assert allows(report_grammar(report_schema(), sample), answer)
    assert not allows(report_grammar(report_schema(), sample), answer.replace('"No"', '"Nothing"'))


@given(TEXT, st.integers())
def test_words_of_a_passage_can_stand_between_quotation_marks(passage: str, seed: int) -> None:
    assume(units(passage))
    answer = wander(words_grammar(passage, 20, "”,"), seed)
    words = json.loads(f'"{answer.removesuffix("”,")}"')
    assert words in passage
    assert words == words.strip()
    assert "”" not in words


@pytest.mark.slow
def test_long_texts_compile_fast_and_the_longest_are_left_to_the_schema() -> None:
    words = " ".join(f"w{number}" for number in range(MOST_CHUNKS // 2 - 10))
    start = time.process_time()
    follower = matcher(report_grammar(report_schema(3, longest=400), sampled(words)))
    assert time.process_time() - start < 10
    assert follower.try_consume_tokens(list(b'{"errors":[{"side":"text","quote":"w7')) > 36
    assert report_grammar(report_schema(3), sampled("字" * 200_000)) is None


class Following(FakeModel):
    """A model that follows grammars, and says what it was asked."""

    grammars = True
    constrained = True

    def __init__(self, answer: str) -> None:
        super().__init__("following", lambda _: Completion(answer, (-0.5,)))
        self.asked: list[Request] = []

    async def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        return await super().complete(request)


def test_the_metric_asks_models_that_follow_grammars_for_quotes_of_the_text() -> None:
    sample = sampled("Say <|im_end|> twice.")
    model = Following(written("<|im_end|>"))
    [judgement] = open_metric(model, store=None).judge([sample])
    [request] = model.asked
    assert request.schema is None
    assert defuse(sample.text) in request.messages[-1].content
    # The model reads it with an invisible joiner, and quotes it without.
    assert allows(request.grammar, written("<|im_end|>"))
    assert judgement.report is not None
    assert judgement.report.errors[0].quote == "<|im_end|>"
    assert judgement.notes == ()
    assert judgement.signature["schema"].endswith(".quotes3")


def test_the_same_words_again_have_the_same_place() -> None:
    error = json.loads(written("tea"))["errors"][0]
    model = Following(json.dumps({"errors": [error] * 3}))
    [judgement] = open_metric(model, store=None).judge([sampled("tea or tea")])
    assert judgement.report is not None
    assert [error.start for error in judgement.report.errors] == [0, 7, 0]


def test_a_text_that_is_too_long_for_it_says_so() -> None:
    model = Following('{"errors":[]}')
    [judgement] = open_metric(model, store=None).judge([sampled("字" * (MOST_CHUNKS + 1))])
    assert model.asked[0].grammar is None
    assert model.asked[0].schema is not None
    assert judgement.notes == (FREE_QUOTES,)


@pytest.mark.parametrize(("constrain", "style", "expected"), [
    (None, None, False), (None, "fenced", True), (False, "fenced", False), (True, None, True),
])  # fmt: skip
def test_tuned_models_and_those_told_so_are_constrained(constrain: bool | None, style: Any, expected: bool) -> None:
    model = Following('{"errors":[]}')
    model.constrained, model.style = False, style
    open_metric(model, Settings(constrain=constrain), store=None).judge(["Fine."])
    grammar = model.asked[0].grammar
    assert (grammar is not None) is expected
    if style and grammar:  # tuned models write no corrections and no summary
        assert allows(grammar, '{"errors":[]}')
        assert "correction" not in grammar
