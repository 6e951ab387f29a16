"""The accepted items in the published schema (Appendix C, Data schema), and the campaign's own figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mores.culture import language_name
from mores.formatting import NOTHING, count, percent
from mores.studio.campaigns.msqa.checks import TRANSLATE, State, all_checks
from mores.studio.campaigns.msqa.forms import CATEGORIES, DIMENSIONS, TIERS, MsqaSettings
from mores.studio.export import Runnable, bench_folder, spool_rows
from mores.studio.files import ExportFile
from mores.studio.phrase import Phrase
from mores.studio.provenance import last_votes, matches_language, range_of
from mores.studio.records import CampaignItem, Content, ItemStatus

FILE = "msqa.jsonl"
GROUPINGS = ("language", "topic", "culture", "region", "tier")
"""What results can be broken down by."""
NOT_MEASURED = "not measured"
CHECKS = ("Evidence", "One clear answer", "Difficulty")
"""What models check, in their order."""
FOLDER = Path(__file__).parent


def export(settings: MsqaSettings, items: Iterable[CampaignItem]) -> Iterator[ExportFile]:
    """Yield a folder that `mores bench` runs, with one row for each accepted item."""
    making, broken_down = Making(), {"language", "topic", "culture"}
    languages: set[str] = set()

    def rows() -> Iterator[Content]:
        for item in items:
            values = row(item)
            making.add(item)
            broken_down.update(name for name in ("region", "tier") if values[name])
            languages.update({language_name(values["language"])} if values["language"] else ())
            yield values

    lines, first = spool_rows(rows())
    benchmark = Runnable("msqa:MSQA", groupings=tuple(name for name in GROUPINGS if name in broken_down))
    about = (FOLDER / "export.md").read_text("utf-8")
    about = about.format(count=making.items, languages=", ".join(sorted(languages)) or "none", made=making.tell())
    yield from bench_folder(settings, [benchmark], {FILE: lines}, {FILE: first}, about)


def row(item: CampaignItem) -> Content:
    """Return an item in the published schema; `language`, `region`, `tier` and what else Mores reads come with it."""
    content = item.content
    dimension, part = CATEGORIES[content["category"]]
    answers = [ask.answer for ask in item.asks_of(TRANSLATE) if ask.answer]
    translated = content if content.get("question_zh") or not answers else answers[-1]
    return {
        "prompt_id": item.id,
        "language": item.language,
        "region": item.region,
        "culture_circle": content["culture"],
        "category": dimension,
        "sub_category": part,
        "tier": item.results.get("inspect", {}).get("tier")
        or item.results.get("check", {}).get("difficulty", {}).get("tier", ""),
        "prompt": content["question"],
        "answer": content["answer"],
        "question_zh": translated.get("question_zh", ""),
        "answer_zh": translated.get("answer_zh", ""),
        "source_url": content["source_url"],
        "source_url_desc": content["source_desc"],
        "source_kind": content["source_kind"],
        "additional_sources": item.results.get("inspect", {}).get("sources", []),
    }


PAPER = {"HCM": 261, "BVKS": 189, "SNC": 186, "LECA": 220, "CPS": 208}
"""The paper's questions by dimension (Section 3.3)."""


def summarise(settings: MsqaSettings, items: Iterable[CampaignItem]) -> Mapping[str, Any]:
    """Return what was accepted and returned and why, how hard the accepted questions are, and what they are about."""
    counts, tiers, dimensions = Counter[str](), Counter[str](), Counter[str]()
    states = {title: Counter[str]() for title in CHECKS}
    for item in items:
        counts["items"] += 1
        counts["returned"] += item.returns > 0
        if item.status is ItemStatus.ACCEPTED:
            tiers[row(item)["tier"] or NOT_MEASURED] += 1
            dimensions[item.content["category"].rstrip("0123456789")] += 1
        for version in {ask.version for ask in item.asks if ask.stage == "check"}:
            counts["versions"] += 1
            checks = all_checks(settings, item.model_copy(update={"version": version}))
            for check, counted in zip(checks, states.values(), strict=True):
                counted[check.state.value] += 1
    accepted = tiers.total()
    figures: dict[str, Any] = {
        "Questions": counts["items"],
        "Accepted": accepted,
        "Returned at least once": counts["returned"],
        "Versions that models checked": counts["versions"],
        **{title: _counts(counted, [state.value for state in State]) for title, counted in states.items()},
        "Tiers of the accepted": _counts(tiers, (*TIERS, NOT_MEASURED)),
    }
    for code, (dimension, _) in DIMENSIONS.items():
        ours = percent(dimensions[code] / accepted) if accepted else NOTHING
        paper = percent(PAPER[code] / sum(PAPER.values()))
        figures[dimension] = Phrase(
            "{count} ({share}; the paper {paper})", count=dimensions[code], share=ours, paper=paper
        )
    return figures


