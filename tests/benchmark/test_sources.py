"""The small benchmarks that are made of the factory's sources, on rows in their published schema and on real data."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np
import pytest

from mores.benchmark import benchmark
from mores.benchmark.benchmark import Graded, Label, Verdict
from mores.benchmark.blend import grade_short
from mores.benchmark.globalopinionqa import people
from mores.benchmark.normad import grade
from mores.benchmark.score import ALIKE, PERFECT, BenchResult, VerdictScores, similarity
from mores.errors import InputError
from mores.types import Failure, Item, Result, Signature

REAL = Path(os.environ.get("MORES_SHARED_DATA") or Path(__file__).parents[3] / "shared" / "data")


def load(name: str, folder: Path) -> tuple[list[Item], list[str]]:
    bad: list[InputError] = []
    items = list(benchmark(name).read(folder, bad.append))
    return items, [str(error).removeprefix(f"{folder}/") for error in bad]


def dump(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def blend(folder: Path) -> None:
    def asked(*votes: tuple[int, list[str]]) -> dict[str, Any]:
        rows = [{"answers": ["…"], "en_answers": answers, "count": count} for count, answers in votes]
        return {"question": "…", "en_question": "What is drunk?", "annotations": rows}

    for country, votes in {
        "Greece": [(3, ["coffee", "a coffee"]), (1, ["milk"])],
        "West_Java": [(4, ["bandrek"])],
        "Mexico": [(1, ["horchata"])],
    }.items():
        (folder / f"{country}_data.json").write_text(json.dumps({"Q-1": asked(*votes)}))


def test_blend_as_a_choice(tmp_path: Path) -> None:
    blend(tmp_path)
    items, bad = load("blend", tmp_path)
    assert not bad
    greek, java = items
    assert (greek.choices, greek.target, greek.region) == (("bandrek", "coffee"), ("coffee",), "GR")
    assert greek.prompt.endswith("Question: What is drunk?\nA. bandrek\nB. coffee")
    assert (java.region, java.metadata["place"]) == ("ID-JB", "West Java")
    assert benchmark("blend").references(items) == {"random": 0.5, "always A": 0.5}


def test_blend_as_a_short_answer(tmp_path: Path) -> None:
    blend(tmp_path)
    greek, *others = load("blend-short", tmp_path)[0]
    assert len(others) == 2
    assert greek.target == ("coffee", "a coffee", "milk")
    assert greek.prompt.endswith("\nQuestion: What is drunk?")
    assert not greek.choices


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("Coffee", Label.CORRECT),
        ("the COFFEES.", Label.CORRECT),
        ("Black coffee", Label.CORRECT),
        ("**the milk**", Label.CORRECT),
        ("Answer: Milk, the best", Label.CORRECT),
        ("milk", Label.INCORRECT),
        ("eating breads that are sweet", Label.CORRECT),
        ("a café au lait", Label.CORRECT),
        ("sweet bread rolls", Label.CORRECT),
        ("bread, sweet", Label.CORRECT),
        ("coffeehouse", Label.CORRECT),
        ("self-service", Label.CORRECT),
        ("sweet", Label.INCORRECT),
        ("tea", Label.INCORRECT),
        ("<think>milk</think>tea", Label.INCORRECT),
        ("", Label.NOT_ATTEMPTED),
        ("<think>coffee", Label.NOT_ATTEMPTED),
        ("…", Label.NOT_ATTEMPTED),
    ],
)
def test_a_short_answer_is_matched_as_by_the_authors(reply: str, label: Label) -> None:
    item = Item(id="1", prompt="?", target=("coffee", "the milk", "cafe au lait", "sweet bread", "self service", "…"))
    assert grade_short(item, reply).label is label


def test_blend_asks_what_the_authors_count(tmp_path: Path) -> None:
    def asked(**idks: int) -> dict[str, object]:
        votes = [{"answers": ["…"], "en_answers": ["tea"], "count": 1}]
        return {
            "question": "?",
            "en_question": "What?",
            "annotations": votes,
            "idks": {"idk": 0, "no-answer": 0} | idks,
        }

    rows = {
        "few": asked(idk=4) | {"annotations": []},
        "kept": asked(idk=4, **{"no-answer": 1, "not-applicable": 1, "varies": 9}),
        "unknown": asked(idk=5),
        "none": asked(**{"no-answer": 1, "not-applicable": 2}),
    }
    (tmp_path / "Greece_data.json").write_text(json.dumps(rows))
    items, bad = load("blend-short", tmp_path)
    assert not bad
    assert [item.id for item in items] == ["kept:Greece"], (
        "one person's answer is enough, and no wrong option is needed"
    )


def test_a_letter_can_be_an_answer() -> None:
    item = Item(id="1", prompt="?", target=("a*",))
    assert [grade_short(item, reply).label for reply in ("A*", "An A.", "B")] == [
        Label.CORRECT,
        Label.CORRECT,
        Label.INCORRECT,
    ]


@pytest.mark.parametrize(
    ("name", "country", "release"),
    [
        ("normad.jsonl", "peru", "first"),
        ("normad.jsonl", "türkiye", "corrected"),
        ("normad_neutral_fixed.csv", "peru", "corrected"),
    ],
)
def test_neutral_stories_of_normads_first_release_are_left_out(
    tmp_path: Path, name: str, country: str, release: str
) -> None:
    """A rule of Türkiye: the corrected release gives it to Türkiye, the first to the country of the neutral story."""
    rule = {"Country": "türkiye", "Story": "Ann greets.", "Rule-of-Thumb": "Greet.", "Gold Label": "yes"}
    other = {"Country": "peru", "Story": "Bo eats.", "Rule-of-Thumb": "Eat.", "Gold Label": "no"}
    rows = [rule, other, rule | {"Country": country, "Story": "Cy sits.", "Gold Label": "neutral"}]
    if name.endswith("csv"):
        lines = [",".join(rule), *(",".join(row.values()) for row in rows)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    else:
        dump(tmp_path / name, rows)
    items, bad = load("normad", tmp_path)
    assert not bad
    labels = ["yes", "no", *(["neutral"] if release == "corrected" else [])]
    assert [item.target[0] for item in items] == labels
    assert {item.metadata["release"] for item in items} == {release}
    assert f"the {release} release" in benchmark("normad").about(items)


def test_normad_has_neutral_stories_and_two_contexts(tmp_path: Path) -> None:
    row = {"Country": "türkiye", "Story": "Ann greets. Is it fine?", "Rule-of-Thumb": "Greet.", "Gold Label": "yes"}
    rows = [row, row | {"Country": "peru", "Gold Label": "Neutral"}, row | {"Gold Label": "?"}]
    dump(tmp_path / "normad_neutral_fixed.jsonl", rows)
    items, bad = load("normad", tmp_path)
    assert [(item.region, item.target) for item in items] == [("TR", ("yes",)), ("PE", ("neutral",))]
    assert bad == [
        "normad_neutral_fixed.jsonl:3: Gold Label '?' is none of yes, no, neutral; correct or remove the row"
    ]
    normad = benchmark("normad")
    [plain], [ruled] = normad.messages(items[1]), normad.messages(items[1], "rule")
    assert "acceptable in Peru" in plain.content
    assert "Greet.\n" not in plain.content
    assert "Rule: Greet.\n" in ruled.content
    assert normad.references(items) == {"random": pytest.approx(1 / 3), "always yes": 0.5}


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("yes", "yes"),
        ("No.", "no"),
        ("**Neutral**", "neutral"),
        ("No, that is rude.", "no"),
        ("The answer is neutral.", "neutral"),
        ("Answer: **yes**", "yes"),
        ("<think>no</think>\nYes", "yes"),
        ("Yes. Final answer: yes", "yes"),
        ("No custom speaks against it", None),
        ("There is no reason not to", None),
        ("yes or no", None),
        ("Yes. But the answer is no.", None),
        ("nein", None),
        ("", None),
        ("I think so", None),
    ],
)
def test_normad_reads_one_word(reply: str, read: str | None) -> None:
    result = grade(Item(id="1", prompt="?", target=("yes",)), reply)
    if read is None:
        assert isinstance(result, Failure)
        assert result.reason.endswith("expected yes, no or neutral")
    else:
        assert result == Graded(label=Label.CORRECT if read == "yes" else Label.INCORRECT, read=read)


def test_normad_reads_a_model_that_repeats_itself_in_no_time() -> None:
    assert isinstance(grade(Item(id="1", prompt="?", target=("yes",)), "answer" + " " * 20_000 + "?"), Failure)


def test_include_keeps_regional_questions_in_their_order(tmp_path: Path) -> None:
    row = {
        "language": "Greek", "country": "Greece", "domain": "Arts", "subject": "History", "level": "Academic",
        "regional_feature": "region explicit", "question": "Πότε;",
        "option_a": "δ", "option_b": "γ", "option_c": "β", "option_d": "α", "answer": 2,
    }  # fmt: skip
    dump(tmp_path / "test.jsonl", [row, row | {"regional_feature": "agnostic"}])
    [item], bad = load("include", tmp_path)
    assert not bad
    assert (item.choices, item.target) == (("δ", "γ", "β", "α"), ("β",))
    assert (item.language, item.region, item.topic) == ("el", "GR", "History")


def test_the_order_of_survey_options_does_not_tell_the_answer(tmp_path: Path) -> None:
    row = {"question": "Do you like rain?", "options": ["Yes", "Maybe", "No", "DK/Refused"], "attribute": "Peru"}
    rows = [
        row | {"gold_distribution": [0.1, 0.2, 0.6, 0.1]},
        row | {"gold_distribution": [0.7, 0.1, 0.1, 0.1], "attribute": "Chile"},
        row | {"gold_distribution": [0.4, 0.41, 0.1, 0.09], "attribute": "Japan"},
    ]
    (tmp_path / "globalopinionqa_few.json").write_text(json.dumps(rows))
    items, bad = load("globalopinionqa", tmp_path)
    assert not bad
    assert [item.choices for item in items] == [("Maybe", "No", "Yes")] * 3
    assert [item.target for item in items] == [("No",), ("Yes",), ("Maybe",)]
    assert "people in Chile" in items[1].prompt
    assert items[0].metadata["shares"] == {"Maybe": 0.2, "No": 0.6, "Yes": 0.1}


def test_similarity_to_the_answers_of_a_country() -> None:
    item = Item(id="1", prompt="?", choices=("a", "b"), target=("a",), metadata={"shares": {"a": 0.6, "b": 0.2}})
    assert similarity(people(item), {"A": 3, "B": 1}) == pytest.approx(1)
    assert similarity(people(item), {}) is None
    turned = item.model_copy(update={"choices": ("b", "a")})  # shuffled, the shares go with the options
    assert similarity(people(turned), {"A": 1, "B": 3}) == pytest.approx(1)
    # people (3/4, 1/4), the model (0, 1): the middle is (3/8, 5/8)
    divergence = (0.75 * math.log2(0.75 / 0.375) + 0.25 * math.log2(0.25 / 0.625) + math.log2(1 / 0.625)) / 2
    assert similarity(people(item), {"B": 1}) == pytest.approx(1 - math.sqrt(divergence))


def test_similarity_is_reported_where_the_model_has_a_distribution() -> None:
    shares = {"a": 0.5, "b": 0.5}
    items = [
        Item(id=str(n), prompt="?", choices=("a", "b"), target=("a",), region="PE", metadata={"shares": shares})
        for n in range(2)
    ]

    def result(*verdicts: tuple[str, int, str, dict[str, float]]) -> Result | None:
        scores = VerdictScores(benchmark("globalopinionqa"), items)
        for unit, sample, read, probabilities in verdicts:
            label = Label.CORRECT if read == "A" else Label.INCORRECT
            scores.add(
                Verdict(item_id=unit, sample=sample, unit=unit, read=read, label=label, probabilities=probabilities)
            )
        return scores.result("m", None, Signature()).figures.get("similarity")

    assert result(("0", 0, "A", {}), ("1", 0, "A", {})) is None  # one choice is no distribution
    sampled = result(("0", 0, "A", {}), ("0", 1, "B", {}), ("1", 0, "A", {}), ("1", 1, "A", {}))
    apart = 1 - math.sqrt((0.5 * math.log2(0.5 / 0.75) + 0.5 * math.log2(0.5 / 0.25) + math.log2(1 / 0.75)) / 2)
    assert sampled
    assert sampled.value == pytest.approx((1 + apart) / 2)
    assert (sampled.n, sampled.unscored) == (2, 0)
    probable = result(("0", 0, "A", {"A": 0.5, "B": 0.5}), ("1", 0, "A", {"A": 0.5, "B": 0.5}))
    assert probable
    assert probable.value == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "samples"),
    [(2, 3), (10, 12), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((4, 5), (3, 30)))],
)
def test_what_a_perfect_model_reaches_from_as_many_answers_stands_beside(options: int, samples: int) -> None:
    """Two models answer 200 questions: one as people do, one by lot; both find themselves in the references."""
    chance, letters = np.random.default_rng(7), ascii_uppercase[:options]
    shares = chance.dirichlet(np.ones(options), 200)
    items = [
        Item(id=str(n), prompt="?", choices=tuple(letters.lower()), target=("a",), region="PE",
             metadata={"shares": dict(zip(letters.lower(), row.tolist(), strict=True))})
        for n, row in enumerate(shares)
    ]  # fmt: skip

    def result(models: Iterable[Sequence[float]]) -> BenchResult:
        scores = VerdictScores(benchmark("globalopinionqa"), items)
        for item, model in zip(items, models, strict=True):
            for sample, read in enumerate(chance.choice(list(letters), samples, p=model)):
                unread = sample == 0 and item.id == "0"  # one answer fewer, so one draw fewer
                scores.add(Verdict(item_id=item.id, sample=sample, unit=item.id, read=None if unread else str(read)))
        return scores.result("m", None, Signature())

    for name, models in ((PERFECT, shares), (ALIKE, np.full((200, options), 1 / options))):
        scored = result(models)
        reached = scored.figures["similarity"].value
        assert reached == pytest.approx(scored.references[name], abs=0.045)
        assert reached is not None
        assert reached < 0.975  # far from the 1 of a perfect model's probabilities


@pytest.mark.skipif(not REAL.is_dir(), reason="the real data are not here")
@pytest.mark.parametrize(
    ("name", "count", "random"),
    [
        ("normad", 1818, 1 / 3),
        pytest.param("blend", 6272, 0.281, marks=pytest.mark.slow),
        pytest.param("blend-short", 7422, None, marks=pytest.mark.slow),
        pytest.param("globalopinionqa", 3806, 0.381, marks=pytest.mark.slow),
    ],
)
def test_real_data(name: str, count: int, random: float | None) -> None:
    loaded = benchmark(name)
    items, bad = load(name, REAL / loaded.source)
    assert not bad
    assert len(items) == len({item.id for item in items}) == count
    references = loaded.references(items)
    assert references.get("random") == (None if random is None else pytest.approx(random, abs=1e-3))
    assert all(loaded.group(item, loaded.groupings[0]) for item in items)
    if loaded.grade is not None and not items[0].choices:
        for item in items:
            grade = loaded.grade(item, item.target[0])
            assert isinstance(grade, Graded)
            assert grade.label is Label.CORRECT, item


def test_world_values_asks_for_the_models_own_answer_and_compares_it_with_each_country(tmp_path: Path) -> None:
    row = {"question": "Is rain good?", "options": ["Yes", "No"], "gold_distribution": [0.9, 0.1], "source": "WVS"}
    rows = [
        row | {"attribute": "Peru"},
        row | {"attribute": "Chile", "gold_distribution": [0.2, 0.8]},
        row | {"attribute": "Peru", "question": "Is snow good?", "source": "GAS"},
    ]
    path = tmp_path / "globalopinionqa_few.json"
    path.write_text(json.dumps(rows))
    items, bad = load("world-values", tmp_path)
    assert not bad
    assert [(item.region, item.target) for item in items] == [("PE", ("Yes",)), ("CL", ("No",))]
    assert items[0].prompt == items[1].prompt, "one answer is compared with all countries"
    assert "Peru" not in items[0].prompt
    assert "someone from Chile" in items[1].metadata["variants"]["country"]
    scores = VerdictScores(benchmark("world-values"), items)
    for item in items:
        probabilities = {"A": 0.1, "B": 0.9}  # by the alphabet, B is Yes
        scores.add(Verdict(item_id=item.id, unit=item.id, read="B", probabilities=probabilities))
    regions = scores.result("m", None, Signature()).by["region"]
    assert regions["PE"]["similarity"].value == pytest.approx(1)
    likeness = regions["CL"]["similarity"].value
    assert likeness is not None
    assert likeness < 0.5
    path.write_text(json.dumps([{name: value for name, value in rows[0].items() if name != "source"}]))
    with pytest.raises(InputError, match="nothing says which questions are of the World Values Survey"):
        load("world-values", tmp_path)
