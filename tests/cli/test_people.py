"""`mores meta` and `mores compare` with ratings and marks by people, through the real command."""

from __future__ import annotations

from pathlib import Path

import pytest

from mores.metaevaluation.people.records import People
from mores.metaevaluation.records import JudgementComparison
from tests.cli.conftest import Run
from tests.metaevaluation.test_people import PEOPLE, simulate, write_csv, write_marks

RATINGS = ("--data", "ratings:people.csv")


def write_study(home: Path) -> None:
    """Four answers that two people rated, and a judge whose file names models and scores in its own way."""
    write_csv(home / "people.csv", *(row.replace("rating", "overall") for row in PEOPLE))
    rows = ("Why tea?,en,Model A,5", "Why tea?,en,b,1", "Pourquoi ?,fr,Model A,4", "Pourquoi ?,fr,b,3")
    write_csv(home / "judge.csv", "question,language,model,grade", *rows)


@pytest.mark.slow
@pytest.mark.usefixtures("quick_figures")
def test_a_table_of_scores_and_what_is_written(mores: Run, home: Path) -> None:
    write_study(home)
    names = ("--columns", "rating=overall", "--alias", "model.Model A=a")
    done = mores("meta", *RATINGS, "--metric", "judge.csv:grade", *names)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().splitlines()[-1].startswith("judge.csv:grade: Pearson r 1.00 [")
    assert "person with a person" in done.stdout
    assert "8 ratings of 4 answers by 2 people" in done.stdout
    assert "What a judge is worth" in Path("people.meta/meta.html").read_text()
    shown = mores("show", "people.meta")
    assert shown.stdout.rstrip().splitlines()[-1] == done.stdout.rstrip().splitlines()[-1]
    again = mores("meta", *RATINGS, "--metric", "judge.csv:grade", *names, "--json", "--figures", "figures")
    assert People.model_validate_json(again.stdout).judges[0].n == 4
    assert any(Path("figures").glob("*.tex"))


def test_what_is_wrong(mores: Run, home: Path) -> None:
    write_study(home)
    done = mores("meta", *RATINGS, "--metric", "judge.csv:grade", "--columns", "rating=overall")
    assert done.returncode == 1
    assert (
        "no model 'a', which people rated; people's are a, b; the judge's are b, modela; say which one it is"
        in done.stderr
    )
    assert "(--alias)" in done.stderr
    done = mores("meta", *RATINGS, "--metric", "judge.csv:grade")
    assert (done.returncode, "(--columns)" in done.stderr) == (1, True)
    done = mores("meta", "--data", "ratings:nowhere.csv", "--metric", "judge.csv")
    assert (done.returncode, "nowhere.csv" in done.stderr) == (2, True)
    done = mores("meta", *RATINGS, "--columns", "rating=overall")
    assert (done.returncode, "no judge to compare with people; name one (--metric)" in done.stderr) == (2, True)
    done = mores("compare", "judge.csv:grade", "nowhere.csv:x", *RATINGS)
    assert (done.returncode, "nowhere.csv:x" in done.stderr) == (2, True)


def test_two_judges(mores: Run, home: Path) -> None:
    simulate(home, questions=40)
    done = mores("compare", "good.csv", "poor.csv", *RATINGS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().splitlines()[-1].startswith("good.csv is better than poor.csv in Pearson r: +0.")
    assert "Pearson r by model" in done.stdout
    by = mores("compare", "good.csv", "poor.csv", *RATINGS, "--by", "language", "--json")
    assert set(JudgementComparison.model_validate_json(by.stdout).by) == {"model", "language"}


def test_marks(mores: Run, home: Path) -> None:
    write_marks(home)
    done = mores("meta", "--data", "marks:people.jsonl", "--metric", "metric.jsonl")
    assert done.returncode == 0, done.stderr
    assert "F1 between people" in done.stdout
    done = mores("meta", "--data", "marks:people.tsv", "--metric", "excam:fake:clean", "--dry-run")
    assert (done.returncode, "2 calls" in done.stdout) == (0, True), done.stderr
