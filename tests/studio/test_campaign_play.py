"""Campaigns that people of known skill work through, and what the exports then say, against what really happened.

The script knows the true answer of every item, draws who is wrong about what, and keeps its own account of every
answer. Nothing that is checked is asked of the studio's store: only of the pages and of what is downloaded.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, ClassVar, NamedTuple, Protocol
from zipfile import ZipFile

import pytest

from mores.studio.records import Role
from mores.studio.store.database import Database
from mores.studio.web.visit import COOKIE
from tests.browser import Browser, Page, binary
from tests.studio.play import Play, Player
from tests.studio.rating_life import opinion, places
from tests.studio.serving import fill, follow, serving, visitor
from tests.studio.test_question_campaign import GOOD, QUESTION
from tests.studio.test_validation import ROW, STEP_1, STEP_2, STEP_3

SKILLS = (0.9, 0.8, 0.6, 0.4)
"""How often each of the people gives the true answer."""
Steps = Sequence[dict[str, Any]]


class Hand(Protocol):
    """Somebody who works in a campaign."""

    def take(self) -> str | None: ...

    def vote(self, item: str, steps: Steps) -> None: ...


class HttpHand:
    """Somebody whose browser runs no scripts."""

    def __init__(self, player: Player) -> None:
        self.player = player

    def take(self) -> str | None:
        return self.player.take()

    def vote(self, item: str, steps: Steps) -> None:
        for number, step in enumerate(steps, 1):
            self.player.open(f"/items/{item}")
            answer = self.player.send(f"/items/{item}/vote", step=str(number), **step)
            assert answer.status_code == 200, answer.text


class TabHand:
    """Somebody in front of Chromium."""

    def __init__(self, page: Page, home: str) -> None:
        self.page, self.home = page, home

    def take(self) -> str | None:
        self.page.open(self.home)
        follow(self.page, "[data-key=n]")
        found = re.search(r"/items/([0-9a-f]+)", self.page.evaluate("location.href"))
        return found[1] if found else None

    def vote(self, item: str, steps: Steps) -> None:
        for step in steps:
            fill(self.page, **step)
            follow(self.page, "[data-key=Enter]")
        assert f"/items/{item}" not in self.page.evaluate("location.href")
        assert self.page.problems == []


class Answered(NamedTuple):
    """An answer, as the script gave it."""

    item: str
    person: int
    label: str


class Script:
    """What is done in a campaign of one kind: the subclasses say what people send, and what must be said about it."""

    kind = ""
    role = Role.ANNOTATOR
    stage = ""
    settings: ClassVar[Mapping[str, Any]] = {}
    count = 3

    def __init__(self, play: Play) -> None:
        self.play = play
        self.truth: dict[str, str] = {}
        self.answers: list[Answered] = []

    def prepare(self) -> None:
        """Bring the items in."""

    def answer(self, item: str, label: str) -> Steps:
        """Return what somebody sends who is of this opinion."""
        raise NotImplementedError

    def mistakes(self) -> Sequence[str]:
        """Return the opinions of people who are wrong."""
        raise NotImplementedError

    def choose(self, item: str, person: int) -> str:
        """Return somebody's opinion: the truth as often as they know it; the same in every run."""
        drawn = random.Random(f"{list(self.truth).index(item)} {person}")
        is_right = drawn.random() < SKILLS[person]
        return self.truth[item] if is_right else drawn.choice(self.mistakes())

    def check(self, files: dict[str, str]) -> None:
        """Check what this kind of campaign exports."""
        raise NotImplementedError

    def bring(self, rows: Sequence[dict[str, Any]]) -> list[str]:
        """Import rows through the page; the ids of the items."""
        organiser = self.play.organiser()
        organiser.open("/data")
        data = {"csrf": organiser.hidden()["csrf"], "stage": self.stage}
        sent = "".join(f"{json.dumps(row)}\n" for row in rows)
        path = f"/c/{self.play.campaign.id}/import"
        answer = organiser.browser.post(path, data=data, files={"file": ("rows.jsonl", sent.encode())})
        assert f"{len(rows)} items" in answer.text, answer.text
        return [item.id for item in self.play.items()]

    def work(self, hands: Sequence[Hand]) -> None:
        """Let everybody work until nothing waits, in turns; who is wrong is drawn."""
        working = dict(enumerate(hands))
        while working:
            for person, hand in list(working.items()):
                item = hand.take()
                if item is None:
                    del working[person]
                    continue
                label = self.choose(item, person)
                hand.vote(item, self.answer(item, label))
                self.answers.append(Answered(item, person, label))

    @property
    def by_item(self) -> dict[str, list[str]]:
        """The opinions about each item."""
        found: dict[str, list[str]] = defaultdict(list)
        for answer in self.answers:
            found[answer.item].append(answer.label)
        return found

    @property
    def same_pairs(self) -> float:
        """The share of pairs of opinions about the same item that are the same."""
        pairs = [pair for labels in self.by_item.values() for pair in combinations(labels, 2)]
        return sum(one == other for one, other in pairs) / len(pairs)


