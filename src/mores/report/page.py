"""The judgements in the browser: one HTML file with every text and its errors marked in place.

`mores score texts.jsonl --html report.html` writes it. The file asks the network for nothing. Everything stands in it
as escaped markup, so it can be read and printed without its script, which filters, sorts and points; the page's own
policy forbids any other.
"""

from __future__ import annotations

import math
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from mores.culture import is_rtl, language_name, region_name
from mores.errors import InputError
from mores.report.marks import SIDES, Numbered, Piece, cut_at_errors, number_errors
from mores.report.table import (
    Pair,
    Summary,
    Tally,
    count_errors,
    errors,
    lacks_certainty,
    state,
    worst,
)
from mores.search.ground import cut, shorten
from mores.show import name_failure, number, show_failures, show_score
from mores.types import DEFAULT_INSTRUCTION, Evidence, Judgement, Sample, Severity, Side

T = TypeVar("T")

TEMPLATES = Path(__file__).parent / "templates"
LIMIT = 2000
"""How many texts one page can hold and still open at once on a phone."""
TAIL = 11
"""Scores of -11 and below share one bar."""
PASSAGE = 2000
"""Code points of a piece of evidence that are shown."""
LONG = 1200
"""Code points from which the script folds a text."""
QUOTE = 80
"""Code points of a quote where it only stands for its error."""
RESTS = 200
"""Code points of a passage where an error cites it; the whole stands under the text."""
UNWRITABLE = re.compile("[\r\0\ud800-\udfff]")
"""What a browser would change or drop as it reads the page, and what cannot be written as UTF-8."""


def page(
    samples: Iterable[Pair],
    *,
    title: str,
    summary: Mapping[str, str] | None = None,
    warning: str | None = None,
    limit: int = LIMIT,
) -> str:
    """The whole HTML page; with more than `limit` texts, it holds the worst and says how many it leaves out.

    `summary` are the facts of the header in their order, for example what was judged and by which model.
    The judge and the signature are added from the judgements unless they are given.
    """
    tally, bars, facts = Tally(), Counter[str](), _Facts(summary or {})
    rows = worst(_watched(samples, bars, facts), limit, tally)
    counts = tally.summary()
    script, style = asset("score.js"), stylesheet("score.css")
    html = _template().render(
        title=title,
        facts=facts.all(),
        warning=warning,
        counts=counts,
        zones=_zones(counts, bars),
        long=LONG,
        shown=len(rows),
        cards=[_card(*row) for row in rows],
        script=script,
        style=style,
        script_hash=hash_of(script),
        style_hash=hash_of(style),
    )
    return UNWRITABLE.sub(lambda found: "&#13;" if found[0] == "\r" else "\N{REPLACEMENT CHARACTER}", html)


@cache
def _template() -> Template:
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined)
    environment.filters.update(signed=show_score, name_failure=name_failure, show_failures=show_failures)
    return environment.get_template("score.html.j2")


