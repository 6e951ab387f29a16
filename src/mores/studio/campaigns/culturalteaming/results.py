"""Figures, the paragraph for a paper, and the accepted questions as CulturalBench publishes them: Easy and Hard.

Hard has four statements for each question, one row for each option. In Easy, a choice of four, a question with several
correct options lists its four statements as (i) to (iv), and its options are sets of them, such as "i, iii": which
three wrong sets there are, and where the correct one stands, is drawn by the item's id.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import Any

from mores.culture import region_name
from mores.factory.drafts import draw
from mores.formatting import percent
from mores.stats.annotators.popular import surprisingly_popular
from mores.studio.campaigns.culturalteaming.forms import LETTERS, UNKNOWN
from mores.studio.campaigns.culturalteaming.rule import STAGE, TeamingSettings, label
from mores.studio.export import Runnable, bench_folder
from mores.studio.files import ExportFile, Spool
from mores.studio.kind import count_items
from mores.studio.phrase import Phrase, phrase_share
from mores.studio.provenance import describe_regions, last_votes, matches_region, range_of
from mores.studio.records import CampaignItem, ItemStatus

PAPER = Phrase("1,696 of over 3,000 verified questions were accepted; 1,554 single, 142 multi mode")


@dataclass
class Tally:
    """Everything that figures and texts count, from one pass over the questions."""

    settings: TeamingSettings
    counts: Counter[str] = field(default_factory=Counter)
    regions: set[str] = field(default_factory=set)
    last_rounds: Counter[bool | None] = field(default_factory=Counter)
    """Whether the AI was beaten in the last round of each question; None where it gave no answer."""
    verifiers: Counter[int] = field(default_factory=Counter)
    """Verified questions by the number of answers about the last version that was judged."""
    people: Counter[int] = field(default_factory=Counter)
    """All questions, by the same."""
    agreeing: list[int] = field(default_factory=list)
    """How many verifiers gave the answer, at least, of the accepted questions."""
    native: Counter[bool | None] = field(default_factory=Counter)
    """Answers to verified questions, by whether who gave them came from the region."""
    given: Counter[bool | None] = field(default_factory=Counter)
    """The same of all questions."""

    def add(self, item: CampaignItem) -> None:
        """Count a question."""
        counts, result, votes = self.counts, item.results.get(STAGE, {}), last_votes(item, STAGE)
        agreed, accepted = result.get("answer", ()), item.status is ItemStatus.ACCEPTED
        asks = [ask for ask in item.asks if ask.task == "answer"]
        if item.region:
            self.regions.add(item.region)
        verified = STAGE in item.results and bool(item.votes)
        judged = [vote for vote in item.votes if vote.stage == STAGE]
        counts["items"] += 1
        counts["verified"] += verified
        counts["votes"] += len(judged)
        counts["unknown"] += sum([UNKNOWN in vote.answer["answer"] for vote in judged])
        counts["written"] += item.author is not None
        counts["decided"] += bool(result.get("adjudicated"))
        if accepted:
            differs = agreed and sorted(item.content.get("correct", ())) != sorted(agreed)
            counts["accepted"] += 1
            counts["passed"] += verified
            counts["single"] += len(agreed) == 1
            counts["multi"] += len(agreed) > 1
            counts["differ"] += item.author is not None and bool(differs)
            self.agreeing = [min([*self.agreeing, int(result.get("agreeing", 0))])]
        if item.asks:
            counts["played"] += any(ask.answer for ask in asks)
            counts["rounds"] += len(asks)
            counts["answered"] += sum(bool(ask.answer) for ask in asks)
            counts["drafted"] += any(ask.task == "draft" and ask.answer for ask in item.asks)
        if ended := [ask.answer for ask in asks if not ask.waiting]:
            self.last_rounds[ended[-1]["beaten"] if ended[-1] else None] += 1
        if settled := STAGE in item.results and bool(votes):
            self.verifiers[len(votes)] += 1
        self.people[len(votes)] += 1
        for vote in votes:
            matched = matches_region(item, vote.standing)
            self.given[matched] += 1
            self.native[matched] += settled
        if self.settings.ask_others and verified and (popular := popular_answer(item)) is not None:
            counts["popular"] += popular not in ("", "".join(agreed))

    @property
    def least(self) -> int:
        """The fewest verifiers who gave the answer of any accepted question: the rule, or fewer."""
        return min([self.settings.agreeing, *self.agreeing])

    @property
    def shown_rounds(self) -> str:
        """The number of questions that were played against a model, after how they were made."""
        played, items = self.counts["played"], self.counts["items"]
        them = "them" if played == items else f"{played:,} of them"
        return f", and played {them} against a model" if played else ""

    def summarise(self) -> Mapping[str, Any]:
        """Return the paper's figures: how many questions were written, verified, accepted; votes; how the AI did."""
        counts, rounds = self.counts, self.last_rounds
        figures: dict[str, Any] = {
            "Questions": counts["items"],
            "Verified": counts["verified"],
            "Accepted": counts["accepted"],
            "Accepted, of the verified": phrase_share(counts["passed"], counts["verified"]),
            "Single mode": counts["single"],
            "Multi mode": counts["multi"],
            "Votes": counts["votes"],
            "“I don't know”, of the votes": phrase_share(counts["unknown"], counts["votes"]),
            "Accepted with another answer than the author's": counts["differ"],
            "Rounds against the AI": counts["answered"],
            "AI beaten, of the last rounds": phrase_share(rounds[True], rounds[True] + rounds[False], rounds[None]),
            "CulturalBench": PAPER,
        }
        if self.settings.ask_others:
            figures["Another answer is surprisingly popular"] = counts["popular"]
        return figures

    def method(self) -> str:
        """Return what the Method section of a paper says about the campaign."""
        counts, verified = self.counts, self.verifiers.total()
        people = range_of(self.verifiers)
        rule = (
            f"{people} people each, until one answer was {percent(self.settings.certainty)} probable"
            if self.settings.adaptive
            else f"{people} people each, of whom at least {self.least} had to select the same options"
        )
        imported = counts["items"] - counts["written"]
        rounds = f" ({counts['rounds'] / counts['items']:.1f} rounds on average)" if counts["items"] else ""
        doubt = describe_regions(self.native)
        return (
            f"Authors wrote {counts['written']:,} multiple-choice questions about {len(self.regions):,} regions from "
            f"scenes of their own culture{', with the help of a language model' if counts['drafted'] else ''}"
            f"{self.shown_rounds}{rounds if self.shown_rounds else ''}. "
            + (f"{imported:,} more were imported. " if imported else "")
            + (f"The questions were verified by {rule}; " if verified else "No question was verified; ")
            + "verifiers were to have the nationality of the region and to have lived there before they were 18"
            + (f" ({doubt})" if doubt else "")
            + ". They could select several options, “none of these is correct” and “I don't know”. "
            f"Of {counts['verified']:,} verified questions {counts['accepted']:,} were accepted, "
            f"{counts['single']:,} with one and {counts['multi']:,} with several correct options."
        )