class Teaming(Script):
    """Questions whose true option is known; the rule accepts what two of three select.

    About the first question everybody is wrong in another way.
    """

    kind, role, stage = "culturalteaming", Role.VERIFIER, "verify"
    settings: ClassVar[Mapping[str, Any]] = {"regions": ["Kenya"], "languages": ["en"], "verifiers": 3, "agreeing": 2}
    count = 6

    def prepare(self) -> None:
        options = ["Tea", "Rice", "A song", "Nothing"]
        rows = [
            {"question": f"What comes {n}th?", "options": options, "correct": ["ABCD"[n % 4]], "region": "KE"}
            for n in range(self.count)
        ]
        self.bring(rows)
        self.truth = {item.id: item.content["correct"][0] for item in self.play.items()}
        self.hard = next(iter(self.truth))

    def mistakes(self) -> Sequence[str]:
        return ("A", "B", "C", "D")

    def choose(self, item: str, person: int) -> str:
        return "ABCD"[person] if item == self.hard else super().choose(item, person)

    def answer(self, item: str, label: str) -> Steps:
        assert item in self.truth
        return ({"answer": [label]},)

    def decide(self) -> tuple[dict[str, str], list[str]]:
        """Return the accepted items with their answers, and the rejected ones, by the rule of the paper."""
        tops = {item: Counter(labels).most_common(1)[0] for item, labels in self.by_item.items()}
        accepted = {item: label for item, (label, count) in tops.items() if count >= 2}
        return accepted, [item for item in tops if item not in accepted]

    def overrule(self) -> None:
        """Let the organiser accept what the votes rejected, and one more question past the stage."""
        organiser = self.play.organiser()
        [skipped] = set(self.bring([QUESTION_PAST])) - set(self.truth)
        for item in (*self.decide()[1], skipped):
            organiser.open(f"/items/{item}/life")
            done = organiser.send(f"/items/{item}/adjudicate", outcome="next", note="I know it.", answer=["A"])
            assert done.status_code == 200, done.text

    def check(self, files: dict[str, str]) -> None:
        accepted, rejected = self.decide()
        assert self.hard in rejected
        easy = list(csv.DictReader(io.StringIO(files["data/CulturalBench-Easy.csv"])))
        assert len(easy) == len(accepted), "what an organiser decided stays out"
        stories = [json.loads(line) for line in files["items.jsonl"].splitlines()]
        assert {story["id"]: story["correct"] for story in stories} == {i: [label] for i, label in accepted.items()}
        assert "3 people verified each; at least 2 gave the same answer." in files["README.md"]
        total = self.count + 1
        assert f"{total}, of which {total} accepted" in files["README.md"]
        for path in ("README.md", "METHOD.md"):
            overruled = re.search(r"(\d+) \w+ accepted at “Verify” by an organiser after the answers had", files[path])
            assert overruled, files[path]
            assert int(overruled[1]) == len(rejected)
            assert "1 passed “Verify” without an answer of anybody" in files[path]
        assert f"Of {len(accepted)} verified questions {len(accepted)} were accepted" in files["METHOD.md"]


QUESTION_PAST = {"question": "Nobody saw this?", "options": ["a", "b", "c", "d"], "correct": ["A"], "region": "KE"}


