"""`mores rate`, through the real command."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from mores.rating.records import RatingStudy
from mores.run import open_run
from tests.cli.conftest import Run
from tests.rating.made_up import rating, write

THEIRS = "q,system,who,overall,lang,kind\n" + "".join(
    f"q{n},{system},{who},{1 + (n * 3 + place + len(who)) % 5},fi,{'cult' if n % 2 else 'non-cult'}\n"
    for n in range(8)
    for place, system in enumerate("ab")
    for who in ("x", "yy")
)
EXPORTS = Path(__file__).parents[1] / "rating" / "exports"
COLUMNS = "question=q,model=system,annotator=who,rating=overall,language=lang,type=kind"


@pytest.fixture
def theirs(home: Path) -> Path:
    """Somebody else's file."""
    path = home / "theirs.csv"
    path.write_text(THEIRS)
    return path


@pytest.mark.slow
def test_somebody_elses_file_is_read_by_mapping(mores: Run, home: Path, theirs: Path) -> None:
    done = mores("rate", theirs.name, "--columns", COLUMNS, "--alias", "language.fi=fj", "--json")
    assert done.returncode == 0, done.stderr
    study = RatingStudy.model_validate_json(done.stdout)
    assert (study.n, study.groups.models, study.groups.languages) == (32, ("a", "b"), ("fj",))
    assert study.groups.types == ("specific", "agnostic")
    assert RatingStudy.model_validate_json((home / "theirs.rate" / "rate.json").read_bytes()) == study
    assert "wrote theirs.rate; its page is theirs.rate/rate.html" in done.stderr
    tables = {path.name for path in (home / "theirs.rate" / "tables").iterdir()}
    assert {"ratings.csv", "ratings.tex", "differences-model.tex", "win-rates.csv", "r-squared.csv"} <= tables


def test_ratings_are_shown_by_any_column_of_the_file(mores: Run, home: Path, theirs: Path) -> None:
    header, *rows = theirs.read_text().splitlines()
    tagged = [f"{row},{'north' if int(row[1]) < 3 else 'south'}" for row in rows]
    (home / "tagged.csv").write_text("\n".join([f"{header},Region asked", *tagged]))
    done = mores("rate", "tagged.csv", "--columns", COLUMNS, "--by", "region ASKED", "--out", "by")
    assert done.returncode == 0, done.stderr
    assert "Ratings by Region asked" in done.stdout
    run, plain = open_run(home / "by"), mores("rate", theirs.name, "--columns", COLUMNS, "--out", "plain")
    assert plain.returncode == 0, plain.stderr
    study = RatingStudy.model_validate_json((home / "by" / "rate.json").read_bytes())
    groups = study.by["Region asked"]
    assert {name: [(each.model, each.mean.n) for each in found] for name, found in groups.items()} == {
        "north": [(None, 12), ("a", 6), ("b", 6)],
        "south": [(None, 20), ("a", 10), ("b", 10)],
    }
    ratings = [int(row.split(",")[3]) for row in tagged if row.endswith("north")]
    north = groups["north"][0].mean
    assert north.value == pytest.approx(sum(ratings) / 12)
    assert (north.low or 0) < sum(ratings) / 12 < (north.high or 0)
    assert "Ratings by Region asked" in (home / "by" / "rate.html").read_text()
    assert open_run(home / "plain").signature == run.signature  # what is kept beside a rating changes no figure
    shown = json.loads(mores("show", "by", "--by", "type", "--json").stdout)["result"]["by"]
    assert [*shown] == ["Region asked", "type"]
    assert [*shown["type"]] == ["agnostic", "specific"]
    wrong = mores("rate", "tagged.csv", "--columns", COLUMNS, "--by", "nothing")
    assert wrong.returncode == 2
    assert "Region asked" in wrong.stderr


