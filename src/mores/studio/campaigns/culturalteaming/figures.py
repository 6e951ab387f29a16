"""Figures of a CulturalTeaming campaign for its organiser, and the paragraph for the Method section of a paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from statistics import fmean
from typing import Any

from mores.formatting import percent
from mores.stats.annotators.popular import surprisingly_popular
from mores.studio.campaigns.culturalteaming.forms import UNKNOWN
from mores.studio.campaigns.culturalteaming.rule import STAGE, TeamingSettings, label
from mores.studio.phrase import Phrase, phrase_share
from mores.studio.records import CampaignItem, ItemStatus

PAPER = Phrase("1,696 of over 3,000 verified questions were accepted; 1,554 single, 142 multi mode")


def summarise(settings: TeamingSettings, items: Sequence[CampaignItem]) -> Mapping[str, Any]:
    """Return the paper's figures: how many questions were written, verified, accepted; votes; how the AI did."""
    verified = [item for item in items if STAGE in item.results and item.votes]
    accepted = [item for item in items if item.status is ItemStatus.ACCEPTED]
    modes = [len(item.results.get(STAGE, {}).get("answer", ())) for item in accepted]
    played = [ask for item in items for ask in item.asks if ask.task == "answer" and ask.answer]
    last = [asks[-1] for item in items if (asks := [ask for ask in item.asks if ask.task == "answer" and ask.answer])]
    votes = [vote for item in items for vote in item.votes if vote.stage == STAGE]
    differ = [
        item
        for item in accepted
        if item.author is not None
        and (agreed := item.results.get(STAGE, {}).get("answer"))
        and sorted(item.content.get("correct", ())) != sorted(agreed)
    ]
    figures: dict[str, Any] = {
        "Questions": len(items),
        "Verified": len(verified),
        "Accepted": len(accepted),
        "Accepted, of the verified": phrase_share(
            sum(item.status is ItemStatus.ACCEPTED for item in verified), len(verified)
        ),
        "Single mode": sum(mode == 1 for mode in modes),
        "Multi mode": sum(mode > 1 for mode in modes),
        "Votes": len(votes),
        "“I don't know”, of the votes": phrase_share(
            sum(UNKNOWN in vote.answer["answer"] for vote in votes), len(votes)
        ),
        "Accepted with another answer than the author's": len(differ),
        "Rounds against the AI": len(played),
        "AI beaten, of the last rounds": phrase_share(
            sum(ask.answer["beaten"] for ask in last if ask.answer), len(last)
        ),
        "CulturalBench": PAPER,
    }
    if settings.ask_others:
        figures["Another answer is surprisingly popular"] = sum(
            popular not in ("", "".join(item.results.get(STAGE, {}).get("answer", ())))
            for item in verified
            if (popular := popular_answer(item)) is not None
        )
    return figures


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


def method(settings: TeamingSettings, items: Iterable[CampaignItem]) -> str:
    """Return what the Method section of a paper says about the campaign."""
    every = list(items)
    figures = summarise(settings, every)
    regions = len({item.region for item in every if item.region})
    rounds = [sum(ask.task == "answer" for ask in item.asks) for item in every]
    rule = (
        f"between {settings.least} and {settings.most} people each, until one answer was "
        f"{percent(settings.certainty)} probable"
        if settings.adaptive
        else f"{settings.verifiers} people each, of whom at least {settings.agreeing} had to select the same options"
    )
    return (
        f"Authors wrote {figures['Questions']:,} multiple-choice questions about {regions:,} regions from scenes of "
        f"their own culture, with the help of a language model, and played them against a model "
        f"({fmean(rounds) if rounds else 0:.1f} rounds on average). The questions were verified by {rule}; verifiers "
        f"had the nationality of the region and lived there before they were 18. They could select several options, "
        f"“none of these is correct” and “I don't know”. Of {figures['Verified']:,} verified questions "
        f"{figures['Accepted']:,} were accepted, {figures['Single mode']:,} with one and {figures['Multi mode']:,} "
        f"with several correct options."
    )
