"""A simulated campaign: verifiers of known skill give back the known truths at the rates that theory predicts."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from itertools import product

import pytest

from mores.studio.records import CampaignItem, ItemStatus, Person, Role
from mores.studio.workflow import Cast, Flow, Take, count_missing
from tests.studio.rules import assign
from tests.studio.teaming_life import chosen, do, flow_of, settings, verifier, waiting

LABELS = ("A", "B", "C", "D", "none")
PEOPLE = 20
ITEMS = 200


def simulate(flow: Flow, skills: Mapping[str, float], truths: Sequence[str], seed: int) -> list[CampaignItem]:
    """A whole campaign: people get items by the studio's rules, and answer as well as they can."""
    lottery = random.Random(seed)
    people = [Person(id=name, roles=frozenset({Role.VERIFIER}), regions=frozenset({"KE"})) for name in skills]
    items = {f"q{number}": waiting(flow, f"q{number}") for number in range(len(truths))}
    truth = dict(zip(items, truths, strict=True))
    left = list(items)
    while True:
        lottery.shuffle(people)
        pairs = assign(flow, people, [items[item] for item in left[:60]])
        if not pairs:
            break
        for name, item in pairs:
            correct = truth[item]
            wrong = [label for label in LABELS if label != correct]
            label = correct if lottery.random() < skills[name] else lottery.choice(wrong)
            items[item] = do(flow, items[item], verifier(name), Take())
            items[item] = do(flow, items[item], verifier(name), Cast({"answer": chosen(label)}))
        left = [item for item in left[:60] if count_missing(flow, items[item])] + left[60:]
    return list(items.values())


def expected(skills: Sequence[float]) -> tuple[float, float]:
    """How probably five people of these skills accept the truth, and any answer; by going through all that may happen.

    A wrong answer is each of three options or "none" with the same probability; "none" is never accepted.
    """
    truth = wrong = 0.0
    for correct in product((True, False), repeat=5):
        if sum(correct) >= 4:
            truth += math.prod(skill if right else 1 - skill for skill, right in zip(skills, correct, strict=True))
    for same in product((True, False), repeat=5):  # at least four give one particular wrong option
        if sum(same) >= 4:
            wrong += 3 * math.prod(
                (1 - skill) / 4 if yes else 1 - (1 - skill) / 4 for skill, yes in zip(skills, same, strict=True)
            )
    return truth, truth + wrong


def check(observed: int, chances: Sequence[float]) -> None:
    """Whether a count lies within three standard deviations of what is expected."""
    deviation = math.sqrt(sum(share * (1 - share) for share in chances))
    assert abs(observed - sum(chances)) < 3 * deviation, (observed, sum(chances), deviation)


def test_expectations_are_those_of_the_binomial_distribution() -> None:
    share = 0.7
    truth, every = expected([share] * 5)
    assert truth == pytest.approx(share**5 + 5 * share**4 * (1 - share))
    assert every - truth == pytest.approx(3 * (0.075**5 + 5 * 0.075**4 * 0.925))


@pytest.mark.slow
def test_five_verifiers_of_known_skill_give_back_the_truths_as_theory_predicts() -> None:
    lottery = random.Random(1)
    skills = {f"p{number}": 0.6 + 0.38 * number / (PEOPLE - 1) for number in range(PEOPLE)}
    truths = [lottery.choice("ABCD") for _ in range(ITEMS)]
    items = simulate(flow_of(settings()), skills, truths, seed=2)
    assert all(len(item.votes) == 5 and item.status is not ItemStatus.OPEN for item in items)
    chances = [expected([skills[vote.person] for vote in item.votes]) for item in items]
    accepted = [item.results["verify"].get("answer") for item in items]
    correct = [answer == [truth] for answer, truth in zip(accepted, truths, strict=True)]
    check(sum(correct), [truth for truth, _ in chances])
    check(sum(map(bool, accepted)), [every for _, every in chances])
    assert sum(correct) > 0.99 * sum(map(bool, accepted))


@pytest.mark.slow
def test_the_papers_rate_of_acceptance_at_the_skill_that_it_implies() -> None:
    """Over 3,000 verified questions gave 1,696: with independent verifiers that is a skill of 72%."""
    skill = next(n / 1000 for n in range(1000) if expected([n / 1000] * 5)[1] >= 1696 / 3000)
    assert skill == pytest.approx(0.718, abs=0.002)
    lottery = random.Random(3)
    people = {f"p{number}": skill for number in range(10)}
    items = simulate(flow_of(settings()), people, [lottery.choice("ABCD") for _ in range(600)], seed=4)
    check(sum(item.status is ItemStatus.ACCEPTED for item in items), [1696 / 3000] * 600)


@pytest.mark.slow
def test_adaptive_redundancy_is_as_certain_as_it_says_and_saves_votes() -> None:
    lottery = random.Random(5)
    skills = {f"p{number}": 0.6 + 0.38 * number / (PEOPLE - 1) for number in range(PEOPLE)}
    truths = [lottery.choice("ABCD") for _ in range(ITEMS)]
    chosen_settings = settings(adaptive=True, least=2, most=9, certainty=0.95)
    items = simulate(flow_of(chosen_settings, skills), skills, truths, seed=6)
    accepted = [(item, truth) for item, truth in zip(items, truths, strict=True) if item.status is ItemStatus.ACCEPTED]
    chances = [item.results["verify"]["probability"] for item, _ in accepted]
    correct = sum(item.results["verify"]["answer"] == [truth] for item, truth in accepted)
    deviation = math.sqrt(sum(share * (1 - share) for share in chances))
    assert abs(correct - sum(chances)) < 3 * deviation + 0.5, (correct, sum(chances))
    assert len(accepted) > 0.95 * ITEMS, "the fixed rule loses a third of them"
    assert sum(len(item.votes) for item in items) < 5 * ITEMS
