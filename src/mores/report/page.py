"""The judgements in the browser: one HTML file with every text and its errors marked in place.

`mores score texts.jsonl --html report.html` writes it. The file asks the network for nothing and carries the texts
as data: score.js builds every card with `textContent`, and the page's own policy forbids any script but that one.
"""

from __future__ import annotations

import json
import math
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
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
from mores.report.table import (
    Pair,
    Summary,
    Tally,
    count_errors,
    errors,
    lacks_certainty,
    show_score,
    state,
    worst,
)
from mores.search.ground import cut, shorten
from mores.types import DEFAULT_INSTRUCTION, Error, Evidence, Judgement, Sample

T = TypeVar("T")

TEMPLATES = Path(__file__).parent / "templates"
LIMIT = 2000
"""How many texts one page can hold and still open at once on a phone."""
TAIL = 11
"""Scores of -11 and below share one bar."""
PASSAGE = 2000
"""Code points of a piece of evidence that are shown."""
UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
"""What could end the data block or break JavaScript, and what cannot be written as UTF-8."""


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
    script, style = asset("score.js"), asset("score.css")
    return _template().render(
        title=title,
        facts=facts.all(),
        warning=warning,
        counts=counts,
        zones=_zones(counts, bars),
        shown=len(rows),
        data=_data([_card(*row) for row in rows]),
        script=script,
        style=style,
        script_hash=hash_of(script),
        style_hash=hash_of(style),
    )


@cache
def _template() -> Template:
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined)
    environment.filters["signed"] = _signed
    return environment.get_template("score.html.j2")


class _Facts:
    """The facts of the header: those given, then the judge and the signature that all judgements share."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self.given = given
        self.seen: dict[str, set[str]] = {"Judge": set(), "Signature": set()}

    def add(self, judgement: Judgement) -> None:
        self.seen["Judge"].add(judgement.judge)
        self.seen["Signature"].add(judgement.signature)

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
    right = [(f"p{n}", f"p(R) {n / 10:.1f} to {(n + 1) / 10:.1f}", "") for n in range(10)]
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
    """One text as score.js reads it."""
    report = judgement.report
    return {
        "place": place,
        **sample.model_dump(mode="json"),
        "languageName": look_up(language_name, sample.language) or sample.language,
        "regionName": look_up(region_name, sample.region) or sample.region,
        "rtl": bool(look_up(is_rtl, sample.language)),
        "defaultInstruction": sample.instruction == DEFAULT_INSTRUCTION,
        "judge": judgement.judge,
        "state": state(judgement),
        "score": None if judgement.score is None else _signed(judgement.score),
        "bar": _bar(judgement),
        "counts": count_errors(judgement),
        "certainty": report.certainty if report else None,
        "errors": [_error(error, sample) for error in errors(judgement)],
        "evidence": [_passage(one) for one in judgement.evidence or sample.evidence],
        "explanation": report.explanation if report else "",
        "failure": judgement.failure.model_dump(mode="json") if judgement.failure else None,
        "notes": judgement.notes,
        "signature": judgement.signature,
    }


def look_up(find: Callable[[str], T], code: str | None) -> T | None:
    """What is known of a code; a page is no place to refuse one."""
    if not code:
        return None
    with suppress(InputError):
        return find(code)
    return None


def _error(error: Error, sample: Sample) -> dict[str, Any]:
    """One error; a span that does not hold its quote is shown as not found rather than on the wrong words."""
    fields = error.model_dump(mode="json") | {"evidence": list(dict.fromkeys(error.evidence))}
    if sample.side(error.side)[error.start : error.end] != error.quote:
        fields.update(start=None, end=None)
    return fields


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


def _signed(score: float) -> str:
    """A score with a true minus sign."""
    return show_score(score).replace("-", "−")


def _data(cards: list[dict[str, Any]]) -> Markup:
    """JSON that is safe inside a script element, whatever the texts say."""
    text = json.dumps(cards, ensure_ascii=False, separators=(",", ":"))
    return Markup(UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def asset(name: str) -> Markup:
    """A stylesheet or script of the templates."""
    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def hash_of(asset: str) -> str:
    """What the page's policy allows it by."""
    return "sha256-" + b64encode(sha256(asset.encode()).digest()).decode()