class _Facts:
    """The facts of the header: those given, then the judge and the signature that all judgements share."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self.given = given
        self.seen: dict[str, set[str]] = {"Judge": set(), "Signature": set()}

    def add(self, judgement: Judgement) -> None:
        self.seen["Judge"].add(judgement.judge)
        self.seen["Signature"].add(str(judgement.signature))

    def all(self) -> dict[str, str]:
        names = {name.casefold() for name in self.given}
        if "model" in names:
            names.add("judge")
        found = {name: _one_of(values) for name, values in self.seen.items() if name.casefold() not in names}
        return {name: value for name, value in {**self.given, **found}.items() if value}


def _one_of(values: set[str]) -> str:
    return f"{len(values)} different ones, see each text" if len(values) > 1 else "".join(values)


def _watched(samples: Iterable[Pair], bars: Counter[str], facts: _Facts) -> Iterator[Pair]:
    for sample, judgement in samples:
        bars[_bar(judgement)] += 1
        facts.add(judgement)
        yield sample, judgement


def _bar(judgement: Judgement) -> str:
    """The bar of the distribution in which a judgement is counted: e1 … e11, p0 … p9, or unknown."""
    score = judgement.score
    if score is None:
        return ""
    if score < 0:
        return f"e{min(TAIL, math.ceil(-score))}"
    return "unknown" if lacks_certainty(judgement) else f"p{min(9, int(score * 10))}"


def _zones(counts: Summary, bars: Counter[str]) -> list[dict[str, Any]]:
    """The two halves of the distribution, on one scale of heights: sums of severities, and certainties."""
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
    """One text as the template shows it."""
    numbered = number_errors(errors(judgement), sample)
    evidence = [_passage(one) for one in judgement.evidence or sample.evidence]
    return {
        "place": place,
        "sample": sample,
        "judgement": judgement,
        "language": look_up(language_name, sample.language) or sample.language,
        "region": look_up(region_name, sample.region) or sample.region,
        "rtl": bool(look_up(is_rtl, sample.language)),
        "own_instruction": sample.instruction != DEFAULT_INSTRUCTION,
        "sides": {side: cut_side(sample, side, numbered) for side in SIDES},
        "state": state(judgement),
        "worst": "major" if any(one.error.severity is Severity.MAJOR for one in numbered) else "minor",
        "score": None if judgement.score is None else show_score(judgement.score),
        "bar": _bar(judgement),
        "counts": count_errors(judgement),
        "errors": [list_error(one, evidence) for one in numbered],
        "summary": _summary(judgement),
        "evidence": evidence,
        "cited": {number: [one.number for one in numbered if number in one.error.evidence]
                  for number in range(1, len(evidence) + 1)},
    }  # fmt: skip


def _summary(judgement: Judgement) -> str:
    """What the report says of the whole text, unless that only repeats its errors."""
    said = judgement.report.explanation if judgement.report else ""
    return "" if said == " ".join(error.explanation for error in errors(judgement)) else said


def cut_side(sample: Sample, side: Side, numbered: Sequence[Numbered]) -> list[Piece]:
    """One side of a sample, cut at its errors."""
    return cut_at_errors(sample.side(side), [one for one in numbered if one.located and one.error.side == side])


def list_error(one: Numbered, evidence: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One error of the list; what it cites is shown in short where it is there."""
    cited = dict.fromkeys(one.error.evidence)
    short = {number: cut(evidence[number - 1]["text"], RESTS) for number in cited if number <= len(evidence)}
    return {
        "number": one.number,
        "error": one.error,
        "located": one.located,
        "quote": cut(one.error.quote, QUOTE) if one.located else one.error.quote,
        "rests": {number: short.get(number, "") for number in cited},
    }


def look_up(find: Callable[[str], T], code: str | None) -> T | None:
    """What is known of a code; a page is no place to refuse one."""
    if not code:
        return None
    with suppress(InputError):
        return find(code)
    return None


def _passage(one: Evidence) -> dict[str, Any]:
    """One piece of evidence; `link` says whether its source is an address that a page may link to."""
    shown = shorten(one, PASSAGE).model_dump(mode="json") | {"title": cut(one.title, PASSAGE)}
    return shown | {"link": is_web_address(one.source)}


def is_web_address(source: str) -> bool:
    """Whether a source is an http or https address with a host, and has nothing in it that an address cannot have."""
    if len(source) > 2000 or any(char.isspace() or not char.isprintable() for char in source):
        return False
    try:
        parts = urlsplit(source)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        return False


def asset(name: str) -> Markup:
    """A stylesheet or script of the templates."""
    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def stylesheet(*names: str) -> Markup:
    """The styles of a page in that order; those for paper, which every page has, come last."""
    return Markup("\n").join(asset(name) for name in (*names, "print.css"))


def hash_of(asset: str) -> str:
    """What the page's policy allows it by."""
    return "sha256-" + b64encode(sha256(asset.encode()).digest()).decode()