def _counts(counted: Counter[str], names: Iterable[str]) -> str:
    """Return how often each name was counted, in their order."""
    shown = [(name, counted[name]) for name in names if counted[name]]
    return Phrase.join(Phrase("{name}: {count}", name=Phrase(name), count=count) for name, count in shown) or NOTHING


def method(settings: MsqaSettings, items: Iterable[CampaignItem]) -> str:
    """Return a paragraph for the Method section of a paper."""
    making, every, returned, states = Making(), 0, 0, Counter[str]()
    languages: set[str] = set()
    for item in items:
        every += 1
        returned += item.returns > 0
        if item.status is ItemStatus.ACCEPTED:
            making.add(item)
            languages |= {language_name(item.language)} if item.language else set()
            checked = item.results.get("check", {}).items()
            states.update(f"{name}: {result.get('state', '')}" for name, result in checked)
    checks = ", ".join(f"{name} ({count})" for name, count in sorted(states.items())) or "none recorded"
    named = f" ({', '.join(sorted(languages))})" if languages else ""
    counted = "one model" if settings.counted == "model" else "all models together"
    models, runs = count(len(settings.models), "model"), count(settings.runs, "run")
    return (
        f"Of {count(every, 'question')}, {making.items} were accepted, in {count(len(languages), 'language')}"
        f"{named}, following the construction of MSQA. Authors confirmed five design principles. Models were to check "
        "the evidence, that there is one clear answer, and the difficulty "
        f"({models} with {runs} each; too easy with more than {settings.most_correct} "
        f"correct runs of {counted}); the states of these checks for the accepted questions were: {checks}. "
        f"{making.tell()} {count(returned, 'question')} came back to the author at least once."
    )


@dataclass
class Making:
    """The people who wrote, inspected, validated and accepted questions, as their events show it, from one pass."""

    items: int = 0
    written: int = 0
    native: int = 0
    """Questions whose author spoke their language natively."""
    accepted: int = 0
    """Questions that the project lead accepted."""
    sources: Counter[int] = field(default_factory=Counter)
    """Questions that an expert inspected, by how many sources were added."""
    votes: Counter[int] = field(default_factory=Counter)
    """Questions that native speakers validated, by how many."""

    def add(self, item: CampaignItem) -> None:
        """Count a question."""
        self.items += 1
        self.written += bool(item.author)
        self.native += bool(item.author and matches_language(item, item.standing))
        self.accepted += bool(item.path and item.path[-1].stage == "accept")
        if last_votes(item, "inspect"):
            self.sources[len(item.results.get("inspect", {}).get("sources", ()))] += 1
        if votes := last_votes(item, "validate"):
            self.votes[len(votes)] += 1

    def tell(self) -> str:
        """Return it in words."""
        if not self.items:
            return "No question is accepted yet."

        def share(part: int) -> str:
            return "each" if part == self.items else f"{part} of {self.items}"

        sentences = [
            f"A person wrote {share(self.written)} from a source that they named, {self.native} of them in a language "
            "that they speak natively."
            if self.written
            else "All were imported."
        ]
        if self.sources:
            several = f"and added {range_of(self.sources)} further sources"
            added = several if any(self.sources) else "without adding a source"
            sentences.append(f"An expert inspected {share(self.sources.total())} {added}.")
        if self.votes:
            people = range_of(self.votes)
            sentences.append(f"Native speakers validated {share(self.votes.total())}: {people} people.")
        missing = [name for name, known in (("inspected", self.sources), ("validated", self.votes)) if not known]
        if missing:
            sentences.append(f"None was {' or '.join(missing)}.")
        if self.accepted:
            sentences.append(f"The project lead accepted {share(self.accepted)}.")
        return " ".join(sentences)
