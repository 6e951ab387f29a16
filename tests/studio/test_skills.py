"""How often people are correct: learned from votes, kept with the campaign, remembered by each vote."""

from __future__ import annotations

import random

import pytest

from mores.engine import AskSettings
from mores.studio.records import Role
from mores.studio.store.database import Database
from mores.studio.store.items import perform, rebuild
from mores.studio.store.statistics import estimate, learn_skills
from mores.studio.worker import AskWorker
from mores.studio.workflow import Create
from tests.studio.play import Play, Player
from tests.studio.teaming_life import BOSS, QUESTION, flow_of, settings
from tests.studio.test_teaming_simulated import simulate


@pytest.mark.slow
def test_skills_are_those_that_votes_were_made_with() -> None:
    lottery = random.Random(7)
    skills = {f"p{number}": 0.5 + 0.05 * number for number in range(10)}
    items = simulate(flow_of(settings()), skills, [lottery.choice("ABCD") for _ in range(300)], seed=8)
    votes = [
        (item.id, vote.person, label)
        for item in items
        for vote in item.votes
        for label in ["".join(vote.answer["answer"])]
    ]
    found = estimate(votes)
    counts = {name: sum(person == name for _, person, _ in votes) for name in skills}
    for name, skill in skills.items():  # 150 votes or so each: three standard deviations
        assert found[name] == pytest.approx(skill, abs=3 * (skill * (1 - skill) / counts[name]) ** 0.5 + 0.02)


def test_one_person_alone_teaches_nothing_and_a_known_answer_does() -> None:
    assert estimate([("q", "a", "A"), ("r", "b", "B")]) == {}
    known = {f"c{number}": "A" for number in range(20)}
    votes = [(item, "good", "A") for item in known] + [(item, "poor", "B") for item in known]
    found = estimate(votes, known)
    assert found["good"] > 0.8 > 0.4 > found["poor"]


def test_a_campaign_learns_and_votes_remember(database: Database) -> None:
    play = Play(database, "culturalteaming", regions=["Kenya"], adaptive=True, least=3, most=3)
    people = [play.person(Role.VERIFIER, f"Verifier {number}") for number in range(4)]

    def judge(player: Player, letter: str) -> None:
        item = player.take()
        assert item
        player.send(f"/items/{item}/vote", answer=[letter])

    worker = AskWorker(database, "", AskSettings(store=None))
    for number in range(6):
        perform(database, play.campaign, BOSS, Create(f"{number:012x}", QUESTION, "KE", "en", stage="verify"))
    for place, player in enumerate(people):
        for _ in range(6 if place < 2 else 3):
            judge(player, "B" if place == 1 else "A")
    worker.learn_all()
    skills = play.again().flow.skills
    assert len(skills) == 4
    assert min(skills.values()) == skills[play.read("000000000000").votes[1].person]
    perform(database, play.campaign, BOSS, Create("aaaaaaaaaaaa", QUESTION, "KE", "en", stage="verify"))
    judge(people[0], "A")
    [vote] = play.read("aaaaaaaaaaaa").votes
    assert vote.skill == skills[vote.person]
    before = play.read("aaaaaaaaaaaa")
    rebuild(database, [play.again()])
    assert play.read("aaaaaaaaaaaa") == before
    assert learn_skills(database, play.campaign).keys() == skills.keys()
