"""The results of a campaign: published columns, the rates of its reviews beside the paper's, and a paragraph."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mores.formatting import NOTHING, percent
from mores.stats.results import share_result
from mores.studio.campaigns.culturall import forms
from mores.studio.export import Runnable, bench_folder
from mores.studio.kind import ExportFile
from mores.studio.phrase import Phrase, with_missing
from mores.studio.provenance import last_votes, range_of
from mores.studio.records import CampaignItem, Content, ItemStatus

PAPER = {"accept": 0.750, "revise": 0.081, "reject": 0.169}
"""What reviewers decided in the paper (Section 2.4.3)."""
FILE = "annotated_data.jsonl"
ABOUT = """\
{count} questions in real situations, in the columns of CulturALL (Lin et al. 2026). {reviewed}
A model grades the answers (`--judge MODEL`); `--variant english` asks in English, where there is a translation.

## Fidelity

Prompts and judge are those of `mores bench culturall`. There are no tiers: nobody has counted how many settings solve
each question.
"""
REVIEWED = """\
Another person than the author reviewed {each} for region and topic, the requirements of an item, the translation and
sensitive content."""
SOURCES = {
    "experience": "their experience",
    "inspiration": "English versions of others' items",
    "data": "existing data",
    "document": "documents",
}
SAMPLE = 5


def label(stage: str, answer: Content) -> str | None:
    """Return a reviewer's decision, or whether a cross-check found the item in order."""
    if stage == forms.CROSS_CHECK:
        return "meets_criteria" if forms.meets_criteria(answer) else "does_not"
    return str(answer["verdict"]) if stage == "review" else None


def export(settings: forms.CulturallSettings, items: Iterable[CampaignItem]) -> Iterator[ExportFile]:
    """Yield the accepted items in the published columns, one line each, as a benchmark that runs."""
    items = list(items)
    lines = [f"{json.dumps(row(item), ensure_ascii=False)}\n".encode() for item in items]
    reviewed = sum(bool(last_votes(item, "review")) for item in items)
    each = "each" if reviewed == len(items) else f"{reviewed} of them"
    yield from bench_folder(
        settings,
        [Runnable("culturall:CULTURALL", groupings=("topic", "language", "region"))],
        {FILE: b"".join(lines)},
        {FILE: b"".join(lines[:SAMPLE])},
        ABOUT.format(count=len(lines), reviewed=REVIEWED.format(each=each)),
    )


def row(item: CampaignItem) -> dict[str, str]:
    """Return one item in the published columns; a translation that is not there is empty, and English is its own."""
    final = forms.present(item)
    source = forms.PARTS if forms.is_english(item) else forms.ENGLISH
    english = {name: final[field] for name, field in zip(forms.ENGLISH, source, strict=True)}
    return {
        "language": item.language,
        "region": final["region"].lower(),
        "topic": final["topic"],
        **{name: final[name] for name in forms.PARTS},
        **english,
    }


class ReviewRate(NamedTuple):
    """A share of a count, with its 95% interval."""

    part: int
    total: int
    missing: int = 0
    """How many more there are that could not be decided."""

    @property
    def share(self) -> float | None:
        return self.part / self.total if self.total else None

    @property
    def phrase(self) -> str:
        """The share with its counts and interval, in words."""
        if not self.total:
            return NOTHING
        result = share_result("share", *self)
        shown = {"share": percent(result.value), "low": percent(result.low), "high": percent(result.high)}
        template = "{share} ({part} of {total}; 95% interval {low} to {high})"
        return with_missing(Phrase(template, part=self.part, total=self.total, **shown), result)


def review_rates(items: Iterable[CampaignItem]) -> dict[str, ReviewRate]:
    """Return how often reviewers accepted, revised and rejected."""
    decided = Counter(vote.answer["verdict"] for item in items for vote in item.votes if vote.stage == "review")
    return {verdict: ReviewRate(decided[verdict], sum(decided.values())) for verdict in forms.VERDICTS}


def cross_checked(items: Iterable[CampaignItem]) -> ReviewRate:
    """Return how many of the cross-checked items meet all criteria."""
    answers = [vote.answer for item in items for vote in item.votes if vote.stage == forms.CROSS_CHECK]
    return ReviewRate(sum(map(forms.meets_criteria, answers)), len(answers))


