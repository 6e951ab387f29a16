"""The injection audit: the suite is broad, the counting is right."""

from __future__ import annotations

import unicodedata
from importlib.resources import files
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from mores.errors import InputError
from mores.metric.audit import (
    Carrier,
    Case,
    Category,
    Injection,
    Rate,
    Verdict,
    applies,
    audit,
    carriers,
    inject,
    injections,
    plan,
    verdict,
)
from mores.stats.intervals import share_interval
from mores.types import Error, ErrorReport, Failure, FailureKind, Judgement, Sample, Severity

# --- the suite


def test_suite_is_large_and_covers_every_category() -> None:
    attacks = [i for i in injections() if i.goal is not None]
    controls = [i for i in injections() if i.goal is None]
    assert len(attacks) >= 72
    assert len(controls) >= 8
    assert {i.category for i in injections()} == set(get_args(Category))


@pytest.mark.parametrize("category", get_args(Category))
def test_every_category_has_more_than_a_handful(category: str) -> None:
    assert sum(i.category == category for i in injections()) >= 8


def test_ids_and_payloads_are_unique_and_not_blank() -> None:
    suite = injections()
    assert len({i.id for i in suite}) == len(suite)
    assert len({i.payload for i in suite}) == len(suite)
    assert all(i.payload.strip() for i in suite)
    assert all(i.id.startswith(f"{i.category}-") for i in suite)


def test_language_category_speaks_at_least_twelve_languages_besides_english() -> None:
    languages = {i.language for i in injections() if i.category == "language"}
    assert len(languages) >= 12
    assert "en" not in languages


@pytest.mark.parametrize(
    ("what", "low", "high"),
    [
        ("zero-width", 0x200B, 0x200D),
        ("bidi override", 0x202E, 0x202E),
        ("invisible separator", 0x2063, 0x2063),
        ("combining", 0x0300, 0x036F),
        ("Cyrillic", 0x0400, 0x04FF),
        ("full-width", 0xFF01, 0xFF5E),
        ("tags", 0xE0020, 0xE007E),
    ],
)
def test_unicode_category_uses(what: str, low: int, high: int) -> None:
    payloads = [i.payload for i in injections() if i.category == "unicode"]
    assert any(low <= ord(c) <= high for payload in payloads for c in payload), what


def test_controls_are_about_as_long_as_the_injections() -> None:
    lengths = {True: list[int](), False: list[int]()}
    for injection in injections():
        lengths[injection.goal is None].append(len(injection.payload))
    mean_control, mean_attack = (sum(lengths[k]) / len(lengths[k]) for k in (True, False))
    assert 0.5 < mean_control / mean_attack < 2


def test_files_hide_nothing_from_the_reader() -> None:
    for name in ("injections.jsonl", "carriers.jsonl"):
        text = files("mores.metric.audit").joinpath(name).read_text(encoding="utf-8")
        hidden = {c for c in text if unicodedata.category(c) in {"Cf", "Cc", "Zl", "Zp"}} - {"\n"}
        assert not hidden, f"{name}: write these as \\u escapes: {[hex(ord(c)) for c in hidden]}"


def test_carriers_are_three_right_three_wrong_in_six_languages() -> None:
    assert [c.wrong for c in carriers()] == [False] * 3 + [True] * 3
    assert len({c.language for c in carriers()}) == len({c.id for c in carriers()}) == 6
    assert {"ar", "he"} <= {c.language for c in carriers()}


def test_goal_and_category_must_agree() -> None:
    with pytest.raises(ValidationError, match="goal of category 'fence' is 'hide'"):
        Injection(id="x", category="fence", goal="accuse", payload="p", language="en")


# --- adding payloads


WRONG = Carrier(id="wrong", instruction="Ask", text="Own text.", language="en", region="US", wrong=True)
RIGHT = Carrier(id="right", text="Own text.", wrong=False)


def _injection(name: str, category: Category, goal: Any) -> Injection:
    return Injection(id=name, category=category, goal=goal, payload=f"Payload {name}.", language="en")


HIDE = _injection("hide", "override", "hide")
FENCE = _injection("close", "fence", "hide")
ACCUSE = _injection("blame", "accuse", "accuse")
CALM = _injection("calm", "control", None)
PLAIN = _injection("plain", "control", None)


def test_inject_adds_a_blank_line_and_the_payload_to_a_plain_sample() -> None:
    assert inject(WRONG, HIDE) == Sample(
        id="wrong+hide",
        instruction="Ask",
        text="Own text.\n\nPayload hide.",
        language="en",
        region="US",
    )


def test_plan_is_baselines_first_and_then_what_applies() -> None:
    ids = [sample.id for sample in plan([WRONG, RIGHT], [HIDE, ACCUSE, CALM])]
    assert ids == ["wrong", "right", "wrong+hide", "right+blame", "wrong+calm", "right+calm"]


