"""Five-way verification: when enough verifiers give the same answer (CulturalBench, Method, "Quality verification").

An answer is a set of options. It is accepted when at least 4 of 5 verifiers give the same set: single mode with one
option, multi mode with several. "None is correct" and "I don't know" are answers too, and never accepted.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
from pydantic import model_validator

from mores.stats.annotators.redundancy import Redundancy, decide
from mores.stats.annotators.redundancy import VoteDecision as Certainty
from mores.stats.classification import Floats
from mores.studio.campaigns.culturalteaming.forms import LETTERS, NONE, UNKNOWN
from mores.studio.form import FormError
from mores.studio.kind import DETAILS, CampaignSettings, asked
from mores.studio.phrase import Phrase
from mores.studio.records import CampaignItem, Content, ItemVote
from mores.studio.workflow import StageDecision

STAGE = "verify"
TYPICAL = 0.8
"""How often the answer of someone is correct of whom nothing is known yet."""


class TeamingSettings(CampaignSettings):
    """The settings of a CulturalTeaming campaign."""

    languages: tuple[str, ...] = asked(("en",), title="Languages", step=1)
    """What questions are written in; the published schema is English."""
    verifiers: int = asked(5, title="People who verify each question", step=2, ge=1, le=25)
    """How many people verify a question."""
    agreeing: int = asked(4, title="People who must agree", step=3, ge=1, le=25)
    """How many of them must give the same set of answers."""
    early: bool = asked(False, title="Stop as soon as it is certain", step=3, group=DETAILS)
    """Stop as soon as the outcome is certain; the paper collects all five answers."""
    returns: bool = asked(False, title="A second chance for the author", step=3)
    """Send a question that fails back to its author once, instead of rejecting it."""
    ask_others: bool = asked(False, title="Ask what others would say", step=3, group=DETAILS)
    """Ask also what others from the region would say, for surprisingly popular answers."""
    adaptive: bool = asked(False, title="As many people as needed", step=3, group=DETAILS)
    """Ask as many people as a question needs, instead of the same number for each."""
    least: int = asked(3, title="Fewest people", step=3, group=DETAILS, ge=1, le=25)
    """How many people are asked at least, where it depends on the question."""
    most: int = asked(9, title="Most people", step=3, group=DETAILS, ge=1, le=50)
    """How many people are asked at most, where it depends on the question."""
    certainty: float = asked(0.95, title="Certainty that is enough", step=3, group=DETAILS, gt=0.5, lt=1)
    """How probable an answer must be, given who gave it, for no more people to be asked."""

    @model_validator(mode="after")
    def _fit(self) -> TeamingSettings:
        if self.agreeing > self.verifiers:
            template = "agreeing is {count}, more than the {verifiers} verifiers; lower it"
            raise ValueError(Phrase(template, count=self.agreeing, verifiers=self.verifiers))
        if self.least > self.most:
            template = "least is {least}, more than most, {most}; lower it"
            raise ValueError(Phrase(template, least=self.least, most=self.most))
        return self


def label(stage: str, answer: Content) -> str | None:
    """Return the set of options that a verifier chose as one label, such as `AC`; None for "I don't know"."""
    chosen = answer.get("answer", ())
    if stage != STAGE or UNKNOWN in chosen:
        return None
    return NONE if NONE in chosen else "".join(sorted(chosen))


def tally(item: CampaignItem, version: int | None = None) -> Counter[str]:
    """Return how many verifiers gave each answer to a version of an item, the present one unless it is named."""
    wanted = item.version if version is None else version
    votes = (vote for vote in item.votes if vote.stage == STAGE and vote.version == wanted)
    return Counter(label(STAGE, vote.answer) or UNKNOWN for vote in votes)


def people(settings: TeamingSettings, item: CampaignItem) -> int:
    """Return how many answers an item needs, given those so far."""
    if not settings.adaptive:
        return settings.verifiers
    votes = item.votes_at(STAGE)
    return len(votes) + 1 if certainty(settings, votes).ask else len(votes)


def verified(settings: TeamingSettings, item: CampaignItem) -> StageDecision | None:
    """Return what the verifiers' answers decide; None while more are needed."""
    votes, counts = item.votes_at(STAGE), tally(item)
    options = {name: count for name, count in counts.items() if name not in (NONE, UNKNOWN)}
    best = min(options, key=lambda name: (-options[name], name), default="")
    result: dict[str, Any] = {
        "votes": len(votes),
        "agreeing": options.get(best, 0),
        "counts": dict(sorted(counts.items())),
    }
    if settings.adaptive:
        certain = certainty(settings, votes)
        if certain.ask:
            return None
        best = str(certain.label)
        accepted = best != NONE and certain.reason == "enough"
        result |= {"agreeing": counts[best], "probability": round(certain.probability, 4)}
        template = "{count} of {people} people gave the most frequent answer; that is not certain enough."
        note = Phrase(template, count=counts[best], people=len(votes))
    else:
        left = settings.verifiers - len(votes)
        count = options.get(best, 0)
        accepted = count >= settings.agreeing
        if left > 0 and not (settings.early and (accepted or count + left < settings.agreeing)):
            return None
        template = "{count} of {people} people gave the same answer; {needed} must."
        note = Phrase(template, count=count, people=len(votes), needed=settings.agreeing)
    if accepted:
        return StageDecision(
            "next", result=result | {"answer": list(best), "mode": "single" if len(best) == 1 else "multi"}
        )
    if settings.returns and item.returns == 0:
        return StageDecision("back", note, result, to="duel")
    return StageDecision("rejected", note, result)


