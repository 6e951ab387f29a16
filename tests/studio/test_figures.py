"""Figures of campaigns against independent computation."""

from __future__ import annotations

from itertools import combinations

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from mores.studio.figures import Given, StageAgreement, summarise_votes, table_given

LABELS = ("A", "B", "C")


def crowd(people: int, items: int, skill: float = 0.7, seed: int = 0, missing: float = 0.0) -> list[Given]:
    """People of one skill judge items; some leave an item out."""
    rng = np.random.default_rng(seed)
    votes = []
    for item in range(items):
        truth = rng.choice(LABELS)
        for person in range(people):
            label = truth if rng.random() < skill else rng.choice(LABELS)
            if rng.random() >= missing:
                votes.append(Given(f"i{item}", "verify", 1, f"p{person}", str(label), None, 10.0 + person))
    return votes


def table(votes: list[Given]) -> np.ndarray:
    """People × items as the krippendorff package takes it."""
    people = sorted({vote.person for vote in votes})
    items = sorted({vote.item for vote in votes})
    values = np.full((len(people), len(items)), np.nan)
    for vote in votes:
        values[people.index(vote.person), items.index(vote.item)] = LABELS.index(vote.label or "")
    return values


def measure_agreement(votes: list[Given]) -> StageAgreement | None:
    """Return the agreement at the only stage."""
    return next(iter(summarise_votes(votes, ["verify"]).agreement), None)


@pytest.mark.parametrize(("people", "missing"), [(5, 0.0), (5, 0.4), (2, 0.2)])
def test_alpha_and_percent_are_those_of_others(people: int, missing: float) -> None:
    votes = crowd(people, 80, missing=missing)
    found = measure_agreement(votes)
    assert found is not None
    expected = krippendorff.alpha(reliability_data=table(votes), level_of_measurement="nominal")
    assert found.alpha.value == pytest.approx(expected)
    by_item: dict[str, list[str]] = {}
    for vote in votes:
        by_item.setdefault(vote.item, []).append(vote.label or "")
    pairs = [one == other for labels in by_item.values() for one, other in combinations(labels, 2)]
    assert found.percent.value == pytest.approx(np.mean(pairs))
    assert found.items == sum(len(labels) > 1 for labels in by_item.values())
    for figure in (found.alpha, found.kappa, found.percent):
        assert figure.value is not None
        assert figure.low is not None
        assert figure.high is not None
        assert figure.low < figure.value < figure.high


def test_two_people_get_cohens_kappa() -> None:
    votes = crowd(2, 60)
    found = measure_agreement(votes)
    assert found is not None
    first, second = ([vote.label for vote in votes if vote.person == person] for person in ("p0", "p1"))
    assert (found.kappa_name, found.kappa_items) == ("Cohen's κ", 60)
    assert found.kappa.value == pytest.approx(cohen_kappa_score(first, second))


def test_fleiss_kappa_takes_the_items_with_the_usual_number_of_answers() -> None:
    votes = crowd(5, 60)
    less = [vote for vote in votes if not (vote.item in ("i1", "i2") and vote.person == "p4")]
    found, full = measure_agreement(less), measure_agreement([v for v in votes if v.item not in ("i1", "i2")])
    assert found is not None
    assert full is not None
    assert (found.kappa_name, found.kappa_items) == ("Fleiss' κ", 58)
    assert found.kappa == full.kappa
    assert found.alpha != full.alpha, "α takes all items"


def test_only_the_last_judged_version_counts_and_checks_measure_people() -> None:
    votes = [
        Given("i", "verify", 1, "p1", "A", None, 5),
        Given("i", "verify", 1, "p2", "B", None, 5),
        Given("i", "verify", 2, "p1", "A", None, 5),
        Given("i", "verify", 2, "p3", "A", None, 0),
        Given("c", "verify", 1, "p1", "A", True, 9),
        Given("c", "verify", 1, "p2", "B", False, 9),
    ]
    table = table_given([votes[:1], votes[1:]])
    assert table.version[table.last_versions()].tolist() == [2, 2]
    figures = summarise_votes(votes, ["write", "verify"], {"p1": (2, 100.0), "w": (1, 50.0)})
    [agreement] = figures.agreement
    assert (agreement.items, agreement.percent.value, agreement.alpha.value) == (1, 1.0, None)
    one, two = figures.people["p1"], figures.people["p2"]
    assert (one.votes, one.written, one.seconds, one.median_seconds) == (3, 2, 119.0, 5)
    assert one.checks is not None
    assert (one.checks.k, one.checks.n) == (1, 1)
    assert two.checks is not None
    assert two.checks.value == 0
    assert two.agreement is None, "what it said of the first version is compared with nobody"
    assert figures.people["w"].written == 1
    assert figures.times[0].median == 5


def test_people_are_compared_with_the_majority_of_the_others() -> None:
    votes = [
        Given(f"i{item}", "verify", 1, person, "B" if (person, item) == ("odd", 0) else "A", None, 1)
        for item in range(4)
        for person in ("one", "two", "odd")
    ]
    people = summarise_votes(votes, ["verify"]).people
    odd, one = people["odd"].agreement, people["one"].agreement
    assert odd is not None
    assert one is not None
    assert (odd.k, odd.n) == (3, 4)
    assert (one.k, one.n) == (3, 3), "on the first item the others are tied"


def test_no_votes_give_no_figures() -> None:
    assert summarise_votes([], ["verify"]).agreement == []
    assert measure_agreement([Given("i", "verify", 1, "p", "A", None, 1)]) is None
