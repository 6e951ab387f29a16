"""People: invitations, sessions, passwords, consent, the test, and leaving."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from mores.studio.records import Role
from mores.studio.store import people as store
from mores.studio.store.database import Database
from mores.studio.store.items import now
from mores.studio.store.passwords import set_password
from mores.studio.store.people import find_account, find_member, invite, link_back, sign_in
from mores.studio.store.tables import audit, drafts, events, invitations, people, secrets, sessions
from mores.studio.web.visit import COOKIE
from mores.studio.workflow import Refused
from tests.studio.play import Play, Player

PRACTICE = [
    {
        "content": {"question": "In Kenya, what is ugali made of?", "options": ["Maize", "Rice", "Wheat", "Potatoes"]},
        "answer": {"answer": ["A"]},
        "explanation": "Ugali is a stiff maize porridge.",
        "region": "KE",
    },
    {
        "content": {"question": "In Kenya, who greets first?", "options": ["The elder", "The guest", "Nobody", "A"]},
        "answer": {"answer": ["B"]},
        "region": "KE",
    },
]


@pytest.fixture
def play(database: Database) -> Play:
    return Play(database, "culturalteaming", regions=["Kenya"])


def test_an_invitation_works_once(play: Play) -> None:
    token = invite(play.database, play.campaign, Role.AUTHOR, play.organiser_id)
    first = Player(play.browser(), play)
    first.open(f"/join/{token}")
    assert first.send(f"/join/{token}", name="Amina", nationality="Kenya", home="Kenya").status_code == 200
    second = Player(play.browser(), play)
    assert "Welcome back" in second.open(f"/join/{token}").text, "a personal link is the person's own"
    assert second.send(f"/join/{token}", name="Somebody else").status_code == 422
    assert len(play.members()) == 2
    several = invite(play.database, play.campaign, Role.AUTHOR, play.organiser_id, uses=2)
    for name in ("Juma", "Wanjiku"):
        store.join(play.database, several, store.read_profile(name))
    assert second.open(f"/join/{several}").status_code == 409
    assert "does not work any more" in second.page.text  # type: ignore[union-attr]


def test_an_invitation_runs_out_and_can_be_revoked(play: Play) -> None:
    late = invite(play.database, play.campaign, Role.AUTHOR, play.organiser_id, lasts=timedelta(seconds=-1))
    with pytest.raises(Refused):
        store.join(play.database, late, store.read_profile("Late"))
    token = invite(play.database, play.campaign, Role.AUTHOR, play.organiser_id, uses=5)
    organiser = play.organiser()
    organiser.open("/people")
    [shown] = store.open_invitations(play.database, play.campaign)
    organiser.send(f"/invitations/{shown.id}/revoke")
    with pytest.raises(Refused):
        store.find_invitation(play.database, token)


def test_what_no_list_has_is_kept_and_what_is_missing_empties_no_form(play: Play) -> None:
    token = invite(play.database, play.campaign, Role.AUTHOR, play.organiser_id)
    player = Player(play.browser(), play)
    player.open(f"/join/{token}")
    written = {"nationality": "Kenia<script>, Kenya", "home": "Nairobi", "languages": "Sheng"}
    answer = player.send(f"/join/{token}", name=" ", **written)
    assert answer.status_code == 422
    assert "<script>" not in answer.text.replace('<script src="', "")
    assert 'value="Nairobi"' in answer.text
    assert store.find_invitation(play.database, token).uses_left == 1
    assert player.send(f"/join/{token}", name="Amina", **written).status_code == 200
    page = player.open("/me").text
    assert 'value="Kenya, Kenia&lt;script&gt;"' in page
    member = next(each for each in play.members() if each.name == "Amina")
    assert member.person.regions == {"KE"}
    kept = {"nationality": ["Kenia<script>"], "languages": ["Sheng"], "home as written": ["Nairobi"]}
    assert member.typed == kept, "also the city whose country is known"
    assert "Sheng" in play.organiser().open(f"/people/{member.person.id}").text


@pytest.mark.parametrize(
    ("home", "code"),
    [("Nairobi", "KE"), ("القاهرة", "EG"), ("北京", "CN"), ("दिल्ली", "IN"), ("Köln", "DE"), ("Tokyo", "JP")],
)
def test_a_city_in_any_script_is_in_its_country(play: Play, home: str, code: str) -> None:
    player = play.person(Role.VERIFIER, "Amina")
    player.open("/me")
    assert player.send("/me", name="Amina", nationality=code, home=home, languages="en").status_code == 200
    member = next(each for each in play.members() if each.name == "Amina")
    assert code in member.person.regions


def test_a_second_role_is_added_to_the_same_person(play: Play) -> None:
    player = play.person(Role.AUTHOR, "Amina")
    token = invite(play.database, play.campaign, Role.VERIFIER, play.organiser_id)
    player.open(f"/join/{token}")
    player.send(f"/join/{token}")
    roles = [member.person.roles for member in store.list_members(play.database, play.campaign)]
    assert roles == [{Role.ORGANISER}, {Role.AUTHOR, Role.VERIFIER}]


def test_regions_are_those_of_both_nationality_and_home(play: Play) -> None:
    token = invite(play.database, play.campaign, Role.VERIFIER, play.organiser_id)
    profile = store.read_profile("Amina", nationality=["Kenya", "UK"], home=["Tanzania", "United Kingdom"])
    person = store.join(play.database, token, profile)
    member = find_member(play.database, play.campaign, person)
    assert member is not None
    assert member.person.regions == {"GB"}


def test_secrets_are_not_in_the_database(play: Play) -> None:
    invitation = invite(play.database, play.campaign, Role.AUTHOR, play.organiser_id)
    link = link_back(play.database, play.organiser_id, play.organiser_id, role=Role.ORGANISER)
    session = sign_in(play.database, play.organiser_id)
    with play.database.write() as connection:
        connection.execute(update(people).where(people.c.id == play.organiser_id).values(email="olga@example.org"))
    set_password(play.database, play.organiser_id, "a long sentence")
    with play.database.read() as connection:
        rows = [
            str(row) for table in (invitations, sessions, people, audit) for row in connection.execute(select(table))
        ]
    for secret in (invitation, link, session, "a long sentence"):
        assert not any(secret in row for row in rows)
    with play.database.read() as connection:
        assert connection.execute(select(secrets)).all()


def test_a_password_signs_in_and_a_wrong_one_does_not(play: Play) -> None:
    player = play.person(Role.AUTHOR, "Amina")
    player.open("/me")
    player.send("/me", name="Amina", email="Amina@Example.org", nationality="Kenya", home="Kenya", languages="Swahili")
    player.open("/me")
    assert player.send("/me/password", password="short").status_code == 422
    before = player.browser.cookies[COOKIE]
    player.send("/me/password", password="karibu nyumbani kwetu")
    assert find_account(play.database, before) is None, "other sessions end"
    other = Player(play.browser(), play)
    other.open("/login")
    assert other.send("/login", email="amina@example.org", password="wrong wrong wrong").status_code == 422
    assert other.send("/login", email="amina@example.org", password="karibu nyumbani kwetu").url.path == "/"
    other.send("/logout")
    assert other.open("/").url.path == "/login"


def test_who_has_a_password_gives_it_to_change_it_and_cannot_guess(play: Play) -> None:
    player = play.person(Role.AUTHOR, "Amina")
    player.open("/me")
    player.send("/me", name="Amina", email="amina@example.org", nationality="Kenya", home="Kenya", languages="Swahili")
    assert 'name="old"' not in player.open("/me").text
    player.send("/me/password", password="karibu nyumbani kwetu")
    assert 'name="old"' in player.open("/me").text
    for old in ("", "another one", "karibu nyumbani"):
        answer = player.send("/me/password", password="a new long sentence", old=old)
        assert answer.status_code == 422
        assert "The present password is another one." in answer.text
    assert player.send("/me/password", password="a new long sentence", old="karibu nyumbani kwetu").status_code == 200
    other = Player(play.browser(), play)
    other.open("/login")
    assert other.send("/login", email="amina@example.org", password="a new long sentence").url.path == "/"
    guesses = [player.send("/me/password", password="my own sentence", old=f"guess {n}").status_code for n in range(12)]
    assert guesses[0] == 422
    assert guesses[-1] == 429, "as in signing in"


def test_sessions_end(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    token = sign_in(play.database, play.organiser_id)
    assert find_account(play.database, token)
    monkeypatch.setattr(store, "now", lambda: now() + store.SIGNED_IN)
    assert find_account(play.database, token) is None


def test_nobody_works_before_they_agree(play: Play) -> None:
    player = Player(play.browser(), play)
    token = invite(play.database, play.campaign, Role.AUTHOR, play.organiser_id)
    player.open(f"/join/{token}")
    player.send(f"/join/{token}", name="Amina", nationality="Kenya", home="Kenya")
    assert player.open("/new").url.path.endswith("/welcome")
    player.send("/welcome")
    assert player.open("/new").url.path.endswith("/welcome")
    player.send("/welcome", agree="yes")
    assert player.open("/new").url.path.endswith("/new")


def test_the_test_must_be_passed_and_shows_the_answers_after(database: Database) -> None:
    play = Play(database, "culturalteaming", regions=["Kenya"], practice=PRACTICE, pass_share=0.5)
    player = play.person(Role.VERIFIER)
    assert "short test" in player.open().text
    assert player.send("/next").url.query == b"nothing=1"
    player.open("/practice")
    assert player.send("/practice", number="0").status_code == 422, "an answer is needed"
    player.send("/practice", number="0", answer=["A"])
    assert "stiff maize porridge" not in player.page.text, "answers are shown after the last"  # type: ignore[union-attr]
    page = player.send("/practice", number="1", answer=["A"])
    assert "1 of 2 are correct" in page.text
    assert "stiff maize porridge" in page.text
    member = store.list_members(database, play.campaign)[-1]
    assert member.person.qualified
    player.send("/practice", number="1", answer=["B"])
    assert "1 of 2 are correct" in player.open("/practice").text, "the first answer counts"


def test_who_fails_the_test_does_not_work(database: Database) -> None:
    play = Play(database, "culturalteaming", regions=["Kenya"], practice=PRACTICE, pass_share=1)
    player = play.person(Role.VERIFIER)
    for number in ("0", "1"):
        player.open("/practice")
        player.send("/practice", number=number, answer=["C"])
    assert "not passed" in player.open().text
    assert "Next item" not in player.page.text  # type: ignore[union-attr]


def test_who_leaves_is_forgotten_and_their_work_stays(play: Play) -> None:
    author = play.person(Role.AUTHOR, "Amina Unforgettable")
    author.open("/new")
    author.send("/items", scene="Guests get tea first.", then="save")
    item = author.item
    author.browser.put(
        f"/c/{play.campaign.id}/drafts/new", data={"scene": "more"}, headers={"x-csrf-token": author.hidden()["csrf"]}
    )
    author.open("/me")
    author.send("/me/delete")
    assert author.open("/").url.path == "/", "only who says yes is deleted"
    author.open("/me")
    author.send("/me/delete", sure="yes")
    assert author.open("/").url.path == "/login"
    assert play.read(item).content["scene"] == "Guests get tea first."
    with play.database.read() as connection:
        everything = [
            str(row) for table in (people, events, audit, drafts) for row in connection.execute(select(table))
        ]
        assert not connection.execute(select(drafts)).all()
    assert not any("Unforgettable" in row for row in everything)
    organiser = play.organiser()
    assert "someone who left" in organiser.open(f"/items/{item}/life").text


def test_what_waits_for_someone_who_leaves_goes_to_another(play: Play) -> None:
    author = play.person(Role.AUTHOR, "Amina")
    author.open("/new")
    question = {"question": "In Kenya?", "options": ["Tea", "Rice", "A song", "Nothing"], "correct": "A"}
    author.send("/items", scene="Tea first.", **question, then="submit")
    item = author.item
    author.send(f"/items/{item}/save", **question, then="submit")
    assert play.read(item).stage == "verify"
    verifier = play.person(Role.VERIFIER, "Juma")
    assert verifier.take() == item
    verifier.open("/me")
    verifier.send("/me/delete", sure="yes")
    assert play.read(item).holds == ()