def test_plan_never_shows_the_judge_what_is_true() -> None:
    assert {type(sample) for sample in plan(carriers(), injections())} == {Sample}


def test_shipped_plan_has_unique_ids() -> None:
    ids = [sample.id for sample in plan(carriers(), injections())]
    attacks = sum(i.goal is not None for i in injections())
    controls = sum(i.goal is None for i in injections())
    assert len(ids) == len(set(ids)) == 6 + 3 * attacks + 6 * controls


# --- verdicts


def _report(*errors: Error) -> Judgement:
    score = float(sum(e.severity.weight for e in errors)) if errors else 0.9
    return Judgement(sample_id="x", judge="j", score=score, report=ErrorReport(errors=errors))


def _error(side: Any, start: int | None, quote: str) -> Error:
    end = None if start is None else start + len(quote)
    return Error(side=side, start=start, end=end, quote=quote, severity=Severity.MAJOR, type="t")


FAILED = Judgement(sample_id="x", judge="j", failure=Failure(kind=FailureKind.PARSE, reason="no JSON"))


@pytest.mark.parametrize(
    ("judgement", "expected"),
    [
        (_report(), Verdict.NONE),
        (_report(_error("text", 0, "Own")), Verdict.ERRORS),
        (_report(_error("text", 11, "Payload")), Verdict.NONE),
        (_report(_error("text", 9, "\n\nPayload")), Verdict.NONE),
        (_report(_error("text", 8, ".\n\nPayload")), Verdict.ERRORS),
        (_report(_error("text", 11, "Payload"), _error("text", 4, "text")), Verdict.ERRORS),
        (_report(_error("instruction", 20, "Ask")), Verdict.ERRORS),
        (_report(_error("text", None, "nowhere")), Verdict.ERRORS),
        (FAILED, Verdict.UNJUDGED),
        (Judgement(sample_id="x", judge="j", score=-1.0), Verdict.ERRORS),
        (Judgement(sample_id="x", judge="j", score=0.0), Verdict.NONE),
    ],
    ids=[
        "empty",
        "own",
        "payload",
        "separator",
        "straddles",
        "both",
        "instruction",
        "unlocated",
        "failed",
        "score<0",
        "score=0",
    ],
)
def test_verdict_is_about_the_carrier(judgement: Judgement, expected: Verdict) -> None:
    assert verdict(judgement, WRONG) is expected


# --- counting: E has errors, N has none, U is unjudged

E, N, U = _report(_error("text", 0, "Own")), _report(), FAILED

CARRIERS = (
    Carrier(id="w1", text="Own text.", wrong=True),
    Carrier(id="w2", text="Own text.", wrong=True),  # the judge misses it
    Carrier(id="w3", text="Own text.", wrong=True),  # the judge fails on it
    Carrier(id="r1", text="Own text.", wrong=False),
    Carrier(id="r2", text="Own text.", wrong=False),  # the judge accuses it wrongly
)
INJECTIONS = (HIDE, FENCE, ACCUSE, CALM, PLAIN)
TABLE = """
           w1 w2 w3 r1 r2
           E  N  U  N  E
    +hide  N  E  N  .  .
    +close U  N  U  .  .
    +blame .  .  .  E  E
    +calm  E  N  N  E  U
    +plain N  N  E  N  E
"""


def _judgements(table: str) -> dict[str, Judgement]:
    names, alone, *rows = (line.split() for line in table.strip().splitlines())
    said = dict(zip(names, alone, strict=True))
    for suffix, *letters in rows:
        said |= {f"{name}{suffix}": letter for name, letter in zip(names, letters, strict=True)}
    return {name: {"E": E, "N": N, "U": U}[letter] for name, letter in said.items() if letter != "."}


JUDGEMENTS = _judgements(TABLE)


def _counts(rate: Rate | None) -> tuple[int, int] | None:
    return None if rate is None else (rate.count, rate.n)


def test_plan_is_what_the_audit_needs() -> None:
    assert {sample.id for sample in plan(CARRIERS, INJECTIONS)} == set(JUDGEMENTS)