@pytest.mark.slow
def test_a_study_is_a_run(mores: Run, home: Path, theirs: Path) -> None:
    arguments = ("rate", theirs.name, "--columns", COLUMNS, "--out", "studied")
    done = mores(*arguments)
    assert done.returncode == 0, done.stderr
    run = open_run(home / "studied")
    assert (run.kind, run.manifest.name, run.manifest.status) == ("rate", "theirs.csv", "complete")
    assert run.manifest.headline == done.stdout.splitlines()[-1]
    assert mores("show", "studied", "--html", "page.html").stdout == done.stdout
    assert (home / "page.html").read_text() == (home / "studied" / "rate.html").read_text()
    assert json.loads(mores("show", "studied", "--json").stdout)["result"]["n"] == 32
    again = mores("rate", theirs.name, "--columns", COLUMNS, "--alias", "language.fi=fj", "--out", "studied")
    assert again.returncode == 2
    assert "studied holds another run (other data)" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 1, "theirs.csv:1: no field 'question'; expected 'question', 'model', 'annotator'"),
        (("--columns", "rating"), 2, "'rating': expected OURS=THEIRS, for example rating=overall (--columns)"),
        (("--columns", "rating=overal"), 1, "no column 'overal' to read as 'rating'; did you mean 'overall'? the"),
        (("--columns", "ratings=overall"), 2, "no column 'ratings' can be read; did you mean 'rating'?"),
        (("--columns", COLUMNS, "--alias", "fi=fj"), 2, "'fi=fj': expected COLUMN.THEIRS=OURS, for example"),
        (("--columns", COLUMNS, "--alias", "language.fi=Kirundii"), 1,
         "theirs.csv:2: unknown language 'Kirundii'; did you mean Kirundi (rn)? (--alias)"),
        (("--columns", COLUMNS, "--scale", "5"), 2, "'5': expected the lowest and the highest rating"),
        (("--columns", COLUMNS, "--scale", "1-4"), 1, "a rating of 5 is not on the scale from 1 to 4 (--scale)"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_option(
    mores: Run, theirs: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    done = mores("rate", theirs.name, *arguments)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert done.stdout == ""


def test_what_could_not_be_analysed_is_said(mores: Run, home: Path) -> None:
    write(home / "few.jsonl", [rating(question="1", rating=2), rating(question="2", rating=None)])
    done = mores("rate", "few.jsonl", COLUMNS="80")
    assert done.returncode == 0, done.stderr
    assert "1 of 2 answers have no rating" in done.stdout
    assert "type: not analysed, no row has 'type'" in done.stdout
    assert "rating ~ model could not be fitted: " in done.stdout
    figure = r"apple: mean 2.00 of 5 \(\[1.\d+, 4.\d+] whatever 1 answer without a rating would get\), 1 rating"
    assert re.fullmatch(figure, done.stdout.splitlines()[-1])
    assert open_run(home / "few.rate").manifest.failures == {"unrated": 1}


CODES = (
    "length:\n  title: Length\n  keywords: [short, long]\nfacts:\n  keywords: [wrong, invent*]\nstyle: Style and tone\n"
)


def test_comments_and_reasons_are_coded_by_a_schema(mores: Run, home: Path) -> None:
    comments = ("Too short.", "Invented facts", "Fine", "Wrong and too long")
    rows = [
        rating(question=str(n), model=model, rating=1 + (n + place) % 5, rank=1 + (n + place) % 2, comment=comment,
               reason="Less wrong than the other" if (n + place) % 2 == 0 else None,
               codes={"ann": ("style",)} if n == 2 else None)
        for n, comment in enumerate(comments)
        for place, model in enumerate(("apple", "banana"))
    ]  # fmt: skip
    write(home / "ratings.jsonl", rows)
    (home / "codes.yaml").write_text(CODES)
    done = mores("rate", "ratings.jsonl", "--codes", "codes.yaml", "--json")
    assert done.returncode == 0, done.stderr
    study = RatingStudy.model_validate_json(done.stdout)
    assert study.comments
    assert {c.code: c.count for c in study.comments.counts[:3]} == {"length": 4, "facts": 4, "style": 2}
    assert study.reasons
    assert study.reasons.comments == 4
    assert {c.code: c.count for c in study.reasons.counts[:2]} == {"length": 0, "facts": 4}
    shown = mores("show", "ratings.rate").stdout
    assert "Reasons for first places" in shown
    assert (home / "ratings.rate" / "tables" / "comments.tex").read_text().count("Style and tone") == 1
    (home / "codes.yaml").write_text("length: Length\n")
    other = mores("rate", "ratings.jsonl", "--codes", "codes.yaml", "--out", "other")
    assert other.returncode == 1
    assert "ratings.jsonl:5: unknown code 'style'; the schema has length" in other.stderr


def test_the_terminal_says_what_was_taken_for_what_before_the_figures(mores: Run, home: Path) -> None:
    shutil.copy(EXPORTS / "google_forms.csv", home / "forms.csv")
    done = mores("rate", "forms.csv", "--scale", "1-5")
    assert done.returncode == 0, done.stderr
    assert "forms.csv, 11 rows: " in done.stderr
    assert done.stderr.index("as Google Forms exports it") < done.stderr.index("wrote forms.rate")
    (home / "words.csv").write_text("question,model,annotator,rating\nq,a,x,Agree\nq,b,x,Disagree\n")
    refused = mores("rate", "words.csv")
    assert refused.returncode == 1
    assert "words.csv:2: 'Agree', 'Disagree' may be agreement in 5 points" in refused.stderr
    assert "(--scale)" in refused.stderr