def summarise(settings: TeamingSettings, items: Iterable[CampaignItem]) -> Mapping[str, Any]:
    """Return the paper's figures of some questions."""
    return count_items(Tally(settings), items).summarise()


def popular_answer(item: CampaignItem) -> str | None:
    """Return the answer that more verifiers gave than predicted of others; None without predictions, or for a tie."""
    pairs = []
    for vote in item.votes_at(STAGE):
        mine, others = label(STAGE, vote.answer), label(STAGE, {"answer": vote.answer.get("others") or [UNKNOWN]})
        if mine:
            pairs.append((mine, others or ""))
    return _popular(tuple(sorted(pairs)))


@lru_cache(maxsize=4096)
def _popular(pairs: tuple[tuple[str, str], ...]) -> str | None:
    """Return the same for pairs of answers and predictions; many items of a campaign have the same pairs."""
    if not any(others for _, others in pairs):
        return None
    labels = sorted({name for pair in pairs for name in pair if name})
    found = surprisingly_popular([(mine, {others: 1.0} if others else None) for mine, others in pairs], labels)
    return found.winners[0] if found and len(found.winners) == 1 else None


NATIVE = "All of them have the nationality of the region and lived there before they were 18."
NUMERALS = ("i", "ii", "iii", "iv")
INSTRUCTION = (
    "Read the following statements and select the option that include all the appropriate statements for this question."
)
"""As the published Easy has it."""
EASY, HARD = "CulturalBench-Easy.csv", "CulturalBench-Hard.csv"
EASY_COLUMNS = (
    "data_idx",
    "question_idx",
    "prompt_question",
    *(f"prompt_option_{x}" for x in "abcd"),
    "answer",
    "country",
)
HARD_COLUMNS = ("data_idx", "question_idx", "prompt_question", "prompt_option", "answer", "country")
SAMPLE = 5
RUNNABLES = (
    Runnable("culturalbench:EASY", "easy", ("region", "mode")),
    Runnable("culturalbench:HARD", "hard", ("region", "mode")),
)


def export(settings: TeamingSettings, items: Iterable[CampaignItem]) -> Iterator[ExportFile]:
    """Yield a folder with Easy and Hard that `mores bench` runs, and each item's whole story in `items.jsonl`."""
    numbers: dict[str, int] = {}
    tally = Tally(settings)
    easy: list[Sequence[Any]] = []
    hard: list[Sequence[Any]] = []
    stories = Spool()
    for item in items:
        tally.add(item)
        # what the verifiers agreed on; the author's, where an organiser accepted the item
        correct = list(item.results.get(STAGE, {}).get("answer") or item.content.get("correct", ()))
        number = len(easy) if correct and item.region else None
        story = json.dumps(_story(item, number, correct, numbers), ensure_ascii=False, sort_keys=True)
        stories.write(f"{story}\n".encode())
        if number is None:
            continue
        country = region_name(item.region)
        question, options = item.content["question"], item.content["options"]
        easy.append((number, number, *easy_row(item.id, question, options, correct), country))
        hard += [
            (len(hard) + place, number, question, option, letter in correct, country)
            for place, (letter, option) in enumerate(zip(LETTERS, options, strict=True))
        ]
    table = ExportFile.of_table
    data = dict([table(EASY, EASY_COLUMNS, easy), table(HARD, HARD_COLUMNS, hard)])
    first = hard[: SAMPLE * len(LETTERS)]
    sample = dict([table(EASY, EASY_COLUMNS, easy[:SAMPLE]), table(HARD, HARD_COLUMNS, first)])
    yield from bench_folder(settings, RUNNABLES, data, sample, _about(settings, len(easy), tally))
    yield ExportFile("items.jsonl", stories)


