"""A collection of questions in the browser: one HTML file with what was kept, what was dropped, and why.

`mores collect` writes it. The texts in it are hostile: the template escapes all of them, the only script hides and
shows cards, and the page's policy forbids any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from mores.longform.collection import Collected, Collection, Fate, LanguageCount, Stage, categories
from mores.longform.collection.numbers import Overlap, Size
from mores.report.bench import template
from mores.report.bench_answers import SURROGATES
from mores.report.bench_map import shades
from mores.report.charts import Cell, Head
from mores.report.few import is_few
from mores.report.meta_sheets import Sheet
from mores.report.page import asset, hash_of, stylesheet
from mores.show import NOTHING, number, percent

CARDS = 500
"""Questions on one page."""
PAIRS = 50
"""Duplicates of each kind that are listed."""
LONG = 1200
"""A text with more code points scrolls in its card."""
LOOKS = {Fate.UNSCORED: "unscored", Fate.DROPPED: "wrong", Fate.KEPT: "right"}
"""The style of a card; the first are the first on the page."""


def collection_page(found: Collection, questions: Sequence[Collected], warning: str | None = None) -> str:
    """The whole page; of the questions it holds some hundreds, the undecided and the dropped first."""
    style = stylesheet("score.css", "charts.css", "meta.css", "bench.css")
    script = asset("bench.js")
    html = template("collect.html.j2").render(
        found=found,
        warning=warning,
        share=percent(found.kept / found.candidates if found.candidates else None),
        stages=_stage_sheet(found),
        languages=_language_sheet(found),
        topics=_topic_sheet(found) if found.total.labelled else None,
        overlap=_overlap(found) if _compared(found) else None,
        duplicates=_duplicates(questions),
        cards=_cards(questions),
        style=style,
        script=script,
        style_hash=hash_of(style),
        script_hash=hash_of(script),
    )
    return SURROGATES.sub("\N{REPLACEMENT CHARACTER}", html)


# ---- numbers ---------------------------------------------------------------------------------------------------


def _stage_sheet(found: Collection) -> Sheet:
    columns = [Head(name) for name in ("asked", "passed", "dropped", "unscored")]
    cells = [[_count(n) for n in (one.asked, one.passed, one.dropped, one.unscored)] for one in found.stages]
    return Sheet("What each stage did", [Head(one.stage) for one in found.stages], columns, cells)


def _count(n: int) -> Cell:
    return Cell(f"{n:,}")


def _language_sheet(found: Collection) -> Sheet:
    """As Table 1 of the paper, and what was dropped."""
    every = [*found.languages.values(), found.total]
    names = ("candidates", "kept", "dropped", "unscored", "question bytes", "answers", "answer bytes")
    cells = [
        [
            *(_count(n) for n in (own.candidates, own.kept, own.dropped, own.unscored)),
            _size(own.questions),
            _count(own.answers.n),
            _size(own.answers),
        ]
        for own in every
    ]
    return Sheet("Questions by language", [Head(own.name) for own in every], [Head(name) for name in names], cells)


def _size(size: Size) -> Cell:
    return Cell(number(size.mean, 1), small=f"sd {number(size.sd, 1)}" if size.mean is not None else "")


def _topic_sheet(found: Collection) -> Sheet:
    """Counts by category and language (Figure 5), coloured by their share of the language."""
    names = [category.name for category in categories() if found.total.categories.get(category.name)]
    shown = [own for own in found.languages.values() if own.labelled]
    cells = [[_topic(own, name) for name in names] for own in (*shown, found.total)]
    rows = [_head(own) for own in (*shown, found.total)]
    columns = [Head(name, f"{found.total.categories[name]:,}") for name in names]
    return Sheet("Questions by topic and language", rows, columns, cells)


def _topic(own: LanguageCount, name: str) -> Cell:
    n = own.categories.get(name, 0)
    share = n / own.labelled
    hint = f"{own.name}, {name}: {n:,} of {own.labelled:,} ({percent(share)})"
    return Cell(f"{n:,}" if n else NOTHING, share or None, hint=hint, n=own.labelled)


def _head(own: LanguageCount) -> Head:
    left = f", {own.unlabelled:,} without" if own.unlabelled else ""
    return Head(own.name, f"n {own.labelled:,}{left}")


def _compared(found: Collection) -> list[tuple[str, LanguageCount]]:
    """The languages whose topics can be compared; none where there is but one."""
    known = [(tag, own) for tag, own in found.languages.items() if own.labelled]
    return known if len(known) > 1 else []


def _overlap(found: Collection) -> dict[str, Any]:
    """Bhattacharyya's coefficients, pairwise between languages (Figure 6)."""
    known = _compared(found)
    pairs = {frozenset((one.first, one.second)): one for one in found.overlaps}
    scale = shades(one.value for one in pairs.values() if not is_few(min(one.n)))
    cells = [[_alike(found, pairs.get(frozenset((row, column))), scale.at) for column, _ in known] for row, _ in known]
    rows = [Head(own.name, f"{tag}, n {own.labelled:,}") for tag, own in known]
    sheet = Sheet("How alike the topics of two languages are", rows, [Head(tag) for tag, _ in known], cells)
    return {"sheet": sheet, "low": number(scale.low, 1), "high": number(scale.high, 1)}


