"""The accepted items in the published schema (Appendix C, Data schema), and the campaign's own figures."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mores.culture import language_name
from mores.formatting import NOTHING, count, percent
from mores.studio.campaigns.msqa.checks import TRANSLATE, State, all_checks
from mores.studio.campaigns.msqa.forms import CATEGORIES, DIMENSIONS, TIERS, MsqaSettings
from mores.studio.export import Runnable, bench_folder
from mores.studio.kind import ExportFile
from mores.studio.phrase import Phrase
from mores.studio.provenance import last_votes, matches_language, range_of
from mores.studio.records import CampaignItem, Content, ItemStatus

FILE = "msqa.jsonl"
NOT_MEASURED = "not measured"
FOLDER = Path(__file__).parent


def export(settings: MsqaSettings, items: Iterable[CampaignItem]) -> Iterator[ExportFile]:
    """Yield a folder that `mores bench` runs, with one row for each accepted item."""
    items = list(items)
    rows = [row(item) for item in items]
    lines = [json.dumps(values, ensure_ascii=False).encode() + b"\n" for values in rows]
    groupings = ["language", "topic", "culture"]
    groupings += [name for name in ("region", "tier") if any(values[name] for values in rows)]
    benchmark = Runnable("msqa:MSQA", groupings=tuple(groupings))
    data, sample = {FILE: b"".join(lines)}, {FILE: b"".join(lines[:5])}
    languages = sorted({language_name(values["language"]) for values in rows if values["language"]})
    about = (FOLDER / "export.md").read_text("utf-8")
    about = about.format(count=len(rows), languages=", ".join(languages) or "none", made=tell_making(items))
    yield from bench_folder(settings, [benchmark], data, sample, about)


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


def summarise(settings: MsqaSettings, items: Sequence[CampaignItem]) -> Mapping[str, Any]:
    """Return what was accepted and returned and why, how hard the accepted questions are, and what they are about."""
    accepted = [item for item in items if item.status is ItemStatus.ACCEPTED]
    figures: dict[str, Any] = {
        "Questions": len(items),
        "Accepted": len(accepted),
        "Returned at least once": sum(item.returns > 0 for item in items),
    }
    checked = [
        all_checks(settings, item.model_copy(update={"version": version}))
        for item in items
        for version in sorted({ask.version for ask in item.asks if ask.stage == "check"})
    ]
    figures["Versions that models checked"] = len(checked)
    for place, title in enumerate(("Evidence", "One clear answer", "Difficulty")):
        states = Counter(checks[place].state.value for checks in checked)
        figures[title] = _counts(states, [state.value for state in State])
    tiers = Counter(row(item)["tier"] or NOT_MEASURED for item in accepted)
    figures["Tiers of the accepted"] = _counts(tiers, (*TIERS, NOT_MEASURED))
    dimensions = Counter(item.content["category"].rstrip("0123456789") for item in accepted)
    for code, (dimension, _) in DIMENSIONS.items():
        ours = percent(dimensions[code] / len(accepted)) if accepted else NOTHING
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
    every = list(items)
    accepted = [item for item in every if item.status is ItemStatus.ACCEPTED]
    languages = sorted({language_name(item.language) for item in accepted if item.language})
    states = Counter(
        f"{name}: {result.get('state', '')}"
        for item in accepted
        for name, result in sorted(item.results.get("check", {}).items())
    )
    checks = ", ".join(f"{name} ({count})" for name, count in sorted(states.items())) or "none recorded"
    named = f" ({', '.join(languages)})" if languages else ""
    counted = "one model" if settings.counted == "model" else "all models together"
    returned = sum(item.returns > 0 for item in every)
    models, runs = count(len(settings.models), "model"), count(settings.runs, "run")
    return (
        f"Of {count(len(every), 'question')}, {len(accepted)} were accepted, in {count(len(languages), 'language')}"
        f"{named}, following the construction of MSQA. Authors confirmed five design principles. Models were to check "
        "the evidence, that there is one clear answer, and the difficulty "
        f"({models} with {runs} each; too easy with more than {settings.most_correct} "
        f"correct runs of {counted}); the states of these checks for the accepted questions were: {checks}. "
        f"{tell_making(accepted)} {count(returned, 'question')} came back to the author at least once."
    )


def tell_making(items: Sequence[CampaignItem]) -> str:
    """Return who wrote, inspected, validated and accepted questions, as their events show it."""
    if not items:
        return "No question is accepted yet."
    whole = len(items)

    def share(part: int) -> str:
        return "each" if part == whole else f"{part} of {whole}"

    written = [item for item in items if item.author]
    native = sum(bool(matches_language(item, item.standing)) for item in written)
    inspected = [item for item in items if last_votes(item, "inspect")]
    sources = [len(item.results.get("inspect", {}).get("sources", ())) for item in inspected]
    votes = [len(last_votes(item, "validate")) for item in items]
    lead = sum(item.path[-1].stage == "accept" for item in items if item.path)
    sentences = [
        f"A person wrote {share(len(written))} from a source that they named, {native} of them in a language that they "
        "speak natively."
        if written
        else "All were imported."
    ]
    if inspected:
        added = f"and added {range_of(sources)} further sources" if any(sources) else "without adding a source"
        sentences.append(f"An expert inspected {share(len(inspected))} {added}.")
    if any(votes):
        people = range_of(vote for vote in votes if vote)
        sentences.append(f"Native speakers validated {share(sum(map(bool, votes)))}: {people} people.")
    missing = [name for name, known in (("inspected", inspected), ("validated", any(votes))) if not known]
    if missing:
        sentences.append(f"None was {' or '.join(missing)}.")
    if lead:
        sentences.append(f"The project lead accepted {share(lead)}.")
    return " ".join(sentences)
