"""The card of a dataset in the browser: what is in it, where it comes from, what gives it away, and examples.

`mores build` writes it. The texts in it are hostile: the template escapes all of them, and the page has no script.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mores.culture import is_rtl, language_name, region_name
from mores.factory.gold import Gold
from mores.report.bench import template
from mores.report.bench_answers import SURROGATES
from mores.report.charts import Cell, Head
from mores.report.marks import SIDES, number_errors
from mores.report.meta_sheets import Sheet
from mores.report.page import LONG, cut_side, hash_of, list_error, look_up, stylesheet
from mores.show import number
from mores.types import DEFAULT_INSTRUCTION

SPLITS = {"items": "items", "bad": "bad rows", "train": "train", "dev": "dev", "test": "test", "lost": "left out"}
"""What is counted of each source, and what the columns are called."""
OPEN = 12
"""A table of counts with more rows is folded away."""


def card_page(about: Mapping[str, Any]) -> str:
    """The whole page of what `mores.factory.card.facts` found."""
    style = stylesheet("score.css", "charts.css", "meta.css", "bench.css", "card.css")
    html = template("card.html.j2").render(
        about=about,
        sources=_source_sheet(about["sources"]),
        shortcuts=_shortcut_sheet(about["shortcut"], about["paper_shortcut"]),
        counts=[_counts(name, rows) for name, rows in about["tables"].items() if rows],
        examples=[_example(place, Gold.model_validate(one)) for place, one in enumerate(about["examples"])],
        long=LONG,
        style=style,
        style_hash=hash_of(style),
    )
    return SURROGATES.sub("\N{REPLACEMENT CHARACTER}", html)


def _source_sheet(sources: list[dict[str, Any]]) -> Sheet:
    rows = [Head(source["name"], source["title"]) for source in sources]
    cells = [
        [
            Cell(source["licence"], small="not for commercial use" if source["commercial"] is False else ""),
            *(Cell(f"{source[name]:,}") for name in SPLITS),
        ]
        for source in sources
    ]
    return Sheet("Sources", rows, [Head("licence"), *map(Head, SPLITS.values())], cells)


def _shortcut_sheet(own: Mapping[str, Mapping[str, Any]], papers: Mapping[str, Mapping[str, Any]]) -> Sheet:
    cells = [[_accuracy(own[name]), _accuracy(papers[name])] for name in own]
    rows = [Head(name, f"n {own[name]['n']:,}") for name in own]
    return Sheet("Shortcut audit", rows, [Head("this dataset"), Head("the paper’s sampling")], cells)


def _accuracy(found: Mapping[str, Any]) -> Cell:
    return Cell(number(found["value"], 3), found["value"], small=f"± {number(found['error'], 3)}", n=found["n"])


def _counts(name: str, rows: Mapping[str, int]) -> dict[str, Any]:
    """A table of counts, with the width of each bar in per cent of the largest."""
    top = max(rows.values())
    shown = [(value, f"{count:,}", f"{100 * count / top:.1f}") for value, count in rows.items()]
    return {"name": name, "rows": shown, "open": len(rows) <= OPEN}


def _example(place: int, gold: Gold) -> dict[str, Any]:
    """One sample as the template shows it, with the errors of its gold report."""
    sample, numbered = gold.sample, number_errors(gold.report.errors, gold.sample)
    places = [look_up(language_name, sample.language), look_up(region_name, sample.region), gold.task.value]
    return {
        "place": place,
        "sample": sample,
        "kind": gold.kind,
        "places": [name for name in places if name],
        "rtl": bool(look_up(is_rtl, sample.language)),
        "own_instruction": sample.instruction != DEFAULT_INSTRUCTION,
        "sides": {side: cut_side(sample, side, numbered) for side in SIDES},
        "errors": [list_error(one, ()) for one in numbered],
    }
