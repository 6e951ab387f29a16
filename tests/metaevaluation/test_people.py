"""Judges against people: joins by hand, a study with known truth, and CaLMQA's ratings beside an LLM judge's."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mores
from mores.errors import ConfigError, InputError
from mores.formatting import number, percent, span
from mores.io import JsonlWriter
from mores.metaevaluation.people.judges import TableJudge, open_judge
from mores.metaevaluation.people.records import People, PeopleScore
from mores.metaevaluation.people.session import PeopleRun
from mores.metric.mqm_tsv import write_mqm_tsv
from mores.types import Error, ErrorReport, Failure, FailureKind, Judgement, Result, Sample, Severity
from tests.factory.test_sources import REAL

CALMQA = REAL / "calmqa_ratings"
DOCS = Path(__file__).parents[2] / "docs" / "meta.md"
real = pytest.mark.skipif(
    not (CALMQA / "gpt4o_overall.csv").is_file(),
    reason="no calmqa_ratings in the shared data; set MORES_SHARED_DATA to a folder that has it",
)


def write_csv(path: Path, header: str, *rows: str) -> Path:
    path.write_text("\n".join([header, *rows]) + "\n", "utf-8")
    return path


PEOPLE = (
    "question,language,model,type,annotator,rating,answer",
    "Why tea?,en,a,x,ann,5,It is warm.",
    "Why tea?,en,a,x,bo,4,It is warm.",
    "Why tea?,en,b,x,ann,2,No.",
    "Why tea?,en,b,x,bo,1,No.",
    "Pourquoi ?,fr,a,y,ann,4,Parce que.",
    "Pourquoi ?,fr,a,y,bo,3,Parce que.",
    "Pourquoi ?,fr,b,y,ann,3,Non.",
    "Pourquoi ?,fr,b,y,bo,3,Non.",
)


def study(path: Path, *metrics: str | Path, people: tuple[str, ...] = PEOPLE, **options: Any) -> People:
    data = write_csv(path / "people.csv", *people)
    run = mores.meta(f"ratings:{data}", [str(metric) for metric in metrics], out=path / "run", **options)
    assert isinstance(run, PeopleRun)
    return run.result


def test_a_table_of_scores_by_hand(tmp_path: Path) -> None:
    """People's means are 4.5, 1.5, 3.5, 3; the judge's 50, 10, 20, 30."""
    header = "question,language,model,score"
    rows = ("WHY  tea?,english,A,50", "Why tea?,English,b,10", "Pourquoi ?,French,a,20", "Pourquoi ?,fr,b,30")
    more = ("Why tea?,en,c,5", "What?,en,a,5", "Who?,de,a,5")
    judge = write_csv(tmp_path / "judge.csv", header, *rows, *more)
    people = study(tmp_path, judge)
    assert (people.answers, people.ratings, people.people, people.shared) == (4, 8, 2, 4)
    [score] = people.judges
    assert (score.n, score.unscored) == (4, 0)
    means, scores = [4.5, 1.5, 3.5, 3], [50, 10, 20, 30]
    assert score.scores["pearson"].value == pytest.approx(np.corrcoef(means, scores)[0, 1])
    assert score.scores["kendall"].value == pytest.approx(4 / 6)  # of six pairs one is wrong
    assert score.scores["spearman"].value == pytest.approx(1 - 6 * 2 / (4 * 15))
    assert (score.scores["preference"].value, score.scores["preference"].n) == (0.5, 2)
    within = np.corrcoef([1.5, -1.5, 0.25, -0.25], [20, -20, -5, 5])[0, 1]
    assert score.scores["within_languages"].value == pytest.approx(within)
    by_model = score.by["model"]["a"]
    assert (by_model["people"].value, by_model["judge"].value, by_model["people"].n) == (4, 35, 2)
    assert set(score.by) == {"model", "type", "language"}
    assert score.worth is not None
    correlation = score.scores["pearson"].value or 0.0
    assert score.worth.multiple.value == pytest.approx(1 / (1 - correlation**2))
    assert score.worth.judged_only == 1  # not of model c, and not in German
    assert score.worth.effective is not None
    assert score.worth.effective.value == pytest.approx(4 / (1 - correlation**2 / 5))


def test_agreement_beside_that_of_people(tmp_path: Path) -> None:
    header, rows = "question,language,model,rating", ("Why tea?,en,a,5", "Why tea?,en,b,1", "Pourquoi ?,fr,a,4")
    people = study(tmp_path, write_csv(tmp_path / "judge.csv", header, *rows, "Pourquoi ?,fr,b,"))
    [score] = people.judges
    assert (score.n, score.failures) == (3, {"empty": 1})
    ann, bo, judge = [5, 2, 4], [4, 1, 3], [5, 1, 4]
    assert score.between_people is not None
    assert score.between_people.value == pytest.approx(np.corrcoef(ann + bo, bo + ann)[0, 1])
    assert score.with_person is not None
    assert score.with_person.value == pytest.approx(np.corrcoef(ann + bo, judge + judge)[0, 1])
    assert score.worth is not None
    assert score.worth.people is not None
    assert people.alpha is not None
    assert people.alpha.n == 4


def test_without_a_second_person_nothing_is_said_about_people(tmp_path: Path) -> None:
    alone = tuple(row for row in PEOPLE if ",bo," not in row)
    header, rows = "question,language,model,rating", ("Why tea?,en,a,5", "Why tea?,en,b,1", "Pourquoi ?,fr,a,4")
    people = study(tmp_path, write_csv(tmp_path / "judge.csv", header, *rows), people=alone)
    [score] = people.judges
    assert (people.shared, people.alpha, score.with_person, score.between_people) == (0, None, None, None)
    assert score.worth is not None
    assert score.worth.people is None
    assert score.failures == {"missing": 1}


def test_models_by_another_name(tmp_path: Path) -> None:
    header = "question,language,model,rating"
    rows = ("Why tea?,en,Model A!,5", "Why tea?,en,b,1", "Pourquoi ?,fr,Model A!,4", "Why tea?,en,d,1")
    judge = write_csv(tmp_path / "judge.csv", header, *rows)
    with pytest.raises(
        InputError, match="no model 'a', which people rated; people's are a, b; the judge's are b, d, m"
    ):
        study(tmp_path, judge)
    people = study(tmp_path, judge, aliases={"model": {"Model A!": "a"}})
    assert people.judges[0].n == 3
    fewer = write_csv(tmp_path / "fewer.csv", header, "Why tea?,en,b,1", "Pourquoi ?,fr,b,4")
    run = mores.meta(f"ratings:{tmp_path / 'people.csv'}", str(fewer), out=tmp_path / "fewer")
    assert isinstance(run, PeopleRun)
    assert run.result.judges[0].failures == {"missing": 2}  # it has no other model that could be the same


@pytest.mark.parametrize(
    ("rows", "name", "message"),
    [
        (("question,model,rating",), "", r"judge\.csv: it has no scores"),
        (("question,model,overall", "Why tea?,a,1"), "", "no field 'rating'; expected .*, or judge.csv:COLUMN"),
        (("question,model,overall", "Why tea?,a,1"), ":all", "no column 'all' to read as 'rating'; did you mean"),
        (("question,rating", "Why tea?,1"), "", "no field 'model'; expected"),
        (("question,model,rating", "Why tea?,a,good"), "", r"judge\.csv:2: unknown rating 'good'; expected a number"),
        (("question,model,rating", "Why tea?,a,1", "why TEA?,A,2"), "", r"csv:3: the same answer is already in line 2"),
        (("question,model,rating", ",a,1"), "", r"judge\.csv:2: no question; fill it in or remove the row"),
        (("question,language,model,rating", "Why tea?,Klingonese,a,1"), "", r"judge\.csv:2: .*Klingonese"),
        (("question,model,rating", "Who?,a,1", "Who?,b,1"), "", "it has a score of no answer that people rated"),
    ],
)  # fmt: skip
def test_bad_tables(tmp_path: Path, rows: tuple[str, ...], name: str, message: str) -> None:
    judge = write_csv(tmp_path / "judge.csv", *rows)
    with pytest.raises(InputError, match=message):
        study(tmp_path, f"{judge}{name}")


def test_judgements_are_joined_by_id_or_by_text(tmp_path: Path) -> None:
    with JsonlWriter(tmp_path / "j.jsonl") as writer:
        writer.write(Judgement(sample_id="Why tea?|en|a", judge="j", score=1.0))
        other = Sample(id="7", instruction="why tea? ", text="No.")
        writer.write(Judgement.of(other, judge="j", score=-5.0))
        failure = Failure(kind=FailureKind.PARSE, reason="unreadable")
        writer.write(Judgement(sample_id="Pourquoi ?|fr|a", judge="j", failure=failure))
        writer.write(Judgement(sample_id="nobody", judge="j", score=1.0))
    [score] = study(tmp_path, tmp_path / "j.jsonl").judges
    assert (score.n, score.failures) == (2, {"parse": 1, "missing": 1})
    assert score.scores["pearson"].value == pytest.approx(1)
    assert score.worth is not None
    assert score.worth.judged_only == 1


def test_a_metric_reads_the_answers(tmp_path: Path) -> None:
    run = study(tmp_path, "excam:fake:first-word")
    [score] = run.judges
    assert score.n == 4
    assert (tmp_path / "run" / "judgements" / "excam_fake_first-word.jsonl").is_file()


def test_what_cannot_be_compared(tmp_path: Path) -> None:
    short = tuple(row.rpartition(",")[0] for row in PEOPLE)
    with pytest.raises(InputError, match="it has no answers, which excam:fake:clean would read"):
        study(tmp_path, "excam:fake:clean", people=short)
    with pytest.raises(ConfigError, match="no judge to compare with people"):
        study(tmp_path)
    with pytest.raises(ConfigError, match="words learns from a dataset"):
        study(tmp_path, "words")
    with pytest.raises(ConfigError, match="limit means nothing for what people said"):
        study(tmp_path, "excam:fake:clean", limit=4)
    twice = (*PEOPLE, "Why tea?,en,a,x,cy,5,Another text.")
    with pytest.raises(InputError, match="1 models have two answers to a question"):
        study(tmp_path, "excam:fake:clean", people=twice)
    none = tuple(
        row.replace(",ann,", ",ann,").replace(row.split(",")[5], "") if "ann" in row else row for row in PEOPLE
    )
    assert none != PEOPLE


# Known truth


def simulate(folder: Path, questions: int = 150) -> Path:
    """Three people whose errors are as large as the differences between answers; a judge worth four, and one of noise.

    People rate French answers two points lower, and the poor judge knows only that.
    """
    rng = np.random.default_rng(0)
    people, good, poor = [], [], []
    for place in range(questions):
        language = ("en", "fr")[place % 2]
        for model in "abc":
            truth = rng.normal() - 2 * (language == "fr")
            start = f"q{place},{language},{model}"
            people += [f"{start},{name},{truth + rng.normal():.6f}" for name in ("ann", "bo", "cy")]
            good.append(f"{start},{10 + truth + rng.normal() / 2:.6f}")
            poor.append(f"{start},{rng.normal() / 10 - (language == 'fr'):.6f}")
    write_csv(folder / "people.csv", "question,language,model,annotator,rating", *people)
    write_csv(folder / "good.csv", "question,language,model,rating", *good)
    return write_csv(folder / "poor.csv", "question,language,model,rating", *poor)


@pytest.mark.slow
def test_a_study_with_known_truth(tmp_path: Path) -> None:
    """Var(truth) is 1 + 1 (languages); the mean of three people has 1/3 more, the judge 1/4."""
    simulate(tmp_path)
    files = [str(tmp_path / name) for name in ("good.csv", "poor.csv")]
    run = mores.meta(f"ratings:{tmp_path / 'people.csv'}", files, out=tmp_path / "run")
    assert isinstance(run, PeopleRun)
    good, poor = run.result.judges
    holds(good, "pearson", 2 / math.sqrt((2 + 1 / 3) * (2 + 1 / 4)))
    holds(good, "within_languages", 1 / math.sqrt((1 + 1 / 3) * (1 + 1 / 4)))
    holds(poor, "pearson", 1 / math.sqrt((2 + 1 / 3) * (1 + 0.04) / 1), slack=0.05)
    holds(poor, "within_languages", 0.0)
    holds(poor, "preference", 0.5)
    assert good.between_people is not None
    assert good.between_people.value == pytest.approx(2 / 3, abs=0.05)
    assert good.worth is not None
    assert good.worth.people is not None
    low, high = good.worth.people.low, good.worth.people.high
    assert low is not None
    assert high is not None
    assert low <= 4 <= high
    tests = {test.statistic: test for test in run.result.comparisons}
    assert tests["pearson"].difference > 0
    assert tests["preference"].adjusted < 0.01
    assert run.result.best is not None
    assert run.result.best.judge.endswith("good.csv")


def holds(score: PeopleScore, statistic: str, truth: float, slack: float = 0.0) -> None:
    result = score.scores[statistic]
    assert result.low is not None
    assert result.high is not None
    assert result.low - slack <= truth <= result.high + slack


def test_two_judges_are_compared(tmp_path: Path) -> None:
    simulate(tmp_path)
    files = [str(tmp_path / name) for name in ("good.csv", "poor.csv")]
    versus = mores.compare(*files, data=f"ratings:{tmp_path / 'people.csv'}")
    assert (versus.n, versus.left_out) == (450, 0)
    assert [test.statistic for test in versus.overall] == ["pearson", "kendall", "preference"]
    assert all(test.difference > 0 and test.p < 0.01 for test in versus.overall)
    assert set(versus.by["language"]) == {"en", "fr"}
    assert versus.by["language"]["en"].difference == pytest.approx(0.77, abs=0.15)
    same = mores.compare(files[0], files[0], data=f"ratings:{tmp_path / 'people.csv'}")
    assert all(test.difference == 0 and test.p == 1 for test in same.overall)
    with pytest.raises(ConfigError, match="is a model; compare what it said"):
        mores.compare(files[0], "excam:fake:clean", data=f"ratings:{tmp_path / 'people.csv'}")
    with pytest.raises(ConfigError, match="JuICE compares judges"):
        mores.compare(*files, data="juice:x.json")


@pytest.mark.slow
def test_a_judge_that_fails_where_it_disagrees_with_people(tmp_path: Path) -> None:
    """Of 100 questions it prefers the answer of people on 60, as another does on 75; it fails on 36 of the other 40."""
    people, bad, fair = [], [], []
    for question in range(100):
        for model, rating in (("a", 5), ("b", 1)):
            people.append(f"q{question},en,{model},ann,{rating + question % 3 / 10}")
            agrees, other = question < 60, question % 4 < 3
            score = "" if 60 <= question < 96 else rating if agrees else 6 - rating
            bad.append(f"q{question},en,{model},{score}")
            fair.append(f"q{question},en,{model},{rating if other else 6 - rating}")
    write_csv(tmp_path / "people.csv", "question,language,model,annotator,rating", *people)
    files = [
        str(write_csv(tmp_path / f"{name}.csv", "question,language,model,rating", *rows))
        for name, rows in {"bad": bad, "fair": fair}.items()
    ]
    run = mores.meta(f"ratings:{tmp_path / 'people.csv'}", files, out=tmp_path / "run")
    assert isinstance(run, PeopleRun)
    judge, whole = run.result.judges
    preference = judge.scores["preference"]
    assert (preference.value, preference.n, preference.unscored) == (60 / 64, 64, 36)
    assert preference.bounds == (0.6, 0.96)
    assert preference.whole is not None
    assert preference.whole[0] < 0.6
    assert whole.scores["preference"].value == 0.75
    assert whole.scores["preference"].whole is None
    assert (judge.scores["pearson"].unscored, round(judge.missing, 2)) == (72, 0.36)
    tests = {test.statistic: test for test in run.result.comparisons}
    assert all(test.difference > 0 and test.p < 0.01 for test in tests.values()), "the complete cases mislead"
    assert not any(test.holds or test.significant for test in tests.values())
    assert tests["preference"].whole is not None
    assert tests["preference"].whole[0] < -0.15
    assert not run.result.decided
    assert run.result.headline.endswith("answers; 36.0% of all have no score")
    versus = mores.compare(*files, data=f"ratings:{tmp_path / 'people.csv'}")
    assert not any(test.significant for test in versus.overall)


# Marks


TEXT = "Sushi with a fork is eaten on Sunday."


def marked(name: str, judge: str, *quotes: str, text: str = TEXT) -> Judgement:
    errors = tuple(
        Error(side="text", start=text.index(quote), end=text.index(quote) + len(quote), quote=quote,
              severity=Severity.MAJOR, type="t")
        for quote in quotes
    )  # fmt: skip
    return Judgement.of(
        Sample(id=name, instruction="Describe a meal.", text=text),
        judge=judge, score=-5.0 * len(errors), report=ErrorReport(errors=errors),
    )  # fmt: skip


def write_marks(folder: Path) -> tuple[Path, Path]:
    """Two texts, read by two people each, and a metric that marks one of them."""
    people = [
        marked("1", "ann", "fork"), marked("1", "bo", "with a fork", "Sunday"),
        marked("2", "ann"), marked("2", "bo"),
    ]  # fmt: skip
    for path, judgements in (
        (folder / "people.jsonl", people),
        (folder / "metric.jsonl", [marked("1", "m", "a fork"), marked("2", "m")]),
    ):
        with JsonlWriter(path) as writer:
            for judgement in judgements:
                writer.write(judgement)
    (folder / "people.tsv").write_text(write_mqm_tsv(people), "utf-8")
    return folder / "people.jsonl", folder / "metric.jsonl"


@pytest.mark.parametrize("suffix", ["jsonl", "tsv"])
def test_marks_by_people_as_judgements_and_as_mqm(tmp_path: Path, suffix: str) -> None:
    """ann marked 4 characters, bo 11 and 6, the metric 6, of which 4 are ann's and 6 bo's."""
    _, metric = write_marks(tmp_path)
    run = mores.meta(f"marks:{tmp_path / f'people.{suffix}'}", str(metric), out=tmp_path / "run")
    assert isinstance(run, PeopleRun)
    [score] = run.result.judges
    assert (score.n, run.result.shared, run.result.people) == (2, 2, 2)
    assert score.scores["pearson"].value == pytest.approx(1)  # means -7.5 and 0, scores -5 and 0
    assert score.spans is not None
    assert score.spans.judge.value == pytest.approx(2 * (4 + 6) / ((6 + 4) + (6 + 17)))
    assert score.spans.people is not None
    assert score.spans.people.value == pytest.approx(2 * 4 / (4 + 17))


@pytest.mark.slow
def test_spans_in_a_file_of_ratings(tmp_path: Path) -> None:
    spans = '"[{""start"": 13, ""end"": 17}]"'
    header = "question,model,annotator,rating,answer,spans"
    people = (header, f"Meal?,a,ann,2,{TEXT},{spans}", f"Meal?,b,ann,5,{TEXT},[]")
    with JsonlWriter(tmp_path / "m.jsonl") as writer:
        for name, quotes in (("Meal?|a", ["fork"]), ("Meal?|b", [])):
            writer.write(marked(name, "m", *quotes))
    [score] = study(tmp_path, tmp_path / "m.jsonl", people=people).judges
    assert score.spans is not None
    assert (score.spans.judge.value, score.spans.people) == (1, None)


def test_bad_marks(tmp_path: Path) -> None:
    people, metric = write_marks(tmp_path)
    lines = people.read_text("utf-8").splitlines()
    people.write_text("\n".join([*lines, lines[0]]), "utf-8")
    with pytest.raises(InputError, match="ann judged '1' twice"):
        mores.meta(f"marks:{people}", str(metric), out=tmp_path / "run")
    people.write_text(lines[0] + "\n" + marked("1", "cy", text="Another.").model_dump_json() + "\n", "utf-8")
    with pytest.raises(InputError, match="'1' has two texts"):
        mores.meta(f"marks:{people}", str(metric), out=tmp_path / "run")
    people.write_text('{"sample_id": "1", "judge": "ann", "score": 0}\n')
    with pytest.raises(InputError, match="the judgement of '1' does not hold its text"):
        mores.meta(f"marks:{people}", str(metric), out=tmp_path / "run")
    with JsonlWriter(people) as writer:
        writer.write(marked("9", "ann", text="Another."))
    with pytest.raises(InputError, match="none of its judgements is about an answer that people rated"):
        mores.meta(f"marks:{people}", str(metric), out=tmp_path / "run")


# Real ratings


@pytest.mark.slow
@real
def test_the_answers_that_people_and_an_llm_judge_rated(tmp_path: Path) -> None:
    """What docs/meta.md says of CaLMQA's ratings, and Pearson's r from the files alone."""
    judge = f"{CALMQA / 'gpt4o_overall.csv'}:overall_gpt4o"
    aliases = {"language": {"fi": "fj"}}
    run = mores.meta(f"ratings:{CALMQA / 'human_ratings.csv'}", judge, out=tmp_path / "run", aliases=aliases)
    assert isinstance(run, PeopleRun)
    people, [score] = run.result, run.result.judges
    assert (people.answers, people.people, people.shared) == (300, 5, 0)
    assert (score.n, score.failures) == (60, {"missing": 240})
    assert score.scores["pearson"].value == pytest.approx(independent_pearson())
    assert score.worth is not None
    assert score.worth.effective is not None
    docs = " ".join(DOCS.read_text("utf-8").split())
    rows = {"all": score.by["type"]["specific"], "English": score.by["language"]["en"]}
    for name, group in (rows | {"Kirundi": score.by["language"]["rn"]}).items():
        cells = [shown(group["pearson"]), shown(group["kendall"]), number(group["people"].value)]
        cells += [number(group["judge"].value), shown(group["multiple"])]
        assert f"| {name} | {group['people'].n} | {' | '.join(cells)} |" in docs
    assert f"within languages it is {shown(score.scores['within_languages'])}" in docs
    preference = score.scores["preference"]
    share, low, high = (percent(value, 0) for value in (preference.value, preference.low, preference.high))
    assert f"{share} [{low}, {high}] of {preference.n} cases" in docs
    assert f"the {score.worth.judged_only} more answers of these models and languages" in docs
    assert f"the 60 count as {shown(score.worth.effective, 0)}" in docs


def shown(result: Result, digits: int = 2) -> str:
    return f"{number(result.value, digits)} {span(result.low, result.high, digits)}"


def words(question: str) -> tuple[str, ...]:
    return tuple(question.lower().split())


def independent_pearson() -> float:
    names = {"claude": "Claude Opus", "gpt4turbo": "GPT 4 Turbo", "mixtral22b": "Mixtral 8x22B (together.ai)"}
    csv.field_size_limit(2**26)
    with (CALMQA / "gpt4o_overall.csv").open(encoding="utf-8", newline="") as file:
        judged = {(words(r["question"]), r["model"]): float(r["overall_gpt4o"]) for r in csv.DictReader(file)}
    with (CALMQA / "human_ratings.csv").open(encoding="utf-8", newline="") as file:
        rows = [(words(r["question"]), names[r["model"]], float(r["rating"])) for r in csv.DictReader(file)]
    pairs = [(rating, judged[question, model]) for question, model, rating in rows if (question, model) in judged]
    assert len(pairs) == 60
    people, judge = np.array(pairs).T
    return float(np.corrcoef(people, judge)[0, 1])


@pytest.mark.parametrize("name", ["scores.csv", "scores.tab", "scores.xlsx", "scores.parquet", "scores.feather"])
def test_any_table_with_a_header_is_a_judge(name: str) -> None:
    assert open_judge(name) == TableJudge(name, Path(name), "")


def test_json_lines_are_judgements_unless_a_column_is_named() -> None:
    assert open_judge("scores.jsonl:grade") == TableJudge("scores.jsonl:grade", Path("scores.jsonl"), "grade")
    assert not isinstance(open_judge("scores.jsonl"), TableJudge)