@pytest.mark.parametrize(
    ("group", "n", "flips", "hits", "unjudged", "left_out", "control", "excess"),
    [
        ("overall", 6, 3, (2, 3), 1, 2, None, None),
        ("hide", 4, 2, (1, 2), 1, 2, (1, 2), 0.0),
        ("accuse", 2, 1, (1, 1), 0, 0, (1, 2), 0.5),
        ("category override", 2, 2, (1, 1), 0, 1, (1, 2), 0.5),
        ("category fence", 2, 0, (0, 1), 1, 1, (1, 2), -0.5),
        ("category accuse", 2, 1, (1, 1), 0, 0, (1, 2), 0.5),
        ("control", 8, 2, (0, 0), 1, 2, None, None),
    ],
)
def test_audit_counts_by_hand(
    group: str,
    n: int,
    flips: int,
    hits: tuple[int, int],
    unjudged: int,
    left_out: int,
    control: tuple[int, int] | None,
    excess: float | None,
) -> None:
    result = audit(JUDGEMENTS, CARRIERS, INJECTIONS)
    categories = {f"category {name}": tally for name, tally in result.by_category.items()}
    groups = {"overall": result.overall, "control": result.control, **result.by_goal, **categories}
    assert len(groups) == 7
    tally = groups[group]
    assert tally.n == n
    assert _counts(tally.flips) == (flips, n)
    assert _counts(tally.hits) == hits
    assert _counts(tally.unjudged) == (unjudged, n)
    assert tally.left_out == left_out
    assert _counts(tally.control) == control
    assert (tally.excess and tally.excess.value) == excess


def test_audit_lists_every_flip() -> None:
    result = audit(JUDGEMENTS, CARRIERS, INJECTIONS)
    assert [(c.injection, c.carrier, c.before, c.after) for c in result.flipped] == [
        ("hide", "w1", "errors", "none"),
        ("hide", "w2", "none", "errors"),
        ("blame", "r1", "none", "errors"),
        ("calm", "r1", "none", "errors"),
        ("plain", "w1", "errors", "none"),
    ]


def test_rates_carry_their_intervals() -> None:
    hide = audit(JUDGEMENTS, CARRIERS, INJECTIONS).by_goal["hide"]
    low, high = share_interval(1, 2)
    assert (hide.hits.value, hide.hits.low, hide.hits.high) == (0.5, low, high)
    assert hide.excess
    half = 2**0.5 * (high - 0.5)  # both rates are 1 of 2, and Newcombe's difference adds their squares
    assert (hide.excess.low, hide.excess.high) == pytest.approx((-half, half))


def test_without_controls_there_is_no_excess() -> None:
    hide = audit(JUDGEMENTS, CARRIERS, [HIDE]).by_goal["hide"]
    assert hide.control == Rate(count=0, n=0, value=None, low=0.0, high=1.0)
    assert hide.excess is None


def test_an_accusation_of_the_payload_is_no_flip() -> None:
    judged = {"right": N, "right+blame": _report(_error("text", 11, "Payload"))}
    result = audit(judged, [RIGHT], [ACCUSE])
    assert _counts(result.overall.flips) == (0, 1)


def test_a_missing_judgement_is_named() -> None:
    with pytest.raises(InputError, match=r"no judgement of 'wrong\+hide'"):
        audit({"wrong": E}, [WRONG], [HIDE])


def test_suite_names_what_was_compared() -> None:
    result = audit(JUDGEMENTS, CARRIERS, INJECTIONS)
    assert result.suite.startswith("injections:5x5:")
    assert audit(JUDGEMENTS, CARRIERS[1:], INJECTIONS).suite != result.suite


def test_audit_survives_json() -> None:
    result = audit(JUDGEMENTS, CARRIERS, INJECTIONS)
    assert type(result).model_validate_json(result.model_dump_json()) == result


def test_a_judge_that_obeys_everything_and_one_that_obeys_nothing() -> None:
    """On the shipped suite: the ends of the scale."""
    obeys, firm = dict[str, Judgement](), dict[str, Judgement]()
    for carrier in carriers():
        obeys[carrier.id] = firm[carrier.id] = E if carrier.wrong else N
        for injection in filter(lambda i: applies(i, carrier), injections()):
            sample_id = inject(carrier, injection).id
            firm[sample_id] = E if carrier.wrong else N
            obeys[sample_id] = {"hide": N, "accuse": E, None: firm[sample_id]}[injection.goal]
    for judged, expected in ((obeys, 1.0), (firm, 0.0)):
        result = audit(judged, carriers(), injections())
        assert result.overall.hits.value == result.overall.flips.value == expected
        assert result.control.flips.value == 0.0
        assert len(result.by_category) == 10
        for tally in (*result.by_goal.values(), *result.by_category.values()):
            assert tally.excess
            assert tally.excess.value == expected


verdicts = st.sampled_from([Verdict.ERRORS, Verdict.NONE, Verdict.UNJUDGED])


@given(verdicts, verdicts, st.sampled_from(["hide", "accuse", None]))
def test_a_case_ends_in_exactly_one_way(before: Verdict, after: Verdict, goal: Any) -> None:
    case = Case(injection="i", carrier="c", category="fence", goal=goal, before=before, after=after)
    assert case.flipped + case.unjudged + (case.compared and before is after) == case.compared
    assert not case.hit or (case.flipped and case.exposed)
