"""The page of judgements: one HTML file with every text and its errors marked in place."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mores.culture import language_name, region_name
from mores.formatting import number
from mores.metric.folder import ScoreRun
from mores.metric.summary import ScoreSummary, ScoreTally, errors, lacks_certainty, state, weak_because
from mores.report.base.blocks import Section
from mores.report.base.marks import mark
from mores.report.base.names import is_web_address, look_up
from mores.report.base.page import Page, render
from mores.report.score.table import Pair, count_errors, show_weak, worst
from mores.search.ground import cut, shorten
from mores.types import Evidence, Judgement, Sample

LIMIT = 2000
"""How many texts one page can hold and still open at once on a phone."""
TAIL = 11
"""Scores of -11 and below share one bar."""
PASSAGE = 2000
"""Code points of a piece of evidence that are shown."""


def page(
    samples: Iterable[Pair],
    *,
    title: str,
    summary: Mapping[str, str] | None = None,
    warning: str | None = None,
    limit: int = LIMIT,
) -> str:
    """Return the whole HTML page; with more than `limit` texts, it holds the worst and says how many it leaves out.

    `summary` are the facts of the header in their order, for example what was judged and by which model.
    The judge and the signature are added from the judgements unless they are given.
    """
    tally, bars, facts = ScoreTally(), Counter[str](), _Facts(summary or {})
    rows = worst(_watched(samples, bars, facts), limit, tally)
    counts = tally.summary()
    base = Page("score", "cultural error report", title, [], facts.all(), warning, script=True, name=title)
    cards = [_card(*row) for row in rows]
    zones, weak = _zones(counts, bars), show_weak(counts)
    return render(base, "score/page.html.j2", counts=counts, weak=weak, zones=zones, cards=cards)


def run_sections(run: ScoreRun) -> list[Section]:  # noqa: ARG001 - every kind of run has this function
    """Return its page has texts, and no charts."""
    return []


def run_page(run: ScoreRun) -> str:
    """Return the page of a run."""
    settings = {name: str(run.manifest.settings.get(name) or "") for name in ("evidence", "warning")}
    facts = {"Texts": run.manifest.name, "Model": run.manifest.model, "Evidence": settings["evidence"]}
    return page(run.pairs(), title="Cultural errors", summary=facts, warning=settings["warning"] or None)


class _Facts:
    """The facts of the header: those given, then the judge and the signature that all judgements share."""

    def __init__(self, facts: Mapping[str, str]) -> None:
        self.facts = facts
        self.seen: dict[str, set[str]] = {"Judge": set(), "Signature": set()}

    def add(self, judgement: Judgement) -> None:
        self.seen["Judge"].add(judgement.judge)
        self.seen["Signature"].add(str(judgement.signature))

    def all(self) -> dict[str, str]:
        names = {name.casefold() for name in self.facts}
        if "model" in names:
            names.add("judge")
        shared = {name: _one_of(values) for name, values in self.seen.items() if name.casefold() not in names}
        return {name: value for name, value in {**self.facts, **shared}.items() if value}


def _one_of(values: set[str]) -> str:
    return f"{len(values)} different ones, see each text" if len(values) > 1 else "".join(values)


def _watched(samples: Iterable[Pair], bars: Counter[str], facts: _Facts) -> Iterator[Pair]:
    for sample, judgement in samples:
        bars[_bar(judgement)] += 1
        facts.add(judgement)
        yield sample, judgement


def _bar(judgement: Judgement) -> str:
    """Return the bar of the distribution in which a judgement is counted: e1 … e11, p0 … p9, or unknown."""
    score = judgement.score
    if score is None:
        return ""
    if score < 0:
        return f"e{min(TAIL, math.ceil(-score))}"
    return "unknown" if lacks_certainty(judgement) else f"p{min(9, int(score * 10))}"


def _zones(counts: ScoreSummary, bars: Counter[str]) -> list[dict[str, Any]]:
    """Return the two halves of the distribution, on one scale of heights: sums of severities, and certainties."""
    wrong = [(f"e{TAIL}", f"score −{TAIL} or less", f"≤−{TAIL}")]
    wrong += [(f"e{n}", f"score −{n}", f"−{n}") for n in range(TAIL - 1, 0, -1)]
    right = [(f"p{n}", f"p(R) {number(n / 10, 1)} to {number((n + 1) / 10, 1)}", "") for n in range(10)]
    if counts.without_certainty:
        right.append(("unknown", "no errors, p(R) unknown", "no p(R)"))
    top = max((count for key, count in bars.items() if key), default=1)

    def drawn(keys: list[tuple[str, str, str]]) -> list[dict[str, Any]]:
        step = 100 / (len(keys) + (keys[-1][0] == "unknown"))  # that bar stands apart, at the right end
        return [
            {"key": key, "label": label, "tick": tick, "count": bars[key], "share": bars[key] / top}
            | {"left": 100 - step if key == "unknown" else place * step, "width": step}
            for place, (key, label, tick) in enumerate(keys)
        ]

    return [
        {"name": "errors", "n": counts.with_errors, "bars": drawn(wrong)},
        {"name": "clean", "n": counts.judged - counts.with_errors, "bars": drawn(right)},
    ]


def _card(place: int, sample: Sample, judgement: Judgement) -> dict[str, Any]:
    """Return one text as the template shows it."""
    evidence = [_passage(piece) for piece in judgement.evidence or sample.evidence]
    marked = mark(place, sample, errors(judgement), evidence)
    cited = {
        number: [error["number"] for error in marked.errors if number in error["error"].evidence]
        for number in range(1, len(evidence) + 1)
    }
    return {
        "marked": marked,
        "judgement": judgement,
        "language": look_up(language_name, sample.language) or sample.language,
        "region": look_up(region_name, sample.region) or sample.region,
        "state": state(judgement),
        "bar": _bar(judgement),
        "counts": count_errors(judgement),
        "weak": bool(weak_because(judgement)),
        "summary": _summary(judgement),
        "evidence": evidence,
        "cited": cited,
    }


def _summary(judgement: Judgement) -> str:
    """Return the explanation of the whole report, unless it only repeats those of its errors."""
    explanation = judgement.report.explanation if judgement.report else ""
    return "" if explanation == " ".join(error.explanation for error in errors(judgement)) else explanation


def _passage(piece: Evidence) -> dict[str, Any]:
    """Return one piece of evidence; `link` says whether its source is an address that a page may link to."""
    shown = shorten(piece, PASSAGE).model_dump(mode="json") | {"title": cut(piece.title, PASSAGE)}
    return shown | {"link": is_web_address(piece.source)}
