"""The results of a campaign: published columns, the rates of its reviews beside the paper's, and a paragraph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mores.formatting import NOTHING, percent
from mores.stats.results import share_result
from mores.studio.campaigns.culturall import forms
from mores.studio.export import Runnable, bench_folder, spool_rows
from mores.studio.files import ExportFile
from mores.studio.kind import count_items
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


def label(stage: str, answer: Content) -> str | None:
    """Return a reviewer's decision, or whether a cross-check found the item in order."""
    if stage == forms.CROSS_CHECK:
        return "meets_criteria" if forms.meets_criteria(answer) else "does_not"
    return str(answer["verdict"]) if stage == "review" else None


def export(settings: forms.CulturallSettings, items: Iterable[CampaignItem]) -> Iterator[ExportFile]:
    """Yield the accepted items in the published columns, one line each, as a benchmark that runs."""
    tally = CulturallTally(settings)

    def rows() -> Iterator[Mapping[str, str]]:
        for item in items:
            tally.add(item)
            yield row(item)

    lines, first = spool_rows(rows())
    each = "each" if tally.reviewed == tally.accepted else f"{tally.reviewed} of them"
    yield from bench_folder(
        settings,
        [Runnable("culturall:CULTURALL", groupings=("topic", "language", "region"))],
        {FILE: lines},
        {FILE: first},
        ABOUT.format(count=tally.items, reviewed=REVIEWED.format(each=each)),
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


@dataclass
class CulturallTally:
    """Everything that figures and texts count, from one pass over the items."""

    settings: forms.CulturallSettings
    items: int = 0
    imported: int = 0
    accepted: int = 0
    reviewed: int = 0
    """Accepted items that another person reviewed."""
    left: int = 0
    """Easy items that stay as they are."""
    topics: Counter[str] = field(default_factory=Counter)
    """Of accepted items, as are the next."""
    languages: set[str] = field(default_factory=set)
    regions: set[str] = field(default_factory=set)
    verdicts: Counter[str] = field(default_factory=Counter)
    """What reviewers decided."""
    cross_checks: Counter[bool] = field(default_factory=Counter)
    """Whether an item that was cross-checked meets all criteria."""
    measured: Counter[bool | None] = field(default_factory=Counter)
    """Whether an item is challenging, as it was measured last; None where that failed."""
    models: dict[str, None] = field(default_factory=dict)
    """Those that were asked for an answer, as they first were."""
    answers: set[int] = field(default_factory=set)
    """How many of them answered an item that was measured."""
    sources: Counter[str] = field(default_factory=Counter)
    """What authors had their items from."""

    def add(self, item: CampaignItem) -> None:
        """Count an item."""
        self.items += 1
        self.imported += item.author is None
        self.left += bool(item.results.get("elevate", {}).get("left"))
        if item.author:
            self.sources[item.content.get("source", "")] += 1
        if item.status is ItemStatus.ACCEPTED:
            present = forms.present(item)
            self.accepted += 1
            self.reviewed += bool(last_votes(item, "review"))
            self.topics[present["topic"]] += 1
            self.languages.add(item.language)
            self.regions.add(present["region"])
        for vote in item.votes:
            if vote.stage == "review":
                self.verdicts[vote.answer["verdict"]] += 1
            elif vote.stage == forms.CROSS_CHECK:
                self.cross_checks[forms.meets_criteria(vote.answer)] += 1
        result = item.results.get("measure", {})
        if result.get("measured"):
            self.measured[bool(result["challenging"])] += 1
            self.answers |= {result["models"]} if "models" in result else set()
        elif result or (item.stage == "measure" and item.failed):  # or it waits for models that failed
            self.measured[None] += 1
        self.models |= dict.fromkeys(ask.model for ask in item.asks if ask.task == "answer")

    @property
    def reviews(self) -> dict[str, ReviewRate]:
        """The shares of reviews that accepted, revised and rejected."""
        return {verdict: ReviewRate(self.verdicts[verdict], self.verdicts.total()) for verdict in forms.VERDICTS}

    @property
    def checked(self) -> ReviewRate:
        """The share of the cross-checked items that meet all criteria."""
        return ReviewRate(self.cross_checks[True], self.cross_checks.total())

    @property
    def challenging(self) -> ReviewRate:
        """The share of the measured items that are challenging."""
        hard, easy = self.measured[True], self.measured[False]
        return ReviewRate(hard, hard + easy, self.measured[None])

    def summarise(self) -> Mapping[str, Any]:
        """Return the rates of reviews beside the paper's, and how hard the items are."""
        names = {"accept": "Accepted by reviewers", "revise": "Revised by reviewers", "reject": "Rejected by reviewers"}
        reviews = {
            names[verdict]: Phrase("{rate} · paper: {paper}", rate=rate.phrase, paper=percent(PAPER[verdict]))
            for verdict, rate in self.reviews.items()
        }
        topics = sorted(self.topics.items())
        counted = (Phrase("{topic} {count}", topic=Phrase(topic), count=count) for topic, count in topics)
        return {
            "Items": self.items,
            **reviews,
            "Meet all criteria, of the cross-checked": Phrase(
                "{rate} · paper: {paper}", rate=self.checked.phrase, paper=percent(1.0)
            ),
            "Challenging, of the measured": self.challenging.phrase,
            "Easy and left as they are": self.left,
            "Not measured": self.challenging.missing,
            "Accepted, by topic": Phrase.join(counted) or NOTHING,
        }

    def method(self) -> str:
        """Return a paragraph for the Method section of a paper."""
        rates, hard, checked = self.reviews, self.challenging, self.checked
        decided = ", ".join(f"{percent(rate.share)} {verdict}" for verdict, rate in rates.items())
        difficulty = (
            f"Difficulty was measured with {', '.join(self.models)}: an item is challenging when at most "
            f"{self.settings.most_correct} of {range_of(self.answers)} models answer it correctly; authors made easy "
            f"items harder where they could, and {percent(hard.share)} of {hard.total:,} measured items are challenging"
            f"{f'; {hard.missing:,} more could not be measured' if hard.missing else ''}. "
            if hard.total
            else "Difficulty was not measured. "
        )
        again = (
            f" Of the accepted items, {checked.total:,} were drawn at random and cross-checked by another person; "
            f"{percent(checked.share)} met all criteria."
            if checked.total
            else ""
        )
        origins = [f"{text} ({self.sources[name]:,})" for name, text in SOURCES.items() if self.sources[name]]
        written, topics = self.items - self.imported, len(self.settings.topics)
        wrote = [f"authors wrote {written:,} grounded items on {topics} topics"]
        wrote += [f"from {', '.join(origins)}"] if origins else []
        brought = f"{self.imported:,} more were imported. " if self.imported else ""
        each = "Each accepted item"
        if self.reviewed < self.accepted:
            each = f"{self.reviewed:,} of {self.accepted:,} accepted items"
        return (
            f"Following CulturALL (Lin et al. 2026), {' '.join(wrote)}. {brought}{difficulty}"
            f"{each} was reviewed by another person for region and topic, requirements, translation and sensitive "
            f"content ({decided}; {rates['accept'].total:,} reviews). The result has {self.accepted:,} items in "
            f"{len(self.languages)} languages from {len(self.regions)} regions.{again}"
        )


def summarise(settings: forms.CulturallSettings, items: Iterable[CampaignItem]) -> Mapping[str, Any]:
    """Return the figures of some items."""
    return count_items(CulturallTally(settings), items).summarise()
