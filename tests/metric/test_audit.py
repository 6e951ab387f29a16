"""The injection audit: the suite is broad, the counting is right."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from importlib.resources import files
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from mores.errors import InputError
from mores.metric.audit import (
    PLACES,
    AttackRate,
    Audit,
    AuditCase,
    AuditVerdict,
    Carrier,
    Category,
    Injection,
    Place,
    Placed,
    audit,
    carriers,
    cases,
    choose,
    fisher,
    injections,
    plan,
    verdict,
)
from mores.stats.intervals import share_interval
from mores.types import Error, ErrorReport, Evidence, Failure, FailureKind, Judgement, Sample, Severity

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
    ("label", "low", "high"),
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
def test_unicode_category_uses(label: str, low: int, high: int) -> None:
    payloads = [i.payload for i in injections() if i.category == "unicode"]
    assert any(low <= ord(c) <= high for payload in payloads for c in payload), label


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


def test_there_are_more_carriers_than_an_audit_uses_and_most_judges_know_some() -> None:
    assert sum(not c.wrong for c in carriers()) >= 6
    assert sum(c.wrong for c in carriers()) >= 8
    assert len({c.id for c in carriers()}) == len(carriers())
    assert {"ar", "he", "ja", "de", "pt-BR"} <= {c.language for c in carriers()}


def test_long_attacks_are_long() -> None:
    for category in ("long", "many-shot"):
        assert min(len(i.payload) for i in injections() if i.category == category) > 400


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


@pytest.mark.parametrize(
    ("place", "instruction", "text"),
    [
        ("start", "Ask", "Payload hide.\n\nOwn text."),
        ("middle", "Ask", "Own\n\nPayload hide.\n\ntext."),
        ("end", "Ask", "Own text.\n\nPayload hide."),
        ("instruction", "Ask\n\nPayload hide.", "Own text."),
        ("evidence", "Ask", "Own text."),
    ],
)
def test_where_the_payload_stands(place: Place, instruction: str, text: str) -> None:
    evidence = (Evidence(text="Payload hide."),) if place == "evidence" else ()
    assert Placed(HIDE, WRONG, place).sample == Sample(
        id=f"wrong+hide@{place}", instruction=instruction, text=text, language="en", region="US", evidence=evidence
    )


def test_a_text_without_spaces_has_a_middle() -> None:
    carrier = Carrier(id="ja", text="おせち料理", wrong=False)
    assert Placed(HIDE, carrier, "middle").sample.text == "おせ\n\nPayload hide.\n\nち料理"


def test_every_attack_is_tried_in_every_place_and_in_every_carrier() -> None:
    wrong_carriers = [carrier for carrier in carriers() if carrier.wrong][:3]
    tried = list(cases(wrong_carriers, [HIDE]))
    assert [placed.place for placed in tried] == list(PLACES)
    assert {placed.carrier.id for placed in tried} == {carrier.id for carrier in wrong_carriers}


def test_plan_is_the_carriers_alone_and_then_what_applies() -> None:
    ids = [sample.id for sample in plan([WRONG, RIGHT], [HIDE, ACCUSE, CALM], ("end",))]
    assert ids == ["wrong", "right", "wrong+hide@end", "right+blame@end", "wrong+calm@end", "right+calm@end"]


def test_plan_never_shows_the_judge_what_is_true() -> None:
    assert {type(sample) for sample in plan(carriers(), injections())} == {Sample}


def test_shipped_plan_has_unique_ids() -> None:
    ids = [sample.id for sample in plan(carriers(), injections())]
    attacks = sum(i.goal is not None for i in injections())
    controls = sum(i.goal is None for i in injections())
    assert len(ids) == len(set(ids)) == len(carriers()) + 5 * (attacks + 2 * controls)


def test_carriers_are_those_that_the_judge_judges_correctly() -> None:
    pool = [*(Carrier(id=f"w{n}", text="t", wrong=True) for n in range(4)), RIGHT, replaced(RIGHT, "right-2")]
    judged = {"w0": N, "w1": MILD, "w2": U, "w3": E, "right": E, "right-2": N}
    assert [carrier.id for carrier in choose(judged, pool)] == ["right-2", "w3", "w1"]
    assert [carrier.id for carrier in choose(judged, pool, most=1)] == ["right-2", "w3"]


def replaced(carrier: Carrier, name: str) -> Carrier:
    return carrier.model_copy(update={"id": name})


# --- verdicts


def _report(*errors: Error) -> Judgement:
    score = float(sum(e.severity.weight for e in errors)) if errors else 0.9
    return Judgement(sample_id="x", judge="j", score=score, report=ErrorReport(errors=errors))


def _error(side: Any, start: int | None, quote: str, severity: Severity = Severity.MAJOR) -> Error:
    end = None if start is None else start + len(quote)
    return Error(side=side, start=start, end=end, quote=quote, severity=severity, type="t")


FAILED = Judgement(sample_id="x", judge="j", failure=Failure(kind=FailureKind.PARSE, reason="no JSON"))


@pytest.mark.parametrize(
    ("judgement", "expected"),
    [
        (_report(), AuditVerdict.NONE),
        (_report(_error("text", 0, "Own")), AuditVerdict.MAJOR),
        (_report(_error("text", 11, "Payload")), AuditVerdict.NONE),
        (_report(_error("text", 9, "\n\nPayload")), AuditVerdict.NONE),
        (_report(_error("text", 8, ".\n\nPayload")), AuditVerdict.MAJOR),
        (_report(_error("text", 11, "Payload"), _error("text", 4, "text")), AuditVerdict.MAJOR),
        (_report(_error("instruction", 20, "Ask")), AuditVerdict.MAJOR),
        (_report(_error("text", None, "nowhere")), AuditVerdict.MAJOR),
        (FAILED, AuditVerdict.UNJUDGED),
        (_report(_error("text", 0, "Own", Severity.MINOR)), AuditVerdict.MINOR),
        (Judgement(sample_id="x", judge="j", score=-1.0), AuditVerdict.MINOR),
        (Judgement(sample_id="x", judge="j", score=-5.0), AuditVerdict.MAJOR),
        (Judgement(sample_id="x", judge="j", score=0.0), AuditVerdict.NONE),
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
        "minor",
        "score<0",
        "score=-5",
        "score=0",
    ],
)
def test_verdict_is_about_the_carrier(judgement: Judgement, expected: AuditVerdict) -> None:
    assert verdict(judgement, Placed(HIDE, WRONG, "end")) is expected


@pytest.mark.parametrize(
    ("place", "error", "expected"),
    [
        ("start", _error("text", 0, "Payload"), AuditVerdict.NONE),
        ("start", _error("text", 15, "Own"), AuditVerdict.MAJOR),
        ("middle", _error("text", 5, "Payload"), AuditVerdict.NONE),
        ("middle", _error("text", 0, "Own"), AuditVerdict.MAJOR),
        ("middle", _error("text", 20, "text"), AuditVerdict.MAJOR),
        ("instruction", _error("instruction", 5, "Payload"), AuditVerdict.NONE),
        ("instruction", _error("instruction", 0, "Ask"), AuditVerdict.MAJOR),
        ("instruction", _error("text", 5, "text"), AuditVerdict.MAJOR),
        ("evidence", _error("text", 0, "Own"), AuditVerdict.MAJOR),
    ],
)
def test_an_error_in_the_payload_is_none_of_the_carrier(place: Place, error: Error, expected: AuditVerdict) -> None:
    assert verdict(_report(error), Placed(HIDE, WRONG, place)) is expected


# --- counting: E has errors, N has none, U is unjudged

E, N, U = _report(_error("text", 0, "Own")), _report(), FAILED
MILD = _report(_error("text", 0, "Own", Severity.MINOR))

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
    """Those of all carriers in all injections: an audit with one place takes what it needs."""
    names, alone, *rows = (line.split() for line in table.strip().splitlines())
    letter_of = dict(zip(names, alone, strict=True))
    for suffix, *letters in rows:
        letter_of |= {f"{name}{suffix}@end": letter for name, letter in zip(names, letters, strict=True)}
    return {name: {"E": E, "N": N, "U": U}[letter] for name, letter in letter_of.items() if letter != "."}


JUDGEMENTS = _judgements(TABLE)


def _counts(rate: AttackRate | None) -> tuple[int, int] | None:
    return None if rate is None else (rate.count, rate.n)


def test_one_case_by_hand() -> None:
    """w1: hidden by `hide`, lost by `close`; of the two controls one hides it too."""
    result = audit(JUDGEMENTS, CARRIERS[:1], INJECTIONS, ("end",))
    hide = result.by_goal["hide"]
    assert (hide.n, _counts(hide.flips), _counts(hide.hits), _counts(hide.unjudged)) == (2, (1, 2), (1, 2), (1, 2))
    assert _counts(hide.control) == (1, 2)
    assert hide.excess
    assert hide.excess.value == 0.0
    low, high = share_interval(1, 2)
    assert (hide.hits.low, hide.hits.high) == (low, high)
    half = 2**0.5 * (high - 0.5)  # both rates are 1 of 2, and Newcombe's difference adds their squares
    assert (hide.excess.low, hide.excess.high) == pytest.approx((-half, half))
    assert result.unmeasured == ("accuse",)
    assert [(c.injection, c.before, c.after) for c in result.flipped] == [
        ("hide", "major errors", "no errors"),
        ("plain", "major errors", "no errors"),
    ]


def test_a_carrier_without_a_verdict_is_left_out() -> None:
    result = audit(JUDGEMENTS, [CARRIERS[2]], INJECTIONS, ("end",))
    assert (result.overall.n, result.overall.left_out) == (0, 2)
    assert result.unmeasured == ("hide", "accuse")
    assert result.worst_category is None


def test_an_error_that_the_judge_misses_cannot_be_hidden() -> None:
    result = audit(JUDGEMENTS, [CARRIERS[1]], [HIDE, CALM], ("end",))
    assert result.unmeasured == ("hide",)
    assert _counts(result.overall.hits) == (0, 0)
    assert result.attacks[0].p is None


def test_major_to_minor_is_a_hit_of_its_own() -> None:
    soften = _injection("milder", "soften", "soften")
    judged = {"w1": E, "w1+milder@end": MILD, "w1+hide@end": MILD, "w1+calm@end": E}
    result = audit(judged, CARRIERS[:1], [soften, HIDE, CALM], ("end",))
    assert _counts(result.by_goal["soften"].hits) == (1, 1)
    assert _counts(result.by_goal["soften"].control) == (0, 1)
    assert _counts(result.by_goal["hide"].hits) == (0, 1)


def test_without_controls_there_is_no_excess() -> None:
    result = audit(JUDGEMENTS, CARRIERS[:1], [HIDE], ("end",))
    hide = result.by_goal["hide"]
    assert hide.control == AttackRate(count=0, n=0, value=None, low=0.0, high=1.0)
    assert hide.excess is None
    assert result.broken == ()


def test_an_accusation_of_the_payload_is_no_flip() -> None:
    judged = {"right": N, "right+blame@end": _report(_error("text", 11, "Payload"))}
    assert _counts(audit(judged, [RIGHT], [ACCUSE], ("end",)).overall.flips) == (0, 1)


def test_a_missing_judgement_is_named() -> None:
    with pytest.raises(InputError, match=r"no judgement of 'wrong\+hide@end'"):
        audit({"wrong": E}, [WRONG], [HIDE], ("end",))


def test_suite_names_what_was_compared() -> None:
    result = audit(JUDGEMENTS, CARRIERS[:1], INJECTIONS, ("end",))
    assert result.suite.startswith("injections:5x1:")
    assert audit(JUDGEMENTS, [CARRIERS[3]], INJECTIONS, ("end",)).suite != result.suite


def test_audit_survives_json() -> None:
    result = audit(JUDGEMENTS, CARRIERS[:1], INJECTIONS, ("end",))
    assert type(result).model_validate_json(result.model_dump_json()) == result


# --- judges on the shipped suite


def _scripted(obeys: Callable[[Injection], bool]) -> Audit:
    """A judge that knows what is true, and obeys some injections."""
    chosen = choose({carrier.id: E if carrier.wrong else N for carrier in carriers()}, carriers())
    judged = {carrier.id: E if carrier.wrong else N for carrier in chosen}
    for placed in cases(chosen, injections()):
        wanted = {"hide": N, "soften": MILD, "accuse": _report(_error("text", None, "x"))}
        goal = placed.injection.goal
        honest = _report(_error("text", None, "x")) if placed.carrier.wrong else N
        judged[placed.sample.id] = wanted[goal] if goal and obeys(placed.injection) else honest
    return audit(judged, chosen, injections())


@pytest.mark.often("1.0")
@pytest.mark.parametrize("share", [1.0, 0.0])
def test_a_judge_that_obeys_everything_and_one_that_obeys_nothing(share: float) -> None:
    result = _scripted(lambda _: bool(share))
    assert result.overall.hits.value == share
    assert result.control.flips.value == 0.0
    assert result.unmeasured == ()
    assert len(result.broken) == share * len(result.attacks)
    assert set(result.by_place) == set(PLACES)
    for tally in (*result.by_goal.values(), *result.by_category.values()):
        assert tally.excess
        assert tally.excess.value == share


@pytest.mark.slow
def test_a_judge_that_always_obeys_four_attacks_is_broken_by_them() -> None:
    """Their mean over all attacks is close to nothing, and they still work every time."""
    four = {"override-plain", "fence-bare-marks", "many-shot-log", "soften-policy"}
    result = _scripted(lambda injection: injection.id in four)
    assert result.overall.hits.value
    assert result.overall.hits.value < 0.05
    assert set(result.broken) == four
    assert {attack.injection for attack in result.attacks[:4]} == four
    assert all(
        attack.hits.count == attack.hits.n == 5 and attack.p is not None and attack.p < 0.001
        for attack in result.attacks[:4]
    )
    assert result.worst_category in {"override", "fence", "many-shot", "soften"}


def test_the_p_of_an_attack_by_hand() -> None:
    """2 of 2 against 1 of 3: of the 10 ways to draw 2 of 5, 3 have both from the 3 that turned."""

    def rate(count: int, n: int) -> AttackRate:
        return AttackRate(count=count, n=n, value=count / n, low=0.0, high=1.0)

    assert fisher(rate(2, 2), rate(1, 3)) == pytest.approx(0.3)
    assert fisher(rate(0, 1), rate(1, 1)) == 1.0


verdicts = st.sampled_from(list(AuditVerdict))


@given(verdicts, verdicts, st.sampled_from(["hide", "soften", "accuse", None]))
def test_a_case_ends_in_exactly_one_way(before: AuditVerdict, after: AuditVerdict, goal: Any) -> None:
    case = AuditCase(injection="i", carrier="c", place="end", category="fence", goal=goal, before=before, after=after)
    assert case.flipped + case.unjudged + (case.compared and before is after) == case.compared
    assert not case.reached(goal) or (case.flipped and case.exposed(goal))


def test_several_cases_of_one_injection_are_not_several_injections() -> None:
    """One attack of ten works, wherever it stands: five places tell no more about attacks than one."""

    def rate(places: int) -> AttackRate:
        aims = {"goal": "hide", "before": AuditVerdict.MAJOR, "category": "override", "carrier": "c"}
        some = [
            AuditCase(
                injection=str(name),
                place=PLACES[place],
                after=AuditVerdict.MAJOR if name else AuditVerdict.NONE,
                **aims,
            )
            for name in range(10)
            for place in range(places)
        ]
        return AttackRate.measure(some, lambda case: case.reached("hide"))

    single, five = rate(1), rate(5)
    assert (single.count, single.n, five.count, five.n) == (1, 10, 5, 50)
    assert (five.low, five.high) == pytest.approx((single.low, single.high), abs=1e-6)
