"""`mores plan`, through the real command, and its campaign in the studio."""

from __future__ import annotations

from pathlib import Path

import pytest

from mores.planning.records import StudyPlan
from tests.cli.conftest import Run

DESIGNS = ("ratings", "--difference", "0.6", "--raters", "10,20", "--items", "50,100", "--simulations", "200")


@pytest.mark.slow
def test_the_last_line_is_the_cheapest_design_with_enough_power(mores: Run, home: Path) -> None:
    done = mores("plan", *DESIGNS, "--pay", "15", "--html", "plan.html")
    assert done.returncode == 0, done.stderr
    plan = StudyPlan.model_validate_json(mores("plan", *DESIGNS, "--pay", "15", "--json").stdout)
    assert plan.chosen is not None
    assert done.stdout.splitlines()[-1] == plan.headline
    assert plan.paragraph in done.stdout
    assert "Power by the number of items" in (home / "plan.html").read_text("utf-8")
    enough = [each for each in plan.outcomes if (each.power.value or 0) >= 0.8]
    assert plan.chosen.cost == min(each.cost or 0 for each in enough)


def test_the_studio_makes_the_planned_campaign(mores: Run) -> None:
    assert mores("plan", *DESIGNS, "--campaign", "study.yaml").returncode == 0
    made = mores("studio", "--database", "study.db", "new", "study.yaml")
    assert made.returncode == 0, made.stderr
    assert made.stdout.startswith("study-of-ratings")


def test_a_wrong_measure_or_number_is_a_usage_error(mores: Run) -> None:
    assert "'rating' is not one of" in mores("plan", "rating").stderr
    wrong = mores("plan", "ratings", "--assume", "rater=much")
    assert wrong.returncode == 2
    assert "expected numbers such as rater=0.5,item=0.6" in wrong.stderr


@pytest.mark.parametrize("option", ["--items", "--raters", "--models"])
def test_numbers_that_are_none_are_named_with_their_option(mores: Run, option: str) -> None:
    done = mores("plan", "ratings", option, "100,x")
    assert done.returncode == 2
    assert done.stderr.strip().endswith(f"'100, x': expected whole numbers such as 5,10,20 ({option})")