def challenging(items: Iterable[CampaignItem]) -> ReviewRate:
    """Return how many of the measured items are challenging, as they were measured last."""
    every = list(items)
    measured = [result for item in every if (result := item.results.get("measure", {})).get("measured")]
    return ReviewRate(sum(result["challenging"] for result in measured), len(measured), sum(map(_unmeasured, every)))


def _unmeasured(item: CampaignItem) -> bool:
    """Return whether an item could not be measured, or waits for models that failed."""
    if result := item.results.get("measure"):
        return not result["measured"]
    return item.stage == "measure" and bool(item.failed)


def summarise(_settings: forms.CulturallSettings, items: Sequence[CampaignItem]) -> Mapping[str, Any]:
    """Return the rates of reviews beside the paper's, and how hard the items are."""
    rates = review_rates(items)
    names = {"accept": "Accepted by reviewers", "revise": "Revised by reviewers", "reject": "Rejected by reviewers"}
    reviews = {
        names[verdict]: Phrase("{rate} · paper: {paper}", rate=rate.phrase, paper=percent(PAPER[verdict]))
        for verdict, rate in rates.items()
    }
    topics = Counter(forms.present(item)["topic"] for item in _accepted(items))
    counted = (Phrase("{topic} {count}", topic=Phrase(topic), count=count) for topic, count in sorted(topics.items()))
    return {
        "Items": len(items),
        **reviews,
        "Meet all criteria, of the cross-checked": Phrase(
            "{rate} · paper: {paper}", rate=cross_checked(items).phrase, paper=percent(1.0)
        ),
        "Challenging, of the measured": challenging(items).phrase,
        "Easy and left as they are": sum(bool(item.results.get("elevate", {}).get("left")) for item in items),
        "Not measured": challenging(items).missing,
        "Accepted, by topic": Phrase.join(counted) or NOTHING,
    }


def _accepted(items: Iterable[CampaignItem]) -> list[CampaignItem]:
    return [item for item in items if item.status is ItemStatus.ACCEPTED]


def describe(settings: forms.CulturallSettings, items: Iterable[CampaignItem]) -> str:
    """Return a paragraph for the Method section of a paper."""
    every = list(items)
    accepted, rates, hard = _accepted(every), review_rates(every), challenging(every)
    languages = {item.language for item in accepted}
    regions = {forms.present(item)["region"] for item in accepted}
    decided = ", ".join(f"{percent(rate.share)} {verdict}" for verdict, rate in rates.items())
    measured = dict.fromkeys(ask.model for item in every for ask in item.asks if ask.task == "answer")
    answers = range_of(
        result["models"] for item in every if (result := item.results.get("measure", {})).get("measured")
    )
    difficulty = (
        f"Difficulty was measured with {', '.join(measured)}: an item is challenging when at most "
        f"{settings.most_correct} of {answers} models answer it correctly; authors made easy items harder "
        f"where they could, and {percent(hard.share)} of {hard.total:,} measured items are challenging"
        f"{f'; {hard.missing:,} more could not be measured' if hard.missing else ''}. "
        if hard.total
        else "Difficulty was not measured. "
    )
    checked = cross_checked(every)
    again = (
        f" Of the accepted items, {checked.total:,} were drawn at random and cross-checked by another person; "
        f"{percent(checked.share)} met all criteria."
        if checked.total
        else ""
    )
    used = Counter(item.content.get("source") for item in every if item.author)
    origins = [f"{text} ({used[name]:,})" for name, text in SOURCES.items() if used[name]]
    imported = sum(item.author is None for item in every)
    wrote = [f"authors wrote {len(every) - imported:,} grounded items on {len(settings.topics)} topics"]
    wrote += [f"from {', '.join(origins)}"] if origins else []
    brought = f"{imported:,} more were imported. " if imported else ""
    reviewed = sum(bool(last_votes(item, "review")) for item in accepted)
    each = "Each accepted item" if reviewed == len(accepted) else f"{reviewed:,} of {len(accepted):,} accepted items"
    return (
        f"Following CulturALL (Lin et al. 2026), {' '.join(wrote)}. {brought}{difficulty}"
        f"{each} was reviewed by another person for region and topic, requirements, translation and sensitive "
        f"content ({decided}; {rates['accept'].total:,} reviews). The result has {len(accepted):,} items in "
        f"{len(languages)} languages from {len(regions)} regions.{again}"
    )