class Rating(Script):
    """Answers of two models of which one is known to be better; people rate and rank them."""

    kind, stage = "rating", "rate"
    settings: ClassVar[Mapping[str, Any]] = {"languages": ["sw"], "regions": ["Kenya"], "raters": 3}

    def prepare(self) -> None:
        rows = [
            {"question": f"Why {n}?", "language": "sw", "region": "KE", "answers": {"good": f"So {n}.", "bad": "?"}}
            for n in range(self.count)
        ]
        self.truth = dict.fromkeys(self.bring(rows), "good")

    def mistakes(self) -> Sequence[str]:
        return ("bad",)

    def answer(self, item: str, label: str) -> Steps:
        shown = self.play.read(item)
        other = {"good": "bad", "bad": "good"}[label]
        first = opinion(shown, {label: 5, other: 2})
        return first, places(shown, label, other) | {"reason": "It is better."}

    def check(self, files: dict[str, str]) -> None:
        rows = list(csv.DictReader(io.StringIO(files["ratings.csv"])))
        assert len(rows) == 2 * len(self.answers)
        best = Counter(row["model"] for row in rows if row["rating"] == "5")
        assert best == Counter(answer.label for answer in self.answers)
        assert f"{self.count}, of which {self.count} accepted" in files["README.md"]


class Marking(Script):
    """Texts with one known error, which people mark, or do not see."""

    kind, stage = "marking", "mark"
    settings: ClassVar[Mapping[str, Any]] = {
        "languages": ["sw"],
        "regions": ["Kenya"],
        "markers": 3,
        "validated": False,
    }

    def prepare(self) -> None:
        about = {"language": "sw", "region": "KE"}
        rows = [{"id": f"t{n}", "text": f"{n}: Guests get tea last.", **about} for n in range(self.count)]
        self.truth = dict.fromkeys(self.bring(rows), "last")

    def mistakes(self) -> Sequence[str]:
        return ("nothing",)

    def answer(self, item: str, label: str) -> Steps:
        if label == "nothing":
            return ({"marks": "[]", "none": "yes"},)
        start = self.play.read(item).content["text"].index("last")
        mark = {
            "part": "text",
            "start": start,
            "end": start + 4,
            "quote": "last",
            "severity": "major",
            "type": "custom",
        }
        return ({"marks": json.dumps([mark | {"explanation": "", "correction": ""}]), "none": ""},)

    def check(self, files: dict[str, str]) -> None:
        judged = [json.loads(line) for line in files["judgements.jsonl"].splitlines()]
        found = Counter("last" if each["report"]["errors"] else "nothing" for each in judged)
        assert found == Counter(answer.label for answer in self.answers)
        assert f"{self.count}, of which {self.count} accepted" in files["README.md"]


class Validation(Script):
    """Errors that are known to be real; people say so, or do not."""

    kind, stage = "validation", "validate"
    settings: ClassVar[Mapping[str, Any]] = {"languages": ["en"]}

    def prepare(self) -> None:
        rows = [ROW | {"language": "en", "sample": f"s-{n}", "instruction": f"{n}?"} for n in range(self.count)]
        self.truth = dict.fromkeys(self.bring(rows), "valid")

    def mistakes(self) -> Sequence[str]:
        return ("not",)

    def answer(self, item: str, label: str) -> Steps:
        marks = json.dumps(self.play.read(item).content["marks"])
        return STEP_1 | {"error": label, "marks": marks}, STEP_2, STEP_3

    def check(self, files: dict[str, str]) -> None:
        assert f"{self.count}, of which {self.count} accepted" in files["README.md"]