def _alike(found: Collection, pair: Overlap | None, shade: Any) -> Cell:
    if pair is None:
        return Cell(NOTHING)
    first, second = (found.languages[tag].name for tag in (pair.first, pair.second))
    hint = f"{first} (n {pair.n[0]:,}) and {second} (n {pair.n[1]:,}): {number(pair.value)}"
    return Cell(number(pair.value), shade(pair.value), hint=hint, n=min(pair.n))


# ---- questions -------------------------------------------------------------------------------------------------


def _duplicates(questions: Sequence[Collected]) -> dict[str, Any]:
    """The exact duplicates, which are dropped, and the near ones among what is kept."""
    by_id = {one.id: one for one in questions}
    exact = [one for one in questions if one.stage is Stage.DUPLICATE]
    near = [(one, one.near) for one in questions if one.near]
    pairs = [
        {"id": one.id, "of": pair.of, "share": percent(pair.similarity, 0), "texts": (by_id[pair.of], one)}
        for one, pair in near[:PAIRS]
    ]
    return {"exact": exact[:PAIRS], "same": len(exact), "near": pairs, "alike": len(near)}


def _cards(questions: Sequence[Collected]) -> dict[str, Any]:
    """Some of the questions that a model was asked about, with what it said."""
    asked = [one for one in questions if one.stage is not Stage.DUPLICATE]
    chosen = _choose(asked)
    totals, shown = Counter(one.fate for one in asked), Counter(one.fate for one in chosen)
    languages = {name: i for i, name in enumerate(sorted({one.language_name for one in chosen}))}
    labels = sorted({one.category for one in chosen if one.category})
    topics = {name: i for i, name in enumerate(labels, len(languages))}
    stages = dict.fromkeys(stage for stage in Stage for one in chosen if one.stage is stage)
    return {
        "cards": [_card(one, languages | topics) for one in chosen],
        "states": [(fate, shown[fate], totals[fate]) for fate in LOOKS if totals[fate]],
        "stages": list(stages),
        "groups": {"Language": languages, "Topic": topics},
    }


def _choose(questions: Sequence[Collected]) -> list[Collected]:
    """The undecided, the dropped and the kept, at least a third of the room for each that needs it, from all over."""
    groups = [[one for one in questions if one.fate is fate] for fate in LOOKS]
    chosen: list[Collected] = []
    for place, own in enumerate(groups):
        rest, others = CARDS - len(chosen), sum(map(len, groups[place + 1 :]))
        room = max(rest - others, rest // (len(groups) - place))
        step = max(1.0, len(own) / room)
        chosen += [own[int(i * step)] for i in range(min(room, len(own)))]
    return chosen


def _card(one: Collected, numbers: dict[str, int]) -> dict[str, Any]:
    groups = [one.language_name, *([one.category] if one.category else [])]
    return {
        "one": one,
        "look": LOOKS[one.fate],
        "numbers": " ".join(str(numbers[name]) for name in groups),
        "long": len(one.question) > LONG,
        "said": {stage: text for stage, text in one.said.items() if text.strip()},
    }
