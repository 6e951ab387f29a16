"""What a campaign gives: the published columns, the rates of its reviews beside the paper's, and a paragraph."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mores.show import percent
from mores.stats.intervals import share_interval
from mores.studio.campaigns.culturall.forms import ENGLISH, PARTS, VERDICTS, present
from mores.studio.campaigns.culturall.settings import CulturallSettings
from mores.studio.export import Runnable, bench_folder
from mores.studio.kind import ExportFile
from mores.studio.records import Content, Item, Status

PAPER = {"accept": 0.750, "revise": 0.081, "reject": 0.169}
"""What reviewers decided in the paper (Section 2.4.3)."""
FILE = "annotated_data.jsonl"
ABOUT = """\
{count} questions in real situations, in the columns of CulturALL (Lin et al. 2026). Another person than the author
reviewed each for region and topic, the requirements of an item, the translation and sensitive content. A model grades
the answers (`--judge MODEL`); `--variant english` asks in English, where there is a translation.

## Fidelity

Prompts and judge are those of `mores bench culturall`. There are no tiers: nobody has counted how many settings solve
each question.
"""
SAMPLE = 5


def label(stage: str, answer: Content) -> str | None:
    """A reviewer's decision."""
    return str(answer["verdict"]) if stage == "review" else None


def export(settings: CulturallSettings, items: Iterable[Item]) -> Iterator[ExportFile]:
    """The accepted items in the published columns, one line each, as a benchmark that runs."""
    lines = [f"{json.dumps(row(item), ensure_ascii=False)}\n".encode() for item in items]
    yield from bench_folder(
        settings,
        [Runnable("culturall:CULTURALL", groupings=("topic", "language", "region"))],
        {FILE: b"".join(lines)},
        {FILE: b"".join(lines[:SAMPLE])},
        ABOUT.format(count=len(lines)),
    )


def row(item: Item) -> dict[str, str]:
    """One item in the published columns; a translation that is not there is empty."""
    final = present(item)
    english = {name: final.get(name, "") for name in ENGLISH}
    return {
        "language": item.language,
        "region": final["region"].lower(),
        "topic": final["topic"],
        **{name: final[name] for name in PARTS},
        **english,
    }


def verdicts(items: Iterable[Item]) -> Counter[str]:
    """How often reviewers decided what, about the version that they had."""
    return Counter(vote.answer["verdict"] for item in items for vote in item.votes if vote.stage == "review")


def summarise(_settings: CulturallSettings, items: Sequence[Item]) -> Mapping[str, Any]:
    """The rates of reviews beside the paper's, and how hard the items are."""
    decided = verdicts(items)
    reviews = sum(decided.values())
    measured = [item.results["measure"] for item in items if item.results.get("measure", {}).get("measured")]
    hard = sum(result["challenging"] for result in measured)
    left = sum(bool(item.results.get("elevate", {}).get("left")) for item in items)
    skipped = sum(item.results.get("measure", {}).get("measured") is False for item in items)
    return {
        "reviews": reviews,
        "rates": [
            {"verdict": verdict, **_share(decided[verdict], reviews), "paper": PAPER[verdict]} for verdict in VERDICTS
        ],
        "measured": len(measured),
        "challenging": _share(hard, len(measured)),
        "left easy": left,
        "not measured": skipped,
        "topics": dict(sorted(Counter(present(item)["topic"] for item in _accepted(items)).items())),
    }


def _share(count: int, total: int) -> dict[str, Any]:
    low, high = share_interval(count, total)
    return {"count": count, "share": count / total if total else None, "low": low, "high": high}


def _accepted(items: Iterable[Item]) -> list[Item]:
    return [item for item in items if item.status is Status.ACCEPTED]


def describe(settings: CulturallSettings, items: Iterable[Item]) -> str:
    """A paragraph for the Method section of a paper."""
    kept = list(items)
    figures = summarise(settings, kept)
    accepted = _accepted(kept)
    languages = {item.language for item in accepted}
    regions = {present(item)["region"] for item in accepted}
    rates = ", ".join(f"{percent(rate['share'])} {rate['verdict']}" for rate in figures["rates"])
    hard = figures["challenging"]
    difficulty = (
        f"Difficulty was measured with {', '.join(settings.models)}: an item is challenging when at most "
        f"{settings.most_correct} of {len(settings.models)} models answer it correctly; authors made easy items harder "
        f"where they could, and {percent(hard['share'])} of {figures['measured']} measured items are challenging. "
        if figures["measured"]
        else "Difficulty was not measured. "
    )
    return (
        f"Following CulturALL (Lin et al. 2026), authors wrote grounded items on {len(settings.topics)} topics from "
        f"their experience, from English versions of others' items, and from data and documents. {difficulty}"
        f"Each item was reviewed by another person for region and topic, requirements, translation and sensitive "
        f"content ({rates}; {figures['reviews']} reviews). The result has {len(accepted)} items in {len(languages)} "
        f"languages from {len(regions)} regions."
    )