class Questions(Script):
    """Questions that an author writes, of which every second breaks a rule; somebody else checks them."""

    kind, role, stage = "questions", Role.INSPECTOR, "check"
    settings: ClassVar[Mapping[str, Any]] = {"languages": ["sw"], "practice": [], "pass_share": 0, "pilot": 0}
    count = 6

    def prepare(self) -> None:
        author = self.play.person(Role.AUTHOR, "Amina")
        for number in range(self.count):
            author.open("/new")
            sent = author.send("/items", **QUESTION | {"question": f"{number}?"}, language="sw", then="submit")
            assert sent.status_code == 200, sent.text
            self.truth[author.item] = "accept" if number % 2 else "refuse"

    def mistakes(self) -> Sequence[str]:
        return ("accept", "refuse", "invalid")

    def answer(self, item: str, label: str) -> Steps:
        assert item in self.truth
        wrong = {"problems": ["specific"], "verdict": label, "note": "Anybody knows it."}
        return (GOOD if label == "accept" else GOOD | wrong,)

    def check(self, files: dict[str, str]) -> None:
        accepted = [answer.item for answer in self.answers if answer.label == "accept"]
        [name] = [path for path in files if path.startswith("data/dataset-specific")]
        assert len(files[name].splitlines()) == len(accepted)
        assert f"{self.count}, of which {len(accepted)} accepted" in files["README.md"]
        assert f"native speakers wrote {self.count} questions" in files["METHOD.md"]
        assert f"{len(accepted)} were accepted, in 1 language (Swahili)." in files["METHOD.md"]
        assert "Another person checked each against the rules." in files["METHOD.md"]


SCRIPTS: tuple[type[Script], ...] = (Teaming, Rating, Marking, Validation, Questions)


def download(play: Play, form: str) -> dict[str, str]:
    """The files of an export, as an organiser downloads them."""
    organiser = play.organiser()
    organiser.open("/overview")
    with ZipFile(io.BytesIO(organiser.send("/export", format=form).content)) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


SAID = r"(\d+) people gave (\d+) answers about (\d+) items.*?([\d.]+)% of the pairs of answers were the same"


def check_claims(script: Script) -> None:
    """Compare what is exported with the script's own account."""
    votes = [json.loads(line) for line in download(script.play, "jsonl")["votes.jsonl"].splitlines()]
    given = Counter(answer.item for answer in script.answers)
    assert Counter(vote["item"] for vote in votes if vote["stage"] == script.stage) == given
    files = download(script.play, "folder")
    worked = {answer.person for answer in script.answers}
    authors = script.kind == "questions"
    assert f"{len(worked) + authors} people took part" in files["README.md"]
    assert f"{len(worked) + authors} people took part" in files["METHOD.md"]
    if script.kind != "questions":  # whose items one person checks
        said = re.search(SAID, files["METHOD.md"])
        assert said, files["METHOD.md"]
        assert said.groups()[:3] == (str(len(worked)), str(len(script.answers)), str(len(script.by_item)))
        assert float(said[4]) == pytest.approx(100 * script.same_pairs, abs=0.051)
    script.check(files)


@pytest.mark.parametrize("chosen", SCRIPTS, ids=[script.kind for script in SCRIPTS])
def test_exports_say_what_happened(database: Database, chosen: type[Script]) -> None:
    play = Play(database, chosen.kind, **chosen.settings)
    script = chosen(play)
    script.prepare()
    script.work([HttpHand(play.person(chosen.role, f"Person {number}")) for number in range(len(SKILLS))])
    if isinstance(script, Teaming):
        script.overrule()
    check_claims(script)


@pytest.mark.skipif(binary() is None, reason="Chromium is not installed: apt-get install chromium")
@pytest.mark.parametrize(
    "chosen",
    [
        pytest.param(Teaming, id="culturalteaming"),
        pytest.param(Rating, id="rating", marks=pytest.mark.slow),
        pytest.param(Questions, id="questions", marks=pytest.mark.slow),
    ],
)
def test_exports_say_what_happened_in_chromium(database: Database, browser: Browser, chosen: type[Script]) -> None:
    play = Play(database, chosen.kind, **chosen.settings)
    script = chosen(play)
    script.count = 3
    script.prepare()
    cookies = [play.person(chosen.role, f"Person {number}").browser.cookies[COOKIE] for number in range(3)]
    with serving(play.app) as address:
        pages = [visitor(browser, address, cookie) for cookie in cookies]
        script.work([TabHand(page, f"{address}/c/{play.campaign.id}") for page in pages])
        if isinstance(script, Teaming):
            script.overrule()
        check_claims(script)  # while the studio serves: exports are jobs of its
