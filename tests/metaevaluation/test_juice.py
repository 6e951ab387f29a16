"""JuICE: five answers of our own in its schema, with every figure worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import mores
from mores.errors import ConfigError, InputError
from mores.io import JsonlWriter
from mores.metaevaluation.juice.data import CATEGORIES, TYPES, JuiceData, locate, paragraphs
from mores.metaevaluation.juice.records import Juice, JuiceScore
from mores.metaevaluation.juice.score import describe_data, score_baseline, score_detectors
from mores.metaevaluation.juice.session import JuiceRun
from mores.report.base.blocks import Hero
from mores.report.juice import describe
from mores.types import Error, ErrorReport, Failure, FailureKind, Judgement, Severity

EXAMPLE = Path(str(files("mores.metaevaluation.juice").joinpath("example.json")))
US, KOREA, INDONESIA, BANGLA, SYLHET = json.loads(EXAMPLE.read_text("utf-8"))


def detectors(threshold: float = 0.5) -> dict[str, JuiceScore]:
    return {score.judge: score for score in score_detectors(JuiceData(EXAMPLE), threshold)}


def values(score: JuiceScore) -> dict[str, float | None]:
    return {name: result.value for name, result in score.scores.items()}


def test_the_example_has_everything_that_the_release_has() -> None:
    answers = JuiceData(EXAMPLE).answers
    assert [answer.sample.region for answer in answers] == ["US", "KR", "ID", "BD", "BD"]
    assert [answer.sample.language for answer in answers] == ["en", "ko", "id", "bn", "en"]
    assert {answer.language_type for answer in answers} == {"english", "native"}
    errors = [error for answer in answers for error in answer.errors]
    assert {category for error in errors for category in error.categories} == set(CATEGORIES) - {"Logical Error"}
    assert {a.type for error in errors for a in error.annotations} == set(TYPES)
    assert sum(len({a.quote for a in error.annotations}) > 1 for error in errors) == 7
    assert "valid_diff_category" in EXAMPLE.read_text("utf-8")


def test_where_the_quotations_are() -> None:
    data = JuiceData(EXAMPLE)
    texts = {answer.sample.id: answer.sample.text for answer in data.answers}
    placed = {
        (answer.sample.id, a.detector, a.quote): answer.sample.text[a.start : a.end] if a.span else None
        for answer in data.answers
        for error in answer.errors
        for a in error.annotations
    }
    assert placed[US, "US-1", "queue"] == "queue"
    assert placed[US, "US-2", "stockings by the fire"] == "stockings* by the fire"
    assert placed[BANGLA, "model-x", "১৪  ফেব্রুয়ারি"] == "১৪ ফেব্রুয়ারি"
    assert placed[SYLHET, "model-y", "to the guests. They slept early."] == "to the guests.\n\nThey slept early."
    assert placed.pop((SYLHET, "BD-2", "no new clothes were bought")) is None
    assert None not in placed.values()
    assert all(words in texts[name] for (name, _, _), words in placed.items() if words)


def test_a_model_against_the_other_detectors() -> None:
    """`model-x` marked 6 spans; the others marked 12 errors.

    Found: 축하해 (3 of 4 characters), berbuka puasa (13 of 26), Bandung … (18 of 27), ১৪ ফেব্রুয়ারি. Not found: "a
    **queue**" (5 of 11) and "pork* curry to the guests" (11 of 25), which only overlap. 6 of the 11 wrong sentences
    are marked, and no other.
    """
    score = detectors()["model-x"]
    assert (score.answers, score.predicted, score.errors, score.unlocated) == (5, 6, 12, 0)
    assert values(score) == pytest.approx(
        {
            "precision": 4 / 6, "recall": 4 / 12, "f1": 8 / 18, "f1_overlap": 12 / 18,
            "sentence_precision": 1, "sentence_recall": 6 / 11, "sentence_f1": 12 / 17,
        }
    )  # fmt: skip
    shares = {name: (result.value, result.n) for name, result in score.recall.items()}
    assert shares["thin"] == (2 / 4, 4)
    assert shares["thick"] == (2 / 8, 8)
    assert shares["Cultural Inaccuracy"] == (2 / 3, 3)
    assert shares["Cultural Incoherence"] == (1 / 3, 3)
    assert shares["found by people"] == (3 / 8, 8)
    assert shares["found by models"] == (1 / 4, 4)
    assert score.by["region"]["KR"].value == 2 / 3
    assert score.by["language"]["en"].value == 0
    assert score.by["language_type"]["native"].value == pytest.approx(8 / 11)


def test_people_against_the_others_and_together() -> None:
    """KR-1 finds 축하해! (3 of 4) and not 흰 국화 (4 of 11); all people together find 3 of 15 errors with 10 marks."""
    scores = detectors()
    assert values(scores["KR-1"])["f1"] == 1 / 2
    assert (scores["BD-2"].predicted, scores["BD-2"].unlocated, values(scores["BD-2"])["f1"]) == (2, 1, 0)
    assert values(scores["BD-2"])["f1_overlap"] == 2 / 4
    together = scores["all people"]
    assert (together.answers, together.predicted, together.errors) == (7, 10, 15)
    assert values(together)["f1"] == 6 / 25
    assert list(scores)[:2] == ["model-x", "model-y"]


def test_the_threshold_decides() -> None:
    assert values(detectors(0.4)["model-x"])["f1"] == 12 / 18
    assert values(detectors(0.75)["model-x"])["f1"] == 4 / 18
    assert values(detectors(1.0)["model-x"])["f1"] == 2 / 18
    assert values(detectors(0.0)["model-x"])["f1"] == 12 / 18


def test_marking_every_sentence_needs_no_judgement() -> None:
    """11 of 17 sentences are wrong: S1, S3 and S4; S1 and S2; S1 and S3; S1 and S3; S2 and S3."""
    score = score_baseline(JuiceData(EXAMPLE).answers)
    assert score.predicted == 17
    assert score.scores["sentence_recall"].value == 1
    assert score.scores["sentence_precision"].value == pytest.approx(11 / 17)


def test_the_figures_of_the_data() -> None:
    data = JuiceData(EXAMPLE)
    juice = describe_data(data, [], 0.5)
    assert (juice.answers, juice.sentences, juice.annotations, juice.errors) == (5, 17, 20, 13)
    assert (juice.unlocated, juice.lost, juice.elsewhere) == (1, 1, 0)
    assert juice.best is None


# A metric


def report(text: str, *quotes: str, side: str = "text") -> ErrorReport:
    errors = []
    for quote in quotes:
        start = text.find(quote)
        place = {"start": start, "end": start + len(quote)} if start >= 0 else {}
        errors.append(Error(side=side, quote=quote, severity=Severity.MINOR, type="t", **place))
    return ErrorReport(errors=tuple(errors))


def write_judge(path: Path) -> Path:
    """Two errors of the first answer found, one marked for nothing and one not in the text; no report of the third."""
    texts = {answer.sample.id: answer.sample.text for answer in JuiceData(EXAMPLE).answers}
    reports = {
        US: report(texts[US], "queue", "*stockings* by the fire", "Serve the turkey", "a chimney"),
        KOREA: ErrorReport(),
        BANGLA: report("পহেলা বৈশাখ কীভাবে পালন করব?", "পহেলা বৈশাখ", side="instruction"),
    }
    with JsonlWriter(path) as writer:
        for name, written in reports.items():
            writer.write(Judgement(sample_id=name, judge="j", score=-float(len(written.errors)), report=written))
        failure = Failure(kind=FailureKind.PARSE, reason="unreadable")
        writer.write(Judgement(sample_id=INDONESIA, judge="j", failure=failure))
    return path


def test_a_metric_from_python(tmp_path: Path) -> None:
    """4 marks and 7 errors in three answers (3 + 2 + 2), of which 2 are found."""
    run = mores.meta(f"juice:{EXAMPLE}", str(write_judge(tmp_path / "j.jsonl")), out=tmp_path / "run")
    assert isinstance(run, JuiceRun)
    judge, baseline, *others = run.result.judges
    assert (judge.answers, judge.unscored, judge.failures) == (3, 2, {"parse": 1, "missing": 1})
    assert (judge.predicted, judge.unlocated, judge.in_request, judge.errors) == (4, 1, 1, 7)
    assert values(judge)["precision"] == 2 / 4
    assert values(judge)["recall"] == 2 / 7
    assert values(judge)["sentence_f1"] == pytest.approx(4 / 10)  # S1 and S3 of S1, S2, S3 marked; 7 are wrong
    assert judge.scores["f1"].unscored == 2
    assert judge.recall["found by people only"].value == 1 / 3
    assert baseline.kind == "baseline"
    assert {other.kind for other in others} == {"model", "human"}
    assert run.result.best is not None
    assert run.result.best.judge == judge.judge
    again = mores.open_run(tmp_path / "run")
    assert isinstance(again, JuiceRun)
    assert again.result == run.result
    assert Juice.model_validate_json((tmp_path / "run" / "juice.json").read_text()) == run.result


def test_a_metric_that_fails_where_it_finds_nothing(tmp_path: Path) -> None:
    """It finds all of the 3 errors that can be found in one answer, and would find none of the 9 in the others."""
    answers = {answer.sample.id: answer for answer in JuiceData(EXAMPLE).answers}
    path = tmp_path / "j.jsonl"
    with JsonlWriter(path) as writer:
        for name, answer in answers.items():
            text = answer.sample.text
            found = report(text, *(text[slice(*e.spans[0][:2])] for e in answer.errors if e.spans))
            failed = Failure(kind=FailureKind.PARSE, reason="unreadable")
            good = {"score": -1.0, "report": found} if name == US else {"failure": failed}
            writer.write(Judgement(sample_id=name, judge="j", **good))
    run = mores.meta(f"juice:{EXAMPLE}", str(path), out=tmp_path / "run")
    assert isinstance(run, JuiceRun)
    juice = run.result
    judge = juice.judges[0]
    total = sum(bool(error.spans) for answer in answers.values() for error in answer.errors)
    for name in ("recall", "sentence_recall", "sentence_precision", "sentence_f1"):
        result = judge.scores[name]
        assert (result.value, result.n, result.unscored) == (1.0, 1, 4)
        assert result.bounds is not None
        assert result.whole is not None
        assert result.whole[0] <= result.bounds[0] < 0.6
        assert result.bounds[1] == 1.0
    assert judge.scores["recall"].bounds == (3 / total, 1.0)  # the truth is the lower one
    assert (judge.scores["f1"].unscored, judge.scores["f1"].whole) == (4, None)
    thin = judge.recall["thin"]
    assert (thin.value, thin.n, thin.unscored) == (None, 0, juice.judges[1].recall["thin"].n)
    assert not juice.decided
    assert juice.headline.endswith("at an overlap of 0.5; 80.0% of the answers were not judged")
    [hero] = describe(run).opening
    assert isinstance(hero, Hero)
    assert hero.words.startswith(" has F1 1.00")


def test_a_limit_chooses_answers(tmp_path: Path) -> None:
    run = mores.meta(
        f"juice:{EXAMPLE}", "excam:fake:clean", out=tmp_path / "run", limit=2, baselines="none", iou=0.2
    )  # fmt: skip
    assert isinstance(run, JuiceRun)
    judge = run.result.judges[0]
    assert (judge.answers, judge.predicted, values(judge)["precision"]) == (2, 0, None)
    assert run.result.notes == ("Metrics judged 2 of the 5 answers.",)
    assert run.result.threshold == 0.2
    assert not any(judge.kind == "baseline" for judge in run.result.judges)


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        ("count:fake:clean", {}, "count:fake:clean marks no spans"),
        ("words", {}, "words marks no spans"),
        ("excam:hf:{source}", {}, "marks no spans"),
        ((), {"votes": "votes.jsonl"}, "votes means nothing for JuICE"),
        ((), {"leave_one_out": True}, "leave one out means nothing for JuICE"),
        ((), {"baselines": "words"}, "JuICE has one baseline"),
        ((), {"iou": 1.5}, "iou is 1.5; expected at most 1"),
    ],
)
def test_what_means_nothing_here(metric: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        mores.meta(f"juice:{EXAMPLE}", metric, **options)


def test_judgements_of_other_texts_are_refused(tmp_path: Path) -> None:
    with JsonlWriter(tmp_path / "j.jsonl") as writer:
        wrong = Error(side="text", start=0, end=4, quote="Some", severity=Severity.MINOR, type="t")
        writer.write(Judgement(sample_id=US, judge="j", score=-1, report=ErrorReport(errors=(wrong,))))
    with pytest.raises(InputError, match=f"'{US}' has no 'Some' at 0:4; judge the answers of this file"):
        mores.meta(f"juice:{EXAMPLE}", str(tmp_path / "j.jsonl"), out=tmp_path / "run")
    (tmp_path / "k.jsonl").write_text('{"sample_id": "x", "judge": "j", "score": 1}\n')
    with pytest.raises(InputError, match=f"none of its judgements is about a text of the data, such as '{US}'"):
        mores.meta(f"juice:{EXAMPLE}", str(tmp_path / "k.jsonl"), out=tmp_path / "run")


# Files


Change = Callable[[dict[str, Any]], object]


def first_error(data: dict[str, Any]) -> dict[str, Any]:
    [*_, error] = data[US]["error_groups"][f"{US}_00"]["errors"].values()
    assert isinstance(error, dict)
    return error


BAD: list[tuple[Change, str]] = [
    (lambda data: data[US].pop("response_text"), rf"{US} > response_text: Field required; write it as the release"),
    (lambda data: first_error(data).pop("span"), rf"{US} > error_groups > {US}_00 > errors > \S+ > span: Field"),
    (lambda data: first_error(data).update(detector_type="bot"), r"detector_type: Input should be 'human' or 'model'"),
    (lambda data: first_error(data).update(raw_annotation="{no"), r"raw_annotation: Invalid JSON"),
    (lambda data: first_error(data).update(thick_category="Cultural Inaccurate"),
     r"model-x_2: unknown thick_category 'Cultural Inaccurate'; did you mean 'Cultural Inaccuracy'\?"),
    (lambda data: first_error(data).update(raw_annotation='{"error_type": "Neither"}'),
     r"model-x_2: unknown error_type 'Neither'; expected one of Cultural Error, Linguistic Error, Both"),
    (lambda data: first_error(data).update(raw_annotation='{"validation_type": "unsure"}'),
     r"model-x_2: unknown validation_type 'unsure'; expected valid, valid_… or invalid"),
    (lambda data: data[US].update(country="narnia"), rf"{US}: .*narnia"),
    (lambda data: data[US].update(language="klingonese"), rf"{US}: .*klingonese"),
    (lambda data: data.clear(), "it has no answers; give the JSON file of the release"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), BAD)
def test_a_bad_answer_is_named(tmp_path: Path, change: Change, message: str) -> None:
    data = json.loads(EXAMPLE.read_text("utf-8"))
    change(data)
    (tmp_path / "bad.json").write_text(json.dumps(data), "utf-8")
    with pytest.raises(InputError, match=rf"bad\.json: .*{message}" if "no answers" not in message else message):
        len(JuiceData(tmp_path / "bad.json").answers)


@pytest.mark.parametrize("text", ["[]", "{", '{"a": 1}'])
def test_what_is_not_the_release(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(InputError, match=r"bad\.json: .*write it as the release of JuICE has it"):
        len(JuiceData(tmp_path / "bad.json").answers)


def test_what_was_not_valid_is_no_error(tmp_path: Path) -> None:
    data = json.loads(EXAMPLE.read_text("utf-8"))
    for error in data[US]["error_groups"][f"{US}_00"]["errors"].values():
        error["raw_annotation"] = json.dumps(json.loads(error["raw_annotation"]) | {"validation_type": "invalid"})
    (tmp_path / "some.json").write_text(json.dumps(data), "utf-8")
    assert [len(answer.errors) for answer in JuiceData(tmp_path / "some.json").answers] == [2, 2, 3, 2, 3]


def test_an_unknown_place_is_looked_for_everywhere(tmp_path: Path) -> None:
    data = json.loads(EXAMPLE.read_text("utf-8"))
    first_error(data)["paragraph_idx_list"] = [1]
    (tmp_path / "moved.json").write_text(json.dumps(data), "utf-8")
    assert describe_data(JuiceData(tmp_path / "moved.json"), [], 0.5).elsewhere == 1


# Places


TEXT = "# Tea\n\nTea is **hot**. Tea is *sweet*.\n\n1. Drink tea\n2. Eat `cake`, then\n   rest\n"


@pytest.mark.parametrize(
    ("quote", "paragraph", "words"),
    [
        ("Tea", 0, "Tea"),
        ("Tea", 1, "Tea"),
        ("tea IS hot", 1, "Tea is **hot"),
        ("hot. Tea", 1, "hot**. Tea"),
        ("**hot**", 1, "**hot**"),
        ("Drink tea Eat cake", 2, "Drink tea\n2. Eat `cake"),
        ("1. Drink tea", 2, "1. Drink tea"),
        ("cake, then rest", 2, "cake`, then\n   rest"),
        ("“Tea is sweet!”", 1, "Tea is *sweet"),
        ("coffee", 1, None),
        ("", 1, None),
    ],
)
def test_quotations_with_other_markdown_and_white_space(quote: str, paragraph: int, words: str | None) -> None:
    start, end = paragraphs(TEXT)[paragraph]
    located = locate(quote, TEXT, [(start, end)])
    assert (located and TEXT[located.start : located.end]) == words
    if located:
        assert not located.elsewhere
        assert start <= located.start < located.end <= end


def test_the_nearest_place_elsewhere() -> None:
    text = "tea\n\ncoffee\n\nmilk\n\ntea"
    located = locate("tea", text, paragraphs(text)[2:3])
    assert located == (19, 22, True)
