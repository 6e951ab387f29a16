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
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol
from zipfile import ZipFile

import pytest

from mores.studio.marks import PLACE
from mores.studio.records import Role
from mores.studio.store.database import Database
from mores.studio.web.visit import COOKIE
from tests.browser import Browser, Page, binary
from tests.studio import msqa_life, test_culturall, test_msqa_path
from tests.studio.msqa_life import INSPECTED
from tests.studio.play import Play, Player
from tests.studio.rating_life import opinion, places
from tests.studio.serving import fill, follow, serving, visitor
from tests.studio.test_browser_marks import drag, marks
from tests.studio.test_question_campaign import GOOD, QUESTION
from tests.studio.test_validation import ROW, STEP_1, STEP_2, STEP_3

SKILLS = (0.9, 0.6, 0.4)
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
        for number, step in enumerate(steps, 1):  # each on the page that the one before has led to
            filled = self.player.filled() | {"step": str(number)}
            answer = self.player.send(f"/items/{item}/vote", **filled | step)
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
            for mark in json.loads(step.get("marks", "[]")):
                self.mark(mark)
            fill(self.page, **step)
            follow(self.page, "[data-key=Enter]")
        assert f"/items/{item}" not in self.page.evaluate("location.href")
        assert self.page.problems == []

    def mark(self, mark: dict[str, Any]) -> None:
        """Select the words with the mouse, unless they are marked; they are at the place that the script knows."""
        self.page.wait("document.documentElement.dataset.marks === 'painted'")
        place = {name: mark[name] for name in PLACE}
        if not any(place.items() <= known.items() for known in marks(self.page)):
            text = self.page.evaluate("document.querySelector('.marked[data-part=text]').textContent")
            drag(self.page, text, mark["quote"])
            self.page.click(".mark-here")
            assert place.items() <= marks(self.page)[-1].items()


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
    count = 2
    others = 0
    """People who take part besides those who answer."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.play = self.begin(database, folder)
        self.truth: dict[str, str] = {}
        self.answers: list[Answered] = []

    def begin(self, database: Database, _folder: Path) -> Play:
        """Return the campaign; what models say is scripted in the folder."""
        return Play(database, self.kind, **self.settings)

    def join(self, role: Role, name: str) -> Player:
        """Return somebody new who may answer."""
        return self.play.person(role, name)

    def prepare(self) -> None:
        """Bring the items in."""
        raise NotImplementedError

    def follow(self, item: str) -> None:
        """Do what an organiser does at once after an answer."""

    def finish(self) -> None:
        """Do what an organiser does when nobody works any more."""

    def decide(self, item: str, **values: Any) -> None:
        """Let the organiser send an item on from where it is."""
        organiser = self.play.organiser()
        organiser.open(f"/items/{item}/life")
        done = organiser.send(f"/items/{item}/adjudicate", outcome="next", note="I know it.", **values)
        assert done.status_code == 200, done.text

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
                self.follow(item)

    @property
    def by_item(self) -> dict[str, list[str]]:
        """The opinions about each item."""
        found: dict[str, list[str]] = defaultdict(list)
        for answer in self.answers:
            found[answer.item].append(answer.label)
        return found

    @property
    def agreement(self) -> tuple[int, int, int, float] | None:
        """People, answers and items with several answers, and the share of pairs that are the same."""
        several = {item for item, labels in self.by_item.items() if len(labels) > 1}
        answers = [answer for answer in self.answers if answer.item in several]
        pairs = [pair for item in several for pair in combinations(self.by_item[item], 2)]
        if not pairs:
            return None
        share = sum(one == other for one, other in pairs) / len(pairs)
        return len({answer.person for answer in answers}), len(answers), len(several), share


class Teaming(Script):
    """Questions whose true option is known; the rule accepts what two of three select.

    About the first question everybody is wrong in another way.
    """

    kind, role, stage = "culturalteaming", Role.VERIFIER, "verify"
    settings: ClassVar[Mapping[str, Any]] = {"regions": ["Kenya"], "languages": ["en"], "verifiers": 3, "agreeing": 2}
    count = 4

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

    def judge(self) -> tuple[dict[str, str], list[str]]:
        """Return the accepted items with their answers, and the rejected ones, by the rule of the paper."""
        tops = {item: Counter(labels).most_common(1)[0] for item, labels in self.by_item.items()}
        accepted = {item: label for item, (label, count) in tops.items() if count >= 2}
        return accepted, [item for item in tops if item not in accepted]

    def finish(self) -> None:
        """Accept what the votes rejected, and one more question past the stage."""
        [skipped] = set(self.bring([QUESTION_PAST])) - set(self.truth)
        for item in (*self.judge()[1], skipped):
            self.decide(item, answer=["A"])

    def check(self, files: dict[str, str]) -> None:
        accepted, rejected = self.judge()
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
        assert f"{len(accepted)} of {total} items were left to the rules of the campaign" in files["METHOD.md"]
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
        texts = [f"{n}: Guests\r\nget tea last." for n in range(self.count)]
        rows = [{"id": f"t{n}", "text": text, **about} for n, text in enumerate(texts)]
        self.truth = dict.fromkeys(self.bring(rows), "last")

    def mistakes(self) -> Sequence[str]:
        return ("nothing",)

    def answer(self, item: str, label: str) -> Steps:
        if label == "nothing":
            return ({"marks": "[]", "none": "yes"},)
        start = self.play.read(item).content["text"].index("tea")
        mark = {
            "part": "text",
            "start": start,
            "end": start + 8,
            "quote": "tea last",
            "severity": "major",
            "type": "custom",
        }
        return ({"marks": json.dumps([mark | {"explanation": "", "correction": ""}]), "none": ""},)

    def check(self, files: dict[str, str]) -> None:
        judged = [json.loads(line) for line in files["judgements.jsonl"].splitlines()]
        found = Counter("last" if each["report"]["errors"] else "nothing" for each in judged)
        assert found == Counter(answer.label for answer in self.answers)
        quotes = [error["quote"] for each in judged for error in each["report"]["errors"]]
        assert set(quotes) == {"tea last"}
        assert f"{self.count}, of which {self.count} accepted" in files["README.md"]


class Validation(Script):
    """Errors that are known to be real; people say so, or do not. Nobody finds the last one."""

    kind, stage = "validation", "validate"
    settings: ClassVar[Mapping[str, Any]] = {"languages": ["en"]}

    def prepare(self) -> None:
        rows = [ROW | {"language": "en", "sample": f"s-{n}", "instruction": f"{n}?"} for n in range(self.count)]
        self.truth = dict.fromkeys(self.bring(rows), "valid")
        self.hard = list(self.truth)[-1]

    def mistakes(self) -> Sequence[str]:
        return ("not",)

    def choose(self, item: str, person: int) -> str:
        return "not" if item == self.hard else super().choose(item, person)

    def answer(self, item: str, label: str) -> Steps:
        marks = json.dumps(self.play.read(item).content["marks"])
        return STEP_1 | {"error": label, "marks": marks}, STEP_2, STEP_3

    def check(self, files: dict[str, str]) -> None:
        accepted = [item for item, labels in self.by_item.items() if labels.count("valid") > labels.count("not")]
        assert 0 < len(accepted) < self.count
        assert f"{self.count}, of which {len(accepted)} accepted" in files["README.md"]
        found = [json.loads(line)["report"]["errors"] for line in files["judgements.jsonl"].splitlines()]
        assert sum(map(bool, found)) == sum(answer.label == "valid" for answer in self.answers)


class Questions(Script):
    """Questions that an author writes, of which every second breaks a rule; somebody else checks them."""

    kind, role, stage = "questions", Role.INSPECTOR, "check"
    settings: ClassVar[Mapping[str, Any]] = {"languages": ["sw"], "practice": [], "pass_share": 0, "pilot": 0}
    count, others = 4, 1

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


EASY, VAGUE = "Qual é a capital do Brasil?", "Qual boi é vermelho?"


class Msqa(Script):
    """Questions that an author writes, a model of known skill tries, an expert inspects and two people validate.

    Models answer the first question and cannot check the second. The organiser decides for them about the second, after
    one answer about the third, and before any about the fourth. The answer of the fifth is wrong.
    """

    kind, role, stage = "msqa", Role.VERIFIER, "validate"
    count, others, runs = 6, 2, 4

    def begin(self, database: Database, folder: Path) -> Play:
        rows = [
            ("You check whether evidence confirms", "[1] says so.\nVERDICT: CONFIRMED"),
            ("into simplified Chinese", '{"question": "哪头牛是蓝色的？", "answer": "卡普里肖佐"}'),
            ("Brasília", "It says so.\nVERDICT: CORRECT"),
            ("Does the candidate answer give", "It does not.\nVERDICT: NOT_CORRECT"),
            (VAGUE, "It depends."),
            ("before they enter a benchmark", "One bull is blue.\nVERDICT: UNIQUE"),
        ]
        checker = test_msqa_path.script(folder / "check.jsonl", *rows)
        tried = test_msqa_path.script(folder / "tried.jsonl", (EASY, "Brasília"), ("", "Garantido"))
        settings = {"model": checker, "models": [tried], "validators": 2, "rounds": 1, "runs": self.runs}
        return test_msqa_path.play_in(folder, database, **settings)

    def join(self, role: Role, name: str) -> Player:
        return test_msqa_path.person(self.play, role, name)

    def prepare(self) -> None:
        author, inspector = self.join(Role.AUTHOR, "João"), self.join(Role.INSPECTOR, "Elena")
        questions = (EASY, VAGUE, *(f"Qual boi é azul, {number}?" for number in range(2, self.count)))
        written = [test_msqa_path.write(author, question=question) for question in questions]
        self.easy, self.vague, self.hasty, self.unseen, *_ = written
        self.play.answer()
        self.decide(self.vague)
        while (item := inspector.take()) is not None:
            by_hand = {"by_hand_quality": "yes"} if item == self.vague else {}
            inspector.send(f"/items/{item}/vote", **INSPECTED, **by_hand)
        self.decide(self.unseen)
        self.truth = {item: "valid" for item in written if item not in (self.easy, self.unseen)}
        self.truth[written[4]] = "objection"

    def mistakes(self) -> Sequence[str]:
        return ("valid", "objection")

    def choose(self, item: str, person: int) -> str:
        return "valid" if item in (self.vague, self.hasty) else super().choose(item, person)

    def answer(self, item: str, label: str) -> Steps:
        assert item in self.truth
        return (msqa_life.YES if label == "valid" else msqa_life.NO,)

    def follow(self, item: str) -> None:
        if item == self.hasty:
            self.decide(item)

    @property
    def regular(self) -> set[str]:
        """What both people who validated it find valid, and models had checked."""
        return {item for item, labels in self.by_item.items() if labels == ["valid"] * 2} - {self.vague}

    def finish(self) -> None:
        for item in (*self.regular, self.vague, self.hasty, self.unseen):
            self.decide(item, format="yes", coherence="yes")

    def check(self, files: dict[str, str]) -> None:
        objected = [item for item, labels in self.by_item.items() if "objection" in labels]
        assert self.regular
        assert objected
        rows = [json.loads(line) for line in files["data/msqa.jsonl"].splitlines()]
        assert {row["prompt_id"] for row in rows} == self.regular
        assert f"{self.count}, of which {len(self.regular) + 3} accepted" in files["README.md"]
        for path in ("README.md", "METHOD.md"):
            assert "3 accepted items did not pass every stage by the rules" in files[path]
            assert "1 passed “Checks by models” without a model's answer that decides" in files[path]
            assert "1 were accepted at “Validate” by an organiser in place of the answers" in files[path]
            assert "1 passed “Validate” without an answer of anybody" in files[path]
            assert "Native speakers validated each: 2 people." in files[path]
        assert f"{len(objected) + 1} questions came back to the author at least once" in files["METHOD.md"]
        assert f"{self.count - 3} of {self.count} items were left to the rules" in files["METHOD.md"]
        assert f"Of {self.count - 3} questions, {len(self.regular)} were accepted" in files["METHOD.md"]
        settings = self.play.campaign.settings
        [tried] = settings.models
        assert asked_models(files) == {
            (settings.search, "Search for evidence"): (self.count, 0),
            (tried, "Try the question"): (self.count * self.runs, 0),
            (self.play.model, "Judge the answer"): (self.count * self.runs, 0),
            (self.play.model, "Read the evidence"): (self.count, 0),
            (self.play.model, "Check that there is one clear answer"): (self.count, 1),
            (self.play.model, "Translate into Chinese"): (self.count, 0),
        }


class Culturall(Script):
    """Items that an author writes, three models of known skill try, and a peer reviews.

    The models know the first, the judge talks nonsense about the second, and nobody reviews the third: the organiser
    decides about both. The fourth should be rejected, and always is; the organiser accepts it.
    """

    kind, role, stage = "culturall", Role.AUTHOR, "review"
    count, others = 6, 1
    words = ("rahisi", "ajabu", "haionekani", "mbaya", "nzuri", "njema")

    def begin(self, database: Database, folder: Path) -> Play:
        models = test_culturall.make_models(folder, (self.words[0], "1"), (self.words[1], "Perhaps."))
        return test_culturall.play_with(database, models)

    def prepare(self) -> None:
        author = self.play.person(Role.AUTHOR, "Amina")
        questions = [f"Anapewa nini, {word}?" for word in self.words[: self.count]]
        written = [test_culturall.write(author, question=question, language="sw") for question in questions]
        self.easy, self.odd, self.unseen, self.bad, *_ = written
        self.play.answer()
        self.decide(self.odd)
        author.open(f"/items/{self.easy}")
        parts = {name: test_culturall.ITEM[name] for name in ("scenario", "answer", "explanation")}
        left = parts | {"question": questions[0], "leave": "yes", "then": "submit"}
        assert author.send(f"/items/{self.easy}/save", **left).status_code == 200
        self.play.answer()
        self.decide(self.unseen)
        self.truth = {item: "accept" for item in written if item != self.unseen}
        self.truth[self.bad] = "reject"

    def mistakes(self) -> Sequence[str]:
        return ("reject",)

    def choose(self, item: str, person: int) -> str:
        return "accept" if item == self.odd else super().choose(item, person)

    def answer(self, item: str, label: str) -> Steps:
        assert item in self.truth
        found = test_culturall.YES | ({"safe": "no", "note": "It names a person."} if label == "reject" else {})
        return (found | {"verdict": label},)

    def finish(self) -> None:
        self.decide(self.bad)

    def check(self, files: dict[str, str]) -> None:
        regular = [answer.item for answer in self.answers if answer.label == "accept" and answer.item != self.odd]
        assert len(files["data/annotated_data.jsonl"].splitlines()) == len(regular)
        total, accepted = self.count, len(regular) + 3
        assert f"{total}, of which {accepted} accepted" in files["README.md"]
        for path in ("README.md", "METHOD.md"):
            assert "3 accepted items did not pass every stage by the rules" in files[path]
            assert "1 passed “Measure difficulty” without a model's answer that decides" in files[path]
            assert "1 were accepted at “Review” by an organiser after the answers had rejected them" in files[path]
            assert "1 passed “Review” without an answer of anybody" in files[path]
        left = total - 3  # what the organiser did not decide, of which the first is easy
        said = files["METHOD.md"]
        assert f"{left} of {total} items were left to the rules of the campaign" in said
        assert f"authors wrote {left} grounded items" in said
        assert f"{100 * (left - 1) / left:.1f}% of {left} measured items are challenging" in said
        shares = [100 * part / left for part in (len(regular), 0, left - len(regular))]
        rates = "{:.1f}% accept, {:.1f}% revise, {:.1f}% reject".format(*shares)
        assert f"({rates}; {left} reviews). The result has {len(regular)} items" in said
        models, judge = self.play.campaign.settings.models, self.play.campaign.settings.judge
        assert all(model in said for model in models)
        own = {"Region": total, "Topic": total, "Translate into English": 4 * total}
        assert asked_models(files) == {
            **{(model, "Answer the question"): (total, 0) for model in models},
            (judge, "Judge an answer"): (3 * total, 3),
            **{(self.play.model, task): (count, 0) for task, count in own.items()},
        }


def asked_models(files: dict[str, str]) -> dict[tuple[str, str], tuple[int, int]]:
    """How often each model was asked what, and failed, as the card says."""
    table = files["README.md"].partition("## Models")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("|")]
    return {(model, task): (int(asked), int(failed)) for model, task, asked, failed in rows[2:]}


SCRIPTS: tuple[type[Script], ...] = (Teaming, Rating, Marking, Validation, Questions, Msqa, Culturall)


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
    people = len({answer.person for answer in script.answers}) + script.others
    assert f"{people} people took part" in files["README.md"]
    assert f"{people} people took part" in files["METHOD.md"]
    said = re.search(SAID, files["METHOD.md"])
    if script.agreement is None:
        assert not said
        assert "No item has answers of two people." in files["README.md"]
    else:
        assert said, files["METHOD.md"]
        assert said.groups()[:3] == tuple(map(str, script.agreement[:3]))
        assert float(said[4]) == pytest.approx(100 * script.agreement[3], abs=0.051)
    script.check(files)


@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen",
    [pytest.param(each, id=each.kind, marks=[pytest.mark.slow] * (each in (Msqa, Culturall))) for each in SCRIPTS],
)
def test_exports_say_what_happened(database: Database, tmp_path: Path, chosen: type[Script]) -> None:
    script = chosen(database, tmp_path)
    script.prepare()
    script.work([HttpHand(script.join(chosen.role, f"Person {number}")) for number in range(len(SKILLS))])
    script.finish()
    check_claims(script)


@pytest.mark.slow  # `test_browser_*.py` goes each kind's way in Chromium, with fewer people
@pytest.mark.skipif(binary() is None, reason="Chromium is not installed: apt-get install chromium")
@pytest.mark.parametrize("chosen", SCRIPTS, ids=[script.kind for script in SCRIPTS])
def test_exports_say_what_happened_in_chromium(
    database: Database, browser: Browser, tmp_path: Path, chosen: type[Script]
) -> None:
    script = chosen(database, tmp_path)
    script.prepare()
    cookies = [script.join(chosen.role, f"Person {number}").browser.cookies[COOKIE] for number in range(len(SKILLS))]
    with serving(script.play.app) as address:
        pages = [visitor(browser, address, cookie) for cookie in cookies]
        script.work([TabHand(page, f"{address}/c/{script.play.campaign.id}") for page in pages])
        script.finish()
        check_claims(script)  # while the studio serves: exports are jobs of its