class _OneCoin:
    """The knowledge about verifiers, as `stats.annotators` takes it: how often each is correct.

    A wrong answer is any of the others with the same probability (the one-coin model of Dawid and Skene).
    """

    def __init__(self, votes: list[ItemVote]) -> None:
        several = {name for vote in votes if (name := label(STAGE, vote.answer)) and name not in (*LETTERS, NONE)}
        self.labels = (*LETTERS, NONE, *sorted(several))
        self.prevalence: Floats = np.full(len(self.labels), 1 / len(self.labels))
        self.skills = {vote.person: vote.skill for vote in votes if vote.skill is not None}

    def skill(self, annotator: str | int | None, item: str | int | None = None) -> Floats:  # noqa: ARG002 - the protocol's
        count = len(self.labels)
        share = min(max(self.skills.get(str(annotator), TYPICAL), 1 / count), 0.99)
        matrix: Floats = np.full((count, count), (1 - share) / (count - 1))
        np.fill_diagonal(matrix, share)
        return matrix


def certainty(settings: TeamingSettings, votes: list[ItemVote]) -> Certainty:
    """Return how probable each answer is by now, and whether to ask one more; who does not know tells nothing."""
    told = [(vote.person, name) for vote in votes if (name := label(STAGE, vote.answer))]
    found = decide(_OneCoin(votes), told, Redundancy(settings.least, settings.most, settings.certainty))
    return replace(found, ask=False, reason="most votes") if found.ask and len(votes) >= settings.most else found


def adjudged(item: CampaignItem, answer: Content) -> Content:
    """Return what the organiser decides in place of the verifiers: the correct options."""
    chosen = [letter for letter in answer["answer"] if letter not in (NONE, UNKNOWN)]
    if not chosen:
        raise FormError({"answer": "Choose the correct options, or reject the item."})
    mode = "single" if len(chosen) == 1 else "multi"
    counts = tally(item)
    result = {
        "votes": counts.total(),
        "agreeing": counts["".join(sorted(chosen))],
        "counts": dict(sorted(counts.items())),
    }
    return result | {"answer": sorted(chosen), "mode": mode, "adjudicated": True}