def easy_row(
    identifier: str, question: str, options: Sequence[str], correct: Sequence[str]
) -> tuple[str, str, str, str, str, str]:
    """Return the question, four options and the letter of the correct one."""
    if len(correct) == 1:
        first, second, third, fourth = options
        return question, first, second, third, fourth, correct[0]
    statements = "\n".join(f"({numeral}) {option}" for numeral, option in zip(NUMERALS, options, strict=True))
    target = ", ".join(NUMERALS[LETTERS.index(letter)] for letter in correct)
    sets = [", ".join(chosen) for size in (2, 3, 4) for chosen in combinations(NUMERALS, size)]
    wrong = sorted((name for name in sets if name != target), key=lambda name: draw(0, identifier, name))[:3]
    shown = sorted([target, *wrong], key=lambda name: draw(1, identifier, name))
    first, second, third, fourth = shown
    text = f"{question}\n{INSTRUCTION}\n{statements}"
    return text, first, second, third, fourth, LETTERS[shown.index(target)]


def _story(item: CampaignItem, number: int | None, correct: Sequence[str], numbers: dict[str, int]) -> dict[str, Any]:
    """Return an item with its rounds and votes; people are numbers, in the order in which they first occur."""

    def person(identifier: str | None) -> int | None:
        return None if identifier is None else numbers.setdefault(identifier, len(numbers) + 1)

    rounds = [
        {"version": ask.version, **ask.data, "answer": ask.answer, "failed": bool(ask.failure)}
        for ask in item.asks
        if ask.task == "answer" and not ask.waiting
    ]
    votes = [
        {
            "person": person(vote.person),
            "version": vote.version,
            "answer": vote.answer["answer"],
            "label": label(STAGE, vote.answer),
            **({"others": vote.answer["others"]} if vote.answer.get("others") else {}),
            "seconds": vote.seconds,
        }
        for vote in item.votes
        if vote.stage == STAGE
    ]
    popular = popular_answer(item)
    return {
        "question_idx": number,
        "id": item.id,
        "author": person(item.author),
        "region": item.region,
        "version": item.version,
        "scene": item.content.get("scene", ""),
        "question": item.content.get("question", ""),
        "options": item.content.get("options", []),
        "correct": list(correct),
        "author_correct": item.content.get("correct", []),
        **({"surprisingly_popular": popular} if popular else {}),
        "mode": "multi" if len(correct) > 1 else "single",
        "decided_by": "organiser" if any(passage.organiser for passage in item.path[-1:]) else "verifiers",
        "drafted": any(ask.task == "draft" and ask.answer for ask in item.asks),
        "rounds": rounds,
        "votes": votes,
    }


def _about(settings: TeamingSettings, count: int, tally: Tally) -> str:
    people = range_of(tally.people)
    rule = (
        f"{people} people verified each, until one answer was {settings.certainty:.0%} probable."
        if settings.adaptive
        else f"{people} people verified each; at least {tally.least} gave the same answer."
    )
    imported = tally.counts["items"] - tally.counts["written"]
    brought = f" {imported} of them were imported." if imported else ""
    decided = tally.counts["decided"]
    organiser = f" The answer to {decided} of them is an organiser's, not the verifiers'." if decided else ""
    doubt = describe_regions(tally.given)
    origin = "Verifiers were to have the nationality of the region and to have lived there before they were 18"
    made = f"{count} questions that people wrote about their own culture{tally.shown_rounds}.{brought}"
    return f"""{made} {rule}{organiser}
{f"{origin}: {doubt}." if doubt else NATIVE if tally.given else ""}

`items.jsonl` has each question's scene, its rounds against the model and the votes, `versions.jsonl` every version of
it, also those that were never played; people are numbers. Topics, which were free, can be found afterwards:

    mores topics FOLDER:NAME --model MODEL --out topics
    mores bench FOLDER:NAME --model MODEL --labels topics

## Fidelity

The files have the columns of CulturalBench, and Mores asks and grades them as it does CulturalBench. A question with
several correct options is in Easy a choice among sets of statements ("i, iii"), with the published words; the wrong
sets are drawn at random. The answer is the one that the verifiers agreed on, also where the author meant another,
unless an organiser decided (`decided_by` in `items.jsonl`).
"""
